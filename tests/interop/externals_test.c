/* SPDX-License-Identifier: MIT */
/*
 * Modules that import the runtime's names as plain externals: bound lazily, bound at once, with and
 * without the compatibility library. Each case is a process of its own.
 */
#include "fixture.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <tenon/backend/module_kind.h>

static int wrong(const char *what)
{
	printf("# %s: %s: %s\n", what, tenon_error_kind(), tenon_error_message());
	return 1;
}

static int refuses_in_plain_words(const char *file)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	struct tenon_module *m;

	if (tenon_module_load(fixture_module_path(file), &m) ||
	    tenon_module_get_function(m, "refuse", &f))
		return wrong(file);
	if (!tenon_call(f, &ret))
		return wrong("no refusal");
	if (strcmp(tenon_error_kind(), "IndexError") ||
	    strcmp(tenon_error_message(), "refused in plain words"))
		return wrong("other words");
	tenon_error_clear();
	tenon_object_unref(f);
	tenon_object_unref(m);
	return 0;
}

static int a_lazily_bound_module_is_served_by_the_runtime_itself(void)
{
	setenv("TENON_COMPAT_LIBRARY", "/nowhere/libtvm_ffi.so", 1);
	return refuses_in_plain_words("plain_lazy.so");
}

/* The linker's older table of names is the only one that some systems' linkers write. */
static int a_module_with_a_hash_table_of_the_older_kind_is_searched(void)
{
	struct tenon_function *f;
	struct tenon_module *m;

	setenv("TENON_COMPAT_LIBRARY", "/nowhere/libtvm_ffi.so", 1);
	if (refuses_in_plain_words("plain_sysv.so"))
		return 1;
	if (tenon_module_load(fixture_module_path("plain_sysv.so"), &m))
		return wrong("it was not opened");
	if (!tenon_module_get_function(m, "refused", &f) || f)
		return wrong("a name that it has not");
	tenon_error_clear();
	tenon_object_unref(m);
	return 0;
}

static int a_module_bound_at_once_is_served_by_the_compatibility_library(void)
{
	return refuses_in_plain_words("plain_now.so") || refuses_in_plain_words("plain_lazy.so");
}

static int a_module_bound_at_once_is_refused_without_it(void)
{
	struct tenon_module *m;

	setenv("TENON_COMPAT_LIBRARY", "/nowhere/libtvm_ffi.so", 1);
	if (!tenon_module_load(fixture_module_path("plain_now.so"), &m))
		return wrong("it was opened");
	if (!strstr(tenon_error_message(), "TVMFFIErrorSetRaisedFromCStr") ||
	    !strstr(tenon_error_message(), "plain_now.so"))
		return wrong("the message names neither");
	return 0;
}

static int the_names_stay_hidden_from_the_rest_of_the_process(void)
{
	uint32_t (*peer_version)(void);
	void *peer;

	if (refuses_in_plain_words("plain_lazy.so") || refuses_in_plain_words("plain_now.so"))
		return 1;
	if (dlsym(RTLD_DEFAULT, "TVMFFIGetVersion"))
		return wrong("the process sees TVMFFIGetVersion");
	peer = dlopen(fixture_module_path("peer_library.so"), RTLD_NOW | RTLD_LOCAL);
	if (!peer)
		return wrong("no peer");
	*(void **)&peer_version = dlsym(peer, "peer_version");
	if (peer_version() != 4711)
		return wrong("the peer calls another's TVMFFIGetVersion");
	return 0;
}

static int refused_by_name(const char *file, const char *name)
{
	struct tenon_module *m;

	if (!tenon_module_load(fixture_module_path(file), &m))
		return wrong("it was opened");
	if (!strstr(tenon_error_message(), name) || !strstr(tenon_error_message(), file))
		return wrong("the message does not name it");
	tenon_error_clear();
	return 0;
}

static int a_name_that_nobody_has_is_refused(void)
{
	return refused_by_name("plain_unknown.so", "TVMFFINoSuchFunction") ||
	       refused_by_name("unknown_lazy.so", "defined_by_no_library");
}

static int a_constructor_that_calls_a_name_that_nobody_has_is_refused(void)
{
	return refused_by_name("unknown_at_start.so", "defined_by_no_library");
}

static int without_the_library_what_a_constructor_may_call_is_refused(void)
{
	setenv("TENON_COMPAT_LIBRARY", "/nowhere/libtvm_ffi.so", 1);
	return refused_by_name("registers_lazily.so", "TVMFFIEnvModRegisterSystemLibSymbol") ||
	       refused_by_name("plain_unknown.so", "TVMFFINoSuchFunction") ||
	       refused_by_name("unknown_lazy.so", "defined_by_no_library");
}

#ifdef CONFIG_SYSTEM_LIB
static int returns(struct tenon_module *m, const char *name, int64_t want)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	if (tenon_module_get_function(m, name, &f))
		return wrong(name);
	if (tenon_call(f, &ret) || ret.as.integer != want)
		return wrong(name);
	tenon_object_unref(f);
	return 0;
}

static int registers_thirteen(const char *file, const char *own, int64_t want)
{
	const char *path = fixture_module_path(file);
	struct tenon_module *m;

	if (tenon_module_load(path, &m) || (own && returns(m, own, want)))
		return wrong("load");
	tenon_object_unref(m);
	if (!dlopen(path, RTLD_LAZY | RTLD_NOLOAD))
		return wrong("it is unmapped");
	if (tenon_system_lib("", &m) || returns(m, "thirteen", 13))
		return wrong("system library");
	tenon_object_unref(m);
	return 0;
}

static int a_library_that_registers_symbols_of_the_program_stays(void)
{
	return registers_thirteen("registers_symbol.so", NULL, 0);
}

static int a_lazily_bound_constructor_may_call_the_runtime(void)
{
	return registers_thirteen("registers_lazily.so", NULL, 0);
}

static int a_constructor_in_the_place_of_the_compilers_may_call_the_runtime(void)
{
	return registers_thirteen("registers_bare.so", NULL, 0);
}

static int so_may_the_constructor_of_a_library_that_a_module_needs(void)
{
	return registers_thirteen("needs_registers.so", "fourteen", 14);
}

static int where_no_file_can_be_written_the_names_are_shown_to_all(void)
{
	struct rlimit none, before;
	int err;

	if (getrlimit(RLIMIT_FSIZE, &before))
		return wrong("getrlimit");
	none = before;
	none.rlim_cur = 0;
	if (setrlimit(RLIMIT_FSIZE, &none))
		return wrong("setrlimit");
	err = refuses_in_plain_words("plain_now.so");
	setrlimit(RLIMIT_FSIZE, &before);
	if (err)
		return err;
	if (!dlsym(RTLD_DEFAULT, "TVMFFIGetVersion"))
		return wrong("the process does not see TVMFFIGetVersion");
	return registers_thirteen("registers_lazily.so", NULL, 0);
}

static int a_library_with_a_prefix_is_found_as_a_file_and_as_part_of_the_program(void)
{
	struct tenon_module *file, *linked;

	if (tenon_module_load(fixture_module_path("prefixed.so"), &file))
		return wrong("load");
	if (file->import_count != 1 || returns(file, "fifteen", 15))
		return wrong("the file's tree");
	if (tenon_system_lib("first_", &linked) || returns(linked, "fifteen", 15))
		return wrong("the program's");
	tenon_object_unref(linked);
	if (returns(file, "fifteen", 15))
		return wrong("the file's afterwards");
	tenon_object_unref(file);
	return 0;
}
#endif

static const struct fixture_case cases[] = {
	{ "a_lazily_bound_module_is_served_by_the_runtime_itself",
	  a_lazily_bound_module_is_served_by_the_runtime_itself },
	{ "a_module_with_a_hash_table_of_the_older_kind_is_searched",
	  a_module_with_a_hash_table_of_the_older_kind_is_searched },
	{ "a_module_bound_at_once_is_served_by_the_compatibility_library",
	  a_module_bound_at_once_is_served_by_the_compatibility_library },
	{ "a_module_bound_at_once_is_refused_without_it",
	  a_module_bound_at_once_is_refused_without_it },
	{ "the_names_stay_hidden_from_the_rest_of_the_process",
	  the_names_stay_hidden_from_the_rest_of_the_process },
	{ "a_name_that_nobody_has_is_refused", a_name_that_nobody_has_is_refused },
	{ "a_constructor_that_calls_a_name_that_nobody_has_is_refused",
	  a_constructor_that_calls_a_name_that_nobody_has_is_refused },
	{ "without_the_library_what_a_constructor_may_call_is_refused",
	  without_the_library_what_a_constructor_may_call_is_refused },
#ifdef CONFIG_SYSTEM_LIB
	{ "a_library_that_registers_symbols_of_the_program_stays",
	  a_library_that_registers_symbols_of_the_program_stays },
	{ "a_lazily_bound_constructor_may_call_the_runtime",
	  a_lazily_bound_constructor_may_call_the_runtime },
	{ "a_constructor_in_the_place_of_the_compilers_may_call_the_runtime",
	  a_constructor_in_the_place_of_the_compilers_may_call_the_runtime },
	{ "so_may_the_constructor_of_a_library_that_a_module_needs",
	  so_may_the_constructor_of_a_library_that_a_module_needs },
	{ "where_no_file_can_be_written_the_names_are_shown_to_all",
	  where_no_file_can_be_written_the_names_are_shown_to_all },
	{ "a_library_with_a_prefix_is_found_as_a_file_and_as_part_of_the_program",
	  a_library_with_a_prefix_is_found_as_a_file_and_as_part_of_the_program },
#endif
};

int main(void)
{
	return fixture_isolated(cases, sizeof(cases) / sizeof(*cases));
}

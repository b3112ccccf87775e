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

static int the_names_stay_hidden_while_nothing_needs_them(void)
{
	if (refuses_in_plain_words("plain_lazy.so"))
		return 1;
	if (dlsym(RTLD_DEFAULT, "TVMFFIGetVersion"))
		return wrong("the process sees TVMFFIGetVersion");
	return 0;
}

static int a_name_that_nobody_has_is_refused(void)
{
	struct tenon_module *m;

	if (!tenon_module_load(fixture_module_path("plain_unknown.so"), &m))
		return wrong("it was opened");
	if (!strstr(tenon_error_message(), "TVMFFINoSuchFunction"))
		return wrong("the message does not name it");
	return 0;
}

#ifdef CONFIG_SYSTEM_LIB
static int a_library_that_registers_symbols_of_the_program_stays(void)
{
	const char *path = fixture_module_path("registers_symbol.so");
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	struct tenon_module *m;

	if (tenon_module_load(path, &m))
		return wrong("load");
	tenon_object_unref(m);
	if (!dlopen(path, RTLD_LAZY | RTLD_NOLOAD))
		return wrong("it is unmapped");
	if (tenon_system_lib("", &m) || tenon_module_get_function(m, "thirteen", &f))
		return wrong("system library");
	if (tenon_call(f, &ret) || ret.as.integer != 13)
		return wrong("thirteen");
	tenon_object_unref(f);
	tenon_object_unref(m);
	return 0;
}
#endif

static const struct fixture_case cases[] = {
	{ "a_lazily_bound_module_is_served_by_the_runtime_itself",
	  a_lazily_bound_module_is_served_by_the_runtime_itself },
	{ "a_module_bound_at_once_is_served_by_the_compatibility_library",
	  a_module_bound_at_once_is_served_by_the_compatibility_library },
	{ "a_module_bound_at_once_is_refused_without_it",
	  a_module_bound_at_once_is_refused_without_it },
	{ "the_names_stay_hidden_while_nothing_needs_them",
	  the_names_stay_hidden_while_nothing_needs_them },
	{ "a_name_that_nobody_has_is_refused", a_name_that_nobody_has_is_refused },
#ifdef CONFIG_SYSTEM_LIB
	{ "a_library_that_registers_symbols_of_the_program_stays",
	  a_library_that_registers_symbols_of_the_program_stays },
#endif
};

int main(void)
{
	return fixture_isolated(cases, sizeof(cases) / sizeof(*cases));
}

/* SPDX-License-Identifier: MIT */
/*
 * Plug-ins of the library are looked for beside it, and used if nobody can change them who cannot change the library. The linker's
 * --wrap says which file is the library, and puts this file's malloc() and realloc() before those of the C library (Kbuild).
 */
#include "tests/unit/suite.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tenon/buffer.h>
#include <unistd.h>

#include "lib/file_trust.h"
#include "lib/plugin.h"

static bool no_malloc, no_realloc, library_is_known;
static char folder[PATH_MAX / 2], library[PATH_MAX];

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return no_malloc ? NULL : __real_malloc(size);
}

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
	return no_realloc ? NULL : __real_realloc(old, size);
}

bool __wrap_tenon__library_path(char path[PATH_MAX]);
bool __wrap_tenon__library_path(char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s", library);
	return library_is_known;
}

/* ---- the folder of the library */

static const char *in_folder(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void run(const char *form, const char *a, const char *b)
{
	char command[3 * PATH_MAX];

	snprintf(command, sizeof(command), form, a, b);
	assert_int_equal(system(command), 0);
}

/* Put a plug-in of the build there as @name. */
static void put(const char *built, const char *name)
{
	char from[PATH_MAX];

	snprintf(from, sizeof(from), "%s/tests/device/%s", getenv("TENON_BUILD"), built);
	run("install -m 644 '%s' '%s'", from, in_folder(name));
}

static int set_up(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char name[512], real[PATH_MAX];

	(void)state;
	/* the build may lie in a folder of another user */
	if (!tmp || file_trust_path(tmp, real))
		tmp = "/tmp";
	tenon_error_clear();
	snprintf(name, sizeof(name), "%s/plugins-XXXXXX", tmp);
	if (!mkdtemp(name))
		return -1;
	snprintf(folder, sizeof(folder), "%s", name);
	snprintf(library, sizeof(library), "%s/libtenon.so", folder);
	library_is_known = true;
	run("mkdir '%s'; : > '%s'", in_folder("plugins"), library);
	run("chmod 755 '%s'; chmod 644 '%s'", in_folder("plugins"), library);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	run("rm -r '%s'%s", folder, "");
	return 0;
}

/* ---- plug-ins */

static struct plugin plugin_named(const char *name)
{
	return (struct plugin){ .name = name, .option = "CONFIG_THIS" };
}

static void assert_opens(const char *name)
{
	struct plugin p = plugin_named(name);
	struct tenon_buffer why = TENON_BUFFER_INIT;

	assert_false(plugin_missing(&p, &why));
	if (plugin_open(&p, -TENON_E_UNSUPPORTED))
		fail_msg("%s", tenon_error_message());
	assert_string_equal(p.offer->version, TENON_VERSION_TEXT);
	/* it is, once opened, whatever becomes of its file */
	library_is_known = false;
	assert_false(plugin_missing(&p, &why));
	assert_int_equal(plugin_open(&p, -TENON_E_UNSUPPORTED), 0);
	assert_int_equal(why.size, 0);
	library_is_known = true;
}

static void assert_refused(const char *name, const char *why)
{
	struct plugin p = plugin_named(name);

	assert_int_equal(plugin_open(&p, -TENON_E_UNSUPPORTED), -TENON_E_UNSUPPORTED);
	assert_null(p.offer);
	assert_non_null(strstr(tenon_error_message(), "or build with CONFIG_PLUGINS=n"));
	assert_error_has(why);
}

static void assert_missing(const char *name)
{
	struct plugin p = plugin_named(name);
	struct tenon_buffer why = TENON_BUFFER_INIT;

	assert_true(plugin_missing(&p, &why));
	assert_non_null(strstr(why.data, "or build with CONFIG_PLUGINS=n"));
	tenon_buffer_fini(&why);
	assert_refused(name, "no such file");
}

static void a_plugin_is_found_beside_the_library(void **state)
{
	(void)state;
	put("offer_nothing.so", "plugins/beside.so");
	assert_opens("beside");
}

static void a_plugin_is_found_in_the_folder_of_an_installation(void **state)
{
	(void)state;
	run("mkdir -m 755 '%s'%s", in_folder("tenon"), "");
	put("offer_nothing.so", "tenon/installed.so");
	assert_opens("installed");
}

static void a_plugin_that_is_nowhere_is_named_with_what_was_tried(void **state)
{
	(void)state;
	assert_missing("nowhere");
	/* in a build, the command is there */
	run(": > '%s'%s", in_folder("tenon"), "");
	assert_missing("nowhere");
	/* the same folder twice */
	run("ln -sf plugins '%s'%s", in_folder("tenon"), "");
	assert_missing("nowhere");
	library_is_known = false;
	assert_missing("nowhere");
}

static void a_path_that_is_too_long_is_left_out(void **state)
{
	static char name[PATH_MAX];
	const size_t length = strlen(library);
	struct plugin p = plugin_named(name);
	struct tenon_buffer why = TENON_BUFFER_INIT;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	assert_refused(name, "CONFIG_THIS=m");
	assert_true(plugin_missing(&p, &why));
	tenon_buffer_fini(&why);
	/* a folder beside a library of a path as long as there may be */
	memset(library + length, '/', sizeof(library) - 1 - length);
	assert_missing("nowhere");
	strcpy(library, "no folder");
	assert_missing("nowhere");
}

static void what_is_no_plugin_of_this_release_is_refused(void **state)
{
	(void)state;
	put("plugin_none.so", "plugins/none.so");
	assert_refused("none", "tenon_plugin");
	put("offer_other.so", "plugins/other.so");
	assert_refused("other", "another release than that of libtenon.so");
	run("echo text > '%s'; chmod 644 '%s'", in_folder("plugins/text.so"),
	    in_folder("plugins/text.so"));
	assert_refused("text", "text.so");
}

static void mode(const char *name, mode_t bits)
{
	assert_int_equal(chmod(in_folder(name), bits), 0);
}

static void a_plugin_that_others_can_change_is_used_if_they_can_change_the_library(void **state)
{
	(void)state;
	put("offer_nothing.so", "plugins/open.so");
	mode("plugins/open.so", 0666);
	assert_refused("open", "chmod o-w");
	mode("libtenon.so", 0664);
	assert_refused("open", "chmod o-w");
	/* its folder too */
	mode("libtenon.so", 0666);
	mode("plugins", 0777);
	assert_opens("open");
	mode("libtenon.so", 0644);
	assert_refused("open", "chmod o-w");
	/* a library that is gone */
	unlink(library);
	assert_refused("open", "chmod o-w");
}

static void a_link_is_not_what_the_library_is(void **state)
{
	(void)state;
	put("offer_nothing.so", "plugins/there.so");
	mode("plugins/there.so", 0666);
	mode("libtenon.so", 0666);
	run("ln -s there.so '%s'%s", in_folder("plugins/linked.so"), "");
	assert_refused("linked", "chmod o-w");
}

static void the_owner_of_the_library_may_have_its_plugins(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	put("offer_nothing.so", "plugins/owned.so");
	assert_int_equal(chown(in_folder("plugins/owned.so"), 1234, 1234), 0);
	assert_refused("owned", "chown root");
	assert_int_equal(chown(library, 1234, 1234), 0);
	assert_opens("owned");
	/* what another group can change */
	mode("plugins/owned.so", 0664);
	mode("libtenon.so", 0664);
	assert_opens("owned");
	assert_int_equal(chown(library, 1234, 1235), 0);
	assert_refused("owned", "owned.so");
}

static void without_memory_a_plugin_is_not_found(void **state)
{
	struct plugin p = plugin_named("beside");
	struct tenon_buffer why = TENON_BUFFER_INIT;
	int err;

	(void)state;
	put("offer_nothing.so", "plugins/beside.so");
	no_malloc = true;
	err = plugin_open(&p, -TENON_E_UNSUPPORTED);
	no_malloc = false;
	assert_int_equal(err, -TENON_E_NOMEM);
	assert_error_has("no memory to look for plug-in beside");
	no_malloc = true;
	assert_true(plugin_missing(&p, &why));
	no_malloc = false;
	assert_non_null(strstr(why.data, "no memory to look for its plug-in"));
	tenon_buffer_fini(&why);
	/* for its message */
	p = plugin_named("nowhere");
	no_realloc = true;
	err = plugin_open(&p, -TENON_E_UNSUPPORTED);
	no_realloc = false;
	assert_int_equal(err, -TENON_E_UNSUPPORTED);
	assert_error("CONFIG_THIS");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(a_plugin_is_found_beside_the_library),
		CASE(a_plugin_is_found_in_the_folder_of_an_installation),
		CASE(a_plugin_that_is_nowhere_is_named_with_what_was_tried),
		CASE(a_path_that_is_too_long_is_left_out),
		CASE(what_is_no_plugin_of_this_release_is_refused),
		CASE(a_plugin_that_others_can_change_is_used_if_they_can_change_the_library),
		CASE(a_link_is_not_what_the_library_is),
		CASE(the_owner_of_the_library_may_have_its_plugins),
		CASE(without_memory_a_plugin_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

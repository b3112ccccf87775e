/* SPDX-License-Identifier: MIT */
/* What the command says where loaders are missing and plug-ins do not work. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/cli_run.h"

static char folder[512], plugin[528];

static int make_trouble(void **state)
{
	const char *tmp = getenv("TMPDIR");
	FILE *f;

	(void)state;
	snprintf(folder, sizeof(folder), "%s/doctor-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(folder));
	snprintf(plugin, sizeof(plugin), "%s/torn.so", folder);
	f = fopen(plugin, "w");
	assert_non_null(f);
	fputs("torn", f);
	fclose(f);
	setenv("TENON_BACKEND_PATH", folder, 1);
	setenv("TENON_OPENCL_LIBRARY", "/nowhere/libOpenCL.so.1", 1);
	setenv("TENON_VULKAN_LIBRARY", "/nowhere/libvulkan.so.1", 1);
	return 0;
}

static int clean_up(void **state)
{
	(void)state;
	unlink(plugin);
	rmdir(folder);
	return 0;
}

/* the line that begins so, and the remedy on the one behind it */
static void assert_warned(const char *out, const char *beginning, const char *words)
{
	const char *line = strstr(out, beginning), *end, *remedy;

	if (!line)
		print_error("no line \"%s\" in:\n%s", beginning, out);
	assert_non_null(line);
	end = strchr(line, '\n');
	assert_non_null(end);
	assert_true(strstr(line, words) && strstr(line, words) < end);
	remedy = strstr(end, "→");
	assert_true(remedy && remedy < strchr(end + 1, '\n'));
}

static void a_missing_loader_is_a_warning_that_says_how_to_get_it(void **state)
{
	struct cli_run r = RUN("doctor");

	(void)state;
#ifdef CONFIG_DEVICE_OPENCL
	assert_warned(r.out, "warn  opencl ", "/nowhere/libOpenCL.so.1");
	assert_warned(r.out, "warn  opencl ", "apt install");
#endif
#ifdef CONFIG_DEVICE_VULKAN
	assert_warned(r.out, "warn  vulkan ", "/nowhere/libvulkan.so.1");
	assert_warned(r.out, "warn  vulkan ", "apt install");
#endif
	/* other modules run: this is no failure */
	assert_int_equal(r.code, CLI_OK);
	cli_run_free(&r);
}

static void a_plug_in_that_does_not_work_is_a_warning(void **state)
{
	struct cli_run r = RUN("doctor");

	(void)state;
	assert_warned(r.out, "warn  plug-in ", "/torn.so: ");
	cli_run_free(&r);
}

static void devices_gives_the_reason_in_place_of_a_device(void **state)
{
	struct cli_run r = RUN("devices");

	(void)state;
	assert_int_equal(r.code, CLI_OK);
#ifdef CONFIG_DEVICE_OPENCL
	assert_non_null(strstr(r.out, "\nopencl    /nowhere/libOpenCL.so.1"));
	assert_null(strstr(r.out, "\nopencl:0"));
#endif
	cli_run_free(&r);
}

#ifdef CONFIG_JSON
static void json_has_the_same(void **state)
{
	struct cli_run r = RUN("devices", "--json");

	(void)state;
	assert_non_null(strstr(r.out, "\"absent\":"));
	assert_non_null(strstr(r.out, "\"nodes\":"));
	cli_run_free(&r);
	r = RUN("doctor", "--json");
	assert_non_null(strstr(r.out, "\"level\":"));
	assert_non_null(strstr(r.out, "torn.so"));
	cli_run_free(&r);
}
#endif

static void a_device_that_is_not_there_ends_with_its_own_status(void **state)
{
	(void)state;
#ifdef CONFIG_DEVICE_OPENCL
	assert_refused(RUN("run", "no.so", "--function", "f", "--device", "opencl:0"),
		       CLI_UNAVAILABLE, "/nowhere/libOpenCL.so.1");
#endif
	assert_refused(RUN("run", "no.so", "--function", "f", "--device", "cpu?queue=fast"),
		       CLI_USAGE, "want inline or worker");
	assert_refused(RUN("run", "no.so", "--function", "f", "--device", "nobody:0"), CLI_USAGE,
		       "nobody");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_loader_is_a_warning_that_says_how_to_get_it),
		cmocka_unit_test(a_plug_in_that_does_not_work_is_a_warning),
		cmocka_unit_test(devices_gives_the_reason_in_place_of_a_device),
#ifdef CONFIG_JSON
		cmocka_unit_test(json_has_the_same),
#endif
		cmocka_unit_test(a_device_that_is_not_there_ends_with_its_own_status),
	};

	return cmocka_run_group_tests_name("doctor and devices", tests, make_trouble, clean_up);
}

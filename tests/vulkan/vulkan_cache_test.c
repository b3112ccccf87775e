/* SPDX-License-Identifier: MIT */
/*
 * Pipelines on disk: found again, done without, never believed when they are damaged or another
 * driver's. The drivers of processors keep nothing in their caches, so the fake adds bytes of its own.
 */
#include "tests/vulkan/vulkan_rig.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct rig rig;

static int only_fake(void **state)
{
	(void)state;
	if (rig_unavailable())
		return 0;
	if (rig_open(&rig, "vulkan:0"))
		return -1;
	return rig_close(&rig);
}

/* Make an empty cache; the runner removes what is in TMPDIR. */
static void use_cache(char *folder, size_t size)
{
	const char *parent = getenv("TMPDIR");

	snprintf(folder, size, "%s/tenon-vulkan-XXXXXX", parent ? parent : "/tmp");
	assert_non_null(mkdtemp(folder));
	setenv("TENON_CACHE_DIR", folder, 1);
}

static void a_cache_that_fails_is_done_without(void **state)
{
	static const char *const functions[] = { "CreatePipelineCache", "GetPipelineCacheData" };
	char *kept = strdup(getenv("TENON_CACHE_DIR"));
	char folder[512];
	size_t i;

	(void)state;
	rig_needs_device();
	use_cache(folder, sizeof(folder));
	for (i = 0; i < 2; i++) {
		rig.fake->failing = functions[i];
		rig.fake->fail_at = 1;
		rig.fake->result = -1; /* out of host memory */
		assert_int_equal(rig_program(&rig, "vulkan:0"), 0);
		assert_int_equal(rig.fake->failures, 1);
		rig.fake->failures = 0;
		assert_int_equal(rig.fake->live, 0);
	}
	setenv("TENON_CACHE_DIR", kept, 1);
	free(kept);
}

/* files of the cache, with what @change does to each */
static int cache_files(const char *folder, void (*change)(const char *path))
{
	char path[4096];
	struct dirent *e;
	DIR *d;
	int n = 0;

	snprintf(path, sizeof(path), "%s/vulkan", folder);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		n++;
		snprintf(path, sizeof(path), "%s/vulkan/%s", folder, e->d_name);
		if (change)
			change(path);
	}
	if (d)
		closedir(d);
	return n;
}

static void cut(const char *path)
{
	assert_int_equal(truncate(path, 50), 0);
}

static void damage(const char *path)
{
	FILE *f = fopen(path, "r+b");

	assert_non_null(f);
	fseek(f, -10, SEEK_END);
	fputc(0xff, f);
	fclose(f);
}

static void drop(const char *path)
{
	assert_int_equal(unlink(path), 0);
}

static void what_the_driver_compiled_is_found_again(void **state)
{
	char *kept = strdup(getenv("TENON_CACHE_DIR"));
	char folder[512];
	void (*const harm[])(const char *) = { cut, damage };
	size_t i;

	(void)state;
	rig_needs_device();
	use_cache(folder, sizeof(folder));
	rig.fake->cache_bytes = 100;
	assert_int_equal(rig_program(&rig, "vulkan:0"), 0);
	assert_int_equal(rig.fake->cache_found, 0);
	assert_int_equal(cache_files(folder, NULL), 1);
	assert_int_equal(rig_program(&rig, "vulkan:0"), 0);
	assert_int_equal(rig.fake->cache_found, 132);
	assert_int_equal(cache_files(folder, NULL), 1);
	for (i = 0; i < 2; i++) {
		cache_files(folder, harm[i]);
		assert_int_equal(rig_program(&rig, "vulkan:0"), 0);
		assert_int_equal(rig.fake->cache_found, 0);
		assert_int_equal(rig_program(&rig, "vulkan:0"), 0);
		assert_int_equal(rig.fake->cache_found, 132);
	}
	/* another driver has entries of its own, and believes none that is not by itself */
	rig.fake->driver = 1;
	for (i = 0; i < 2; i++) {
		assert_int_equal(rig_program(&rig, "vulkan:0"), 0);
		assert_int_equal(rig.fake->cache_found, 0);
		assert_int_equal(cache_files(folder, NULL), 2);
	}
	rig.fake->driver = 0;
	assert_int_equal(rig_program(&rig, "vulkan:0"), 0);
	assert_int_equal(rig.fake->cache_found, 132);
	/* a driver whose caches are headers alone gets no file */
	cache_files(folder, drop);
	rig.fake->cache_bytes = 0;
	assert_int_equal(rig_program(&rig, "vulkan:0"), 0);
	assert_int_equal(cache_files(folder, NULL), 0);
	setenv("TENON_CACHE_DIR", kept, 1);
	free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_cache_that_fails_is_done_without, only_fake),
		cmocka_unit_test_setup(what_the_driver_compiled_is_found_again, only_fake),
	};

	vulkan_environment(NULL);
	return cmocka_run_group_tests_name("Vulkan cache", tests, NULL, NULL);
}

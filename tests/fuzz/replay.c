/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target without a fuzzer: over its seeds and corpus, and in campaigns. */
#include "tests/unit/blob.h"

#include <dirent.h>
#include <errno.h>

#include "tests/fuzz/campaign.h"
#include "tests/fuzz/command.h"
#include "tests/fuzz/execution.h"
#include "tests/fuzz/fixtures.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/seeds.h"

/* Seeds up to this size get every value in every byte, longer ones the values that break most. With a sanitizer, which takes
 * five times as long, both are smaller. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EVERY_VALUE 64
#define DENSE	    512 /* bytes of each end of a seed */
#else
#define EVERY_VALUE 420
#define DENSE	    1024
#endif

/* the campaign of "make check": a second or two with a sanitizer */
#define SHORT_SEED  1
#define SHORT_COUNT 2000

static char target[64];
static unsigned long runs;

static void run_exact(const char *data, size_t size)
{
	if (!execution_run((struct tenon_slice){ data, size }))
		fail();
	runs++;
}

static void run_fixture(void *context, struct tenon_slice bytes)
{
	size_t *count = context;

	run_exact(bytes.data, bytes.size);
	++*count;
}

static void run_seed(void *context, const char *name, struct tenon_slice bytes)
{
	(void)name;
	run_fixture(context, bytes);
}

static void the_seeds_are_read(void **state)
{
	size_t count = 0;

	(void)state;
	seeds_each(target, run_seed, &count);
	fuzz_fixtures(run_fixture, &count);
	assert_true(count > 0);
}
static void truncate_seed(void *context, const char *name, struct tenon_slice bytes)
{
	size_t size;

	(void)context;
	(void)name;
	for (size = 0; size < bytes.size; size++)
		run_exact(bytes.data, size);
}

static void every_truncation_is_survived(void **state)
{
	(void)state;
	seeds_each(target, truncate_seed, NULL);
}

/*
 * The next place to edit: each byte of the two ends of a large seed, where formats have their tables, and as many places between
 * them as there are at one end.
 */
static size_t next_place(size_t at, size_t size)
{
	const size_t last = size - DENSE;

	if (size <= 3 * DENSE || at < DENSE || at >= last)
		return at + 1;
	at += (size - 2 * DENSE) / DENSE;
	return at < last ? at : last;
}

static void edit_seed(void *context, const char *name, struct tenon_slice bytes)
{
	static const uint8_t flips[] = { 0x01, 0x80, 0x02, 0x10, 0xff };
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	char *copy = malloc(bytes.size);
	size_t at;
	int v;

	(void)context;
	(void)name;
	memcpy(copy, bytes.data, bytes.size);
	for (at = 0; at < bytes.size; at = next_place(at, bytes.size)) {
		for (v = 1; v < 256 && bytes.size <= EVERY_VALUE; v++) {
			copy[at] = (char)(bytes.data[at] ^ v);
			run_exact(copy, bytes.size);
		}
		for (v = 0; v < 10 && bytes.size > EVERY_VALUE; v++) {
			copy[at] = (char)(v < 5 ? bytes.data[at] ^ flips[v] : values[v - 5]);
			run_exact(copy, bytes.size);
		}
		copy[at] = bytes.data[at];
	}
	free(copy);
}

static void every_edit_of_a_byte_is_survived(void **state)
{
	(void)state;
	seeds_each(target, edit_seed, NULL);
}

/* lengths that are multiplied and added: each aligned or unaligned word becomes one */
static void plant_lengths(void *context, const char *name, struct tenon_slice bytes)
{
	static const uint64_t lengths[] = { UINT64_C(1) << 63, UINT64_MAX,	  UINT64_MAX / 8,
					    UINT64_C(1) << 61, UINT64_C(1) << 32, INT64_MAX };
	char *copy = malloc(bytes.size);
	size_t at, i;

	(void)context;
	(void)name;
	memcpy(copy, bytes.data, bytes.size);
	for (at = 0; at + 8 <= bytes.size; at = next_place(at, bytes.size)) {
		for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			memcpy(copy + at, &lengths[i], 8);
			run_exact(copy, bytes.size);
		}
		memcpy(copy + at, bytes.data + at, 8);
	}
	free(copy);
}

static void huge_lengths_anywhere_are_survived(void **state)
{
	(void)state;
	seeds_each(target, plant_lengths, NULL);
}

static void the_corpus_is_survived(void **state)
{
	const char *source = getenv("TENON_SOURCE");
	struct tenon_slice bytes;
	struct dirent *entry;
	char path[1024];
	DIR *folder;

	(void)state;
	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", source ? source : ".", target);
	folder = opendir(path);
	/* nothing was found with this target yet */
	if (!folder && errno == ENOENT)
		return;
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s/%s", source ? source : ".",
			 target, entry->d_name);
		assert_int_equal(file_map_open(path, &bytes), 0);
		run_exact(bytes.data, bytes.size);
		file_map_close(&bytes);
	}
	closedir(folder);
}

static void a_short_campaign_is_survived(void **state)
{
	const struct campaign c = { target, SHORT_SEED, 0, SHORT_COUNT, true };

	(void)state;
	/* one line of each command for a mutant, as in a long one */
	command_choose_all(false);
	assert_int_equal(campaign_run(&c), 0);
	runs += SHORT_COUNT;
}

/* ---- the command line */

static void write_seed(void *context, struct tenon_slice bytes)
{
	static int number;
	char path[1024];

	snprintf(path, sizeof(path), "%s/seed-%03d", (const char *)context, number++);
	write_scratch(path, bytes);
}

static void write_named_seed(void *context, const char *name, struct tenon_slice bytes)
{
	(void)name;
	write_seed(context, bytes);
}

static int usage(const char *program)
{
	fprintf(stderr,
		"%s                              the suite, as make check runs it\n"
		"%s FILE…                        inputs from files\n"
		"%s --campaign SEED COUNT [FIRST] [FOLDER]…\n"
		"%s --one SEED NUMBER [FOLDER]…  one mutant of a campaign again\n"
		"%s --write-seeds FOLDER\n"
		"A FOLDER holds more fixtures to make mutants of; for --one, the same as before.\n",
		program, program, program, program, program);
	return 2;
}

static bool number_of(const char *word, uint64_t *out)
{
	char *end;

	if (!word || *word < '0' || *word > '9')
		return false;
	*out = strtoull(word, &end, 10);
	return !*end;
}

static int campaign(char **words)
{
	struct campaign c = { .target = target };
	bool one = !strcmp(words[0], "--one");

	if (!number_of(words[1], &c.seed) || !number_of(words[2], one ? &c.first : &c.count))
		return usage(target);
	words += 3;
	if (!one && number_of(*words, &c.first))
		words++;
	for (; *words; words++)
		fixtures_add_folder(*words);
	if (!one)
		return campaign_run(&c) ? 1 : 0;
	campaign_run_one(&c);
	return 0;
}

static int run_files(char **paths)
{
	struct tenon_slice bytes;

	command_choose_all(true);
	for (; *paths; paths++) {
		if (file_map_open(*paths, &bytes)) {
			fprintf(stderr, "%s\n", tenon_error_message());
			return 2;
		}
		fprintf(stderr, "%s, %zu bytes\n", *paths, bytes.size);
		if (!execution_run(bytes))
			return 1;
		file_map_close(&bytes);
	}
	return 0;
}

static int run_suite(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_seeds_are_read),
		cmocka_unit_test(the_corpus_is_survived),
		cmocka_unit_test(a_short_campaign_is_survived),
		cmocka_unit_test(every_truncation_is_survived),
		cmocka_unit_test(every_edit_of_a_byte_is_survived),
		cmocka_unit_test(huge_lengths_anywhere_are_survived),
	};
	int failed;

	command_choose_all(true);
	if (fuzz_is_slow)
		failed = _cmocka_run_group_tests(target, tests, 3, NULL, NULL);
	else
		failed = cmocka_run_group_tests(tests, NULL, NULL);
	print_message("# %lu inputs\n", runs);
	return failed;
}

/* No driver of a device is opened: an input must not reach a compiler of kernels. */
static void leave_devices_out(void)
{
	setenv("TENON_BACKENDS", "cpu", 1);
	setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
	setenv("VK_DRIVER_FILES", "/nonexistent", 1);
	setenv("VK_ICD_FILENAMES", "/nonexistent", 1);
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');

	snprintf(target, sizeof(target), "%s", name ? name + 1 : argv[0]);
	if (strstr(target, "_fuzz"))
		*strstr(target, "_fuzz") = '\0';
	leave_devices_out();
	/* made here, so that it is removed at the end of this process, and not of a child */
	scratch_path("");
	if (argc == 1)
		return run_suite();
	if (!strcmp(argv[1], "--campaign") || !strcmp(argv[1], "--one"))
		return campaign(argv + 1);
	if (argc == 3 && !strcmp(argv[1], "--write-seeds")) {
		seeds_each(target, write_named_seed, argv[2]);
		fuzz_fixtures(write_seed, argv[2]);
		return 0;
	}
	return *argv[1] == '-' ? usage(target) : run_files(argv + 1);
}

/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target without a fuzzer: over its corpus, and its seeds changed in every byte. */
#include "tests/unit/blob.h"

#include <dirent.h>
#include <errno.h>

#include "tests/fuzz/allocation.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

/* Memory that a target may use at most: what it keeps of each byte, and what any call needs. */
#define PER_BYTE 64
#define AT_ALL	 65536

/* seeds up to this size get every value in every byte, longer ones the values that break most */
#define EVERY_VALUE 420

/* without a kinds table of its own, a target has none */
__attribute__((weak)) const char *const fuzz_kinds[] = { NULL };

static char target[64];
static unsigned long runs;

/* a copy of exactly the right size, so that a sanitizer sees the first byte read beyond */
static void run_exact(const char *data, size_t size)
{
	char *copy = malloc(size);

	if (size)
		memcpy(copy, data, size);
	allocation_start();
	LLVMFuzzerTestOneInput((const uint8_t *)copy, size);
	if (allocation_counts() && allocation_peak() > PER_BYTE * size + AT_ALL) {
		print_error("%zu bytes of memory for %zu bytes of input\n", allocation_peak(),
			    size);
		fail();
	}
	free(copy);
	runs++;
}

static void run_seed(void *context, const char *name, struct tenon_slice bytes)
{
	size_t *count = context;

	(void)name;
	run_exact(bytes.data, bytes.size);
	++*count;
}

static void the_seeds_are_read(void **state)
{
	size_t count = 0;

	(void)state;
	seeds_each(target, run_seed, &count);
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
	for (at = 0; at < bytes.size; at++) {
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
	for (at = 0; at + 8 <= bytes.size; at++) {
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

static void write_seed(void *context, const char *name, struct tenon_slice bytes)
{
	static int number;
	char path[1024];

	(void)name;
	snprintf(path, sizeof(path), "%s/seed-%02d", (const char *)context, number++);
	write_scratch(path, bytes);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_seeds_are_read),
		cmocka_unit_test(the_corpus_is_survived),
		cmocka_unit_test(every_truncation_is_survived),
		cmocka_unit_test(every_edit_of_a_byte_is_survived),
		cmocka_unit_test(huge_lengths_anywhere_are_survived),
	};
	const char *name = strrchr(argv[0], '/');
	int failed;

	snprintf(target, sizeof(target), "%s", name ? name + 1 : argv[0]);
	if (strstr(target, "_fuzz"))
		*strstr(target, "_fuzz") = '\0';
	/* for a fuzzer to begin with */
	if (argc == 3 && !strcmp(argv[1], "--write-seeds")) {
		seeds_each(target, write_seed, argv[2]);
		return 0;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	print_message("# %lu inputs\n", runs);
	return failed;
}

/* SPDX-License-Identifier: MIT */
/* Data is copied out of a library, and the library's pages leave the process's memory. */
#include "tests/unit/suite.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/library_pages.h"

#define SIZE ((size_t)9 << 20)

/* of large_constants.so */
static const unsigned char *constants;
/* of this program, which may have been unpacked into memory */
static const unsigned char own[SIZE] = { [0] = 1, [SIZE / 2] = 7 };
static unsigned char written[SIZE] = { [0] = 1 };

/* Bytes of this process that are in memory. */
static size_t in_memory(void)
{
	unsigned long all = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu %lu", &all, &resident), 2);
	assert_int_equal(fclose(f), 0);
	return resident * (size_t)getpagesize();
}

static void *filled_memory(void)
{
	void *memory = malloc(SIZE);

	assert_non_null(memory);
	return memset(memory, 3, SIZE);
}

static void what_is_copied_out_of_a_library_is_held_once(void **state)
{
	unsigned char *copy = filled_memory();
	size_t before = in_memory();

	(void)state;
	library_pages_copy(copy, constants, SIZE);
	assert_true(in_memory() < before + SIZE * 3 / 4);
	assert_memory_equal(copy, constants, SIZE);
	before = in_memory();
	library_pages_give_back(constants, SIZE);
	assert_true(in_memory() + SIZE * 3 / 4 < before);
	assert_int_equal(constants[SIZE / 2], 7);
	free(copy);
}

static void a_program_keeps_its_constants_in_memory(void **state)
{
	unsigned char *copy = filled_memory();
	size_t before;

	(void)state;
	library_pages_copy(copy, own, SIZE);
	assert_memory_equal(copy, own, SIZE);
	before = in_memory();
	library_pages_give_back(own, SIZE);
	assert_true(in_memory() + SIZE / 4 > before);
	free(copy);
}

static void what_was_written_stays(void **state)
{
	unsigned char *copy = filled_memory(), *heap = filled_memory();

	(void)state;
	memset(written, 5, SIZE);
	library_pages_copy(copy, written, SIZE);
	assert_memory_equal(copy, written, SIZE);
	assert_int_equal(written[SIZE / 2], 5);
	library_pages_copy(copy, heap, SIZE);
	library_pages_give_back(heap, SIZE);
	assert_int_equal(heap[SIZE / 2], 3);
	assert_memory_equal(copy, heap, SIZE);
	free(heap);
	free(copy);
}

static void any_address_and_size_is_copied(void **state)
{
	static const size_t at[] = { 0, 1, 63, 4095, 4097 };
	unsigned char *copy = filled_memory();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		const size_t sizes[] = { 0, 1, LIBRARY_PAGES_STEP - 1, LIBRARY_PAGES_STEP,
					 SIZE - at[i] };
		size_t j;

		for (j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			memset(copy, 9, SIZE);
			library_pages_copy(copy, constants + at[i], sizes[j]);
			assert_memory_equal(copy, constants + at[i], sizes[j]);
			assert_true(sizes[j] == SIZE || copy[sizes[j]] == 9);
		}
	}
	free(copy);
}

static int open_library(void **state)
{
	char path[4096];
	void *library;

	snprintf(path, sizeof(path), "%s/tests/unit/large_constants.so", getenv("TENON_BUILD"));
	library = dlopen(path, RTLD_NOW);
	if (!library)
		fail_msg("%s", dlerror());
	*state = library;
	constants = dlsym(library, "large_constants");
	return constants ? 0 : -1;
}

static int close_library(void **state)
{
	return dlclose(*state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_copied_out_of_a_library_is_held_once),
		cmocka_unit_test(a_program_keeps_its_constants_in_memory),
		cmocka_unit_test(what_was_written_stays),
		cmocka_unit_test(any_address_and_size_is_copied),
	};

	return cmocka_run_group_tests(tests, open_library, close_library);
}

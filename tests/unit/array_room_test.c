/* SPDX-License-Identifier: MIT */
/* Arrays that grow when they are full, and reads that take several calls. */
#include "suite.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/array_room.h"
#include "lib/whole_io.h"

static void an_array_that_grows_keeps_its_items(void **state)
{
	uint32_t *items = NULL, room = 0, i, before = 0;
	unsigned int moved = 0;

	(void)state;
	for (i = 0; i < 1000; i++) {
		assert_true(array_reserve(items, room, i + 1));
		assert_true(room > i);
		moved += room != before;
		before = room;
		items[i] = i;
	}
	/* its room doubles: 8, 16, …, 1024 */
	assert_int_equal(moved, 8);
	for (i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	free(items);
}

static void room_for_many_items_is_made_at_once(void **state)
{
	char *text = NULL;
	size_t room = 0;

	(void)state;
	assert_true(array_reserve(text, room, 0));
	assert_null(text);
	assert_true(array_reserve(text, room, 1000));
	assert_int_equal(room, 1000);
	free(text);
}

static void an_array_of_more_bytes_than_an_address_has_is_refused(void **state)
{
	uint64_t *items = NULL;
	size_t room = 0;

	(void)state;
	assert_true(array_reserve(items, room, 1));
	items[0] = 7;
	assert_false(array_reserve(items, room, SIZE_MAX / 4));
	assert_false(array_reserve(items, room, SIZE_MAX));
	assert_int_equal(room, 8);
	assert_int_equal(items[0], 7);
	free(items);
}

static void an_end_before_the_last_byte_is_no_error_of_the_system(void **state)
{
	char text[8];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_true(write_whole(ends[1], "abcd", 4));
	assert_true(read_whole(ends[0], text, 2));
	assert_memory_equal(text, "ab", 2);
	close(ends[1]);
	errno = EIO;
	assert_false(read_whole(ends[0], text, 8));
	assert_int_equal(errno, 0);
	assert_memory_equal(text, "cd", 2);
	assert_false(read_whole(-1, text, 1));
	assert_int_equal(errno, EBADF);
	assert_false(write_whole(-1, text, 1));
	assert_int_equal(errno, EBADF);
	close(ends[0]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_array_that_grows_keeps_its_items),
		cmocka_unit_test(room_for_many_items_is_made_at_once),
		cmocka_unit_test(an_array_of_more_bytes_than_an_address_has_is_refused),
		cmocka_unit_test(an_end_before_the_last_byte_is_no_error_of_the_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

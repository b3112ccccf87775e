/* SPDX-License-Identifier: MIT */
/* Cursors over untrusted bytes, and what a buffer writes for them. */
#include <wchar.h>

#include <tenon/backend/buffer.h>
#include <tenon/backend/cursor.h>
#include <tenon/error.h>
#include <tenon/params.h>
#include <tenon/tensor.h>

#include "tests/unit/suite.h"

static void integers_are_little_endian(void **state)
{
	const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct tenon_cursor c = tenon_cursor_of(bytes, sizeof(bytes), "blob", 0);
	uint64_t q;
	uint32_t w;
	uint16_t h;
	uint8_t b;

	(void)state;
	assert_int_equal(tenon_cursor_u64(&c, &q), 0);
	assert_true(q == UINT64_C(0x0807060504030201));
	assert_int_equal(tenon_cursor_u32(&c, &w), 0);
	assert_int_equal(w, 0x0c0b0a09);
	assert_int_equal(tenon_cursor_u16(&c, &h), 0);
	assert_int_equal(h, 0x0e0d);
	assert_int_equal(tenon_cursor_u8(&c, &b), 0);
	assert_int_equal(b, 15);
	assert_int_equal(tenon_cursor_left(&c), 0);
	assert_int_equal(tenon_cursor_place(&c), 15);
}

static void a_read_behind_the_end_says_where_and_moves_nothing(void **state)
{
	const uint8_t bytes[] = { 1, 2, 3 };
	struct tenon_cursor c = tenon_cursor_of(bytes, sizeof(bytes), "blob", 0x1f40);
	uint32_t w = 7;
	uint8_t b;

	(void)state;
	tenon_cursor_u8(&c, &b);
	assert_int_equal(tenon_cursor_u32(&c, &w), -TENON_E_TRUNCATED);
	assert_int_equal(w, 0);
	assert_ptr_equal(c.at, bytes + 1);
	assert_error("blob at 0x1f41: 4 bytes wanted, 2 bytes left");
}

static void a_count_larger_than_the_bytes_left_is_refused(void **state)
{
	const uint8_t bytes[] = { 0x10, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3 };
	struct tenon_cursor c = tenon_cursor_of(bytes, sizeof(bytes), "blob", 0);
	uint64_t n;

	(void)state;
	assert_int_equal(tenon_cursor_count(&c, 8, &n), -TENON_E_TRUNCATED);
	assert_error("blob at 0x0: 16 elements of at least 8 bytes promised, 3 bytes left");
	assert_ptr_equal(c.at, bytes);
}

static void a_count_whose_bytes_overflow_is_refused(void **state)
{
	const uint8_t bytes[] = { 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct tenon_cursor c = tenon_cursor_of(bytes, sizeof(bytes), "blob", 0);
	uint64_t n;

	(void)state;
	assert_int_equal(tenon_cursor_count(&c, 16, &n), -TENON_E_TRUNCATED);
	assert_error_has("9223372036854775808 elements");
}

static void a_string_is_a_slice_of_the_source(void **state)
{
	const uint8_t bytes[] = { 3, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c', 'd' };
	struct tenon_cursor c = tenon_cursor_of(bytes, sizeof(bytes), "blob", 0);
	struct tenon_slice s;

	(void)state;
	assert_int_equal(tenon_cursor_string(&c, &s), 0);
	assert_slice(s, "abc");
	assert_ptr_equal(s.data, bytes + 8);
	assert_int_equal(tenon_cursor_left(&c), 1);
}

static void a_string_of_2_to_the_63_bytes_is_refused(void **state)
{
	const uint8_t bytes[] = { 0, 0, 0, 0, 0, 0, 0, 0x80, 'a' };
	struct tenon_cursor c = tenon_cursor_of(bytes, sizeof(bytes), NULL, 0);
	struct tenon_slice s;

	(void)state;
	assert_int_equal(tenon_cursor_string(&c, &s), -TENON_E_TRUNCATED);
	assert_null(s.data);
	assert_ptr_equal(c.at, bytes);
	assert_error("at 0x0: length 9223372036854775808, 1 bytes left");
}

static void what_a_buffer_writes_a_cursor_reads(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_slice s;
	struct tenon_cursor c;
	uint64_t q;
	uint32_t w;
	uint8_t u;

	(void)state;
	tenon_buffer_u8(&b, 0xab);
	tenon_buffer_u32(&b, 0xdeadbeef);
	tenon_buffer_u64(&b, UINT64_C(0x1122334455667788));
	tenon_buffer_string(&b, tenon_slice_of("tenon"));
	tenon_buffer_printf(&b, "%d-%s", 12, "x");
	assert_int_equal(b.status, 0);
	assert_int_equal(b.size, 1 + 4 + 8 + 8 + 5 + 4);
	c = tenon_cursor_of(b.data, b.size, "buffer", 0);
	tenon_cursor_u8(&c, &u);
	tenon_cursor_u32(&c, &w);
	tenon_cursor_u64(&c, &q);
	tenon_cursor_string(&c, &s);
	assert_int_equal(u, 0xab);
	assert_int_equal(w, 0xdeadbeef);
	assert_true(q == UINT64_C(0x1122334455667788));
	assert_slice(s, "tenon");
	assert_string_equal((const char *)c.at, "12-x");
	tenon_buffer_fini(&b);
}

static void a_buffer_that_failed_stays_failed(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	tenon_buffer_append(&b, "abc", 3);
	assert_int_equal(tenon_buffer_append(&b, "", SIZE_MAX - 8), -TENON_E_OVERFLOW);
	assert_int_equal(tenon_buffer_append(&b, "d", 1), -TENON_E_OVERFLOW);
	assert_int_equal(b.size, 3);
	tenon_error_clear();
	tenon_buffer_fini(&b);
}

static void each_kind_of_write_keeps_the_first_failure(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	assert_int_equal(tenon_buffer_append(&b, NULL, 0), 0);
	assert_int_equal(tenon_buffer_append(&b, NULL, 3), -TENON_E_VALUE);
	assert_error("3 bytes without data: the pointer is NULL");
	assert_int_equal(tenon_buffer_append(&b, NULL, 3), -TENON_E_VALUE);
	assert_int_equal(tenon_buffer_append(&b, "abc", 3), -TENON_E_VALUE);
	assert_int_equal(tenon_buffer_string(&b, tenon_slice_of("abc")), -TENON_E_VALUE);
	assert_int_equal(tenon_buffer_printf(&b, "%d", 1), -TENON_E_VALUE);
	assert_int_equal(b.size, 0);
	tenon_buffer_fini(&b);
	/* what is no character of any locale */
	assert_int_equal(tenon_buffer_printf(&b, "%lc", (wint_t)0x7ffffff0), -TENON_E_USAGE);
	assert_int_equal(tenon_buffer_printf(&b, "%d", 1), 0);
	assert_string_equal(b.data, "1");
	tenon_error_clear();
	tenon_buffer_fini(&b);
}

static void an_empty_file_has_nothing_to_read(void **state)
{
	struct tenon_cursor c = tenon_cursor_of(NULL, 0, "empty", 0);
	struct tenon_slice none;
	uint64_t v;

	(void)state;
	assert_non_null(c.start);
	assert_int_equal(tenon_cursor_left(&c), 0);
	assert_int_equal(tenon_cursor_place(&c), 0);
	assert_int_equal(tenon_cursor_bytes(&c, 0, &none), 0);
	assert_int_equal(tenon_cursor_u64(&c, &v), -TENON_E_TRUNCATED);
	assert_error("empty at 0x0: 8 bytes wanted, 0 bytes left");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_little_endian),
		cmocka_unit_test(a_read_behind_the_end_says_where_and_moves_nothing),
		cmocka_unit_test(a_count_larger_than_the_bytes_left_is_refused),
		cmocka_unit_test(a_count_whose_bytes_overflow_is_refused),
		cmocka_unit_test(a_string_is_a_slice_of_the_source),
		cmocka_unit_test(a_string_of_2_to_the_63_bytes_is_refused),
		cmocka_unit_test(what_a_buffer_writes_a_cursor_reads),
		cmocka_unit_test(a_buffer_that_failed_stays_failed),
		cmocka_unit_test(each_kind_of_write_keeps_the_first_failure),
		cmocka_unit_test(an_empty_file_has_nothing_to_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

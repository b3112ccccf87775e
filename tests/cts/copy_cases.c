/* SPDX-License-Identifier: MIT */
/* Cases about copies, fills, reads and writes of ranges of memory. */
#include <stdlib.h>

#include <tenon/backend/backend.h>

#include "tests/cts/cts.h"

static void what_is_written_is_read_at_any_offset_and_size(struct cts *cts)
{
	static const struct {
		uint64_t offset, size;
	} ranges[] = { { 0, 1 },     { 1, 1 },	  { 3, 5 },    { 0, 4096 },
		       { 17, 4079 }, { 4095, 1 }, { 2048, 64 } };
	struct tenon_memory *m = cts_memory(cts, 4096, 0);
	uint8_t bytes[4096], back[4096];
	size_t i, j;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		cts_put(cts, m, 0);
		for (j = 0; j < ranges[i].size; j++)
			bytes[j] = cts_byte(j, (uint8_t)(100 + i));
		cts_set(cts, m, ranges[i].offset, bytes, ranges[i].size);
		memset(back, 0, sizeof(back));
		cts_get(cts, m, ranges[i].offset, back, ranges[i].size);
		assert_memory_equal(back, bytes, ranges[i].size);
		/* and nothing else changed */
		cts_get(cts, m, 0, back, 4096);
		for (j = 0; j < 4096; j++)
			if (j < ranges[i].offset || j >= ranges[i].offset + ranges[i].size)
				assert_int_equal(back[j], cts_byte(j, 0));
	}
	tenon_object_unref(m);
}

static void copies_take_any_offset_and_size(struct cts *cts)
{
	static const struct {
		uint64_t to, from, size;
	} copies[] = {
		{ 0, 0, 4096 }, { 1, 0, 1 }, { 5, 7, 33 }, { 100, 3, 3000 }, { 4092, 4, 4 }
	};
	struct tenon_memory *a = cts_memory(cts, 4096, 0), *b = cts_memory(cts, 4096, 0);
	uint8_t back[4096];
	size_t i, j;

	cts_put(cts, a, 11);
	for (i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		cts_put(cts, b, 0);
		ok(tenon_queue_copy(cts->queue, b, copies[i].to, a, copies[i].from, copies[i].size,
				    NULL));
		cts_get(cts, b, 0, back, 4096);
		for (j = 0; j < 4096; j++)
			if (j < copies[i].to || j >= copies[i].to + copies[i].size)
				assert_int_equal(back[j], cts_byte(j, 0));
			else
				assert_int_equal(back[j],
						 cts_byte(copies[i].from + j - copies[i].to, 11));
	}
	tenon_object_unref(a);
	tenon_object_unref(b);
}

static void a_copy_within_one_memory_may_touch_but_not_overlap(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 512, 0);
	uint8_t back[512];
	size_t i;

	cts_put(cts, m, 1);
	fails(tenon_queue_copy(cts->queue, m, 0, m, 255, 256, NULL), -TENON_E_VALUE);
	fails(tenon_queue_copy(cts->queue, m, 100, m, 0, 101, NULL), -TENON_E_VALUE);
	ok(tenon_queue_copy(cts->queue, m, 0, m, 256, 256, NULL));
	cts_get(cts, m, 0, back, 512);
	for (i = 0; i < 512; i++)
		assert_int_equal(back[i], cts_byte(i < 256 ? i + 256 : i, 1));
	tenon_object_unref(m);
}

static void fills_repeat_patterns_of_one_two_and_four_bytes(struct cts *cts)
{
	static const struct {
		uint64_t offset, size;
		uint32_t pattern, width;
	} fills[] = {
		{ 0, 1024, 0x12345678, 4 },
		{ 4, 8, 0xdeadbeef, 4 },
		{ 2, 6, 0xabcd, 2 },
		{ 10, 1000, 0x0102, 2 },
		{ 1, 1, 0xff, 1 },
		{ 3, 999, 0x77, 1 },
		{ 0, 0, 0, 4 },
		{ 1020, 4, 0xffffffff, 4 },
		{ 0, 1024, 0, 1 },
	};
	struct tenon_memory *m = cts_memory(cts, 1024, 0);
	uint8_t back[1024];
	size_t i, j;

	for (i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
		cts_put(cts, m, 0);
		ok(tenon_queue_fill(cts->queue, m, fills[i].offset, fills[i].size, fills[i].pattern,
				    fills[i].width, NULL));
		cts_get(cts, m, 0, back, 1024);
		for (j = 0; j < 1024; j++) {
			bool inside = j >= fills[i].offset && j < fills[i].offset + fills[i].size;
			uint64_t byte = (j - fills[i].offset) % fills[i].width;

			assert_int_equal(back[j], inside ? fills[i].pattern >> 8 * byte & 0xff
							 : cts_byte(j, 0));
		}
	}
	tenon_object_unref(m);
}

static void a_fill_of_another_width_is_refused(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 64, 0);

	fails(tenon_queue_fill(cts->queue, m, 0, 64, 0, 3, NULL), -TENON_E_VALUE);
	fails(tenon_queue_fill(cts->queue, m, 0, 64, 0, 0, NULL), -TENON_E_VALUE);
	fails(tenon_queue_fill(cts->queue, m, 2, 8, 0, 4, NULL), -TENON_E_VALUE);
	fails(tenon_queue_fill(cts->queue, m, 0, 6, 0, 4, NULL), -TENON_E_VALUE);
	tenon_object_unref(m);
}

static void ranges_that_are_not_within_are_refused(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 64, 0), *n = cts_memory(cts, 64, 0);
	uint8_t bytes[128] = { 0 };

	fails(tenon_queue_write(cts->queue, m, 0, bytes, 65, NULL), -TENON_E_VALUE);
	fails(tenon_queue_read(cts->queue, bytes, m, 64, 1, NULL), -TENON_E_VALUE);
	fails(tenon_queue_read(cts->queue, bytes, m, UINT64_MAX, 2, NULL), -TENON_E_VALUE);
	fails(tenon_queue_copy(cts->queue, m, 1, n, 0, 64, NULL), -TENON_E_VALUE);
	fails(tenon_queue_copy(cts->queue, m, 0, n, 1, 64, NULL), -TENON_E_VALUE);
	fails(tenon_queue_fill(cts->queue, m, 60, 8, 0, 4, NULL), -TENON_E_VALUE);
	tenon_object_unref(m);
	tenon_object_unref(n);
}

static void copies_of_nothing_are_allowed(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 64, 0), *n = cts_memory(cts, 64, 0);
	uint8_t byte = 0;

	cts_put(cts, m, 6);
	ok(tenon_queue_write(cts->queue, m, 64, &byte, 0, NULL));
	ok(tenon_queue_copy(cts->queue, m, 0, n, 64, 0, NULL));
	ok(tenon_queue_read(cts->queue, &byte, m, 0, 0, NULL));
	cts_get(cts, m, 0, &byte, 1);
	assert_int_equal(byte, cts_byte(0, 6));
	tenon_object_unref(m);
	tenon_object_unref(n);
}

static void a_large_copy_arrives_whole(struct cts *cts)
{
	/* less on boards with little memory */
	const uint64_t room = cts->device->properties->total_memory / 3;
	const uint64_t size = (room < UINT64_C(16) << 20 ? room / 4 * 4 : UINT64_C(16) << 20) + 3;
	struct tenon_memory *a = cts_memory(cts, size, 0), *b = cts_memory(cts, size, 0);
	uint8_t *back = malloc((size_t)size);
	uint64_t i;

	assert_non_null(back);
	cts_put(cts, a, 13);
	ok(tenon_queue_copy(cts->queue, b, 0, a, 0, size, NULL));
	cts_get(cts, b, 0, back, size);
	for (i = 0; i < size && back[i] == cts_byte(i, 13); i++)
		;
	assert_int_equal(i, size);
	free(back);
	tenon_object_unref(a);
	tenon_object_unref(b);
}

static void parts_are_copied_and_filled_like_wholes(struct cts *cts)
{
	uint64_t align = cts->device->properties->alignment, at = (256 + align - 1) / align * align;
	struct tenon_memory *whole = cts_memory(cts, 3 * at, 0), *a, *b;
	uint8_t back[128];
	size_t i;

	cts_put(cts, whole, 2);
	ok(tenon_memory_subrange(whole, 0, at, &a));
	ok(tenon_memory_subrange(whole, 2 * at, at, &b));
	ok(tenon_queue_copy(cts->queue, b, 3, a, 1, 100, NULL));
	ok(tenon_queue_fill(cts->queue, b, 0, 3, 0x99, 1, NULL));
	fails(tenon_queue_copy(cts->queue, a, 0, whole, 10, 20, NULL), -TENON_E_VALUE);
	cts_get(cts, whole, 2 * at, back, 128);
	for (i = 0; i < 128; i++)
		assert_int_equal(back[i], i < 3	    ? 0x99
					  : i < 103 ? cts_byte(i - 2, 2)
						    : cts_byte(2 * at + i, 2));
	tenon_object_unref(a);
	tenon_object_unref(b);
	tenon_object_unref(whole);
}

const struct cts_case cts_copy_cases[] = {
	CTS_CASE(what_is_written_is_read_at_any_offset_and_size),
	CTS_CASE(copies_take_any_offset_and_size),
	CTS_CASE(a_copy_within_one_memory_may_touch_but_not_overlap),
	CTS_CASE(fills_repeat_patterns_of_one_two_and_four_bytes),
	CTS_CASE(a_fill_of_another_width_is_refused),
	CTS_CASE(ranges_that_are_not_within_are_refused),
	CTS_CASE(copies_of_nothing_are_allowed),
	CTS_CASE(a_large_copy_arrives_whole),
	CTS_CASE(parts_are_copied_and_filled_like_wholes),
	{ NULL, NULL },
};

/* SPDX-License-Identifier: MIT */
/* Cases about memory: requests, heaps, mappings and parts. */
#include <tenon/backend/backend.h>
#include <tenon/backend/memory.h>

#include "tests/cts/cts.h"

static void memory_has_the_size_that_was_asked_for(struct cts *cts)
{
	static const uint64_t sizes[] = { 1, 3, 4, 100, 4096, 65537, 1 << 20 };
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct tenon_memory *m = cts_memory(cts, sizes[i], 0);

		assert_int_equal(m->size, sizes[i]);
		assert_ptr_equal(m->device, cts->device);
		assert_non_null(tenon_memory_data(m));
		tenon_object_unref(m);
	}
}

static void memory_of_no_bytes_is_refused(struct cts *cts)
{
	struct tenon_memory_request request = { sizeof(request), 0, TENON_MEMORY_DEFAULT, -1,
						NULL };
	struct tenon_memory *m;

	fails(tenon_memory_alloc(cts->device, &request, &m), -TENON_E_VALUE);
	assert_null(m);
}

static void memory_asked_for_without_a_size_of_the_struct_is_refused(struct cts *cts)
{
	struct tenon_memory_request request = { 0, 64, TENON_MEMORY_DEFAULT, -1, NULL };
	struct tenon_memory_import from = { .bytes = 64, .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *m;

	fails(tenon_memory_alloc(cts->device, &request, &m), -TENON_E_USAGE);
	assert_null(m);
	fails(tenon_memory_import(cts->device, &from, &m), -TENON_E_USAGE);
	assert_null(m);
}

static void a_heap_that_does_not_exist_is_refused(struct cts *cts)
{
	struct tenon_memory_request request = { sizeof(request), 64, TENON_MEMORY_DEFAULT, 1000,
						NULL };
	struct tenon_memory *m;

	fails(tenon_memory_alloc(cts->device, &request, &m), -TENON_E_VALUE);
	assert_null(m);
}

static void uses_that_nobody_knows_are_refused(struct cts *cts)
{
	struct tenon_memory_request request = { sizeof(request), 64,
						1u << 31 | TENON_MEMORY_DEFAULT, -1, NULL };
	struct tenon_memory *m;

	fails(tenon_memory_alloc(cts->device, &request, &m), -TENON_E_VALUE);
	assert_null(m);
	request.usage = 0;
	fails(tenon_memory_alloc(cts->device, &request, &m), -TENON_E_VALUE);
	request.usage = TENON_MEMORY_DEFAULT | TENON_MEMORY_EXPORT;
	if (cts->device->properties->exports)
		return;
	fails(tenon_memory_alloc(cts->device, &request, &m), -TENON_E_UNSUPPORTED);
	assert_null(m);
}

static void every_use_alone_gives_memory_that_has_it(struct cts *cts)
{
	static const uint32_t uses[] = { TENON_MEMORY_TRANSFER, TENON_MEMORY_STORAGE,
					 TENON_MEMORY_TRANSFER | TENON_MEMORY_MAP,
					 TENON_MEMORY_TRANSFER | TENON_MEMORY_MAP |
						 TENON_MEMORY_HOST_READ };
	size_t i;

	for (i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		struct tenon_memory_request request = { sizeof(request), 64, uses[i], -1, NULL };
		struct tenon_memory *m;
		int err = tenon_memory_alloc(cts->device, &request, &m);

		if (err == -TENON_E_UNSUPPORTED && uses[i] & TENON_MEMORY_MAP)
			continue;
		ok(err);
		assert_int_equal(m->usage, uses[i]);
		if (uses[i] & TENON_MEMORY_MAP)
			assert_true(m->flags & TENON_HEAP_HOST_VISIBLE);
		if (uses[i] & TENON_MEMORY_TRANSFER)
			cts_put(cts, m, 2);
		tenon_object_unref(m);
	}
}

static void memory_may_be_asked_of_each_heap(struct cts *cts)
{
	const struct tenon_device_properties *p = cts->device->properties;
	uint32_t i, served = 0;
	uint8_t back;

	for (i = 0; i < p->heap_count; i++) {
		struct tenon_memory_request request = { sizeof(request), 256, TENON_MEMORY_DEFAULT,
							(int32_t)i, NULL };
		struct tenon_memory *m;
		int err = tenon_memory_alloc(cts->device, &request, &m);

		/* not every heap can hold what kernels use */
		if (err == -TENON_E_UNSUPPORTED) {
			tenon_error_clear();
			continue;
		}
		ok(err);
		served++;
		cts_put(cts, m, (uint8_t)i);
		cts_get(cts, m, 255, &back, 1);
		assert_int_equal(back, cts_byte(255, (uint8_t)i));
		tenon_object_unref(m);
	}
	assert_true(served > 0);
}

static void more_memory_than_there_is_fails_with_words(struct cts *cts)
{
	struct tenon_memory_request request = { sizeof(request), UINT64_C(1) << 60,
						TENON_MEMORY_DEFAULT, -1, NULL };
	struct tenon_memory *m;

	fails(tenon_memory_alloc(cts->device, &request, &m), -TENON_E_NOMEM);
	assert_null(m);
#ifdef CONFIG_ERROR_MESSAGES
	assert_true(strlen(tenon_error_message()) > 10);
#endif
	/* and the device goes on */
	tenon_object_unref(cts_memory(cts, 4096, 0));
}

static struct tenon_memory *mappable(struct cts *cts, uint64_t size)
{
	struct tenon_memory_request request = { sizeof(request), size,
						TENON_MEMORY_DEFAULT | TENON_MEMORY_MAP |
							TENON_MEMORY_HOST_READ,
						-1, NULL };
	struct tenon_memory *m = NULL;
	int err = tenon_memory_alloc(cts->device, &request, &m);

	if (err == -TENON_E_UNSUPPORTED)
		cts_skip("no memory that the host can see");
	ok(err);
	assert_true(m->flags & TENON_HEAP_HOST_VISIBLE);
	return m;
}

static void what_is_written_through_a_mapping_is_read_by_a_queue(struct cts *cts)
{
	struct tenon_memory *m = mappable(cts, 1000);
	uint8_t back[1000], *at;
	size_t i;

	ok(tenon_memory_map(m, TENON_MAP_WRITE | TENON_MAP_DISCARD, 0, 1000, (void **)&at));
	for (i = 0; i < 1000; i++)
		at[i] = cts_byte(i, 5);
	ok(tenon_memory_unmap(m, at, TENON_MAP_WRITE | TENON_MAP_DISCARD, 0, 1000));
	cts_get(cts, m, 0, back, 1000);
	for (i = 0; i < 1000; i++)
		assert_int_equal(back[i], cts_byte(i, 5));
	tenon_object_unref(m);
}

static void what_a_queue_wrote_is_seen_through_a_mapping_at_its_offset(struct cts *cts)
{
	struct tenon_memory *m = mappable(cts, 4096);
	uint8_t *at;
	size_t i;

	cts_put(cts, m, 9);
	ok(tenon_memory_map(m, TENON_MAP_READ, 1024, 512, (void **)&at));
	for (i = 0; i < 512; i++)
		assert_int_equal(at[i], cts_byte(1024 + i, 9));
	ok(tenon_memory_unmap(m, at, TENON_MAP_READ, 1024, 512));
	tenon_object_unref(m);
}

static void what_is_written_behind_an_open_mapping_needs_flush_and_invalidate(struct cts *cts)
{
	struct tenon_memory *m = mappable(cts, 256);
	const uint32_t mode = TENON_MAP_READ | TENON_MAP_WRITE;
	uint8_t back[256], *at;

	cts_put(cts, m, 1);
	ok(tenon_memory_map(m, mode, 0, 256, (void **)&at));
	at[7] = 77;
	ok(tenon_memory_flush(m, 0, 256));
	if (!m->host) {
		/* a mapping that moves the content (OpenCL) shows it when it ends */
		ok(tenon_memory_unmap(m, at, mode, 0, 256));
		cts_get(cts, m, 0, back, 256);
		assert_int_equal(back[7], 77);
		tenon_object_unref(m);
		return;
	}
	cts_get(cts, m, 0, back, 256);
	assert_int_equal(back[7], 77);
	back[8] = 88;
	cts_set(cts, m, 8, &back[8], 1);
	ok(tenon_memory_invalidate(m, 0, 256));
	assert_int_equal(at[8], 88);
	ok(tenon_memory_unmap(m, at, mode, 0, 256));
	tenon_object_unref(m);
}

static void a_mapping_outside_of_the_memory_is_refused(struct cts *cts)
{
	struct tenon_memory *m = mappable(cts, 256);
	void *at;

	fails(tenon_memory_map(m, TENON_MAP_READ, 200, 57, &at), -TENON_E_VALUE);
	fails(tenon_memory_map(m, TENON_MAP_READ, 257, 0, &at), -TENON_E_VALUE);
	fails(tenon_memory_map(m, TENON_MAP_READ, UINT64_MAX, 2, &at), -TENON_E_VALUE);
	fails(tenon_memory_map(m, 0, 0, 1, &at), -TENON_E_VALUE);
	fails(tenon_memory_flush(m, 256, 1), -TENON_E_VALUE);
	tenon_object_unref(m);
}

static uint64_t aligned(struct cts *cts, uint64_t least)
{
	uint64_t a = cts->device->properties->alignment;

	return (least + a - 1) / a * a;
}

static void a_part_is_a_window_of_the_whole(struct cts *cts)
{
	uint64_t at = aligned(cts, 256), i;
	struct tenon_memory *whole = cts_memory(cts, at + 512, 0), *part;
	uint8_t bytes[300], back[300];

	cts_put(cts, whole, 3);
	ok(tenon_memory_subrange(whole, at, 300, &part));
	assert_int_equal(part->size, 300);
	assert_ptr_equal(part->parent, whole);
	assert_int_equal(part->offset, at);
	cts_get(cts, part, 10, back, 200);
	for (i = 0; i < 200; i++)
		assert_int_equal(back[i], cts_byte(at + 10 + i, 3));
	memset(bytes, 0xee, sizeof(bytes));
	cts_set(cts, part, 0, bytes, 300);
	cts_get(cts, whole, at, back, 300);
	assert_memory_equal(back, bytes, 300);
	cts_get(cts, whole, at + 300, back, 1);
	assert_int_equal(back[0], cts_byte(at + 300, 3));
	/* the part keeps the whole */
	tenon_object_unref(whole);
	cts_get(cts, part, 0, back, 1);
	assert_int_equal(back[0], 0xee);
	tenon_object_unref(part);
}

static void a_part_of_a_part_lies_in_the_whole(struct cts *cts)
{
	uint64_t at = aligned(cts, 128);
	struct tenon_memory *whole = cts_memory(cts, 4 * at, 0), *part, *inner;
	uint8_t back;

	cts_put(cts, whole, 0);
	ok(tenon_memory_subrange(whole, at, 2 * at, &part));
	ok(tenon_memory_subrange(part, at, at, &inner));
	assert_ptr_equal(inner->parent, whole);
	assert_int_equal(inner->offset, 2 * at);
	cts_get(cts, inner, 5, &back, 1);
	assert_int_equal(back, cts_byte(2 * at + 5, 0));
	tenon_object_unref(inner);
	tenon_object_unref(part);
	tenon_object_unref(whole);
}

static void a_part_that_is_not_within_is_refused(struct cts *cts)
{
	struct tenon_memory *whole = cts_memory(cts, 4096, 0), *part;
	uint64_t align = cts->device->properties->alignment;

	fails(tenon_memory_subrange(whole, 0, 4097, &part), -TENON_E_VALUE);
	fails(tenon_memory_subrange(whole, 4096, 1, &part), -TENON_E_VALUE);
	fails(tenon_memory_subrange(whole, 0, 0, &part), -TENON_E_VALUE);
	if (align > 1)
		fails(tenon_memory_subrange(whole, align / 2, 1, &part), -TENON_E_VALUE);
	tenon_object_unref(whole);
}

static void memory_may_be_dropped_while_a_queue_uses_it(struct cts *cts)
{
	struct tenon_memory *to = cts_memory(cts, 1 << 16, 0);
	uint8_t back[64];
	int i;

	for (i = 0; i < 20; i++) {
		struct tenon_memory *from = cts_memory(cts, 1 << 16, 0);

		ok(tenon_queue_fill(cts->queue, from, 0, 1 << 16, (uint32_t)i, 1, NULL));
		ok(tenon_queue_copy(cts->queue, to, 0, from, 0, 1 << 16, NULL));
		tenon_object_unref(from);
	}
	cts_get(cts, to, 4096, back, 64);
	for (i = 0; i < 64; i++)
		assert_int_equal(back[i], 19);
	tenon_object_unref(to);
}

static void a_pool_gives_the_same_memory_again(struct cts *cts)
{
	struct tenon_memory *a, *b, *c;

	ok(tenon_memory_take(cts->queue, 1000, &a));
	assert_true(a->size >= 1000);
	ok(tenon_memory_take(cts->queue, 1000, &b));
	assert_ptr_not_equal(a, b);
	ok(tenon_queue_fill(cts->queue, a, 0, 1000, 1, 1, NULL));
	tenon_memory_give(cts->queue, a);
	/* the queue still works on it: that is its next use's order */
	ok(tenon_memory_take(cts->queue, 900, &c));
	assert_ptr_equal(a, c);
	tenon_memory_give(cts->queue, c);
	tenon_memory_give(cts->queue, b);
	tenon_memory_trim(cts->queue);
}

static void the_device_tells_what_it_is(struct cts *cts)
{
	const struct tenon_device_properties *p = cts->device->properties;
	uint32_t i;

	assert_true(*p->name);
	assert_true(*p->driver);
	assert_true(p->alignment >= 1 && !(p->alignment & (p->alignment - 1)));
	assert_true(p->queues >= 1);
	assert_true(p->heap_count >= 1 && p->heap_count <= TENON_HEAPS_MOST);
	assert_true(p->warp_size >= 1);
	assert_true(p->total_memory > 0);
	for (i = 0; i < p->heap_count; i++)
		assert_true(p->heaps[i].size > 0);
	if (cts->device->ops->executable) {
		assert_true(p->max_threads >= 1);
		assert_true(p->max_block[0] >= 1 && p->max_grid[2] >= 1);
	}
}

const struct cts_case cts_memory_cases[] = {
	CTS_CASE(the_device_tells_what_it_is),
	CTS_CASE(memory_has_the_size_that_was_asked_for),
	CTS_CASE(memory_of_no_bytes_is_refused),
	CTS_CASE(memory_asked_for_without_a_size_of_the_struct_is_refused),
	CTS_CASE(a_heap_that_does_not_exist_is_refused),
	CTS_CASE(uses_that_nobody_knows_are_refused),
	CTS_CASE(every_use_alone_gives_memory_that_has_it),
	CTS_CASE(memory_may_be_asked_of_each_heap),
	CTS_CASE(more_memory_than_there_is_fails_with_words),
	CTS_CASE(what_is_written_through_a_mapping_is_read_by_a_queue),
	CTS_CASE(what_a_queue_wrote_is_seen_through_a_mapping_at_its_offset),
	CTS_CASE(what_is_written_behind_an_open_mapping_needs_flush_and_invalidate),
	CTS_CASE(a_mapping_outside_of_the_memory_is_refused),
	CTS_CASE(a_part_is_a_window_of_the_whole),
	CTS_CASE(a_part_of_a_part_lies_in_the_whole),
	CTS_CASE(a_part_that_is_not_within_is_refused),
	CTS_CASE(memory_may_be_dropped_while_a_queue_uses_it),
	CTS_CASE(a_pool_gives_the_same_memory_again),
	{ NULL, NULL },
};

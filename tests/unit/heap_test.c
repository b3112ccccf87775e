/* SPDX-License-Identifier: MIT */
/* Heaps in regions of a caller: the peak of one run is exactly what the next one needs. */
#include "suite.h"

#include <stdlib.h>

#include "lib/heap.h"
#include "tests/unit/too_much_memory.h"

#define PERSISTENT 65536
#define OTHER	   32768

static _Alignas(HEAP_ALIGN) char persistent[2][PERSISTENT], other[2][OTHER];

/* A heap with persistent and planned memory: its own, or that of heap 0. */
static struct heap *heap_with(int number, int planned, size_t size)
{
	const struct heap_region regions[HEAP_SORTS] = {
		{ persistent[number], size, NULL },
		{ other[planned], OTHER, NULL },
		{ NULL, 0, NULL },
	};
	struct heap *h;

	assert_int_equal(heap_create(regions, NULL, &h), 0);
	return h;
}

static size_t peak_of(struct heap *h)
{
	struct heap_use use;

	heap_use(h, HEAP_PERSISTENT, &use);
	return use.peak;
}

/* Take and give back at random, the same for the same seed, and check that no bytes are shared. */
static int churn(unsigned int seed)
{
	char *at[32] = { NULL };
	size_t size[32] = { 0 }, i, k;
	int round;

	for (round = 0; round < 4000; round++) {
		seed = seed * 1103515245u + 12345u;
		i = seed >> 16 & 31;
		for (k = 0; at[i] && k < size[i]; k++)
			assert_int_equal(at[i][k], (char)i);
		if (at[i] && (seed >> 24 & 3)) {
			heap_free(at[i]);
			at[i] = NULL;
			continue;
		}
		size[i] = seed >> 21 & 1023;
		at[i] = heap_resize(at[i], size[i], "test");
		if (!at[i])
			return -1;
		memset(at[i], (int)i, size[i]);
	}
	for (i = 0; i < 32; i++)
		heap_free(at[i]);
	return 0;
}

static void the_peak_of_one_life_is_exactly_what_the_next_one_needs(void **state)
{
	unsigned int seed;
	struct heap *h;
	size_t peak;

	(void)state;
	for (seed = 1; seed < 20; seed++) {
		h = heap_with(0, 0, PERSISTENT);
		heap_enter(h);
		assert_int_equal(churn(seed), 0);
		heap_enter(NULL);
		peak = peak_of(h);
		heap_close(h);

		h = heap_with(0, 0, peak);
		heap_enter(h);
		assert_int_equal(churn(seed), 0);
		heap_enter(NULL);
		assert_int_equal(peak_of(h), peak);
		assert_int_equal(heap_live(h), 0);
		heap_close(h);
	}
}

static void what_does_not_fit_is_said_in_bytes(void **state)
{
	struct heap *h = heap_with(0, 0, 4096);
	struct heap_use use;

	(void)state;
	heap_enter(h);
	assert_null(heap_alloc(8192, "test"));
	assert_null(heap_take(HEAP_PLANNED, 128, OTHER + 1, "test"));
	assert_null(heap_take(HEAP_TEMPORARY, 1, 1, "test"));
	assert_null(heap_alloc(SIZE_MAX, "test"));
	assert_null(heap_zeroed(SIZE_MAX / 2, 4, "test"));
	heap_enter(NULL);
	heap_use(h, HEAP_PERSISTENT, &use);
	assert_true(use.wanted > 8192);
	assert_int_equal(heap_live(h), 0);
	heap_close(h);
}

static void heaps_that_share_a_region_write_nothing_into_it(void **state)
{
	struct heap *a = heap_with(0, 0, PERSISTENT), *b = heap_with(1, 0, PERSISTENT);
	char *mine, *yours;
	size_t i;

	(void)state;
	memset(other[0], 0x5a, OTHER);
	heap_enter(a);
	mine = heap_take(HEAP_PLANNED, 128, 1000, "test");
	heap_enter(b);
	yours = heap_take(HEAP_PLANNED, 128, 2000, "test");
	assert_ptr_equal(mine, yours);
	/* each frees its own */
	heap_free(yours);
	assert_int_equal(heap_live(b), 0);
	assert_int_equal(heap_live(a), 1);
	heap_enter(a);
	heap_free(mine);
	heap_enter(NULL);
	assert_int_equal(heap_live(a), 0);
	for (i = 0; i < OTHER; i++)
		assert_int_equal(other[0][i], 0x5a);
	heap_close(a);
	heap_close(b);
}

static void a_piece_may_be_given_back_after_its_heap_is_closed(void **state)
{
	struct heap *h = heap_with(0, 0, PERSISTENT);
	char *piece, *ordinary = malloc(10);

	(void)state;
	heap_enter(h);
	piece = heap_alloc(100, "test");
	heap_close(h);
	assert_null(heap_alloc(1, "test"));
	heap_enter(NULL);
	heap_close(h);
	heap_free(ordinary);
	assert_int_equal(heap_live(h), 1);
	heap_free(piece);
	assert_int_equal(heap_live(h), 0);
}

static void memory_stays_in_its_heap_when_it_is_resized_outside(void **state)
{
	struct heap *h = heap_with(0, 0, PERSISTENT);
	char *piece;

	(void)state;
	heap_enter(h);
	piece = heap_alloc(10, "test");
	memset(piece, 7, 10);
	heap_enter(NULL);
	piece = heap_resize(piece, 1000, "test");
	assert_true(piece > persistent[0] && piece < persistent[0] + PERSISTENT);
	assert_int_equal(piece[9], 7);
	heap_free(piece);
	heap_close(h);
}

static void a_region_without_room_for_the_heap_is_refused(void **state)
{
	struct heap_region regions[HEAP_SORTS] = { { persistent[0] + 1, 10, NULL } };
	struct heap *h;

	(void)state;
	assert_int_equal(heap_create(regions, NULL, &h), -TENON_E_NOMEM);
	assert_null(h);
	/* enough, but for the bytes in front of the first multiple of HEAP_ALIGN */
	regions[0].size = HEAP_ALIGN;
	assert_int_equal(heap_create(regions, NULL, &h), -TENON_E_NOMEM);
	regions[0].data = NULL;
	assert_int_equal(heap_create(regions, NULL, &h), -TENON_E_NOMEM);
}

static void planned_memory_may_be_a_dmabuf(void **state)
{
	static const int descriptor = 5;
	const struct heap_region regions[HEAP_SORTS] = {
		{ persistent[0], PERSISTENT, NULL },
		{ other[0], OTHER, &descriptor },
	};
	struct heap_region found;
	struct heap *h = heap_with(1, 1, PERSISTENT);

	(void)state;
	assert_false(heap_dmabuf(&found));
	heap_enter(h);
	assert_false(heap_dmabuf(&found));
	heap_close(h);
	assert_int_equal(heap_create(regions, NULL, &h), 0);
	heap_enter(h);
	assert_true(heap_dmabuf(&found));
	assert_ptr_equal(found.dmabuf, &descriptor);
	assert_ptr_equal(found.data, other[0]);
	heap_enter(NULL);
	heap_close(h);
}

/* more than any object may have; the compiler does not see it */
static size_t too_much(void)
{
	static volatile size_t most = SIZE_MAX - 1;

	return most;
}

static void what_no_memory_can_have_is_refused(void **state)
{
	struct heap *h = heap_with(0, 0, 4096);
	char *piece, *ordinary = malloc(10);

	(void)state;
	assert_null(heap_take(HEAP_PLANNED, 64, too_much(), "test"));
	assert_null(heap_zeroed(too_much(), 2, "test"));
	heap_enter(h);
	assert_null(heap_take(HEAP_PLANNED, 64, too_much(), "test"));
	assert_null(heap_zeroed(too_much(), 2, "test"));
	assert_null(heap_zeroed(1000, 1000, "test"));
	piece = heap_alloc(16, "test");
	assert_non_null(piece);
	memset(piece, 7, 16);
	assert_null(heap_resize(piece, too_much(), "test"));
	assert_null(heap_resize(piece, 1000000, "test"));
	assert_int_equal(piece[15], 7);
	/* what is not of a heap stays so */
	ordinary = heap_resize(ordinary, 1000000, "test");
	assert_non_null(ordinary);
	heap_free(ordinary);
	/* no room for the list entry of planned memory */
	while (heap_alloc(16, "test"))
		;
	assert_null(heap_take(HEAP_PLANNED, 64, 16, "test"));
	heap_enter(NULL);
	heap_close(h);
}

static void memory_is_of_the_heap_that_took_it_wherever_it_is_given_back(void **state)
{
	struct heap *a = heap_with(0, 0, PERSISTENT), *b = heap_with(1, 0, PERSISTENT);
	void *first, *second, *third;

	(void)state;
	heap_enter(a);
	first = heap_take(HEAP_PLANNED, 16, 48, "test");
	/* a gap before it */
	second = heap_take(HEAP_PLANNED, 4096, 16, "test");
	third = heap_take(HEAP_PLANNED, 16, 16, "test");
	assert_true((char *)third > (char *)first && (char *)third < (char *)second);
	heap_enter(b);
	heap_free(first);
	heap_free(third);
	assert_int_equal(heap_live(a), 1);
	heap_enter(NULL);
	heap_close(a);
	heap_free(second);
	assert_int_equal(heap_live(a), 0);
	heap_close(b);
}

static void a_closed_heap_waits_for_its_last_piece(void **state)
{
	struct heap *h = heap_with(0, 0, PERSISTENT);
	void *first, *second;

	(void)state;
	heap_enter(h);
	first = heap_alloc(16, "test");
	second = heap_alloc(16, "test");
	heap_enter(NULL);
	heap_close(h);
	heap_free(first);
	assert_int_equal(heap_live(h), 1);
	heap_free(second);
	assert_int_equal(heap_live(h), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_peak_of_one_life_is_exactly_what_the_next_one_needs),
		cmocka_unit_test(what_does_not_fit_is_said_in_bytes),
		cmocka_unit_test(heaps_that_share_a_region_write_nothing_into_it),
		cmocka_unit_test(a_piece_may_be_given_back_after_its_heap_is_closed),
		cmocka_unit_test(memory_stays_in_its_heap_when_it_is_resized_outside),
		cmocka_unit_test(a_region_without_room_for_the_heap_is_refused),
		cmocka_unit_test(planned_memory_may_be_a_dmabuf),
		cmocka_unit_test(what_no_memory_can_have_is_refused),
		cmocka_unit_test(memory_is_of_the_heap_that_took_it_wherever_it_is_given_back),
		cmocka_unit_test(a_closed_heap_waits_for_its_last_piece),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

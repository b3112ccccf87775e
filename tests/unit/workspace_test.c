/* SPDX-License-Identifier: MIT */
/* Workspaces of the host: blocks, marks, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "tests/unit/suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/workspace.h>

#include "runtime/core/workspace.h"

static const DLDevice cpu = { kDLCPU, 0 };
static const DLDevice other = { kDLMetal, 1 };

static int afresh(void **state)
{
	(void)state;
	tenon_workspace_reclaim(0);
	tenon_workspace_trim();
	tenon_error_clear();
	return 0;
}

static void *take(uint64_t size)
{
	unsigned char *p = tenon_workspace_alloc(cpu, size);

	assert_non_null(p);
	assert_int_equal((uintptr_t)p % TENON_WORKSPACE_ALIGN, 0);
	memset(p, 0xa5, size);
	return p;
}

static void give(void *p)
{
	assert_int_equal(tenon_workspace_free(cpu, p), 0);
}

static void blocks_are_aligned_and_apart(void **state)
{
	unsigned char *p[40];
	size_t i, k;

	(void)state;
	for (i = 0; i < 40; i++) {
		p[i] = take(1 + i * 331);
		memset(p[i], (int)i, 1 + i * 331);
	}
	for (i = 0; i < 40; i++)
		for (k = 0; k < 1 + i * 331; k++)
			assert_int_equal(p[i][k], i);
	assert_int_equal(tenon_workspace_mark(), 40);
	for (i = 40; i--;)
		give(p[i]);
	assert_int_equal(tenon_workspace_mark(), 0);
}

static void the_first_round_serves_all_that_follow(void **state)
{
	size_t i;
	void *a, *b;

	(void)state;
	b = take(4096);
	a = take(100000);
	give(a);
	give(b);
	for (i = 0; i < 1000; i++) {
		void *x = take(4096), *y = take(90000 + i);

		assert_ptr_equal(x, b);
		assert_ptr_equal(y, a);
		give(y);
		give(x);
	}
}

static void a_waiting_block_that_fits_is_found_among_others(void **state)
{
	void *small, *large, *again;

	(void)state;
	small = take(10);
	large = take(1 << 20);
	give(large);
	give(small);
	again = take(1 << 20);
	assert_ptr_equal(again, large);
	assert_ptr_equal(take(10), small);
	tenon_workspace_reclaim(0);
}

static void any_order_of_giving_back_works(void **state)
{
	void *p[6];
	int i;

	(void)state;
	for (i = 0; i < 6; i++)
		p[i] = take(64);
	give(p[2]);
	give(p[0]);
	give(p[5]);
	assert_int_equal(tenon_workspace_mark(), 3);
	assert_int_equal(tenon_workspace_free(cpu, p[2]), -TENON_E_USAGE);
	give(p[1]);
	give(p[3]);
	give(p[4]);
	assert_int_equal(tenon_workspace_mark(), 0);
}

static void what_was_taken_since_a_mark_can_be_reclaimed(void **state)
{
	void *outer = take(100), *inner;
	size_t mark = tenon_workspace_mark();

	(void)state;
	assert_int_equal(mark, 1);
	inner = take(100);
	take(200);
	tenon_workspace_reclaim(mark);
	assert_int_equal(tenon_workspace_mark(), 1);
	assert_ptr_equal(take(50), inner);
	tenon_workspace_reclaim(mark);
	give(outer);
}

static void nothing_is_a_size_and_nothing_is_given_back(void **state)
{
	(void)state;
	give(take(0));
	assert_int_equal(tenon_workspace_free(cpu, NULL), 0);
}

static void memory_of_others_is_refused(void **state)
{
	char mine[8];

	(void)state;
	assert_int_equal(tenon_workspace_free(cpu, mine), -TENON_E_USAGE);
	assert_error_has("on cpu:0 is not of this thread's workspace");
}

static void a_size_that_no_memory_has_is_an_error(void **state)
{
	(void)state;
	assert_null(tenon_workspace_alloc(cpu, UINT64_MAX));
	assert_int_equal(tenon_error_status(), -TENON_E_NOMEM);
	assert_error("no memory for a workspace of 18446744073709551615 bytes on cpu:0");
}

static void a_device_this_build_does_not_have_is_named(void **state)
{
	(void)state;
	assert_null(tenon_workspace_alloc(other, 10));
	assert_int_equal(tenon_error_status(), -TENON_E_DEVICE);
	assert_error_has("metal");
}

static int device_out;

static void device_free(void *owner)
{
	device_out--;
	free(owner);
}

static void *take_of_device(void)
{
	void *memory = malloc(10);

	assert_non_null(memory);
	assert_int_equal(workspace_add(memory, device_free, memory), 0);
	device_out++;
	return memory;
}

static void memory_of_a_device_is_counted_and_reclaimed(void **state)
{
	void *a, *b;

	(void)state;
	a = take_of_device();
	b = take(10);
	take_of_device();
	assert_int_equal(tenon_workspace_mark(), 3);
	assert_int_equal(tenon_workspace_free(other, a), 0);
	assert_int_equal(device_out, 1);
	give(b);
	tenon_workspace_reclaim(0);
	assert_int_equal(device_out, 0);
}

static void *use_and_leave(void *context)
{
	int i;

	(void)context;
	for (i = 0; i < 1000; i++) {
		void *a = tenon_workspace_alloc(cpu, 5000), *b = tenon_workspace_alloc(cpu, 100);

		memset(a, i, 5000);
		memset(b, i, 100);
		tenon_workspace_free(cpu, b);
		tenon_workspace_free(cpu, a);
	}
	/* and one that is never given back */
	return tenon_workspace_alloc(cpu, 1 << 20);
}

static void each_thread_has_its_own_and_leaves_nothing(void **state)
{
	pthread_t thread[4];
	void *left;
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, use_and_leave, NULL), 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(thread[i], &left), 0);
		assert_non_null(left);
		assert_int_equal(tenon_workspace_free(cpu, left), -TENON_E_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(blocks_are_aligned_and_apart, afresh),
		cmocka_unit_test_setup(the_first_round_serves_all_that_follow, afresh),
		cmocka_unit_test_setup(a_waiting_block_that_fits_is_found_among_others, afresh),
		cmocka_unit_test_setup(any_order_of_giving_back_works, afresh),
		cmocka_unit_test_setup(what_was_taken_since_a_mark_can_be_reclaimed, afresh),
		cmocka_unit_test_setup(nothing_is_a_size_and_nothing_is_given_back, afresh),
		cmocka_unit_test_setup(memory_of_others_is_refused, afresh),
		cmocka_unit_test_setup(a_size_that_no_memory_has_is_an_error, afresh),
		cmocka_unit_test_setup(a_device_this_build_does_not_have_is_named, afresh),
		cmocka_unit_test_setup(memory_of_a_device_is_counted_and_reclaimed, afresh),
		cmocka_unit_test_setup(each_thread_has_its_own_and_leaves_nothing, afresh),
	};

	return cmocka_run_group_tests_name("workspace", tests, NULL, NULL);
}

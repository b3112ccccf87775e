/* SPDX-License-Identifier: MIT */
/*
 * Errors of threads that have no memory for them. The linker's --wrap puts the allocator below before the C library's (Kbuild). Each
 * case runs in a thread of its own: the first thread with an error needs no memory.
 */
#include "suite.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/error_slot.h"

static __thread int fails_at, requests; /* the request that fails; -1: all */

static bool fails(void)
{
	return fails_at && (fails_at < 0 || ++requests == fails_at);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

static void fail_at(int request)
{
	requests = 0;
	fails_at = request;
}

static void *raise_first(void *unused)
{
	assert_null(error_set_aside());
	fail_at(-1);
	tenon_error(-TENON_E_VALUE, "needs no memory");
	assert_string_equal(tenon_error_message(), "needs no memory");
	return unused;
}

/* The memory of the first thread with an error is the next one's when it ends. */
static void the_first_error_needs_no_memory(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, raise_first, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	raise_first(NULL);
	fail_at(0);
	tenon_error_clear();
}

static void in_a_thread(void *(*act)(void *unused))
{
	pthread_t thread;

	/* has the memory of the first */
	tenon_error(-TENON_E_IO, "of the first");
	assert_int_equal(pthread_create(&thread, NULL, act, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_error("of the first");
}

#define NO_MEMORY "no memory, not even for the message"

static void assert_no_memory(int status)
{
	assert_int_equal(tenon_error_status(), status);
	assert_string_equal(tenon_error_kind(), "MemoryError");
	assert_string_equal(tenon_error_message(), NO_MEMORY);
}

static void *raise_without_memory(void *unused)
{
	/* the slot, and each of its buffers */
	for (int request = 1; request <= 3; request++) {
		fail_at(request);
		assert_int_equal(tenon_error(-TENON_E_VALUE, "%s", "lost"), -TENON_E_VALUE);
		fail_at(0);
		assert_no_memory(-TENON_E_VALUE);
		tenon_error_clear();
		assert_int_equal(tenon_error_status(), 0);
		assert_string_equal(tenon_error_message(), "");
	}
	return unused;
}

static void an_error_without_memory_has_a_message_of_its_own(void **state)
{
	(void)state;
	in_a_thread(raise_without_memory);
}

static bool dropped;

static void drop(void *object)
{
	(void)object;
	dropped = true;
}

static void *raise_in_other_ways(void *unused)
{
	const struct tenon_slice part = tenon_slice_of("part");

	fail_at(-1);
	assert_int_equal(tenon_error_in(-TENON_E_FORMAT, "a frame"), -TENON_E_FORMAT);
	assert_no_memory(-TENON_E_FORMAT);
	assert_int_equal(error_slot_set_kind(-TENON_E_FORMAT, "KeyError"), -TENON_E_FORMAT);
	assert_null(error_slot_take());
	assert_null(error_slot_object());
	tenon_error_clear();
	tenon_error_raise_text(NULL, &part, 1);
	assert_no_memory(-TENON_E_CALL);
	tenon_error_clear();
	error_slot_hold(&dropped, drop, tenon_slice_of("KeyError"), part);
	assert_true(dropped);
	assert_no_memory(-TENON_E_CALL);
	fail_at(0);
	return unused;
}

static void each_way_to_raise_may_have_no_memory(void **state)
{
	(void)state;
	in_a_thread(raise_in_other_ways);
}

static void *frame_it(void *unused)
{
	fail_at(1);
	tenon_error(-TENON_E_VALUE, "lost");
	/* there is memory again */
	assert_int_equal(tenon_error_in(-TENON_E_VALUE, "reading"), -TENON_E_VALUE);
	assert_int_equal(tenon_error_status(), -TENON_E_VALUE);
	assert_string_equal(tenon_error_message(), "reading: " NO_MEMORY);
	return unused;
}

static void a_frame_has_the_error_that_had_no_memory(void **state)
{
	(void)state;
	in_a_thread(frame_it);
}

static void *take_it(void *unused)
{
	fail_at(1);
	tenon_error(-TENON_E_VALUE, "lost");
	error_slot_hold(&dropped, drop, tenon_slice_of("KeyError"), tenon_slice_of("k"));
	assert_string_equal(tenon_error_message(), "k");
	assert_ptr_equal(error_slot_take(), &dropped);
	/* with the later error, the earlier is gone */
	assert_int_equal(tenon_error_status(), 0);
	assert_string_equal(tenon_error_message(), "");
	return unused;
}

static void an_error_that_had_no_memory_goes_with_the_next(void **state)
{
	(void)state;
	in_a_thread(take_it);
}

static void *set_it_aside(void *unused)
{
	struct error_slot *aside, *within;

	/* without a slot */
	fail_at(-1);
	tenon_error(-TENON_E_VALUE, "lost");
	aside = error_set_aside();
	assert_int_equal(tenon_error_status(), 0);
	tenon_error(-TENON_E_IO, "of what is done meanwhile");
	error_put_back(aside);
	assert_no_memory(-TENON_E_VALUE);
	tenon_error_clear();
	/* twice, by what is done meanwhile, too */
	tenon_error(-TENON_E_VALUE, "lost");
	aside = error_set_aside();
	tenon_error(-TENON_E_IO, "of what is done meanwhile");
	within = error_set_aside();
	error_put_back(within);
	assert_no_memory(-TENON_E_IO);
	error_put_back(aside);
	assert_no_memory(-TENON_E_VALUE);
	tenon_error_clear();
	/* and put back beside a slot, which has the next error */
	tenon_error(-TENON_E_VALUE, "lost");
	aside = error_set_aside();
	fail_at(0);
	tenon_error(-TENON_E_IO, "of what is done meanwhile");
	error_put_back(aside);
	assert_no_memory(-TENON_E_VALUE);
	tenon_error_in(-TENON_E_VALUE, "reading");
	assert_string_equal(tenon_error_message(), "reading: " NO_MEMORY);
	error_slot_hold(&dropped, drop, tenon_slice_of("KeyError"), tenon_slice_of("k"));
	assert_ptr_equal(error_slot_take(), &dropped);
	assert_int_equal(tenon_error_status(), 0);
	/* with one, and none for what is done meanwhile */
	tenon_error(-TENON_E_VALUE, "kept");
	aside = error_set_aside();
	assert_non_null(aside);
	fail_at(-1);
	tenon_error(-TENON_E_IO, "of what is done meanwhile");
	error_put_back(aside);
	fail_at(0);
	assert_string_equal(tenon_error_message(), "kept");
	tenon_error_clear();
	assert_int_equal(tenon_error_status(), 0);
	/* with two */
	tenon_error(-TENON_E_VALUE, "kept");
	aside = error_set_aside();
	tenon_error(-TENON_E_IO, "of what is done meanwhile");
	error_put_back(aside);
	assert_string_equal(tenon_error_message(), "kept");
	/* none */
	tenon_error_clear();
	assert_null(error_set_aside());
	error_put_back(NULL);
	assert_int_equal(tenon_error_status(), 0);
	return unused;
}

static void an_error_without_memory_can_be_set_aside(void **state)
{
	(void)state;
	in_a_thread(set_it_aside);
}

static void *raise_long_texts(void *unused)
{
	static char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	tenon_error(-TENON_E_VALUE, "short");
	/* what fits is kept */
	fail_at(-1);
	tenon_error(-TENON_E_VALUE, "%s", text);
	assert_memory_equal(tenon_error_message(), "xxxx", 4);
	assert_true(strlen(tenon_error_message()) < sizeof(text) - 1);
	tenon_error_in(-TENON_E_VALUE, "%s", text);
	assert_true(strlen(tenon_error_message()) < sizeof(text) - 1);
	fail_at(0);
	tenon_error(-TENON_E_VALUE, "%s", text);
	assert_string_equal(tenon_error_message(), text);
	return unused;
}

static void a_message_that_has_no_room_is_cut(void **state)
{
	(void)state;
	/* in the buffers of the first thread, which are not from the allocator */
	raise_long_texts(NULL);
	tenon_error_clear();
	in_a_thread(raise_long_texts);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_error_needs_no_memory),
		cmocka_unit_test(a_message_that_has_no_room_is_cut),
		cmocka_unit_test(an_error_without_memory_has_a_message_of_its_own),
		cmocka_unit_test(each_way_to_raise_may_have_no_memory),
		cmocka_unit_test(a_frame_has_the_error_that_had_no_memory),
		cmocka_unit_test(an_error_that_had_no_memory_goes_with_the_next),
		cmocka_unit_test(an_error_without_memory_can_be_set_aside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * How deep calls may nest on stacks of which the C library tells much, little or nothing. Each case runs in a thread of its own: what was
 * found is kept. The linker's --wrap puts the calls below before those of the C library (Kbuild).
 */
#include "suite.h"

#include <pthread.h>

#include "lib/stack_room.h"

static bool no_attributes, no_stack, no_guard;
static size_t wide_guard;

int __real_pthread_getattr_np(pthread_t thread, pthread_attr_t *out);
int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *out);
int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *out)
{
	return no_attributes ? -1 : __real_pthread_getattr_np(thread, out);
}

int __real_pthread_attr_getstack(const pthread_attr_t *attr, void **low, size_t *size);
int __wrap_pthread_attr_getstack(const pthread_attr_t *attr, void **low, size_t *size);
int __wrap_pthread_attr_getstack(const pthread_attr_t *attr, void **low, size_t *size)
{
	return no_stack ? -1 : __real_pthread_attr_getstack(attr, low, size);
}

int __real_pthread_attr_getguardsize(const pthread_attr_t *attr, size_t *size);
int __wrap_pthread_attr_getguardsize(const pthread_attr_t *attr, size_t *size);
int __wrap_pthread_attr_getguardsize(const pthread_attr_t *attr, size_t *size)
{
	if (no_guard)
		return -1;
	if (!wide_guard)
		return __real_pthread_attr_getguardsize(attr, size);
	*size = wide_guard;
	return 0;
}

static void *look(void *guessed)
{
	assert_int_equal(stack_room_check(), 0);
	*(bool *)guessed = stack_room.guessed;
	return NULL;
}

static bool is_guessed(void)
{
	pthread_t thread;
	bool guessed = false;

	assert_int_equal(pthread_create(&thread, NULL, look, &guessed), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return guessed;
}

static void the_stack_of_a_thread_is_known(void **state)
{
	(void)state;
	assert_false(is_guessed());
}

static void what_the_c_library_does_not_tell_is_guessed(void **state)
{
	(void)state;
	no_attributes = true;
	assert_true(is_guessed());
	no_attributes = false;
	no_stack = true;
	assert_true(is_guessed());
	no_stack = false;
	no_guard = true;
	assert_true(is_guessed());
	no_guard = false;
	wide_guard = SIZE_MAX;
	assert_true(is_guessed());
	wide_guard = 0;
}

static void *go_down(void *unused)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	assert_int_equal(stack_room_check(), 0);
	assert_int_equal(stack_room_slow(stack_room.low - 1), -TENON_E_OVERFLOW);
	assert_non_null(strstr(tenon_error_message(), "calls nest deeper than"));
	tenon_error_clear();
	/* another stack: a coroutine's */
	assert_int_equal(stack_room_slow(1 << 20), 0);
	assert_true(stack_room.guessed);
	/* and one that is smaller than what is kept free */
	assert_int_equal(stack_room_slow(16), -TENON_E_OVERFLOW);
	tenon_error_clear();
	assert_int_equal(stack_room_slow(here), 0);
	return unused;
}

static void a_stack_that_is_used_up_is_an_error(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, go_down, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	no_attributes = true;
	assert_int_equal(pthread_create(&thread, NULL, go_down, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	no_attributes = false;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stack_of_a_thread_is_known),
		cmocka_unit_test(what_the_c_library_does_not_tell_is_guessed),
		cmocka_unit_test(a_stack_that_is_used_up_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

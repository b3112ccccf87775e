/* SPDX-License-Identifier: MIT */
/*
 * How deep calls may nest on stacks of which the C library tells much, little or nothing. Each case runs in a thread of its own: what was
 * found is kept. The linker's --wrap puts the calls below before those of the C library (Kbuild).
 */
#include "suite.h"

#include <pthread.h>

#include "lib/stack_room.h"

/*
 * What the C library does not tell the thread, of what it tells; @wide_guard: told in place of the guard's size. It is set
 * while a case runs alone: a sanitizer that is linked into the program asks for its own ends when threads begin and end.
 */
struct lack {
	bool attributes, stack, guard;
	size_t wide_guard;
};

static __thread struct lack lack;

int __real_pthread_getattr_np(pthread_t thread, pthread_attr_t *out);
int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *out);
int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *out)
{
	return lack.attributes ? -1 : __real_pthread_getattr_np(thread, out);
}

int __real_pthread_attr_getstack(const pthread_attr_t *attr, void **low, size_t *size);
int __wrap_pthread_attr_getstack(const pthread_attr_t *attr, void **low, size_t *size);
int __wrap_pthread_attr_getstack(const pthread_attr_t *attr, void **low, size_t *size)
{
	return lack.stack ? -1 : __real_pthread_attr_getstack(attr, low, size);
}

int __real_pthread_attr_getguardsize(const pthread_attr_t *attr, size_t *size);
int __wrap_pthread_attr_getguardsize(const pthread_attr_t *attr, size_t *size);
int __wrap_pthread_attr_getguardsize(const pthread_attr_t *attr, size_t *size)
{
	if (lack.guard)
		return -1;
	if (!lack.wide_guard)
		return __real_pthread_attr_getguardsize(attr, size);
	*size = lack.wide_guard;
	return 0;
}

struct look {
	struct lack lack;
	bool guessed;
};

static void *look(void *context)
{
	struct look *l = context;

	lack = l->lack;
	assert_int_equal(stack_room_check(), 0);
	l->guessed = stack_room.guessed;
	lack = (struct lack){ .wide_guard = 0 };
	return NULL;
}

static bool is_guessed(struct lack of)
{
	struct look l = { of, false };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, look, &l), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return l.guessed;
}

static void the_stack_of_a_thread_is_known(void **state)
{
	(void)state;
	assert_false(is_guessed((struct lack){ .wide_guard = 0 }));
}

static void what_the_c_library_does_not_tell_is_guessed(void **state)
{
	(void)state;
	assert_true(is_guessed((struct lack){ .attributes = true }));
	assert_true(is_guessed((struct lack){ .stack = true }));
	assert_true(is_guessed((struct lack){ .guard = true }));
	assert_true(is_guessed((struct lack){ .wide_guard = SIZE_MAX }));
}

static void *go_down(void *unknown)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	lack.attributes = unknown;
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
	lack.attributes = false;
	return NULL;
}

static void a_stack_that_is_used_up_is_an_error(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, go_down, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, go_down, &lack), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
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

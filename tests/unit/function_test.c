/* SPDX-License-Identifier: MIT */
/* Packed functions: calls, failures, and the registry of names. */
#include "tests/unit/suite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int sum(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	int64_t total = 0, n;
	int32_t i;
	int err;

	(void)self;
	for (i = 0; i < count; i++) {
		err = tenon_value_int(&args[i], &n);
		if (err)
			return tenon_error_in(err, "argument %d", i);
		total += n;
	}
	*ret = tenon_arg_int(total);
	return 0;
}

static int give_self(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	(void)args;
	(void)count;
	*ret = tenon_arg_pointer(self);
	return 0;
}

static int released;

static void release(void *self)
{
	released += *(int *)self;
}

static void a_function_sums_its_arguments(void **state)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	(void)state;
	assert_int_equal(tenon_function_create(NULL, sum, NULL, &f), 0);
	assert_int_equal(
		tenon_call(f, &ret, tenon_arg_int(3), tenon_arg_int(4), tenon_arg_bool(true)), 0);
	assert_int_equal(ret.as.integer, 8);
	assert_int_equal(tenon_call(f, &ret), 0);
	assert_int_equal(ret.as.integer, 0);
	tenon_object_unref(f);
}

static void a_failing_call_says_which_argument(void **state)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	(void)state;
	tenon_function_create(NULL, sum, NULL, &f);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_int(1), tenon_arg_string("x")),
			 -TENON_E_TYPE);
	assert_error("argument 1: expected int, found const char*");
	tenon_object_unref(f);
}

static void self_is_what_was_given_and_is_released_once(void **state)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	int one = 1;

	(void)state;
	released = 0;
	tenon_function_create(&one, give_self, release, &f);
	tenon_call(f, &ret);
	assert_ptr_equal(ret.as.pointer, &one);
	tenon_object_unref(f);
	assert_int_equal(released, 1);
	tenon_function_create(NULL, give_self, NULL, &f);
	tenon_call(f, &ret);
	assert_ptr_equal(ret.as.pointer, f);
	tenon_object_unref(f);
}

static void a_registered_function_is_found_by_its_name(void **state)
{
	struct tenon_function *f, *g;

	(void)state;
	tenon_function_create(NULL, sum, NULL, &f);
	assert_int_equal(tenon_function_register("test.sum", f, false), 0);
	assert_int_equal(tenon_function_find("test.sum", &g), 0);
	assert_ptr_equal(f, g);
	assert_int_equal(strong_count(f), 3);
	tenon_object_unref(g);
	assert_int_equal(tenon_function_find("test.su", &g), 0);
	assert_null(g);
	assert_int_equal(tenon_function_register("test.sum", f, false), -TENON_E_EXISTS);
	assert_error("function \"test.sum\" is registered already");
	tenon_object_unref(f);
}

static void a_replaced_function_stays_alive(void **state)
{
	struct tenon_function *f, *g, *found;
	int one = 1;

	(void)state;
	released = 0;
	tenon_function_create(&one, give_self, release, &f);
	tenon_function_create(NULL, sum, NULL, &g);
	tenon_function_register("test.replaced", f, false);
	tenon_object_unref(f);
	assert_int_equal(tenon_function_register("test.replaced", g, true), 0);
	assert_int_equal(released, 0);
	tenon_function_find("test.replaced", &found);
	assert_ptr_equal(found, g);
	tenon_object_unref(found);
	tenon_object_unref(g);
}

static void a_removed_name_is_free_again(void **state)
{
	struct tenon_function *found;

	(void)state;
	assert_int_equal(tenon_function_register_c("test.removed", sum, false), 0);
	assert_int_equal(tenon_function_remove("test.removed"), 0);
	tenon_function_find("test.removed", &found);
	assert_null(found);
	assert_int_equal(tenon_function_remove("test.removed"), -TENON_E_NOT_FOUND);
	assert_error_has("test.removed");
	assert_int_equal(tenon_function_register_c("test.removed", sum, false), 0);
}

static int count_names(void *context, const char *name, struct tenon_function *f)
{
	(void)f;
	*(int *)context += !strncmp(name, "test.many", 9);
	return 0;
}

static void *look_up(void *arg)
{
	struct tenon_function *f;
	int i;

	for (i = 0; i < 20000; i++) {
		tenon_function_find("test.first", &f);
		if (!f)
			return arg;
		tenon_object_unref(f);
	}
	return NULL;
}

static void lookups_go_on_while_others_register(void **state)
{
	void *missed[2];
	pthread_t t[2];
	char name[32];
	int i, n = 0;

	(void)state;
	tenon_function_register_c("test.first", sum, false);
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, look_up, &n);
	for (i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "test.many%d", i);
		assert_int_equal(tenon_function_register_c(name, sum, false), 0);
	}
	for (i = 0; i < 2; i++) {
		pthread_join(t[i], &missed[i]);
		assert_null(missed[i]);
	}
	tenon_function_each(count_names, &n);
	assert_int_equal(n, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_sums_its_arguments),
		cmocka_unit_test(a_failing_call_says_which_argument),
		cmocka_unit_test(self_is_what_was_given_and_is_released_once),
		cmocka_unit_test(a_registered_function_is_found_by_its_name),
		cmocka_unit_test(a_replaced_function_stays_alive),
		cmocka_unit_test(a_removed_name_is_free_again),
		cmocka_unit_test(lookups_go_on_while_others_register),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

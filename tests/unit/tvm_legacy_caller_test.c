/* SPDX-License-Identifier: MIT */
/* Calls that code of TVM 0.8 to 0.19 makes. */
#include "suite.h"

#include "runtime/library/call.h"
#include "runtime/library/legacy_value.h"
#include "runtime/library/tvm_table.h"

#define MOST 40

static struct tenon_value got[MOST];
static int32_t got_count;
static struct tenon_value give;

static int today(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	got_count = count;
	memcpy(got, args, (size_t)count * sizeof(*args));
	if (give.type == TENON_TYPE_ANY)
		return tenon_error(-TENON_E_VALUE, "not today");
	return tenon_value_own(&give, ret);
}

static void old_code_calls_functions_of_today(void **state)
{
	union legacy_value args[MOST], ret;
	int codes[MOST], code = 99, i;
	struct tenon_function *f;
	struct tenon_value object;
	struct tenon_tensor *owned;
	DLTensor t = { 0 };

	(void)state;
	assert_int_equal(tenon_function_create(NULL, today, NULL, &f), 0);
	give = tenon_arg_int(12);
	args[0].integer = 4;
	codes[0] = LEGACY_INT;
	args[1].real = 0.25;
	codes[1] = LEGACY_FLOAT;
	args[2].pointer = &t;
	codes[2] = LEGACY_DLTENSOR;
	args[3].string = "text";
	codes[3] = LEGACY_STRING;
	args[4].pointer = NULL;
	codes[4] = LEGACY_NULL;
	args[5].integer = 1;
	codes[5] = LEGACY_BOOL;
	args[6].pointer = f;
	codes[6] = LEGACY_FUNCTION;
	assert_int_equal(tenon_tensor_create(NULL, 0, tenon_dtype(2, 32, 1), &owned), 0);
	args[7].pointer = &owned->dl;
	codes[7] = LEGACY_NDARRAY;
	assert_int_equal(abi_legacy_func_call(f, args, codes, 8, &ret, &code), 0);
	assert_int_equal(code, LEGACY_INT);
	assert_int_equal(ret.integer, 12);
	assert_int_equal(got_count, 8);
	assert_true(got[0].type == TENON_TYPE_INT && got[0].as.integer == 4);
	assert_true(got[1].type == TENON_TYPE_FLOAT && got[1].as.real == 0.25);
	assert_true(got[2].type == TENON_TYPE_DLTENSOR && got[2].as.tensor == &t);
	assert_true(got[3].type == TENON_TYPE_RAW_STRING);
	assert_true(got[4].type == TENON_TYPE_NONE && got[4].as.bits == 0);
	assert_true(got[5].type == TENON_TYPE_BOOL && got[5].as.integer == 1);
	assert_true(got[6].type == TENON_TYPE_FUNCTION && (void *)got[6].as.object == f);
	/* a handle is the object: it can be kept */
	assert_true(got[7].type == TENON_TYPE_TENSOR);
	assert_ptr_equal(got[7].as.object, owned);
	tenon_object_unref(owned);
	for (i = 0; i < MOST; i++) {
		args[i].integer = i;
		codes[i] = LEGACY_INT;
	}
	assert_int_equal(abi_legacy_func_call(f, args, codes, MOST, &ret, &code), 0);
	assert_int_equal(got[MOST - 1].as.integer, MOST - 1);
	codes[1] = 77;
	assert_int_equal(abi_legacy_func_call(f, args, codes, 2, &ret, &code), -1);
	assert_error("argument 1 has TVM's type code 77, which is not known here");
	give = tenon_arg_none();
	assert_int_equal(abi_legacy_func_call(f, args, codes, 0, &ret, &code), 0);
	assert_int_equal(code, LEGACY_NULL);
	give.type = TENON_TYPE_ANY;
	assert_int_equal(abi_legacy_func_call(f, args, codes, 0, &ret, &code), -1);
	assert_string_equal(abi_legacy_error_get(), "not today");
	tenon_error_clear();
	give = tenon_arg_string("a text that outlives the call");
	for (i = 0; i < 3; i++) {
		assert_int_equal(abi_legacy_func_call(f, args, codes, 0, &ret, &code), 0);
		assert_int_equal(code, LEGACY_STRING);
		assert_string_equal(ret.string, "a text that outlives the call");
	}
	object = tenon_arg_object(f);
	give = object;
	assert_int_equal(abi_legacy_func_call(f, args, codes, 0, &ret, &code), 0);
	assert_int_equal(code, LEGACY_FUNCTION);
	assert_int_equal(strong_count(f), 2);
	assert_int_equal(abi_legacy_func_free(ret.pointer), 0);
	tenon_object_unref(f);
}

static void a_tensor_goes_to_old_code_as_its_dltensor_and_back(void **state)
{
	int64_t shape[1] = { 3 };
	struct tenon_function *f;
	union legacy_value ret;
	struct tenon_value back;
	struct tenon_tensor *t;
	int code;

	(void)state;
	assert_int_equal(tenon_function_create(NULL, today, NULL, &f), 0);
	assert_int_equal(tenon_tensor_create(shape, 1, tenon_dtype(2, 32, 1), &t), 0);
	give = tenon_arg_object(t);
	assert_int_equal(abi_legacy_func_call(f, NULL, NULL, 0, &ret, &code), 0);
	assert_int_equal(code, LEGACY_NDARRAY);
	assert_int_equal(((const DLTensor *)ret.pointer)->shape[0], 3);
	assert_int_equal(legacy_result(&ret, code, &back), 0);
	assert_ptr_equal(back.as.object, t);
	assert_int_equal(strong_count(t), 2);
	tenon_value_release(&back);
	tenon_object_unref(t);
	tenon_object_unref(f);
}

static int seen_code, seen_ret_code, status;

static int compiled(union legacy_value *args, int *codes, int count, union legacy_value *ret,
		    int *ret_code, void *resource)
{
	(void)args;
	(void)resource;
	seen_code = count ? codes[0] : -1;
	seen_ret_code = *ret_code;
	ret->integer = 1;
	*ret_code = LEGACY_BOOL;
	return status;
}

static void old_code_calls_old_code_without_a_detour(void **state)
{
	union legacy_value args[1] = { { .integer = 3 } }, ret;
	int codes[1] = { 42 }, code = 99; /* a conversion would refuse this code */
	struct tenon_function *f;

	(void)state;
	assert_int_equal(tvm_legacy_function_create((void *)compiled, NULL, &f), 0);
	assert_int_equal(abi_legacy_func_call(f, args, codes, 1, &ret, &code), 0);
	assert_int_equal(seen_code, 42);
	assert_int_equal(seen_ret_code, LEGACY_NULL);
	assert_int_equal(code, LEGACY_BOOL);
	assert_int_equal(ret.integer, 1);
	status = -3;
	assert_int_equal(abi_legacy_func_call(f, args, codes, 1, &ret, &code), -3);
	tenon_object_unref(f);
}

static void global_functions_are_found_by_old_names(void **state)
{
	void *f;

	(void)state;
	assert_int_equal(tenon_function_register_c("test.legacy.global", today, true), 0);
	assert_int_equal(abi_legacy_func_global("test.legacy.global", &f), 0);
	assert_ptr_equal(((struct tenon_function *)f)->call, today);
	tenon_object_unref(f);
	assert_int_equal(abi_legacy_func_global("test.legacy.absent", &f), 0);
	assert_null(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_code_calls_functions_of_today),
		cmocka_unit_test(a_tensor_goes_to_old_code_as_its_dltensor_and_back),
		cmocka_unit_test(old_code_calls_old_code_without_a_detour),
		cmocka_unit_test(global_functions_are_found_by_old_names),
	};

	return cmocka_run_group_tests_name("tvm_legacy_caller", tests, NULL, NULL);
}

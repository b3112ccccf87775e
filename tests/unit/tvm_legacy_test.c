/* SPDX-License-Identifier: MIT */
/* Arguments and results of functions in TVM's calling convention up to 0.21. */
#include "suite.h"

#include <stdio.h>

#include "runtime/library/call.h"
#include "runtime/library/legacy_value.h"
#include "runtime/library/tvm_table.h"

#define MOST 40

/* what the compiled function saw */
static struct seen {
	union legacy_value value[MOST];
	int code[MOST];
	int count;
	int ret_code;
	char text[64];
	DLTensor tensor;
} seen;

/* what it answers */
static struct answer {
	union legacy_value value;
	int code;
	int status;
} answer;

static int compiled(union legacy_value *args, int *codes, int count, union legacy_value *ret,
		    int *ret_code, void *resource)
{
	int i;

	assert_null(resource);
	seen.count = count;
	seen.ret_code = *ret_code;
	for (i = 0; i < count; i++) {
		seen.value[i] = args[i];
		seen.code[i] = codes[i];
	}
	/* texts and descriptions live as long as the call */
	if (count && codes[0] == LEGACY_STRING)
		snprintf(seen.text, sizeof(seen.text), "%s", args[0].string);
	if (count && codes[0] == LEGACY_BYTES) {
		const struct tenon_slice *b = args[0].pointer;

		snprintf(seen.text, sizeof(seen.text), "%.*s", (int)b->size, b->data);
	}
	if (count && codes[0] == LEGACY_DLTENSOR)
		seen.tensor = *(const DLTensor *)args[0].pointer;
	if (answer.status)
		return answer.status;
	if (answer.code != LEGACY_NULL) {
		*ret = answer.value;
		*ret_code = answer.code;
	}
	return 0;
}

static struct tenon_function *function;

static int afresh(void **state)
{
	(void)state;
	tenon_error_clear();
	memset(&seen, 0xcc, sizeof(seen));
	memset(&answer, 0, sizeof(answer));
	answer.code = LEGACY_NULL;
	return tvm_legacy_function_create((void *)compiled, NULL, &function);
}

static int drop(void **state)
{
	(void)state;
	tenon_object_unref(function);
	return 0;
}

static int call(const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	/* garbage, as compiled callers leave it there */
	memset(ret, 0x5a, sizeof(*ret));
	ret->type = 3;
	return tenon_function_call(function, args, count, ret);
}

static void assert_passed(struct tenon_value arg, int code)
{
	struct tenon_value ret;

	assert_int_equal(call(&arg, 1, &ret), 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.code[0], code);
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	assert_int_equal(ret.as.bits, 0);
}

/* ---- arguments */

static void numbers_keep_their_bits(void **state)
{
	(void)state;
	assert_passed(tenon_arg_int(-5), LEGACY_INT);
	assert_int_equal(seen.value[0].integer, -5);
	assert_int_equal(seen.ret_code, LEGACY_NULL);
	assert_passed(tenon_arg_bool(true), LEGACY_INT);
	assert_int_equal(seen.value[0].integer, 1);
	assert_passed(tenon_arg_float(-0.5), LEGACY_FLOAT);
	assert_true(seen.value[0].real == -0.5);
	assert_passed(tenon_arg_pointer(&seen), LEGACY_POINTER);
	assert_ptr_equal(seen.value[0].pointer, &seen);
	assert_passed(tenon_arg_dtype(tenon_dtype(2, 16, 4)), LEGACY_DTYPE);
	assert_int_equal(seen.value[0].dtype.lanes, 4);
	assert_passed(tenon_arg_device((DLDevice){ kDLOpenCL, 2 }), LEGACY_DEVICE);
	assert_int_equal(seen.value[0].device.device_id, 2);
}

static void texts_arrive_in_every_encoding(void **state)
{
	struct tenon_slice bytes = { "ab\0cd", 5 };
	struct tenon_value v;

	(void)state;
	assert_passed(tenon_arg_string("plain"), LEGACY_STRING);
	assert_string_equal(seen.text, "plain");
	assert_int_equal(tenon_string_value(tenon_slice_of("seven77"), &v), 0);
	assert_int_equal(v.type, TENON_TYPE_SMALL_STRING);
	assert_passed(v, LEGACY_STRING);
	assert_string_equal(seen.text, "seven77");
	assert_int_equal(tenon_string_value(tenon_slice_of("eight888"), &v), 0);
	assert_passed(v, LEGACY_STRING);
	assert_string_equal(seen.text, "eight888");
	tenon_value_release(&v);
	assert_passed(tenon_arg_bytes(&bytes), LEGACY_BYTES);
	assert_ptr_equal(seen.value[0].pointer, &bytes);
	tenon_bytes_value(tenon_slice_of("small"), &v);
	assert_passed(v, LEGACY_BYTES);
	assert_string_equal(seen.text, "small");
	tenon_bytes_value(tenon_slice_of("not so small"), &v);
	assert_passed(v, LEGACY_BYTES);
	assert_string_equal(seen.text, "not so small");
	tenon_value_release(&v);
}

static void tensors_arrive_as_dltensor(void **state)
{
	int64_t shape[1] = { 5 };
	struct tenon_value rvalue = tenon_arg_none();
	struct tenon_tensor *t;
	DLTensor view;

	(void)state;
	assert_int_equal(tenon_tensor_create(shape, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t),
			 0);
	assert_passed(tenon_arg_object(t), LEGACY_DLTENSOR);
	assert_ptr_equal(seen.value[0].pointer, &t->dl);
	view = t->dl;
	assert_passed(tenon_arg_tensor(&view), LEGACY_DLTENSOR);
	assert_ptr_equal(seen.value[0].pointer, &view);
	rvalue.type = TENON_TYPE_RVALUE_REF;
	rvalue.as.pointer = &t;
	assert_passed(rvalue, LEGACY_DLTENSOR);
	assert_ptr_equal(seen.value[0].pointer, &t->dl);
	tenon_object_unref(t);
}

static void bool_tensors_are_told_in_the_old_words(void **state)
{
	int64_t shape[1] = { 5 };
	struct tenon_tensor *t;

	(void)state;
	assert_int_equal(tenon_tensor_create(shape, 1, tenon_dtype(TENON_DTYPE_BOOL, 8, 2), &t), 0);
	assert_passed(tenon_arg_object(t), LEGACY_DLTENSOR);
	assert_int_equal(seen.tensor.dtype.code, 1);
	assert_int_equal(seen.tensor.dtype.bits, 1);
	assert_int_equal(seen.tensor.dtype.lanes, 2);
	assert_ptr_equal(seen.tensor.data, t->dl.data);
	assert_int_equal(t->dl.dtype.code, TENON_DTYPE_BOOL);
	assert_passed(tenon_arg_tensor(&t->dl), LEGACY_DLTENSOR);
	assert_int_equal(seen.tensor.dtype.bits, 1);
	tenon_object_unref(t);
}

static void objects_arrive_by_their_kind(void **state)
{
	struct tenon_array *array;
	struct tenon_value one = tenon_arg_int(1);

	(void)state;
	assert_passed(tenon_arg_object(function), LEGACY_FUNCTION);
	assert_ptr_equal(seen.value[0].pointer, function);
	assert_int_equal(tenon_array_create(&one, 1, &array), 0);
	assert_passed(tenon_arg_object(array), LEGACY_OBJECT);
	tenon_object_unref(array);
}

static void assert_refused(struct tenon_value arg, const char *message)
{
	struct tenon_value args[2] = { tenon_arg_int(1), arg }, ret;

	seen.count = -1;
	assert_int_equal(call(args, 2, &ret), -TENON_E_TYPE);
	assert_int_equal(seen.count, -1);
	assert_error(message);
}

static void nulls_are_refused(void **state)
{
	struct tenon_value v = tenon_arg_none();

	(void)state;
	assert_refused(v, "argument 1 is None: code of TVM 0.8 to 0.20 takes no null");
	assert_refused(tenon_arg_pointer(NULL),
		       "argument 1 is a NULL pointer: code of TVM 0.8 to 0.20 takes no null");
	assert_refused(tenon_arg_tensor(NULL),
		       "argument 1 is a NULL tensor: code of TVM 0.8 to 0.20 takes no null");
	assert_refused(tenon_arg_string(NULL),
		       "argument 1 is a NULL string: code of TVM 0.8 to 0.20 takes no null");
	v.type = 13;
	assert_refused(
		v, "argument 1 is of type ffi.Unchanged, which code of TVM 0.8 to 0.20 does not "
		   "know");
}

static void any_number_of_arguments_passes(void **state)
{
	struct tenon_value args[MOST], ret;
	int32_t i, n;

	(void)state;
	for (i = 0; i < MOST; i++)
		args[i] = i % 3 == 2 ? tenon_arg_float(i) : tenon_arg_int(i);
	for (n = 0; n <= MOST; n++) {
		assert_int_equal(call(args, n, &ret), 0);
		assert_int_equal(seen.count, n);
		for (i = 0; i < n; i++) {
			assert_int_equal(seen.code[i], i % 3 == 2 ? LEGACY_FLOAT : LEGACY_INT);
			if (i % 3 == 2)
				assert_true(seen.value[i].real == i);
			else
				assert_int_equal(seen.value[i].integer, i);
		}
	}
}

/* ---- results */

static void numbers_come_back(void **state)
{
	struct tenon_value ret;

	(void)state;
	answer.code = LEGACY_INT;
	answer.value.integer = -9;
	assert_int_equal(call(NULL, 0, &ret), 0);
	assert_true(ret.type == TENON_TYPE_INT && ret.small_size == 0 && ret.as.integer == -9);
	answer.code = LEGACY_FLOAT;
	answer.value.real = 2.25;
	assert_int_equal(call(NULL, 0, &ret), 0);
	assert_true(ret.type == TENON_TYPE_FLOAT && ret.as.real == 2.25);
	answer.code = LEGACY_BOOL;
	answer.value.integer = 1;
	assert_int_equal(call(NULL, 0, &ret), 0);
	assert_true(ret.type == TENON_TYPE_BOOL && ret.as.integer == 1);
	answer.code = LEGACY_POINTER;
	answer.value.pointer = &answer;
	assert_int_equal(call(NULL, 0, &ret), 0);
	assert_true(ret.type == TENON_TYPE_POINTER && ret.as.pointer == &answer);
	answer.code = LEGACY_DTYPE;
	answer.value.integer = -1;
	answer.value.dtype = tenon_dtype(2, 32, 1);
	assert_int_equal(call(NULL, 0, &ret), 0);
	assert_int_equal(ret.type, TENON_TYPE_DTYPE);
	assert_int_equal(ret.as.bits >> 32, 0);
}

static void texts_that_come_back_are_copies(void **state)
{
	char text[] = "somewhere in the library";
	struct tenon_slice bytes = { text, 9 }, out;
	struct tenon_value ret;

	(void)state;
	answer.code = LEGACY_STRING;
	answer.value.string = text;
	assert_int_equal(call(NULL, 0, &ret), 0);
	text[0] = 'X';
	assert_int_equal(tenon_value_text(&ret, &out), 0);
	assert_slice(out, "somewhere in the library");
	tenon_value_release(&ret);
	answer.code = LEGACY_BYTES;
	answer.value.pointer = &bytes;
	assert_int_equal(call(NULL, 0, &ret), 0);
	assert_int_equal(ret.type, TENON_TYPE_BYTES);
	tenon_value_release(&ret);
}

static void objects_come_back_owned(void **state)
{
	int64_t shape[1] = { 2 };
	struct tenon_tensor *t;
	struct tenon_value ret;

	(void)state;
	answer.code = LEGACY_FUNCTION;
	answer.value.pointer = function;
	tenon_object_ref(function);
	assert_int_equal(call(NULL, 0, &ret), 0);
	assert_int_equal(ret.type, TENON_TYPE_FUNCTION);
	assert_int_equal(strong_count(function), 2);
	tenon_value_release(&ret);
	assert_int_equal(tenon_tensor_create(shape, 1, tenon_dtype(2, 32, 1), &t), 0);
	answer.code = LEGACY_NDARRAY;
	answer.value.pointer = &t->dl;
	assert_int_equal(call(NULL, 0, &ret), 0);
	assert_int_equal(ret.type, TENON_TYPE_TENSOR);
	assert_ptr_equal(ret.as.object, t);
	tenon_value_release(&ret);
	answer.code = LEGACY_DLTENSOR;
	assert_int_equal(call(NULL, 0, &ret), -TENON_E_TYPE);
	assert_error("the function returns a value of TVM's type code 7, which cannot be kept");
}

static void what_a_function_said_before_it_failed_is_the_error(void **state)
{
	struct tenon_value ret;

	(void)state;
	answer.status = -1;
	abi_legacy_error_set("Assert fail: num_args == 3, expected 3");
	assert_int_equal(call(NULL, 0, &ret), -TENON_E_CALL);
	assert_string_equal(tenon_error_kind(), "RuntimeError");
	assert_string_equal(abi_legacy_error_get(), "Assert fail: num_args == 3, expected 3");
	tenon_error_clear();
	assert_int_equal(call(NULL, 0, &ret), -TENON_E_CALL);
	assert_error("the function failed without saying why");
}

static int takes_workspace(union legacy_value *args, int *codes, int count, union legacy_value *ret,
			   int *ret_code, void *resource)
{
	(void)args;
	(void)codes;
	(void)ret;
	(void)ret_code;
	(void)resource;
	abi_backend_alloc(kDLCPU, 0, 128, 2, 32);
	return count ? -1 : 0;
}

static void a_guarded_function_gives_its_workspace_back_when_it_fails(void **state)
{
	struct tenon_value arg = tenon_arg_int(0), ret;
	struct tenon_function *f;

	(void)state;
	assert_int_equal(tvm_legacy_guarded_function_create((void *)takes_workspace, NULL, &f), 0);
	assert_int_equal(tenon_function_call(f, &arg, 0, &ret), 0);
	assert_int_equal(tenon_workspace_mark(), 1);
	assert_int_equal(tenon_function_call(f, &arg, 1, &ret), -TENON_E_CALL);
	assert_int_equal(tenon_workspace_mark(), 1);
	tenon_workspace_reclaim(0);
	tenon_error_clear();
	tenon_object_unref(f);
}

static void a_function_holds_its_library(void **state)
{
	struct tenon_function *f;

	(void)state;
	assert_int_equal(tvm_legacy_function_create((void *)compiled, &function->object, &f), 0);
	assert_int_equal(strong_count(function), 2);
	tenon_object_unref(f);
	assert_int_equal(strong_count(function), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers_keep_their_bits, afresh, drop),
		cmocka_unit_test_setup_teardown(texts_arrive_in_every_encoding, afresh, drop),
		cmocka_unit_test_setup_teardown(tensors_arrive_as_dltensor, afresh, drop),
		cmocka_unit_test_setup_teardown(bool_tensors_are_told_in_the_old_words, afresh,
						drop),
		cmocka_unit_test_setup_teardown(objects_arrive_by_their_kind, afresh, drop),
		cmocka_unit_test_setup_teardown(nulls_are_refused, afresh, drop),
		cmocka_unit_test_setup_teardown(any_number_of_arguments_passes, afresh, drop),
		cmocka_unit_test_setup_teardown(numbers_come_back, afresh, drop),
		cmocka_unit_test_setup_teardown(texts_that_come_back_are_copies, afresh, drop),
		cmocka_unit_test_setup_teardown(objects_come_back_owned, afresh, drop),
		cmocka_unit_test_setup_teardown(what_a_function_said_before_it_failed_is_the_error,
						afresh, drop),
		cmocka_unit_test_setup_teardown(
			a_guarded_function_gives_its_workspace_back_when_it_fails, afresh, drop),
		cmocka_unit_test_setup_teardown(a_function_holds_its_library, afresh, drop),
	};

	return cmocka_run_group_tests_name("tvm_legacy", tests, NULL, NULL);
}

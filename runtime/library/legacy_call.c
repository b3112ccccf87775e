/* SPDX-License-Identifier: MIT */
/* Calls of functions of TVM 0.8 to 0.20, and calls from such code. */
#include <stdlib.h>
#include <string.h>
#include <tenon/tensor.h>
#include <tenon/workspace.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"
#include "runtime/library/call.h"
#include "runtime/library/compiled_function.h"
#include "runtime/library/legacy_value.h"
#include "runtime/library/old_bool.h"
#include "runtime/library/tvm_table.h"

/* arguments that most functions have at most */
#define FEW 4

static int legacy_failed(void)
{
	if (!tenon_error_status())
		tenon_error(-TENON_E_CALL, "the function failed without saying why");
	return -TENON_E_CALL;
}

static inline int legacy_enter(void *symbol, union legacy_value *values, int *codes, int32_t count,
			       struct tenon_value *ret)
{
	union legacy_value result;
	int code = LEGACY_NULL;

	/* Functions without a result do not write these. */
	result.integer = 0;
	if (__builtin_expect(((legacy_fn)symbol)(values, codes, count, &result, &code, NULL), 0))
		return legacy_failed();
	if (code == LEGACY_NULL || code == LEGACY_INT) {
		ret->type = code == LEGACY_INT ? TENON_TYPE_INT : TENON_TYPE_NONE;
		ret->small_size = 0;
		ret->as.integer = code == LEGACY_INT ? result.integer : 0;
		return 0;
	}
	return legacy_result(&result, code, ret);
}

/* Call with any number of arguments of any type. */
static __attribute__((noinline)) int legacy_call_any(void *symbol, const struct tenon_value *args,
						     int32_t count, struct tenon_value *ret)
{
	struct legacy_scratch few_scratch[LEGACY_ARGS_ON_STACK], *scratch = few_scratch;
	union legacy_value few_values[LEGACY_ARGS_ON_STACK], *values = few_values;
	int few_codes[LEGACY_ARGS_ON_STACK], *codes = few_codes;
	void *many = NULL;
	int32_t i;
	int err = 0;

	if (count > LEGACY_ARGS_ON_STACK) {
		many = calloc((size_t)count, sizeof(*scratch) + sizeof(*values) + sizeof(*codes));
		if (!many)
			return tenon_error(-TENON_E_NOMEM, "no memory for %d arguments", count);
		scratch = many;
		values = (union legacy_value *)(scratch + count);
		codes = (int *)(values + count);
	}
	for (i = 0; i < count && !err; i++)
		err = legacy_argument(&args[i], i, &values[i], &codes[i], &scratch[i]);
	if (!err)
		err = legacy_enter(symbol, values, codes, count, ret);
	free(many);
	return err;
}

/* Convert the less common types; @out already has the bits. False: use legacy_call_any(). */
static bool convert_uncommon(const struct tenon_value *in, union legacy_value *out, int *code)
{
	DLTensor *t;

	if (in->type == TENON_TYPE_FLOAT) {
		*code = LEGACY_FLOAT;
		return true;
	}
	if (in->type != TENON_TYPE_DLTENSOR && in->type != TENON_TYPE_TENSOR)
		return false;
	t = in->type == TENON_TYPE_DLTENSOR ? in->as.tensor
					    : &((struct tenon_tensor *)in->as.object)->dl;
	if (!t || is_new_bool(t))
		return false;
	out->pointer = t;
	*code = LEGACY_DLTENSOR;
	return true;
}

/* An integer, the most common type, has code 0 (LEGACY_INT), and needs no code written. */
static inline bool take_argument(const struct tenon_value *in, union legacy_value *out, int *code)
{
	out->integer = in->as.integer;
	return __builtin_expect(in->type == TENON_TYPE_INT, 1) || convert_uncommon(in, out, code);
}

/* Up to LEGACY_ARGS_ON_STACK arguments. */
static __attribute__((noinline)) int legacy_call_some(void *symbol, const struct tenon_value *args,
						      int32_t count, struct tenon_value *ret)
{
	union legacy_value values[LEGACY_ARGS_ON_STACK];
	int codes[LEGACY_ARGS_ON_STACK] = { 0 };
	int32_t i;

	for (i = 0; i < count; i++)
		if (!take_argument(&args[i], &values[i], &codes[i]))
			return legacy_call_any(symbol, args, count, ret);
	return legacy_enter(symbol, values, codes, count, ret);
}

static inline int legacy_call_symbol(void *symbol, const struct tenon_value *args, int32_t count,
				     struct tenon_value *ret)
{
	union legacy_value values[FEW];
	int codes[FEW] = { 0 };
	bool ok = true;

	/* a step for each argument, small arrays, and one question at the end */
	switch (count) {
	case 4:
		ok = take_argument(&args[3], &values[3], &codes[3]);
		/* fallthrough */
	case 3:
		ok &= take_argument(&args[2], &values[2], &codes[2]);
		/* fallthrough */
	case 2:
		ok &= take_argument(&args[1], &values[1], &codes[1]);
		/* fallthrough */
	case 1:
		ok &= take_argument(&args[0], &values[0], &codes[0]);
		/* fallthrough */
	case 0:
		break;
	default:
		return count > LEGACY_ARGS_ON_STACK ? legacy_call_any(symbol, args, count, ret)
						    : legacy_call_some(symbol, args, count, ret);
	}
	return __builtin_expect(ok, 1) ? legacy_enter(symbol, values, codes, count, ret)
				       : legacy_call_any(symbol, args, count, ret);
}

static PACKED_CALL(legacy_call)
{
	return legacy_call_symbol(((struct compiled_function *)self)->symbol, args, count, ret);
}

static PACKED_CALL(legacy_guarded_call)
{
	size_t mark = tenon_workspace_mark();
	int err = legacy_call(self, args, count, ret);

	if (__builtin_expect(err, 0))
		tenon_workspace_reclaim(mark);
	return err;
}

static int create(tenon_call_fn call, void *symbol, struct tenon_object *keep,
		  struct tenon_function **out)
{
	int err = compiled_function_create(call, symbol, keep, out);

	if (!err)
		((struct compiled_function *)*out)->legacy = true;
	return err;
}

int tvm_legacy_function_create(void *symbol, struct tenon_object *keep, struct tenon_function **out)
{
	return create(legacy_call, symbol, keep, out);
}

int tvm_legacy_guarded_function_create(void *symbol, struct tenon_object *keep,
				       struct tenon_function **out)
{
	return create(legacy_guarded_call, symbol, keep, out);
}

/* ---- calls from legacy code */

static int call_converted(const struct tenon_function *f, const union legacy_value *args,
			  const int *codes, int count, struct tenon_value *ret)
{
	struct tenon_value few[LEGACY_ARGS_ON_STACK], *converted = few;
	int i, err = 0;

	few[0] = tenon_arg_none();
	if (count > LEGACY_ARGS_ON_STACK) {
		converted = calloc((size_t)count, sizeof(*converted));
		if (!converted)
			return tenon_error(-TENON_E_NOMEM, "no memory for %d arguments", count);
	}
	for (i = 0; i < count && !err; i++) {
		converted[i].type = TENON_TYPE_INT;
		converted[i].small_size = 0;
		converted[i].as.integer = args[i].integer;
		if (codes[i] != LEGACY_INT)
			err = legacy_argument_view(&args[i], codes[i], i, &converted[i]);
	}
	if (!err)
		err = tenon_function_call(f, converted, count, ret);
	if (converted != few)
		free(converted);
	return err;
}

int abi_legacy_func_call(void *function, union legacy_value *args, int *codes, int count,
			 union legacy_value *ret, int *ret_code)
{
	struct compiled_function *f = function;
	struct tenon_value result = tenon_arg_none();
	int err;

	if (f->base.call == legacy_call || f->base.call == legacy_guarded_call) {
		*ret_code = LEGACY_NULL;
		return ((legacy_fn)f->symbol)(args, codes, count, ret, ret_code, NULL);
	}
	err = call_converted(&f->base, args, codes, count, &result);
	if (!err && result.type == TENON_TYPE_NONE) {
		*ret_code = LEGACY_NULL;
		return 0;
	}
	return err ? -1 : ffi_result(legacy_give_result(&result, ret, ret_code));
}

int abi_legacy_func_free(void *function)
{
	tenon_object_unref(function);
	return 0;
}

int abi_legacy_func_global(const char *name, void **out)
{
	struct tenon_function *f;
	int err = tenon_function_find(name, &f);

	*out = f;
	return ffi_result(err);
}

void abi_legacy_error_set(const char *message)
{
	struct tenon_slice text = tenon_slice_of(message);

	tenon_error_raise_text("RuntimeError", &text, 1);
}

const char *abi_legacy_error_get(void)
{
	return tenon_error_message();
}

/* SPDX-License-Identifier: MIT */
/*
 * Functions of TVM 0.21: values up to index 10 match today's, but objects have a 16-byte header and
 * other type indices, so no object may be passed.
 */
#include <stdlib.h>
#include <string.h>
#include <tenon/array.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"
#include "runtime/library/call.h"
#include "runtime/library/compiled_function.h"
#include "runtime/library/old_bool.h"

#define LAST_SHARED_TYPE TENON_TYPE_RAW_BYTES
#define ARGS_ON_STACK	 16

static int refuse(int32_t i, const char *why, int32_t type)
{
	return tenon_error(-TENON_E_TYPE, "argument %d is of type %s: %s", i, tenon_type_key(type),
			   why);
}

static int convert_argument(const struct tenon_value *in, struct tenon_value *out, int32_t i,
			    DLTensor *scratch)
{
	struct tenon_slice text;
	struct tenon_value object;

	*out = *in;
	if (in->type == TENON_TYPE_RVALUE_REF) {
		object = tenon_arg_object(*(struct tenon_object **)in->as.pointer);
		return convert_argument(&object, out, i, scratch);
	}
	if (in->type == TENON_TYPE_TENSOR)
		*out = tenon_arg_tensor(&((struct tenon_tensor *)in->as.object)->dl);
	if (out->type == TENON_TYPE_DLTENSOR && out->as.tensor && is_new_bool(out->as.tensor))
		out->as.tensor = with_old_bool(out->as.tensor, scratch);
	if (out->type >= 0 && out->type <= LAST_SHARED_TYPE)
		return 0;
	if (in->type != TENON_TYPE_SMALL_STRING && in->type != TENON_TYPE_STRING)
		return refuse(i, "code of TVM 0.21 takes numbers, tensors and strings from outside",
			      in->type);
	tenon_value_text(in, &text);
	if (memchr(text.data, '\0', text.size))
		return refuse(i, "code of TVM 0.21 takes no string with a NUL inside", in->type);
	*out = tenon_arg_string(text.data);
	return 0;
}

static int convert_result(struct tenon_value *ret)
{
	struct tenon_value view = *ret;

	if (ret->type == TENON_TYPE_RAW_STRING || ret->type == TENON_TYPE_RAW_BYTES) {
		*ret = tenon_arg_none();
		return tenon_value_own(&view, ret);
	}
	if (ret->type < TENON_TYPE_DLTENSOR)
		return 0;
	*ret = tenon_arg_none();
	return tenon_error(-TENON_E_TYPE,
			   "the function returns an object of TVM 0.21 (type index %d), "
			   "which has another layout than those of today",
			   view.type);
}

static PACKED_CALL(call_021)
{
	tenon_call_fn call = (tenon_call_fn)((struct compiled_function *)self)->symbol;
	DLTensor few_tensors[ARGS_ON_STACK], *tensors = few_tensors;
	struct tenon_value few[ARGS_ON_STACK], *converted = few;
	void *many = NULL;
	int32_t i;
	int err = 0;

	few[0] = tenon_arg_none();
	if (count > ARGS_ON_STACK) {
		many = calloc((size_t)count, sizeof(*converted) + sizeof(*tensors));
		if (!many)
			return tenon_error(-TENON_E_NOMEM, "no memory for %d arguments", count);
		converted = many;
		tensors = (DLTensor *)(converted + count);
	}
	for (i = 0; i < count && !err; i++)
		err = convert_argument(&args[i], &converted[i], i, &tensors[i]);
	if (!err) {
		*ret = tenon_arg_none();
		err = call(NULL, converted, count, ret) ? -TENON_E_CALL : convert_result(ret);
	}
	free(many);
	return err;
}

int tvm_021_function_create(void *symbol, struct tenon_object *keep, struct tenon_function **out)
{
	return compiled_function_create(call_021, symbol, keep, out);
}

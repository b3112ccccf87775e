/* SPDX-License-Identifier: MIT */
/* vm.builtin.check_*_info: compare arguments with their annotations. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_closure.h"

/*
 * Checks that the compiler emits at the start of a function: each argument must match its
 * annotation.
 */

static int wrong_type(struct tenon_slice context, const char *wanted, const struct tenon_value *v)
{
	return tenon_error(-TENON_E_TYPE, "Check failed: %.*s expect %s but get %s",
			   (int)context.size, context.data, wanted, tenon_type_key(v->type));
}

RELAX_BUILTIN(check_tensor_info, 3, 4)
{
	DLDataType dtype = { TENON_DTYPE_HANDLE, 0, 0 };
	char wanted[TENON_DTYPE_NAME], found[TENON_DTYPE_NAME];
	struct tenon_slice context;
	const DLTensor *t;
	int64_t ndim;
	int err;

	err = relax_argument_int(a, 1, &ndim);
	if (!err && a->count == 4 && a->args[2].type != TENON_TYPE_NONE)
		err = relax_argument_dtype(a, 2, &dtype);
	if (err)
		return err;
	if (a->args[0].type != TENON_TYPE_TENSOR)
		return wrong_type(relax_argument_context(a, a->count - 1), "a Tensor", &a->args[0]);
	t = &((struct tenon_tensor *)a->args[0].as.object)->dl;
	if (ndim != -1 && t->ndim != ndim) {
		context = relax_argument_context(a, a->count - 1);
		return tenon_error(-TENON_E_VALUE,
				   "Check failed: %.*s expect Tensor with ndim %" PRIi64
				   " but get %" PRIi32,
				   (int)context.size, context.data, ndim, t->ndim);
	}
	if ((dtype.bits || dtype.code != TENON_DTYPE_HANDLE) &&
	    !tenon_dtype_equal(t->dtype, dtype)) {
		context = relax_argument_context(a, a->count - 1);
		return tenon_error(-TENON_E_VALUE,
				   "Check failed: %.*s expect Tensor with dtype %s but get %s",
				   (int)context.size, context.data, tenon_dtype_name(dtype, wanted),
				   tenon_dtype_name(t->dtype, found));
	}
	return 0;
}

RELAX_BUILTIN(check_shape_info, 2, 3)
{
	const struct tenon_shape *s;
	struct tenon_slice context;
	int64_t ndim;
	int err;

	err = relax_argument_int(a, 1, &ndim);
	if (err)
		return err;
	context = relax_argument_context(a, 2);
	if (a->args[0].type != TENON_TYPE_SHAPE)
		return wrong_type(context, "a Shape", &a->args[0]);
	s = (const struct tenon_shape *)a->args[0].as.object;
	if (ndim != -1 && (int64_t)s->size != ndim)
		return tenon_error(-TENON_E_VALUE,
				   "Check failed: %.*s expect Shape with ndim %" PRIi64
				   " but get %zu",
				   (int)context.size, context.data, ndim, s->size);
	return 0;
}

static bool value_fits(const struct tenon_value *v, DLDataType d)
{
	switch (v->type) {
	case TENON_TYPE_BOOL:
		/* bool is {1,1} up to TVM 0.22 and {6,8} later */
		return d.code == 6 || (d.code == TENON_DTYPE_UINT && d.bits == 1);
	case TENON_TYPE_INT:
		return d.code == TENON_DTYPE_INT || d.code == TENON_DTYPE_UINT;
	case TENON_TYPE_FLOAT:
		return d.code == TENON_DTYPE_FLOAT || d.code == 4;
	case TENON_TYPE_POINTER:
	case TENON_TYPE_NONE:
		return d.code == TENON_DTYPE_HANDLE;
	default:
		return false;
	}
}

RELAX_BUILTIN(check_prim_value_info, 2, 3)
{
	char wanted[TENON_DTYPE_NAME];
	DLDataType dtype;
	int err;

	err = relax_argument_dtype(a, 1, &dtype);
	if (err)
		return err;
	if (!value_fits(&a->args[0], dtype))
		return wrong_type(relax_argument_context(a, 2), tenon_dtype_name(dtype, wanted),
				  &a->args[0]);
	return 0;
}

RELAX_BUILTIN(check_string_info, 1, 2)
{
	if (a->args[0].type != TENON_TYPE_RAW_STRING &&
	    a->args[0].type != TENON_TYPE_SMALL_STRING && a->args[0].type != TENON_TYPE_STRING)
		return wrong_type(relax_argument_context(a, 1), "a string", &a->args[0]);
	return 0;
}

RELAX_BUILTIN(check_tuple_info, 2, 3)
{
	const struct tenon_array *t;
	struct tenon_slice context;
	int64_t size;
	int err;

	err = relax_argument_int(a, 1, &size);
	if (err)
		return err;
	context = relax_argument_context(a, 2);
	if (a->args[0].type != TENON_TYPE_ARRAY)
		return wrong_type(context, "a Tuple", &a->args[0]);
	t = (const struct tenon_array *)a->args[0].as.object;
	if (t->size != size)
		return tenon_error(-TENON_E_VALUE,
				   "Check failed: %.*s expect a Tuple with %" PRIi64
				   " elements, but get a Tuple with %" PRIi64 " elements",
				   (int)context.size, context.data, size, t->size);
	return 0;
}

RELAX_BUILTIN(check_func_info, 1, 2)
{
	if (a->args[0].type != TENON_TYPE_FUNCTION && !relax_closure_of(&a->args[0]))
		return wrong_type(relax_argument_context(a, 1), "a Function", &a->args[0]);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Convert arguments and results, and keep what they point to during the call. */
#include "runtime/library/legacy_value.h"

#include <stddef.h>
#include <tenon/string.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "lib/tvm_versions.h"
#include "runtime/library/old_bool.h"
#include "runtime/library/thread_state.h"

static int refuse_null(int32_t index, const char *what)
{
	return tenon_error(-TENON_E_TYPE,
			   "argument %d is %s: code of TVM " TVM_CALLS_LEGACY " takes no null",
			   index, what);
}

static int tensor_argument(DLTensor *t, int32_t index, union legacy_value *out, int *code,
			   struct legacy_scratch *scratch)
{
	if (!t)
		return refuse_null(index, "a NULL tensor");
	*code = LEGACY_DLTENSOR;
	out->pointer = is_new_bool(t) ? with_old_bool(t, &scratch->tensor) : t;
	return 0;
}

static int object_argument(struct tenon_object *o, int32_t index, union legacy_value *out,
			   int *code, struct legacy_scratch *scratch)
{
	if (!o)
		return refuse_null(index, "a NULL object");
	out->pointer = o;
	switch (o->type) {
	case TENON_TYPE_TENSOR:
		return tensor_argument(&((struct tenon_tensor *)o)->dl, index, out, code, scratch);
	case TENON_TYPE_STRING:
		*code = LEGACY_STRING;
		out->string = ((struct tenon_string *)o)->data;
		break;
	case TENON_TYPE_BYTES:
		*code = LEGACY_BYTES;
		out->pointer = (char *)o + offsetof(struct tenon_string, data);
		break;
	case TENON_TYPE_FUNCTION:
		*code = LEGACY_FUNCTION;
		break;
	case TENON_TYPE_MODULE:
		*code = LEGACY_MODULE;
		break;
	default:
		*code = LEGACY_OBJECT;
	}
	return 0;
}

int legacy_argument(const struct tenon_value *in, int32_t index, union legacy_value *out, int *code,
		    struct legacy_scratch *scratch)
{
	out->integer = in->as.integer;
	switch (in->type) {
	case TENON_TYPE_INT:
	case TENON_TYPE_BOOL:
		/* 0.18 and later accept an int for a bool; earlier versions have no bool. */
		*code = LEGACY_INT;
		return 0;
	case TENON_TYPE_FLOAT:
		*code = LEGACY_FLOAT;
		return 0;
	case TENON_TYPE_NONE:
		return refuse_null(index, "None");
	case TENON_TYPE_POINTER:
		*code = LEGACY_POINTER;
		return in->as.pointer ? 0 : refuse_null(index, "a NULL pointer");
	case TENON_TYPE_DTYPE:
		*code = LEGACY_DTYPE;
		return 0;
	case TENON_TYPE_DEVICE:
		*code = LEGACY_DEVICE;
		return 0;
	case TENON_TYPE_DLTENSOR:
		return tensor_argument(in->as.tensor, index, out, code, scratch);
	case TENON_TYPE_RAW_STRING:
		*code = LEGACY_STRING;
		return in->as.string ? 0 : refuse_null(index, "a NULL string");
	case TENON_TYPE_RAW_BYTES:
		*code = LEGACY_BYTES;
		return in->as.bytes ? 0 : refuse_null(index, "NULL bytes");
	case TENON_TYPE_SMALL_STRING:
		*code = LEGACY_STRING;
		out->string = in->as.small;
		return 0;
	case TENON_TYPE_SMALL_BYTES:
		*code = LEGACY_BYTES;
		scratch->bytes.data = in->as.small;
		scratch->bytes.size = in->small_size;
		out->pointer = &scratch->bytes;
		return 0;
	case TENON_TYPE_RVALUE_REF:
		return object_argument(*(struct tenon_object **)in->as.pointer, index, out, code,
				       scratch);
	default:
		if (in->type >= TENON_TYPE_OBJECT)
			return object_argument(in->as.object, index, out, code, scratch);
		return tenon_error(-TENON_E_TYPE,
				   "argument %d is of type %s, which code of TVM " TVM_CALLS_LEGACY
				   " does not know",
				   index, tenon_type_key(in->type));
	}
}

/* Convert a tensor handle of legacy code, which points behind the object header to the DLTensor. */
static void *tensor_of_handle(void *handle)
{
	return handle ? (char *)handle - offsetof(struct tenon_tensor, dl) : NULL;
}

int legacy_result(const union legacy_value *value, int code, struct tenon_value *out)
{
	switch (code) {
	case LEGACY_NULL:
		*out = tenon_arg_none();
		return 0;
	case LEGACY_INT:
	case LEGACY_UINT:
		*out = tenon_arg_int(value->integer);
		return 0;
	case LEGACY_BOOL:
		*out = tenon_arg_bool(value->integer);
		return 0;
	case LEGACY_FLOAT:
		*out = tenon_arg_float(value->real);
		return 0;
	case LEGACY_POINTER:
		*out = tenon_arg_pointer(value->pointer);
		return 0;
	case LEGACY_DTYPE:
		*out = tenon_arg_dtype(value->dtype);
		return 0;
	case LEGACY_DEVICE:
		*out = tenon_arg_device(value->device);
		return 0;
	case LEGACY_STRING:
		return tenon_string_value(tenon_slice_of(value->string), out);
	case LEGACY_BYTES:
		return tenon_bytes_value(*(const struct tenon_slice *)value->pointer, out);
	case LEGACY_OBJECT:
	case LEGACY_MODULE:
	case LEGACY_FUNCTION:
		*out = tenon_arg_object(value->pointer);
		return 0;
	case LEGACY_NDARRAY:
		*out = tenon_arg_object(tensor_of_handle(value->pointer));
		return 0;
	default:
		return tenon_error(-TENON_E_TYPE,
				   "the function returns a value of TVM's type code %d, "
				   "which cannot be kept",
				   code);
	}
}

int legacy_argument_view(const union legacy_value *value, int code, int index,
			 struct tenon_value *out)
{
	switch (code) {
	case LEGACY_DLTENSOR:
		*out = value->pointer ? tenon_arg_tensor(value->pointer) : tenon_arg_none();
		return 0;
	case LEGACY_NDARRAY:
		*out = value->pointer ? tenon_arg_object(tensor_of_handle(value->pointer))
				      : tenon_arg_none();
		return 0;
	case LEGACY_STRING:
		*out = tenon_arg_string(value->string);
		return 0;
	case LEGACY_BYTES:
		*out = tenon_arg_bytes(value->pointer);
		return 0;
	case LEGACY_RVALUE_REF:
		*out = tenon_arg_pointer(value->pointer);
		out->type = TENON_TYPE_RVALUE_REF;
		return 0;
	default:
		/* The remaining codes mean the same as in a result, and a view needs no copy. */
		if (code >= LEGACY_INT && code <= LEGACY_BOOL)
			return legacy_result(value, code, out);
		return tenon_error(-TENON_E_TYPE,
				   "argument %d has TVM's type code %d, which is not "
				   "known here",
				   index, code);
	}
}

/* Keep a string for the caller until the thread's next call. */
static int give_text(struct tenon_value *in, bool bytes, union legacy_value *out)
{
	struct thread_state *s = thread_state();
	struct tenon_slice text;

	if (!s) {
		tenon_value_release(in);
		return -TENON_E_NOMEM;
	}
	tenon_value_release(&s->legacy_text);
	s->legacy_text = *in;
	tenon_value_text(&s->legacy_text, &text);
	s->legacy_bytes = text;
	if (bytes)
		out->pointer = &s->legacy_bytes;
	else
		out->string = text.data;
	return 0;
}

int legacy_give_result(struct tenon_value *in, union legacy_value *out, int *code)
{
	out->integer = in->as.integer;
	switch (in->type) {
	case TENON_TYPE_NONE:
		*code = LEGACY_NULL;
		return 0;
	case TENON_TYPE_INT:
	case TENON_TYPE_BOOL:
		*code = LEGACY_INT;
		return 0;
	case TENON_TYPE_FLOAT:
		*code = LEGACY_FLOAT;
		return 0;
	case TENON_TYPE_POINTER:
		*code = LEGACY_POINTER;
		return 0;
	case TENON_TYPE_DTYPE:
		*code = LEGACY_DTYPE;
		return 0;
	case TENON_TYPE_DEVICE:
		*code = LEGACY_DEVICE;
		return 0;
	case TENON_TYPE_SMALL_STRING:
	case TENON_TYPE_STRING:
		*code = LEGACY_STRING;
		return give_text(in, false, out);
	case TENON_TYPE_SMALL_BYTES:
	case TENON_TYPE_BYTES:
		*code = LEGACY_BYTES;
		return give_text(in, true, out);
	case TENON_TYPE_FUNCTION:
		*code = LEGACY_FUNCTION;
		return 0;
	case TENON_TYPE_MODULE:
		*code = LEGACY_MODULE;
		return 0;
	case TENON_TYPE_TENSOR:
		*code = LEGACY_NDARRAY;
		out->pointer = &((struct tenon_tensor *)in->as.object)->dl;
		return 0;
	default:
		if (in->type >= TENON_TYPE_OBJECT) {
			*code = LEGACY_OBJECT;
			return 0;
		}
		return tenon_error(-TENON_E_TYPE,
				   "a result of type %s cannot be handed to code of "
				   "TVM " TVM_CALLS_LEGACY,
				   tenon_type_key(in->type));
	}
}

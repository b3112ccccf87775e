/* SPDX-License-Identifier: MIT */
/* Check one argument of a builtin, with its number in the message. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"
#include "runtime/model/tensor_place.h"
#include "runtime/relax/relax.h"
#include "runtime/relax/relax_builtin.h"

int relax_argument_refuse(const struct relax_arguments *a, int32_t i, int status)
{
	return tenon_error_in(status, "%s: argument %" PRIi32, a->name, i);
}

static int unexpected(const struct relax_arguments *a, int32_t i, const char *wanted)
{
	return relax_argument_error(a, i, -TENON_E_TYPE, "expected %s, found %s", wanted,
				    tenon_type_key(a->args[i].type));
}

int relax_arguments_count(const struct relax_arguments *a, int32_t least, int32_t most)
{
	return arguments_check(a->name, a->count, least, most);
}

int relax_argument_int(const struct relax_arguments *a, int32_t i, int64_t *out)
{
	if (a->args[i].type != TENON_TYPE_INT && a->args[i].type != TENON_TYPE_BOOL)
		return unexpected(a, i, "an integer");
	*out = a->args[i].as.integer;
	return 0;
}

static void *object_of(const struct tenon_value *v, int32_t type)
{
	struct tenon_object *o;

	if (v->type == type)
		return v->as.object;
	if (v->type != TENON_TYPE_RVALUE_REF || !v->as.pointer)
		return NULL;
	o = *(struct tenon_object **)v->as.pointer;
	return o && o->type == type ? o : NULL;
}

int relax_argument_range(const struct relax_arguments *a, int32_t i, int64_t least, int64_t most,
			 int64_t *out)
{
	int err = relax_argument_int(a, i, out);

	if (err || (*out >= least && *out <= most))
		return err;
	return relax_argument_error(a, i, -TENON_E_VALUE,
				    "%" PRIi64 " is not between %" PRIi64 " and %" PRIi64, *out,
				    least, most);
}

int relax_argument_float(const struct relax_arguments *a, int32_t i, double *out)
{
	if (tenon_value_float(&a->args[i], out)) {
		tenon_error_clear();
		return unexpected(a, i, "a number");
	}
	return 0;
}

int relax_argument_text(const struct relax_arguments *a, int32_t i, struct tenon_slice *out)
{
	if (tenon_value_text(&a->args[i], out)) {
		tenon_error_clear();
		return unexpected(a, i, "a string");
	}
	return 0;
}

int relax_argument_function(const struct relax_arguments *a, int32_t i, struct tenon_function **out)
{
	*out = NULL;
	if (tenon_value_object(&a->args[i], TENON_TYPE_FUNCTION, out)) {
		tenon_error_clear();
		return unexpected(a, i, "a function");
	}
	return 0;
}

int relax_argument_object(const struct relax_arguments *a, int32_t i, int32_t type,
			  const char *what, void *out)
{
	void **object = out;

	*object = type ? object_of(&a->args[i], type) : NULL;
	return *object ? 0 : unexpected(a, i, what);
}

int relax_argument_host_tensor(const struct relax_arguments *a, int32_t i, DLTensor **out)
{
	size_t bytes;
	int err = relax_argument_any_tensor(a, i, out);

	if (err)
		return err;
	if (!place_is_host((*out)->device))
		return relax_argument_error(a, i, -TENON_E_UNSUPPORTED,
					    "the tensor is on a device of type %d; this function "
					    "runs on the host, copy the tensor there first",
					    (int)(*out)->device.device_type);
	if (!tenon_tensor_compact(*out))
		return relax_argument_error(a, i, -TENON_E_VALUE,
					    "the tensor has gaps between its elements");
	err = tenon_tensor_bytes(*out, &bytes);
	return err ? relax_argument_refuse(a, i, err) : 0;
}

int relax_argument_dtype(const struct relax_arguments *a, int32_t i, DLDataType *out)
{
	struct tenon_slice text;
	int err;

	if (a->args[i].type == TENON_TYPE_DTYPE) {
		*out = a->args[i].as.dtype;
		return 0;
	}
	/* Generated code may write a dtype as text. */
	if (tenon_value_text(&a->args[i], &text)) {
		tenon_error_clear();
		return unexpected(a, i, "a dtype");
	}
	err = tenon_dtype_parse(text, out);
	return err ? relax_argument_refuse(a, i, err) : 0;
}

int relax_argument_shape(const struct relax_arguments *a, int32_t i, struct tenon_shape **out)
{
	*out = object_of(&a->args[i], TENON_TYPE_SHAPE);
	return *out ? 0 : unexpected(a, i, "a shape");
}

int relax_argument_tensor_object(const struct relax_arguments *a, int32_t i,
				 struct tenon_tensor **out)
{
	*out = object_of(&a->args[i], TENON_TYPE_TENSOR);
	return *out ? 0 : unexpected(a, i, "a tensor");
}

int relax_argument_any_tensor(const struct relax_arguments *a, int32_t i, DLTensor **out)
{
	struct tenon_tensor *t = object_of(&a->args[i], TENON_TYPE_TENSOR);

	if (!t && a->args[i].type != TENON_TYPE_DLTENSOR)
		return unexpected(a, i, "a tensor");
	*out = t ? &t->dl : a->args[i].as.tensor;
	return 0;
}

int relax_argument_array(const struct relax_arguments *a, int32_t i, struct tenon_array **out)
{
	*out = object_of(&a->args[i], TENON_TYPE_ARRAY);
	return *out ? 0 : unexpected(a, i, "a tuple");
}

int relax_argument_machine(const struct relax_arguments *a, int32_t i, struct relax_vm **out)
{
	*out = relax_current();
	if (*out && a->args[i].type == TENON_TYPE_POINTER && a->args[i].as.pointer == *out)
		return 0;
	return unexpected(a, i, "the virtual machine that runs");
}

int relax_argument_storage(const struct relax_arguments *a, int32_t i, struct relax_storage **out)
{
	int32_t type = relax_storage_type();

	*out = type ? object_of(&a->args[i], type) : NULL;
	return *out ? 0 : unexpected(a, i, "a storage");
}

struct tenon_slice relax_argument_context(const struct relax_arguments *a, int32_t i)
{
	struct tenon_slice s = { "", 0 };

	if (i >= a->count || a->args[i].type == TENON_TYPE_NONE)
		return s;
	if (tenon_value_text(&a->args[i], &s)) {
		tenon_error_clear();
		s.data = "";
		s.size = 0;
	}
	/* The compiler appends a space. */
	while (s.size && s.data[s.size - 1] == ' ')
		s.size--;
	return s;
}

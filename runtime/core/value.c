/* SPDX-License-Identifier: MIT */
/* Take, compare and convert values. */
#include <tenon/error.h>
#include <tenon/string.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "runtime/core/reference.h"

static int value_type_error(const struct tenon_value *v, const char *wanted)
{
	return tenon_error(-TENON_E_TYPE, "expected %s, found %s", wanted, tenon_type_key(v->type));
}

/* Get the object of an object value or r-value reference; NULL for other types. */
static struct tenon_object *value_any_object(const struct tenon_value *v)
{
	if (v->type >= TENON_TYPE_OBJECT)
		return v->as.object;
	if (v->type == TENON_TYPE_RVALUE_REF && v->as.pointer)
		return *(struct tenon_object **)v->as.pointer;
	return NULL;
}

int tenon_value_own(const struct tenon_value *view, struct tenon_value *owned)
{
	struct tenon_slice bytes;
	struct tenon_object *o;
	int err;

	if (view->type >= TENON_TYPE_OBJECT) {
		object_ref(view->as.object);
		*owned = *view;
		return 0;
	}
	switch (view->type) {
	case TENON_TYPE_RAW_STRING:
		return tenon_string_value(tenon_slice_of(view->as.string), owned);
	case TENON_TYPE_RAW_BYTES:
		err = tenon_value_text(view, &bytes);
		return err ? err : tenon_bytes_value(bytes, owned);
	case TENON_TYPE_DLTENSOR:
		return tenon_error(-TENON_E_TYPE, "a borrowed DLTensor cannot be kept: pass a "
						  "tensor object");
	case TENON_TYPE_RVALUE_REF:
		o = value_any_object(view);
		*owned = tenon_arg_object(o);
		if (o)
			*(struct tenon_object **)view->as.pointer = NULL;
		return 0;
	default:
		*owned = *view;
		return 0;
	}
}

void tenon_value_release(struct tenon_value *value)
{
	if (value->type >= TENON_TYPE_OBJECT && value->as.object)
		object_unref(value->as.object);
	*value = tenon_arg_none();
}

int tenon_value_int(const struct tenon_value *value, int64_t *out)
{
	if (value->type != TENON_TYPE_INT && value->type != TENON_TYPE_BOOL)
		return value_type_error(value, "int");
	*out = value->as.integer;
	return 0;
}

int tenon_value_float(const struct tenon_value *value, double *out)
{
	if (value->type == TENON_TYPE_FLOAT)
		*out = value->as.real;
	else if (value->type == TENON_TYPE_INT || value->type == TENON_TYPE_BOOL)
		*out = (double)value->as.integer;
	else
		return value_type_error(value, "float");
	return 0;
}

int tenon_value_bool(const struct tenon_value *value, bool *out)
{
	if (value->type != TENON_TYPE_INT && value->type != TENON_TYPE_BOOL)
		return value_type_error(value, "bool");
	*out = value->as.integer != 0;
	return 0;
}

int tenon_value_pointer(const struct tenon_value *value, void **out)
{
	if (value->type == TENON_TYPE_NONE)
		*out = NULL;
	else if (value->type == TENON_TYPE_POINTER)
		*out = value->as.pointer;
	else
		return value_type_error(value, "pointer");
	return 0;
}

int tenon_value_text(const struct tenon_value *value, struct tenon_slice *out)
{
	const struct tenon_string *s;

	switch (value->type) {
	case TENON_TYPE_RAW_STRING:
		if (!value->as.string)
			return tenon_error(-TENON_E_VALUE, "expected a string, found NULL");
		*out = tenon_slice_of(value->as.string);
		return 0;
	case TENON_TYPE_RAW_BYTES:
		if (!value->as.bytes)
			return tenon_error(-TENON_E_VALUE, "expected bytes, found NULL");
		*out = *value->as.bytes;
		return 0;
	case TENON_TYPE_SMALL_STRING:
	case TENON_TYPE_SMALL_BYTES:
		if (value->small_size > 7)
			return tenon_error(-TENON_E_VALUE, "a small string of %u bytes",
					   value->small_size);
		out->data = value->as.small;
		out->size = value->small_size;
		return 0;
	default:
		s = (const struct tenon_string *)value_any_object(value);
		if (!s ||
		    (s->object.type != TENON_TYPE_STRING && s->object.type != TENON_TYPE_BYTES))
			return value_type_error(value, "string or bytes");
		out->data = s->data;
		out->size = s->size;
		return 0;
	}
}

int tenon_value_tensor(const struct tenon_value *value, DLTensor **out)
{
	struct tenon_object *o = value_any_object(value);

	if (value->type == TENON_TYPE_DLTENSOR && value->as.tensor)
		*out = value->as.tensor;
	else if (o && o->type == TENON_TYPE_TENSOR)
		*out = &((struct tenon_tensor *)o)->dl;
	else
		return value_type_error(value, "tensor");
	return 0;
}

int(tenon_value_object)(const struct tenon_value *value, int32_t type, void *out)
{
	struct tenon_object *o = value_any_object(value);

	if (!o || (o->type != type && !tenon_type_is(o->type, type)))
		return value_type_error(value, tenon_type_key(type));
	*(struct tenon_object **)out = o;
	return 0;
}

/* 1 for string encodings, 2 for byte encodings, 0 for other types. */
static int text_class(int32_t type)
{
	switch (type) {
	case TENON_TYPE_RAW_STRING:
	case TENON_TYPE_SMALL_STRING:
	case TENON_TYPE_STRING:
		return 1;
	case TENON_TYPE_RAW_BYTES:
	case TENON_TYPE_SMALL_BYTES:
	case TENON_TYPE_BYTES:
		return 2;
	default:
		return 0;
	}
}

bool tenon_value_equal(const struct tenon_value *a, const struct tenon_value *b)
{
	struct tenon_slice sa, sb;

	if (text_class(a->type)) {
		if (text_class(a->type) != text_class(b->type))
			return false;
		return !tenon_value_text(a, &sa) && !tenon_value_text(b, &sb) &&
		       tenon_slice_equal(sa, sb);
	}
	return a->type == b->type && a->as.bits == b->as.bits;
}

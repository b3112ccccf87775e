/* SPDX-License-Identifier: MIT */
/* Make a value of a SPEC, or take that of an earlier one. */
#include "tools/tensor/argument.h"
#include "tools/tensor/spec.h"

#include <tenon/array.h>
#include <tenon/string.h>

int argument_make(struct argument *a)
{
	struct tenon_shape *shape;
	int err;

	switch (a->spec.form) {
	case SPEC_NULL:
		a->value = tenon_arg_none();
		return 0;
	case SPEC_BOOL:
		a->value = tenon_arg_bool(a->spec.integer);
		return 0;
	case SPEC_INT:
		a->value = tenon_arg_int(a->spec.integer);
		return 0;
	case SPEC_FLOAT:
		a->value = tenon_arg_float(a->spec.real);
		return 0;
	case SPEC_TEXT:
		/* Owned, because the function may keep it. */
		return tenon_string_value(tenon_slice_of(a->spec.string), &a->value);
	case SPEC_SHAPE:
		err = tenon_shape_create(a->spec.shape, (size_t)a->spec.ndim, &shape);
		if (!err)
			a->value = tenon_arg_object(shape);
		return err;
	default:
		break;
	}
	err = spec_tensor(&a->spec, &a->tensor);
	if (!err)
		a->value = tenon_arg_object(a->tensor);
	return err;
}

bool argument_given_before(const struct argument *list, const struct argument *a)
{
	for (; a->spec.name.size && list < a; list++)
		if (list->spec.role == a->spec.role &&
		    tenon_slice_equal(list->spec.name, a->spec.name))
			return true;
	return false;
}

void argument_release(struct argument *a)
{
	if (a->spec.form == SPEC_TEXT || a->spec.form == SPEC_SHAPE)
		tenon_value_release(&a->value);
	tenon_object_unref(a->tensor);
	a->tensor = NULL;
}

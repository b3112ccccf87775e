/* SPDX-License-Identifier: MIT */
/*
 * The visit functions of the types that the ABI defines.
 *
 * They copy strings into values, because a slice of foreign memory may lack a final NUL and a visitor may keep the
 * value.
 */
#include "runtime/core/type.h"

#include <stdlib.h>
#include <tenon/array.h>
#include <tenon/backend/module_kind.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "runtime/core/module_object.h"

static int show(const struct tenon_visitor *v, const char *name, struct tenon_value value)
{
	return v->field(v->context, name, &value);
}

static int show_owned(const struct tenon_visitor *v, const char *name, struct tenon_value *value)
{
	int err = v->field(v->context, name, value);

	tenon_value_release(value);
	return err;
}

static int show_text(const struct tenon_visitor *v, const char *name, struct tenon_slice text)
{
	struct tenon_value value;
	int err = tenon_string_value(text, &value);

	return err ? err : show_owned(v, name, &value);
}

static int visit_string(const struct tenon_object *object, const struct tenon_visitor *v)
{
	const struct tenon_string *s = (const struct tenon_string *)object;
	struct tenon_slice bytes = { s->data, s->size };
	int err = show(v, "size", tenon_arg_int((int64_t)s->size));

	return err ? err : show(v, "data", tenon_arg_bytes(&bytes));
}

static int visit_error(const struct tenon_object *object, const struct tenon_visitor *v)
{
	const struct tenon_error *e = (const struct tenon_error *)object;
	struct tenon_error *cause = tenon_error_cause(e);
	int err = show_text(v, "kind", e->kind);

	if (!err)
		err = show_text(v, "message", e->message);
	if (!err && e->backtrace.size)
		err = show_text(v, "backtrace", e->backtrace);
	if (!err && cause)
		err = show(v, "cause", tenon_arg_object(cause));
	return err;
}

static int visit_function(const struct tenon_object *object, const struct tenon_visitor *v)
{
	const struct tenon_function *f = (const struct tenon_function *)object;

	return show(v, "call", tenon_arg_pointer((void *)f->call));
}

static int visit_shape(const struct tenon_object *object, const struct tenon_visitor *v)
{
	const struct tenon_shape *s = (const struct tenon_shape *)object;
	int err = 0;
	size_t i;

	for (i = 0; i < s->size && !err; i++)
		err = show(v, NULL, tenon_arg_int(s->data[i]));
	return err;
}

static int visit_tensor(const struct tenon_object *object, const struct tenon_visitor *v)
{
	const DLTensor *dl = &((const struct tenon_tensor *)object)->dl;
	struct tenon_shape *shape;
	struct tenon_value value;
	int err = show(v, "dtype", tenon_arg_dtype(dl->dtype));

	if (!err)
		err = show(v, "device", tenon_arg_device(dl->device));
	if (!err)
		err = tenon_shape_create(dl->shape, (size_t)dl->ndim, &shape);
	if (err)
		return err;
	value = tenon_arg_object(shape);
	return show_owned(v, "shape", &value);
}

static int visit_array(const struct tenon_object *object, const struct tenon_visitor *v)
{
	const struct tenon_array *a = (const struct tenon_array *)object;
	int err = 0;
	int64_t i;

	for (i = 0; i < a->size && !err; i++)
		err = v->field(v->context, NULL, &a->data[i]);
	return err;
}

static int show_pair(const struct tenon_visitor *v, const struct tenon_value *key,
		     const struct tenon_value *value)
{
	struct tenon_value copy;
	struct tenon_slice text;
	int err;

	if (v->pair)
		return v->pair(v->context, key, value);
	/* Copy the key: it need not end in NUL. */
	if (tenon_value_text(key, &text))
		return v->field(v->context, NULL, value);
	err = tenon_string_value(text, &copy);
	if (err)
		return err;
	tenon_value_text(&copy, &text);
	err = v->field(v->context, text.data, value);
	tenon_value_release(&copy);
	return err;
}

static int visit_map(const struct tenon_object *object, const struct tenon_visitor *v)
{
	const struct tenon_map *map = (const struct tenon_map *)object;
	const struct tenon_value *key, *value;
	const void *at = NULL;
	int err = 0;

	while (!err && (at = tenon_map_next(map, at, &key, &value)))
		err = show_pair(v, key, value);
	return err;
}

static int show_imports(const struct tenon_module *m, const struct tenon_visitor *v)
{
	struct tenon_value *items, value;
	struct tenon_array *array;
	size_t i;
	int err;

	items = calloc(m->import_count + 1, sizeof(*items));
	if (!items)
		return tenon_error(-TENON_E_NOMEM, "no memory to show %zu imports",
				   m->import_count);
	for (i = 0; i < m->import_count; i++)
		items[i] = tenon_arg_object(m->imports[i]);
	err = tenon_array_create(items, m->import_count, &array);
	free(items);
	if (err)
		return err;
	value = tenon_arg_object(array);
	return show_owned(v, "imports", &value);
}

static int visit_module(const struct tenon_object *object, const struct tenon_visitor *v)
{
	const struct tenon_module *m = (const struct tenon_module *)object;
	int err;

	if (!module_is_ours(object))
		return 0;
	err = show_text(v, "kind", m->kind);
	if (!err)
		err = show(v, "properties", tenon_arg_int(m->properties));
	if (!err)
		err = show_imports(m, v);
	if (!err && m->ops->visit)
		err = m->ops->visit(m, v);
	return err;
}

tenon_visit_fn type_builtin_visit(int32_t index)
{
	switch (index) {
	case TENON_TYPE_STRING:
	case TENON_TYPE_BYTES:
		return visit_string;
	case TENON_TYPE_ERROR:
		return visit_error;
	case TENON_TYPE_FUNCTION:
		return visit_function;
	case TENON_TYPE_SHAPE:
		return visit_shape;
	case TENON_TYPE_TENSOR:
		return visit_tensor;
	case TENON_TYPE_ARRAY:
	case TENON_TYPE_LIST:
		return visit_array;
	case TENON_TYPE_MAP:
	case TENON_TYPE_DICT:
		return visit_map;
	case TENON_TYPE_MODULE:
		return visit_module;
	default:
		return NULL;
	}
}

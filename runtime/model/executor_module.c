/* SPDX-License-Identifier: MIT */
/* TVM's functions of executors: set_input, run, get_output and the others. */
#include "runtime/model/executor_module.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/array.h>
#include <tenon/backend/module_kind.h>

#include "lib/brief_errors.h"
#include "runtime/core/map_object.h"
#include "runtime/model/tensor_place.h"

static void executor_destroy(struct tenon_module *m)
{
	tenon_model_close(((struct executor_module *)m)->model);
}

static int executor_get_function(struct tenon_module *m, struct tenon_slice name,
				 struct tenon_function **out)
{
	return method_find(m, ((struct executor_module *)m)->methods, name, out);
}

static int executor_each_function(struct tenon_module *m,
				  int (*visit)(void *context, struct tenon_slice name),
				  void *context)
{
	return method_each(((struct executor_module *)m)->methods, visit, context);
}

static const struct tenon_module_ops executor_ops = {
	.get_function = executor_get_function,
	.each_function = executor_each_function,
	.destroy = executor_destroy,
};

int executor_module_create(struct tenon_model *model, const char *kind,
			   const struct method *methods, struct tenon_module **out)
{
	struct executor_module *e = malloc(sizeof(*e));

	*out = NULL;
	if (!e) {
		tenon_model_close(model);
		return tenon_error(-TENON_E_NOMEM, "no memory for a module");
	}
	tenon_module_init(&e->base, &executor_ops, tenon_slice_of(kind), TENON_MODULE_RUNNABLE);
	e->model = model;
	e->methods = methods;
	*out = &e->base;
	return 0;
}

struct tenon_model *executor_module_model(const struct tenon_module *m)
{
	return m->ops == &executor_ops ? ((const struct executor_module *)m)->model : NULL;
}

/* ---- keys */

static int number_key(const struct tenon_value *key, const char *what, size_t count, int64_t *index)
{
	int err = tenon_value_int(key, index);

	if (err)
		return err;
	if (*index < 0 || (uint64_t)*index >= count)
		return tenon_error(-TENON_E_USAGE, "%s %" PRIi64 " of a model that has %zu", what,
				   *index, count);
	return 0;
}

int executor_input_key(struct tenon_model *model, const struct tenon_value *key, int64_t *index)
{
	struct tenon_slice name;
	size_t found;
	int err;

	if (key->type == TENON_TYPE_INT)
		return number_key(key, "input", tenon_model_input_count(model), index);
	err = tenon_value_text(key, &name);
	if (err)
		return err;
	if (model->ops->find_input) {
		*index = model->ops->find_input(model, name);
		return 0;
	}
	err = tenon_model_find_input(model, name, &found);
	*index = err ? -1 : (int64_t)found;
	if (err != -TENON_E_NOT_FOUND)
		return err;
	tenon_error_clear();
	return 0;
}

/* Parse "<node name>:<head index>", or the name alone. */
static int find_output(struct tenon_model *model, struct tenon_slice name, int64_t *index)
{
	size_t i, n = tenon_model_output_count(model), size;
	struct tenon_port port;
	char number[24];
	int err;

	for (i = 0; i < n; i++) {
		err = model->ops->output(model, i, &port);
		if (err)
			return err;
		*index = (int64_t)i;
		if (tenon_slice_equal(port.name, name))
			return 0;
		size = (size_t)snprintf(number, sizeof(number), ":%zu", i);
		if (name.size == port.name.size + size &&
		    !memcmp(name.data, port.name.data, port.name.size) &&
		    !memcmp(name.data + port.name.size, number, size))
			return 0;
	}
	*index = -1;
	return 0;
}

int executor_output_key(struct tenon_model *model, const struct tenon_value *key, int64_t *index)
{
	struct tenon_slice name;
	int err;

	if (key->type == TENON_TYPE_INT)
		return number_key(key, "output", tenon_model_output_count(model), index);
	err = tenon_value_text(key, &name);
	return err ? err : find_output(model, name, index);
}

/* ---- functions */

static struct tenon_model *model_of(const struct tenon_module *m)
{
	return ((const struct executor_module *)m)->model;
}

METHOD_CALL(executor_set_input)
{
	int64_t index;
	int err;

	err = executor_input_key(model_of(m), &args[0], &index);
	if (err || index < 0)
		return err;
	return tenon_model_set_input(model_of(m), (size_t)index, &args[1]);
}

static int copy_output(const struct tenon_value *output, const struct tenon_value *arg)
{
	DLTensor *from, *to;
	size_t bytes, room;
	int err;

	err = tenon_value_tensor(output, &from);
	if (!err)
		err = tenon_value_tensor(arg, &to);
	if (!err)
		err = tenon_tensor_bytes(from, &bytes);
	if (!err)
		err = tenon_tensor_bytes(to, &room);
	if (err)
		return err;
	if (to->ndim != from->ndim || !tenon_tensor_compact(to) ||
	    (to->ndim && memcmp(to->shape, from->shape, (size_t)to->ndim * sizeof(*to->shape))))
		return tenon_error(-TENON_E_VALUE, "the tensor has another shape than the output");
	/* The two dtypes of bool count as equal. */
	if (room != bytes)
		return tenon_error(-TENON_E_TYPE, "the tensor has another dtype than the output");
	return place_copy(from, to, bytes);
}

METHOD_CALL(executor_get_output)
{
	struct tenon_value output;
	int64_t index;
	int err;

	err = executor_output_key(model_of(m), &args[0], &index);
	if (!err && index < 0)
		err = tenon_error(-TENON_E_NOT_FOUND, "the model has no output of this name");
	if (!err)
		err = model_of(m)->ops->output_value(model_of(m), (size_t)index, &output);
	if (err || count == 1) {
		if (!err)
			*ret = output;
		return err;
	}
	err = copy_output(&output, &args[1]);
	tenon_value_release(&output);
	return err;
}

METHOD_CALL(executor_run)
{
	return tenon_model_run(model_of(m));
}

METHOD_CALL(executor_get_num_inputs)
{
	*ret = tenon_arg_int((int64_t)tenon_model_input_count(model_of(m)));
	return 0;
}

METHOD_CALL(executor_get_num_outputs)
{
	*ret = tenon_arg_int((int64_t)tenon_model_output_count(model_of(m)));
	return 0;
}

METHOD_CALL(executor_get_input_index)
{
	int64_t index;
	int err;

	err = executor_input_key(model_of(m), &args[0], &index);
	if (!err)
		*ret = tenon_arg_int(index);
	return err;
}

METHOD_CALL(executor_get_input_name)
{
	struct tenon_port port;
	int64_t index;
	int err;

	err = number_key(&args[0], "input", tenon_model_input_count(model_of(m)), &index);
	if (err)
		return err;
	model_of(m)->ops->input(model_of(m), (size_t)index, &port);
	return tenon_string_value(port.name, ret);
}

/* ---- {"shape": {name: shape}, "dtype": {name: dtype}} */

struct info {
	struct tenon_value *shapes;
	struct tenon_value *dtypes;
	size_t count;
};

static int add_port(struct info *info, const struct tenon_port *port)
{
	struct tenon_value *shape = &info->shapes[2 * info->count];
	struct tenon_value *dtype = &info->dtypes[2 * info->count];
	char name[TENON_DTYPE_NAME];
	struct tenon_shape *s;
	int err;

	info->count++;
	err = tenon_string_value(port->name, &shape[0]);
	if (!err)
		err = tenon_string_value(port->name, &dtype[0]);
	if (!err)
		err = tenon_shape_create(port->shape, port->ndim < 0 ? 0 : (size_t)port->ndim, &s);
	if (err)
		return err;
	shape[1] = tenon_arg_object(s);
	return tenon_string_value(tenon_slice_of(tenon_dtype_name(port->dtype, name)), &dtype[1]);
}

static int make_map(const struct info *info, struct tenon_value *ret)
{
	struct tenon_map *shapes = NULL, *dtypes = NULL, *map = NULL;
	int err;

	err = map_create_long(info->shapes, info->count, &shapes);
	if (!err)
		err = map_create_long(info->dtypes, info->count, &dtypes);
	if (!err) {
		const struct tenon_value pairs[4] = { tenon_arg_string("shape"),
						      tenon_arg_object(shapes),
						      tenon_arg_string("dtype"),
						      tenon_arg_object(dtypes) };

		err = tenon_map_create(pairs, 2, &map);
	}
	tenon_object_unref(shapes);
	tenon_object_unref(dtypes);
	*ret = tenon_arg_object(map);
	return err;
}

static int ports_info(struct tenon_model *model, size_t n,
		      int (*describe)(struct tenon_model *m, size_t index, struct tenon_port *out),
		      struct tenon_value *ret)
{
	struct info info = { calloc(2 * n + 1, sizeof(struct tenon_value)),
			     calloc(2 * n + 1, sizeof(struct tenon_value)), 0 };
	struct tenon_port port;
	size_t i;
	int err = 0;

	if (!info.shapes || !info.dtypes)
		err = tenon_error(-TENON_E_NOMEM, "no memory for %zu names", n);
	for (i = 0; i < n && !err; i++) {
		err = describe(model, i, &port);
		if (!err)
			err = add_port(&info, &port);
	}
	if (!err)
		err = make_map(&info, ret);
	for (i = 0; i < 2 * info.count; i++) {
		tenon_value_release(&info.shapes[i]);
		tenon_value_release(&info.dtypes[i]);
	}
	free(info.shapes);
	free(info.dtypes);
	return err;
}

METHOD_CALL(executor_get_input_info)
{
	struct tenon_model *model = model_of(m);

	return ports_info(model, tenon_model_input_count(model), tenon_model_input, ret);
}

METHOD_CALL(executor_get_output_info)
{
	struct tenon_model *model = model_of(m);

	return ports_info(model, tenon_model_output_count(model), tenon_model_output, ret);
}

METHOD_CALL(executor_load_params)
{
	struct tenon_params *params;
	struct tenon_slice bytes;
	size_t i;
	int err;

	err = tenon_value_text(&args[0], &bytes);
	if (!err)
		err = tenon_params_read(bytes, NULL, "parameters", &params);
	if (err)
		return err;
	/* The caller owns the bytes during the call only: use nothing in place. */
	for (i = 0; i < tenon_params_count(params) && !err; i++) {
		const struct tenon_param *p = tenon_params_at(params, i);
		struct tenon_value key = tenon_arg_none(), tensor;
		int64_t index;

		if (model_of(m)->ops->find_input) {
			index = model_of(m)->ops->find_input(model_of(m), p->name);
		} else {
			err = tenon_string_value(p->name, &key);
			err = err ? err : executor_input_key(model_of(m), &key, &index);
			tenon_value_release(&key);
		}
		if (err || index < 0)
			continue;
		tensor = tenon_arg_tensor((DLTensor *)(uintptr_t)&p->tensor);
		err = tenon_model_set_input(model_of(m), (size_t)index, &tensor);
	}
	tenon_object_unref(params);
	return err;
}

/* SPDX-License-Identifier: MIT */
/* Read a factory module and create executors with its parameters. */
#include "runtime/model/factory.h"

#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/option.h"
#include "lib/slice_text.h"
#include "runtime/core/map_object.h"
#include "runtime/model/method.h"
#include "runtime/model/params.h"
#include "runtime/model/storage.h"
#include "runtime/core/visit_field.h"

static struct factory *factory_from(const struct tenon_module *m)
{
	return (struct factory *)(uintptr_t)m;
}

/* ---- functions */

static METHOD_CALL(make_executor)
{
	struct tenon_model_options o = { .size = sizeof(o) };
	DLDevice devices[METHOD_DEVICES_MOST];
	struct tenon_module *made;
	int err;

	err = method_devices(args, count, false, devices, &o.device_count);
	if (err)
		return err;
	o.devices = devices;
	err = factory_from(m)->make(m, &o, &made);
	if (!err)
		*ret = tenon_arg_object(made);
	return err;
}

static METHOD_CALL(debug_create)
{
	struct tenon_slice name;
	int err;

	err = tenon_value_text(&args[0], &name);
	if (err)
		return err;
	if (!tenon_slice_equal(name, factory_from(m)->name))
		return tenon_error(-TENON_E_NOT_FOUND, "the model is called \"%.*s\", not \"%.*s\"",
				   (int)factory_from(m)->name.size, factory_from(m)->name.data,
				   (int)name.size, name.data);
	return make_executor(m, args + 1, count - 1, ret);
}

static METHOD_CALL(get_graph_json)
{
	return tenon_string_value(factory_from(m)->json, ret);
}

static int params_map(struct tenon_params *params, struct tenon_value *pairs, size_t *made)
{
	const struct tenon_param *p;
	struct tenon_tensor *t;
	int err = 0;

	while (!err && (p = tenon_params_at(params, *made))) {
		err = tenon_params_tensor(params, p, TENON_TENSOR_ALIGN, &t);
		if (err)
			break;
		pairs[2 * *made + 1] = tenon_arg_object(t);
		err = tenon_string_value(p->name, &pairs[2 * *made]);
		++*made;
	}
	return err;
}

static METHOD_CALL(get_graph_params)
{
	struct tenon_params *params = factory_from(m)->params;
	size_t n = params ? tenon_params_count(params) : 0, made = 0, i;
	struct tenon_value *pairs = calloc(2 * n + 1, sizeof(*pairs));
	struct tenon_map *map = NULL;
	int err = 0;

	if (!pairs)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu parameters", n);
	if (params)
		err = params_map(params, pairs, &made);
	if (!err)
		err = map_create_long(pairs, n, &map);
	for (i = 0; i < 2 * made; i++)
		tenon_value_release(&pairs[i]);
	free(pairs);
	*ret = tenon_arg_object(map);
	return err;
}

static METHOD_CALL(cuda_graph_create)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "this build has no CUDA graphs; call \"%.*s\"",
			   (int)factory_from(m)->name.size, factory_from(m)->name.data);
}

static int factory_create(bool graph, factory_make_fn make, struct factory **out);

static METHOD_CALL(remove_params)
{
	struct factory *from = factory_from(m), *f;
	size_t i;
	int err;

	err = factory_create(from->graph, from->make, &f);
	if (err)
		return err;
	f->base.kind = from->base.kind;
	f->json = from->json;
	f->name = from->name;
	f->keep = &from->base.object;
	tenon_object_ref(f->keep);
	for (i = 0; i < m->import_count && !err; i++)
		err = tenon_module_import(&f->base, m->imports[i]);
	if (err)
		tenon_object_unref(f);
	else
		*ret = tenon_arg_object(f);
	return err;
}

static METHOD_CALL(list_module_names)
{
	struct tenon_value name;
	struct tenon_array *names;
	int err;

	err = tenon_string_value(factory_from(m)->name, &name);
	if (err)
		return err;
	err = tenon_array_create(&name, 1, &names);
	tenon_value_release(&name);
	if (!err)
		*ret = tenon_arg_object(names);
	return err;
}

static const struct method making = { "default", make_executor, 0, -1 };

static const struct method graph_methods[] = {
	{ "get_graph_json", get_graph_json, 0, 0 },
	{ "get_graph_params", get_graph_params, 0, 0 },
	{ "debug_create", debug_create, 1, -1 },
	{ "cuda_graph_create", cuda_graph_create, 0, -1 },
	{ "remove_params", remove_params, 0, 0 },
	{ NULL, NULL, 0, 0 },
};

static const struct method aot_methods[] = {
	{ "list_module_names", list_module_names, 0, 0 },
	{ "remove_params", remove_params, 0, 0 },
	{ NULL, NULL, 0, 0 },
};

static const struct method *methods_of(const struct tenon_module *m)
{
	return factory_from(m)->graph ? graph_methods : aot_methods;
}

static int factory_get_function(struct tenon_module *m, struct tenon_slice name,
				struct tenon_function **out)
{
	const bool makes = tenon_slice_equal(name, factory_from(m)->name);

	*out = NULL;
	if (!HAS_EXECUTOR_FUNCTIONS)
		return makes ? executor_functions_off() : 0;
	return makes ? method_function(m, &making, out) : method_find(m, methods_of(m), name, out);
}

static int factory_each_function(struct tenon_module *m,
				 int (*visit)(void *context, struct tenon_slice name),
				 void *context)
{
	int stop = 0;

	if (HAS_EXECUTOR_FUNCTIONS)
		stop = visit(context, factory_from(m)->name);
	if (HAS_EXECUTOR_FUNCTIONS && !stop)
		stop = method_each(methods_of(m), visit, context);
	return stop;
}

/* ---- the module */

static int factory_save(struct tenon_module *m, struct tenon_buffer *out)
{
	const struct factory *f = factory_from(m);

	if (f->bytes.data)
		return tenon_buffer_slice(out, f->bytes);
	if (f->graph)
		tenon_buffer_string(out, f->json);
	tenon_buffer_u64(out, 0);
	tenon_buffer_u64(out, 0);
	return tenon_buffer_string(out, f->name);
}

static int factory_visit(const struct tenon_module *m, const struct tenon_visitor *v)
{
	const struct factory *f = factory_from(m);
	size_t i, n = f->params ? tenon_params_count(f->params) : 0;
	uint64_t bytes = 0;
	int stop;

	for (i = 0; i < n; i++)
		bytes += tenon_params_at(f->params, i)->bytes;
	stop = visit_text(v, "name", f->name);
	if (!stop)
		stop = visit_number(v, "parameters", n);
	if (!stop)
		stop = visit_number(v, "parameter_bytes", bytes);
	if (!stop)
		stop = visit_text(v, "graph", f->json);
	if (!stop)
		stop = visit_text(v, "loader", tenon_slice_of("ready"));
	return stop;
}

static void factory_destroy(struct tenon_module *m)
{
	struct factory *f = factory_from(m);

	tenon_object_unref(f->params);
	tenon_object_unref(f->keep);
}

static const struct tenon_module_ops factory_ops = {
	.get_function = factory_get_function,
	.each_function = factory_each_function,
	.save = OPTION_SLOT(INSPECT, factory_save),
	.visit = OPTION_SLOT(INSPECT, factory_visit),
	.destroy = factory_destroy,
};

static int factory_create(bool graph, factory_make_fn make, struct factory **out)
{
	struct factory *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return tenon_error(-TENON_E_NOMEM, "no memory for a factory");
	tenon_module_init(&f->base, &factory_ops,
			  tenon_slice_of(graph ? "GraphExecutorFactory" : "AotExecutorFactory"),
			  TENON_MODULE_SERIALIZABLE | TENON_MODULE_RUNNABLE);
	f->graph = graph;
	f->make = make;
	return 0;
}

static int read_payload(struct factory *f, struct tenon_cursor *c)
{
	int err = 0;

	if (f->graph)
		err = tenon_cursor_string(c, &f->json);
	if (!err)
		err = params_take(c, f->keep, &f->params);
	if (!err)
		err = tenon_cursor_string(c, &f->name);
	return err;
}

/* Copy a payload that no object keeps alive; the cursor then reads the copy. */
static int keep_copy(struct factory *f, struct tenon_cursor *c)
{
	size_t left = tenon_cursor_left(c);
	/* A module outlives a model that the thread may be in. */
	struct heap *before = heap_enter(NULL);
	struct storage *copy;
	int err;

	err = storage_create(left, &copy);
	heap_enter(before);
	if (err)
		return err;
	if (left)
		memcpy(copy->data, c->at, left);
	f->keep = &copy->object;
	f->bytes = (struct tenon_slice){ copy->data, left };
	return 0;
}

int factory_load(bool graph, factory_make_fn make, struct tenon_cursor *c,
		 const struct tenon_payload *payload, struct tenon_module **out)
{
	struct tenon_cursor copy;
	struct factory *f;
	int err = 0;

	*out = NULL;
	if (factory_create(graph, make, &f))
		return -TENON_E_NOMEM;
	if (payload->keep) {
		f->keep = payload->keep;
		tenon_object_ref(f->keep);
		f->bytes = (struct tenon_slice){ (const char *)c->at, tenon_cursor_left(c) };
	} else {
		err = keep_copy(f, c);
	}
	copy = tenon_cursor_of(f->bytes.data, f->bytes.size, c->name, tenon_cursor_place(c));
	if (!err)
		err = read_payload(f, &copy);
	if (err) {
		tenon_object_unref(f);
		return err;
	}
	f->bytes.size = (size_t)(copy.at - copy.start);
	c->at += f->bytes.size;
	*out = &f->base;
	return 0;
}

/* Create a factory from the bytes of a payload module. Only tenon_module_inspect() makes such modules. */
static int parse_payload_module(struct tenon_module *m, struct tenon_module **out)
{
	struct tenon_buffer bytes = TENON_BUFFER_INIT;
	struct tenon_payload payload = { .file = "" };
	struct tenon_cursor c;
	int err;

	if (!OPTION_ON(INSPECT))
		return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_INSPECT is off in this build");
	err = tenon_module_save(m, &bytes);
	if (!err) {
		c = tenon_cursor_of(bytes.data, bytes.size, "factory", 0);
		err = factory_load(!slice_is(m->kind, "AotExecutorFactory"), NULL, &c, &payload,
				   out);
	}
	tenon_buffer_fini(&bytes);
	return err;
}

int factory_of(struct tenon_module *m, const char *name, struct factory **out)
{
	struct factory *f;
	int err = 0;

	*out = NULL;
	if (m->ops == &factory_ops)
		tenon_object_ref(m);
	else
		err = parse_payload_module(m, &m);
	if (err)
		return err;
	f = factory_from(m);
	if (name && !tenon_slice_equal(tenon_slice_of(name), f->name)) {
		err = tenon_error(-TENON_E_NOT_FOUND, "the model is called \"%.*s\", not \"%s\"",
				  (int)f->name.size, f->name.data, name);
		tenon_object_unref(f);
		return err;
	}
	*out = f;
	return 0;
}

int factory_library(const struct tenon_module *m, struct tenon_module **out)
{
	if (!m->import_count)
		return tenon_error(-TENON_E_FORMAT,
				   "a %.*s without imports: the library with its code is missing",
				   (int)m->kind.size, m->kind.data);
	*out = m->imports[0];
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Check indices and values for all executors, find ports by name, trace runs. */
#include "runtime/core/tensor_data.h"
#include "runtime/model/model.h"

#include <inttypes.h>

#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "lib/nearest_name.h"
#include "lib/options.h"
#include "lib/trace.h"
#include "runtime/model/executors.h"
#include "runtime/model/model_regions.h"

void model_init(struct tenon_model *m, const struct model_ops *ops, struct tenon_module *root,
		const struct tenon_model_options *o)
{
	m->ops = ops;
	m->root = root;
	m->describe = o->describe;
	m->ran = false;
	m->heap = heap_now();
	m->workspace = NULL;
	tenon_object_ref(root);
}

/* ---- opening */

int model_executor(const struct tenon_module *root, const struct tenon_model_options *o,
		   const struct executor **out)
{
	struct tenon_slice kind =
		o->graph.data ? tenon_slice_of("GraphExecutorFactory") : root->kind;
	struct tenon_buffer kinds = TENON_BUFFER_INIT;
	const char *option;
	int err;

	*out = NULL;
	err = bytes_check_data(o->graph.data, o->graph.size);
	if (err)
		return err;
	if (executor_has_kind(kind))
		return executor_of_kind(kind, out);
	option = executor_option(kind);
	if (option)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"a module of kind \"%.*s\" is a model whose executor is not in this "
			"build. Enable %s",
			(int)kind.size, kind.data, option);
	if (ERROR_MESSAGES)
		executor_kinds(&kinds);
	err = tenon_error(-TENON_E_UNSUPPORTED,
			  "a module of kind \"%.*s\" is no model. Models this build runs: %s",
			  (int)kind.size, kind.data, kinds.data ? kinds.data : "none");
	tenon_buffer_fini(&kinds);
	return err;
}

int model_create(struct tenon_module *root, const struct executor *executor,
		 const struct tenon_model_options *o, struct tenon_model **out)
{
	int err = executor->create(root, o, out);

	if (err || !o->params || o->describe)
		return err;
	err = tenon_model_set_params(*out, o->params);
	if (err) {
		tenon_model_close(*out);
		*out = NULL;
	}
	return err;
}

int tenon_model_open(struct tenon_module *root, const struct tenon_model_options *options,
		     struct tenon_model **out)
{
	const struct executor *executor;
	struct tenon_model_options o;
	struct heap *before;
	int err;

	*out = NULL;
	err = options_read(options, &o, sizeof(o));
	if (!err)
		err = model_executor(root, &o, &executor);
	if (err)
		return err;
	/* A function that a model in a caller's memory calls may open another, which outlives it. */
	before = heap_enter(NULL);
	err = model_create(root, executor, &o, out);
	heap_enter(before);
	return err;
}

void tenon_model_close(struct tenon_model *model)
{
	struct tenon_module *root;
	struct heap *heap;

	if (!model)
		return;
	root = model->root;
	heap = model->heap;
	model_workspace_close(model);
	model->ops->destroy(model);
	heap_close(heap);
	/* Last: it contains code that deleters of tensors may use. */
	tenon_object_unref(root);
}

/* ---- ports */

const char *tenon_model_kind(const struct tenon_model *model)
{
	return model->ops->kind;
}

size_t tenon_model_input_count(struct tenon_model *model)
{
	return model->ops->input_count(model);
}

size_t tenon_model_output_count(struct tenon_model *model)
{
	return model->ops->output_count(model);
}

static int check_index(const char *what, size_t index, size_t count)
{
	if (index < count)
		return 0;
	return tenon_error(-TENON_E_USAGE, "%s %zu of a model that has %zu", what, index, count);
}

int tenon_model_input(struct tenon_model *model, size_t index, struct tenon_port *out)
{
	int err = check_index("input", index, tenon_model_input_count(model));

	if (!err)
		model->ops->input(model, index, out);
	return err;
}

int tenon_model_output(struct tenon_model *model, size_t index, struct tenon_port *out)
{
	int err = check_index("output", index, tenon_model_output_count(model));
	struct heap *before;

	if (err)
		return err;
	before = heap_enter(model->heap); /* for its name */
	err = model->ops->output(model, index, out);
	heap_enter(before);
	return err;
}

/* number of names that a message lists */
#define NAMES_MOST 4

/* the inputs or the outputs, for code common to both */
struct side {
	const char *what;
	size_t (*count)(struct tenon_model *model);
	int (*port)(struct tenon_model *model, size_t index, struct tenon_port *out);
};

static const struct side inputs = { "input", tenon_model_input_count, tenon_model_input };
static const struct side outputs = { "output", tenon_model_output_count, tenon_model_output };

/* Append " It has "x", "y" and 7 more." Graphs list the caller's inputs before the parameters. */
static void print_names(struct tenon_model *model, const struct side *side,
			struct tenon_buffer *out)
{
	size_t i, n = side->count(model);
	struct tenon_port port;

	for (i = 0; i < n && i < NAMES_MOST; i++)
		if (!side->port(model, i, &port))
			tenon_buffer_printf(out, "%s\"%.*s\"", i ? ", " : " It has ",
					    (int)port.name.size, port.name.data);
	if (n > NAMES_MOST)
		tenon_buffer_printf(out, " and %zu more", n - NAMES_MOST);
	tenon_buffer_printf(out, n ? "." : " It has none.");
}

static int not_found(struct tenon_model *model, const struct side *side, struct tenon_slice name)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct nearest_name nearest = { .wanted = name };
	size_t i, n = side->count(model);
	struct tenon_port port;
	int err;

	for (i = 0; i < n; i++)
		if (!side->port(model, i, &port))
			nearest_name_offer(&nearest, port.name);
	if (nearest.count)
		nearest_name_print(&nearest, &text);
	else if (ERROR_MESSAGES)
		print_names(model, side, &text);
	err = tenon_error(-TENON_E_NOT_FOUND, "the model has no %s \"%.*s\".%s", side->what,
			  (int)name.size, name.data, text.data ? text.data : "");
	tenon_buffer_fini(&text);
	return err;
}

/* Number of a port, or -1, without an error. */
static int64_t port_index(struct tenon_model *model, const struct side *side,
			  struct tenon_slice name)
{
	size_t i, n = side->count(model);
	struct tenon_port port;

	for (i = 0; i < n; i++)
		if (!side->port(model, i, &port) && tenon_slice_equal(port.name, name))
			return (int64_t)i;
	return -1;
}

static int find_port(struct tenon_model *model, const struct side *side, struct tenon_slice name,
		     size_t *index)
{
	int64_t found = port_index(model, side, name);

	if (found < 0)
		return not_found(model, side, name);
	*index = (size_t)found;
	return 0;
}

int tenon_model_find_input(struct tenon_model *model, struct tenon_slice name, size_t *index)
{
	int64_t found;

	*index = 0;
	if (!model->ops->find_input)
		return find_port(model, &inputs, name, index);
	found = model->ops->find_input(model, name);
	if (found < 0)
		return not_found(model, &inputs, name);
	*index = (size_t)found;
	return 0;
}

int tenon_model_find_output(struct tenon_model *model, struct tenon_slice name, size_t *index)
{
	*index = 0;
	return find_port(model, &outputs, name, index);
}

/* ---- setting */

static int refuse_described(void)
{
	return tenon_error(-TENON_E_USAGE, "the model was opened to be looked at only");
}

bool tenon_model_input_is_set(struct tenon_model *model, size_t index)
{
	return index < tenon_model_input_count(model) && model->ops->input_is_set(model, index);
}

static int input_error(struct tenon_model *model, size_t index, int err)
{
	struct tenon_port port;

	if (!err)
		return 0;
	if (model->heap)
		err = model_lacks(model, err);
	model->ops->input(model, index, &port);
	return tenon_error_in(err, "input %zu (\"%.*s\")", index, (int)port.name.size,
			      port.name.data);
}

/* Test whether a value is a tensor whose data can be read. */
static int check_value(const struct tenon_value *value)
{
	const DLTensor *t = NULL;

	if (value->type == TENON_TYPE_DLTENSOR)
		t = value->as.pointer;
	else if (value->type == TENON_TYPE_TENSOR && value->as.object)
		t = &((const struct tenon_tensor *)value->as.object)->dl;
	return t ? tensor_check_data(t) : 0;
}

int tenon_model_set_input(struct tenon_model *model, size_t index, const struct tenon_value *value)
{
	int err = check_index("input", index, tenon_model_input_count(model));

	if (!err && model->describe)
		err = refuse_described();
	if (!err)
		err = input_error(model, index, check_value(value));
	return err ? err : input_error(model, index, model->ops->set_input(model, index, value));
}

int tenon_model_bind_input(struct tenon_model *model, size_t index, struct tenon_tensor *tensor)
{
	int err = check_index("input", index, tenon_model_input_count(model));

	if (!err && model->describe)
		err = refuse_described();
	if (!err)
		err = input_error(model, index, tensor_check_data(&tensor->dl));
	return err ? err : input_error(model, index, model->ops->bind_input(model, index, tensor));
}

static int set_param(struct tenon_model *model, size_t index, struct tenon_params *params,
		     const struct tenon_param *param)
{
	struct tenon_tensor *tensor;
	int err;

	if (model->ops->set_param)
		return model->ops->set_param(model, index, params, param);
	err = tenon_params_tensor(params, param, TENON_TENSOR_ALIGN, &tensor);
	if (err)
		return err;
	err = model->ops->bind_input(model, index, tensor);
	tenon_object_unref(tensor);
	return err;
}

static int set_params(struct tenon_model *model, struct tenon_params *params)
{
	const struct tenon_param *param;
	int64_t index;
	size_t i;
	int err = 0;

	for (i = 0; (param = tenon_params_at(params, i)) && !err; i++) {
		index = model->ops->find_input ? model->ops->find_input(model, param->name)
					       : port_index(model, &inputs, param->name);
		if (index >= 0)
			err = input_error(model, (size_t)index,
					  set_param(model, (size_t)index, params, param));
	}
	return err;
}

int tenon_model_set_params(struct tenon_model *model, struct tenon_params *params)
{
	struct heap *before = heap_enter(model->heap);
	int err = set_params(model, params);

	heap_enter(before);
	return err;
}

/* ---- running */

int model_needs_function(struct tenon_module *library, const char *name,
			 struct tenon_function **out)
{
	int err = tenon_module_get_function(library, name, out);

	return err == -TENON_E_NOT_FOUND
		       ? tenon_error(-TENON_E_NO_FUNCTION, "%s", tenon_error_message())
		       : err;
}

/* Compiled code returns only a status; the reason is in the thread's error slot. */
static int reason(int err)
{
	int status = err == -TENON_E_CALL ? tenon_error_status() : 0;

	return status ? status : err;
}

/* Add an operator to the trace, and call the program's profiler, if it set one. */
static void trace_op(void *context, size_t index, const struct tenon_op *op, uint64_t begin,
		     uint64_t end)
{
	const struct tenon_profiler *p = context;
	const struct trace_span span = { .category = "operator",
					 .name = op->name,
					 .function = op->function,
					 .begin = begin,
					 .end = end };

	trace_put(&span);
	if (p)
		p->op(p->context, index, op, begin, end);
}

static int run_traced(struct tenon_model *model, const struct tenon_profiler *profiler)
{
	const struct tenon_profiler tracing = { sizeof(tracing), trace_op,
						(void *)(uintptr_t)profiler };
	uint64_t begin = trace_begin();
	int err = model->ops->run_profiled(model, &tracing);

	/* a model on another machine, whose operators cannot be timed */
	if (err == -TENON_E_UNSUPPORTED && !profiler) {
		tenon_error_clear();
		err = model->ops->run(model);
	}
	trace_add("model", tenon_slice_of("run"), 0, begin);
	return err;
}

static int run_in_regions(struct tenon_model *model)
{
	struct model_scope scope;
	int err;

	model_enter(model, &scope);
	err = trace_on() ? run_traced(model, NULL) : model->ops->run(model);
	model_leave(&scope);
	return err ? model_lacks(model, reason(err)) : 0;
}

int tenon_model_run(struct tenon_model *model)
{
	int err;

	if (__builtin_expect(model->describe, 0))
		return refuse_described();
	if (__builtin_expect(model->heap != NULL, 0))
		err = run_in_regions(model);
	else
		err = trace_on() ? run_traced(model, NULL) : model->ops->run(model);
	if (__builtin_expect(err, 0))
		return reason(err);
	model->ran = true;
	return 0;
}

int tenon_model_run_profiled(struct tenon_model *model, const struct tenon_profiler *profiler)
{
	struct tenon_profiler p;
	int err = options_read(profiler, &p, sizeof(p));

	if (err)
		return err;
	if (model->describe)
		return refuse_described();
	err = trace_on() ? run_traced(model, &p) : model->ops->run_profiled(model, &p);
	if (err)
		return reason(err);
	model->ran = true;
	return 0;
}

int tenon_model_output_value(struct tenon_model *model, size_t index, struct tenon_value *out)
{
	struct heap *before;
	int err;

	*out = tenon_arg_none();
	if (!model->ran)
		return tenon_error(-TENON_E_USAGE, "an output is asked for before the first run");
	err = check_index("output", index, tenon_model_output_count(model));
	if (err)
		return err;
	before = heap_enter(model->heap);
	err = model->ops->output_value(model, index, out);
	heap_enter(before);
	return err && model->heap ? model_lacks(model, err) : err;
}

static int stream_round(struct tenon_model *model, const struct tenon_stream *s, uint64_t round)
{
	int stop;

	stop = s->fill(s->context, model, round);
	if (stop)
		return stop;
	stop = tenon_model_run(model);
	if (stop || !s->take)
		return stop;
	return s->take(s->context, model, round);
}

int tenon_model_stream(struct tenon_model *model, const struct tenon_stream *stream,
		       uint64_t *rounds)
{
	struct tenon_stream s;
	uint64_t round = 0;
	int stop = options_read(stream, &s, sizeof(s));

	if (rounds)
		*rounds = 0;
	if (stop)
		return stop;
	do
		stop = stream_round(model, &s, round);
	while (!stop && ++round);
	if (rounds)
		*rounds = round;
	return stop > 0 ? 0 : tenon_error_in(stop, "round %" PRIu64, round);
}

/* ---- inspection */

void tenon_model_memory(struct tenon_model *model, struct tenon_model_memory *out)
{
	*out = (struct tenon_model_memory){ 0 };
	if (model->ops->memory)
		model->ops->memory(model, out);
}

int tenon_model_each_op(struct tenon_model *model,
			int (*visit)(void *context, size_t index, const struct tenon_op *op),
			void *context)
{
	if (!model->ops->each_op)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "a model of kind \"%s\" has no list of its operators",
				   model->ops->kind);
	return model->ops->each_op(model, visit, context);
}

size_t tenon_model_value_count(struct tenon_model *model)
{
	return model->ops->value_count ? model->ops->value_count(model) : 0;
}

int tenon_model_value_at(struct tenon_model *model, size_t index, struct tenon_model_value *out)
{
	int err = check_index("value", index, tenon_model_value_count(model));

	return err ? err : model->ops->value(model, index, out);
}

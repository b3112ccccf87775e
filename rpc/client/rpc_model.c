/* SPDX-License-Identifier: MIT */
/*
 * Models that an executor of the server runs. The file here, which was sent, describes inputs and
 * operators; the executor is driven by the functions that all versions of TVM have.
 */
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/options.h"
#include "lib/slice_text.h"
#include "rpc/client/rpc.h"
#include "runtime/model/model.h"

#define DEVICES_MOST 8

/* allocators of TVM's Relax machine: 1 naive, 2 pooled */
#define POOLED 2

/* most inputs or outputs that a server may name */
#define PORTS_MOST 65536

/** struct rpc_port - an input, as the server's executor describes it */
struct rpc_port {
	struct tenon_value name;
	struct tenon_value tensor;
};

/**
 * struct rpc_model - a model
 * @base: the interface
 * @rpc: session
 * @described: the file here, opened to describe; NULL for ahead-of-time code, which only the server
 *	can describe
 * @ports: inputs of ahead-of-time code
 * @function: of a Relax model
 * @relax: a Relax machine
 * @device: where inputs are put
 * @there: the same on the server
 * @executor: module of the server
 * @set_input: its function, likewise the others
 * @inputs: on @device; NULL for one that is not set
 * @input_count: number of inputs
 * @changed: inputs of a Relax machine are to be set
 * @outputs: number of outputs; 0 before a Relax machine ran
 * @whole: a Relax machine's output is no tuple
 */
struct rpc_model {
	struct tenon_model base;
	struct rpc *rpc;
	struct tenon_model *described;
	struct rpc_port *ports;
	char *function;
	bool relax;
	struct tenon_device *device;
	DLDevice there;
	struct tenon_module *executor;
	struct tenon_function *set_input;
	struct tenon_function *run;
	struct tenon_function *get_output;
	struct tenon_function *get_arity;
	struct tenon_value *inputs;
	size_t input_count;
	bool changed;
	size_t outputs;
	bool whole;
};

static struct rpc_model *model_of(struct tenon_model *m)
{
	return (struct rpc_model *)m;
}

/* ---- description */

static size_t input_count(struct tenon_model *m)
{
	return model_of(m)->input_count;
}

static size_t output_count(struct tenon_model *m)
{
	return model_of(m)->outputs;
}

static void read_port(const struct rpc_port *p, struct tenon_port *out)
{
	DLTensor *dl;

	memset(out, 0, sizeof(*out));
	out->ndim = -1;
	if (tenon_value_tensor(&p->tensor, &dl)) {
		tenon_error_clear();
	} else {
		out->dtype = dl->dtype;
		out->ndim = dl->ndim;
		out->shape = dl->shape;
	}
	if (tenon_value_text(&p->name, &out->name)) {
		out->name = (struct tenon_slice){ "", 0 };
		tenon_error_clear();
	}
}

static void input(struct tenon_model *m, size_t index, struct tenon_port *out)
{
	if (!model_of(m)->described)
		read_port(&model_of(m)->ports[index], out);
	else if (tenon_model_input(model_of(m)->described, index, out))
		tenon_error_clear();
}

static int output(struct tenon_model *m, size_t index, struct tenon_port *out)
{
	struct tenon_model *described = model_of(m)->described;

	/* The number of outputs of a Relax model is the server's, and may differ. */
	if (described && index < tenon_model_output_count(described))
		return tenon_model_output(described, index, out);
	memset(out, 0, sizeof(*out));
	out->ndim = -1;
	return 0;
}

/* The server's executor has what the file asks for. */
static void memory(struct tenon_model *m, struct tenon_model_memory *out)
{
	if (model_of(m)->described)
		tenon_model_memory(model_of(m)->described, out);
}

static int64_t find_input(struct tenon_model *m, struct tenon_slice name)
{
	struct tenon_port port;
	size_t index;

	for (index = 0; index < model_of(m)->input_count; index++) {
		input(m, index, &port);
		if (tenon_slice_equal(port.name, name))
			return (int64_t)index;
	}
	return -1;
}

/* Parameters of the file are set on the server. */
static bool input_is_set(struct tenon_model *m, size_t index)
{
	return model_of(m)->inputs[index].type != TENON_TYPE_NONE ||
	       (model_of(m)->described && tenon_model_input_is_set(model_of(m)->described, index));
}

static int each_op(struct tenon_model *m,
		   int (*visit)(void *context, size_t index, const struct tenon_op *op),
		   void *context)
{
	if (model_of(m)->described)
		return tenon_model_each_op(model_of(m)->described, visit, context);
	return tenon_error(-TENON_E_UNSUPPORTED, "ahead-of-time code has no list of operators");
}

/* ---- inputs */

static bool same_type(const DLTensor *a, const DLTensor *b)
{
	return a->ndim == b->ndim && tenon_dtype_equal(a->dtype, b->dtype) &&
	       (!a->ndim || !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(*a->shape)));
}

/* A tensor on the server with the content of another; the one in @slot is used again if it fits. */
static int put_tensor(struct rpc_model *m, const DLTensor *from, struct tenon_value *slot)
{
	struct tenon_tensor *tensor;
	DLTensor *old;
	int err;

	if (slot->type == TENON_TYPE_TENSOR && !tenon_value_tensor(slot, &old) &&
	    same_type(old, from))
		return tenon_tensor_copy(from, old);
	err = tenon_tensor_create_on(tenon_device_id(m->device), from->shape, from->ndim,
				     from->dtype, &tensor);
	if (err)
		return err;
	err = tenon_tensor_copy(from, &tensor->dl);
	if (err) {
		tenon_object_unref(tensor);
		return err;
	}
	tenon_value_release(slot);
	*slot = tenon_arg_object(tensor);
	return 0;
}

/* A graph copies a tensor that it is given; a machine keeps it until set_input() is called again. */
static int give_input(struct rpc_model *m, size_t index)
{
	struct tenon_value args[2] = { tenon_arg_none(), m->inputs[index] };
	struct tenon_port port;
	int err;

	m->changed = true;
	if (m->relax)
		return 0;
	input(&m->base, index, &port);
	err = tenon_string_value(port.name, &args[0]);
	if (!err)
		err = rpc_post_call(&m->rpc->base, m->set_input, args, 2);
	tenon_value_release(&args[0]);
	return err;
}

/* What the file says about an input: the server's message names neither. */
static int check_input(struct rpc_model *m, size_t index, const DLTensor *dl)
{
	char has[TENON_DTYPE_NAME], given[TENON_DTYPE_NAME];
	struct tenon_port port;
	int32_t i;

	input(&m->base, index, &port);
	if (port.dtype.bits && !tenon_dtype_equal(port.dtype, dl->dtype))
		return tenon_error(-TENON_E_TYPE, "the input is of %s, given is %s",
				   tenon_dtype_name(port.dtype, has),
				   tenon_dtype_name(dl->dtype, given));
	if (port.ndim < 0)
		return 0;
	if (port.ndim != dl->ndim)
		return tenon_error(-TENON_E_VALUE, "the input has %d dimensions, given are %d",
				   port.ndim, dl->ndim);
	for (i = 0; i < port.ndim; i++)
		if (port.shape[i] >= 0 && port.shape[i] != dl->shape[i])
			return tenon_error(-TENON_E_VALUE,
					   "dimension %d of the input is %lld, given is %lld", i,
					   (long long)port.shape[i], (long long)dl->shape[i]);
	return 0;
}

static int set_input(struct tenon_model *base, size_t index, const struct tenon_value *value)
{
	struct rpc_model *m = model_of(base);
	DLTensor *dl;
	int err;

	if (value->type == TENON_TYPE_TENSOR || value->type == TENON_TYPE_DLTENSOR) {
		err = tenon_value_tensor(value, &dl);
		if (!err)
			err = check_input(m, index, dl);
		if (!err)
			err = put_tensor(m, dl, &m->inputs[index]);
	} else {
		tenon_value_release(&m->inputs[index]);
		err = tenon_value_own(value, &m->inputs[index]);
	}
	return err ? err : give_input(m, index);
}

/* Another machine cannot read a tensor in place. */
static int bind_input(struct tenon_model *base, size_t index, struct tenon_tensor *tensor)
{
	const struct tenon_value value = tenon_arg_object(tensor);

	return set_input(base, index, &value);
}

/* ---- running */

/* set_input(function, all inputs) of a Relax machine */
static int give_all(struct rpc_model *m)
{
	struct tenon_value *args = calloc(m->input_count + 1, sizeof(*args));
	size_t i;
	int err;

	if (!args)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu inputs", m->input_count);
	args[0] = tenon_arg_string(m->function);
	for (i = 0; i < m->input_count; i++)
		args[i + 1] = m->inputs[i];
	err = rpc_post_call(&m->rpc->base, m->set_input, args, (int32_t)m->input_count + 1);
	free(args);
	return err;
}

static int check_set(struct rpc_model *m)
{
	struct tenon_port port;
	size_t i;

	for (i = 0; i < m->input_count; i++)
		if (!input_is_set(&m->base, i)) {
			input(&m->base, i, &port);
			return tenon_error(-TENON_E_USAGE, "input %zu (\"%.*s\") is not set", i,
					   (int)port.name.size, port.name.data);
		}
	return 0;
}

static int read_arity(struct rpc_model *m)
{
	struct tenon_value arity = tenon_arg_none();
	int64_t count = 0;
	int err = tenon_call(m->get_arity, &arity, tenon_arg_string(m->function));

	if (!err)
		err = tenon_value_int(&arity, &count);
	tenon_value_release(&arity);
	if (err)
		return err;
	m->whole = count < 0;
	m->outputs = count < 0 ? 1 : (size_t)count;
	return 0;
}

static int run_remote(struct tenon_model *base)
{
	struct rpc_model *m = model_of(base);
	struct tenon_value ret = tenon_arg_none();
	int err = check_set(m);

	if (!err && m->relax && m->changed)
		err = give_all(m);
	m->changed = false;
	if (err)
		return err;
	err = m->relax ? tenon_call(m->run, &ret, tenon_arg_string(m->function))
		       : tenon_call(m->run, &ret);
	tenon_value_release(&ret);
	return err || !m->relax || m->outputs ? err : read_arity(m);
}

static int run_profiled(struct tenon_model *m, const struct tenon_profiler *p)
{
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "operators of a model on another machine cannot be timed from here");
}

static int output_value(struct tenon_model *base, size_t index, struct tenon_value *out)
{
	struct rpc_model *m = model_of(base);
	const struct tenon_value args[2] = { tenon_arg_string(m->function),
					     tenon_arg_int((int64_t)index) };

	*out = tenon_arg_none();
	if (m->relax)
		return tenon_function_call(m->get_output, args, m->whole ? 1 : 2, out);
	return tenon_function_call(m->get_output, args + 1, 1, out);
}

static void destroy(struct tenon_model *base)
{
	struct rpc_model *m = model_of(base);
	size_t i;

	for (i = 0; i < m->input_count && m->inputs; i++)
		tenon_value_release(&m->inputs[i]);
	for (i = 0; i < m->input_count && m->ports; i++) {
		tenon_value_release(&m->ports[i].name);
		tenon_value_release(&m->ports[i].tensor);
	}
	free(m->inputs);
	free(m->ports);
	tenon_object_unref(m->set_input);
	tenon_object_unref(m->run);
	tenon_object_unref(m->get_output);
	tenon_object_unref(m->get_arity);
	tenon_object_unref(m->executor);
	tenon_object_unref(m->device);
	tenon_model_close(m->described);
	rpc_unref(m->rpc);
	free(m->function);
	free(m);
}

/* ---- opening */

#define OPS(name)                                                                                  \
	{                                                                                          \
		.kind = name, .input_count = input_count, .output_count = output_count,            \
		.input = input, .output = output, .find_input = find_input,                        \
		.input_is_set = input_is_set, .set_input = set_input, .bind_input = bind_input,    \
		.run = run_remote, .run_profiled = run_profiled, .output_value = output_value,     \
		.each_op = each_op, .memory = memory, .destroy = destroy,                          \
	}

static const struct model_ops kinds[] = { OPS("graph"), OPS("aot"), OPS("relax") };

static const struct model_ops *ops_of(const struct tenon_model *described)
{
	size_t i;

	if (!described)
		return &kinds[1];

	for (i = 0; i < 2 && described; i++)
		if (!strcmp(kinds[i].kind, tenon_model_kind(described)))
			break;
	return &kinds[i];
}

static int find(struct tenon_module *module, const char *name, struct tenon_function **out)
{
	int err = tenon_module_find_function(module, tenon_slice_of(name), false, out);

	if (!err && !*out)
		err = tenon_error(-TENON_E_NO_FUNCTION, "the server's executor has no function %s",
				  name);
	return err;
}

static int take_module(struct tenon_function *function, const struct tenon_value *args,
		       int32_t count, struct tenon_module **out)
{
	struct tenon_value ret = tenon_arg_none();
	int err = tenon_function_call(function, args, count, &ret);

	*out = NULL;
	if (!err)
		err = tenon_value_object(&ret, TENON_TYPE_MODULE, out);
	if (err)
		tenon_value_release(&ret);
	return err;
}

/* The devices there: what the options say, or the processor. */
static int read_devices(struct rpc *r, const struct tenon_model_options *o,
			DLDevice there[DEVICES_MOST], size_t *count)
{
	size_t i;
	int err = 0;

	there[0] = rpc_cpu();
	*count = o->device_count ? o->device_count : 1;
	if (*count > DEVICES_MOST - 1)
		return tenon_error(-TENON_E_VALUE, "%zu devices, at most %d", *count,
				   DEVICES_MOST - 1);
	for (i = 0; i < o->device_count && !err; i++)
		err = rpc_device_there(r, o->devices[i], &there[i]);
	return err;
}

static int open_factory(struct rpc_model *m, struct tenon_module *root, const char *name,
			const DLDevice *there, size_t count)
{
	struct tenon_value args[DEVICES_MOST];
	struct tenon_function *make;
	size_t i;
	int err = find(root, name ? name : "default", &make);

	if (err)
		return err;
	for (i = 0; i < count; i++)
		args[i] = tenon_arg_device(there[i]);
	err = take_module(make, args, (int32_t)count, &m->executor);
	tenon_object_unref(make);
	return err ? err : find(m->executor, "run", &m->run);
}

static int initialise(struct rpc_model *m, const DLDevice *there, size_t count)
{
	struct tenon_value args[3 * DEVICES_MOST], ret = tenon_arg_none();
	struct tenon_function *begin;
	int32_t n = 0;
	size_t i;
	int err = find(m->executor, "vm_initialization", &begin);

	if (err)
		return err;
	for (i = 0; i < count; i++) {
		args[n++] = tenon_arg_int(there[i].device_type);
		args[n++] = tenon_arg_int(there[i].device_id);
		args[n++] = tenon_arg_int(POOLED);
	}
	/* the host comes last */
	if (there[count - 1].device_type != kDLCPU) {
		args[n++] = tenon_arg_int(kDLCPU);
		args[n++] = tenon_arg_int(0);
		args[n++] = tenon_arg_int(POOLED);
	}
	err = tenon_function_call(begin, args, n, &ret);
	tenon_value_release(&ret);
	tenon_object_unref(begin);
	return err;
}

static int open_machine(struct rpc_model *m, struct tenon_module *root, const DLDevice *there,
			size_t count)
{
	struct tenon_function *make;
	int err = find(root, "vm_load_executable", &make);

	if (err)
		return err;
	err = take_module(make, NULL, 0, &m->executor);
	tenon_object_unref(make);
	if (!err)
		err = initialise(m, there, count);
	if (!err)
		err = find(m->executor, "invoke_stateful", &m->run);
	return err ? err : find(m->executor, "get_output_arity", &m->get_arity);
}

/* ---- ahead-of-time code: its executor tells names and tensors */

static int call_number(struct rpc_model *m, const char *name, size_t *out)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	int64_t number = 0;
	int err = find(m->executor, name, &f);

	if (err)
		return err;
	err = tenon_call(f, &ret);
	tenon_object_unref(f);
	if (!err)
		err = tenon_value_int(&ret, &number);
	tenon_value_release(&ret);
	if (!err && (number < 0 || number > PORTS_MOST))
		err = tenon_error(-TENON_E_FORMAT, "%s returned %lld, at most %d are accepted",
				  name, (long long)number, PORTS_MOST);
	*out = (size_t)number;
	return err;
}

static int ask_ports(struct rpc_model *m)
{
	struct tenon_function *name = NULL, *tensor = NULL;
	size_t i, count = 0;
	int err;

	err = call_number(m, "get_num_inputs", &count);
	if (!err)
		err = call_number(m, "get_num_outputs", &m->outputs);
	if (!err)
		err = find(m->executor, "get_input_name", &name);
	if (!err)
		err = find(m->executor, "get_input", &tensor);
	m->ports = calloc(count + 1, sizeof(*m->ports));
	m->inputs = calloc(count + 1, sizeof(*m->inputs));
	if (!err && (!m->ports || !m->inputs))
		err = tenon_error(-TENON_E_NOMEM, "no memory for %zu inputs", count);
	m->input_count = err ? 0 : count;
	for (i = 0; i < m->input_count && !err; i++) {
		err = tenon_call(name, &m->ports[i].name, tenon_arg_int((int64_t)i));
		if (!err)
			err = tenon_call(tensor, &m->ports[i].tensor, tenon_arg_int((int64_t)i));
	}
	tenon_object_unref(name);
	tenon_object_unref(tensor);
	return err;
}

static int open_executor(struct rpc_model *m, struct tenon_module *root,
			 const struct tenon_model_options *o)
{
	DLDevice there[DEVICES_MOST];
	size_t count;
	int err = read_devices(m->rpc, o, there, &count);

	if (err)
		return err;
	m->there = there[0];
	err = rpc_device_of(&m->rpc->base, m->there, &m->device);
	if (!err)
		err = m->relax ? open_machine(m, root, there, count)
			       : open_factory(m, root, o->function, there, count);
	if (!err)
		err = find(m->executor, "set_input", &m->set_input);
	if (!err)
		err = find(m->executor, "get_output", &m->get_output);
	return err || m->described ? err : ask_ports(m);
}

struct names {
	struct tenon_slice only;
	size_t count;
	bool main;
};

static int note_name(void *context, struct tenon_slice name)
{
	struct names *names = context;

	names->main |= slice_is(name, "main");
	names->only = name;
	names->count++;
	return 0;
}

/* The function of an executable, as tenon_model_open() chooses it. */
static char *choose_function(struct tenon_module *local, const char *wanted)
{
	struct names names = { .count = 0 };

	if (wanted)
		return strdup(wanted);
	if (tenon_module_each_function(local, note_name, &names))
		tenon_error_clear();
	if (names.main || names.count != 1)
		return strdup("main");
	return strndup(names.only.data, names.only.size);
}

static int describe_with_local(struct rpc_model *m, struct tenon_module *local,
			       const struct tenon_model_options *o)
{
	const struct tenon_model_options options = { .size = sizeof(options),
						     .function = o->function,
						     .describe = true };
	int err = tenon_model_open(local, &options, &m->described);

	if (err == -TENON_E_UNSUPPORTED && slice_is(local->kind, "AotExecutorFactory")) {
		tenon_error_clear();
		return 0;
	}
	if (err)
		return err;
	m->relax = ops_of(m->described) == &kinds[2];
	m->input_count = tenon_model_input_count(m->described);
	m->outputs = m->relax ? 0 : tenon_model_output_count(m->described);
	m->inputs = calloc(m->input_count + 1, sizeof(*m->inputs));
	m->function = choose_function(local, o->function);
	if (!m->inputs || !m->function)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu inputs", m->input_count);
	return 0;
}

int rpc_open_model(struct tenon_remote *remote, struct tenon_module *module,
		   const struct tenon_model_options *options, struct tenon_model **out)
{
	struct tenon_module *local = rpc_module_local(module);
	struct tenon_model_options o;
	struct rpc_model *m;
	int err = options_read(options, &o, sizeof(o));

	*out = NULL;
	if (err)
		return err;
	if (!local)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "the module was not opened from a file here "
				   "(tenon_remote_open()), so its inputs are not known");
	m = calloc(1, sizeof(*m));
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a model");
	m->rpc = rpc_of(remote);
	tenon_object_ref(remote);
	err = describe_with_local(m, local, &o);
	if (!err)
		err = open_executor(m, module, &o);
	if (err) {
		destroy(&m->base);
		return err;
	}
	model_init(&m->base, ops_of(m->described), module, &o);
	*out = &m->base;
	return 0;
}

int rpc_time_model(struct tenon_remote *remote, struct tenon_model *model,
		   const struct tenon_remote_timing *timing, struct tenon_buffer *seconds)
{
	struct rpc_model *m = model_of(model);
	struct tenon_value name;
	int err;

	if (model->ops < kinds || model->ops > &kinds[2] || &m->rpc->base != remote)
		return tenon_error(-TENON_E_TYPE, "the model is none of this session");
	err = check_set(m);
	if (!err && m->relax && m->changed)
		err = give_all(m);
	if (err)
		return err;
	m->changed = false;
	name = tenon_arg_string(m->function);
	return m->relax ? rpc_time(remote, m->executor, "invoke_stateful", m->there, timing, &name,
				   1, seconds)
			: rpc_time(remote, m->executor, "run", m->there, timing, NULL, 0, seconds);
}

/* SPDX-License-Identifier: MIT */
/* Open a model from a file, set or fill its inputs, explain what is missing. */
#include "tools/opened_model/model.h"

#include <inttypes.h>
#include <string.h>

#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>

#include "runtime/model/executors.h"
#include "tools/device_option/kernel_devices.h"
#include "tools/file/file.h"
#include "tools/tensor/spec.h"

bool model_is_root(const struct tenon_module *m)
{
	return executor_has_kind(m->kind);
}

static bool on_processor(const struct model_source *source)
{
	return !source->devices || (!source->devices->count && !source->devices->remote);
}

static int open_params(struct cli *cli, const struct model_source *source,
		       struct tenon_params **out)
{
	int err = model_params_open(&source->params, out);

	if (!err && on_processor(source))
		model_params_note_copies(source->params.paths[0], *out, cli->err);
	/* A name that --rename wants is not that of a model in the file. */
	return err == -TENON_E_NOT_FOUND ? -TENON_E_USAGE : err;
}

static int check_params(struct tenon_model *model, const struct model_source *source,
			struct tenon_params *params)
{
	int err = tenon_model_check_params(model, params, source->params.partial);

	return err ? tenon_error_in(err, "%s", source->params.paths[0]) : 0;
}

static int open_graph(struct cli *cli, const struct model_source *source,
		      struct tenon_module *module, const struct tenon_model_options *o,
		      struct tenon_model **out)
{
	struct tenon_buffer json = TENON_BUFFER_INIT;
	struct tenon_params *params = NULL;
	int err;

	err = file_read_text(source->graph, &json);
	if (!err && source->params.count)
		err = open_params(cli, source, &params);
	if (!err) {
		err = tenon_model_open_graph(module, (struct tenon_slice){ json.data, json.size },
					     params, o, out);
		if (err)
			tenon_error_in(err, "%s", source->graph);
	}
	if (!err && params)
		err = check_params(*out, source, params);
	if (err) {
		tenon_model_close(*out);
		*out = NULL;
	}
	tenon_object_unref(params);
	tenon_buffer_fini(&json);
	return err;
}

static int open_root(struct cli *cli, const struct model_source *source,
		     struct tenon_module *module, const struct tenon_model_options *o,
		     struct tenon_model **out)
{
	struct tenon_params *params;
	int err;

	err = source->devices && source->devices->remote && !o->describe
		      ? tenon_remote_open_model(source->devices->remote, module, o, out)
		      : tenon_model_open(module, o, out);
	if (err)
		return tenon_error_in(err, "%s", source->file);
	if (!source->params.count)
		return 0;
	err = open_params(cli, source, &params);
	if (!err)
		err = check_params(*out, source, params);
	/* a model that is only described takes no values */
	if (!err && !o->describe) {
		err = tenon_model_set_params(*out, params);
		if (err)
			tenon_error_in(err, "%s", source->params.paths[0]);
	}
	tenon_object_unref(params);
	if (err) {
		tenon_model_close(*out);
		*out = NULL;
	}
	return err;
}

int model_open(struct cli *cli, const struct model_source *source, struct tenon_module *module,
	       bool describe, struct tenon_model **out)
{
	struct tenon_model_options o = { .size = sizeof(o),
					 .function = source->function,
					 .describe = describe };
	int err;

	if (source->devices) {
		o.devices = source->devices->id;
		o.device_count = source->devices->count;
	}
	if (source->graph && source->devices && source->devices->remote)
		return cli_usage(cli, "--graph: a model on another machine is one file");
	err = source->graph ? open_graph(cli, source, module, &o, out)
			    : open_root(cli, source, module, &o, out);
	if (source->devices && (err == -TENON_E_DEVICE || (err && source->devices->remote)))
		return kernel_devices_error(cli, source->file, source->tree, source->devices,
					    cli_exit_of(err, CLI_NO_FILE));
	if (err != -TENON_E_NOT_FOUND)
		return err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : 0;
	if (source->function)
		tenon_error_in(err, "--function %s", source->function);
	else
		tenon_error_in(err, "choose with --function");
	return cli_error(cli, CLI_USAGE);
}

/* ---- inputs */

static int next_unset(struct tenon_model *model, size_t *index)
{
	size_t n = tenon_model_input_count(model);

	for (*index = 0; *index < n; ++*index)
		if (!tenon_model_input_is_set(model, *index))
			return 0;
	return tenon_error(-TENON_E_USAGE, "the model has %zu inputs, and all have a content", n);
}

static int set_input(struct tenon_model *model, const struct argument *a)
{
	size_t index;
	int err;

	err = a->spec.name.size ? tenon_model_find_input(model, a->spec.name, &index)
				: next_unset(model, &index);
	/* Bind aligned memory that outlives the run, without a copy. */
	if (!err && a->tensor && !tenon_model_bind_input(model, index, a->tensor))
		return 0;
	if (err)
		return err;
	tenon_error_clear();
	return tenon_model_set_input(model, index, &a->value);
}

/* The first item of a tuple sets the whole tuple. */
static bool is_later_item(struct tenon_model *model, const struct argument *list, size_t i,
			  size_t input)
{
	size_t k, other;

	for (k = 0; k < i; k++)
		if (list[k].spec.role == SPEC_INPUT && list[k].spec.name.size &&
		    model_tuple_input(model, &list[k], &other) && other == input)
			return true;
	return false;
}

int model_set_inputs(struct cli *cli, struct tenon_model *model, const struct argument *list,
		     size_t count)
{
	size_t i, input;
	int err;

	for (i = 0; i < count; i++) {
		if (list[i].spec.role != SPEC_INPUT)
			continue;
		if (!list[i].spec.name.size || !model_tuple_input(model, &list[i], &input))
			err = set_input(model, &list[i]);
		else if (!is_later_item(model, list, i, input))
			err = model_tuple_set(model, input, list, count);
		else
			continue;
		if (!err)
			continue;
		tenon_error_in(err, "--input %s", list[i].spec.text);
		return cli_error(cli, err == -TENON_E_NOT_FOUND || err == -TENON_E_USAGE
					      ? CLI_USAGE
					      : CLI_FAILED);
	}
	return 0;
}

/* Append "--input NAME=SPEC" as a shell takes it. */
static void print_option(struct tenon_slice name, const char *spec, struct tenon_buffer *out)
{
	struct tenon_buffer word = TENON_BUFFER_INIT;
	const char *quote;

	spec_print_name(name, &word);
	tenon_buffer_printf(&word, "=%s", spec);
	quote = word.data && strpbrk(word.data, " \t\"$`\\;&|<>()*?[]{}!#~") ? "'" : "";
	tenon_buffer_printf(out, "--input %s%s%s", quote, word.data ? word.data : "", quote);
	tenon_buffer_fini(&word);
}

/* Append an option with random numbers, with 1 for an extent that is not fixed. */
static void print_example(const struct tenon_port *port, struct tenon_buffer *out)
{
	struct tenon_buffer spec = TENON_BUFFER_INIT;
	char name[TENON_DTYPE_NAME];
	int32_t i;

	for (i = 0; i < port->ndim; i++)
		tenon_buffer_printf(&spec, "%" PRId64 "x", port->shape[i] < 0 ? 1 : port->shape[i]);
	tenon_buffer_printf(&spec, "%s=random:1", tenon_dtype_name(port->dtype, name));
	print_option(port->name,
		     port->ndim < 0 || !port->dtype.bits || !spec.data ? "@FILE.npy" : spec.data,
		     out);
	tenon_buffer_fini(&spec);
}

/* "1x?xfloat32" */
static void print_type(const struct tenon_port *port, struct tenon_buffer *out)
{
	char name[TENON_DTYPE_NAME];
	int32_t i;

	if (port->ndim < 0 && !port->dtype.bits) {
		tenon_buffer_printf(out, "tensor");
		return;
	}
	if (port->ndim < 0)
		tenon_buffer_printf(out, "…x");
	for (i = 0; i < port->ndim; i++)
		if (port->shape[i] < 0)
			tenon_buffer_printf(out, "?x");
		else
			tenon_buffer_printf(out, "%" PRId64 "x", port->shape[i]);
	tenon_buffer_printf(out, "%s",
			    port->dtype.bits ? tenon_dtype_name(port->dtype, name) : "?");
}

int model_need_inputs(struct cli *cli, const struct model_source *source, struct tenon_model *model)
{
	struct tenon_params *params = NULL;
	struct tenon_buffer text = TENON_BUFFER_INIT;
	size_t i, missing = 0, n = tenon_model_input_count(model);
	struct tenon_port port;
	int code = 0;

	for (i = 0; i < n; i++) {
		if (tenon_model_input_is_set(model, i) || tenon_model_input(model, i, &port))
			continue;
		tenon_buffer_printf(&text, "%sinput \"%.*s\" was not given; it is a ",
				    missing++ ? "\n" : "", (int)port.name.size, port.name.data);
		print_type(&port, &text);
		tenon_buffer_printf(&text, ": ");
		print_option(port.name, "@FILE.npy", &text);
		if (port.ndim >= 0 && port.dtype.bits) {
			tenon_buffer_printf(&text, " or, as a trial, ");
			print_example(&port, &text);
		}
		if (source->params.count &&
		    (params || !model_params_open(&source->params, &params)))
			model_params_advise(params, &port, &text);
	}
	tenon_object_unref(params);
	tenon_error_clear();
	if (missing)
		code = cli_usage(cli, "%s: %s", source->file, text.data ? text.data : "");
	tenon_buffer_fini(&text);
	return code;
}

/* Refuse an input that random numbers cannot fill: it has no fixed type. */
static int refuse_input(const struct tenon_port *port)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err;

	print_type(port, &text);
	tenon_buffer_printf(&text, ", whose type is not fixed: ");
	print_example(port, &text);
	err = tenon_error(-TENON_E_USAGE, "input \"%.*s\" is a %s", (int)port->name.size,
			  port->name.data, text.data ? text.data : "");
	tenon_buffer_fini(&text);
	return err;
}

static int fill_input(struct tenon_model *model, size_t index)
{
	struct tenon_tensor *tensor;
	struct tenon_value value;
	struct tenon_port port;
	uint64_t elements;
	int32_t i;
	int err;

	err = tenon_model_input(model, index, &port);
	for (i = 0; !err && (port.ndim < 0 || i < port.ndim); i++)
		if (port.ndim < 0 || port.shape[i] < 0)
			err = refuse_input(&port);
	if (!err && !port.dtype.bits)
		err = refuse_input(&port);
	if (!err)
		err = tenon_tensor_create(port.shape, port.ndim, port.dtype, &tensor);
	if (err)
		return err;
	err = tenon_tensor_elements(&tensor->dl, &elements);
	if (!err)
		spec_random(tensor->dl.data, elements * port.dtype.lanes, port.dtype, index + 1);
	value = tenon_arg_object(tensor);
	if (!err)
		err = tenon_model_set_input(model, index, &value);
	tenon_object_unref(tensor);
	return err;
}

int model_fill_inputs(struct cli *cli, struct tenon_model *model)
{
	size_t i, n = tenon_model_input_count(model);
	int err = 0;

	for (i = 0; i < n && !err; i++)
		if (!tenon_model_input_is_set(model, i))
			err = fill_input(model, i);
	return err ? cli_error(cli, CLI_USAGE) : 0;
}

int64_t model_find_output(struct tenon_model *model, const struct spec *spec, size_t next)
{
	size_t index;

	if (!spec->name.size)
		return next < tenon_model_output_count(model) ? (int64_t)next : -1;
	return tenon_model_find_output(model, spec->name, &index) ? -1 : (int64_t)index;
}

/* SPDX-License-Identifier: MIT */
/* Run a whole model as often as asked, and write its outputs. */
#include <stdlib.h>
#include <string.h>

#include <tenon/backend/module_kind.h>

#include "lib/clock.h"
#include "tools/cli/progress.h"
#include "tools/device_option/kernel_devices.h"
#include "tools/device_option/target_list.h"
#include "tools/run/run.h"
#include "tools/tensor/array_file.h"
#include "tools/tensor/element.h"

int run_model_failed(struct cli *cli, const struct run *run)
{
	int status = tenon_error_status();

	tenon_error_in(status, "%s", run->options.file);
	if (status == -TENON_E_USAGE)
		return cli_error(cli, CLI_USAGE);
	return kernel_devices_error(cli, run->options.file, run_tree(run), &run->targets,
				    cli_exit_of(status, CLI_FAILED));
}

/* ---- opening */

/*
 * Test whether --function names a function of a Relax file that is not a model, mostly in its
 * library.
 */
static bool only_a_function(const char *name, struct tenon_module *module)
{
	struct tenon_model_options o = { .size = sizeof(o), .function = name, .describe = true };
	struct tenon_function *f = NULL;
	struct tenon_model *model;
	int err;

	err = tenon_model_open(module, &o, &model);
	if (!err)
		tenon_model_close(model);
	if (err == -TENON_E_NOT_FOUND)
		tenon_module_find_function(module, tenon_slice_of(name), true, &f);
	tenon_error_clear();
	tenon_object_unref(f);
	return f;
}

bool run_is_model(const struct run *run)
{
	const struct tenon_module *tree = run_tree(run);
	const char *function = run->options.function;

	if (run->options.graph)
		return true;
	if (!model_is_root(tree))
		return false;
	/* Any function other than the one that creates the model is called as a function. */
	return !function || !strcmp(function, "default") ||
	       (!strncmp(tree->kind.data, "relax.", 6) &&
		!only_a_function(function, run_tree(run)));
}

static struct model_source source_of(const struct run *run)
{
	const struct run_options *o = &run->options;

	return (struct model_source){ o->file,	   o->graph,	  o->params,
				      o->function, &run->targets, run_tree(run) };
}

int run_open_model(struct cli *cli, struct run *run)
{
	const struct model_source source = source_of(run);

	kernels_build(&run->kernels, run->module, &run->targets);
	return model_open(cli, &source, run->module, false, &run->model);
}

static int open_model(struct cli *cli, struct run *run)
{
	const struct model_source source = source_of(run);
	int code = run_open_model(cli, run);

	if (!code)
		code = model_set_inputs(cli, run->model, run->arguments.at, run->arguments.count);
	/* --stream reads one of the inputs */
	if (!code && !run->options.stream)
		code = model_need_inputs(cli, &source, run->model);
	return code;
}

/* ---- outputs */

int run_take_outputs(struct run *run)
{
	size_t n = tenon_model_output_count(run->model);
	struct results *r = &run->results;
	struct tenon_value *at = realloc(r->at, (n + 1) * sizeof(*at));
	int err = 0;

	if (!at)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu outputs", n);
	r->at = at;
	while (!err && r->count < n) {
		err = tenon_model_output_value(run->model, r->count, &at[r->count]);
		if (err)
			break;
		err = target_fetch(&at[r->count++]);
	}
	return err;
}

static bool is_of_type(const DLTensor *t, const struct spec *spec)
{
	return spec->ndim == t->ndim &&
	       (!t->ndim || !memcmp(spec->shape, t->shape, (size_t)t->ndim * sizeof(*t->shape))) &&
	       tenon_dtype_equal(element_storage(spec->dtype), element_storage(t->dtype));
}

/* Write an output to the file of --output; the types must match. */
static int write_output(struct cli *cli, const struct run *run, const struct spec *spec,
			size_t next)
{
	int64_t index = model_find_output(run->model, spec, next);
	char given[TYPE_TEXT], has[TYPE_TEXT];
	const struct results *r = &run->results;
	DLTensor *t;

	if (index < 0) {
		tenon_error_clear();
		return cli_usage(cli, "--output %s: the model has %zu output%s, and none for this",
				 spec->text, r->count, r->count == 1 ? "" : "s");
	}
	if (tenon_value_tensor(&r->at[index], &t)) {
		tenon_error_clear();
		return cli_usage(cli, "--output %s: output %lld is a %s, no tensor", spec->text,
				 (long long)index, tenon_type_key(r->at[index].type));
	}
	if (spec->form == SPEC_TENSOR && !is_of_type(t, spec))
		return cli_usage(cli, "--output %s: the output is a %s, not a %s", spec->text,
				 type_text(t->shape, t->ndim, t->dtype, has),
				 type_text(spec->shape, spec->ndim, spec->dtype, given));
	if (!spec->write)
		return 0;
	progress_say("writing %s", spec->write);
	return array_file_write(spec->write, t) ? cli_error(cli, CLI_NO_FILE) : 0;
}

static int write_outputs(struct cli *cli, const struct run *run)
{
	const struct arguments *a = &run->arguments;
	size_t i, next = 0;
	int code = 0;

	for (i = 0; i < a->count && !code; i++)
		if (a->at[i].spec.role == SPEC_OUTPUT)
			code = write_output(cli, run, &a->at[i].spec, next++);
	return code;
}

/* ---- running */

static int run_loaded(struct run *run)
{
	const char *file = run->options.file;
	struct times *times = &run->times;
	uint64_t i, start;
	int err = 0;

	if (run->options.profile || times->count > 1)
		kernels_wait(&run->kernels);
	for (i = 0; i < times->count && !err; i++) {
		if (times->count > 1)
			progress_say("running %s, %llu of %llu", file, (unsigned long long)i + 1,
				     (unsigned long long)times->count);
		else
			progress_say("running %s", file);
		start = clock_now();
		err = run->options.profile ? profile_run(&run->operators, run->model)
					   : tenon_model_run(run->model);
		if (!err)
			err = target_list_wait(&run->targets);
		times->ns[i] = clock_now() - start;
	}
	return err ? err : run_take_outputs(run);
}

int run_model(struct cli *cli, struct run *run)
{
	int code = open_model(cli, run);

	if (code)
		return code;
	if (run->options.stream)
		return run_stream(cli, run);
	if (run_loaded(run))
		return run_model_failed(cli, run);
	code = write_outputs(cli, run);
	if (!code && run->options.profile && !run->options.json &&
	    profile_print(&run->operators, cli->out))
		code = cli_error(cli, CLI_FAILED);
	return code;
}

void run_close_model(struct run *run)
{
	profile_fini(&run->operators);
	tenon_model_close(run->model);
}

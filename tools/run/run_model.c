/* SPDX-License-Identifier: MIT */
/* tenon run, of a whole model */
#include <stdlib.h>
#include <string.h>

#include <tenon/backend/module_kind.h>

#include "lib/clock.h"
#include "tools/cli/progress.h"
#include "tools/model/model.h"
#include "tools/run/run.h"
#include "tools/run/run_device.h"
#include "tools/run/run_write.h"
#include "tools/target/target.h"
#include "tools/tensor/element.h"
#include "tools/tensor/print.h"
#include "tools/text/printable.h"

int run_model_failed(struct cli *cli, const struct run *run)
{
	int status = tenon_error_status();

	tenon_error_in(status, "%s", run->file);
	return cli_error(cli,
			 status == -TENON_E_USAGE ? CLI_USAGE : cli_exit_of(status, CLI_FAILED));
}

static int run_once(struct run *run, struct profile *profile)
{
	int err = profile ? profile_run(profile, run->model) : tenon_model_run(run->model);

	return err ? err : target_list_wait(&run->devices);
}

static int run_often(struct cli *cli, struct run *run, struct profile *profile)
{
	uint64_t i, start;
	int err;

	for (i = 0; i < run->repeat; i++) {
		if (run->repeat > 1)
			progress_say("running %s, %llu of %llu", run->file, (unsigned long long)i + 1,
				  (unsigned long long)run->repeat);
		else
			progress_say("running %s", run->file);
		start = clock_now();
		err = run_once(run, profile);
		run->ns[i] = clock_now() - start;
		if (err)
			return run_model_failed(cli, run);
	}
	return 0;
}

void run_model_drop_outputs(struct run *run)
{
	size_t i;

	for (i = 0; i < run->model_output_count; i++)
		tenon_value_release(&run->model_outputs[i]);
	run->model_output_count = 0;
}

int run_model_take_outputs(struct run *run)
{
	size_t n = tenon_model_output_count(run->model);
	struct tenon_value *outputs = realloc(run->model_outputs, (n + 1) * sizeof(*outputs));
	int err = 0;

	if (!outputs)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu outputs", n);
	run->model_outputs = outputs;
	while (!err && run->model_output_count < n) {
		struct tenon_value *output = &outputs[run->model_output_count];

		err = tenon_model_output_value(run->model, run->model_output_count, output);
		if (err)
			break;
		run->model_output_count++;
		err = target_fetch(output);
	}
	return err;
}

static bool is_of_type(const DLTensor *t, const struct spec *spec)
{
	return spec->ndim == t->ndim &&
	       (!t->ndim || !memcmp(spec->shape, t->shape, (size_t)t->ndim * sizeof(*t->shape))) &&
	       tenon_dtype_equal(element_storage(spec->dtype), element_storage(t->dtype));
}

/* --output says where an output is written; its type must be the output's */
static int write_output(struct cli *cli, struct run *run, const struct spec *spec, size_t next)
{
	int64_t index = model_find_output(run->model, spec, next);
	char given[TYPE_TEXT], has[TYPE_TEXT];
	DLTensor *t;

	if (index < 0) {
		tenon_error_clear();
		return cli_usage(cli, "--output %s: the model has %zu output%s, and none for this",
				 spec->text, run->model_output_count,
				 run->model_output_count == 1 ? "" : "s");
	}
	if (tenon_value_tensor(&run->model_outputs[index], &t)) {
		tenon_error_clear();
		return cli_usage(cli, "--output %s: output %lld is a %s, no tensor", spec->text,
				 (long long)index, tenon_type_key(run->model_outputs[index].type));
	}
	if (spec->form == SPEC_TENSOR && !is_of_type(t, spec))
		return cli_usage(cli, "--output %s: the output is a %s, not a %s", spec->text,
				 type_text(t->shape, t->ndim, t->dtype, has),
				 type_text(spec->shape, spec->ndim, spec->dtype, given));
	if (!spec->write)
		return 0;
	progress_say("writing %s", spec->write);
	return run_write(spec->write, t) ? cli_error(cli, CLI_NO_FILE) : 0;
}

static int write_outputs(struct cli *cli, struct run *run)
{
	size_t i, next = 0;
	int code = 0;

	for (i = 0; i < run->argument_count && !code; i++)
		if (run->arguments[i].spec.role == SPEC_OUTPUT)
			code = write_output(cli, run, &run->arguments[i].spec, next++);
	return code;
}

/* ---- the whole */

static int run_and_take(struct cli *cli, struct run *run)
{
	struct profile *p = run->profile || run->trace ? &run->operators : NULL;
	int code;

	run->operators.trace = run->trace != NULL;
	code = run_often(cli, run, p);
	if (!code && run_model_take_outputs(run))
		code = run_model_failed(cli, run);
	if (!code)
		code = write_outputs(cli, run);
	if (!code && run->trace && profile_write_trace(p, run->trace))
		code = cli_error(cli, CLI_NO_FILE);
	if (!code && run->profile && !run->json)
		profile_print(p, cli->out);
	return code;
}

/* Does --function name one that a Relax file has beside its models, in its library above all? */
static bool only_a_function(const struct run *run)
{
	struct tenon_model_options o = { .function = run->function, .describe = true };
	struct tenon_function *f = NULL;
	struct tenon_model *model;
	int err;

	err = tenon_model_open(run->module, &o, &model);
	if (!err)
		tenon_model_close(model);
	if (err == -TENON_E_NOT_FOUND)
		tenon_module_find_function(run->module, tenon_slice_of(run->function), true, &f);
	tenon_error_clear();
	tenon_object_unref(f);
	return f;
}

bool run_is_model(const struct run *run)
{
	if (run->graph)
		return true;
	if (!model_is_root(run->module))
		return false;
	/* other functions can be called than the one that makes the model */
	return !run->function || !strcmp(run->function, "default") ||
	       (!strncmp(run->module->kind.data, "relax.", 6) && !only_a_function(run));
}

int run_model(struct cli *cli, struct run *run)
{
	struct model_source source = { run->file, run->graph, run->params, run->function,
				       &run->devices };
	int code;

	code = model_open(cli, &source, run->module, false, &run->model);
	if (!code)
		code = model_set_inputs(cli, run->model, run->arguments, run->argument_count);
	if (code)
		return code;
	return run->stream ? run_stream(cli, run) : run_and_take(cli, run);
}

void run_report_model(const struct run *run, FILE *out)
{
	struct tenon_port port;
	size_t i, k, next;

	for (i = 0; i < run->model_output_count; i++) {
		if (!tenon_model_output(run->model, i, &port) && port.name.size) {
			printable_cell(port.name, 0, out);
			fputs(": ", out);
		}
		print_value(&run->model_outputs[i], out);
		for (k = 0, next = 0; k < run->argument_count; k++) {
			const struct spec *spec = &run->arguments[k].spec;

			if (spec->role == SPEC_OUTPUT &&
			    model_find_output(run->model, spec, next++) == (int64_t)i &&
			    spec->write)
				fprintf(out, "   written to %s", spec->write);
		}
		fputc('\n', out);
		report_top(run, &run->model_outputs[i], out);
	}
	tenon_error_clear();
}

void run_model_fini(struct run *run)
{
	profile_fini(&run->operators);
	run_model_drop_outputs(run);
	free(run->model_outputs);
	tenon_model_close(run->model);
}

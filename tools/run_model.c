/* SPDX-License-Identifier: MIT */
/* tenon run, of a whole model */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tools/element.h"
#include "tools/model.h"
#include "tools/print.h"
#include "tools/run.h"
#include "tools/run_device.h"
#include "tools/run_write.h"
#include "tools/watch.h"

static int failed(struct cli *cli, const struct run *run)
{
	int status = tenon_error_status();

	tenon_error_in(status, "%s", run->file);
	return cli_error(cli,
			 status == -TENON_E_USAGE ? CLI_USAGE : cli_exit_of(status, CLI_FAILED));
}

static int run_once(struct run *run, struct profile *profile)
{
	int err = profile ? profile_run(profile, run->model) : tenon_model_run(run->model);

	return err ? err : device_list_wait(&run->devices);
}

static int run_often(struct cli *cli, struct run *run, struct profile *profile)
{
	uint64_t i, start;
	int err;

	for (i = 0; i < run->repeat; i++) {
		if (run->repeat > 1)
			watch_say("running %s, %llu of %llu", run->file, (unsigned long long)i + 1,
				  (unsigned long long)run->repeat);
		else
			watch_say("running %s", run->file);
		start = clock_now();
		err = run_once(run, profile);
		run->ns[i] = clock_now() - start;
		if (err)
			return failed(cli, run);
	}
	return 0;
}

static void drop_outputs(struct run *run)
{
	size_t i;

	for (i = 0; i < run->model_output_count; i++)
		tenon_value_release(&run->model_outputs[i]);
	run->model_output_count = 0;
}

static int take_outputs(struct run *run)
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
		err = run_device_fetch(output);
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
	watch_say("writing %s", spec->write);
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

/* ---- a stream of frames: the input without content from stdin, outputs to stdout, as raw bytes */

struct frames {
	struct tenon_tensor *tensor;
	size_t input, bytes;
	bool copied; /* to a device, frame by frame */
	struct cli *cli;
	struct run *run;
	uint64_t differing; /* frames that are not what --expect says */
	int code;	    /* of an --expect that fits no output */
};

static int read_frame(void *context, struct tenon_model *model, uint64_t round)
{
	struct frames *f = context;
	struct tenon_value frame = tenon_arg_object(f->tensor);
	size_t have = 0;

	while (have < f->bytes) {
		ssize_t n = read(STDIN_FILENO, (char *)f->tensor->dl.data + have, f->bytes - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tenon_error(-TENON_E_IO, "standard input: %s", strerror(errno));
		if (!n)
			break;
		have += (size_t)n;
	}
	if (!have)
		return 1;
	if (have < f->bytes)
		return tenon_error(-TENON_E_TRUNCATED,
				   "standard input ends %zu bytes into frame %" PRIu64
				   " of %zu bytes",
				   have, round, f->bytes);
	return f->copied ? tenon_model_set_input(model, f->input, &frame) : 0;
}

static int write_output_bytes(const struct run *run, size_t index, FILE *out)
{
	size_t bytes;
	DLTensor *t;
	int err;

	err = tenon_value_tensor(&run->model_outputs[index], &t);
	if (!err)
		err = tenon_tensor_bytes(t, &bytes);
	if (err)
		return tenon_error_in(err, "output %zu", index);
	if (fwrite(t->data, 1, bytes, out) != bytes)
		return tenon_error(-TENON_E_IO, "standard output: %s", strerror(errno));
	return 0;
}

/* Only the first frame that differs is told in full: a stream may be long. */
static int compare_frame(struct frames *f, uint64_t round)
{
	const struct run *run = f->run;
	int code = run_compare(f->cli, f->run);
	size_t i;

	if (code != CLI_OK && code != CLI_DIFFERS) {
		f->code = code;
		return 1;
	}
	if (code == CLI_OK || f->differing++)
		return 0;
	for (i = 0; i < run->expect_count; i++) {
		if (run->comparisons[i].equal)
			continue;
		fprintf(f->cli->err, "tenon: frame %" PRIu64 ": expected", round);
		if (run->expect_count > 1)
			fprintf(f->cli->err, " %zu", i + 1);
		fputs(": ", f->cli->err);
		compare_print(&run->comparisons[i], f->cli->err);
		fputc('\n', f->cli->err);
	}
	return 0;
}

static int write_frame(void *context, struct tenon_model *model, uint64_t round)
{
	struct frames *f = context;
	size_t i;
	int err;

	(void)model;
	err = take_outputs(f->run);
	for (i = 0; i < f->run->model_output_count && !err; i++)
		err = write_output_bytes(f->run, i, f->cli->out);
	if (!err && f->run->expect_count)
		err = compare_frame(f, round);
	/* before the next run, which takes their storage */
	drop_outputs(f->run);
	return err;
}

static int find_frame_input(struct tenon_model *model, struct frames *f)
{
	size_t n = tenon_model_input_count(model);
	struct tenon_port port;
	int32_t i;
	int err;

	for (f->input = 0; f->input < n && tenon_model_input_is_set(model, f->input); f->input++)
		;
	err = tenon_model_input(model, f->input, &port);
	if (err)
		return tenon_error(-TENON_E_USAGE, "--stream: all inputs have a content");
	for (i = 0; i < port.ndim; i++)
		if (port.shape[i] < 0)
			return tenon_error(-TENON_E_USAGE,
					   "--stream: input \"%.*s\" has no fixed shape",
					   (int)port.name.size, port.name.data);
	err = tenon_tensor_create(port.shape, port.ndim < 0 ? 0 : port.ndim, port.dtype,
				  &f->tensor);
	if (!err)
		err = tenon_tensor_bytes(&f->tensor->dl, &f->bytes);
	if (err)
		return err;
	/* a frame is read to where the model looks for it, unless that is on a device */
	err = tenon_model_bind_input(model, f->input, f->tensor);
	f->copied = err == -TENON_E_DEVICE;
	if (f->copied)
		tenon_error_clear();
	return f->copied ? 0 : err;
}

static int stream(struct cli *cli, struct run *run)
{
	struct frames f = { .cli = cli, .run = run };
	struct tenon_stream loop = { read_frame, write_frame, &f };
	uint64_t rounds = 0, start;
	int err;

	err = find_frame_input(run->model, &f);
	start = clock_now();
	if (!err)
		err = f.bytes ? tenon_model_stream(run->model, &loop, &rounds)
			      : tenon_error(-TENON_E_USAGE, "--stream: a frame has no bytes");
	start = clock_now() - start;
	tenon_object_unref(f.tensor);
	if (err || f.code)
		return err ? failed(cli, run) : f.code;
	fprintf(cli->err, "%" PRIu64 " frames in %.3f s: %.1f a second\n", rounds,
		(double)start / 1e9, start ? (double)rounds * 1e9 / (double)start : 0.0);
	if (!f.differing)
		return 0;
	fprintf(cli->err, "tenon: %" PRIu64 " of %" PRIu64 " frames differ from --expect\n",
		f.differing, rounds);
	return CLI_DIFFERS;
}

/* ---- the whole */

static int run_and_take(struct cli *cli, struct run *run)
{
	struct profile *p = run->profile || run->trace ? &run->operators : NULL;
	int code;

	run->operators.trace = run->trace != NULL;
	code = run_often(cli, run, p);
	if (!code && take_outputs(run))
		code = failed(cli, run);
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
	return run->stream ? stream(cli, run) : run_and_take(cli, run);
}

void run_report_model(const struct run *run, FILE *out)
{
	struct tenon_port port;
	size_t i, k, next;

	for (i = 0; i < run->model_output_count; i++) {
		if (!tenon_model_output(run->model, i, &port) && port.name.size)
			fprintf(out, "%.*s: ", (int)port.name.size, port.name.data);
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
	drop_outputs(run);
	free(run->model_outputs);
	tenon_model_close(run->model);
}

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tools/cli/progress.h"
#include "tools/run/run.h"
#include "tools/run/run_device.h"
#include "tools/run/run_write.h"
#include "tools/target/target.h"
#include "tools/tensor/npy.h"

static int make(struct cli *cli, struct argument *list, size_t count)
{
	static const char *const names[] = { "input", "output", "expect" };

	for (size_t i = 0; i < count; i++) {
		int err = argument_make(&list[i]);

		if (!err)
			continue;
		tenon_error_in(err, "--%s %s", names[list[i].spec.role], list[i].spec.text);
		return cli_error(cli, err == -TENON_E_USAGE ? CLI_USAGE : CLI_NO_FILE);
	}
	return 0;
}

static int import(struct tenon_module *module, const char *path)
{
	struct tenon_module *other;
	int err;

	progress_say("loading %s", path);
	err = tenon_module_load(path, &other);
	if (!err) {
		err = tenon_module_import(module, other);
		tenon_object_unref(other);
	}
	return err ? tenon_error_in(err, "--import %s", path) : 0;
}

static int load(struct cli *cli, struct run *run)
{
	int err;

	progress_say("loading %s", run->file);
	err = tenon_module_load(run->file, &run->module);
	for (size_t i = 0; i < run->import_count && !err; i++)
		err = import(run->module, run->imports[i]);
	return err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : 0;
}

/* what is for models alone, and was said of a function */
static int refuse_model_words(struct cli *cli, const struct run *run)
{
	for (size_t i = 0; i < run->argument_count; i++) {
		const struct spec *spec = &run->arguments[i].spec;

		if (spec->name.size)
			return cli_usage(
				cli,
				"--%s %s: a function takes its arguments by their order, not by "
				"a name such as \"%.*s\"; named inputs are those of models",
				spec->role == SPEC_INPUT ? "input" : "output", spec->text,
				(int)spec->name.size, spec->name.data);
	}
	if (run->devices.count > 1)
		return cli_usage(cli, "%zu --device: a function runs on one", run->devices.count);
	if (run->graph || run->params || run->trace || run->profile || run->stream)
		return cli_usage(cli,
				 "--graph, --params, --profile, --trace and --stream are for "
				 "models, which %s is not",
				 run->file);
	if (run->expect_count > run->output_count + 1)
		return cli_usage(cli, "%zu --expect for %zu --output and a returned value",
				 run->expect_count, run->output_count);
	return 0;
}

/* Why did it fail? A missing loader or device is told from a function that refused. */
static int call_failed(struct cli *cli, const struct run *run)
{
	int status = tenon_error_status();

	tenon_error_in(status, "%s", run->function);
	return cli_error(cli, status == -TENON_E_NO_LOADER || status == -TENON_E_DEVICE ||
					      status == -TENON_E_LOST
				      ? CLI_UNAVAILABLE
				      : CLI_FAILED);
}

static int call(struct cli *cli, struct run *run)
{
	for (size_t i = 0; i < run->argument_count; i++)
		run->values[i] = run->arguments[i].on_device
					 ? tenon_arg_object(run->arguments[i].on_device)
					 : run->arguments[i].value;
	for (uint64_t i = 0; i < run->repeat; i++) {
		uint64_t start;
		int err;

		tenon_value_release(&run->result);
		if (run->repeat > 1)
			progress_say("running %s of %s, call %llu of %llu", run->function, run->file,
				  (unsigned long long)i + 1, (unsigned long long)run->repeat);
		else
			progress_say("running %s of %s", run->function, run->file);
		start = clock_now();
		err = tenon_function_call(run->called, run->values, (int32_t)run->argument_count,
					  &run->result);
		if (!err)
			err = target_wait(run->on);
		run->ns[i] = clock_now() - start;
		if (err) {
			/* what a failing function left there is nobody's */
			run->result = tenon_arg_none();
			return call_failed(cli, run);
		}
	}
	return 0;
}

static int write_outputs(struct cli *cli, const struct run *run)
{
	for (size_t i = 0; i < run->argument_count; i++) {
		const struct argument *a = &run->arguments[i];

		if (!a->spec.write)
			continue;
		progress_say("writing %s", a->spec.write);
		if (run_write(a->spec.write, &a->tensor->dl))
			return cli_error(cli, CLI_NO_FILE);
	}
	return 0;
}

/* ---- results */

size_t run_result_count(const struct run *run)
{
	if (run->model)
		return run->model_output_count;
	return run->output_count + !(run->result.type == TENON_TYPE_NONE && run->output_count);
}

const struct tenon_value *run_result(const struct run *run, size_t i)
{
	if (run->model)
		return &run->model_outputs[i];
	for (size_t k = 0; k < run->argument_count; k++) {
		if (run->arguments[k].spec.role == SPEC_OUTPUT && !i--)
			return &run->arguments[k].value;
	}
	return &run->result;
}

/* the result that an expectation is of: by its order, or by the name of a model's output */
static size_t expected_result(const struct run *run, size_t i)
{
	const struct tenon_slice name = run->expects[i].spec.name;
	size_t index;

	if (!run->model || !name.size)
		return i;
	return tenon_model_find_output(run->model, name, &index) ? SIZE_MAX : index;
}

static int too_many_expected(struct cli *cli, const struct run *run)
{
	if (run->model)
		return cli_usage(cli, "%zu --expect, but the model has %zu output%s",
				 run->expect_count, run->model_output_count,
				 run->model_output_count == 1 ? "" : "s");
	return cli_usage(cli,
			 "%zu --expect, but the function returned nothing to compare "
			 "beside its %zu output%s",
			 run->expect_count, run->output_count, run->output_count == 1 ? "" : "s");
}

int run_compare(struct cli *cli, struct run *run)
{
	int code = CLI_OK;

	if (run->expect_count > run_result_count(run))
		return too_many_expected(cli, run);
	progress_say("comparing");
	for (size_t i = 0; i < run->expect_count; i++) {
		size_t result = expected_result(run, i);

		if (result == SIZE_MAX)
			return cli_error(cli, CLI_USAGE);
		compare_values(run_result(run, result), &run->expects[i].value, &run->tolerance,
			       &run->comparisons[i]);
		if (!run->comparisons[i].equal)
			code = CLI_DIFFERS;
	}
	return code;
}

/* ---- the whole */

static int work_function(struct cli *cli, struct run *run)
{
	int code = run_find_named(cli, run);

	if (!code)
		code = refuse_model_words(cli, run);
	if (!code && !run->called)
		code = run_find_default(cli, run);
	if (!code)
		code = run_device_put(cli, run);
	if (!code)
		code = call(cli, run);
	if (!code)
		code = run_device_get(cli, run);
	return code ? code : write_outputs(cli, run);
}

static int work(struct cli *cli, struct run *run)
{
	int code;

	code = target_list_open(cli, &run->devices);
	if (code)
		return code;
	run->on = run->devices.count ? run->devices.on[0] : NULL;
	progress_say("making the arguments");
	code = make(cli, run->arguments, run->argument_count);
	if (!code)
		code = make(cli, run->expects, run->expect_count);
	if (!code)
		code = load(cli, run);
	if (!code)
		code = run_is_model(run) ? run_model(cli, run) : work_function(cli, run);
	return code || run->stream ? code : run_compare(cli, run);
}

static int report(struct cli *cli, struct run *run, int code)
{
	if ((code != CLI_OK && code != CLI_DIFFERS) || run->stream)
		return code;
	if (!run->json)
		run_report(run, cli->out);
	else if (run_report_json(run, cli->out))
		return cli_error(cli, CLI_FAILED);
	return code;
}

static int run_watched(struct cli *cli, struct run *run)
{
	int code;

	run->ns = calloc(run->repeat, sizeof(*run->ns));
	if (!run->ns) {
		tenon_error(-TENON_E_NOMEM, "no memory for the times of %llu calls",
			    (unsigned long long)run->repeat);
		return cli_error(cli, CLI_USAGE);
	}
	if (progress_start(run->timeout, cli->err == stderr && isatty(STDERR_FILENO)))
		return cli_error(cli, CLI_FAILED);
	code = work(cli, run);
	progress_stop();
	return report(cli, run, code);
}

static void release(struct run *run)
{
	run_model_fini(run);
	run_device_fini(run);
	target_list_fini(&run->devices);
	tenon_value_release(&run->result);
	tenon_object_unref(run->called);
	tenon_object_unref(run->module);
	for (size_t i = 0; run->arguments && i < run->argument_count; i++)
		argument_release(&run->arguments[i]);
	for (size_t i = 0; run->expects && i < run->expect_count; i++)
		argument_release(&run->expects[i]);
	free(run->arguments);
	free(run->expects);
	free(run->comparisons);
	free(run->values);
	free(run->imports);
	free(run->ns);
}

static int run_main(struct cli *cli, int argc, char **argv)
{
	struct run run = { 0 };
	size_t most = (size_t)argc;
	int code;

	run.arguments = calloc(most, sizeof(*run.arguments));
	run.expects = calloc(most, sizeof(*run.expects));
	run.comparisons = calloc(most, sizeof(*run.comparisons));
	run.values = calloc(most, sizeof(*run.values));
	run.imports = calloc(most, sizeof(*run.imports));
	if (!run.arguments || !run.expects || !run.comparisons || !run.values || !run.imports) {
		tenon_error(-TENON_E_NOMEM, "no memory for %zu arguments", most);
		code = cli_error(cli, CLI_FAILED);
		goto out;
	}
	code = run_options(cli, &run, argc, argv);
	if (code == CLI_OPTIONS_END) {
		code = run.json ? cli_needs_json(cli) : 0;
		if (run.stream)
			cli_reserve_output(cli);
		if (!code)
			code = run_watched(cli, &run);
	} else if (code == CLI_OPTIONS_DONE) {
		code = CLI_OK;
	}
out:
	release(&run);
	return code;
}

const struct cli_command run_command = {
	"run",
	"Load a module and call a function of it, or run a model",
	"Usage: tenon run FILE [OPTION]…\n"
	"\n"
	"  --function NAME   the function; without it main, or the only one there is\n"
	"  --import FILE     a module that FILE shall import, e.g. kernels in a file of their own\n"
	"  --device URI      where to run: cpu (the default), opencl:0, vulkan://name?key=value;\n"
	"                    a model for several devices takes several\n"
	"  --input SPEC      the next argument\n"
	"  --output SPEC     the next argument, a tensor of zeros to be filled and printed\n"
	"  --expect SPEC     what the next output, or the returned value, must be equal to\n"
	"  --rtol R          how far it may be off, relative (1e-5; integers: 0)\n"
	"  --atol A          how far it may be off, absolute (1e-8; integers: 0)\n"
	"  --top N           list the N largest elements of each output, with their places\n"
	"  --repeat N        call N times and print how long it took\n"
	"  --timeout S       give up after S seconds\n"
	"  --json            answer in JSON\n"
	"\n"
	"A file with a whole model is run as one, unless --function names a function:\n"
	"  --input NAME=SPEC the input of this name; without a name the next that has no content;\n"
	"                    NAME.0=SPEC, NAME.1=SPEC the items of a tuple\n"
	"  --output SPEC     where the next output is written: 1x10xfloat32=>scores.npy\n"
	"  --graph FILE      the model's graph.json, where FILE is its library alone\n"
	"  --params FILE     its parameters\n"
	"  --profile         print how long each operator took\n"
	"  --trace FILE      write that for Perfetto, or about:tracing of Chrome\n"
	"  --stream          run on frames of raw bytes from standard input until it ends, and\n"
	"                    write the outputs' bytes to standard output; --expect is of each\n"
	"\n"
	"Inputs and outputs are the arguments, in the order given. A SPEC is one of\n"
	"  3  -0x1f  2.5  inf  nan  true  false  null  str:TEXT  shape:1,64\n"
	"  @x.npy                       the array in a file of numpy\n"
	"  2x3xfloat32=1,2,3,4,5,6      a tensor; float32=1.5 has no dimension\n"
	"  2x3xfloat32=@raw.bin         its bytes\n"
	"  2x3xbfloat16=@x.npy          an array of the same item size, read as that type\n"
	"  2x3xfloat32=random:1         also zeros, ones, arange\n"
	"  2x3xfloat32                  an output\n"
	"  2x3xfloat32=>y.npy           an output that is also written; other names: bytes\n"
	"\n"
	"Exit status: 0 success, 1 differs from --expect, 2 usage, 3 a file cannot be loaded, "
	"read\n"
	"or written, 4 a device or loader is not there, 5 the function failed, 124 timeout.\n",
	run_main,
};

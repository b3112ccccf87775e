/* SPDX-License-Identifier: MIT */
/* Load the file, run a function or a model in it, and release all */
#include "tools/run/run.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/trace.h>
#include <unistd.h>

#include "tools/cli/progress.h"
#include "tools/file/file.h"
#include "tools/file/output.h"
#include "tools/link/link_load.h"
#include "tools/remote/remote.h"
#include "tools/run/run_report.h"

static int import(struct tenon_module *module, const char *path)
{
	struct tenon_module *other;
	int err;

	progress_say("loading %s", path);
	err = link_load(path, NULL, 0, &other);
	if (!err) {
		err = tenon_module_import(module, other);
		tenon_object_unref(other);
	}
	return err ? tenon_error_in(err, "--import %s", path) : 0;
}

static int import_remotely(struct tenon_remote *remote, struct tenon_module *module,
			   const char *path)
{
	struct tenon_module *other;
	int err;

	err = tenon_remote_open(remote, path, &other);
	if (!err) {
		err = remote_import(remote, module, other);
		tenon_object_unref(other);
	}
	return err ? tenon_error_in(err, "--import %s", path) : 0;
}

static int load_remotely(struct cli *cli, struct run *run)
{
	const struct run_options *o = &run->options;
	struct tenon_remote *remote = run->targets.remote;
	int err = tenon_module_inspect(o->file, &run->inspected);

	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	err = tenon_remote_open(remote, o->file, &run->module);
	for (size_t i = 0; i < o->import_count && !err; i++)
		err = import_remotely(remote, run->module, o->imports[i]);
	return err ? cli_error(cli, cli_exit_of(err, CLI_FAILED)) : 0;
}

static int require_hashes(void)
{
#ifdef CONFIG_LINK
	return tenon_load_policy_set(tenon_link_verified, NULL);
#else
	return tenon_error(-TENON_E_UNSUPPORTED, "--verify: this build has CONFIG_LINK=n");
#endif
}

static int load(struct cli *cli, const struct run_options *o, struct tenon_module **out)
{
	int err = 0;

	progress_say("loading %s", o->file);
	if (o->verify)
		err = require_hashes();
	if (!err)
		err = link_load(o->file, o->targets, o->target_count, out);
	for (size_t i = 0; i < o->import_count && !err; i++)
		err = import(*out, o->imports[i]);
	return err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : 0;
}

/* Functions take arguments by position only. */
static int refuse_names(struct cli *cli, const struct arguments *a)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct spec *spec = &a->at[i].spec;

		if (spec->name.size)
			return cli_usage(
				cli,
				"--%s %s: a function takes its arguments by their order, not by "
				"a name such as \"%.*s\"; named inputs are those of models",
				spec->role == SPEC_INPUT ? "input" : "output", spec->text,
				(int)spec->name.size, spec->name.data);
	}
	return 0;
}

/* Refuse options for models when running a function. */
static int refuse_model_words(struct cli *cli, const struct run *run)
{
	const struct run_options *o = &run->options;
	size_t expected = run->expectations.count, outputs = run->arguments.output_count;
	int code = refuse_names(cli, &run->arguments);

	if (code)
		return code;
	if (run->targets.count > 1)
		return cli_usage(cli, "%zu --device: a function runs on one", run->targets.count);
	if (o->graph || o->params || o->profile || o->stream)
		return cli_usage(cli,
				 "--graph, --params, --profile and --stream are for models, which "
				 "%s is not",
				 o->file);
	if (expected > outputs + 1)
		return cli_usage(cli, "%zu --expect for %zu --output and a returned value",
				 expected, outputs);
	return 0;
}

/* The import tree of the file, which is on this machine. */
static struct tenon_module *tree_of(const struct run *run)
{
	return run->inspected ? run->inspected : run->module;
}

static int work_function(struct cli *cli, struct run *run)
{
	struct function_run *f = &run->function;
	int code;

	f->tree = tree_of(run);
	code = run_find_named(cli, &run->options, run->module, f);

	if (!code)
		code = refuse_model_words(cli, run);
	if (!code && !f->function)
		code = run_find_default(cli, &run->options, run->module, f);
	if (!code)
		code = run_function(cli, &run->options, &run->targets, &run->arguments, &run->times,
				    f);
	return code ? code : expectations_compare(cli, &run->expectations, &f->results, NULL);
}

static int work_model(struct cli *cli, struct run *run)
{
	const struct run_options *o = &run->options;
	struct model_run *m = &run->model;
	int code;

	m->file = o->file;
	m->tree = tree_of(run);
	m->targets = &run->targets;
	code = run_model_open(cli, o, run->module, &run->targets, &run->arguments, m);
	if (code)
		return code;
	if (o->stream)
		return run_stream(cli, &run->expectations, m);
	code = run_model(cli, o, &run->targets, &run->arguments, &run->times, m);
	return code ? code : expectations_compare(cli, &run->expectations, &m->outputs, m->model);
}

static int work(struct cli *cli, struct run *run)
{
	int code;

	code = run->remote ? remote_connect(cli, run->remote, 0, &run->targets.remote) : 0;
	if (!code)
		code = target_list_open(cli, &run->targets);
	if (code)
		return code;
	progress_say("making the arguments");
	code = arguments_make(cli, run->arguments.at, run->arguments.count);
	if (!code)
		code = arguments_make(cli, run->expectations.at, run->expectations.count);
	if (!code)
		code = run->targets.remote ? load_remotely(cli, run)
					   : load(cli, &run->options, &run->module);
	if (code)
		return code;
	return run_is_model(&run->options, tree_of(run)) ? work_model(cli, run)
							 : work_function(cli, run);
}

static int report(struct cli *cli, const struct run *run, int code)
{
	if ((code != CLI_OK && code != CLI_DIFFERS) || run->options.stream)
		return code;
	run_check_labels(run, cli->err);
	if (!run->options.json)
		run_report(run, cli->out);
	else if (run_report_json(run, cli->out))
		return cli_error(cli, CLI_FAILED);
	return code;
}

static int work_traced(struct cli *cli, struct run *run)
{
	const char *path = run->options.trace;
	int code;

	if (path && (output_check(path) || tenon_trace(path)))
		return cli_error(cli, CLI_NO_FILE);
	code = work(cli, run);
	/* Stop building kernels before the trace ends, so that their spans are in it. */
	kernels_fini(&run->model.kernels);
	/* what failed is in the trace too */
	if (path && tenon_trace(NULL)) {
		int failed = cli_error(cli, CLI_NO_FILE);

		code = code ? code : failed;
	}
	return code;
}

static int run_watched(struct cli *cli, struct run *run)
{
	struct times *times = &run->times;
	int code;

	times->count = run->options.repeat;
	times->ns = calloc(times->count, sizeof(*times->ns));
	if (!times->ns) {
		tenon_error(-TENON_E_NOMEM, "no memory for the times of %llu calls",
			    (unsigned long long)times->count);
		return cli_error(cli, CLI_USAGE);
	}
	if (run->remote)
		progress_report_waits();
	if (progress_start(run->options.timeout, cli->err == stderr && isatty(STDERR_FILENO)))
		return cli_error(cli, CLI_FAILED);
	code = work_traced(cli, run);
	progress_stop();
	return report(cli, run, code);
}

/* Allocate lists with one argument, expectation and import per word of the command line. */
static int make_room(struct cli *cli, struct run *run, size_t words)
{
	run->arguments.at = calloc(words, sizeof(*run->arguments.at));
	run->expectations.at = calloc(words, sizeof(*run->expectations.at));
	run->expectations.comparisons = calloc(words, sizeof(*run->expectations.comparisons));
	run->options.imports = calloc(words, sizeof(*run->options.imports));
	run->options.targets = calloc(words, sizeof(*run->options.targets));
	if (run->arguments.at && run->expectations.at && run->expectations.comparisons &&
	    run->options.imports && run->options.targets)
		return 0;
	tenon_error(-TENON_E_NOMEM, "no memory for %zu arguments", words);
	return cli_error(cli, CLI_FAILED);
}

static void release(struct run *run)
{
	run_model_fini(&run->model);
	run_function_fini(&run->function);
	arguments_release(run->arguments.at, run->arguments.count);
	arguments_release(run->expectations.at, run->expectations.count);
	tenon_object_unref(run->module);
	tenon_object_unref(run->inspected);
	target_list_fini(&run->targets);
	free(run->expectations.comparisons);
	free(run->options.imports);
	free(run->options.targets);
	free(run->times.ns);
	tenon_buffer_fini(&run->labels);
}

static int run_main(struct cli *cli, int argc, char **argv)
{
	struct run run = { 0 };
	int code;

	code = make_room(cli, &run, (size_t)argc);
	if (code)
		goto out;
	code = run_read_options(cli, &run, argc, argv);
	if (code == CLI_OPTIONS_END) {
		code = run.options.json ? cli_needs_json(cli) : 0;
		if (run.options.stream)
			cli_reserve_output(cli);
		if (!code && run.options.labels && file_read_text(run.options.labels, &run.labels))
			code = cli_error(cli, CLI_NO_FILE);
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
	"  --target-key KEY=URI  where programs run that have this key (tenon link)\n"
	"  --remote ADDRESS  run on another machine, where tenon rpc serve or TVM's server runs:\n"
	"                    " REMOTE_HELP "; --device is one there\n"
	"  --input SPEC      the next argument\n"
	"  --output SPEC     the next argument, a tensor of zeros to be filled and printed\n"
	"  --expect SPEC     what the next output, or the returned value, must be equal to\n"
	"  --rtol R          how far it may be off, relative (1e-5; integers: 0)\n"
	"  --atol A          how far it may be off, absolute (1e-8; integers: 0)\n"
	"  --top N           list the N largest elements of each output, with their places\n"
	"  --labels FILE     and with their names, of which FILE has one a line; N is 5 if not "
	"given\n"
	"  --repeat N        call N times and print how long it took\n"
	"  --trace FILE      write what ran when, here and on devices, for Perfetto "
	"(ui.perfetto.dev)\n"
	"  --verify          load no module whose payloads are not those that were linked\n"
	"  --timeout S       give up after S seconds\n"
	"  --json            print JSON\n"
	"\n"
	"FILE is a module, an archive in Model Library Format, or the manifest.json of a module\n"
	"that tenon unpack took apart.\n"
	"\n"
	"A file with a whole model is run as one, unless --function names a function:\n"
	"  --input NAME=SPEC the input of this name; without a name the next that has no content;\n"
	"                    NAME.0=SPEC, NAME.1=SPEC the items of a tuple\n"
	"  --output SPEC     where the next output is written: 1x10xfloat32=>scores.npy\n"
	"  --graph FILE      the model's graph.json, where FILE is its library alone\n"
	"  --params FILE     its parameters\n"
	"  --profile         print how long each operator took\n"
	"  --stream          run on frames of raw bytes from standard input until it ends, and\n"
	"                    write the outputs' bytes to standard output; --expect is of each\n"
	"\n"
	"Inputs and outputs are the arguments, in the order given. A SPEC is one of\n"
	"  3  -0x1f  2.5  inf  nan  true  false  null  str:TEXT  shape:1,64\n"
	"  @x.npy                       the array in a file of numpy\n"
	"  2x3xfloat32=1,2,3,4,5,6      a tensor; float32=1.5 has no dimension\n"
	"  2x3xfloat32=@raw.bin         its bytes\n"
	"  2x3xbfloat16=@x.npy          an array of the same item size, read as that type\n"
	"  2x3xfloat32=random:1         also zeros, ones, arange, and random with any seed\n"
	"  2x3xfloat32                  an output\n"
	"  2x3xfloat32=>y.npy           an output that is also written; other names: bytes\n"
	"\n"
	"Exit status: 0 success, 1 differs from --expect, 2 usage, 3 a file cannot be loaded, "
	"read\n"
	"or written, 4 a device or loader is not there, 5 the function failed, 124 timeout.\n",
	run_main,
};

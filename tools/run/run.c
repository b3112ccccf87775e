/* SPDX-License-Identifier: MIT */
/* tenon run: load the file, run a function or a model in it, report, and release everything. */
#include "tools/run/run.h"

#include <stdlib.h>
#include <tenon/trace.h>
#include <unistd.h>

#include "lib/option.h"
#include "tools/cli/progress.h"
#include "tools/file/output.h"
#include "tools/link_verb/link_load.h"
#include "tools/remote_option/remote.h"

static int require_hashes(void)
{
	if (OPTION_ON(LINK))
		return tenon_load_policy_set(tenon_link_verified, NULL);
	return tenon_error(-TENON_E_UNSUPPORTED, "--verify: this build has CONFIG_LINK=n");
}

static int import(const struct run *run, const char *path)
{
	struct tenon_remote *remote = run->targets.remote;
	struct tenon_module *other;
	int err;

	progress_say("loading %s", path);
	err = remote ? tenon_remote_open(remote, path, &other) : link_load(path, NULL, 0, &other);
	if (!err) {
		err = remote ? remote_import(remote, run->module, other)
			     : tenon_module_import(run->module, other);
		tenon_object_unref(other);
	}
	return err ? tenon_error_in(err, "--import %s", path) : 0;
}

/* Load the file, here or on the server, with its imports. */
static int load(struct cli *cli, struct run *run)
{
	const struct run_options *o = &run->options;
	struct tenon_remote *remote = run->targets.remote;
	int err = 0;

	if (remote) {
		err = tenon_module_inspect(o->file, &run->inspected);
		if (err)
			return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	}
	progress_say("loading %s", o->file);
	if (o->verify)
		err = require_hashes();
	if (!err)
		err = remote ? tenon_remote_open(remote, o->file, &run->module)
			     : link_load(o->file, o->targets, o->target_count, &run->module);
	for (size_t i = 0; i < o->import_count && !err; i++)
		err = import(run, o->imports[i]);
	return err ? cli_error(cli, cli_exit_of(err, remote ? CLI_FAILED : CLI_NO_FILE)) : 0;
}

/* Begin what accompanies the run: progress, the timeout, the trace or the record. */
static int begin(struct cli *cli, struct run *run)
{
	const struct run_options *o = &run->options;
	int code;

	run->times.count = o->repeat;
	run->times.ns = calloc(run->times.count, sizeof(*run->times.ns));
	if (!run->times.ns) {
		tenon_error(-TENON_E_NOMEM, "no memory for the times of %llu calls",
			    (unsigned long long)run->times.count);
		return cli_error(cli, CLI_USAGE);
	}
	if (o->remote)
		progress_report_waits();
	if (progress_start(o->timeout, cli->err == stderr && isatty(STDERR_FILENO)))
		return cli_error(cli, CLI_FAILED);
	if (o->trace && (output_check(o->trace) || tenon_trace(o->trace))) {
		progress_stop();
		return cli_error(cli, CLI_NO_FILE);
	}
	code = o->record ? run_begin_record(cli, o) : 0;
	if (code)
		progress_stop();
	return code;
}

/* End it, however the run ended: what failed is in the trace, too. */
static int end(struct cli *cli, struct run *run, int code)
{
	int failed = run->options.record ? run_end_record(cli, &run->options) : 0;

	/* Stop building kernels before the trace ends, so that their spans are in it. */
	kernels_fini(&run->kernels);
	if (run->options.trace && tenon_trace(NULL))
		failed = cli_error(cli, CLI_NO_FILE);
	progress_stop();
	return code ? code : failed;
}

static int prepare(struct cli *cli, struct run *run)
{
	const char *remote = run->options.remote;
	int code;

	code = remote ? remote_connect(cli, remote, 0, &run->targets.remote) : 0;
	if (!code)
		code = target_list_open(cli, &run->targets);
	if (!code)
		code = run_make_arguments(cli, run);
	return code ? code : load(cli, run);
}

static int report(struct cli *cli, const struct run *run, int code)
{
	run_check_labels(run, cli->err);
	if (!run->options.json)
		run_report(run, cli->out);
	else if (OPTION_ON(JSON) && run_report_json(run, cli->out))
		return cli_error(cli, CLI_FAILED);
	return code;
}

void run_drop_results(struct results *r)
{
	for (size_t i = 0; i < r->count; i++)
		tenon_value_release(&r->at[i]);
	r->count = 0;
}

static void release(struct run *run)
{
	if (OPTION_ON(EXECUTORS))
		run_close_model(run);
	run_drop_results(&run->results);
	free(run->results.at);
	tenon_object_unref(run->function);
	run_release_arguments(run);
	tenon_object_unref(run->module);
	tenon_object_unref(run->inspected);
	target_list_fini(&run->targets);
	free(run->options.imports);
	free(run->options.targets);
	free(run->times.ns);
	tenon_buffer_fini(&run->labels);
}

/* Run a function, in a build that has nothing else to run. */
static int run_without_models(struct cli *cli, struct run *run)
{
	const struct run_options *o = &run->options;

	if (o->memory)
		return cli_usage(cli, "--memory: this build has no executor of models");
	if (!o->self_test && !o->graph)
		return run_function(cli, run);
	if (o->self_test)
		fputs("tenon: --self-test: models are not in this build\n", cli->err);
	else
		fprintf(cli->err,
			"tenon: --graph %s: models are not in this build; enable "
			"CONFIG_GRAPH_EXECUTOR\n",
			o->graph);
	return CLI_UNAVAILABLE;
}

/* Run what the file is. */
static int run_target(struct cli *cli, struct run *run)
{
	if (!OPTION_ON(EXECUTORS))
		return run_without_models(cli, run);
	if (run->options.memory && !run_is_model(run))
		return cli_usage(cli,
				 "--memory: %s has no model, or --function names another function",
				 run->options.file);
	if (run->options.memory)
		return run_memory(cli, run);
	if (run->options.self_test)
		return run_self_test(cli, run);
	return run_is_model(run) ? run_model(cli, run) : run_function(cli, run);
}

static int run_main(struct cli *cli, int argc, char **argv)
{
	struct run run = { 0 };
	bool reports_itself;
	int code;

	code = run_read_options(cli, &run, argc, argv);
	reports_itself = run.options.stream || run.options.memory || run.options.self_test;
	if (!code)
		code = begin(cli, &run);
	if (code)
		goto out;
	code = prepare(cli, &run);
	if (!code)
		code = run_target(cli, &run);
	if (!code && !reports_itself)
		code = run_compare(cli, &run);
	code = end(cli, &run, code);
	if ((code == CLI_OK || code == CLI_DIFFERS) && !reports_itself)
		code = report(cli, &run, code);
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
	"  --record DIR      keep each operator and kernel with its tensors, for tenon replay\n"
	"  --record-limit N  bytes that it may take (1 GiB); what does not fit is left out\n"
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
	"  --params [SCOPE=]FILE  its parameters: TVM's, safetensors, GGUF, .npz, a folder\n"
	"  --rename OLD=NEW  call a parameter as the model does; model.*=* for all that begin so\n"
	"  --params-partial  leave out parameters that the model has not\n"
	"  --dequantize float16|float32  make numbers of quantised parameters (GGUF)\n"
	"  --memory          print what memory the model needs, taken by what and when, and what "
	"would\n"
	"                    shrink it, instead of running it on inputs\n"
	"  --profile         print how long each operator took\n"
	"  --stream          run on frames of raw bytes from standard input until it ends, and\n"
	"                    write the outputs' bytes to standard output; --expect is of each\n"
	"  --self-test       run the cases that the file has (tenon link --case), print KTAP; "
	"name\n"
	"                    the first operator that differs from the processor's\n"
	"  --reference FILE  or from this module's, which is the model for the processor\n"
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
	"Exit status: 0 success, 1 differs from --expect or a case, 2 usage, 3 a file cannot be "
	"loaded, "
	"read\n"
	"or written, 4 a device or loader is not there, 5 the function failed, 124 timeout.\n",
	run_main,
};

/* SPDX-License-Identifier: MIT */
/* tenon bench: measure how long a model takes */
#include "tools/bench/bench.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tools/cli/progress.h"
#include "tools/link/link_load.h"
#include "tools/json/json_value.h"
#include "tools/model/model.h"
#include "tools/remote/remote.h"
#include "tools/target/kernel_devices.h"
#include "tools/target/kernels.h"
#include "tools/text/size.h"
#include "tools/text/timing.h"

struct bench {
	struct model_source source;
	struct argument *arguments;
	size_t argument_count;
	struct target_list devices;
	const char *remote;
	uint64_t runs, warmup;
	bool per_op, json;
	struct tenon_module *module, *inspected; /* the latter with --remote */
	struct kernels kernels;
	struct tenon_model *model;
	uint64_t *ns;
	uint64_t open_ns;
	struct profile profile;
};

enum { INPUT = 1, GRAPH, PARAMS, FUNCTION, DEVICE, REMOTE, REPEAT, WARMUP, PER_OP, JSON };

static int number(struct cli *cli, const char *option, uint64_t least, uint64_t *out)
{
	char *end;

	*out = strtoull(optarg, &end, 10);
	if (*end || end == optarg || *optarg == '-' || *out < least || *out > UINT32_MAX)
		return cli_usage(cli, "--%s %s: a number from %" PRIu64 " to %u is wanted", option,
				 optarg, least, UINT32_MAX);
	return 0;
}

static int input(struct cli *cli, struct bench *b)
{
	struct argument *a = &b->arguments[b->argument_count];
	int err;

	if (spec_parse(SPEC_INPUT, optarg, &a->spec)) {
		cli_usage(cli, "--input %s: %s", optarg, tenon_error_message());
		tenon_error_clear();
		return CLI_USAGE;
	}
	if (argument_given_before(b->arguments, a))
		return cli_usage(cli, "--input %s: an earlier --input has the name \"%.*s\" too",
				 optarg, (int)a->spec.name.size, a->spec.name.data);
	spec_print_seed(&a->spec, "--input", cli->err);
	b->argument_count++;
	err = argument_make(a);
	if (!err)
		return 0;
	tenon_error_in(err, "--input %s", optarg);
	return cli_error(cli, err == -TENON_E_USAGE ? CLI_USAGE : CLI_NO_FILE);
}

static int option(struct cli *cli, struct bench *b, int found)
{
	switch (found) {
	case INPUT:
		return input(cli, b);
	case GRAPH:
		b->source.graph = optarg;
		return 0;
	case PARAMS:
		b->source.params = optarg;
		return 0;
	case FUNCTION:
		b->source.function = optarg;
		return 0;
	case DEVICE:
		return target_list_add(cli, &b->devices, optarg);
	case REMOTE:
		b->remote = optarg;
		return 0;
	case REPEAT:
		return number(cli, "repeat", 1, &b->runs);
	case WARMUP:
		return number(cli, "warmup", 0, &b->warmup);
	case PER_OP:
		b->per_op = true;
		return 0;
	default:
		b->json = true;
		return cli_needs_json(cli);
	}
}

static int open_model(struct cli *cli, struct bench *b)
{
	uint64_t start;
	int err, code;

	code = b->remote ? remote_connect(cli, b->remote, 0, &b->devices.remote) : 0;
	if (!code)
		code = target_list_open(cli, &b->devices);
	if (code)
		return code;
	b->source.devices = &b->devices;
	progress_say("loading %s", b->source.file);
	start = clock_now();
	/* only for advice about devices: without it the measurement goes on */
	if (b->devices.remote && tenon_module_inspect(b->source.file, &b->inspected))
		tenon_error_clear();
	err = b->devices.remote ? tenon_remote_open(b->devices.remote, b->source.file, &b->module)
				: link_load(b->source.file, NULL, 0, &b->module);
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	b->source.tree = b->inspected ? b->inspected : b->module;
	if (!b->source.graph &&
	    tenon_slice_equal(tenon_module_kind(b->source.tree), tenon_slice_of("library"))) {
		tenon_error(-TENON_E_UNSUPPORTED,
			    "%s: is no model, but a library of functions. tenon run --function "
			    "NAME --repeat "
			    "100 measures a function; --graph FILE makes it a model",
			    b->source.file);
		return cli_error(cli, CLI_UNAVAILABLE);
	}
	kernels_build(&b->kernels, b->module, &b->devices);
	code = model_open(cli, &b->source, b->module, false, &b->model);
	b->open_ns = clock_now() - start;
	if (!code)
		code = model_set_inputs(cli, b->model, b->arguments, b->argument_count);
	return code ? code : model_fill_inputs(cli, b->model);
}

static int run_failed(struct cli *cli, const struct bench *b)
{
	int status = tenon_error_status();

	tenon_error_in(status, "%s", b->source.file);
	return kernel_devices_error(cli, b->source.file, b->source.tree, &b->devices,
				    cli_exit_of(status, CLI_FAILED));
}

static int run_once(const struct bench *b)
{
	int err = tenon_model_run(b->model);

	return err ? err : target_list_wait(&b->devices);
}

/* The server measures: the network is no part of a run. */
static int measure_remotely(struct cli *cli, struct bench *b)
{
	struct tenon_remote_timing timing = { .number = (int64_t)b->warmup, .repeat = 1 };
	struct tenon_buffer seconds = TENON_BUFFER_INIT;
	int err = 0;
	double s;

	if (b->per_op)
		return cli_usage(cli, "--per-op: operators on another machine cannot be timed");
	if (b->warmup) {
		progress_say("warming up");
		err = tenon_remote_time_model(b->devices.remote, b->model, &timing, &seconds);
		tenon_buffer_fini(&seconds);
	}
	progress_say("%" PRIu64 " runs", b->runs);
	timing = (struct tenon_remote_timing){ .number = 1, .repeat = (int64_t)b->runs };
	if (!err)
		err = tenon_remote_time_model(b->devices.remote, b->model, &timing, &seconds);
	if (!err && seconds.size != b->runs * sizeof(s))
		err = tenon_error(-TENON_E_FORMAT, "the server sent %zu times, expected %" PRIu64,
				  seconds.size / sizeof(s), b->runs);
	for (uint64_t i = 0; i < b->runs && !err; i++) {
		memcpy(&s, seconds.data + i * sizeof(s), sizeof(s));
		b->ns[i] = s > 0 && s < 1e9 ? (uint64_t)(s * 1e9 + 0.5) : 0;
	}
	tenon_buffer_fini(&seconds);
	return err ? run_failed(cli, b) : 0;
}

static int measure(struct cli *cli, struct bench *b)
{
	uint64_t i, start, shown = 0;

	if (b->devices.remote)
		return measure_remotely(cli, b);
	progress_say("building kernels for %s", b->source.file);
	kernels_wait(&b->kernels);
	for (i = 0; i < b->warmup; i++) {
		progress_say("warming up, %" PRIu64 " of %" PRIu64, i + 1, b->warmup);
		if (run_once(b))
			return run_failed(cli, b);
	}
	for (i = 0; i < b->runs; i++) {
		start = clock_now();
		if (run_once(b))
			return run_failed(cli, b);
		b->ns[i] = clock_now() - start;
		/* often enough to see, rarely enough not to affect the timing */
		if (start - shown > 50000000) {
			progress_say("run %" PRIu64 " of %" PRIu64, i + 1, b->runs);
			shown = start;
		}
	}
	for (i = 0; i < b->runs && b->per_op; i++)
		if (profile_run(&b->profile, b->model))
			return run_failed(cli, b);
	return 0;
}

/* ---- report */

static int report_text(const struct bench *b, const struct timing *t, FILE *out)
{
	char open[TIMING_TEXT], min[TIMING_TEXT], median[TIMING_TEXT], p90[TIMING_TEXT],
		max[TIMING_TEXT];
	char params[SIZE_TEXT], activations[SIZE_TEXT];
	struct tenon_model_memory memory;

	tenon_model_memory(b->model, &memory);
	fprintf(out, "%s: %s executor, opened in %s", b->source.file, tenon_model_kind(b->model),
		timing_text(b->open_ns, open));
	/* unknown for ahead-of-time code on another machine */
	if (memory.params || memory.activations)
		fprintf(out, "; parameters %s, activations %s", size_text(memory.params, params),
			size_text(memory.activations, activations));
	fputc('\n', out);
	if (b->kernels.built)
		fprintf(out, "%" PRIu64 " kernel%s ready after %s\n", b->kernels.built,
			b->kernels.built == 1 ? "" : "s",
			timing_text(b->kernels.nanoseconds, open));
	fprintf(out, "%" PRIu64 " runs: min %s, median %s, p90 %s, max %s\n", b->runs,
		timing_text(t->min, min), timing_text(t->median, median), timing_text(t->p90, p90),
		timing_text(t->max, max));
	return b->per_op ? profile_print(&b->profile, out) : 0;
}

#ifdef CONFIG_JSON
static int report_json(const struct bench *b, const struct timing *t, FILE *out)
{
	cJSON *json = cJSON_CreateObject(), *ns;
	struct tenon_model_memory memory;

	tenon_model_memory(b->model, &memory);
	json_set(json, "file", json_of_text(tenon_slice_of(b->source.file)));
	cJSON_AddStringToObject(json, "executor", tenon_model_kind(b->model));
	json_set(json, "parameter_bytes", json_of_int((int64_t)memory.params));
	json_set(json, "activation_bytes", json_of_int((int64_t)memory.activations));
	json_set(json, "warmup", json_of_int((int64_t)b->warmup));
	json_set(json, "kernels", json_of_int((int64_t)b->kernels.built));
	ns = cJSON_AddObjectToObject(json, "nanoseconds");
	json_set(ns, "open", json_of_int((int64_t)b->open_ns));
	json_set(ns, "kernels", json_of_int((int64_t)b->kernels.nanoseconds));
	json_set(ns, "runs", json_of_int((int64_t)b->runs));
	json_set(ns, "min", json_of_int((int64_t)t->min));
	json_set(ns, "median", json_of_int((int64_t)t->median));
	json_set(ns, "p90", json_of_int((int64_t)t->p90));
	json_set(ns, "max", json_of_int((int64_t)t->max));
	if (b->per_op)
		json_set(json, "operators", profile_json(&b->profile));
	return json_print(json, out);
}
#else
static int report_json(const struct bench *b, const struct timing *t, FILE *out)
{
	(void)b;
	(void)t;
	(void)out;
	return -TENON_E_UNSUPPORTED;
}
#endif

static int bench(struct cli *cli, struct bench *b)
{
	struct timing t;
	int code;

	b->ns = calloc(b->runs, sizeof(*b->ns));
	if (b->remote)
		progress_report_waits();
	if (!b->ns || progress_start(0, cli->err == stderr && isatty(STDERR_FILENO))) {
		tenon_error(-TENON_E_NOMEM, "no memory for the times of %" PRIu64 " runs", b->runs);
		return cli_error(cli, CLI_FAILED);
	}
	code = open_model(cli, b);
	if (!code)
		code = measure(cli, b);
	kernels_fini(&b->kernels);
	progress_stop();
	if (code)
		return code;
	t = timing_summary(b->ns, b->runs);
	if (b->json ? report_json(b, &t, cli->out) : report_text(b, &t, cli->out))
		return cli_error(cli, CLI_FAILED);
	return CLI_OK;
}

static int bench_options(struct cli *cli, struct bench *b, int argc, char **argv)
{
	static const struct option options[] = {
		{ "input", required_argument, NULL, INPUT },
		{ "graph", required_argument, NULL, GRAPH },
		{ "params", required_argument, NULL, PARAMS },
		{ "function", required_argument, NULL, FUNCTION },
		{ "device", required_argument, NULL, DEVICE },
		{ "remote", required_argument, NULL, REMOTE },
		{ "repeat", required_argument, NULL, REPEAT },
		{ "runs", required_argument, NULL, REPEAT }, /* an alias */
		{ "warmup", required_argument, NULL, WARMUP },
		{ "per-op", no_argument, NULL, PER_OP },
		{ "json", no_argument, NULL, JSON },
		{ 0 },
	};
	int found, code;

	while ((found = cli_option(cli, argc, argv, options)) >= 0) {
		code = option(cli, b, found);
		if (code)
			return code;
	}
	if (found != CLI_OPTIONS_END)
		return found == CLI_OPTIONS_DONE ? found : CLI_USAGE;
	if (argc - optind != 1)
		return cli_usage(cli, "which model? tenon bench FILE");
	if (b->source.graph && b->source.function)
		return cli_usage(cli, "--function and --graph: a graph is one model, and has no "
				      "function to choose");
	b->source.file = argv[optind];
	return CLI_OPTIONS_END;
}

static int bench_main(struct cli *cli, int argc, char **argv)
{
	struct bench b = { .runs = 100, .warmup = 10 };
	size_t i;
	int code;

	b.arguments = calloc((size_t)argc, sizeof(*b.arguments));
	if (!b.arguments) {
		tenon_error(-TENON_E_NOMEM, "no memory for %d words", argc);
		return cli_error(cli, CLI_FAILED);
	}
	code = bench_options(cli, &b, argc, argv);
	if (code == CLI_OPTIONS_END)
		code = bench(cli, &b);
	else if (code == CLI_OPTIONS_DONE)
		code = CLI_OK;
	tenon_model_close(b.model);
	tenon_object_unref(b.module);
	tenon_object_unref(b.inspected);
	target_list_fini(&b.devices);
	for (i = 0; i < b.argument_count; i++)
		argument_release(&b.arguments[i]);
	profile_fini(&b.profile);
	free(b.arguments);
	free(b.ns);
	return code;
}

const struct cli_command bench_command = {
	"bench",
	"Measure how long a model takes",
	"Usage: tenon bench FILE [OPTION]…\n"
	"\n"
	"  --input [NAME=]SPEC  an input; those that are not given get random numbers\n"
	"  --graph FILE         the model's graph.json, where FILE is its library alone\n"
	"  --params FILE        its parameters\n"
	"  --function NAME      which model, where FILE has several\n"
	"  --device URI         where to run: cpu (the default), opencl:0\n"
	"  --remote ADDRESS     measure on another machine, without the network: " REMOTE_HELP "\n"
	"  --repeat N           how often to run (100); --runs is the same\n"
	"  --warmup N           runs before, that do not count (10)\n"
	"  --per-op             print how long each operator took, measured in further runs\n"
	"  --json               print JSON\n"
	"\n"
	"A SPEC is as in tenon run.\n",
	bench_main,
};

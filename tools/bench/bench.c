/* SPDX-License-Identifier: MIT */
/* tenon bench: measure how long a model takes. */
#include "tools/cli/verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/option.h"
#include "tools/bench/measure.h"
#include "tools/cli/progress.h"
#include "tools/json/json_value.h"
#include "tools/remote_option/remote.h"
#include "tools/text/text.h"

struct bench {
	struct measurement m;
	bool json, svg;
};

/* ---- report */

static int report_text(const struct bench *b, const struct timing *t, FILE *out)
{
	char open[TIMING_TEXT], min[TIMING_TEXT], median[TIMING_TEXT], p90[TIMING_TEXT],
		max[TIMING_TEXT];
	char params[SIZE_TEXT], activations[SIZE_TEXT];
	struct tenon_model_memory memory;

	tenon_model_memory(b->m.model, &memory);
	printable_format(out, "%s: %s executor, opened in %s", b->m.source.file,
			 tenon_model_kind(b->m.model), timing_text(b->m.open_ns, open));
	/* unknown for ahead-of-time code on another machine */
	if (memory.params || memory.activations)
		fprintf(out, "; parameters %s, activations %s", size_text(memory.params, params),
			size_text(memory.activations, activations));
	fputc('\n', out);
	if (b->m.kernels.built)
		fprintf(out, "%" PRIu64 " kernel%s ready after %s\n", b->m.kernels.built,
			b->m.kernels.built == 1 ? "" : "s",
			timing_text(b->m.kernels.nanoseconds, open));
	fprintf(out, "%" PRIu64 " runs: min %s, median %s, p90 %s, max %s\n", b->m.runs,
		timing_text(t->min, min), timing_text(t->median, median), timing_text(t->p90, p90),
		timing_text(t->max, max));
	return b->m.per_op ? profile_print(&b->m.profile, out) : 0;
}

#ifdef CONFIG_JSON
static int report_json(const struct bench *b, const struct timing *t, FILE *out)
{
	cJSON *json = cJSON_CreateObject(), *ns;
	struct tenon_model_memory memory;

	tenon_model_memory(b->m.model, &memory);
	json_set(json, "file", json_of_text(tenon_slice_of(b->m.source.file)));
	cJSON_AddStringToObject(json, "executor", tenon_model_kind(b->m.model));
	json_set(json, "parameter_bytes", json_of_int((int64_t)memory.params));
	json_set(json, "activation_bytes", json_of_int((int64_t)memory.activations));
	json_set(json, "warmup", json_of_int((int64_t)b->m.warmup));
	json_set(json, "kernels", json_of_int((int64_t)b->m.kernels.built));
	ns = cJSON_AddObjectToObject(json, "nanoseconds");
	json_set(ns, "open", json_of_int((int64_t)b->m.open_ns));
	json_set(ns, "kernels", json_of_int((int64_t)b->m.kernels.nanoseconds));
	json_set(ns, "runs", json_of_int((int64_t)b->m.runs));
	json_set(ns, "min", json_of_int((int64_t)t->min));
	json_set(ns, "median", json_of_int((int64_t)t->median));
	json_set(ns, "p90", json_of_int((int64_t)t->p90));
	json_set(ns, "max", json_of_int((int64_t)t->max));
	if (b->m.per_op)
		json_set(json, "operators", profile_json(&b->m.profile));
	return json_print(json, out);
}
#else
static int report_json(const struct bench *b, const struct timing *t, FILE *out)
{
	return -TENON_E_UNSUPPORTED;
}
#endif

static int report_svg(const struct bench *b, FILE *out)
{
	struct tenon_buffer picture = TENON_BUFFER_INIT;
	int err = b->m.per_op ? bench_svg_operators(&b->m, &picture)
			      : bench_svg_runs(&b->m, &picture);

	if (!err)
		fwrite(picture.data, 1, picture.size, out);
	tenon_buffer_fini(&picture);
	return err;
}

static int report(const struct bench *b, FILE *out)
{
	struct timing t;
	int err;

	if (OPTION_ON(PICTURES) && b->svg)
		return report_svg(b, out);
	err = measure_timing(&b->m, &t);
	if (err)
		return err;
	return b->json ? report_json(b, &t, out) : report_text(b, &t, out);
}

static int bench(struct cli *cli, struct bench *b)
{
	int code;

	if (b->m.remote)
		progress_report_waits();
	if (progress_start(0, cli->err == stderr && isatty(STDERR_FILENO))) {
		tenon_error(-TENON_E_NOMEM, "no memory for progress");
		return cli_error(cli, CLI_FAILED);
	}
	code = measure(cli, &b->m);
	progress_stop();
	if (code)
		return code;
	return report(b, cli->out) ? cli_error(cli, CLI_FAILED) : CLI_OK;
}

static int bench_options(struct cli *cli, struct bench *b, int argc, char **argv)
{
	const struct cli_option options[] = {
		{ "input", .take = measure_input, .context = &b->m },
		{ "graph", .text = &b->m.source.graph },
		MODEL_PARAMS_OPTIONS(&b->m.source.params),
		{ "function", .text = &b->m.source.function },
		{ "device", .take = target_list_take, .context = &b->m.devices },
		{ "remote", .text = &b->m.remote },
		{ "repeat", .count = &b->m.runs, .from = 1, .to = UINT32_MAX },
		{ "runs", .count = &b->m.runs, .from = 1, .to = UINT32_MAX }, /* an alias */
		{ "warmup", .count = &b->m.warmup, .to = UINT32_MAX },
		{ "per-op", .flag = &b->m.per_op },
		{ "json", .flag = &b->json },
		{ "svg", .flag = &b->svg },
		{ 0 },
	};
	int code = cli_options(cli, argc, argv, options);

	if (!code && b->json)
		code = cli_needs_json(cli);
	if (code)
		return code;
	if (!OPTION_ON(PICTURES) && b->svg)
		return cli_usage(cli, "--svg: this build has CONFIG_PICTURES=n");
	if (argc - optind != 1)
		return cli_usage(cli, "which model? tenon bench FILE");
	if (b->json && b->svg)
		return cli_usage(cli, "--json or --svg, not both");
	if (b->m.source.graph && b->m.source.function)
		return cli_usage(cli, "--function and --graph: a graph is one model, and has no "
				      "function to choose");
	if (model_params_check(cli, &b->m.source.params))
		return CLI_USAGE;
	if (b->svg)
		cli_reserve_output(cli);
	b->m.source.file = argv[optind];
	return 0;
}

static int bench_main(struct cli *cli, int argc, char **argv)
{
	struct bench b = { .m = { .runs = 100, .warmup = 10 } };
	size_t i;
	int code;

	b.m.arguments = calloc((size_t)argc, sizeof(*b.m.arguments));
	if (!b.m.arguments) {
		tenon_error(-TENON_E_NOMEM, "no memory for %d words", argc);
		return cli_error(cli, CLI_FAILED);
	}
	code = bench_options(cli, &b, argc, argv);
	if (!code)
		code = bench(cli, &b);
	measure_fini(&b.m);
	for (i = 0; i < b.m.argument_count; i++)
		argument_release(&b.m.arguments[i]);
	free(b.m.arguments);
	return code;
}

const struct cli_command bench_command = {
	"bench",
	"Measure how long a model takes",
	"Usage: tenon bench FILE [OPTION]…\n"
	"\n"
	"  --input [NAME=]SPEC  an input; those that are not given get random numbers\n"
	"  --graph FILE         the model's graph.json, where FILE is its library alone\n"
	"  --params [SCOPE=]FILE, --rename OLD=NEW, --params-partial, --dequantize TYPE\n"
	"                       its parameters, as in tenon run\n"
	"  --function NAME      which model, where FILE has several\n"
	"  --device URI         where to run: cpu (the default), opencl:0\n"
	"  --remote ADDRESS     measure on another machine, without the network: " REMOTE_HELP "\n"
	"  --repeat N           how often to run (100); --runs is the same\n"
	"  --warmup N           runs before, that do not count (10)\n"
	"  --per-op             print how long each operator took, measured in further runs\n"
	"  --json               print JSON\n"
	"  --svg                print a picture of the runs; with --per-op, of the operators\n"
	"\n"
	"A SPEC is as in tenon run.\n",
	bench_main,
};

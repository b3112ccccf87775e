/* SPDX-License-Identifier: MIT */
/* Parse options, measure runs if they are wanted, write the page. */
#include "tools/report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tenon/backend/buffer.h>
#include <tenon/tenon.h>

#include "lib/option.h"
#include "link/link_request.h"
#include "tools/cli/progress.h"
#include "tools/device_option/target_list.h"
#include "tools/file/output.h"
#include "tools/link_verb/link_load.h"
#include "tools/report/page.h"
#include "tools/text/text.h"

/**
 * struct request - what the command line wants
 * @source: the model's files
 * @output: the page
 * @arguments: inputs
 * @argument_count: how many
 * @devices: names for the first run
 * @device_count: how many
 * @compare: devices of further runs
 * @compare_count: how many
 * @baseline: file of an earlier measurement; NULL for none
 * @run: measure
 */
struct request {
	struct model_source source;
	const char *output;
	struct argument *arguments;
	size_t argument_count;
	const char *devices[TARGETS_MOST];
	size_t device_count;
	const char *compare[SVG_SERIES_MOST];
	int compare_count;
	const char *baseline;
	uint64_t runs, warmup;
	bool run;
};

/* ---- options */

static int add_input(struct cli *cli, void *request)
{
	struct request *q = request;
	struct measurement m = { .arguments = q->arguments, .argument_count = q->argument_count };
	int code = measure_input(cli, &m);

	q->argument_count = m.argument_count;
	return code;
}

static int read_options(struct cli *cli, struct request *q, int argc, char **argv)
{
	struct cli_words devices = { q->devices, .most = TARGETS_MOST };
	struct cli_words compare = { q->compare, .most = SVG_SERIES_MOST - 2 };
	const struct cli_option options[] = {
		{ "output", .letter = 'o', .text = &q->output },
		{ "run", .flag = &q->run },
		{ "device", .words = &devices, .flag = &q->run },
		{ "compare", .words = &compare, .flag = &q->run },
		{ "baseline", .text = &q->baseline, .flag = &q->run },
		{ "input", .take = add_input, .context = q, .flag = &q->run },
		{ "graph", .text = &q->source.graph },
		MODEL_PARAMS_OPTIONS(&q->source.params),
		{ "function", .text = &q->source.function },
		{ "repeat", .count = &q->runs, .from = 1, .to = UINT32_MAX, .flag = &q->run },
		{ "runs", .count = &q->runs, .from = 1, .to = UINT32_MAX, .flag = &q->run },
		{ "warmup", .count = &q->warmup, .to = UINT32_MAX, .flag = &q->run },
		{ 0 },
	};
	int code = cli_options(cli, argc, argv, options);

	if (code)
		return code;
	q->device_count = devices.count;
	q->compare_count = (int)compare.count;
	if (!OPTION_ON(JSON) && q->baseline)
		return cli_usage(cli, "--baseline: this build has CONFIG_JSON=n");
	if (cli_file(cli, argc, argv, &q->source.file))
		return CLI_USAGE;
	if (!q->output)
		return cli_usage(cli, "which page? tenon report %s -o FILE.html", q->source.file);
	if (q->source.graph && q->source.function)
		return cli_usage(cli, "--function and --graph: a graph is one model, and has no "
				      "function to choose");
	if (model_params_check(cli, &q->source.params))
		return CLI_USAGE;
	if (output_check(q->output))
		return cli_error(cli, CLI_NO_FILE);
	return 0;
}

/* ---- measurements */

static int take_outputs(struct report_run *run)
{
	const size_t n = tenon_model_output_count(run->m.model);
	int err = 0;

	run->outputs = calloc(n + 1, sizeof(*run->outputs));
	if (!run->outputs)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu outputs", n);
	while (!err && run->output_count < n) {
		err = tenon_model_output_value(run->m.model, run->output_count,
					       &run->outputs[run->output_count]);
		if (!err)
			err = target_fetch(&run->outputs[run->output_count++]);
	}
	return err;
}

/* Whether the executor names operators; ahead-of-time code and compiled functions do not. */
static int stop_at_first(void *context, size_t index, const struct tenon_op *op)
{
	return 1;
}

static bool has_operators(struct tenon_model *model)
{
	const bool has = model && tenon_model_each_op(model, stop_at_first, NULL) == 1;

	if (!has)
		tenon_error_clear();
	return has;
}

static int measure_run(struct cli *cli, const struct request *q, struct report *r,
		       const char *const *devices, size_t count)
{
	struct report_run *run = &r->runs[r->run_count++];
	size_t i;
	int code = 0;

	run->name = count ? devices[0] : "cpu";
	run->m = (struct measurement){ .source = q->source,
				       .arguments = q->arguments,
				       .argument_count = q->argument_count,
				       .runs = q->runs,
				       .warmup = q->warmup,
				       .per_op = has_operators(r->described) };
	for (i = 0; i < count && !code; i++)
		code = target_list_add(cli, &run->m.devices, devices[i]);
	if (!code)
		code = measure(cli, &run->m);
	if (!code && (measure_timing(&run->m, &run->timing) || take_outputs(run)))
		code = cli_error(cli, CLI_FAILED);
	return code;
}

static int measure_all(struct cli *cli, const struct request *q, struct report *r)
{
	int i, code;

	if (!q->run)
		return 0;
	code = measure_run(cli, q, r, q->devices, q->device_count);
	for (i = 0; i < q->compare_count && !code; i++)
		code = measure_run(cli, q, r, &q->compare[i], 1);
	if (OPTION_ON(JSON) && !code && q->baseline &&
	    baseline_read(q->baseline, &r->runs[r->run_count++]))
		code = cli_error(cli, cli_exit_of(tenon_error_status(), CLI_NO_FILE));
	return code;
}

static void report_fini(struct report *r)
{
	size_t k;
	int i;

	for (i = 0; i < r->run_count; i++) {
		for (k = 0; k < r->runs[i].output_count; k++)
			tenon_value_release(&r->runs[i].outputs[k]);
		free(r->runs[i].outputs);
		measure_fini(&r->runs[i].m);
	}
	tenon_model_close(r->described);
	tenon_link_inspection_free(r->n);
	free(r->undescribed);
	tenon_buffer_fini(&r->page);
}

/* ---- the page */

static void add_head(struct report *r, bool ran)
{
	const struct tenon_link_module *library = r->n->library;
	char size[SIZE_TEXT];

	page_begin(&r->page, tenon_slice_of(r->file));
	tenon_buffer_printf(&r->page, "<h1>");
	page_text(&r->page, tenon_slice_of(r->file));
	tenon_buffer_printf(&r->page, "</h1>\n");
	page_note(&r->page, "%s%s%s%s%s%zu module%s, %s", library ? "ELF " : "",
		  library ? library->machine : "", library && *library->tvm ? ", TVM " : "",
		  library ? library->tvm : "", library ? ", " : "", r->n->module_count,
		  r->n->module_count == 1 ? "" : "s", size_text(r->n->file_size, size));
	if (!ran)
		page_note(&r->page, "None of its code was run; with --run there are times.");
}

static int make_page(struct report *r)
{
	int err;

	add_head(r, r->run_count > 0);
	err = report_runs(r);
	if (!err)
		err = report_modules(r);
	if (!err)
		err = report_model(r);
	if (!err)
		err = report_memory(r);
	if (!err)
		err = report_operators(r);
	return err ? err : page_end(&r->page, tenon_version());
}

/* The page says why there is no model on it. */
static int keep_reason(struct cli *cli, struct report *r)
{
	r->undescribed = strdup(tenon_error_message());
	if (!r->undescribed || tenon_error_status() == -TENON_E_NOMEM)
		return cli_error(cli, CLI_FAILED);
	fputs("tenon: the page shows no model: ", cli->err);
	printable_message(r->undescribed, cli->err);
	fputc('\n', cli->err);
	tenon_error_clear();
	return 0;
}

/* A model that cannot be described is left out, unless an option names it. */
static int describe_model(struct cli *cli, const struct request *q, struct report *r)
{
	struct tenon_model_options o = { .size = sizeof(o),
					 .function = q->source.function,
					 .describe = true };

	if (q->source.graph || q->source.function)
		return model_open(cli, &q->source, r->n->root, true, &r->described);
	if (!model_is_root(r->n->root))
		return 0;
	if (tenon_model_open(r->n->root, &o, &r->described)) {
		if (tenon_error_status() == -TENON_E_NOT_FOUND)
			return model_open(cli, &q->source, r->n->root, true, &r->described);
		return keep_reason(cli, r);
	}
	return 0;
}

/* Standard output is reserved for the page, see cli_reserve_output(): only @cli still leads to it. */
static int write_page(struct cli *cli, const char *path, struct tenon_slice page)
{
	if (strcmp(path, "-") != 0)
		return output_write(path, &page, 1) ? cli_error(cli, CLI_NO_FILE) : 0;
	fwrite(page.data, 1, page.size, cli->out);
	return 0;
}

static int report_of(struct cli *cli, const struct request *q, const char *module)
{
	struct report r = { .file = q->source.file };
	struct tenon_slice page;
	int code;

	if (tenon_link_inspect(module, &r.n))
		return cli_error(cli, cli_exit_of(tenon_error_status(), CLI_NO_FILE));
	code = describe_model(cli, q, &r);
	if (!code)
		code = measure_all(cli, q, &r);
	/* ahead-of-time code describes itself only when it runs */
	r.model = r.described ? r.described : r.run_count ? r.runs[0].m.model : NULL;
	progress_say("writing %s", q->output);
	if (!code) {
		code = make_page(&r) ? cli_error(cli, CLI_FAILED) : 0;
		page = (struct tenon_slice){ r.page.data, r.page.size };
		if (!code)
			code = write_page(cli, q->output, page);
	}
	report_fini(&r);
	return code;
}

/* Report on a manifest or an archive: on the module that is made of it. */
static int report_made(struct cli *cli, const struct request *q)
{
	const struct tenon_link_options o = link_options();
	struct link_made made;
	int code, err;

	err = link_make(q->source.file, &o, &made);
	code = err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE))
		   : report_of(cli, q, made.path.data);
	link_made_fini(&made);
	return code;
}

static int report(struct cli *cli, const struct request *q)
{
	if (OPTION_ON(LINK) && link_is_alone(q->source.file))
		return report_made(cli, q);
	return report_of(cli, q, q->source.file);
}

static int report_main(struct cli *cli, int argc, char **argv)
{
	struct request q = { .runs = 20, .warmup = 3 };
	size_t i;
	int code;

	q.arguments = calloc((size_t)argc, sizeof(*q.arguments));
	if (!q.arguments) {
		tenon_error(-TENON_E_NOMEM, "no memory for %d words", argc);
		return cli_error(cli, CLI_FAILED);
	}
	code = read_options(cli, &q, argc, argv);
	if (!code) {
		cli_reserve_output(cli);
		if (progress_start(0, cli->err == stderr && isatty(STDERR_FILENO)))
			code = cli_error(cli, CLI_FAILED);
	}
	if (!code)
		code = report(cli, &q);
	progress_stop();
	for (i = 0; i < q.argument_count; i++)
		argument_release(&q.arguments[i]);
	free(q.arguments);
	return code;
}

const struct cli_command report_command = {
	"report",
	"Write a page about a model",
	"Usage: tenon report FILE -o PAGE.html [OPTION]…\n"
	"\n"
	"  -o, --output PAGE    the page to write, one file of HTML\n"
	"  --run                run the model, and add times of runs and operators\n"
	"  --device URI         where to run: cpu (the default), opencl:0\n"
	"  --compare URI        run on this device as well, and compare times and outputs\n"
	"  --baseline FILE      compare with what tenon bench --json --per-op printed before\n"
	"  --input [NAME=]SPEC  an input; those that are not given get random numbers\n"
	"  --graph FILE         the model's graph.json, where FILE is its library alone\n"
	"  --params [SCOPE=]FILE, --rename OLD=NEW, --params-partial, --dequantize TYPE\n"
	"                       its parameters, as in tenon run\n"
	"  --function NAME      which model, where FILE has several\n"
	"  --repeat N           how often to run (20); --runs is the same\n"
	"  --warmup N           runs before, that do not count (3)\n"
	"\n"
	"The page has the tree of imports, inputs, outputs and parameters, the graph of "
	"operators,\n"
	"the memory that they use over time, and a list of them. No code of FILE is run without\n"
	"--run or another option that is about runs.\n",
	report_main,
};

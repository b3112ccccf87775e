/* SPDX-License-Identifier: MIT */
/* Parse options and words, and refuse options that exclude each other. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/record.h"
#include "tools/device_option/target_list.h"
#include "tools/file/file.h"
#include "tools/file/output.h"
#include "tools/run/run.h"
#include "tools/tensor/print.h"

/* how many elements --labels lists without --top */
#define LABELLED 5

static int specification(struct cli *cli, struct run *run, enum spec_role role)
{
	static const char *const names[] = { "input", "output", "expect" };
	struct argument *a = role == SPEC_EXPECT ? &run->expectations.at[run->expectations.count]
						 : &run->arguments.at[run->arguments.count];

	if (spec_parse(role, optarg, &a->spec)) {
		cli_usage(cli, "--%s %s: %s", names[role], optarg, tenon_error_message());
		tenon_error_clear();
		return CLI_USAGE;
	}
	if (argument_given_before(role == SPEC_EXPECT ? run->expectations.at : run->arguments.at,
				  a))
		return cli_usage(cli, "--%s %s: an earlier --%s has the name \"%.*s\" too",
				 names[role], optarg, names[role], (int)a->spec.name.size,
				 a->spec.name.data);
	spec_print_seed(&a->spec, "--input", cli->err);
	if (role == SPEC_EXPECT) {
		run->expectations.count++;
		return 0;
	}
	if (a->spec.write && output_check(a->spec.write))
		return cli_error(cli, CLI_NO_FILE);
	run->arguments.count++;
	run->arguments.output_count += role == SPEC_OUTPUT;
	return 0;
}

static int add_input(struct cli *cli, void *run)
{
	return specification(cli, run, SPEC_INPUT);
}

static int add_output(struct cli *cli, void *run)
{
	return specification(cli, run, SPEC_OUTPUT);
}

static int add_expectation(struct cli *cli, void *run)
{
	return specification(cli, run, SPEC_EXPECT);
}

/* KEY=URI; both parts stay in the command line. */
static int add_target(struct cli *cli, void *options)
{
	struct run_options *o = options;
	char *equal = strchr(optarg, '=');

	if (!equal || equal == optarg || !equal[1])
		return cli_usage(cli, "--target-key %s: want KEY=URI", optarg);
	if (target_check(cli, "--target-key ", equal + 1))
		return CLI_USAGE;
	*equal = 0;
	o->targets[o->target_count++] = (struct tenon_target){ optarg, equal + 1 };
	return 0;
}

/* what excludes other options */
enum { STREAM = 1, SELF_TEST = 2, MEMORY = 4 };

/**
 * struct other - an option that another one excludes
 * @option: its name
 * @by: which exclude it
 * @given: it was given
 */
struct other {
	const char *option;
	unsigned int by;
	bool given;
};

/* Refuse the first option that is given beside one that excludes it. */
static int refuse_beside(struct cli *cli, const struct run *run, unsigned int by,
			 const char *option, const char *why)
{
	const struct run_options *o = &run->options;
	const struct other others[] = {
		{ "--output", STREAM, run->arguments.output_count },
		{ "--input or --output", SELF_TEST | MEMORY, run->arguments.count },
		{ "--expect", SELF_TEST | MEMORY, run->expectations.count },
		{ "--repeat", STREAM | SELF_TEST | MEMORY, o->repeat > 1 },
		{ "--stream", SELF_TEST | MEMORY, o->stream },
		{ "--top", STREAM | SELF_TEST | MEMORY, o->top },
		{ "--profile", STREAM | SELF_TEST | MEMORY, o->profile },
		{ "--trace", STREAM | SELF_TEST, o->trace },
		{ "--json", STREAM | SELF_TEST, o->json },
		{ "--labels", STREAM | SELF_TEST | MEMORY, o->labels },
		{ "--record", SELF_TEST | MEMORY, o->record },
		{ "--remote", MEMORY, o->remote },
		{ "--graph", SELF_TEST | MEMORY, o->graph },
		{ "--memory", SELF_TEST, o->memory },
	};
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if ((others[i].by & by) && others[i].given)
			return cli_usage(cli, "%s and %s: %s", option, others[i].option, why);
	return 0;
}

/* Allocate lists with one argument, expectation and import per word of the command line. */
static int make_lists(struct cli *cli, struct run *run, size_t words)
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

static int refuse_together(struct cli *cli, const struct run *run)
{
	const struct run_options *o = &run->options;
	int code = 0;

	/* the output of --stream is raw bytes: an option that would print or write more is refused */
	if (o->stream)
		code = refuse_beside(cli, run, STREAM, "--stream",
				     "of frames the bytes of all outputs are written to standard "
				     "output, and nothing else");
	if (!code && o->memory)
		code = refuse_beside(cli, run, MEMORY, "--memory",
				     "the model of a file is run on zeros, and its memory printed");
	if (code)
		return code;
	if (model_params_check(cli, &o->params))
		return CLI_USAGE;
	if (o->graph && o->function)
		return cli_usage(cli, "--function and --graph: a graph is one model, and has no "
				      "function to choose");
	if (o->verify && o->remote)
		return cli_usage(cli,
				 "--verify and --remote: files are loaded by the other machine");
	if (o->record && o->remote)
		return cli_usage(cli, "--record and --remote: a record is of this machine");
	if (o->record && o->trace)
		return cli_usage(cli, "--record and --trace: one of them at a time");
	if (o->top && o->json)
		return cli_usage(cli, "--top and --json: the list is for people; in JSON the "
				      "values are there");
	if (o->labels && o->json)
		return cli_usage(cli, "--labels and --json: in JSON the values are there");
	return 0;
}

static int take_options(struct cli *cli, struct run *run, int argc, char **argv)
{
	struct run_options *o = &run->options;
	struct cli_words imports = { o->imports, .most = (size_t)argc };
	const struct cli_option options[] = {
		{ "function", .text = &o->function },
		{ "import", .words = &imports },
		{ "device", .take = target_list_take, .context = &run->targets },
		{ "remote", .text = &o->remote },
		{ "input", .take = add_input, .context = run },
		{ "output", .take = add_output, .context = run },
		{ "expect", .take = add_expectation, .context = run },
		{ "rtol", .real = &o->tolerance.rtol, .flag = &o->tolerance.rtol_given },
		{ "atol", .real = &o->tolerance.atol, .flag = &o->tolerance.atol_given },
		{ "repeat", .count = &o->repeat, .from = 1, .to = UINT32_MAX },
		{ "runs", .count = &o->repeat, .from = 1,
		  .to = UINT32_MAX }, /* as in tenon bench */
		{ "timeout", .real = &o->timeout },
		{ "graph", .text = &o->graph },
		MODEL_PARAMS_OPTIONS(&o->params),
		{ "trace", .text = &o->trace },
		{ "record", .text = &o->record },
		{ "record-limit", .count = &o->record_limit, .from = 1, .to = INT64_MAX },
		{ "memory", .flag = &o->memory },
		{ "profile", .flag = &o->profile },
		{ "stream", .flag = &o->stream },
		{ "top", .count = &o->top, .from = 1, .to = PRINT_TOP_MOST },
		{ "labels", .text = &o->labels },
		{ "json", .flag = &o->json },
		{ "target-key", .take = add_target, .context = o },
		{ "verify", .flag = &o->verify },
		{ "self-test", .flag = &o->self_test },
		{ "reference", .text = &o->reference },
		{ 0 },
	};
	int code = cli_options(cli, argc, argv, options);

	o->import_count = imports.count;
	return code;
}

int run_read_options(struct cli *cli, struct run *run, int argc, char **argv)
{
	struct run_options *o = &run->options;
	int code = make_lists(cli, run, (size_t)argc);

	if (code)
		return code;
	o->tolerance.rtol = COMPARE_RTOL;
	o->tolerance.atol = COMPARE_ATOL;
	o->repeat = 1;
	o->record_limit = RECORD_LIMIT;
	code = take_options(cli, run, argc, argv);
	if (code)
		return code;
	code = cli_file(cli, argc, argv, &o->file);
	if (!code && o->self_test)
		code = refuse_beside(cli, run, SELF_TEST, "--self-test",
				     "the cases are in the file, and the result is KTAP");
	if (!code && o->reference && !o->self_test)
		code = cli_usage(cli, "--reference goes with --self-test");
	if (!code)
		code = refuse_together(cli, run);
	if (!code && o->json)
		code = cli_needs_json(cli);
	if (code)
		return code;
	if (o->stream)
		cli_reserve_output(cli);
	if (o->labels && !o->top)
		o->top = LABELLED;
	if (o->labels && file_read_text(o->labels, &run->labels))
		return cli_error(cli, CLI_NO_FILE);
	return 0;
}

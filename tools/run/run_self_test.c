/* SPDX-License-Identifier: MIT */
/* Run the cases in the file of a model, and print the result as KTAP. */
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/self_test.h>

#include "tools/cli/progress.h"
#include "tools/link_verb/link_load.h"
#include "tools/run/run.h"
#include "tools/text/text.h"

/**
 * struct self_test - a self-test
 * @run: the run
 * @cases: the cases of the file
 * @reference: a model that is right, for the comparison of operators; NULL for none
 * @module: of @reference
 * @why_none: why there is no reference
 */
struct self_test {
	struct run *run;
	struct tenon_cases *cases;
	struct tenon_model *reference;
	struct tenon_module *module;
	struct tenon_buffer why_none;
};

/* ---- the reference */

static bool is_on_processor(const struct target_list *targets)
{
	size_t i;

	for (i = 0; i < targets->count; i++)
		if (targets->id[i].device_type != kDLCPU || targets->id[i].device_id)
			return false;
	return !targets->remote;
}

static void no_reference(struct self_test *t, const char *why)
{
	tenon_buffer_printf(&t->why_none, "operators are not compared: %s\n", why);
}

/*
 * Open the model of --reference, else the same file, on the processor. A file for a device alone does not open or run there:
 * only the names of operators are lost by that.
 */
static int open_reference(struct cli *cli, struct self_test *t)
{
	const struct run_options *o = &t->run->options;
	struct tenon_model_options options = { .size = sizeof(options), .function = o->function };
	int err;

	if (t->run->targets.remote) {
		no_reference(t, "the model runs on another machine; run --self-test there");
		return 0;
	}
	if (!o->reference && is_on_processor(&t->run->targets)) {
		no_reference(t, "it is the processor that differs; --reference FILE takes a module "
				"that is right");
		return 0;
	}
	err = link_load(o->reference ? o->reference : o->file, NULL, 0, &t->module);
	if (!err)
		err = tenon_model_open(t->module, &options, &t->reference);
	if (err && o->reference)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	if (err) {
		no_reference(t, tenon_error_message());
		tenon_error_clear();
	}
	return 0;
}

/* ---- cases */

static void print_name(struct tenon_slice name, FILE *out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	size_t i;

	printable_append(&text, name, 200);
	/* "#" begins a directive */
	for (i = 0; i < text.size; i++)
		fputc(text.data[i] == '#' ? '.' : text.data[i], out);
	tenon_buffer_fini(&text);
}

static void print_lines(const char *lines, FILE *out)
{
	size_t n;

	for (; *lines; lines += n + (lines[n] == '\n')) {
		n = strcspn(lines, "\n");
		fputs("# ", out);
		printable_cell((struct tenon_slice){ lines, n }, 0, out);
		fputc('\n', out);
	}
}

/* Return: CLI_OK, CLI_DIFFERS or CLI_FAILED; the case has its line. */
static int run_case(struct cli *cli, struct self_test *t, size_t index)
{
	const struct tenon_case *c = tenon_cases_at(t->cases, index);
	struct tenon_buffer why = TENON_BUFFER_INIT;
	int result;

	progress_say("running case %zu of %zu", index + 1, tenon_cases_count(t->cases));
	result = tenon_self_test(t->run->model, c, t->reference, &why);
	fprintf(cli->out, "%sok %zu ", result ? "not " : "", index + 1);
	print_name(c->name, cli->out);
	fputc('\n', cli->out);
	if (result && why.data)
		print_lines(why.data, cli->out);
	if (result > 0 && t->why_none.data)
		print_lines(t->why_none.data, cli->out);
	if (result > 0 && t->reference && !t->run->options.reference)
		print_lines("the reference is this file on the processor; --reference FILE takes "
			    "another",
			    cli->out);
	if (result < 0) {
		print_lines(tenon_error_message(), cli->out);
		tenon_error_clear();
	}
	fflush(cli->out);
	tenon_buffer_fini(&why);
	return result > 0 ? CLI_DIFFERS : result ? CLI_FAILED : CLI_OK;
}

static int run_cases(struct cli *cli, struct self_test *t)
{
	size_t i, count = tenon_cases_count(t->cases);
	int code = CLI_OK, one;

	fprintf(cli->out, "KTAP version 1\n1..%zu\n", count);
	for (i = 0; i < count; i++) {
		one = run_case(cli, t, i);
		if (one > code)
			code = one;
	}
	return code;
}

int run_self_test(struct cli *cli, struct run *run)
{
	struct self_test t = { .run = run };
	int code, err = tenon_cases_open(run->options.file, &t.cases);

	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	code = run_open_model(cli, run);
	if (!code)
		code = open_reference(cli, &t);
	if (!code)
		code = run_cases(cli, &t);
	tenon_model_close(t.reference);
	tenon_object_unref(t.module);
	tenon_buffer_fini(&t.why_none);
	tenon_cases_close(t.cases);
	return code;
}

/* SPDX-License-Identifier: MIT */
/* Describe a device's program, or a model whose operators are some. */
#include "tools/inspect/inspect.h"

#include <stdlib.h>

#include "tools/text/text.h"

/* a file that is described */
struct described {
	struct program_file *file;
	struct program_report *report;
	bool commands;
};

/* Describe the program of an operator; what cannot be read is a fault to print. */
static int describe_operator(void *context, const struct model_operator *op)
{
	const struct tenon_payload_format *format = program_format(op);
	const struct described *d = context;
	struct tenon_payload_request request = { .commands = d->commands };
	struct program_report report;

	if (!format)
		return 0;
	report = program_report_within(d->report);
	tenon_error_clear();
	if (program_file_choose(d->file, op, &request) || format->describe(&request, &report.base))
		program_report_fault(&report, tenon_error_message());
	return 0;
}

int inspect_program_report(struct program_file *f, bool commands, struct program_report *report)
{
	struct tenon_payload_request request = { .commands = commands };
	struct described d = { f, report, commands };

	if (f->model)
		return f->model_format->describe(f->model, &report->base, describe_operator, &d);
	program_file_whole(f, &request);
	return f->format->describe(&request, &report->base);
}

static int print_text(struct program_file *f, bool commands, FILE *out)
{
	struct program_report report = program_report_text(out);
	char size[SIZE_TEXT], *before = NULL, *after = NULL;
	int err;

	if (asprintf(&before, "%s   ", f->path) < 0)
		before = NULL;
	if (asprintf(&after, ", %s", size_text(f->bytes.size, size)) < 0)
		after = NULL;
	if (before && after) {
		report.before = before;
		report.after = after;
		err = inspect_program_report(f, commands, &report);
	} else {
		err = tenon_error(-TENON_E_NOMEM, "no memory to describe a file");
	}
	free(after);
	free(before);
	return err;
}

static int print_json(struct program_file *f, bool commands, FILE *out)
{
	const char *kind = f->model ? f->model_format->kind : f->format->kinds[0];
	cJSON *root = cJSON_CreateObject();
	struct program_report report = program_report_json(root);
	int err;

	json_set(root, "file", json_of_text(tenon_slice_of(f->path)));
	json_set(root, "kind", json_of_text(tenon_slice_of(kind)));
	err = inspect_program_report(f, commands, &report);
	if (!err)
		return json_print(root, out);
	cJSON_Delete(root);
	return err;
}

int inspect_program(struct cli *cli, const char *path, bool json, bool commands)
{
	struct program_file f;
	int err = program_file_open(path, NULL, &f), code = CLI_OK;

	if (!err && json)
		err = print_json(&f, commands, cli->out);
	else if (!err)
		err = print_text(&f, commands, cli->out);
	if (err)
		code = cli_error(cli, cli_exit_of(tenon_error_status(), CLI_NO_FILE));
	tenon_error_clear();
	program_file_fini(&f);
	return code;
}

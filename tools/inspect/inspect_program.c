/* SPDX-License-Identifier: MIT */
/* Describe a device's program, or a model whose operators are some. */
#include "tools/inspect/inspect_program.h"

#include <stdlib.h>

#include "tools/inspect/inspect_tflite.h"
#include "tools/program/program_report.h"
#include "tools/text/printable.h"
#include "tools/text/size.h"

static void print_model(struct program_file *f, bool commands, FILE *out)
{
	char size[SIZE_TEXT];

	printable_format(out, "%s   model of TensorFlow Lite", f->path);
	if (f->model.description.size) {
		fputs(" \"", out);
		printable_cell(f->model.description, 0, out);
		fputs("\"", out);
	}
	fprintf(out, ", %s\n", size_text(f->bytes.size, size));
	inspect_tflite_text(f, commands, out);
}

static int print_program(const struct program_file *f, bool commands, FILE *out)
{
	struct tenon_payload_request request = { .commands = commands };
	struct program_report report = program_report_text(out);
	char size[SIZE_TEXT], *before = NULL, *after = NULL;
	int err = -TENON_E_NOMEM;

	program_file_whole(f, &request);
	if (asprintf(&before, "%s   ", f->path) < 0)
		before = NULL;
	if (asprintf(&after, ", %s", size_text(f->bytes.size, size)) < 0)
		after = NULL;
	if (before && after) {
		report.before = before;
		report.after = after;
		err = f->format->describe(&request, &report.base);
	}
	free(after);
	free(before);
	return err;
}

static int print_json(struct program_file *f, bool commands, FILE *out)
{
	struct tenon_payload_request request = { .commands = commands };
	cJSON *root = cJSON_CreateObject();
	struct program_report report = program_report_json(root);
	int err = 0;

	json_set(root, "file", json_of_text(tenon_slice_of(f->path)));
	json_set(root, "kind",
		 json_of_text(tenon_slice_of(f->is_model ? "tflite" : f->format->kinds[0])));
	if (f->is_model) {
		inspect_tflite_json(root, f, commands);
	} else {
		program_file_whole(f, &request);
		err = f->format->describe(&request, &report.base);
	}
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
	else if (!err && f.is_model)
		print_model(&f, commands, cli->out);
	else if (!err)
		err = print_program(&f, commands, cli->out);
	if (err)
		code = cli_error(cli, cli_exit_of(tenon_error_status(), CLI_NO_FILE));
	tenon_error_clear();
	program_file_fini(&f);
	return code;
}

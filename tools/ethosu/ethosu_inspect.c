/* SPDX-License-Identifier: MIT */
/* Print or disassemble a file in the wanted form. */
#include "tools/ethosu/ethosu_inspect.h"

#include "tools/ethosu/ethosu_print.h"
#include "tools/text/printable.h"
#include "tools/text/size.h"

static void print_text(struct ethosu_file *f, const struct ethosu_inspection *n, bool disassemble,
		       FILE *out)
{
	char size[SIZE_TEXT];

	fprintf(out, "%s   ", f->path);
	if (!f->is_model) {
		ethosu_print_title(f, out);
	} else {
		fputs("model of TensorFlow Lite", out);
		if (f->model.description.size) {
			fputs(" \"", out);
			printable_cell(f->model.description, 0, out);
			fputs("\"", out);
		}
	}
	fprintf(out, ", %s\n", size_text(f->bytes.size, size));
	if (f->is_model)
		tflite_print(f, disassemble, out);
	else
		ethosu_print(n, disassemble, out);
}

static int print_json(struct ethosu_file *f, const struct ethosu_inspection *n, bool disassemble,
		      FILE *out)
{
	cJSON *root = cJSON_CreateObject();

	json_set(root, "file", json_of_text(tenon_slice_of(f->path)));
	json_set(root, "kind", json_of_text(tenon_slice_of(f->is_model ? "tflite" : "ethos-u")));
	if (f->is_model)
		tflite_json(root, f, disassemble);
	else
		ethosu_json(root, n, disassemble);
	return json_print(root, out);
}

int ethosu_inspect(struct cli *cli, const char *path, bool json, bool disassemble)
{
	struct ethosu_file f;
	struct ethosu_inspection n = { .file = &f };
	int code = CLI_OK;

	if (ethosu_file_open(path, &f)) {
		code = cli_error(cli, cli_exit_of(tenon_error_status(), CLI_NO_FILE));
		ethosu_file_fini(&f);
		return code;
	}
	if (!f.is_model && ethosu_file_check(&f, &n.extents))
		n.fault = tenon_error_message();
	if (!json)
		print_text(&f, &n, disassemble, cli->out);
	else if (print_json(&f, &n, disassemble, cli->out))
		code = cli_error(cli, CLI_FAILED);
	tenon_error_clear();
	ethosu_file_fini(&f);
	return code;
}

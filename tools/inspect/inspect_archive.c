/* SPDX-License-Identifier: MIT */
/* tenon inspect of an archive in Model Library Format. */
#include "tools/inspect/inspect.h"

#include <string.h>

#include "link/mlf/mlf.h"
#include "tools/json/json_value.h"
#include "tools/text/text.h"

static void print_text(const char *text, FILE *out)
{
	printable_cell(tenon_slice_of(text), 0, out);
}

static void print_size(const cJSON *from, const char *key, const char *what, FILE *out)
{
	const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(from, key);
	char size[SIZE_TEXT];

	if (cJSON_IsNumber(bytes) && bytes->valuedouble >= 0 && bytes->valuedouble < 0x1p53)
		fprintf(out, ", %s %s", what, size_text((uint64_t)bytes->valuedouble, size));
}

/* What the first device takes; "main" is a list with an item for each. */
static void print_memory(const struct mlf_model *model, FILE *out)
{
	const cJSON *memory = cJSON_GetObjectItemCaseSensitive(model->json, "memory");
	const cJSON *functions = cJSON_GetObjectItemCaseSensitive(memory, "functions");
	const cJSON *main =
		cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(functions, "main"), 0);

	print_size(main, "constants_size_bytes", "constants", out);
	print_size(main, "workspace_size_bytes", "workspace", out);
	print_size(main, "io_size_bytes", "inputs and outputs", out);
}

static void print_model(const struct mlf_model *model, FILE *out)
{
	const cJSON *made = cJSON_GetObjectItemCaseSensitive(model->json, "export_datetime");

	fprintf(out, "  model \"");
	print_text(model->name, out);
	fprintf(out, "\"  %s",
		model->graph ? "graph executor"
		: model->aot ? "ahead-of-time code"
			     : "functions");
	print_memory(model, out);
	if (cJSON_IsString(made)) {
		fprintf(out, ", exported ");
		print_text(made->valuestring, out);
	}
	fprintf(out, "\n");
}

static void print_archive(const struct mlf *m, FILE *out)
{
	char size[SIZE_TEXT];
	size_t i;

	printable_format(out, "%s   Model Library Format %d, %zu model%s, %zu files\n", m->path,
			 m->version, m->count, m->count == 1 ? "" : "s", m->files.count);
	for (i = 0; i < m->count; i++)
		print_model(&m->models[i], out);
	for (i = 0; i < m->files.count; i++) {
		fprintf(out, "  %9s  ", size_text(m->files.items[i].bytes.size, size));
		print_text(m->files.items[i].path, out);
		fprintf(out, "\n");
	}
}

static int print_json(const struct mlf *m, FILE *out)
{
	cJSON *json = cJSON_CreateObject(), *files, *file;
	size_t i;

	json_set(json, "file", json_of_text(tenon_slice_of(m->path)));
	json_set(json, "format", json_of_text(tenon_slice_of("model library format")));
	json_set(json, "version", json_of_int(m->version));
	files = cJSON_AddArrayToObject(json, "files");
	for (i = 0; i < m->files.count; i++) {
		file = cJSON_CreateObject();
		json_set(file, "path", json_of_text(tenon_slice_of(m->files.items[i].path)));
		json_set(file, "size", json_of_int((int64_t)m->files.items[i].bytes.size));
		json_append(files, file);
	}
	json_set(json, "metadata", cJSON_Duplicate(m->metadata, true));
	return json_print(json, out);
}

int inspect_archive(struct cli *cli, const char *file, bool json)
{
	struct mlf m = { 0 };
	int code = CLI_OK, err;

	err = mlf_open(file, &m);
	if (err)
		code = cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	else if (!json)
		print_archive(&m, cli->out);
	else if (print_json(&m, cli->out))
		code = cli_error(cli, CLI_FAILED);
	mlf_fini(&m);
	return code;
}

int inspect_archive_show(struct cli *cli, const char *file, const char *name)
{
	const struct archive_file *member = NULL;
	struct mlf m = { 0 };
	int err;

	err = mlf_open(file, &m);
	if (!err)
		member = archive_files_find(&m.files, name);
	if (!err && !member)
		err = tenon_error(-TENON_E_NOT_FOUND,
				  "%s: --show %s: no file has this path; tenon inspect lists them",
				  file, name);
	if (member)
		inspect_show_bytes(cli, member->path,
				   (struct tenon_slice){ member->bytes.data, member->bytes.size });
	mlf_fini(&m);
	return err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : CLI_OK;
}

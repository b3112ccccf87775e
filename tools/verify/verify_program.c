/* SPDX-License-Identifier: MIT */
/* Check the programs of a file and print what their format reports. */
#include "tools/verify/verify_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "tools/program/program_file.h"

/**
 * struct checking - the check of a file
 * @wanted: what to check
 * @file: the file
 * @members: JSON of a program; NULL to print text
 * @list: JSON of all programs of a model; NULL for a file that is one
 * @out: where text is printed
 */
struct checking {
	const struct verify_program *wanted;
	struct program_file *file;
	cJSON *members;
	cJSON *list;
	FILE *out;
};

/* "FILE: graph 1, operator 3: " */
static int name_program(const struct checking *c, const struct model_operator *op,
			struct tenon_buffer *out)
{
	tenon_buffer_printf(out, "%s: ", c->file->path);
	if (c->file->model && op->graph)
		tenon_buffer_printf(out, "graph %" PRIu32 ", ", op->graph);
	if (c->file->model)
		tenon_buffer_printf(out, "operator %" PRIu32 ": ", op->index);
	return out->status;
}

static int check_text(const struct checking *c, const struct model_operator *op,
		      const struct tenon_payload_request *r)
{
	struct program_report report = program_report_text(c->out);
	struct tenon_buffer name = TENON_BUFFER_INIT;
	int err = name_program(c, op, &name);

	if (!err) {
		report.before = name.data;
		err = c->file->format->check(r, &report.base);
	}
	tenon_buffer_fini(&name);
	return err;
}

static int check_json(const struct checking *c, const struct model_operator *op,
		      const struct tenon_payload_request *r)
{
	cJSON *item = c->list ? cJSON_CreateObject() : c->members;
	struct program_report report = program_report_json(item);

	if (c->list)
		json_set(item, "operator", json_of_int(op->index));
	if (c->list && op->graph)
		json_set(item, "graph", json_of_int(op->graph));
	if (c->list)
		json_append(c->list, item);
	return c->file->format->check(r, &report.base);
}

static int check_program(void *context, const struct model_operator *op,
			 struct tenon_payload_request *r)
{
	const struct checking *c = context;

	r->options = c->wanted->options;
	r->option_count = c->wanted->option_count;
	return c->members ? check_json(c, op, r) : check_text(c, op, r);
}

/* Move the members of one object behind those of another. */
static void move_members(cJSON *from, cJSON *to)
{
	cJSON *item;

	while ((item = from->child)) {
		cJSON_DetachItemViaPointer(from, item);
		json_set(to, item->string, item);
	}
}

static int print_json(const struct checking *c, int err)
{
	cJSON *root = cJSON_CreateObject();

	json_set(root, "file", json_of_text(tenon_slice_of(c->wanted->path)));
	json_set(root, "valid", cJSON_CreateBool(!err));
	if (err)
		json_set(root, "fault", json_of_text(tenon_slice_of(tenon_error_message())));
	if (!err)
		move_members(c->members, root);
	return json_print(root, c->out);
}

static int check_file(struct cli *cli, const struct verify_program *v,
		      const struct tenon_payload_format *format)
{
	struct program_file f;
	struct checking c = { .wanted = v, .file = &f, .out = cli->out };
	int err, code = CLI_OK;

	err = program_file_open(v->path, format, &f);
	c.members = v->json ? cJSON_CreateObject() : NULL;
	c.list = v->json && f.model ? cJSON_AddArrayToObject(c.members, "payloads") : NULL;
	err = err ? err : program_file_each(&f, check_program, &c);
	if (v->json && err != -TENON_E_USAGE && print_json(&c, err))
		code = CLI_FAILED;
	cJSON_Delete(c.members);
	if (err == -TENON_E_USAGE)
		code = cli_usage(cli, "%s", tenon_error_message());
	else if (err || code)
		code = cli_error(cli, code || err == -TENON_E_NOMEM ? CLI_FAILED : CLI_NO_FILE);
	program_file_fini(&f);
	return code;
}

int verify_program(struct cli *cli, const struct verify_program *v)
{
	const struct tenon_payload_format *format;

	if (!program_format_to_check(v->kind, &format))
		return check_file(cli, v, format);
	return cli_usage(cli, "--kind %s: %s", v->kind, tenon_error_message());
}

/* SPDX-License-Identifier: MIT */
/* Open a file, find the format of its programs, and visit them. */
#include "tools/program/program_file.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "runtime/tflite/npu_parts.h"

/* bytes at the start of a file that tell what it is */
#define MAGIC_MOST 16

/* ---- formats */

/* a file whose format is looked for */
struct looked_at {
	const char *path;
	struct tenon_slice head;
	const struct tenon_payload_format *found;
};

static bool has_suffix(const char *path, const char *suffix)
{
	const size_t length = strlen(path), want = strlen(suffix);

	return length > want + 1 && path[length - want - 1] == '.' &&
	       !strcmp(path + length - want, suffix);
}

/* Test whether a format describes a file that begins with these bytes. */
static int describes(void *context, const struct tenon_payload_format *format)
{
	const struct tenon_payload_file *file = PAYLOAD_SLOT(format, files);
	struct looked_at *l = context;
	bool is;

	if (!PAYLOAD_SLOT(format, describe) || !format->recognise)
		return 0;
	is = format->recognise(NULL, l->head);
	for (; file && file->suffix && !is; file++)
		is = has_suffix(l->path, file->suffix) && format->recognise(file, l->head);
	l->found = is ? format : NULL;
	return is;
}

static const struct tenon_payload_format *format_of_file(const char *path, struct tenon_slice head)
{
	struct looked_at l = { path, head, NULL };

	/* plug-ins of others are opened for what is no shared object and that no own format describes */
	if (!payload_format_each(false, describes, &l) &&
	    (head.size < 4 || memcmp(head.data, "\177ELF", 4)))
		payload_format_each(true, describes, &l);
	return l.found;
}

const struct tenon_payload_format *program_format(const struct tflite_operator *op)
{
	const struct tenon_payload_format *format =
		op->builtin == TFLITE_CUSTOM ? payload_format_of(op->custom) : NULL;

	return PAYLOAD_SLOT(format, describe) ? format : NULL;
}

static int add_kinds(void *context, const struct tenon_payload_format *format)
{
	struct tenon_buffer *known = context;
	const char *const *kind = format->kinds;

	for (; PAYLOAD_SLOT(format, check) && *kind; kind++)
		tenon_buffer_printf(known, "%s%s", known->size ? ", " : "", *kind);
	return 0;
}

int program_format_to_check(const char *kind, const struct tenon_payload_format **out)
{
	struct tenon_buffer known = TENON_BUFFER_INIT;
	int err;

	*out = payload_format_of(tenon_slice_of(kind));
	if (PAYLOAD_SLOT(*out, check))
		return 0;
	payload_format_each(true, add_kinds, &known);
	err = tenon_error(
		-TENON_E_NOT_FOUND,
		"unknown kind; known: %s. Others need the option of their backend, or its "
		"plug-in",
		known.data ? known.data : "none");
	tenon_buffer_fini(&known);
	return err;
}

/* ---- files */

bool program_file_is(const char *path)
{
	struct tenon_slice head;
	bool is;

	if (file_map_head(path, MAGIC_MOST, &head)) {
		/* the command that reads the file says why it cannot be read */
		tenon_error_clear();
		return false;
	}
	is = tflite_is(head) || format_of_file(path, head);
	file_map_close(&head);
	return is;
}

int program_file_open(const char *path, const struct tenon_payload_format *format,
		      struct program_file *out)
{
	struct tenon_cursor c;
	int err;

	*out = (struct program_file){ .path = path };
	err = file_map_open(path, &out->bytes);
	if (err)
		return err;
	out->is_model = tflite_is(out->bytes);
	out->format = format || out->is_model ? format : format_of_file(path, out->bytes);
	if (!out->is_model)
		return out->format ? 0
				   : tenon_error(-TENON_E_FORMAT,
						 "%s: no program that this build describes", path);
	c = tenon_cursor_of(out->bytes.data, out->bytes.size, path, 0);
	return tflite_read(&c, &out->model);
}

void program_file_fini(struct program_file *f)
{
	file_map_close(&f->bytes);
	tenon_buffer_fini(&f->parts);
}

int program_file_graph(struct program_file *f, uint32_t graph)
{
	const struct tflite_model model = f->model;

	return graph != model.graph ? tflite_graph(&model, graph, &f->model) : 0;
}

int program_file_choose(struct program_file *f, uint32_t index,
			struct tenon_payload_request *request)
{
	request->size = sizeof(*request);
	return npu_read(&f->model, index, &f->parts, &request->program);
}

void program_file_whole(const struct program_file *f, struct tenon_payload_request *request)
{
	request->size = sizeof(*request);
	request->program = tenon_cursor_of(f->bytes.data, f->bytes.size, f->path, 0);
}

typedef int (*visit_fn)(void *context, const struct program_place *place,
			struct tenon_payload_request *request);

static bool has_kind(const struct tenon_payload_format *format, const struct tflite_operator *op)
{
	const char *const *kind = format->kinds;

	while (*kind && !tenon_slice_equal(op->custom, tenon_slice_of(*kind)))
		kind++;
	return op->builtin == TFLITE_CUSTOM && *kind;
}

static int visit_graph(struct program_file *f, uint32_t graph, visit_fn visit, void *context,
		       uint32_t *found)
{
	struct program_place place = { .graph = graph };
	struct tenon_payload_request request = { 0 };
	struct tflite_operator op;
	int err = 0;

	for (; place.index < f->model.operators.count && !err; place.index++) {
		err = tflite_operator(&f->model, place.index, &op);
		if (err || !has_kind(f->format, &op))
			continue;
		++*found;
		err = program_file_choose(f, place.index, &request);
		err = err ? err : visit(context, &place, &request);
	}
	return err;
}

int program_file_each(struct program_file *f, visit_fn visit, void *context)
{
	struct tenon_payload_request request = { 0 };
	const struct program_place whole = { 0, 0 };
	uint32_t graph, count = 0, found = 0;
	int err = 0;

	if (!f->is_model) {
		program_file_whole(f, &request);
		return visit(context, &whole, &request);
	}
	for (graph = 0; graph < f->model.graphs.count && !err; graph++) {
		err = program_file_graph(f, graph);
		count += f->model.operators.count;
		err = err ? err : visit_graph(f, graph, visit, context, &found);
	}
	if (err || found)
		return err;
	return tenon_error(-TENON_E_FORMAT,
			   "%s: none of its %" PRIu32
			   " operators is of kind \"%s\"; compile it for that device",
			   f->path, count, f->format->kinds[0]);
}

/* SPDX-License-Identifier: MIT */
/* Open a file, find the format of its programs, and visit them. */
#include "tools/program/program_file.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"

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

const struct tenon_payload_format *program_format(const struct model_operator *op)
{
	const struct tenon_payload_format *format =
		op->kind.size ? payload_format_of(op->kind) : NULL;

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

/* formats of models, by the rows of their folders (plugin.h); whether this build runs them makes no difference */
#define PLUGIN(...)
#define NPU(...)
#define MODEL_FORMAT(name) extern const struct model_format name##_format;
#include "generated/plugins.h"
#undef MODEL_FORMAT
#define MODEL_FORMAT(name) &name##_format,
static const struct model_format *const model_formats[] = {
#include "generated/plugins.h"
	NULL,
};

static const struct model_format *model_format_of(struct tenon_slice head)
{
	const struct model_format *const *format = model_formats;

	while (*format && !(*format)->recognise(head))
		format++;
	return *format;
}

int program_file_is(const char *path, bool *is)
{
	struct tenon_slice head;
	int err = file_map_head(path, MAGIC_MOST, &head);

	*is = !err && (model_format_of(head) || format_of_file(path, head));
	file_map_close(&head);
	return err;
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
	out->format = format;
	out->model_format = model_format_of(out->bytes);
	if (out->model_format) {
		c = tenon_cursor_of(out->bytes.data, out->bytes.size, path, 0);
		return out->model_format->open(&c, &out->model);
	}
	if (!format)
		out->format = format_of_file(path, out->bytes);
	return out->format ? 0
			   : tenon_error(-TENON_E_FORMAT,
					 "%s: no program that this build describes", path);
}

void program_file_fini(struct program_file *f)
{
	if (f->model)
		f->model_format->close(f->model);
	file_map_close(&f->bytes);
	tenon_buffer_fini(&f->parts);
}

int program_file_choose(struct program_file *f, const struct model_operator *op,
			struct tenon_payload_request *request)
{
	request->size = sizeof(*request);
	return f->model_format->program(f->model, op, &f->parts, &request->program);
}

void program_file_whole(const struct program_file *f, struct tenon_payload_request *request)
{
	request->size = sizeof(*request);
	request->program = tenon_cursor_of(f->bytes.data, f->bytes.size, f->path, 0);
}

typedef int (*visit_fn)(void *context, const struct model_operator *op,
			struct tenon_payload_request *request);

/* a model whose programs of one kind are visited */
struct visited {
	struct program_file *file;
	visit_fn visit;
	void *context;
	uint32_t count; /* operators */
	uint32_t found; /* with that kind */
};

static bool has_kind(const struct tenon_payload_format *format, const struct model_operator *op)
{
	const char *const *kind = format->kinds;

	while (*kind && !tenon_slice_equal(op->kind, tenon_slice_of(*kind)))
		kind++;
	return *kind;
}

static int visit_operator(void *context, const struct model_operator *op)
{
	struct tenon_payload_request request = { 0 };
	struct visited *v = context;
	int err;

	v->count++;
	if (!has_kind(v->file->format, op))
		return 0;
	v->found++;
	err = program_file_choose(v->file, op, &request);
	return err ? err : v->visit(v->context, op, &request);
}

int program_file_each(struct program_file *f, visit_fn visit, void *context)
{
	struct visited v = { .file = f, .visit = visit, .context = context };
	const struct model_operator none = { 0 };
	struct tenon_payload_request request = { 0 };
	int err;

	if (!f->model) {
		program_file_whole(f, &request);
		return visit(context, &none, &request);
	}
	err = f->model_format->each_operator(f->model, visit_operator, &v);
	if (err || v.found)
		return err;
	return tenon_error(-TENON_E_FORMAT,
			   "%s: none of its %" PRIu32
			   " operators is of kind \"%s\"; compile it for that device",
			   f->path, v.count, f->format->kinds[0]);
}

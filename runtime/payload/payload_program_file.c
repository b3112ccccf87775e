/* SPDX-License-Identifier: MIT */
/* Load a program and its table of kernels from two files, by suffix. */
#include "runtime/payload/payload_file.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/device.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "runtime/core/arguments.h"
#include "runtime/core/describer.h"
#include "runtime/payload/payload_format.h"
#include "runtime/payload/payload_kernel.h"
#include "runtime/payload/payload_table.h"

/* how a suffix is loaded */
struct choice {
	struct tenon_slice suffix;
	struct tenon_slice bytes; /* of the file; empty while only the suffix is checked */
	const struct tenon_payload_format *format;
	const struct tenon_payload_file *file;
};

static int choose(void *context, const struct tenon_payload_format *format)
{
	struct choice *c = context;
	const struct tenon_payload_file *file = PAYLOAD_SLOT(format, files);
	bool (*recognise)(const struct tenon_payload_file *, struct tenon_slice) =
		PAYLOAD_SLOT(format, recognise);

	for (; file && file->suffix; file++) {
		if (!tenon_slice_equal(tenon_slice_of(file->suffix), c->suffix) ||
		    (c->bytes.data && recognise && !recognise(file, c->bytes)))
			continue;
		c->format = format;
		c->file = file;
		return 1;
	}
	return 0;
}

/* Map the kernel table of a program: the file with the same stem and the table's suffix. */
static int open_table(const char *path, size_t stem, const char *suffix, struct tenon_slice *bytes,
		      char **table)
{
	size_t size = strlen(suffix) + 1;
	int err;

	*table = malloc(stem + size);
	if (!*table)
		return tenon_error(-TENON_E_NOMEM, "no memory for a path");
	memcpy(*table, path, stem);
	memcpy(*table + stem, suffix, size);
	err = file_map_open(*table, bytes);
	if (err)
		err = tenon_error_in(err,
				     "%s: the table of its kernels, which TVM writes beside it and "
				     "which must be copied with it",
				     path);
	return err;
}

/* Append the table of a program in payload form; append nothing if the file contains it. */
static int read_table(const struct tenon_payload_file *file, const char *path, size_t stem,
		      struct tenon_buffer *out)
{
	struct tenon_slice text = { NULL, 0 };
	char *table = NULL;
	int err;

	if (!file->table)
		return 0;
	err = open_table(path, stem, file->table, &text, &table);
	if (!err)
		err = payload_table_of_json(text, table, out);
	free(table);
	file_map_close(&text);
	return err;
}

static int pack(const struct choice *c, struct tenon_cursor *program, struct tenon_slice table,
		struct tenon_buffer *out)
{
	int (*own)(const struct tenon_payload_file *, struct tenon_cursor *, struct tenon_slice,
		   struct tenon_buffer *) = PAYLOAD_SLOT(c->format, pack);
	const struct tenon_slice bytes = { (const char *)program->at, tenon_cursor_left(program) };

	if (own)
		return own(c->file, program, table, out);
	if (!c->file->table)
		return tenon_buffer_slice(out, bytes);
	tenon_buffer_string(out, tenon_slice_of(c->file->suffix));
	tenon_buffer_slice(out, table);
	return tenon_buffer_string(out, bytes);
}

static int load(const struct choice *c, const char *path, size_t stem, struct tenon_module **out)
{
	struct tenon_buffer table = TENON_BUFFER_INIT, payload = TENON_BUFFER_INIT;
	struct tenon_cursor program = tenon_cursor_of(c->bytes.data, c->bytes.size, path, 0);
	int err;

	err = read_table(c->file, path, stem, &table);
	if (!err)
		err = pack(c, &program, (struct tenon_slice){ table.data, table.size }, &payload);
	if (!err)
		err = payload_module_take(tenon_slice_of(c->file->kind), &payload, path, out);
	tenon_buffer_fini(&payload);
	tenon_buffer_fini(&table);
	return err;
}

/* Test whether a format needs a backend: one with kernels does, data can be listed without. */
static bool needs_backend(const struct tenon_payload_format *format)
{
	return strchr(format->fields, 'm') != NULL;
}

static int load_path(const char *path, struct tenon_slice suffix, size_t stem,
		     struct tenon_module **out)
{
	struct choice c = { .suffix = suffix };
	int err;

	err = file_map_open(path, &c.bytes);
	if (err)
		return err;
	if (!payload_format_each(true, choose, &c))
		err = tenon_error(-TENON_E_NO_LOADER, "%s: not a device's program", path);
	else if (needs_backend(c.format) && !tenon_backend_of_kind(tenon_slice_of(c.file->kind)))
		err = tenon_error(-TENON_E_NO_LOADER,
				  "%s: no backend of this build takes modules of kind \"%s\"", path,
				  c.file->kind);
	else
		err = load(&c, path, stem, out);
	file_map_close(&c.bytes);
	return err;
}

/* Find the last occurrence of a suffix in a path: a version may follow it. */
static size_t find_suffix(struct tenon_slice path, struct tenon_slice suffix)
{
	size_t i;

	for (i = path.size - suffix.size; i > 0; i--)
		if (path.data[i - 1] == '.' && !memcmp(path.data + i, suffix.data, suffix.size))
			return i;
	return 0;
}

static struct tenon_slice last_suffix(struct tenon_slice path)
{
	const char *dot = memrchr(path.data, '.', path.size);

	if (!dot)
		return (struct tenon_slice){ "", 0 };
	return (struct tenon_slice){ dot + 1, (size_t)(path.data + path.size - (dot + 1)) };
}

PACKED_CALL(describe_program)
{
	struct tenon_buffer path = TENON_BUFFER_INIT;
	struct tenon_slice text, suffix;
	struct tenon_module *m;
	size_t stem;
	int err;

	if (count < 1)
		return tenon_error(-TENON_E_TYPE, "want the path of a file");
	err = tenon_value_text(&args[0], &text);
	if (!err && count > 1)
		err = tenon_value_text(&args[1], &suffix);
	else if (!err)
		suffix = last_suffix(text);
	if (err)
		return err;
	stem = suffix.size < text.size ? find_suffix(text, suffix) : 0;
	if (!stem)
		return tenon_error(-TENON_E_VALUE, "%.*s: does not end in .%.*s", (int)text.size,
				   text.data, (int)suffix.size, suffix.data);
	/* Copy the path: bytes need not end in NUL. */
	err = tenon_buffer_slice(&path, text);
	if (!err)
		err = load_path(path.data, suffix, stem, &m);
	if (!err)
		*ret = tenon_arg_object(m);
	tenon_buffer_fini(&path);
	return err;
}

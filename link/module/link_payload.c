/* SPDX-License-Identifier: MIT */
/* Pack programs and tables of kernels to payloads, and take payloads apart again. */
#include "link/module/link_payload.h"

#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "runtime/payload/payload_table.h"

static const char *suffix_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');

	return dot && (!slash || dot > slash) ? dot + 1 : "";
}

static int no_such_suffix(struct tenon_slice kind, const char *path,
			  const struct tenon_payload_file *file)
{
	struct tenon_buffer known = TENON_BUFFER_INIT;
	int err;

	for (; file->suffix; file++)
		tenon_buffer_printf(&known, ".%s, ", file->suffix);
	err = tenon_error(-TENON_E_VALUE,
			  "%s: not a program of kind \"%.*s\", whose files end in %sor .%s "
			  "(bytes as they are in a blob). Rename the file, or give its kind",
			  path, (int)kind.size, kind.data, known.data ? known.data : "",
			  LINK_PAYLOAD_SUFFIX);
	tenon_buffer_fini(&known);
	return err;
}

int link_payload_file(struct tenon_slice kind, const char *path, struct tenon_slice bytes,
		      const struct tenon_payload_file **out)
{
	const struct tenon_payload_format *format = payload_format_of(kind);
	const struct tenon_payload_file *files = PAYLOAD_SLOT(format, files), *file;
	bool (*recognise)(const struct tenon_payload_file *, struct tenon_slice) =
		PAYLOAD_SLOT(format, recognise);
	const char *suffix = suffix_of(path);

	*out = NULL;
	if (!files || !strcmp(suffix, LINK_PAYLOAD_SUFFIX))
		return 0;
	for (file = files; file->suffix; file++) {
		if (strcmp(file->suffix, suffix) && !(recognise && recognise(file, bytes)))
			continue;
		*out = file;
		return 0;
	}
	return no_such_suffix(kind, path, files);
}

/* Copy a list: a count, and elements of @size bytes, or strings where @size is 0. */
static int copy_list(struct tenon_cursor *c, size_t size, struct tenon_buffer *out)
{
	struct tenon_slice s;
	uint64_t i, count;
	int err;

	err = tenon_cursor_count(c, size ? size : 8, &count);
	if (err)
		return err;
	tenon_buffer_u64(out, count);
	if (size) {
		err = tenon_cursor_bytes(c, count * size, &s);
		return err ? err : tenon_buffer_slice(out, s);
	}
	for (i = 0; i < count && !err; i++) {
		err = tenon_cursor_string(c, &s);
		if (!err)
			err = tenon_buffer_string(out, s);
	}
	return err;
}

/* Copy a kernel table. TVM up to 0.19 does not know the tags of arguments. */
static int copy_table(struct tenon_cursor *c, enum payload_dialect dialect,
		      struct tenon_buffer *out)
{
	struct tenon_buffer unused = TENON_BUFFER_INIT, *tags;
	struct tenon_slice name;
	uint64_t i, count;
	int err, k;

	tags = dialect == PAYLOAD_EXTRA_TAGS ? out : &unused;
	err = tenon_cursor_count(c, PAYLOAD_FUNCTION_LEAST, &count);
	if (!err)
		err = tenon_buffer_u64(out, count);
	for (i = 0; i < count && !err; i++) {
		for (k = 0; k < 2 && !err; k++) {
			err = tenon_cursor_string(c, &name);
			if (!err)
				err = tenon_buffer_string(out, name);
		}
		if (!err)
			err = copy_list(c, 4, out);
		if (!err)
			err = copy_list(c, 0, out);
		if (!err)
			err = copy_list(c, 4, tags);
	}
	tenon_buffer_fini(&unused);
	return err;
}

/* Append a payload that begins with a format and a table with tags, in the form that is wanted. */
static int append_form(const struct link_program *p, struct tenon_slice payload,
		       struct tenon_buffer *out)
{
	struct tenon_cursor c = tenon_cursor_of(payload.data, payload.size, p->path, 0);
	int (*form)(enum tenon_generation, struct tenon_cursor *, struct tenon_buffer *) =
		PAYLOAD_SLOT(payload_format_of(p->kind), form);
	struct tenon_slice format;
	int err;

	err = tenon_cursor_string(&c, &format);
	if (!err)
		err = tenon_buffer_string(out, format);
	if (!err)
		err = copy_table(&c, p->dialect, out);
	if (err)
		return err;
	return form ? form(p->generation, &c, out)
		    : tenon_buffer_append(out, c.at, tenon_cursor_left(&c));
}

/*
 * Test whether payloads of a format begin with its name and a kernel table; the form of the table
 * depends on TVM's version.
 */
static bool has_table(const struct tenon_payload_format *format)
{
	return !strncmp(format->fields, "fm", 2);
}

bool link_payload_is_file(struct tenon_slice kind, const struct tenon_payload_file *file)
{
	const struct tenon_payload_format *format = payload_format_of(kind);

	return !file || (!file->table && !PAYLOAD_SLOT(format, pack) && !has_table(format));
}

static int pack_file(const struct link_program *p, const struct tenon_payload_file *file,
		     struct tenon_slice table, struct tenon_buffer *out)
{
	const struct tenon_payload_format *format = payload_format_of(p->kind);
	struct tenon_cursor program = tenon_cursor_of(p->bytes.data, p->bytes.size, p->path, 0);
	int (*pack)(const struct tenon_payload_file *, struct tenon_cursor *, struct tenon_slice,
		    struct tenon_buffer *) = PAYLOAD_SLOT(format, pack);

	if (pack)
		return pack(file, &program, table, out);
	if (!file->table)
		return tenon_buffer_slice(out, p->bytes);
	tenon_buffer_string(out, tenon_slice_of(file->suffix));
	tenon_buffer_slice(out, table);
	return tenon_buffer_string(out, p->bytes);
}

/* Test whether append_form() makes other bytes of what pack_file() packs, which is the newest form. */
static bool changes_form(const struct link_program *p)
{
	const struct tenon_payload_format *format = payload_format_of(p->kind);

	return has_table(format) &&
	       (p->dialect != PAYLOAD_EXTRA_TAGS || PAYLOAD_SLOT(format, form));
}

int link_payload_pack(const struct link_program *p, struct tenon_buffer *out)
{
	struct tenon_buffer table = TENON_BUFFER_INIT, payload = TENON_BUFFER_INIT;
	const struct tenon_payload_file *file;
	struct tenon_slice bytes;
	int err;

	err = link_payload_file(p->kind, p->path, p->bytes, &file);
	if (err)
		return err;
	if (link_payload_is_file(p->kind, file))
		return tenon_buffer_slice(out, p->bytes);
	if (file->table && !p->table.size)
		return tenon_error(-TENON_E_NOT_FOUND,
				   "%s: the table of its kernels is missing: %s, which names each "
				   "kernel with its arg_types and launch_param_tags",
				   p->path, p->table_path);
	if (file->table)
		err = payload_table_of_json(p->table, p->table_path, &table);
	if (!err)
		err = pack_file(p, file, (struct tenon_slice){ table.data, table.size }, &payload);
	bytes = (struct tenon_slice){ payload.data, payload.size };
	if (!err && changes_form(p)) {
		err = append_form(p, bytes, out);
	} else if (!err && out->size) {
		err = tenon_buffer_slice(out, bytes);
	} else if (!err) {
		/* a payload may be large: hand it over */
		tenon_buffer_fini(out);
		*out = payload;
		payload = (struct tenon_buffer)TENON_BUFFER_INIT;
	}
	tenon_buffer_fini(&payload);
	tenon_buffer_fini(&table);
	return err;
}

int link_payload_check(struct tenon_slice kind, struct tenon_slice payload, const char *name,
		       enum tenon_generation generation, enum payload_dialect dialect,
		       struct tenon_payload_info *info)
{
	const struct tenon_payload_format *format = payload_format_of(kind);
	struct tenon_cursor c = tenon_cursor_of(payload.data, payload.size, name, 0);
	int err;

	if (!format)
		return 0;
	info->kind = kind;
	info->generation = (uint8_t)generation;
	info->extra_tags = dialect == PAYLOAD_EXTRA_TAGS;
	err = payload_read(format, &c, info);
	return err ? tenon_error_in(err, "%s: not a payload of kind \"%.*s\"", name, (int)kind.size,
				    kind.data)
		   : 0;
}

static int take_program(const struct tenon_payload_format *format,
			const struct tenon_payload_file *file, struct tenon_cursor *rest,
			struct tenon_buffer *out)
{
	int (*unpack)(const struct tenon_payload_file *, struct tenon_cursor *,
		      struct tenon_buffer *) = PAYLOAD_SLOT(format, unpack);
	struct tenon_slice program;
	int err;

	if (unpack)
		return unpack(file, rest, out);
	if (PAYLOAD_SLOT(format, pack) || !file->table)
		return -TENON_E_UNSUPPORTED;
	err = tenon_cursor_string(rest, &program);
	return err ? err : tenon_buffer_slice(out, program);
}

int link_payload_unpack(struct tenon_slice kind, struct tenon_slice payload,
			const struct tenon_payload_info *info, enum payload_dialect dialect,
			struct tenon_buffer *out, const struct tenon_payload_file **file)
{
	const struct tenon_payload_format *format = payload_format_of(kind);
	const struct tenon_payload_file *at = PAYLOAD_SLOT(format, files);
	struct tenon_cursor c = tenon_cursor_of(payload.data, payload.size, "payload", 0);
	struct tenon_slice word;
	int err;

	*file = NULL;
	while (at && at->suffix && !tenon_slice_equal(tenon_slice_of(at->suffix), info->format))
		at++;
	if (!at || !at->suffix)
		return 0;
	if (!has_table(format) && !at->table && !PAYLOAD_SLOT(format, pack)) {
		*file = at;
		return tenon_buffer_slice(out, payload);
	}
	err = tenon_cursor_string(&c, &word);
	if (!err && !tenon_slice_equal(word, info->format))
		return 0;
	if (!err)
		err = payload_skip_table(&c, dialect);
	if (!err)
		err = take_program(format, at, &c, out);
	if (!err)
		*file = at;
	else if (err != -TENON_E_NOMEM)
		tenon_error_clear();
	return err == -TENON_E_NOMEM ? err : 0;
}

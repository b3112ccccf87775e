/* SPDX-License-Identifier: MIT */
#include "runtime/payload/payload_file.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/device.h>
#include <tenon/tensor.h>

#include "lib/file_map.h"
#include "lib/json_read.h"
#include "runtime/loader/file_extension.h"
#include "runtime/payload/payload_kernel.h"

#define TABLE_SUFFIX "tvm_meta.json"

/* in front of the programs in a .vulkan file, and nowhere else */
#define VULKAN_MAGIC UINT32_C(0x02700027)

/* what an extension says; the format that the payload names is the extension itself */
static const struct device_file {
	char extension[12];
	char kind[8];
} forms[] = {
	{ "ptx", "cuda" },  { "cubin", "cuda" },     { "fatbin", "cuda" },
	{ "cl", "opencl" }, { "xclbin", "sdaccel" }, { "awsxclbin", "sdaccel" },
	{ "aocx", "aocl" }, { "vulkan", "vulkan" },
};

static const struct device_file *form_of(struct tenon_slice extension)
{
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (tenon_slice_equal(tenon_slice_of(forms[i].extension), extension))
			return &forms[i];
	return NULL;
}

/* ---- the table of kernels: from JSON to what a payload has */

/* where the parts of a kernel's entry stand; 0 for one that is not there */
struct entry {
	uint32_t name;
	uint32_t types;
	uint32_t tags;
	uint32_t extra;
};

struct table {
	struct json_text json;
	char *room; /* for strings, whose escapes are undone */
	struct tenon_buffer *out;
};

static int put_type(struct table *t, uint32_t *at)
{
	struct tenon_slice text;
	const uint32_t from = *at;
	DLDataType type;
	int err;

	err = json_string(&t->json, at, "an argument's type", &t->room, &text);
	if (err)
		return err;
	if (tenon_dtype_parse(text, &type))
		return json_error(&t->json, from, -TENON_E_FORMAT, "an argument of type \"%.*s\"",
				  (int)text.size, text.data);
	tenon_buffer_u8(t->out, type.code);
	tenon_buffer_u8(t->out, type.bits);
	tenon_buffer_u8(t->out, (uint8_t)type.lanes);
	return tenon_buffer_u8(t->out, (uint8_t)(type.lanes >> 8));
}

static int put_tag(struct table *t, uint32_t *at)
{
	struct tenon_slice text;
	int err = json_string(&t->json, at, "a launch tag", &t->room, &text);

	return err ? err : tenon_buffer_string(t->out, text);
}

static int put_extra(struct table *t, uint32_t *at)
{
	int64_t value;
	int err = json_integer(&t->json, at, "an argument's tag", 0, INT32_MAX, &value);

	return err ? err : tenon_buffer_u32(t->out, (uint32_t)value);
}

static int put_list(struct table *t, uint32_t at, const char *what,
		    int (*put)(struct table *t, uint32_t *at))
{
	uint32_t count = 0, i;
	int err = 0;

	if (at)
		err = json_enter(&t->json, &at, JSMN_ARRAY, what, &count);
	if (!err)
		err = tenon_buffer_u64(t->out, count);
	for (i = 0; i < count && !err; i++)
		err = put(t, &at);
	return err;
}

/* The members of an entry, in whatever order they come. */
static int find_members(const struct table *t, uint32_t *at, struct entry *out)
{
	struct tenon_slice key;
	uint32_t count, i;
	int err;

	memset(out, 0, sizeof(*out));
	err = json_enter(&t->json, at, JSMN_OBJECT, "a kernel", &count);
	for (i = 0; i < count && !err; i++) {
		err = json_key(&t->json, at, &key);
		if (err)
			break;
		if (tenon_slice_equal(key, tenon_slice_of("name")))
			out->name = *at;
		else if (tenon_slice_equal(key, tenon_slice_of("arg_types")))
			out->types = *at;
		else if (tenon_slice_equal(key, tenon_slice_of("launch_param_tags")) ||
			 tenon_slice_equal(key, tenon_slice_of("thread_axis_tags")))
			out->tags = *at;
		else if (tenon_slice_equal(key, tenon_slice_of("arg_extra_tags")))
			out->extra = *at;
		json_skip(&t->json, at);
	}
	return err;
}

static int put_kernel(struct table *t, uint32_t *at)
{
	const uint32_t from = *at;
	struct tenon_slice name, inner = { NULL, 0 };
	struct entry entry;
	int err;

	err = json_key(&t->json, at, &name);
	if (!err)
		err = find_members(t, at, &entry);
	if (!err && entry.name)
		err = json_string(&t->json, &entry.name, "a kernel's name", &t->room, &inner);
	if (err)
		return err;
	if (!entry.types)
		return json_error(&t->json, from, -TENON_E_FORMAT, "kernel %.*s has no arg_types",
				  (int)name.size, name.data);
	tenon_buffer_string(t->out, name);
	tenon_buffer_string(t->out, inner);
	err = put_list(t, entry.types, "arg_types", put_type);
	if (!err)
		err = put_list(t, entry.tags, "launch_param_tags", put_tag);
	return err ? err : put_list(t, entry.extra, "arg_extra_tags", put_extra);
}

static int put_kernels(struct table *t)
{
	struct tenon_slice key = { NULL, 0 };
	uint32_t at = 0, members, count, i;
	int err;

	err = json_enter(&t->json, &at, JSMN_OBJECT, "the table", &members);
	for (i = 0; i < members && !err; i++) {
		err = json_key(&t->json, &at, &key);
		if (err || tenon_slice_equal(key, tenon_slice_of("func_info")))
			break;
		json_skip(&t->json, &at);
	}
	if (err)
		return err;
	if (i == members)
		return json_error(&t->json, 0, -TENON_E_FORMAT, "there is no func_info");
	err = json_enter(&t->json, &at, JSMN_OBJECT, "func_info", &count);
	if (!err)
		err = tenon_buffer_u64(t->out, count);
	for (i = 0; i < count && !err; i++)
		err = put_kernel(t, &at);
	return err;
}

static int put_table(struct tenon_slice text, const char *path, struct tenon_buffer *out)
{
	struct table t = { .out = out };
	char *room;
	int err;

	err = json_text_read(text, path, &t.json);
	if (err)
		return err;
	room = t.room = malloc(text.size + 1);
	err = room ? put_kernels(&t)
		   : tenon_error(-TENON_E_NOMEM, "no memory for the strings of %s", path);
	free(room);
	json_text_fini(&t.json);
	return err;
}

/* ---- the files */

/* Map the table of a program: "dir/dev.ptx" has its own in "dir/dev.tvm_meta.json". */
static int open_table(const char *path, size_t stem, struct tenon_slice *bytes, char **table)
{
	int err;

	*table = malloc(stem + sizeof(TABLE_SUFFIX));
	if (!*table)
		return tenon_error(-TENON_E_NOMEM, "no memory for a path");
	memcpy(*table, path, stem);
	memcpy(*table + stem, TABLE_SUFFIX, sizeof(TABLE_SUFFIX));
	err = file_map_open(*table, bytes);
	if (err)
		err = tenon_error_in(err,
				     "%s: the table of its kernels, which TVM writes beside it and "
				     "which must be copied with it",
				     path);
	return err;
}

static int put_program(const struct device_file *form, const char *path, struct tenon_slice program,
		       struct tenon_buffer *out)
{
	struct tenon_cursor c = tenon_cursor_of(program.data, program.size, path, 0);
	uint32_t magic;
	int err;

	if (strcmp(form->kind, "vulkan"))
		return tenon_buffer_string(out, program);
	err = tenon_cursor_u32(&c, &magic);
	if (err)
		return err;
	if (magic != VULKAN_MAGIC)
		return tenon_cursor_error(&c, -TENON_E_FORMAT,
					  "0x%x is not the magic number of Vulkan programs, 0x%x",
					  magic, VULKAN_MAGIC);
	return tenon_buffer_append(out, c.at, tenon_cursor_left(&c));
}

static int load(const struct device_file *form, const char *path, size_t stem,
		struct tenon_module **out)
{
	struct tenon_slice program, table = { NULL, 0 };
	struct tenon_buffer payload = TENON_BUFFER_INIT;
	char *table_path = NULL;
	int err;

	err = file_map_open(path, &program);
	if (err)
		return err;
	err = open_table(path, stem, &table, &table_path);
	if (!err)
		err = tenon_buffer_string(&payload, tenon_slice_of(form->extension));
	if (!err)
		err = put_table(table, table_path, &payload);
	if (!err)
		err = put_program(form, path, program, &payload);
	if (!err)
		err = payload_module_take(tenon_slice_of(form->kind), &payload, path, out);
	free(table_path);
	tenon_buffer_fini(&payload);
	file_map_close(&table);
	file_map_close(&program);
	return err;
}

static int load_path(const char *path, struct tenon_module **out)
{
	struct tenon_slice extension = file_extension(path);
	const struct device_file *form = form_of(extension);

	if (!form)
		return tenon_error(-TENON_E_NO_LOADER, "%s: not a device's program", path);
	if (!tenon_backend_of_kind(tenon_slice_of(form->kind)))
		return tenon_error(-TENON_E_NO_LOADER,
				   "%s: no backend of this build takes modules of kind \"%s\"",
				   path, form->kind);
	return load(form, path, (size_t)(extension.data - path), out);
}

int device_file_load(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	struct tenon_buffer path = TENON_BUFFER_INIT;
	struct tenon_slice text;
	struct tenon_module *m;
	int err;

	(void)self;
	if (count < 1)
		return tenon_error(-TENON_E_TYPE, "want the path of a file");
	err = tenon_value_text(&args[0], &text);
	/* copied: bytes need not end in a NUL */
	if (!err)
		err = tenon_buffer_slice(&path, text);
	if (!err)
		err = load_path(path.data, &m);
	if (!err)
		*ret = tenon_arg_object(m);
	tenon_buffer_fini(&path);
	return err;
}

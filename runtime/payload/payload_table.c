/* SPDX-License-Identifier: MIT */
/* Read the JSON that lies next to a program and write the table of a payload. */
#include "runtime/payload/payload_table.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "lib/json_read.h"
#include "lib/slice_text.h"

/* positions of the members of a kernel's entry; 0: missing */
struct entry {
	uint32_t name;
	uint32_t types;
	uint32_t tags;
	uint32_t extra;
};

struct table {
	struct json_text json;
	char *room; /* buffer for unescaped strings */
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

/* Find the members of an entry, in any order. */
static int find_members(const struct table *t, uint32_t *at, struct entry *out)
{
	struct tenon_slice key;
	uint32_t count, i;
	int err;

	memset(out, 0, sizeof(*out));
	err = json_enter(&t->json, at, JSMN_OBJECT, "a kernel", &count);
	for (i = 0; i < count; i++) {
		err = json_key(&t->json, at, &key);
		if (err)
			break;
		if (slice_is(key, "name"))
			out->name = *at;
		else if (slice_is(key, "arg_types"))
			out->types = *at;
		else if (slice_is(key, "launch_param_tags") || slice_is(key, "thread_axis_tags"))
			out->tags = *at;
		else if (slice_is(key, "arg_extra_tags"))
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
	for (i = 0; i < members; i++) {
		err = json_key(&t->json, &at, &key);
		if (err || slice_is(key, "func_info"))
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

int payload_table_of_json(struct tenon_slice text, const char *path, struct tenon_buffer *out)
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

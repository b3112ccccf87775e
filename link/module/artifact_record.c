/* SPDX-License-Identifier: MIT */
/* Write and read the names of artifacts in a shared object. */
#include "link/module/artifact_record.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/cursor.h>

#include "lib/brief_errors.h"
#include "link/module/link_record.h"

#define VERSION 1

/* bytes of the smallest entry: a number and five empty strings */
#define ENTRY_LEAST 48

/* Names are words and paths: a longer one is not a name. */
#define NAME_MOST 255

/* Searching a name among all others is quadratic. */
#define COUNT_MOST 10000

int artifact_record_write(const struct artifact_set *set, struct tenon_buffer *out)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	const struct artifact *a;
	size_t i;
	int err;

	tenon_buffer_u32(&b, VERSION);
	tenon_buffer_u64(&b, set->count);
	for (i = 0; i < set->count; i++) {
		a = &set->items[i];
		tenon_buffer_u64(&b, a->module);
		tenon_buffer_string(&b, tenon_slice_of(a->codegen_id));
		tenon_buffer_string(&b, tenon_slice_of(a->loader));
		tenon_buffer_string(&b, tenon_slice_of(a->target_key));
		tenon_buffer_string(&b, tenon_slice_of(a->file_name));
		tenon_buffer_string(&b, tenon_slice_of(a->device));
	}
	err = b.status;
	if (!err)
		err = tenon_buffer_string(out, (struct tenon_slice){ b.data, b.size });
	tenon_buffer_fini(&b);
	return err;
}

/* Read a string that is printable, into a text that ends with NUL. */
static int read_name(struct tenon_cursor *c, char text[NAME_MOST + 1])
{
	const struct tenon_cursor from = *c;
	struct tenon_slice s;
	size_t i;
	int err;

	err = tenon_cursor_string(c, &s);
	if (err)
		return err;
	for (i = 0; i < s.size && i <= NAME_MOST; i++)
		if ((unsigned char)s.data[i] < ' ' || s.data[i] == 0x7f)
			break;
	if (i < s.size || s.size > NAME_MOST)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "%zu bytes that are no name of an artifact", s.size);
	memcpy(text, s.data, s.size);
	text[s.size] = 0;
	return 0;
}

static int read_artifact(struct tenon_cursor *c, struct artifact_set *out)
{
	char text[5][NAME_MOST + 1];
	struct artifact *a;
	uint64_t module;
	int i, err;

	err = tenon_cursor_u64(c, &module);
	for (i = 0; i < 5 && !err; i++)
		err = read_name(c, text[i]);
	if (!err)
		err = artifact_add(
			out,
			&(struct artifact_names){ text[0], text[1], text[2], text[3], text[4] },
			&a);
	if (!err)
		a->module = module;
	return err;
}

int artifact_record_read(struct tenon_slice bytes, const char *file, struct artifact_set *out)
{
	struct tenon_cursor c;
	uint64_t count, i;
	int err;

	err = link_record_open(bytes, "record of artifacts", VERSION, &c);
	if (!err)
		err = tenon_cursor_count(&c, ENTRY_LEAST, &count);
	if (!err && count > COUNT_MOST)
		err = tenon_cursor_error(&c, -TENON_E_FORMAT,
					 "%" PRIu64 " artifacts; at most %d are allowed", count,
					 COUNT_MOST);
	for (i = 0; !err && i < count; i++)
		err = read_artifact(&c, out);
	if (!err && tenon_cursor_left(&c))
		err = tenon_cursor_error(&c, -TENON_E_FORMAT, "%zu bytes left over",
					 tenon_cursor_left(&c));
	return err ? tenon_error_in(err, "%s", file) : 0;
}

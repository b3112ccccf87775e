/* SPDX-License-Identifier: MIT */
/* Follow the offsets of a FlatBuffer, each checked against the file. */
#include "lib/flatbuffer.h"

#include <inttypes.h>

#include "lib/brief_errors.h"
#include "lib/little_endian.h"

/* bytes of a vtable before the offsets of fields: its own size and the table's */
#define VTABLE_HEAD 4
/* bytes of a table before its fields: the way to its vtable */
#define TABLE_HEAD 4

/* Set a cursor to an offset of the file. */
static int seek(const struct tenon_cursor *file, uint64_t at, struct tenon_cursor *out)
{
	*out = *file;
	return tenon_cursor_skip(out, at);
}

/* Read the offset at @c, and set @c to what it refers to. */
static int follow(const struct tenon_cursor *file, struct tenon_cursor *c)
{
	const struct tenon_cursor first = *c;
	uint32_t offset;
	int err;

	err = tenon_cursor_u32(c, &offset);
	if (err)
		return err;
	if (offset > tenon_cursor_left(&first))
		return tenon_cursor_error(&first, -TENON_E_TRUNCATED,
					  "an offset of %" PRIu32 " bytes; %zu are left", offset,
					  tenon_cursor_left(&first));
	return seek(file, (uint64_t)(first.at - file->at) + offset, c);
}

/* Read the vtable of the table at @c. */
static int open_table(const struct tenon_cursor *file, const struct tenon_cursor *c,
		      struct flatbuffer_table *out)
{
	struct tenon_cursor at = *c;
	struct tenon_slice fields;
	uint16_t size;
	uint32_t back;
	int64_t vtable;
	int err;

	out->file = *file;
	out->at = (uint64_t)(c->at - file->at);
	err = tenon_cursor_u32(&at, &back);
	if (err)
		return err;
	vtable = (int64_t)out->at - (int32_t)back;
	if (vtable < 0)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "a table whose vtable is before the first byte");
	err = seek(file, (uint64_t)vtable, &at);
	err = err ? err : tenon_cursor_u16(&at, &size);
	err = err ? err : tenon_cursor_u16(&at, &out->size);
	if (err)
		return err;
	if (size < VTABLE_HEAD || size % 2 || out->size < TABLE_HEAD ||
	    out->size > tenon_cursor_left(c))
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "a table of %u bytes with a vtable of %u; %zu are left",
					  out->size, size, tenon_cursor_left(c));
	err = tenon_cursor_bytes(&at, size - VTABLE_HEAD, &fields);
	out->vtable = tenon_cursor_of(fields.data, fields.size, file->name,
				      file->offset + (uint64_t)vtable + VTABLE_HEAD);
	return err;
}

int flatbuffer_root(const struct tenon_cursor *file, struct flatbuffer_table *out)
{
	struct tenon_cursor c = *file;
	int err = follow(file, &c);

	return err ? err : open_table(file, &c, out);
}

/* Find a field of @size bytes; @found is false where it is absent. */
static int find(const struct flatbuffer_table *t, unsigned int field, unsigned int size,
		struct tenon_cursor *out, bool *found)
{
	const size_t at = 2 * (size_t)field;
	uint64_t offset = 0;
	int err;

	*found = false;
	if (tenon_cursor_left(&t->vtable) >= at + 2)
		offset = little_endian(t->vtable.at + at, 2);
	if (!offset)
		return 0;
	err = seek(&t->file, t->at, out);
	if (err)
		return err;
	if (offset < TABLE_HEAD || offset + size > t->size)
		return tenon_cursor_error(
			out, -TENON_E_FORMAT,
			"field %u, of %u bytes, begins %u bytes into a table of %u", field, size,
			(unsigned int)offset, t->size);
	*found = true;
	return tenon_cursor_skip(out, offset);
}

int flatbuffer_number(const struct flatbuffer_table *t, unsigned int field, unsigned int size,
		      uint64_t absent, uint64_t *out)
{
	struct tenon_cursor c;
	bool found;
	int err = find(t, field, size, &c, &found);

	*out = err || !found ? absent : little_endian(c.at, size);
	return err;
}

int flatbuffer_table(const struct flatbuffer_table *t, unsigned int field,
		     struct flatbuffer_table *out, bool *found)
{
	struct tenon_cursor c;
	int err = find(t, field, 4, &c, found);

	if (err || !*found)
		return err;
	err = follow(&t->file, &c);
	return err ? err : open_table(&t->file, &c, out);
}

int flatbuffer_vector(const struct flatbuffer_table *t, unsigned int field, uint32_t size,
		      struct flatbuffer_vector *out)
{
	struct tenon_cursor c, first;
	struct tenon_slice bytes;
	uint32_t count;
	bool found;
	int err;

	*out = (struct flatbuffer_vector){ .file = t->file, .size = size };
	err = find(t, field, 4, &c, &found);
	if (err || !found)
		return err;
	err = follow(&t->file, &c);
	first = c;
	err = err ? err : tenon_cursor_u32(&c, &count);
	if (err)
		return err;
	if ((uint64_t)count * size > tenon_cursor_left(&c))
		return tenon_cursor_error(&first, -TENON_E_TRUNCATED,
					  "a vector of %" PRIu32 " elements of %" PRIu32
					  " bytes; %zu bytes are left",
					  count, size, tenon_cursor_left(&c));
	out->count = count;
	err = tenon_cursor_bytes(&c, (uint64_t)count * size, &bytes);
	out->items = tenon_cursor_of(bytes.data, bytes.size, t->file.name,
				     tenon_cursor_place(&first) + 4);
	return err;
}

int flatbuffer_string(const struct flatbuffer_table *t, unsigned int field, struct tenon_slice *out)
{
	struct flatbuffer_vector v;
	int err = flatbuffer_vector(t, field, 1, &v);

	*out = flatbuffer_bytes(&v);
	return err;
}

struct tenon_slice flatbuffer_bytes(const struct flatbuffer_vector *v)
{
	if (!v->count)
		return (struct tenon_slice){ "", 0 };
	return (struct tenon_slice){ (const char *)v->items.at, (size_t)v->count * v->size };
}

uint64_t flatbuffer_item(const struct flatbuffer_vector *v, uint64_t index)
{
	return little_endian(v->items.at + index * v->size, v->size);
}

int flatbuffer_item_table(const struct flatbuffer_vector *v, uint64_t index,
			  struct flatbuffer_table *out)
{
	struct tenon_cursor c;
	int err = seek(&v->file, (uint64_t)(v->items.at - v->file.at) + index * 4, &c);

	err = err ? err : follow(&v->file, &c);
	return err ? err : open_table(&v->file, &c, out);
}

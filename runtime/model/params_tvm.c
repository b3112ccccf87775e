/* SPDX-License-Identifier: MIT */
/* Read TVM's parameters: names and headers, the data left where it is. */
#include "runtime/model/params_list.h"

#include <inttypes.h>
#include <stdlib.h>

#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "runtime/core/reference.h"
#include "runtime/core/saved_tensor.h"
#include "runtime/kind/file_kind.h"

/*
 * Bytes to read at a time from a file: many headers with little between them, or one behind data. More than the
 * header would take longer than the call: its bytes are in memory that no one has touched for long.
 */
#define HEAD_STEP 2048
#define HEAD_ONE  128

/* whether it is worth code to tell them apart */
#ifdef CONFIG_FAST_CALLS
#define FAR_HEADS true
#else
#define FAR_HEADS false
#endif

_Static_assert(HEAD_STEP >= SAVED_TENSOR_HEAD_MOST, "a step has a whole header");

/* ---- tensors of a file: reads the headers, not the data */

struct heads {
	char bytes[HEAD_STEP];
	uint64_t from, to; /* range of the file in @bytes */
};

static int read_step(struct tenon_params *p, struct heads *h, uint64_t place, uint64_t end,
		     uint64_t step)
{
	h->from = place;
	h->to = end - place < step ? end : place + step;
	return p->read_at(p->fd, p->path, h->bytes, (size_t)(h->to - h->from), h->from);
}

/* Test whether the bytes that were read have a whole header; one that is damaged is refused by who reads it. */
static bool has_head(const struct heads *h)
{
	return h->to - h->from < SAVED_TENSOR_NDIM_END ||
	       load_u32((const uint8_t *)h->bytes + SAVED_TENSOR_NDIM_END - 4) <=
		       (HEAD_ONE - 40) / 8;
}

/*
 * Get a cursor at the next header. @c has the header's file offset, but its bytes are not read yet.
 */
static int next_head(struct tenon_params *p, struct heads *h, const struct tenon_cursor *c,
		     struct tenon_cursor *out)
{
	uint64_t place = tenon_cursor_place(c), end = place + tenon_cursor_left(c);
	bool far = FAR_HEADS && h->to && place > h->to;
	int err = 0;

	if (place < h->from || (h->to < end && place + SAVED_TENSOR_HEAD_MOST > h->to)) {
		err = read_step(p, h, place, end, far ? HEAD_ONE : HEAD_STEP);
		if (!err && far && !has_head(h))
			err = read_step(p, h, place, end, HEAD_STEP);
	}
	*out = tenon_cursor_of(h->bytes + (place - h->from), (size_t)(h->to - place), p->path,
			       place);
	return err;
}

/* Append a shape. The array may move while it grows, so tensors get their pointers at the end. */
static int add_shape(struct tenon_params *p, const struct saved_tensor *saved, size_t *used,
		     size_t *room)
{
	size_t want = *used + (size_t)saved->ndim + 1;
	int64_t *shapes = p->shapes;
	int32_t i;

	if (want > *room) {
		*room = want + *room;
		shapes = realloc(shapes, *room * sizeof(*shapes));
		if (!shapes)
			return tenon_error(-TENON_E_NOMEM, "no memory for shapes");
		p->shapes = shapes;
	}
	for (i = 0; i < saved->ndim; i++)
		shapes[(*used)++] = (int64_t)load_u64(saved->shape + 8 * (size_t)i);
	return 0;
}

static int read_head(struct tenon_params *p, struct heads *h, struct tenon_cursor *c,
		     struct saved_tensor *saved, struct tenon_param *item)
{
	struct tenon_cursor head;
	uint64_t size;
	int err;

	err = next_head(p, h, c, &head);
	if (!err)
		err = saved_tensor_head(&head, saved);
	if (!err)
		err = tenon_cursor_u64(&head, &size);
	if (err)
		return err;
	item->offset = tenon_cursor_place(&head);
	item->bytes = (size_t)size;
	item->tensor = tenon_dltensor(NULL, NULL, saved->ndim, saved->dtype);
	err = tenon_cursor_skip(c, item->offset - tenon_cursor_place(c));
	return err ? err : tenon_cursor_skip(c, size);
}

static int read_heads(struct tenon_params *p, struct tenon_cursor *c, struct tenon_cursor names,
		      uint64_t count)
{
	struct heads heads = { .to = 0 };
	struct saved_tensor saved;
	size_t used = 0, room = 0, k;
	uint64_t i;
	int err;

	p->items = calloc((size_t)count + 1, sizeof(*p->items));
	if (!p->items)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " parameters", count);
	for (i = 0; i < count; i++) {
		struct tenon_param *item = &p->items[p->count];

		err = read_head(p, &heads, c, &saved, item);
		if (err)
			return tenon_error_in(err, "parameter %" PRIu64 " of %" PRIu64, i, count);
		err = take_string(&names, &item->name);
		if (!err && params_is_padding(item))
			continue;
		if (!err)
			err = add_shape(p, &saved, &used, &room);
		if (err)
			return err;
		p->count++;
	}
	for (k = 0, used = 0; k < p->count; used += (size_t)p->items[k++].tensor.ndim)
		p->items[k].tensor.shape = p->shapes + used;
	return 0;
}

/* ---- tensors in memory */

static int read_tensor(struct tenon_cursor *c, struct tenon_param *p, int64_t **shape)
{
	struct saved_tensor saved;
	int err;

	err = saved_tensor_read(c, &saved);
	if (err)
		return err;
	saved_tensor_describe(&saved, *shape, &p->tensor);
	*shape += saved.ndim;
	p->bytes = saved.data.size;
	p->offset = tenon_cursor_place(c) - saved.data.size;
	return 0;
}

/* Read the tensors at @c; @names was checked. */
static int read_tensors(struct tenon_params *p, struct tenon_cursor *c, struct tenon_cursor names,
			uint64_t count)
{
	struct tenon_cursor ahead = *c;
	struct saved_tensor saved;
	size_t extents = 0;
	int64_t *shape;
	uint64_t i;
	int err;

	if (p->fd >= 0)
		return read_heads(p, c, names, count);
	for (i = 0; i < count; i++) {
		err = saved_tensor_read(&ahead, &saved);
		if (err)
			return tenon_error_in(err, "parameter %" PRIu64 " of %" PRIu64, i, count);
		extents += (size_t)saved.ndim;
	}
	p->items = calloc((size_t)count + 1, sizeof(*p->items));
	shape = p->shapes = malloc((extents + 1) * sizeof(*p->shapes));
	if (!p->items || !p->shapes)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " parameters", count);
	for (i = 0; i < count; i++) {
		struct tenon_param *item = &p->items[p->count];

		err = take_string(&names, &item->name);
		if (!err)
			err = read_tensor(c, item, &shape);
		if (err)
			return err;
		if (!params_is_padding(item))
			p->count++;
	}
	return 0;
}

/* ---- lists */

static int skip_names(struct tenon_params *p, struct tenon_cursor *c, uint64_t count)
{
	struct tenon_slice name;
	uint64_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		const struct tenon_cursor from = *c;

		err = params_fetch(p, c, 8);
		if (!err)
			err = take_string(c, &name);
		if (!err)
			err = params_fetch(p, &from, 8 + (uint64_t)name.size);
	}
	return err;
}

static int count_error(const struct tenon_cursor *c, uint64_t names, uint64_t tensors)
{
	return tenon_cursor_error(c, -TENON_E_FORMAT,
				  "%" PRIu64 " names for %" PRIu64 " parameters", names, tensors);
}

static int read_file_list(struct tenon_params *p, struct tenon_cursor *c)
{
	struct tenon_cursor names, from;
	uint64_t count, tensors;
	int err;

	err = tenon_cursor_skip(c, 16);
	if (!err)
		err = take_count(c, 8 + SAVED_TENSOR_LEAST, &count);
	names = *c;
	if (!err)
		err = skip_names(p, c, count);
	from = *c;
	if (!err)
		err = params_fetch(p, c, 8);
	if (!err)
		err = tenon_cursor_u64(c, &tensors);
	if (err)
		return err;
	if (tensors != count)
		return count_error(&from, count, tensors);
	return read_tensors(p, c, names, count);
}

static int read_one(struct tenon_params *p, struct tenon_cursor *c)
{
	static const uint8_t no_name[8];
	struct tenon_cursor names = tenon_cursor_of(no_name, sizeof(no_name), NULL, 0);

	return read_tensors(p, c, names, 1);
}

static bool is_tvm(struct tenon_slice head)
{
	struct tenon_cursor c = tenon_cursor_of(head.data, head.size, "", 0);
	uint64_t magic;

	return head.size >= sizeof(magic) && !tenon_cursor_u64(&c, &magic) &&
	       (magic == PARAMS_MAGIC || magic == SAVED_TENSOR_MAGIC);
}

static int read_any(struct tenon_params *p, struct tenon_cursor *c)
{
	const struct tenon_slice bytes = { (const char *)c->at, tenon_cursor_left(c) };
	struct tenon_cursor ahead = *c;
	uint64_t magic;
	int err = tenon_cursor_u64(&ahead, &magic);

	if (err)
		return tenon_error_in(err, "no parameters of TVM");
	if (magic == PARAMS_MAGIC)
		err = read_file_list(p, c);
	else if (magic == SAVED_TENSOR_MAGIC)
		err = read_one(p, c);
	else
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "no parameters of TVM, but %s: 0x%" PRIx64
					  " is not their magic number, 0x%" PRIx64,
					  file_kind(bytes), magic, PARAMS_MAGIC);
	if (!err && tenon_cursor_left(c))
		err = tenon_cursor_error(c, -TENON_E_FORMAT, "%zu bytes left over",
					 tenon_cursor_left(c));
	return err;
}

const struct params_format params_tvm = { "parameters of TVM", is_tvm, read_any };

int params_take(struct tenon_cursor *c, struct tenon_object *keep, struct tenon_params **out)
{
	struct tenon_cursor from = *c, names;
	uint64_t count, name_count;
	int err;

	err = params_create(keep, out);
	if (err)
		return err;
	err = take_count(c, 8 + SAVED_TENSOR_LEAST, &count);
	if (!err)
		err = take_count(c, 8, &name_count);
	if (!err && name_count != count)
		err = count_error(&from, name_count, count);
	names = *c;
	if (!err)
		err = skip_names(*out, c, count);
	if (!err)
		err = read_tensors(*out, c, names, count);
	if (!err && SAVED_TENSOR_FOREIGN)
		err = params_own_data(*out, "parameters");
	return object_made(err, out);
}

/* SPDX-License-Identifier: MIT */
/* Read parameter files: names and headers first, data mapped or copied. */
#include "runtime/core/tensor_data.h"
#include "runtime/model/params.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/string.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "lib/file_kind.h"
#include "lib/file_map.h"
#include "runtime/model/storage.h"
#include "runtime/core/saved_tensor.h"

/* bytes to read at a time from a file: names, and headers with data between them */
#define NAMES_STEP 65536
#define HEAD_STEP  2048

struct tenon_params {
	struct tenon_object object;
	struct tenon_object *keep;
	/* for parameters opened from a file */
	char *path;		 /* for messages */
	struct tenon_slice head; /* names and headers at their file offsets, while reading */
	size_t fetched;		 /* end of the requested part of @head that was read */
	struct tenon_slice map;
	char *names;
	int fd;
	struct tenon_param *items;
	size_t count;
	int64_t *shapes;
};

static void params_delete(void *self, int flags)
{
	struct tenon_params *p = self;

	if (flags & TENON_DELETE_CONTENT) {
		tenon_object_unref(p->keep);
		file_map_close(&p->head);
		file_map_close(&p->map);
		free(p->names);
		free(p->path);
		if (p->fd >= 0)
			close(p->fd);
		free(p->items);
		free(p->shapes);
	}
	if (flags & TENON_DELETE_MEMORY)
		free(p);
}

static int params_create(struct tenon_object *keep, struct tenon_params **out)
{
	struct tenon_params *p = calloc(1, sizeof(*p));

	*out = NULL;
	if (!p)
		return tenon_error(-TENON_E_NOMEM, "no memory for parameters");
	tenon_object_init(&p->object, TENON_TYPE_OBJECT, params_delete);
	tenon_object_ref(keep);
	p->keep = keep;
	p->fd = -1;
	*out = p;
	return 0;
}

/* ---- reading */

/* Read the next @size bytes of a file, or up to its end. Earlier bytes were requested before. */
static int fetch(struct tenon_params *p, const struct tenon_cursor *c, uint64_t size)
{
	size_t place, left, want;
	int err;

	if (p->fd < 0)
		return 0;
	place = (size_t)tenon_cursor_place(c);
	if (size > tenon_cursor_left(c))
		size = tenon_cursor_left(c);
	if (place + size <= p->fetched)
		return 0;
	left = p->head.size - p->fetched;
	want = place + (size_t)size - p->fetched;
	if (want < NAMES_STEP)
		want = left < NAMES_STEP ? left : NAMES_STEP;
	err = file_read_at(p->fd, p->path, (char *)(uintptr_t)p->head.data + p->fetched, want,
			   p->fetched);
	p->fetched += want;
	return err;
}

static bool is_padding(const struct tenon_param *p)
{
	const size_t n = sizeof(PARAMS_PADDING) - 1;

	return p->name.size > n && !memcmp(p->name.data, PARAMS_PADDING, n) &&
	       p->tensor.ndim == 1 &&
	       tenon_dtype_equal(p->tensor.dtype, tenon_dtype(TENON_DTYPE_UINT, 8, 1));
}

/* ---- tensors of a file: reads the headers, not the data */

struct heads {
	char bytes[HEAD_STEP];
	uint64_t from, to; /* range of the file in @bytes */
};

/*
 * Get a cursor at the next header. @c has the header's file offset, but its bytes are not read yet.
 */
static int next_head(struct tenon_params *p, struct heads *h, const struct tenon_cursor *c,
		     struct tenon_cursor *out)
{
	uint64_t place = tenon_cursor_place(c), end = place + tenon_cursor_left(c);
	int err = 0;

	if (place < h->from || (h->to < end && place + SAVED_TENSOR_HEAD_MOST > h->to)) {
		h->from = place;
		h->to = end - place < HEAD_STEP ? end : place + HEAD_STEP;
		err = file_read_at(p->fd, p->path, h->bytes, (size_t)(h->to - h->from), h->from);
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
		if (!err && is_padding(item))
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
		if (!is_padding(item))
			p->count++;
	}
	return 0;
}

/* ---- data */

int tenon_params_load(struct tenon_params *params, const struct tenon_param *param, void *to)
{
	int err;

	if (params->fd >= 0) {
		err = file_read_at(params->fd, params->path, to, param->bytes, param->offset);
		return err ? tenon_error_in(err, "parameter \"%.*s\"", (int)param->name.size,
					    param->name.data)
			   : 0;
	}
	if (param->bytes)
		memcpy(to, param->tensor.data, param->bytes);
	return 0;
}

/* Copy the data, in the order of this machine. */
static int own_data(struct tenon_params *p, const char *name)
{
	size_t i, size = 0;
	int err;

	for (i = 0; i < p->count; i++)
		if (__builtin_add_overflow(size, p->items[i].bytes, &size) ||
		    __builtin_add_overflow(size, -size % TENON_TENSOR_ALIGN, &size))
			return tenon_error(-TENON_E_OVERFLOW, "%s: too large for memory here",
					   name);
	err = file_map_reserve(name, size, &p->map);
	for (i = 0, size = 0; i < p->count && !err; i++) {
		struct tenon_param *item = &p->items[i];
		char *to = (char *)(uintptr_t)p->map.data + size;

		err = tenon_params_load(p, item, to);
		saved_tensor_swap(item->tensor.dtype, to, item->bytes);
		item->tensor.data = to;
		size += item->bytes;
		size += -size % TENON_TENSOR_ALIGN;
	}
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	return err;
}

/* ---- lists */

static int skip_names(struct tenon_params *p, struct tenon_cursor *c, uint64_t count)
{
	struct tenon_slice name;
	uint64_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		const struct tenon_cursor from = *c;

		err = fetch(p, c, 8);
		if (!err)
			err = take_string(c, &name);
		if (!err)
			err = fetch(p, &from, 8 + (uint64_t)name.size);
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
		err = fetch(p, c, 8);
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

static int read_any(struct tenon_params *p, struct tenon_cursor *c)
{
	const struct tenon_slice bytes = { (const char *)c->at, tenon_cursor_left(c) };
	struct tenon_cursor ahead = *c;
	uint64_t magic;
	int err;

	err = fetch(p, c, 24);
	if (!err)
		err = tenon_cursor_u64(&ahead, &magic);
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

int tenon_params_read(struct tenon_slice bytes, struct tenon_object *keep, const char *name,
		      struct tenon_params **out)
{
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, name, 0);
	int err;

	*out = NULL;
	err = bytes_check_data(bytes.data, bytes.size);
	if (!err)
		err = params_create(keep, out);
	if (err)
		return err;
	err = read_any(*out, &c);
	if (!err && SAVED_TENSOR_FOREIGN)
		err = own_data(*out, name);
	if (err) {
		tenon_object_unref(*out);
		*out = NULL;
	}
	return err;
}

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
		err = own_data(*out, "parameters");
	if (err) {
		tenon_object_unref(*out);
		*out = NULL;
	}
	return err;
}

/* ---- files */

/* Copy the names out of @head before it is freed. */
static int copy_names(struct tenon_params *p)
{
	size_t i, size = 0;
	char *at;

	for (i = 0; i < p->count; i++)
		size += p->items[i].name.size;
	at = p->names = malloc(size + 1);
	if (!at)
		return tenon_error(-TENON_E_NOMEM, "no memory for the names of %zu parameters",
				   p->count);
	for (i = 0; i < p->count; i++) {
		struct tenon_slice *name = &p->items[i].name;

		memcpy(at, name->data, name->size);
		name->data = at;
		at += name->size;
	}
	return 0;
}

static int map_data(struct tenon_params *p, size_t size)
{
	size_t i;
	int err;

	file_map_close(&p->head);
	if (SAVED_TENSOR_FOREIGN)
		return own_data(p, p->path);
	err = file_map(p->fd, p->path, size, &p->map);
	for (i = 0; i < p->count && !err; i++)
		p->items[i].tensor.data =
			(char *)(uintptr_t)p->map.data + (size_t)p->items[i].offset;
	return err;
}

static int read_file(struct tenon_params *p, const char *path)
{
	struct tenon_cursor c;
	size_t size;
	int err;

	p->path = strdup(path);
	if (!p->path)
		return tenon_error(-TENON_E_NOMEM, "no memory for parameters");
	err = file_open(path, &p->fd, &size);
	if (!err)
		err = file_map_reserve(path, size, &p->head);
	if (err)
		return err;
	c = tenon_cursor_of(p->head.data, p->head.size, path, 0);
	err = read_any(p, &c);
	if (!err)
		err = copy_names(p);
	if (!err)
		err = map_data(p, size);
	return err;
}

int tenon_params_open(const char *path, struct tenon_params **out)
{
	int err;

	err = params_create(NULL, out);
	if (err)
		return err;
	err = read_file(*out, path);
	if (err) {
		tenon_object_unref(*out);
		*out = NULL;
	}
	return err;
}

/* ---- access */

size_t tenon_params_count(const struct tenon_params *params)
{
	return params->count;
}

const struct tenon_param *tenon_params_at(const struct tenon_params *params, size_t index)
{
	return index < params->count ? &params->items[index] : NULL;
}

const struct tenon_param *tenon_params_find(const struct tenon_params *params,
					    struct tenon_slice name)
{
	size_t i;

	for (i = params->count; i--;)
		if (tenon_slice_equal(params->items[i].name, name))
			return &params->items[i];
	return NULL;
}

/* ---- copying */

int tenon_params_tensor(struct tenon_params *params, const struct tenon_param *param, size_t align,
			struct tenon_tensor **out)
{
	DLTensor dl = param->tensor;
	struct storage *s;
	int err;

	*out = NULL;
	if (!align || !((uintptr_t)dl.data % align))
		return tenon_tensor_view(&dl, &params->object, out);
	err = storage_create(param->bytes, &s);
	if (err)
		return err;
	err = tenon_params_load(params, param, s->data);
	dl.data = s->data;
	if (!err)
		err = tenon_tensor_view(&dl, &s->object, out);
	tenon_object_unref(s);
	return err;
}

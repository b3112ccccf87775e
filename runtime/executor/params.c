/* SPDX-License-Identifier: MIT */
#include "runtime/executor/params.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/cursor_fast.h"
#include "lib/file_map.h"
#include "runtime/executor/storage.h"
#include "runtime/payload/saved_tensor.h"

/* below, a copy goes through the mapping: a system call costs more */
#define READ_LEAST 4096

struct tenon_params {
	struct tenon_object object;
	struct tenon_object *keep;
	struct tenon_slice map; /* of a file opened here */
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
		file_map_close(&p->map);
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

static bool is_padding(const struct tenon_param *p)
{
	const size_t n = sizeof(PARAMS_PADDING) - 1;

	return p->name.size > n && !memcmp(p->name.data, PARAMS_PADDING, n) &&
	       p->tensor.ndim == 1 &&
	       tenon_dtype_equal(p->tensor.dtype, tenon_dtype(TENON_DTYPE_UINT, 8, 1));
}

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

/* @names has been checked, @c is at the first tensor */
static int read_tensors(struct tenon_params *p, struct tenon_cursor *c, struct tenon_cursor names,
			uint64_t count)
{
	struct tenon_cursor ahead = *c;
	struct saved_tensor saved;
	size_t extents = 0;
	int64_t *shape;
	uint64_t i;
	int err;

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

static int skip_names(struct tenon_cursor *c, uint64_t count)
{
	struct tenon_slice name;
	uint64_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = take_string(c, &name);
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
		err = skip_names(c, count);
	from = *c;
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
	struct tenon_cursor ahead = *c;
	uint64_t magic;
	int err;

	err = tenon_cursor_u64(&ahead, &magic);
	if (err)
		return err;
	if (magic == PARAMS_MAGIC)
		err = read_file_list(p, c);
	else if (magic == SAVED_TENSOR_MAGIC)
		err = read_one(p, c);
	else
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "0x%" PRIx64
					  " is not the magic number of parameters, 0x%" PRIx64,
					  magic, PARAMS_MAGIC);
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

	err = params_create(keep, out);
	if (err)
		return err;
	err = read_any(*out, &c);
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

	*out = NULL;
	err = take_count(c, 8 + SAVED_TENSOR_LEAST, &count);
	if (!err)
		err = take_count(c, 8, &name_count);
	if (err)
		return err;
	if (name_count != count)
		return count_error(&from, name_count, count);
	names = *c;
	err = skip_names(c, count);
	if (!err)
		err = params_create(keep, out);
	if (err)
		return err;
	err = read_tensors(*out, c, names, count);
	if (err) {
		tenon_object_unref(*out);
		*out = NULL;
	}
	return err;
}

int tenon_params_open(const char *path, struct tenon_params **out)
{
	struct tenon_params *p;
	struct tenon_cursor c;
	int err;

	*out = NULL;
	err = params_create(NULL, &p);
	if (err)
		return err;
	err = file_map_open(path, &p->map);
	if (err)
		goto unref;
	c = tenon_cursor_of(p->map.data, p->map.size, path, 0);
	err = read_any(p, &c);
	if (err)
		goto unref;
	p->fd = open(path, O_RDONLY | O_CLOEXEC);
	/* the pages of the headers, and the system maps some around each */
	if (p->map.size)
		(void)!madvise((void *)(uintptr_t)p->map.data, p->map.size, MADV_DONTNEED);
	*out = p;
	return 0;

unref:
	tenon_object_unref(p);
	return err;
}

/* ---- looking */

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

static int read_at(int fd, char *to, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t n = pread(fd, to, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tenon_error(-TENON_E_IO, "cannot read: %s", strerror(errno));
		if (!n)
			return tenon_error(-TENON_E_IO, "the file was cut while it was in use");
		to += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

int tenon_params_load(struct tenon_params *params, const struct tenon_param *param, void *to)
{
	int err;

	if (params->fd >= 0 && param->bytes >= READ_LEAST) {
		err = read_at(params->fd, to, param->bytes, param->offset);
		return err ? tenon_error_in(err, "parameter \"%.*s\"", (int)param->name.size,
					    param->name.data)
			   : 0;
	}
	if (param->bytes)
		memcpy(to, param->tensor.data, param->bytes);
	return 0;
}

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

/* SPDX-License-Identifier: MIT */
/* Parameters of a file or of bytes: data mapped or copied, access. */
#include "runtime/core/tensor_data.h"
#include "runtime/model/params_files.h"

#include <stdlib.h>
#include <string.h>

#include <tenon/string.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "runtime/core/reference.h"
#include "runtime/core/tensor_view.h"
#include "runtime/model/storage.h"
#include "runtime/core/saved_tensor.h"

/* bytes to read at a time from a file's head */
#define HEAD_STEP 65536

/* ---- reading */

int params_fetch(struct tenon_params *p, const struct tenon_cursor *c, uint64_t size)
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
	if (want < HEAD_STEP)
		want = left < HEAD_STEP ? left : HEAD_STEP;
	err = p->read_at(p->fd, p->path, (char *)(uintptr_t)p->head.data + p->fetched, want,
			 p->fetched);
	p->fetched += want;
	return err;
}

static int read_any(struct tenon_params *p, struct tenon_cursor *c)
{
	const struct params_format *format = NULL;
	int err = params_fetch(p, c, 24);
	size_t left = tenon_cursor_left(c);
	struct tenon_slice head = { (const char *)c->at, left < 24 ? left : 24 };

	if (err)
		return err;
	err = params_format_of(head, &format);
	return err ? tenon_error_in(err, "%s", c->name) : format->read(p, c);
}

/* ---- data */

static bool is_owned(const struct tenon_params *p, const char *data)
{
	return p->owned.size && data >= p->owned.data && data < p->owned.data + p->owned.size;
}

int tenon_params_load(struct tenon_params *params, const struct tenon_param *param, void *to)
{
	const struct params_origin *o;
	int err;

	/* joined ones may be joined again */
	while (params->origins && !is_owned(params, param->tensor.data)) {
		o = &params->origins[param - params->items];
		params = o->params;
		param = o->param;
	}
	if (params->fd >= 0 && !is_owned(params, param->tensor.data)) {
		err = params->read_at(params->fd, params->path, to, param->bytes, param->offset);
		return err ? tenon_error_in(err, "parameter \"%.*s\"", (int)param->name.size,
					    param->name.data)
			   : 0;
	}
	if (param->bytes)
		memcpy(to, param->tensor.data, param->bytes);
	return 0;
}

int params_own_data(struct tenon_params *p, const char *name)
{
	size_t i, size = 0;
	int err;

	for (i = 0; i < p->count; i++)
		if (__builtin_add_overflow(size, p->items[i].bytes, &size) ||
		    __builtin_add_overflow(size, -size % TENON_TENSOR_ALIGN, &size))
			return tenon_error(-TENON_E_OVERFLOW, "%s: too large for memory here",
					   name);
	err = file_map_reserve(name, size, &p->owned);
	for (i = 0, size = 0; i < p->count && !err; i++) {
		struct tenon_param *item = &p->items[i];
		char *to = (char *)(uintptr_t)p->owned.data + size;

		err = tenon_params_load(p, item, to);
		saved_tensor_swap(item->tensor.dtype, to, item->bytes);
		item->tensor.data = to;
		size += item->bytes;
		size += -size % TENON_TENSOR_ALIGN;
	}
	return err;
}

/* Let the data of parameters be in the bytes of their file. */
static void place_data(struct tenon_params *p, const char *bytes)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		p->items[i].tensor.data =
			(char *)(uintptr_t)(bytes ? bytes + p->items[i].offset : "");
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
	if (!err)
		place_data(*out, bytes.data);
	if (!err && SAVED_TENSOR_FOREIGN)
		err = params_own_data(*out, name);
	return object_made(err, out);
}

/* ---- files */

/* Copy the names out of @head before it is freed, where the reader has not done so. */
static int copy_names(struct tenon_params *p)
{
	size_t i, size = 0;
	char *at;

	if (p->names)
		return 0;
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
	int err;

	file_map_close(&p->head);
	if (SAVED_TENSOR_FOREIGN)
		return params_own_data(p, p->path);
	err = file_map(p->fd, p->path, size, &p->map);
	if (!err)
		place_data(p, p->map.data);
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
	p->read_at = file_read_at;
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

int params_open_file(const char *path, struct tenon_params **out)
{
	int err;

	err = params_create(NULL, out);
	if (err)
		return err;
	err = read_file(*out, path);
	return object_made(err, out);
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

/* ---- copying */

int tenon_params_tensor(struct tenon_params *params, const struct tenon_param *param, size_t align,
			struct tenon_tensor **out)
{
	DLTensor dl = param->tensor;
	struct storage *s;
	int err;

	*out = NULL;
	if (!align || !((uintptr_t)dl.data % align))
		return tensor_view_of_model(&dl, &params->object, out);
	err = storage_create_lasting(param->bytes, &s);
	if (err)
		return err;
	err = tenon_params_load(params, param, s->data);
	dl.data = s->data;
	if (!err)
		err = tensor_view_of_model(&dl, &s->object, out);
	tenon_object_unref(s);
	return err;
}

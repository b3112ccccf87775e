/* SPDX-License-Identifier: MIT */
/*
 * attention_kv_cache_*: the cache of models older than the paged one, a tensor that grows along its
 * first dimension, or that is overwritten as a ring.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/memory.h>

#include "lib/brief_errors.h"
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_device.h"

/**
 * struct row_cache - rows of a tensor
 * @object: header
 * @buffer: the tensor; rows from @fill on are unused
 * @fill: rows in use
 * @place: row that a ring writes next
 */
struct row_cache {
	struct tenon_object object;
	struct tenon_tensor *buffer;
	int64_t fill;
	int64_t place;
};

static int32_t row_cache_type;

static void cache_delete(void *self, int flags)
{
	struct row_cache *c = self;

	if (flags & TENON_DELETE_CONTENT)
		tenon_object_unref(c->buffer);
	if (flags & TENON_DELETE_MEMORY)
		free(c);
}

static int cache_argument(const struct relax_arguments *a, struct row_cache **out)
{
	return relax_argument_object(a, 0, __atomic_load_n(&row_cache_type, __ATOMIC_RELAXED),
				     "a cache of rows", out);
}

static int64_t rows_of(const DLTensor *t)
{
	return t->shape[0];
}

/* Bytes of a row; the tensor's size was checked. */
static int row_bytes(const DLTensor *t, uint64_t *out)
{
	DLTensor row = *t;
	size_t bytes;
	int err;

	row.ndim--;
	row.shape++;
	row.strides = NULL;
	err = tenon_tensor_bytes(&row, &bytes);
	*out = bytes;
	return err;
}

/* Copy rows between tensors whose rows are equal in size. */
static int copy_rows(const DLTensor *from, int64_t from_row, const DLTensor *to, int64_t to_row,
		     int64_t count)
{
	DLTensor a = *from, b = *to;
	uint64_t bytes;
	int64_t size;
	int err = row_bytes(from, &bytes);

	if (err || count <= 0)
		return err;
	a.byte_offset += (uint64_t)from_row * bytes;
	b.byte_offset += (uint64_t)to_row * bytes;
	size = count * (int64_t)bytes;
	a.shape = b.shape = &size;
	a.ndim = b.ndim = 1;
	a.strides = b.strides = NULL;
	a.dtype = b.dtype = tenon_dtype(TENON_DTYPE_UINT, 8, 1);
	return size ? place_copy(&a, &b, (uint64_t)size) : 0;
}

/* Get a tensor with rows, without gaps. */
static int rows_argument(const struct relax_arguments *a, int32_t i, DLTensor **out)
{
	size_t bytes;
	int err = relax_argument_any_tensor(a, i, out);

	if (err)
		return err;
	if ((*out)->ndim < 1 || !tenon_tensor_compact(*out))
		return relax_argument_error(a, i, -TENON_E_VALUE,
					    "expected a tensor of rows without gaps between them");
	err = tenon_tensor_bytes(*out, &bytes);
	return err ? relax_argument_refuse(a, i, err) : 0;
}

/* Get a tensor whose rows are like those of the cache. */
static int like_cache(const struct relax_arguments *a, int32_t i, const struct row_cache *c,
		      DLTensor **out)
{
	const DLTensor *b = &c->buffer->dl;
	DLTensor *t;
	int32_t d;
	int err = rows_argument(a, i, &t);

	if (err)
		return err;
	for (d = 1; t->ndim == b->ndim && d < t->ndim && t->shape[d] == b->shape[d]; d++)
		;
	*out = t;
	if (t->ndim == b->ndim && d == t->ndim && tenon_dtype_equal(t->dtype, b->dtype))
		return 0;
	return relax_argument_error(a, i, -TENON_E_VALUE,
				    "dtype or extents of the rows are not those of the cache");
}

static int new_buffer(const DLTensor *like, int64_t rows, struct tenon_tensor **out)
{
	int64_t shape[64];

	if (like->ndim > 64)
		return tenon_error(-TENON_E_VALUE, "%" PRIi32 " dimensions", like->ndim);
	memcpy(shape, like->shape, (size_t)like->ndim * sizeof(*shape));
	shape[0] = rows;
	/* In a run the limit of the machine's memory counts. */
	if (relax_current_pool() && place_is_host(like->device))
		return relax_tensor_new(relax_current_pool(), shape, like->ndim, like->dtype, out);
	return tenon_tensor_create_on(like->device, shape, like->ndim, like->dtype, out);
}

/* Have space for @rows rows; keep those in use. */
static int make_space(struct row_cache *c, int64_t rows)
{
	const DLTensor *old = &c->buffer->dl;
	struct tenon_tensor *buffer;
	int64_t room = rows_of(old) > 0 ? rows_of(old) : 1;
	int err;

	if (rows <= rows_of(old))
		return 0;
	while (room < rows)
		room = room > INT64_MAX / 2 ? rows : room * 2;
	err = new_buffer(old, room, &buffer);
	if (err)
		return err;
	err = copy_rows(old, 0, &buffer->dl, 0, c->fill);
	if (err) {
		tenon_object_unref(buffer);
		return err;
	}
	tenon_object_unref(c->buffer);
	c->buffer = buffer;
	return 0;
}

static int append(struct row_cache *c, const DLTensor *rows)
{
	int64_t total;
	int err;

	if (__builtin_add_overflow(c->fill, rows_of(rows), &total))
		return tenon_error(-TENON_E_OVERFLOW, "too many rows");
	err = make_space(c, total);
	if (!err)
		err = copy_rows(rows, 0, &c->buffer->dl, c->fill, rows_of(rows));
	if (!err)
		c->fill = total;
	return err;
}

static int create(const DLTensor *init, const struct tenon_shape *reserve, struct row_cache **out)
{
	struct row_cache *c = calloc(1, sizeof(*c));
	DLTensor like = *init;
	int32_t type;
	int err =
		c ? tenon_type_register("relax.vm.AttentionKVCacheLegacy", TENON_TYPE_OBJECT, &type)
		  : tenon_error(-TENON_E_NOMEM, "no memory for a cache");

	if (err) {
		free(c);
		return err;
	}
	__atomic_store_n(&row_cache_type, type, __ATOMIC_RELAXED);
	tenon_object_init(&c->object, type, cache_delete);
	like.shape = (int64_t *)(uintptr_t)reserve->data;
	err = new_buffer(&like, reserve->data[0], &c->buffer);
	if (!err)
		err = append(c, init);
	if (err) {
		tenon_object_unref(c);
		return err;
	}
	*out = c;
	return 0;
}

/* create(init, reserve, fill) */
RELAX_BUILTIN(attention_kv_cache_create, 3, 3)
{
	struct tenon_shape *reserve;
	struct row_cache *c;
	DLTensor *init;
	int64_t fill;
	int32_t d;
	int err;

	err = rows_argument(a, 0, &init);
	if (!err)
		err = relax_argument_shape(a, 1, &reserve);
	if (!err)
		err = relax_argument_int(a, 2, &fill);
	if (err)
		return err;
	for (d = 1; (size_t)init->ndim == reserve->size && d < init->ndim &&
		    init->shape[d] == reserve->data[d];
	     d++)
		;
	if ((size_t)init->ndim != reserve->size || d != init->ndim || reserve->data[0] < 0)
		return relax_argument_error(
			a, 1, -TENON_E_VALUE,
			"the shape does not have the rows of the initial tensor");
	err = create(init, reserve, &c);
	if (err)
		return tenon_error_in(err, "%s", a->name);
	if (fill > rows_of(&c->buffer->dl))
		err = relax_argument_error(a, 2, -TENON_E_VALUE,
					   "%" PRIi64 " rows in use of %" PRIi64, fill,
					   rows_of(&c->buffer->dl));
	if (err) {
		tenon_object_unref(c);
		return err;
	}
	if (fill >= 0)
		c->fill = c->place = fill;
	*ret = tenon_arg_object(c);
	return 0;
}

/* append(cache, rows) -> cache */
RELAX_BUILTIN(attention_kv_cache_append, 2, 2)
{
	struct row_cache *c;
	DLTensor *rows;
	int err;

	err = cache_argument(a, &c);
	if (!err)
		err = like_cache(a, 1, c, &rows);
	if (!err)
		err = append(c, rows);
	return err ? err : tenon_value_own(&a->args[0], ret);
}

/* update(cache, rows) -> cache: overwrite all rows in use */
RELAX_BUILTIN(attention_kv_cache_update, 2, 2)
{
	struct row_cache *c;
	DLTensor *rows;
	int err;

	err = cache_argument(a, &c);
	if (!err)
		err = like_cache(a, 1, c, &rows);
	if (!err && rows_of(rows) != c->fill)
		err = relax_argument_error(a, 1, -TENON_E_VALUE,
					   "%" PRIi64 " rows; the cache has %" PRIi64,
					   rows_of(rows), c->fill);
	if (!err)
		err = copy_rows(rows, 0, &c->buffer->dl, 0, c->fill);
	return err ? err : tenon_value_own(&a->args[0], ret);
}

/* view(cache [, shape]) -> the rows in use, sharing memory */
RELAX_BUILTIN(attention_kv_cache_view, 1, 2)
{
	struct tenon_shape *shape = NULL;
	struct tenon_tensor *t;
	struct row_cache *c;
	int64_t extents[64];
	const DLTensor *b;
	size_t i;
	int err;

	err = cache_argument(a, &c);
	if (!err && a->count == 2)
		err = relax_argument_shape(a, 1, &shape);
	if (err)
		return err;
	b = &c->buffer->dl;
	memcpy(extents, b->shape, (size_t)b->ndim * sizeof(*extents));
	extents[0] = c->fill;
	for (i = 0; shape && i < shape->size && shape->size == (size_t)b->ndim &&
		    shape->data[i] == extents[i];
	     i++)
		;
	if (shape && (shape->size != (size_t)b->ndim || i != shape->size))
		return relax_argument_error(a, 1, -TENON_E_VALUE,
					    "the cache has %" PRIi64 " rows of another shape",
					    c->fill);
	err = relax_tensor_view(c->buffer, 0, extents, b->ndim, b->dtype, &t);
	if (!err)
		*ret = tenon_arg_object(t);
	return err;
}

/* Write rows to a ring of @most rows whose first @sinks stay. */
static int write_ring(struct row_cache *c, const DLTensor *rows, int64_t most, int64_t sinks)
{
	int64_t n = rows_of(rows), first;
	int err;

	if (most < 1 || sinks < 0 || sinks > most || n > most - sinks || c->place > most ||
	    c->fill > most)
		return tenon_error(-TENON_E_VALUE,
				   "%" PRIi64 " rows for a ring of %" PRIi64 " with %" PRIi64
				   " that stay; the cache has %" PRIi64,
				   n, most, sinks, c->fill);
	first = n < most - c->place ? n : most - c->place;
	err = make_space(c, c->fill + n < most ? c->place + first > c->fill + n ? c->place + first
										: c->fill + n
					       : most);
	if (!err)
		err = copy_rows(rows, 0, &c->buffer->dl, c->place, first);
	if (!err)
		err = copy_rows(rows, first, &c->buffer->dl, sinks, n - first);
	if (err)
		return err;
	c->fill = c->fill + n < most ? c->fill + n : most;
	c->place = n > first ? sinks + n - first : c->place + first;
	return 0;
}

static int window_override(const struct relax_arguments *a, struct tenon_value *ret)
{
	int64_t most, sinks = 0;
	struct row_cache *c;
	DLTensor *rows;
	int err;

	*ret = tenon_arg_none();
	err = cache_argument(a, &c);
	if (!err)
		err = like_cache(a, 1, c, &rows);
	if (!err)
		err = relax_argument_int(a, 2, &most);
	if (!err && a->count == 4)
		err = relax_argument_int(a, 3, &sinks);
	if (!err) {
		err = write_ring(c, rows, most, sinks);
		if (err)
			tenon_error_in(err, "%s", a->name);
	}
	return err ? err : tenon_value_own(&a->args[0], ret);
}

/* window_override(cache, rows, most) -> cache */
RELAX_BUILTIN(attention_kv_cache_window_override, 3, 3)
{
	return window_override(a, ret);
}

/* window_override_with_sinks(cache, rows, most, sinks) -> cache */
RELAX_BUILTIN(attention_kv_cache_window_override_with_sinks, 4, 4)
{
	return window_override(a, ret);
}

/* Get cache @i of a tuple. */
static int cache_at(const struct relax_arguments *a, const struct tenon_array *caches, int64_t i,
		    struct row_cache **out)
{
	int32_t type = __atomic_load_n(&row_cache_type, __ATOMIC_RELAXED);

	if (type && caches->data[i].type == type) {
		*out = (struct row_cache *)caches->data[i].as.object;
		return 0;
	}
	return relax_argument_error(a, 0, -TENON_E_TYPE,
				    "item %" PRIi64 " is no cache of rows but %s", i,
				    tenon_type_key(caches->data[i].type));
}

/* array_popn(caches, n) */
RELAX_BUILTIN(attention_kv_cache_array_popn, 2, 2)
{
	struct tenon_array *caches;
	struct row_cache *c = NULL;
	int64_t n, i;
	int err;

	err = relax_argument_array(a, 0, &caches);
	if (!err)
		err = relax_argument_int(a, 1, &n);
	for (i = 0; !err && i < caches->size; i++) {
		err = cache_at(a, caches, i, &c);
		if (!err && (n < 0 || n > c->fill))
			err = relax_argument_error(a, 1, -TENON_E_VALUE,
						   "%" PRIi64 " rows are removed of %" PRIi64, n,
						   c->fill);
	}
	for (i = 0; !err && i < caches->size; i++) {
		err = cache_at(a, caches, i, &c);
		/* A cache may be in the tuple twice. */
		if (!err)
			c->fill = c->fill > n ? c->fill - n : 0;
	}
	return err;
}

/* array_clear(caches) */
RELAX_BUILTIN(attention_kv_cache_array_clear, 1, 1)
{
	struct tenon_array *caches;
	struct row_cache *c = NULL;
	int64_t i;
	int err;

	err = relax_argument_array(a, 0, &caches);
	for (i = 0; !err && i < caches->size; i++) {
		err = cache_at(a, caches, i, &c);
		if (!err)
			c->fill = 0;
	}
	return err;
}

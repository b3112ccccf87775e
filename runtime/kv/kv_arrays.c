/* SPDX-License-Identifier: MIT */
/*
 * The arrays that tell kernels where tokens are. They are in one buffer in host memory, which is
 * copied to the device at once.
 */
#include <inttypes.h>
#include <string.h>
#include <tenon/memory.h>

#include "lib/brief_errors.h"
#include "runtime/kv/kv_internal.h"
#include "runtime/model/tensor_place.h"

/* References of an object that nothing else uses: one strong, one weak. */
#define ALONE ((UINT64_C(1) << 32) + 1)

static void drop_array_views(struct kv_cache *c)
{
	int i;

	for (i = 0; i < KV_VIEWS; i++)
		if (i < KV_V_Q || i > KV_V_MERGED_LSE) {
			tenon_object_unref(c->views[i]);
			c->views[i] = NULL;
		}
}

static int grow(struct kv_cache *c, int64_t elements)
{
	static const DLDataType int32 = { TENON_DTYPE_INT, 32, 1 };
	static const DLDevice host = { kDLCPU, 0 };
	int64_t room = c->room;
	struct tenon_tensor *staging, *arrays;
	int err;

	if (elements > INT32_MAX)
		return tenon_error(-TENON_E_OVERFLOW, "arrays of %" PRIi64 " elements", elements);
	room = elements > 2 * room ? elements : 2 * room;
	err = tenon_tensor_create_on(host, &room, 1, int32, &staging);
	if (err)
		return err;
	arrays = staging;
	if (c->opened)
		err = tenon_tensor_create_on(c->config.device, &room, 1, int32, &arrays);
	else
		tenon_object_ref(arrays);
	if (err) {
		tenon_object_unref(staging);
		return err;
	}
	drop_array_views(c);
	tenon_object_unref(c->staging);
	tenon_object_unref(c->arrays);
	c->staging = staging;
	c->arrays = arrays;
	c->room = room;
	c->known.number = 0;
	return 0;
}

int kv_arrays_reset(struct kv_cache *c, int64_t elements)
{
	int err = 0;

	if (elements > c->room)
		err = grow(c, elements);
	if (err)
		return err;
	c->used = 0;
	c->form = 0;
	memset(c->spans, 0, sizeof(c->spans));
	c->dirty = true;
	return 0;
}

int32_t *kv_array(struct kv_cache *c, int view, int64_t count)
{
	c->spans[view] = (struct kv_span){ c->used, count };
	c->used += (count + KV_ARRAY_ALIGN - 1) / KV_ARRAY_ALIGN * KV_ARRAY_ALIGN;
	return kv_staged(c, view);
}

int kv_arrays_sync(struct kv_cache *c)
{
	int err = 0;

	if (c->dirty && c->opened && c->used)
		err = place_copy(&c->staging->dl, &c->arrays->dl, (uint64_t)c->used * 4);
	if (!err)
		c->dirty = false;
	return err;
}

int kv_view_set(struct kv_cache *c, int view, const DLTensor *base, uint64_t offset,
		struct tenon_object *keep, const int64_t *shape, int32_t ndim)
{
	struct tenon_tensor *t = c->views[view];
	DLTensor dl = *base;
	int64_t step = 1;
	int32_t i;
	int err;

	if (!t || t->dl.ndim != ndim ||
	    __atomic_load_n(&t->object.refs, __ATOMIC_ACQUIRE) != ALONE) {
		dl.shape = (int64_t *)(uintptr_t)shape;
		dl.strides = NULL;
		dl.ndim = ndim;
		err = tenon_tensor_view(&dl, keep, &t);
		if (err)
			return err;
		tenon_object_unref(c->views[view]);
		c->views[view] = t;
	}
	t->dl.data = base->data;
	t->dl.byte_offset = base->byte_offset + offset;
	place_settle(&t->dl);
	for (i = ndim; i-- > 0;) {
		t->dl.shape[i] = shape[i];
		t->dl.strides[i] = step;
		step *= shape[i];
	}
	return 0;
}

int kv_array_view(struct kv_cache *c, int view, const int64_t *shape, int32_t ndim)
{
	return kv_view_set(c, view, &c->arrays->dl, (uint64_t)c->spans[view].at * 4,
			   &c->arrays->object, shape, ndim);
}

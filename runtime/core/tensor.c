/* SPDX-License-Identifier: MIT */
/* Create tensors, view parts of them, and exchange them by DLPack. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/core/dtype.h"
#include "runtime/core/nested_delete.h"
#include "runtime/core/reference.h"
#include "runtime/core/tensor_view.h"

#define NDIM_MOST 64

/* A tensor object of Tenon: shape and strides are stored behind the struct, or in what was imported. */
struct own_tensor {
	struct tenon_tensor base;
	void (*release)(struct own_tensor *t); /* frees the data; NULL: does nothing */
	void *owner;
	int64_t extents[];
};

static void release_object(struct own_tensor *t)
{
	tenon_object_unref(t->owner);
}

/* A view holds a reference to the tensor that it was made from, which may be a view too. */
static bool is_view_of_tensor(const struct own_tensor *t)
{
	return t->release == release_object &&
	       ((const struct tenon_object *)t->owner)->type == TENON_TYPE_TENSOR;
}

static void tensor_delete(void *self, int flags)
{
	struct own_tensor *t = self;

	if ((flags & TENON_DELETE_CONTENT) && t->release) {
		if (is_view_of_tensor(t) && nested_delete(t, flags))
			return;
		t->release(t);
	}
	if (flags & TENON_DELETE_MEMORY)
		heap_free(t);
}

int tenon_tensor_elements(const DLTensor *dl, uint64_t *out)
{
	uint64_t n = 1;
	bool empty = false;
	int32_t i;

	*out = 0;
	/* An extent of 0 makes the product 0, which must not hide an overflow of the others. */
	for (i = 0; i < dl->ndim; i++) {
		if (dl->shape[i] < 0)
			return tenon_error(-TENON_E_VALUE, "extent %" PRIi64 " of dimension %d",
					   dl->shape[i], i);
		if (!dl->shape[i])
			empty = true;
		else if (__builtin_mul_overflow(n, (uint64_t)dl->shape[i], &n))
			return tenon_error(-TENON_E_OVERFLOW, "the product of %d extents overflows",
					   dl->ndim);
	}
	*out = empty ? 0 : n;
	return 0;
}

int tenon_tensor_bytes(const DLTensor *dl, size_t *out)
{
	uint64_t n, bits;
	int err;

	*out = 0;
	err = dtype_check(dl->dtype);
	if (!err)
		err = tenon_tensor_elements(dl, &n);
	if (err)
		return err;
	bits = (uint64_t)dtype_stored(dl->dtype).bits * dl->dtype.lanes;
	if (__builtin_mul_overflow(n, bits, &n) || __builtin_add_overflow(n, 7, &n) ||
	    n / 8 > SIZE_MAX / 2)
		return tenon_error(-TENON_E_OVERFLOW, "the size of the tensor overflows");
	*out = (size_t)(n / 8);
	return 0;
}

bool tenon_tensor_compact(const DLTensor *dl)
{
	int64_t want = 1;
	int32_t i;

	if (!dl->strides)
		return true;
	for (i = 0; i < dl->ndim; i++)
		if (!dl->shape[i])
			return true;
	for (i = dl->ndim; i-- > 0;) {
		if (dl->shape[i] != 1 && dl->strides[i] != want)
			return false;
		/*
		 * The sizes may be unchecked here: multiply unsigned, so that overflow is defined.
		 */
		want = (int64_t)((uint64_t)want * (uint64_t)dl->shape[i]);
	}
	return true;
}

static __attribute__((noinline)) void compact_strides(const int64_t *shape, int32_t ndim,
						      int64_t *strides)
{
	int64_t step = 1;
	int32_t i;

	for (i = ndim; i-- > 0;) {
		strides[i] = step;
		/*
		 * The product was checked for overflow. With an extent of 0 the strides may wrap,
		 * but no element uses them.
		 */
		step = (int64_t)((uint64_t)step * (uint64_t)shape[i]);
	}
}

/* Few numbers: a call of memcpy() would take longer. */
static void copy_extents(const int64_t *from, size_t n, int64_t *to)
{
	size_t i;

	for (i = 0; i < n; i++) {
		to[i] = from[i];
		/* or compilers make it that call */
		__asm__ volatile("");
	}
}

/* Test in little time what is so for most tensors: elements of 32 or 64 bits, and not 2^32 of them. */
static inline bool is_plain(const DLTensor *dl)
{
	DLDataType d = dl->dtype;
	uint64_t n = 1;
	int32_t i;

	if ((uint32_t)dl->ndim > NDIM_MOST || d.code > TENON_DTYPE_FLOAT ||
	    (d.bits != 32 && d.bits != 64) || d.lanes != 1)
		return false;
	for (i = 0; i < dl->ndim; i++) {
		/* neither 0 nor negative */
		if ((uint64_t)dl->shape[i] - 1 >= UINT32_MAX)
			return false;
		n *= (uint64_t)dl->shape[i];
		if (n > UINT32_MAX)
			return false;
	}
	return true;
}

static __attribute__((noinline)) int check_any(const DLTensor *dl)
{
	size_t bytes;

	if (dl->ndim < 0 || dl->ndim > NDIM_MOST)
		return tenon_error(-TENON_E_VALUE, "%d dimensions; a tensor has 0 to %d", dl->ndim,
				   NDIM_MOST);
	return tenon_tensor_bytes(dl, &bytes);
}

/* speed, or size; 32 bits cannot address all that is plain */
#ifdef CONFIG_FAST_CALLS
#define IN_CALLERS  inline __attribute__((always_inline))
#define PLAIN_FIRST (sizeof(size_t) > 4)
#else
#define IN_CALLERS  __attribute__((noinline))
#define PLAIN_FIRST false
#endif

/* Check what foreign code or a caller says of a tensor. */
static inline int tensor_check(const DLTensor *dl)
{
	return PLAIN_FIRST && is_plain(dl) ? 0 : check_any(dl);
}

/* Create a tensor object with its own shape and strides and no data yet. */
static int tensor_new(const DLTensor *dl, bool of_model, struct own_tensor **out)
{
	struct own_tensor *t;
	size_t bytes, n;
	int err;

	*out = NULL;
	err = tensor_check(dl);
	if (err)
		return err;
	n = (size_t)dl->ndim;
	bytes = sizeof(*t) + 2 * n * sizeof(t->extents[0]);
	t = HEAP_IN_BUILD && of_model ? heap_alloc(bytes, "tensor object") : malloc(bytes);
	if (!t)
		return tenon_error(-TENON_E_NOMEM, "no memory for a tensor object");
	object_init(&t->base.object, TENON_TYPE_TENSOR, tensor_delete);
	t->base.dl = *dl;
	t->base.dl.shape = t->extents;
	t->base.dl.strides = n ? t->extents + n : NULL;
	t->release = NULL;
	t->owner = NULL;
	copy_extents(dl->shape, n, t->extents);
	if (dl->strides)
		copy_extents(dl->strides, n, t->extents + n);
	else
		compact_strides(t->extents, dl->ndim, t->extents + n);
	*out = t;
	return 0;
}

static void release_memory(struct own_tensor *t)
{
	free(t->base.dl.data);
}

int tensor_create_unset(const DLTensor *dl, struct tenon_tensor **out)
{
	struct own_tensor *t;
	size_t bytes;
	void *data;
	int err;

	*out = NULL;
	err = tensor_new(dl, false, &t);
	if (err)
		return err;
	/* cannot fail: tensor_new() checked it */
	tenon_tensor_bytes(dl, &bytes);
	if (posix_memalign(&data, TENON_TENSOR_ALIGN, bytes ? bytes : 1)) {
		tenon_object_unref(t);
		return tenon_error(-TENON_E_NOMEM, "no memory for a tensor of %zu bytes", bytes);
	}
	t->base.dl.data = data;
	t->release = release_memory;
	*out = &t->base;
	return 0;
}

int tenon_tensor_create(const int64_t *shape, int32_t ndim, DLDataType dtype,
			struct tenon_tensor **out)
{
	const DLTensor dl = tenon_dltensor(NULL, (int64_t *)shape, ndim, dtype);
	size_t bytes;
	int err = tensor_create_unset(&dl, out);

	if (err)
		return err;
	tenon_tensor_bytes(&dl, &bytes);
	memset((*out)->dl.data, 0, bytes ? bytes : 1);
	return 0;
}

static int view(const DLTensor *dl, struct tenon_object *keep, bool of_model,
		struct tenon_tensor **out)
{
	struct own_tensor *t;
	int err;

	*out = NULL;
	err = tensor_new(dl, of_model, &t);
	if (err)
		return err;
	if (keep) {
		tenon_object_ref(keep);
		t->owner = keep;
		t->release = release_object;
	}
	*out = &t->base;
	return 0;
}

int tenon_tensor_view(const DLTensor *dl, struct tenon_object *keep, struct tenon_tensor **out)
{
	return view(dl, keep, false, out);
}

#ifdef CONFIG_EXECUTORS
int tensor_view_of_model(const DLTensor *dl, struct tenon_object *keep, struct tenon_tensor **out)
{
	return view(dl, keep, true, out);
}
#endif

static void imported_delete(void *self, int flags)
{
	struct own_tensor *t = self;
	DLManagedTensor *m = t->owner;

	if ((flags & TENON_DELETE_CONTENT) && m->deleter)
		m->deleter(m);
	if (flags & TENON_DELETE_MEMORY)
		free(t);
}

static void imported_versioned_delete(void *self, int flags)
{
	struct own_tensor *t = self;
	DLManagedTensorVersioned *m = t->owner;

	if ((flags & TENON_DELETE_CONTENT) && m->deleter)
		m->deleter(m);
	if (flags & TENON_DELETE_MEMORY)
		free(t);
}

/* The imported tensor lives as long as the object, so its shape and strides need no copy. */
static IN_CALLERS int import(const DLTensor *dl, size_t align, bool contiguous, void *managed,
			     void (*deleter)(void *self, int flags), struct tenon_tensor **out)
{
	struct own_tensor *t;
	int err;

	if (align && ((uintptr_t)dl->data + dl->byte_offset) % align)
		return tenon_error(-TENON_E_VALUE, "the data is not aligned to %zu bytes", align);
	if (contiguous && !tenon_tensor_compact(dl))
		return tenon_error(-TENON_E_VALUE, "the tensor is not contiguous");
	err = tensor_check(dl);
	if (err)
		return err;
	/* room for strides, which most tensors have */
	t = malloc(sizeof(*t) + (size_t)dl->ndim * sizeof(t->extents[0]));
	if (!t)
		return tenon_error(-TENON_E_NOMEM, "no memory for a tensor object");
	object_init(&t->base.object, TENON_TYPE_TENSOR, deleter);
	t->base.dl = *dl;
	t->release = NULL;
	t->owner = managed;
	if (!dl->strides && dl->ndim) {
		t->base.dl.strides = t->extents;
		compact_strides(dl->shape, dl->ndim, t->extents);
	}
	*out = &t->base;
	return 0;
}

int tenon_tensor_from_dlpack(DLManagedTensor *managed, size_t align, bool contiguous,
			     struct tenon_tensor **out)
{
	*out = NULL;
	return import(&managed->dl_tensor, align, contiguous, managed, imported_delete, out);
}

int tenon_tensor_from_dlpack_versioned(DLManagedTensorVersioned *managed, size_t align,
				       bool contiguous, struct tenon_tensor **out)
{
	*out = NULL;
	if (managed->version.major != 1)
		return tenon_error(-TENON_E_VALUE, "DLPack version %u.%u; version 1 is read here",
				   managed->version.major, managed->version.minor);
	if ((managed->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) &&
	    managed->dl_tensor.dtype.bits < 8)
		return tenon_error(-TENON_E_VALUE,
				   "elements of %d bits padded to bytes; packed ones are read",
				   managed->dl_tensor.dtype.bits);
	return import(&managed->dl_tensor, align, contiguous, managed, imported_versioned_delete,
		      out);
}

static void managed_delete(DLManagedTensor *self)
{
	tenon_object_unref(self->manager_ctx);
	free(self);
}

static void versioned_delete(DLManagedTensorVersioned *self)
{
	tenon_object_unref(self->manager_ctx);
	free(self);
}

/* Test whether the tensor, or the one it is a view of, was imported as read-only. */
static bool is_read_only(const struct tenon_tensor *tensor)
{
	const struct own_tensor *t = (const struct own_tensor *)tensor;
	const DLManagedTensorVersioned *m;

	while (t->base.object.deleter == tensor_delete && is_view_of_tensor(t))
		t = t->owner;
	if (t->base.object.deleter != imported_versioned_delete)
		return false;
	m = t->owner;
	return m->flags & DLPACK_FLAG_BITMASK_READ_ONLY;
}

int tenon_tensor_to_dlpack(struct tenon_tensor *tensor, DLManagedTensor **out)
{
	DLManagedTensor *m = malloc(sizeof(*m));

	*out = NULL;
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a DLPack tensor");
	tenon_object_ref(tensor);
	m->dl_tensor = tensor->dl;
	m->manager_ctx = tensor;
	m->deleter = managed_delete;
	*out = m;
	return 0;
}

int tenon_tensor_to_dlpack_versioned(struct tenon_tensor *tensor, DLManagedTensorVersioned **out)
{
	DLManagedTensorVersioned *m = calloc(1, sizeof(*m));

	*out = NULL;
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a DLPack tensor");
	tenon_object_ref(tensor);
	m->version.major = 1;
	m->dl_tensor = tensor->dl;
	m->manager_ctx = tensor;
	m->deleter = versioned_delete;
	if (is_read_only(tensor))
		m->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
	*out = m;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* tvm-ffi: objects and their memory. */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/core/reference.h"
#include "runtime/library/tvm_table.h"

struct opaque_object {
	struct tenon_object object;
	void *handle;
	void (*release)(void *handle);
};

/* what the headers of the package 0.1.15.post2 say */
void abi_ffi_version(uint32_t version[3])
{
	version[0] = 0;
	version[1] = 1;
	version[2] = 16;
}

int abi_ffi_object_ref(void *object)
{
	if (object)
		object_ref(object);
	return 0;
}

int abi_ffi_object_unref(void *object)
{
	if (object)
		object_unref(object);
	return 0;
}

static void opaque_delete(void *self, int flags)
{
	struct opaque_object *o = self;

	if ((flags & TENON_DELETE_CONTENT) && o->release)
		o->release(o->handle);
	if (flags & TENON_DELETE_MEMORY)
		free(o);
}

int abi_ffi_object_opaque(void *handle, int32_t type, void (*deleter)(void *handle), void **out)
{
	struct opaque_object *o;

	*out = NULL;
	if (type != TENON_TYPE_OPAQUE_PYTHON)
		return ffi_result(tenon_error(-TENON_E_TYPE,
					      "an opaque object must be of type %d, found %d",
					      TENON_TYPE_OPAQUE_PYTHON, type));
	o = malloc(sizeof(*o));
	if (!o)
		return ffi_result(tenon_error(-TENON_E_NOMEM, "no memory for an opaque object"));
	tenon_object_init(&o->object, type, opaque_delete);
	o->handle = handle;
	o->release = deleter;
	*out = o;
	return 0;
}

/* The header before memory that an allocator returned; the last member is part of the ABI. */
struct allocation {
	void *block;
	void (*release)(void *body);
};

static void allocation_release(void *body)
{
	free(((struct allocation *)body - 1)->block);
}

static void *allocate(size_t size, size_t align, int32_t type, void *context)
{
	size_t front = sizeof(struct allocation);
	char *block, *body;

	align = align < _Alignof(struct allocation) ? _Alignof(struct allocation) : align;
	if (size > SIZE_MAX - front - align || !(block = malloc(size + front + align))) {
		tenon_error(-TENON_E_NOMEM, "no memory for an object of %zu bytes", size);
		return NULL;
	}
	body = (char *)(((uintptr_t)block + front + align - 1) & ~(uintptr_t)(align - 1));
	((struct allocation *)(void *)body - 1)->block = block;
	((struct allocation *)(void *)body - 1)->release = allocation_release;
	return body;
}

static struct ffi_allocator own_allocator = { allocate, NULL };
static struct ffi_allocator *custom_allocator;

struct ffi_allocator *abi_ffi_allocator(void)
{
	struct ffi_allocator *a = __atomic_load_n(&custom_allocator, __ATOMIC_ACQUIRE);

	return a ? a : &own_allocator;
}

int abi_ffi_allocator_set(struct ffi_allocator *allocator)
{
	__atomic_store_n(&custom_allocator, allocator, __ATOMIC_RELEASE);
	return 0;
}

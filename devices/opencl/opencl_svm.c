/* SPDX-License-Identifier: MIT */
/*
 * Shared virtual memory of a device that is the processor: small copies on a queue that is idle are made in place. PoCL
 * makes a copy in a thread of its own, and the callback that ends a wait for it comes from a third.
 */
#include <stdlib.h>
#include <string.h>

#include "devices/opencl/opencl_device.h"

/* the driver makes larger copies, while the caller goes on */
#define IN_PLACE_MOST (UINT64_C(4) << 20)

/* what a buffer lies in; given back when the last command that uses the buffer is over */
struct shared_block {
	ocl_context context;
	void *base;
};

bool opencl_svm_find(const struct opencl_device *d)
{
	/* accelerators and GPUs may be slower with memory that is kept coherent */
	return d->version >= 200 && ocl.SVMAlloc && ocl.SVMFree &&
	       ocl.SetMemObjectDestructorCallback &&
	       opencl_number(d->device, OCL_DEVICE_TYPE) & OCL_DEVICE_TYPE_CPU &&
	       opencl_number(d->device, OCL_DEVICE_SVM_CAPABILITIES) & OCL_SVM_FINE_GRAIN_BUFFER;
}

static void block_free(ocl_mem mem, void *block)
{
	struct shared_block *b = block;

	ocl.SVMFree(b->context, b->base);
	free(b);
}

/* The buffer in @b, which it owns then. */
static ocl_mem buffer_in(struct shared_block *b, size_t size)
{
	ocl_mem mem = ocl.CreateBuffer(b->context, OCL_MEM_READ_WRITE | OCL_MEM_USE_HOST_PTR, size,
				       b->base, NULL);

	if (mem && ocl.SetMemObjectDestructorCallback(mem, block_free, b)) {
		ocl.ReleaseMemObject(mem);
		return NULL;
	}
	return mem;
}

ocl_mem opencl_svm_buffer(struct opencl_device *d, size_t size, void **host)
{
	struct shared_block *b = malloc(sizeof(*b));
	ocl_mem mem = NULL;

	if (!b)
		return NULL;
	b->context = d->context;
	b->base = ocl.SVMAlloc(d->context, OCL_MEM_READ_WRITE | OCL_MEM_SVM_FINE_GRAIN_BUFFER, size,
			       0);
	if (b->base)
		mem = buffer_in(b, size);
	if (mem) {
		*host = b->base;
		return mem;
	}
	if (b->base)
		ocl.SVMFree(d->context, b->base);
	free(b);
	return NULL;
}

static bool in_place(struct opencl_queue *q, const struct tenon_range *range, uint64_t size)
{
	return range->memory->host && size <= IN_PLACE_MOST && !opencl_is_shared(q) &&
	       opencl_queue_is_idle(q);
}

bool opencl_svm_copy(struct opencl_queue *q, const struct tenon_operation *o)
{
	const struct tenon_range *from = &o->as.read.from, *to = &o->as.write.to;

	if (o->kind == TENON_OP_WRITE && in_place(q, to, o->as.write.size))
		memcpy((char *)to->memory->host + to->offset, o->as.write.host, o->as.write.size);
	else if (o->kind == TENON_OP_READ && in_place(q, from, o->as.read.size))
		memcpy(o->as.read.host, (const char *)from->memory->host + from->offset,
		       o->as.read.size);
	else
		return false;
	return true;
}

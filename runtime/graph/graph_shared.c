/* SPDX-License-Identifier: MIT */
/*
 * Storages of a device in a dma-buf of the caller: the device uses the memory where it is. Each begins at a page, and shares
 * none with another, since drivers map pages. Tensors of the processor lie behind them.
 */
#include <stdlib.h>
#include <tenon/device.h>
#include <tenon/memory.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/graph/graph_exec.h"

static bool is_of_device(const struct graph_exec *x, uint32_t storage)
{
	return !graph_storage_on_host(x, storage) && x->graph.storages[storage].used;
}

/* Bytes of a storage, up to the end of its last page; saturates. */
static uint64_t paged(const struct graph_exec *x, uint32_t storage)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes = x->graph.storages[storage].bytes;

	return bytes > UINT64_MAX - page ? UINT64_MAX : (bytes + !bytes + page - 1) & ~(page - 1);
}

static uint64_t block_bytes(const struct graph_exec *x)
{
	uint64_t all = 0;
	uint32_t i;

	for (i = 0; i < x->graph.storage_count; i++)
		if (is_of_device(x, i) && __builtin_add_overflow(all, paged(x, i), &all))
			all = UINT64_MAX;
	return all;
}

uint64_t graph_shared_bytes(struct tenon_model *m)
{
	const struct graph_exec *x = graph_exec_of(m);
	uint64_t host = x->arena->size ? x->arena->size : HEAP_LEAST, all = block_bytes(x);

	return __builtin_add_overflow(all, host, &all) ? UINT64_MAX : all;
}

uint64_t graph_device_bytes(struct tenon_model *m)
{
	const struct graph_exec *x = graph_exec_of(m);

	return x->shared ? 0 : block_bytes(x);
}

static int import(struct graph_exec *x, const struct heap_region *r)
{
	const struct tenon_memory_import from = { .size = sizeof(from),
						  .type = TENON_HANDLE_DMA_BUF,
						  .fd = *r->dmabuf,
						  .bytes = r->size,
						  .usage = TENON_MEMORY_DEFAULT |
							   TENON_MEMORY_IN_PLACE };
	struct tenon_device *device;
	int err = tenon_device_get(x->others[0], &device);

	if (err)
		return err;
	err = tenon_memory_import(device, &from, &x->shared);
	tenon_object_unref(device);
	return err;
}

int graph_share(struct graph_exec *x)
{
	struct heap_region r;
	uint64_t bytes;

	if (!heap_dmabuf(&r))
		return 0;
	if (!PLACE_HAS_DEVICES || x->other_count != 1)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "planned memory is a dma-buf, and the model runs on %s; leave "
				   "its dmabuf out",
				   x->other_count ? "several devices" : "cpu:0");
	bytes = block_bytes(x);
	x->block = bytes > SIZE_MAX ? NULL
				    : heap_take(HEAP_PLANNED, HEAP_ALIGN, (size_t)bytes,
						"tensors of the device");
	if (!x->block)
		return tenon_error(-TENON_E_NOMEM, "no memory for tensors of the device");
	return import(x, &r);
}

int graph_share_storage(struct graph_exec *x, uint32_t storage, uint64_t *at)
{
	uint64_t offset = *at, bytes = paged(x, storage);
	/* like memory that drivers allocate when a model is opened: tenon_model_need() knows of no parts */
	struct heap *before = heap_enter(NULL);
	int err;

	/* the block is the first of planned memory, and so of the dma-buf */
	*at += bytes;
	err = tenon_memory_subrange(x->shared, offset, bytes, &x->memories[storage]);
	heap_enter(before);
	return err;
}

void graph_unshare(struct graph_exec *x)
{
	if (!PLACE_HAS_DEVICES)
		return;
	tenon_object_unref(x->shared);
	heap_free(x->block);
}

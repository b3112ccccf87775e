/* SPDX-License-Identifier: MIT */
/* A pool of memory for each queue, reused in the order of its operations. */
#ifndef RUNTIME_DEVICE_DEVICE_POOL_H
#define RUNTIME_DEVICE_DEVICE_POOL_H

#include "runtime/device/device_core.h"

struct pool_block;

/* As tenon_memory_take(), but the caller keeps track of the block. */
int pool_take(struct tenon_queue *queue, uint64_t size, struct pool_block **out);
/* Return a block; call it in the thread that submits to the queue. */
void pool_give(struct pool_block *block);
struct tenon_memory *pool_memory(const struct pool_block *block);

#endif /* RUNTIME_DEVICE_DEVICE_POOL_H */

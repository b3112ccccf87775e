/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_DEVICE_DEVICE_POOL_H
#define RUNTIME_DEVICE_DEVICE_POOL_H

#include "runtime/device/device_core.h"

struct pool_block;

/* tenon_memory_take() that leaves it to the caller to remember what is out. */
int pool_take(struct tenon_queue *queue, uint64_t size, struct pool_block **out);
/* In the thread that submits to the queue it was taken from. */
void pool_give(struct pool_block *block);
struct tenon_memory *pool_memory(const struct pool_block *block);

#endif /* RUNTIME_DEVICE_DEVICE_POOL_H */

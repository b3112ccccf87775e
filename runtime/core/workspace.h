/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_WORKSPACE_H
#define RUNTIME_CORE_WORKSPACE_H

/*
 * What a thread's workspace consists of: host memory, which is kept for the next use, and memory from
 * elsewhere, which is released when it is freed or reclaimed. Which device it belongs to is known above
 * (runtime/device/device_workspace.c).
 */

#include <tenon/workspace.h>

typedef void (*workspace_release_fn)(void *owner);

/* Take host memory; NULL with the thread's error set. */
void *workspace_take(uint64_t size);

/**
 * workspace_add - count memory from elsewhere to the workspace of the calling thread
 * @memory: address that tenon_workspace_free() will be given
 * @release: gives the memory back
 * @owner: what @release is called with
 *
 * Return: 0; -TENON_E_NOMEM, without a message: the caller still owns the memory.
 */
int workspace_add(void *memory, workspace_release_fn release, void *owner);

#endif /* RUNTIME_CORE_WORKSPACE_H */

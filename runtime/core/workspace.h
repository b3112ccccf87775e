/* SPDX-License-Identifier: MIT */
/*
 * The workspace of a thread: host memory, which is cached for the next use, and other memory, which
 * is released when it is freed or reclaimed. runtime/device/device_workspace.c knows the device.
 */
#ifndef RUNTIME_CORE_WORKSPACE_H
#define RUNTIME_CORE_WORKSPACE_H

#include <tenon/workspace.h>

typedef void (*workspace_release_fn)(void *owner);

/* Take host memory; NULL with the thread's error set. */
void *workspace_take(uint64_t size);

/**
 * workspace_add - add foreign memory to the workspace of the calling thread
 * @memory: address that will be passed to tenon_workspace_free()
 * @release: frees the memory
 * @owner: argument of @release
 *
 * Return: 0; -TENON_E_NOMEM, without a message: the caller still owns the memory.
 */
int workspace_add(void *memory, workspace_release_fn release, void *owner);

#endif /* RUNTIME_CORE_WORKSPACE_H */

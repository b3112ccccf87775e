/* SPDX-License-Identifier: MIT */
/*
 * The workspace of a thread, which compiled code takes and frees like a stack.
 *
 * Host memory is cached for the next use. Other memory is released when it is freed or reclaimed;
 * runtime/device/device_workspace.c knows the device.
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

struct heap;
struct workspace;

/**
 * workspace_create - make a workspace for a model
 * @heap: heap whose temporary memory it hands out; the thread entered it
 *
 * Return: NULL when its persistent memory is full.
 */
struct workspace *workspace_create(struct heap *heap);

/* Free a workspace that no thread uses; NULL is allowed. */
void workspace_destroy(struct workspace *w);

/* Use a workspace in the calling thread from here on. Returns the one that it used before, or NULL. */
struct workspace *workspace_enter(struct workspace *w);

#endif /* RUNTIME_CORE_WORKSPACE_H */

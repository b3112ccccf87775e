/* SPDX-License-Identifier: MIT */
#ifndef TENON_WORKSPACE_H
#define TENON_WORKSPACE_H

/**
 * DOC: workspace
 *
 * Temporary memory for compiled code. It is freed in reverse order of allocation, so each thread
 * has a stack of blocks and takes no lock. Compiled code that fails does not free its workspace:
 * the caller takes a mark before the call and reclaims to it.
 */

#include <stddef.h>
#include <tenon/dlpack.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* alignment of workspace memory, in bytes */
#define TENON_WORKSPACE_ALIGN 128

/**
 * tenon_workspace_alloc - allocate temporary memory for the calling thread
 * @device: the device that will use it
 * @size: bytes; 0 is treated as 1
 *
 * Return: memory aligned to TENON_WORKSPACE_ALIGN; NULL with the thread's error set.
 */
TENON_API void *tenon_workspace_alloc(DLDevice device, uint64_t size);

/**
 * tenon_workspace_free - free temporary memory; any order works, reverse order is fastest
 * @device: as passed to tenon_workspace_alloc()
 * @memory: from tenon_workspace_alloc() in the same thread; NULL is a no-op
 *
 * Return: 0; -TENON_E_USAGE for memory outside this thread's workspace.
 */
TENON_API int tenon_workspace_free(DLDevice device, void *memory);

/** tenon_workspace_mark - number of blocks that the calling thread has allocated */
TENON_API size_t tenon_workspace_mark(void);

/**
 * tenon_workspace_reclaim - free all blocks allocated since a mark
 * @mark: from tenon_workspace_mark() in the same thread
 */
TENON_API void tenon_workspace_reclaim(size_t mark);

/** tenon_workspace_trim - return the calling thread's idle blocks to the system */
TENON_API void tenon_workspace_trim(void);

#ifdef __cplusplus
}
#endif

#endif /* TENON_WORKSPACE_H */

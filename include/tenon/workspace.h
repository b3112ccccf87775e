/* SPDX-License-Identifier: MIT */
#ifndef TENON_WORKSPACE_H
#define TENON_WORKSPACE_H

/**
 * DOC: workspace
 *
 * Temporary memory of compiled code: taken and given back in reverse order, so a stack of blocks per
 * thread serves it without a lock. Compiled code does not give it back when it fails: whoever
 * called it does, with a mark.
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
 * tenon_workspace_alloc - take temporary memory of the calling thread
 * @device: the device that will use it
 * @size: bytes; 0 counts as 1
 *
 * Return: memory aligned to TENON_WORKSPACE_ALIGN; NULL with the thread's error set.
 */
TENON_API void *tenon_workspace_alloc(DLDevice device, uint64_t size);

/**
 * tenon_workspace_free - give temporary memory back; in reverse order is fastest, any order works
 * @device: as it was taken
 * @memory: from tenon_workspace_alloc() in the same thread; NULL does nothing
 *
 * Return: 0; -TENON_E_USAGE for memory that is not of this thread's workspace.
 */
TENON_API int tenon_workspace_free(DLDevice device, void *memory);

/** tenon_workspace_mark - how many blocks the calling thread has out now */
TENON_API size_t tenon_workspace_mark(void);

/**
 * tenon_workspace_reclaim - give back all that was taken since a mark
 * @mark: from tenon_workspace_mark() in the same thread
 */
TENON_API void tenon_workspace_reclaim(size_t mark);

/** tenon_workspace_trim - return the calling thread's idle blocks to the system */
TENON_API void tenon_workspace_trim(void);

#ifdef __cplusplus
}
#endif

#endif /* TENON_WORKSPACE_H */

/* SPDX-License-Identifier: MIT */
/* Copies and fills by the CPU, for devices whose memory is mapped. */
#ifndef DEVICES_MAPPED_INLINE_WORK_H
#define DEVICES_MAPPED_INLINE_WORK_H

/* For devices whose memory is always mapped: tenon_memory.host is set. */

#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>

/* does TENON_OP_DISPATCH */
typedef int inline_run(struct tenon_queue *queue, const struct tenon_dispatch *dispatch);

/** inline_address - address of a range in this process */
static inline void *inline_address(const struct tenon_range *range)
{
	return (char *)range->memory->host + range->offset;
}

/**
 * inline_work - do an operation now
 * @queue: where it was submitted
 * @op: any operation except TENON_OP_EXECUTE
 * @run: what runs kernels
 *
 * Return: 0; what @run returned; -TENON_E_LOST; -TENON_E_UNSUPPORTED.
 */
int inline_work(struct tenon_queue *queue, const struct tenon_operation *op, inline_run *run);

#endif /* DEVICES_MAPPED_INLINE_WORK_H */

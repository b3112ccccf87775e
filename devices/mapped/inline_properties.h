/* SPDX-License-Identifier: MIT */
/* Properties of accelerators that run a job at a time in memory of the CPU. */
#ifndef DEVICES_MAPPED_INLINE_PROPERTIES_H
#define DEVICES_MAPPED_INLINE_PROPERTIES_H

#include <tenon/device.h>

/**
 * inline_properties - what accelerators that run a job at a time, in memory that the CPU has too, have in common
 * @memory: how much of it
 * @p: all but names, processors, queues, alignment and what can be imported
 */
void inline_properties(uint64_t memory, struct tenon_device_properties *p);

#endif /* DEVICES_MAPPED_INLINE_PROPERTIES_H */

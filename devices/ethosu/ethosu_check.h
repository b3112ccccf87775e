/* SPDX-License-Identifier: MIT */
/* Check that a command stream stays inside the memory that it is given. */
#ifndef DEVICES_ETHOSU_ETHOSU_CHECK_H
#define DEVICES_ETHOSU_ETHOSU_CHECK_H

/*
 * The hardware checks nothing: a stream reads and writes whatever its offsets reach. The check walks
 * through a stream, requires that every setter that an operation uses was there, computes the extent of
 * every access, and compares it with the memory that a region will have.
 *
 * The rule is exact: all tiles of feature maps, all streams of weights of all cores, elements of their
 * real size. Linux's own check counts less (the first core, the last tile), so it is no substitute.
 *
 * An access without a known bound is an error: branches, gathered reads, negative strides,
 * unknown codes, and set bits that no known command has.
 */

#include "devices/ethosu/ethosu_command.h"
#include "devices/ethosu/ethosu_payload.h"

/* a region whose size is not known */
#define ETHOSU_UNLIMITED UINT64_MAX

/**
 * struct ethosu_extents - what a stream does to memory
 * @read: end of what it reads of each region; 0 for nothing
 * @write: end of what it writes
 * @operations: operations of each kind, by enum ethosu_register up to ETHOSU_OP_DMA_START
 * @commands: number of commands
 */
struct ethosu_extents {
	uint64_t read[ETHOSU_REGIONS];
	uint64_t write[ETHOSU_REGIONS];
	uint32_t operations[ETHOSU_OP_DMA_START + 1];
	uint32_t commands;
};

/**
 * ethosu_check - check a command stream
 * @stream: cursor over the stream
 * @target: what it was compiled for
 * @sizes: bytes of each region, or ETHOSU_UNLIMITED; NULL: none is limited
 * @out: receives the extents
 *
 * Return: 0; a negative status, with the offset and the reason in the message.
 */
int ethosu_check(struct tenon_cursor stream, const struct ethosu_target *target,
		 const uint64_t sizes[ETHOSU_REGIONS], struct ethosu_extents *out);

#endif /* DEVICES_ETHOSU_ETHOSU_CHECK_H */

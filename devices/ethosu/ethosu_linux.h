/* SPDX-License-Identifier: MIT */
/* Predict how Linux's driver judges a command stream. */
#ifndef DEVICES_ETHOSU_ETHOSU_LINUX_H
#define DEVICES_ETHOSU_ETHOSU_LINUX_H

/*
 * Linux's driver walks through a stream when it is handed over, and computes the size that each region needs. Its
 * rule is not ethosu_check()'s: it looks at the last element of a map and at the weights of the first core alone,
 * so its sizes may be too small, and it refuses some valid streams. A program needs these sizes: a job must name a
 * buffer for each region whose size is not 0 by this rule, and for no other.
 *
 * Three generations of the rule are known. Linux does not report which one it applies.
 *
 * Run ethosu_check() on a stream, too: this rule ignores commands that Linux does not know.
 */

#include "devices/ethosu/ethosu_check.h"

/** enum ethosu_linux - generations of Linux's rule */
enum ethosu_linux {
	ETHOSU_LINUX_FIRST = 1, /* 6.19: addresses of 32 bits; refuses scalars on U65 */
	ETHOSU_LINUX_SECOND,	/* spring of 2026: refuses inputs of a negative size */
	ETHOSU_LINUX_THIRD, /* June of 2026: refuses DMA that overflows, half commands and OP_RESIZE */
	ETHOSU_LINUX_LAST = ETHOSU_LINUX_THIRD,
};

/**
 * struct ethosu_linux_extents - what Linux takes a stream to touch
 * @size: bytes of each region that it requires; 0 for a region that it does not see in use
 * @written: regions that it takes to be written: only their buffers get a fence
 */
struct ethosu_linux_extents {
	uint64_t size[ETHOSU_REGIONS];
	bool written[ETHOSU_REGIONS];
};

/**
 * ethosu_linux_check - apply the rule of a generation
 * @stream: cursor over the stream
 * @device: the device
 * @generation: of the rule
 * @out: receives the result
 *
 * Return: 0; -TENON_E_UNSUPPORTED for a stream that this generation refuses, with the offset and the reason; the status
 *	of ethosu_command_next() for bytes that are no commands.
 */
int ethosu_linux_check(struct tenon_cursor stream, const struct ethosu_target *device,
		       enum ethosu_linux generation, struct ethosu_linux_extents *out);

/**
 * ethosu_linux_sees - test whether Linux sees all regions that a stream touches
 * @exact: of ethosu_check()
 * @by_linux: of ethosu_linux_check()
 * @name: of the file, for the message
 *
 * A region that it does not see gets no address, and the device would use that of another job.
 *
 * Return: 0; -TENON_E_UNSUPPORTED.
 */
int ethosu_linux_sees(const struct ethosu_extents *exact,
		      const struct ethosu_linux_extents *by_linux, const char *name);

#endif /* DEVICES_ETHOSU_ETHOSU_LINUX_H */

/* SPDX-License-Identifier: MIT */
/* Run command streams without hardware, with its results. */
#ifndef DEVICES_ETHOSU_ETHOSU_SIM_H
#define DEVICES_ETHOSU_ETHOSU_SIM_H

/*
 * Runs a command stream on memory of this process and gives, byte for byte, what the compiler says that the
 * hardware gives. It models results, neither time nor order: waits do nothing, one operation follows the
 * other, and both cores of a U65-512 are one.
 *
 * A stream is checked before it runs. The model computes every address again, element by element, and
 * refuses one that leaves its region: that would be a fault of the check.
 *
 * Of U85, chained maps stay in memory of the model from one operation to the next. Curves (TANH, LOGISTIC of 16
 * bits) are those of U55 and U65: the table that U85 loads for them is not read.
 *
 * Not modelled, and refused: of U85 sums that go on from one operation to the next, averages with a scale, outputs in
 * reverse order, three tiles below each other, tables from 8 bits to 16, operations on bits, divisions and comparisons.
 */

#include "devices/ethosu/ethosu_check.h"

/* bytes of all regions together of a network that a backend runs on it */
#define ETHOSU_SIM_MEMORY (UINT64_C(1) << 31)
/* products and elements of a job of such a network: some minutes, and far more than what compilers write */
#define ETHOSU_SIM_WORK (UINT64_C(1) << 38)

/**
 * struct ethosu_memory - the regions of a run
 * @base: their memory
 * @size: bytes
 */
struct ethosu_memory {
	uint8_t *base[ETHOSU_REGIONS];
	uint64_t size[ETHOSU_REGIONS];
};

/**
 * ethosu_sim_run - check a stream and run it
 * @stream: cursor over the stream
 * @target: what it was compiled for
 * @memory: memory of the regions; a region without memory has the size 0
 * @work: how many products and elements it may compute; 0 for any number
 * @touched: receives the extents that were touched; NULL if they are not wanted
 *
 * Return: 0; as ethosu_check(); -TENON_E_UNSUPPORTED for what is not modelled; -TENON_E_FORMAT for weights
 *	that cannot be decoded; -TENON_E_TIMEOUT for more than @work; -TENON_E_NOMEM. After a failure regions have some of the results.
 */
int ethosu_sim_run(struct tenon_cursor stream, const struct ethosu_target *target,
		   const struct ethosu_memory *memory, uint64_t work,
		   struct ethosu_extents *touched);

#endif /* DEVICES_ETHOSU_ETHOSU_SIM_H */

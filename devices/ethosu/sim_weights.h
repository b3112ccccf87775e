/* SPDX-License-Identifier: MIT */
/* What the orders of weights of U55 and U65, and of U85, share. */
#ifndef DEVICES_ETHOSU_SIM_WEIGHTS_H
#define DEVICES_ETHOSU_SIM_WEIGHTS_H

#include <stdint.h>

/* with padding: so many of 16 bits fit into the address space of a machine of 32 bits */
#define CODED_MOST (UINT64_C(1) << 30)

/* a part of the window, of a block of input channels and of a block of output channels */
struct part {
	uint32_t output;
	uint32_t outputs;
	uint32_t input;
	uint32_t inputs;
	uint32_t y;
	uint32_t x;
	uint32_t height;
	uint32_t width;
};

static inline uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t round_up(uint32_t n, uint32_t unit)
{
	return (n + unit - 1) / unit * unit;
}

#endif /* DEVICES_ETHOSU_SIM_WEIGHTS_H */

/* SPDX-License-Identifier: MIT */
/* SoCs of Rockchip whose NPU Linux's driver "rocket" drives, or is to drive. */
#ifndef DEVICES_ROCKET_ROCKET_CHIP_H
#define DEVICES_ROCKET_ROCKET_CHIP_H

#include <stdint.h>

#include "driver/syscall/syscall.h"

/**
 * struct rocket_chip - a SoC
 * @soc: its number, the configuration word of command streams
 * @name: "rk3588"
 * @compatible: in the device tree of its boards
 * @cores: jobs that run at a time
 * @unknown: why its command streams cannot be checked, and so are refused; NULL where they can
 */
struct rocket_chip {
	uint32_t soc;
	const char *name;
	const char *compatible;
	uint32_t cores;
	const char *unknown;
};

/** rocket_chip_of_soc - find a SoC by its number; NULL for none in the table */
const struct rocket_chip *rocket_chip_of_soc(uint32_t soc);

/**
 * rocket_chip_here - find the SoC of this machine by its device tree
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /sys; "" except in tests
 * @out: the SoC: RK3588, which the driver was written for, where no device tree can be read
 *
 * Return: 0; -TENON_E_UNSUPPORTED for a device tree that names no SoC of the table; -TENON_E_NOMEM.
 */
int rocket_chip_here(const struct system_calls *calls, const char *root,
		     const struct rocket_chip **out);

#endif /* DEVICES_ROCKET_ROCKET_CHIP_H */

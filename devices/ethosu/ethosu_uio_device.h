/* SPDX-License-Identifier: MIT */
/* Where the backend looks for devices of UIO. */
#ifndef DEVICES_ETHOSU_ETHOSU_UIO_DEVICE_H
#define DEVICES_ETHOSU_ETHOSU_UIO_DEVICE_H

#include "driver/syscall/syscall.h"

/**
 * struct ethosu_uio_source - where UIO's devices are; tests set another place
 * @calls: system calls; NULL for Linux's
 * @root: prefix of /dev and /sys
 */
struct ethosu_uio_source {
	const struct system_calls *calls;
	const char *root;
};

extern struct ethosu_uio_source ethosu_uio_source;

#endif /* DEVICES_ETHOSU_ETHOSU_UIO_DEVICE_H */

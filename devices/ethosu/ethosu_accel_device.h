/* SPDX-License-Identifier: MIT */
/* Where the backend looks for nodes of Linux's driver. */
#ifndef DEVICES_ETHOSU_ETHOSU_ACCEL_DEVICE_H
#define DEVICES_ETHOSU_ETHOSU_ACCEL_DEVICE_H

#include "driver/syscall/syscall.h"

/**
 * struct ethosu_accel_source - where devices of Linux are; tests set another place
 * @calls: system calls; NULL for Linux's
 * @root: prefix of /dev
 */
struct ethosu_accel_source {
	const struct system_calls *calls;
	const char *root;
};

extern struct ethosu_accel_source ethosu_accel_source;

#endif /* DEVICES_ETHOSU_ETHOSU_ACCEL_DEVICE_H */

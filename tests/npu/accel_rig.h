/* SPDX-License-Identifier: MIT */
/* Open an Ethos-U behind the kernel's accel interface on the kernel's model (npu_kernel.h), with a network on it. */
#ifndef TESTS_NPU_ACCEL_RIG_H
#define TESTS_NPU_ACCEL_RIG_H

#include "tests/npu/networks.h"

extern struct ethosu_accel accel;
extern struct ethosu_network net;
extern struct rig rig;

void open_accel(struct ethosu_accel *a);

/* A device that runs a network, whose plan is in the rig. */
void begin(enum network_id id);

/* The network on it. */
void open_network(void);

/* Run it, and compare its outputs. */
void run_network(const char *what);

/* Close both: nothing is left, on either side of the system calls. */
void end(void);

#endif /* TESTS_NPU_ACCEL_RIG_H */

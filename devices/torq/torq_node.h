/* SPDX-License-Identifier: MIT */
/* The node of the kernel's driver. */
#ifndef DEVICES_TORQ_TORQ_NODE_H
#define DEVICES_TORQ_TORQ_NODE_H

#include <stdint.h>

#include "driver/syscall/syscall.h"

#define TORQ_NODE "/dev/torq"

/**
 * struct torq_node - an open node
 * @calls: system calls
 * @root: prefix of /dev
 * @fd: its descriptor
 * @hardware: number of the NPU
 */
struct torq_node {
	const struct system_calls *calls;
	const char *root;
	int fd;
	uint32_t hardware;
};

/**
 * torq_node_open - open the node, and ask for its NPU
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /dev; "" except in tests; must outlive the node
 * @out: the node; closed on failure
 *
 * Return: 0; else as system_open() and system_status().
 */
int torq_node_open(const struct system_calls *calls, const char *root, struct torq_node *out);

/** torq_node_close - close it; its networks go with it. Closing twice does nothing */
void torq_node_close(struct torq_node *n);

/** torq_call - one of the driver's calls; as system_ioctl() */
int torq_call(const struct torq_node *n, unsigned long request, void *argument);

#endif /* DEVICES_TORQ_TORQ_NODE_H */

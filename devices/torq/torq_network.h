/* SPDX-License-Identifier: MIT */
/* A program in the kernel's driver: its memory, and runs of it. */
#ifndef DEVICES_TORQ_TORQ_NETWORK_H
#define DEVICES_TORQ_TORQ_NETWORK_H

/*
 * A network has the program's memory as one dma-buf. A run makes it active, attaches the memory of arguments, does the
 * actions one after the other, and leaves nothing attached or active, also when an action fails: then the IOMMU confines a
 * job that goes on.
 *
 * The driver synchronises the caches for memory that it attaches and detaches; accesses of the CPU in between, and to the
 * program's memory, are bracketed.
 */

#include "devices/torq/torq_check.h"
#include "devices/torq/torq_node.h"
#include "driver/dmabuf/dmabuf.h"

/* names of heaps that are tried; the last one is of the vendor's kernels */
#define TORQ_HEAPS DMABUF_HEAPS ",system-cust-uncached"

/**
 * struct torq_place - the memory of a binding
 * @buffer: mapped
 * @offset: of the binding's first byte in it
 * @bytes: the binding's first byte
 * @is_mappable: the driver can map it where it is; otherwise it is copied
 */
struct torq_place {
	const struct dmabuf *buffer;
	uint64_t offset;
	uint8_t *bytes;
	bool is_mappable;
};

/**
 * struct torq_call - the arguments of a run
 * @places: of each binding, in their order
 * @indices: of each argument that moves copies: its first bytes; others are not set
 */
struct torq_call {
	struct torq_place places[TORQ_ARGUMENTS];
	struct torq_place indices[TORQ_ARGUMENTS];
};

/**
 * struct torq_network - a network
 * @node: where; NULL when it is closed
 * @base: first byte of the program's memory in XRAM
 * @end: behind its last byte
 * @arguments: of a call
 * @bindings: of the program
 * @binding_count: how many
 * @actions: of the program
 * @action_count: how many
 * @memory: of the program
 * @id: number in the kernel; 0 for none
 * @copies: of bindings whose memory cannot be attached; made when they are needed
 * @copied: bytes that runs copied from and to arguments so far
 */
struct torq_network {
	const struct torq_node *node;
	uint64_t base;
	uint64_t end;
	struct torq_argument arguments[TORQ_ARGUMENTS];
	struct torq_binding bindings[TORQ_ARGUMENTS];
	uint32_t binding_count;
	struct torq_action *actions;
	uint32_t action_count;
	struct dmabuf memory;
	uint32_t id;
	struct dmabuf copies[TORQ_ARGUMENTS];
	uint64_t copied;
};

/**
 * torq_network_open - check a program, and hand it to the kernel
 * @node: outlives it
 * @program: what is needed of it is copied
 * @out: the network; closed on failure
 *
 * Return: 0; as torq_check() and dmabuf_allocate(); -TENON_E_UNSUPPORTED for a program of other hardware; else
 *	system_status().
 */
int torq_network_open(const struct torq_node *node, const struct torq_program *program,
		      struct torq_network *out);

/** torq_network_close - close it; no run may go on. Closing twice does nothing */
void torq_network_close(struct torq_network *n);

/**
 * torq_network_run - run it, and wait for its end
 * @n: the network; one run at a time on a node
 * @call: its arguments
 *
 * Waits while a network of another program is active.
 *
 * Return: 0: the results are in their places; -TENON_E_DEVICE: the NPU did not end, or was busy with other programs for too
 *	long; -TENON_E_VALUE: an argument moves a copy out of its memory; else system_status(). After a failure it may be run again.
 */
int torq_network_run(struct torq_network *n, const struct torq_call *call);

#endif /* DEVICES_TORQ_TORQ_NETWORK_H */

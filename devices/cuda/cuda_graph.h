/* SPDX-License-Identifier: MIT */
#ifndef DEVICES_CUDA_CUDA_GRAPH_H
#define DEVICES_CUDA_CUDA_GRAPH_H

/**
 * DOC: recordings as CUDA graphs
 *
 * A recording keeps its steps. Without slots they become a graph in finish, else at the first run
 * with its bindings. Later runs update the nodes whose addresses changed, which does not affect
 * pending runs. If CUDA cannot update the graph, it is created again.
 *
 * Steps between two barriers depend on nothing but the barrier before them.
 */

#include "devices/cuda/cuda_device.h"

/** struct cuda_place - an address, or a slot and how far into it */
struct cuda_place {
	cu_address address; /* as the graph has it */
	uint64_t offset;
	int64_t slot; /* -1: @address is for good */
};

/** struct cuda_step - an operation of a recording; COPY, FILL, DISPATCH, or BARRIER */
struct cuda_step {
	struct cuda_step *next;
	uint32_t kind;
	bool slotted;
	cu_node node;
	struct cuda_place to, from;
	uint64_t size;
	uint32_t pattern, width;
	struct tenon_dispatch dispatch; /* what it points to is the core's, which keeps it */
	uint64_t arguments[];		/* of a dispatch with slots: as the graph has them */
};

struct cuda_graph {
	struct cuda_late late;
	cu_graph graph;
	cu_graph_exec exec;
};

struct cuda_commands {
	struct tenon_commands base;
	pthread_mutex_t lock; /* CUDA wants one thread at a time per graph */
	struct cuda_step *first, *last;
	uint32_t step_count; /* without barriers */
	bool slotted;
	struct cuda_graph *graph; /* NULL until there is one */
};

/** cuda_graph_make - make the graph of a recording with the addresses that its steps have */
int cuda_graph_make(struct cuda_device *d, struct cuda_commands *c);

/** cuda_graph_change - give a node the addresses that its step has; what CUDA says */
int cuda_graph_change(struct cuda_device *d, struct cuda_graph *g, const struct cuda_step *step);

#endif /* DEVICES_CUDA_CUDA_GRAPH_H */

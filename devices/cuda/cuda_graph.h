/* SPDX-License-Identifier: MIT */
/* Recordings that run as CUDA graphs. */
#ifndef DEVICES_CUDA_CUDA_GRAPH_H
#define DEVICES_CUDA_CUDA_GRAPH_H

/*
 * A recording keeps its steps. Without slots they become a graph in finish, else at the first run
 * with its bindings. Later runs update the nodes whose addresses changed, which does not affect
 * pending runs. If CUDA cannot update the graph, it is created again.
 *
 * Steps between two barriers depend on nothing but the barrier before them.
 */

#include "devices/cuda/cuda_device.h"

/** struct cuda_place - an address, or a slot and an offset */
struct cuda_place {
	cu_address address; /* the one in the graph */
	uint64_t offset;
	int64_t slot; /* -1: @address is fixed */
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
	struct tenon_dispatch dispatch; /* points to data that the core keeps */
	uint64_t arguments[];		/* of a dispatch with slots: the ones in the graph */
};

struct cuda_graph {
	struct cuda_late late;
	cu_graph graph;
	cu_graph_exec exec;
};

struct cuda_commands {
	struct tenon_commands base;
	pthread_mutex_t lock; /* CUDA allows one thread at a time per graph */
	struct cuda_step *first, *last;
	uint32_t step_count; /* without barriers */
	bool slotted;
	struct cuda_graph *graph; /* NULL until it is created */
};

/** cuda_graph_make - create the graph of a recording from its steps */
int cuda_graph_make(struct cuda_device *d, struct cuda_commands *c);

/** cuda_graph_change - update the node of a step; returns CUDA's status */
int cuda_graph_change(struct cuda_device *d, struct cuda_graph *g, const struct cuda_step *step);

#endif /* DEVICES_CUDA_CUDA_GRAPH_H */

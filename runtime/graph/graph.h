/* SPDX-License-Identifier: MIT */
/* Parsed and checked graphs, without code. */
#ifndef RUNTIME_GRAPH_GRAPH_H
#define RUNTIME_GRAPH_GRAPH_H

/*
 * A parsed and checked graph.json, without the code that it calls. A *node* is an input or an
 * operator; each of its outputs is an *entry*, numbered across all nodes, with a dtype, a shape and
 * a storage. Entries with disjoint lifetimes may share a storage.
 */

#include <tenon/string.h>
#include <tenon/tensor.h>

enum graph_node_kind {
	GRAPH_INPUT, /* input or parameter */
	GRAPH_CALL,  /* call of a compiled function */
	GRAPH_NOP,   /* reshape: the output is the input with another shape */
	GRAPH_COPY,  /* copies input to output, between devices */
};

/**
 * struct graph_node - an input or operator
 * @name: not unique
 * @function: function of a GRAPH_CALL
 * @inputs: entries it reads, each of an earlier node
 * @input_count: how many
 * @first_output: its first entry
 * @output_count: how many
 * @token: where it begins in the JSON
 * @flatten: tensors are passed with one dimension
 */
struct graph_node {
	struct tenon_slice name;
	struct tenon_slice function;
	uint32_t *inputs;
	uint32_t input_count;
	uint32_t first_output;
	uint32_t output_count;
	uint32_t token;
	enum graph_node_kind kind;
	bool flatten;
};

/**
 * struct graph_entry - a tensor of the graph
 * @dtype: element type; bool is {1,1}, as in libraries of the same age
 * @ndim: number of dimensions
 * @shape: extents, none negative
 * @bytes: size of the data
 * @storage: index of its storage; -1 for none
 * @device: device type in the exporter's numbering; 0 when the graph has none
 * @node: node that produces it
 * @source: entry that owns the data: itself, or the input of the GRAPH_NOP nodes before it
 */
struct graph_entry {
	DLDataType dtype;
	int32_t ndim;
	int64_t *shape;
	uint64_t bytes;
	int32_t storage;
	int32_t device;
	uint32_t node;
	uint32_t source;
};

/**
 * struct graph_storage - memory that entries share
 * @bytes: size of its largest entry
 * @device: device of its first entry
 * @used: some entry uses it
 */
struct graph_storage {
	uint64_t bytes;
	int32_t device;
	bool used;
};

/**
 * struct graph - a checked graph
 * @nodes: in execution order
 * @entries: tensors
 * @inputs: node numbers of the inputs, in their order
 * @heads: output entries
 * @storages: storages
 * @memory: the allocation that contains all of the above
 */
struct graph {
	struct graph_node *nodes;
	uint32_t node_count;
	struct graph_entry *entries;
	uint32_t entry_count;
	uint32_t *inputs;
	uint32_t input_count;
	uint32_t *heads;
	uint32_t head_count;
	struct graph_storage *storages;
	uint32_t storage_count;
	void *memory;
};

/**
 * graph_read - read and check a graph
 * @json: its text; not needed afterwards
 * @name: name of the text, for messages
 * @out: receives the graph; free it with graph_fini()
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_VALUE; -TENON_E_CYCLE for a node that
 * reads a later one; -TENON_E_OVERFLOW for a shape or storage whose size does not fit;
 * -TENON_E_NOMEM. The message names node, entry or line.
 */
int graph_read(struct tenon_slice json, const char *name, struct graph *out);

struct json_text;

/**
 * graph_read_tokens - graph_read() for a caller that has the tokens already, and reads more of them
 * @json: its text; not needed afterwards
 * @out: receives the graph; free it with graph_fini()
 */
int graph_read_tokens(const struct json_text *json, struct graph *out);

/* graph_check.c: check the relations between nodes */
int graph_check(struct graph *g);

void graph_fini(struct graph *g);

#endif /* RUNTIME_GRAPH_GRAPH_H */

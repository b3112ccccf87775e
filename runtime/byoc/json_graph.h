/* SPDX-License-Identifier: MIT */
/* The graphs that TVM writes for JSON runtimes. */
#ifndef RUNTIME_BYOC_JSON_GRAPH_H
#define RUNTIME_BYOC_JSON_GRAPH_H

/*
 *	{"symbol": "dnnl_f", "nodes": [
 *	  {"op": "input", "name": "x", "attrs": {"dtype": [["float32"]], "shape": [[[1, 32]]]}},
 *	  {"op": "const", "name": "dnnl_f_const_0", "attrs": {…}},
 *	  {"op": "kernel", "name": "nn.dense", "inputs": [[0, 0, 0], [1, 0, 0]], "attrs": {…}}],
 *	 "arg_nodes": [0, 1], "heads": [[2, 0, 0]], "node_row_ptr": [0, 1, 2, 3]}
 *
 * A node reads entries, which are outputs of earlier nodes. Attributes of operators are kept as
 * tokens of the text; json_attributes.h reads them when the operator is built. Nothing here knows
 * oneDNN: a runtime of another library can begin with it.
 */

#include <tenon/dlpack.h>
#include <tenon/string.h>

#include "lib/json_read.h"

#define GRAPH_DIMS_MOST 12

enum byoc_node_kind { BYOC_INPUT, BYOC_CONST, BYOC_KERNEL };

struct byoc_node {
	struct tenon_slice name; /* of an operator: the operator */
	enum byoc_node_kind kind;
	uint32_t *inputs; /* entries */
	uint32_t input_count;
	uint32_t first_entry;
	uint32_t entry_count;
	uint32_t attrs; /* token of its attributes; 0 for none */
};

/* types of elements; runtimes refuse BYOC_OTHER */
enum byoc_type { BYOC_OTHER, BYOC_F32, BYOC_S32, BYOC_S8, BYOC_U8 };

struct byoc_entry {
	uint32_t node;
	int32_t ndim;
	int64_t shape[GRAPH_DIMS_MOST]; /* none negative */
	size_t elements;
	size_t bytes; /* of BYOC_OTHER: as if it were float32 */
	enum byoc_type type;
};

struct byoc_graph {
	struct json_text json;
	char *text; /* a copy, to which @json refers */
	struct byoc_node *nodes;
	uint32_t node_count;
	struct byoc_entry *entries;
	uint32_t entry_count;
	uint32_t *inputs; /* entries that the caller passes, in order */
	uint32_t input_count;
	uint32_t *constants; /* entries, in the order of their names in the payload */
	uint32_t constant_count;
	uint32_t *heads; /* entries */
	uint32_t head_count;
};

/**
 * byoc_graph_read - read and check a graph
 * @text: copied
 * @name: of the text, for messages
 * @g: receives the graph; free it with byoc_graph_fini(), also on failure
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_VALUE; -TENON_E_OVERFLOW;
 *	-TENON_E_NOMEM.
 */
int byoc_graph_read(struct tenon_slice text, const char *name, struct byoc_graph *g);

void byoc_graph_fini(struct byoc_graph *g);

/** byoc_type_name - "float32"; NULL for BYOC_OTHER */
const char *byoc_type_name(enum byoc_type type);

/** byoc_dtype - the type of tensors that an entry takes; no bits for BYOC_OTHER */
DLDataType byoc_dtype(enum byoc_type type);

/* struct byoc_view - extents and strides of an entry in memory, in elements */
struct byoc_view {
	int ndim;
	int64_t dims[GRAPH_DIMS_MOST];
	int64_t strides[GRAPH_DIMS_MOST];
};

/** byoc_view - the view of an entry; axis i is axis @to[i] of the view, or i where @to is NULL */
struct byoc_view byoc_view(const struct byoc_entry *e, const int *to);

/** byoc_broadcast_view - the view with @ndim dimensions, no fewer than it has: ones are in front */
struct byoc_view byoc_broadcast_view(const struct byoc_entry *e, int ndim);

bool byoc_same_shape(const struct byoc_entry *a, const struct byoc_entry *b);

#endif /* RUNTIME_BYOC_JSON_GRAPH_H */

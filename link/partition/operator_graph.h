/* SPDX-License-Identifier: MIT */
/* Graphs of operators, which code generators take apart into regions. */
#ifndef LINK_PARTITION_OPERATOR_GRAPH_H
#define LINK_PARTITION_OPERATOR_GRAPH_H

/*
 * The form on which code generators work. It is made of a graph.json, as the graph executor reads it,
 * in which the function of a node is
 *
 * - the name of an operator, "nn.conv2d", whose attributes are those of the node: "strides":
 *   "[1, 1]". A front end writes such graphs;
 * - or one that TVM compiled, "tvmgen_default_fused_nn_dense_add_nn_relu", whose name says which
 *   operators it is, as far as these need no attributes;
 * - or any other: that node keeps its function.
 *
 * A node of the file is a *node* here, with one or more *operators*, which compute one value each.
 */

#include <stdbool.h>
#include <tenon/params.h>
#include <tenon/string.h>

#include "lib/json_read.h"
#include "runtime/graph/graph.h"

#define OPERATOR_DIMS_MOST 8

/* struct op_value - a tensor: an input, a parameter, or what an operator computes */
struct op_value {
	struct tenon_slice name;
	DLDataType dtype;
	int32_t ndim;
	int64_t shape[OPERATOR_DIMS_MOST];
	int64_t elements;
	uint32_t readers; /* operators and nodes without operators, and once for an output */
	bool output;	  /* of the graph */
	bool input;	  /* an input or a parameter */
	const struct tenon_param *param;
};

/* struct op - an operator */
struct op {
	struct tenon_slice name; /* "nn.dense" */
	uint32_t attrs;		 /* token of its attributes; 0 for none */
	uint32_t *inputs;	 /* values */
	uint32_t input_count;
	uint32_t output; /* value */
};

/* struct op_node - a node of the file */
struct op_node {
	struct tenon_slice name;
	struct tenon_slice function;
	uint32_t attrs;		/* token */
	const uint32_t *inputs; /* values */
	uint32_t input_count;
	uint32_t first_output; /* value */
	uint32_t output_count; /* more than one only for a node without operators */
	uint32_t first_op;
	uint32_t op_count; /* 0: it keeps its function */
};

struct op_graph {
	struct json_text json;
	struct graph graph;	 /* of the text; has all names and lists of nodes */
	struct op_value *values; /* its entries, and those between operators of one node */
	uint32_t value_count;
	struct op *ops;
	uint32_t op_count;
	struct op_node *nodes;
	uint32_t node_count;
	const uint32_t *outputs; /* values */
	uint32_t output_count;
};

/**
 * op_graph_read - read a graph.json
 * @text: outlives the graph
 * @name: of the text, for messages
 * @params: parameters, or NULL; outlive the graph
 * @g: receives the graph; free it with op_graph_fini(), also on failure
 *
 * Return: 0; what graph_read() returns; -TENON_E_VALUE, -TENON_E_OVERFLOW for what the executor takes
 *	and code generators do not, with the node, line and column.
 */
int op_graph_read(struct tenon_slice text, const char *name, struct tenon_params *params,
		  struct op_graph *g);

void op_graph_fini(struct op_graph *g);

/** op_is - test the name of an operator */
bool op_is(const struct op *o, const char *name);

/** op_find - the row of an operator in a table of @count rows of @size bytes, each beginning with a name; NULL */
const void *op_find(const struct op *o, const void *rows, size_t count, size_t size);

/** op_value_is - test the type of a value */
bool op_value_is(const struct op_value *v, const char *dtype);

/** op_attr - text of an attribute; empty where it is missing */
struct tenon_slice op_attr(const struct op_graph *g, const struct op *o, const char *key);

/**
 * op_numbers - the integers in an attribute, whatever is between them
 * @otherwise: for all, where the attribute is missing
 *
 * Return: how many the attribute has, at most @most.
 */
uint32_t op_numbers(const struct op_graph *g, const struct op *o, const char *key,
		    int64_t otherwise, int64_t *out, uint32_t most);

/** op_flag - an attribute that is a truth value; false where it is missing */
bool op_flag(const struct op_graph *g, const struct op *o, const char *key);

/** op_real - an attribute that is a number */
double op_real(const struct op_graph *g, const struct op *o, const char *key, double otherwise);

/** op_axis - the attribute "axis", from 0; -1 where it is out of range */
int32_t op_axis(const struct op_graph *g, const struct op *o, int64_t otherwise, int32_t ndim);

#endif /* LINK_PARTITION_OPERATOR_GRAPH_H */

/* SPDX-License-Identifier: MIT */
/* Graphs of an ExampleJSON module, parsed and run. */
#ifndef EXAMPLES_EXAMPLE_JSON_GRAPH_H
#define EXAMPLES_EXAMPLE_JSON_GRAPH_H

/*
 * The text, one node a line, words separated by blanks:
 *
 *	subgraph_0
 *	  input 0 10 10
 *	  input 1 10 10
 *	  add 2 inputs: 0 1 shape: 10 10
 *
 * A word that contains "subgraph_" starts a graph, which is a function of that name. "input" is
 * followed by an id and extents; add, sub and mul by an id, the ids of two earlier nodes, and
 * extents. All tensors are float32 on the CPU. The arguments of the function are its inputs, by
 * ascending id, then the output, which receives the values of the last node. They are also returned
 * as a new tensor.
 */

#include <tenon/error.h>
#include <tenon/value.h>

/* struct example_node - a line: an input, or an operation on two earlier nodes */
struct example_node {
	char op; /* '=' for an input, '+', '-', '*' */
	uint32_t id;
	uint32_t argument; /* of an input: its argument index */
	size_t operand[2]; /* of an operation: indices of its operands */
	size_t first_extent;
	size_t ndim;
};

/* struct example_graph - a function: @count nodes from @first on */
struct example_graph {
	struct tenon_slice name; /* in the text */
	size_t first;
	size_t count;
	uint32_t inputs;
};

/* struct example_text - a parsed text; the graphs point into it */
struct example_text {
	char *text;
	size_t size;
	struct example_graph *graphs;
	size_t graph_count;
	struct example_node *nodes;
	size_t node_count;
	int64_t *extents;
	size_t extent_count;
};

/**
 * example_text_parse - read a text
 * @t: receives the graphs; free it with example_text_fini(), also on failure
 * @text: copied
 *
 * Return: 0; -TENON_E_FORMAT, with the line's number; -TENON_E_NOMEM.
 */
int example_text_parse(struct example_text *t, struct tenon_slice text);

void example_text_fini(struct example_text *t);

/**
 * example_graph_run - run a graph
 * @t: the text that contains the graph
 * @g: the graph
 * @args: inputs, and the output
 * @count: how many
 * @ret: receives the result as a tensor object
 *
 * Context: any thread, concurrent calls are safe: the memory is per call.
 * Return: 0; -TENON_E_TYPE for a wrong number or type of arguments; -TENON_E_VALUE for a wrong
 *	shape; -TENON_E_NOMEM.
 */
int example_graph_run(const struct example_text *t, const struct example_graph *g,
		      const struct tenon_value *args, int32_t count, struct tenon_value *ret);

#endif /* EXAMPLES_EXAMPLE_JSON_GRAPH_H */

/* SPDX-License-Identifier: MIT */
/* Divide a graph among code generators. */
#ifndef LINK_PARTITION_PARTITION_H
#define LINK_PARTITION_PARTITION_H

/*
 * A *code generator* has a table of the operators that it supports. The annotator gives each node
 * to the first generator that supports all operators of it, and puts neighbours of one generator
 * into a *region*, which becomes one function. Nodes that no generator supports keep their
 * function. A generator is one file: copy one to begin with your own, and add it to generators[] in
 * partition.c.
 */

#include <tenon/buffer.h>

#include "link/partition/operator_graph.h"

struct partition;

/**
 * struct region - nodes that become one function
 * @generator: of all nodes in it
 * @name: of the function
 * @nodes: in order of execution
 * @inputs: values that it reads and does not compute: its first arguments
 * @outputs: values that others read: its other arguments
 * @baked: values that the generator puts into its code, so that they are no arguments
 * @parted: it is a part of a region that had more values than @generator takes
 */
struct region {
	const struct generator *generator;
	char name[64];
	uint32_t *nodes;
	uint32_t node_count;
	uint32_t *inputs;
	uint32_t input_count;
	uint32_t *outputs;
	uint32_t output_count;
	uint32_t *baked;
	uint32_t baked_count;
	bool parted;
};

/**
 * struct generator - a code generator
 * @name: for --for, and in names of functions
 * @summary: what it makes
 * @prefix: of the names of functions; NULL for the name
 * @single_output: a region is a chain of operators that ends in its one output
 * @bakes: parameters that only its regions read are part of the code
 * @most_values: inputs and results of operators, also those between them, that a function may have;
 *	0: any number
 * @supports: test whether it can compute an operator
 * @generate: write files for all its regions, at least one
 */
struct generator {
	const char *name;
	const char *summary;
	const char *prefix;
	bool single_output;
	bool bakes;
	uint32_t most_values;
	bool (*supports)(const struct op_graph *g, const struct op *o);
	int (*generate)(struct partition *p, const struct generator *self);
};

extern const struct generator *const generators[]; /* ended by NULL */

/**
 * struct partition_file - a file for "tenon link"
 * @name: without folder
 * @kind: of the payload; NULL for a source of the host
 * @parent: name of the file whose module imports this one; NULL for the code of the host
 */
struct partition_file {
	char name[80];
	const char *kind;
	const char *parent;
	struct tenon_buffer bytes;
};

/* struct partition - a graph in regions, and the files that are made of it */
struct partition {
	const struct op_graph *g;
	struct tenon_params *params;
	const struct generator **of_node; /* NULL: the node keeps its function */
	bool *crowded;			  /* it does, having more values than a generator takes */
	uint32_t *order;		  /* nodes in order of execution */
	uint32_t *region_of;		  /* of each node; UINT32_MAX for none */
	uint32_t *node_of;		  /* of each value; UINT32_MAX for inputs */
	struct region *regions;
	uint32_t region_count;
	uint32_t kept; /* nodes that keep their function */
	struct partition_file *files;
	uint32_t file_count;
};

/**
 * partition_make - find the regions of a graph
 * @g: outlives the partition
 * @params: its parameters, or NULL; outlive the partition
 * @wanted: generators, the most wanted first, ended by NULL
 * @p: receives the partition; free it with partition_fini(), also on failure
 */
int partition_make(const struct op_graph *g, struct tenon_params *params,
		   const struct generator *const *wanted, struct partition *p);

/**
 * partition_generate - make files for all regions, and one for the graph that calls them
 *
 * The last file, link.sh, has the command that makes a module of the others.
 */
int partition_generate(struct partition *p);

/** partition_write_graph - append the graph whose nodes call the regions, and its parameters */
int partition_write_graph(struct partition *p, struct tenon_buffer *graph,
			  struct tenon_buffer *params);

void partition_fini(struct partition *p);

/* ---- for generators */

/** partition_values - count the inputs of a region and the results of its operators */
uint32_t partition_values(const struct op_graph *g, const struct region *r);

/** partition_add_file - add a file; NULL with a message; valid until the next one */
struct partition_file *partition_add_file(struct partition *p, const char *name, const char *kind,
					  const char *parent);

/** partition_ops - call @each for all operators of a region, in order of execution */
int partition_ops(const struct op_graph *g, const struct region *r,
		  int (*each)(void *context, const struct op *o), void *context);

/** partition_saved_tensor - append a parameter in the form of TVM's files */
int partition_saved_tensor(struct partition *p, const struct tenon_param *param,
			   struct tenon_buffer *out);

/** partition_place - where a value is in a list; UINT32_MAX for none */
uint32_t partition_place(const uint32_t *list, uint32_t count, uint32_t value);

/* ---- what several generators have in common */

/** op_types - test whether all operands and the result have a type */
bool op_types(const struct op_graph *g, const struct op *o, const char *dtype);

/** op_same_shapes - test whether all operands and the result have one shape */
bool op_same_shapes(const struct op_graph *g, const struct op *o);

/** op_broadcasts - test whether each operand has the result's extents, from the last on, or ones */
bool op_broadcasts(const struct op_graph *g, const struct op *o);

/* Test for an operator whose operands fit together; in plain layouts, where it has any. */
bool op_is_dense(const struct op_graph *g, const struct op *o, const char *operands,
		 const char *result);
bool op_is_conv2d(const struct op_graph *g, const struct op *o);
bool op_is_pool2d(const struct op_graph *g, const struct op *o);
bool op_is_softmax(const struct op_graph *g, const struct op *o);
bool op_is_bias_add(const struct op_graph *g, const struct op *o);

/* struct op_window - both spatial axes of a convolution or pooling in a plain layout */
struct op_window {
	int64_t kernel[2], strides[2], dilation[2], before[2];
};

void op_window(const struct op_graph *g, const struct op *o, struct op_window *w);

/** op_put_extents - append the extents of a value */
void op_put_extents(struct tenon_buffer *out, const struct op_value *v, const char *between);

#endif /* LINK_PARTITION_PARTITION_H */

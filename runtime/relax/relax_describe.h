/* SPDX-License-Identifier: MIT */
/* What is known of a function without running it. */
#ifndef RUNTIME_RELAX_RELAX_DESCRIBE_H
#define RUNTIME_RELAX_RELAX_DESCRIBE_H

/*
 * Executables contain only the names of parameters. Types and shapes come from the checks at the
 * start of a function and the constants of its allocations. So inputs, outputs and the order of
 * operators can be listed without running code, except for values that depend on the run.
 */

#include <tenon/model.h>

#include "runtime/relax/relax_executable.h"

#define RELAX_NDIM_MOST	  8 /* tensors with more dimensions are described as unknown */
#define RELAX_TUPLES_MOST 8 /* tuples that nest deeper too */

enum relax_what {
	RELAX_UNKNOWN,
	RELAX_TENSOR,
	RELAX_TUPLE,
	RELAX_SHAPE,
	RELAX_OTHER, /* number, storage, closure and so on */
};

/**
 * struct relax_fact - what is known about a value
 * @what: kind of value
 * @input: a parameter, or an item of one
 * @depth: of a tuple, its nesting depth; of an item of a parameter, its own depth
 * @value: index of the tensor in the description's values; -1 for none
 * @items: for a tuple, index of its first item in relax_description.facts
 * @count: for a tuple, how many items; for a shape, how many extents
 * @dtype: of a tensor; {0,0,0} when unknown
 * @ndim: of a tensor; -1 when unknown
 * @shape: extents of a tensor or shape, -1 for unknown ones
 */
struct relax_fact {
	enum relax_what what;
	bool input;
	uint8_t depth;
	int32_t value;
	uint32_t items;
	uint32_t count;
	DLDataType dtype;
	int32_t ndim;
	int64_t shape[RELAX_NDIM_MOST];
};

/** struct relax_call_site - a call, as an operator */
struct relax_call_site {
	uint32_t pc;
	struct tenon_slice function;
	uint32_t inputs; /* index in relax_description.edges */
	uint32_t input_count;
	uint32_t outputs;
	uint32_t output_count;
};

/** struct relax_known_value - a tensor that operators read or write */
struct relax_known_value {
	uint32_t fact;
	enum tenon_role role;
	uint32_t number; /* index among the values of its role */
};

/**
 * struct relax_description - description of one function
 * @facts: of parameters, registers and constants, unordered
 * @params: number of parameters; their facts are first
 * @result: fact of the result; UINT32_MAX when the function never returns
 * @calls: operators, in instruction order
 * @values: tensors that operators read and write
 * @edges: value numbers
 * @storage_bytes: total size of storages of fixed size
 * @storages: how many storages
 */
struct relax_description {
	struct relax_fact *facts;
	uint32_t fact_count;
	uint32_t fact_room;
	uint32_t params;
	uint32_t result;
	struct relax_call_site *calls;
	uint32_t call_count;
	struct relax_known_value *values;
	uint32_t value_count;
	uint32_t *edges;
	uint32_t edge_count;
	uint64_t storage_bytes;
	uint32_t storages;
};

/**
 * relax_describe - describe a function without running it
 * @x: executable
 * @function: entry number; for a native function only parameters are known
 * @out: receives the description; relax_description_fini() frees it
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int relax_describe(const struct relax_executable *x, uint32_t function,
		   struct relax_description *out);
void relax_description_fini(struct relax_description *d);

#endif /* RUNTIME_RELAX_RELAX_DESCRIBE_H */

/* SPDX-License-Identifier: MIT */
/* Graphs in TVM's form for JSON runtimes, for code generators that use it. */
#ifndef LINK_PARTITION_GENERATE_JSON_H
#define LINK_PARTITION_GENERATE_JSON_H

/*
 * What TVM writes for a library behind a JSON runtime: a payload for each region, with its graph,
 * and a const_loader module with the constants of all. A generator for a library has the table of
 * operators, and joins those that the library computes at once.
 */

#include "link/partition/partition.h"

/* struct json - a region that is written */
struct json {
	struct partition *p;
	const struct region *r;
	const char *kind; /* of the payload */
	void (*put_op)(struct json *j, size_t at);
	const struct op **ops;
	uint32_t op_count;
	bool *taken;	/* operators that an earlier node computes */
	uint32_t *node; /* of each value, plus one */
	uint32_t next;
	struct tenon_buffer out;
};

/**
 * json_generate - write the payloads of a generator's regions, and their constants
 * @kind: of the modules
 * @put_op: write the node of operator @at by json_put_op(), and set @taken for it and for others
 *	that the node computes too
 */
int json_generate(struct partition *p, const struct generator *self, const char *kind,
		  void (*put_op)(struct json *j, size_t at));

/**
 * json_put_op - write a node
 * @name: of the library's operator
 * @inputs: @count values that earlier nodes compute
 * @first: operator whose attributes it has
 * @last: operator whose output and attributes it has; may be @first
 */
void json_put_op(struct json *j, struct tenon_slice name, const uint32_t *inputs, uint32_t count,
		 const struct op *first, const struct op *last);

#endif /* LINK_PARTITION_GENERATE_JSON_H */

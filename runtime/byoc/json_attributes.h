/* SPDX-License-Identifier: MIT */
/* Attributes of an operator, for runtimes that turn it into calls of a library. */
#ifndef RUNTIME_BYOC_JSON_ATTRIBUTES_H
#define RUNTIME_BYOC_JSON_ATTRIBUTES_H

/*
 * Attributes are lists of texts, [["1", "1"]], also without the outer list, and with numbers. A
 * reader keeps the first failure, with its message; after one the functions here do nothing and
 * return the default. So an operator tests @err only before it uses what it has read.
 */

#include "runtime/byoc/json_graph.h"

/* struct byoc_reader - a node that is read */
struct byoc_reader {
	const struct byoc_graph *g;
	const struct byoc_node *n;
	int err;
};

/** byoc_named - test whether the operator's name has a word, such as "_bias" */
bool byoc_named(const struct byoc_reader *r, const char *word);

/** byoc_want - fail unless there are @least inputs */
void byoc_want(struct byoc_reader *r, uint32_t least);

const struct byoc_entry *byoc_src(const struct byoc_reader *r, uint32_t input);
const struct byoc_entry *byoc_dst(const struct byoc_reader *r);

/** byoc_has - test whether there is an attribute that is not empty */
bool byoc_has(const struct byoc_reader *r, const char *key);

/** byoc_count - how many values an attribute has; 0 where it is missing */
uint32_t byoc_count(const struct byoc_reader *r, const char *key);

/** byoc_text - a text; empty where it is missing */
struct tenon_slice byoc_text(struct byoc_reader *r, const char *key);

/** byoc_text_at - one of several texts */
struct tenon_slice byoc_text_at(struct byoc_reader *r, const char *key, uint32_t item);

/** byoc_integer - an integer, or a truth value */
int64_t byoc_integer(struct byoc_reader *r, const char *key, int64_t otherwise);

float byoc_real(struct byoc_reader *r, const char *key, float otherwise);

/** byoc_real_at - one of several numbers; @otherwise where there are none, or fewer */
float byoc_real_at(struct byoc_reader *r, const char *key, uint32_t item, float otherwise);

/** byoc_axis - the attribute "axis", from 0 to @ndim - 1; 0 after a failure */
int byoc_axis(struct byoc_reader *r, int64_t otherwise, int32_t ndim);

/** byoc_axes - where the axes of a layout such as NHWC are in @order, such as NCHW */
void byoc_axes(struct byoc_reader *r, struct tenon_slice layout, const char *order, int *to);

/**
 * byoc_data_axes - the same for a tensor of batch, channels and 1 to 3 spatial dimensions
 * @key: attribute with its layout
 * @other: attribute instead, where @key is missing or empty; or NULL
 *
 * A layout that is missing is NCW, NCHW or NCDHW.
 */
void byoc_data_axes(struct byoc_reader *r, const char *key, const char *other, int32_t ndim,
		    int *to);

/** byoc_list - @count numbers, none negative; one stands for all; @otherwise where it is missing */
void byoc_list(struct byoc_reader *r, const char *key, uint32_t count, int64_t otherwise,
	       int64_t *out);

/** byoc_padding - "padding" of @dims dimensions, at most GRAPH_DIMS_MOST */
void byoc_padding(struct byoc_reader *r, uint32_t dims, int64_t *before, int64_t *after);

#endif /* RUNTIME_BYOC_JSON_ATTRIBUTES_H */

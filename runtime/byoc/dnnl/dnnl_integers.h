/* SPDX-License-Identifier: MIT */
/* Products of 8-bit integers, and what types operators take. */
#ifndef RUNTIME_BYOC_DNNL_INTEGERS_H
#define RUNTIME_BYOC_DNNL_INTEGERS_H

#include "runtime/byoc/dnnl/dnnl_operation.h"

/** dnnl_type - the number that oneDNN has for the type of an entry */
int dnnl_type(const struct byoc_entry *e);

/** operation_need_float - fail unless all inputs and the output are float32 */
void operation_need_float(struct operation *o);

/** operation_of_integers - test whether the first input is of 8 bits */
bool operation_of_integers(struct operation *o);

/**
 * operation_integers - what a product of 8-bit integers has besides: "scales" and "zero_point"
 * @channels: of the output
 * @axes: how many axes of the weights, from the first, tell the channel
 *
 * The weights are read, and the bias if there is one. "scales" is one number, or one for each channel, by which sums are
 * multiplied before a bias is added; "zero_point" is taken from each element of the first input.
 */
void operation_integers(struct operation *o, int64_t channels, int axes);

#endif

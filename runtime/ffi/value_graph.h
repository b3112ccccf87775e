/* SPDX-License-Identifier: MIT */
/*
 * Values as a graph that JSON can hold: {"root_index": 2, "nodes": [{"type": KEY, "data": …}, …]}. Data
 * of containers and of most fields are indices of nodes, so what is used twice is written once.
 */
#ifndef RUNTIME_FFI_VALUE_GRAPH_H
#define RUNTIME_FFI_VALUE_GRAPH_H

#include "runtime/ffi/ffi.h"

/*
 * Make the graph of a value.
 * @metadata: is put beside the nodes unless it is None
 *
 * Return: 0; -1 with an error raised.
 */
int value_graph_save(const struct tenon_value *v, const struct tenon_value *metadata,
		     struct tenon_value *out);

/*
 * Make the value of a graph. The graph comes from anywhere: every index and type in it is checked.
 *
 * Return: 0; -1 with an error raised.
 */
int value_graph_load(const struct tenon_value *graph, struct tenon_value *out);

#endif /* RUNTIME_FFI_VALUE_GRAPH_H */

/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LINK_LINK_GRAPH_H
#define RUNTIME_LINK_LINK_GRAPH_H

#include <tenon/buffer.h>

/* kind of the module that makes executors of a graph */
#define LINK_GRAPH_KIND "GraphExecutorFactory"

/* kind of the module that makes executors of ahead-of-time code */
#define LINK_AOT_KIND "AotExecutorFactory"

/**
 * link_graph_payload - append the payload of the module that makes executors of a graph
 * @graph: graph.json
 * @params: contents of a .params file; empty for none
 * @params_name: of that file, for messages
 * @name: of the model
 *
 * Return: 0; -TENON_E_FORMAT for parameters that are none; -TENON_E_NOMEM.
 */
int link_graph_payload(struct tenon_slice graph, struct tenon_slice params, const char *params_name,
		       const char *name, struct tenon_buffer *out);

/** link_aot_payload - as link_graph_payload(), for ahead-of-time code, which has no graph */
int link_aot_payload(struct tenon_slice params, const char *params_name, const char *name,
		     struct tenon_buffer *out);

#endif /* RUNTIME_LINK_LINK_GRAPH_H */

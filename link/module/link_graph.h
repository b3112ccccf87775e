/* SPDX-License-Identifier: MIT */
/* Modules of models: payloads made of a graph and its parameters. */
#ifndef LINK_MODULE_LINK_GRAPH_H
#define LINK_MODULE_LINK_GRAPH_H

#include <tenon/buffer.h>

/* kind of the module that makes executors of a graph */
#define LINK_GRAPH_KIND "GraphExecutorFactory"

/* kind of the module that makes executors of ahead-of-time code */
#define LINK_AOT_KIND "AotExecutorFactory"

/* kinds of modules with parameters that belong to no graph; TVM 0.8 knows only the second */
#define LINK_CONSTANTS_KIND	   "const_loader"
#define LINK_LEGACY_CONSTANTS_KIND "metadata"

/* bytes at the end of link_constants_payload(): empty lists of functions that want constants */
#define LINK_CONSTANTS_END 16

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

/**
 * link_constants_payload - append the payload of a module that holds parameters alone
 * @params: contents of a .params file
 * @params_name: of that file, for messages
 *
 * Return: as link_graph_payload().
 */
int link_constants_payload(struct tenon_slice params, const char *params_name,
			   struct tenon_buffer *out);

#endif /* LINK_MODULE_LINK_GRAPH_H */

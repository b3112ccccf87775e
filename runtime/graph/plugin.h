/* SPDX-License-Identifier: MIT */
/* The row of the graph executor in the table of plug-ins (runtime/table/plugin_row.h). */
#define GRAPH_FUNCTIONS(each) each("tvm.graph_executor.create", graph_executor_create)
#define GRAPH_KINDS(each)                                                                          \
	each("GraphExecutorFactory", graph_factory_load)                                           \
		each("GraphRuntimeFactory", graph_runtime_factory_load)
PLUGIN(GRAPH_EXECUTOR, graph, EXECUTOR, GRAPH_KINDS, GRAPH_FUNCTIONS, "tvm.graph_executor.create\0")

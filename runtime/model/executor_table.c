/* SPDX-License-Identifier: MIT */
/* The executors of this build. */
#include "lib/option.h"
#include "runtime/model/executors.h"

/* one line each: option, name, kinds of modules that are its models */
#define EXECUTORS_EACH(macro)                                                                      \
	macro(GRAPH_EXECUTOR, graph, "GraphExecutorFactory", "GraphRuntimeFactory")                \
		macro(AOT_EXECUTOR, aot, "AotExecutorFactory")                                     \
			macro(RELAX_VM, relax, "relax.VMExecutable", "relax.Executable")           \
				macro(TFLITE_EXECUTOR, tflite, "tflite")

#define DECLARE_BUILT_IN(name) extern const struct executor name##_executor;
#define DECLARE_PLUGIN(name)
#define DECLARE_OFF(name)
#define DECLARE(option, name, ...) OPTION_CHOOSE(option, DECLARE_, name)
EXECUTORS_EACH(DECLARE)

#define ROW_BUILT_IN(option, name, ...)                                                            \
	{ .plugin = { #name, "CONFIG_" #option, &name##_executor }, .kinds = { __VA_ARGS__ } },
#define ROW_PLUGIN(option, name, ...)                                                              \
	{ .plugin = { #name, "CONFIG_" #option, NULL }, .kinds = { __VA_ARGS__ } },
#define ROW_OFF(...)
#define ROW(option, ...) OPTION_CHOOSE(option, ROW_, option, __VA_ARGS__)
struct executor_row executor_table[] = { EXECUTORS_EACH(ROW){ .plugin.name = NULL } };

/* SPDX-License-Identifier: MIT */
/* Print the memory of a model, for the option --memory of tenon run. */
#ifndef TOOLS_RUN_RUN_MEMORY_H
#define TOOLS_RUN_RUN_MEMORY_H

#include "tools/run/run.h"

/** run_memory - measure the memory of the model in the file and print it; 0 or an exit code, its message printed */
#ifdef CONFIG_EXECUTORS
int run_memory(struct cli *cli, struct run *run);
#else
static inline int run_memory(struct cli *cli, struct run *run)
{
	return cli_usage(cli, "--memory: this build has no executor of models");
}
#endif

#endif /* TOOLS_RUN_RUN_MEMORY_H */

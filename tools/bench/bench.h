/* SPDX-License-Identifier: MIT */
/* tenon bench, for the table of commands. */
#ifndef TOOLS_BENCH_BENCH_H
#define TOOLS_BENCH_BENCH_H

#include "tools/cli/cli.h"

extern const struct cli_command bench_command;

#endif /* TOOLS_BENCH_BENCH_H */

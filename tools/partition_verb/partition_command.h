/* SPDX-License-Identifier: MIT */
/* tenon partition: a graph becomes functions of code generators, and a graph that calls them. */
#ifndef TOOLS_PARTITION_VERB_PARTITION_COMMAND_H
#define TOOLS_PARTITION_VERB_PARTITION_COMMAND_H

#include "tools/cli/cli.h"

extern const struct cli_command partition_command;

#endif /* TOOLS_PARTITION_VERB_PARTITION_COMMAND_H */

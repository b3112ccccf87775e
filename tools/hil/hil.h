/* SPDX-License-Identifier: MIT */
/* tenon hil, for the table of commands. */
#ifndef TOOLS_HIL_HIL_H
#define TOOLS_HIL_HIL_H

#include "tools/cli/cli.h"

/* "tenon hil": suites on a board */
extern const struct cli_command hil_command;

#endif /* TOOLS_HIL_HIL_H */

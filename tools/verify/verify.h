/* SPDX-License-Identifier: MIT */
/* tenon verify: check all of a module's file without running any of it. */
#ifndef TOOLS_VERIFY_VERIFY_H
#define TOOLS_VERIFY_VERIFY_H

#include "tools/cli/cli.h"

extern const struct cli_command verify_command;

#endif /* TOOLS_VERIFY_VERIFY_H */

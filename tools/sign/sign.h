/* SPDX-License-Identifier: MIT */
/* tenon sign: write the detached signature of a file. */
#ifndef TOOLS_SIGN_SIGN_H
#define TOOLS_SIGN_SIGN_H

#include "tools/cli/cli.h"

extern const struct cli_command sign_command;

#endif /* TOOLS_SIGN_SIGN_H */

/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_SIGN_SIGN_H
#define TOOLS_SIGN_SIGN_H

/** DOC: tenon sign: write the detached signature of a file */

#include "tools/cli/cli.h"

extern const struct cli_command sign_command;

#endif /* TOOLS_SIGN_SIGN_H */

/* SPDX-License-Identifier: MIT */
/* tenon unpack: each part of a module becomes a file with a name, and a manifest tells how they fit. */
#ifndef TOOLS_UNPACK_UNPACK_H
#define TOOLS_UNPACK_UNPACK_H

#include "tools/cli/cli.h"

extern const struct cli_command unpack_command;

#endif /* TOOLS_UNPACK_UNPACK_H */

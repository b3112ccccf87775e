/* SPDX-License-Identifier: MIT */
/* tenon replay: repeat the operations of a record on a device, or compare two devices. */
#ifndef TOOLS_REPLAY_REPLAY_H
#define TOOLS_REPLAY_REPLAY_H

#include "tools/cli/cli.h"

extern const struct cli_command replay_command;

#endif /* TOOLS_REPLAY_REPLAY_H */

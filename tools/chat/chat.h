/* SPDX-License-Identifier: MIT */
/* tenon chat, for the table of commands. */
#ifndef TOOLS_CHAT_CHAT_H
#define TOOLS_CHAT_CHAT_H

#include "tools/cli/cli.h"

extern const struct cli_command chat_command;

#endif /* TOOLS_CHAT_CHAT_H */

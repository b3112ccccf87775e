/* SPDX-License-Identifier: MIT */
/* The verbs of the command: each is in a folder of its own, and has a row in tools/commands.c. */
#ifndef TOOLS_CLI_VERBS_H
#define TOOLS_CLI_VERBS_H

#include "tools/cli/cli.h"

extern const struct cli_command bench_command;
extern const struct cli_command chat_command;
extern const struct cli_command device_command;
extern const struct cli_command devices_command;
extern const struct cli_command doctor_command;
extern const struct cli_command hil_command;
extern const struct cli_command inspect_command;
extern const struct cli_command link_command;
extern const struct cli_command needs_command;
extern const struct cli_command params_command;
extern const struct cli_command partition_command;
extern const struct cli_command replay_command;
extern const struct cli_command report_command;
extern const struct cli_command rpc_command;
extern const struct cli_command run_command;
extern const struct cli_command sign_command;
extern const struct cli_command unpack_command;
extern const struct cli_command verify_command;
extern const struct cli_command warm_command;

#endif /* TOOLS_CLI_VERBS_H */

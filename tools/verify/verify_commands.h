/* SPDX-License-Identifier: MIT */
/* tenon verify --kind rocket: check the register commands of a file. */
#ifndef TOOLS_VERIFY_VERIFY_COMMANDS_H
#define TOOLS_VERIFY_VERIFY_COMMANDS_H

#include "tools/cli/cli.h"

#if defined(CONFIG_DEVICE_ROCKET) || defined(CONFIG_DEVICE_ROCKET_MODULE)
/** verify_commands - check a file; returns an exit code, its message printed */
int verify_commands(struct cli *cli, const char *path, bool json);
#else
static inline int verify_commands(struct cli *cli, const char *path, bool json)
{
	(void)path;
	(void)json;
	tenon_error(-TENON_E_UNSUPPORTED, "--kind rocket: this build has CONFIG_DEVICE_ROCKET=n");
	return cli_error(cli, CLI_UNAVAILABLE);
}
#endif

#endif /* TOOLS_VERIFY_VERIFY_COMMANDS_H */

/* SPDX-License-Identifier: MIT */
/* tenon devices --remote, for the command. */
#ifndef TOOLS_DEVICES_VERB_DEVICES_REMOTE_H
#define TOOLS_DEVICES_VERB_DEVICES_REMOTE_H

#include "tools/cli/cli.h"

/** devices_remote - "tenon devices --remote ADDRESS": list a server's devices; an exit code */
int devices_remote(struct cli *cli, const char *address, bool json, double timeout);

#endif /* TOOLS_DEVICES_VERB_DEVICES_REMOTE_H */

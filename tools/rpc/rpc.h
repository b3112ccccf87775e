/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_RPC_RPC_H
#define TOOLS_RPC_RPC_H

#include "tools/cli/cli.h"

/* "tenon rpc": modules on other machines, by TVM's RPC */
extern const struct cli_command rpc_command;

/** rpc_serve - "tenon rpc serve"; argv[0] is "serve"; returns enum cli_exit */
int rpc_serve(struct cli *cli, int argc, char **argv);

#endif /* TOOLS_RPC_RPC_H */

/* SPDX-License-Identifier: MIT */
/* "tenon rpc ping", "upload", "call" and "functions": a session with a server. */
#ifndef TOOLS_RPC_VERB_RPC_CLIENT_H
#define TOOLS_RPC_VERB_RPC_CLIENT_H

#include "tools/cli/cli.h"

/** struct rpc_action - an action of "tenon rpc"; argv[0] is its name; returns enum cli_exit */
struct rpc_action {
	const char *name;
	int (*run)(struct cli *cli, int argc, char **argv);
};

/* ended by a row without a name */
extern const struct rpc_action rpc_client_actions[];

#endif /* TOOLS_RPC_VERB_RPC_CLIENT_H */

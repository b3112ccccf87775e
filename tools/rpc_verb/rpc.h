/* SPDX-License-Identifier: MIT */
/* tenon rpc: its actions, and what they share. */
#ifndef TOOLS_RPC_VERB_RPC_H
#define TOOLS_RPC_VERB_RPC_H

#include <stdint.h>

#include "tools/cli/cli.h"
#include "tools/cli/verbs.h"

/** rpc_serve - "tenon rpc serve"; argv[0] is "serve"; returns enum cli_exit */
int rpc_serve(struct cli *cli, int argc, char **argv);

/** rpc_tracker - "tenon rpc tracker"; argv[0] is "tracker"; returns enum cli_exit */
int rpc_tracker(struct cli *cli, int argc, char **argv);

/** rpc_tracker_status - "tenon rpc tracker status"; argv[0] is "status"; returns enum cli_exit */
int rpc_tracker_status(struct cli *cli, int argc, char **argv);

/** rpc_proxy - "tenon rpc proxy"; argv[0] is "proxy"; returns enum cli_exit */
int rpc_proxy(struct cli *cli, int argc, char **argv);

/** rpc_say - print a line of a server on standard error; @context is the struct cli */
void rpc_say(void *context, const char *line);

/* room for an address of --advertise */
#define RPC_ADVERTISED 256

/**
 * struct rpc_advertised - the address of --advertise
 * @room: memory of the host
 * @host: the host; NULL when there is none
 * @port: the port; 0 when there is none
 */
struct rpc_advertised {
	char room[RPC_ADVERTISED];
	const char *host;
	uint16_t port;
};

/** rpc_advertise - cli_option.take of --advertise: HOST, HOST:PORT, [HOST]:PORT or :PORT */
int rpc_advertise(struct cli *cli, void *advertised);

/* rpc_client.c: "tenon rpc ping", "functions", "upload" and "call"; argv[0] is the name; each returns enum cli_exit */
int rpc_ping_main(struct cli *cli, int argc, char **argv);
int rpc_functions_main(struct cli *cli, int argc, char **argv);
int rpc_upload_main(struct cli *cli, int argc, char **argv);
int rpc_call_main(struct cli *cli, int argc, char **argv);

#endif /* TOOLS_RPC_VERB_RPC_H */

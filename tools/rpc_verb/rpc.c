/* SPDX-License-Identifier: MIT */
/* tenon rpc: the table of its actions. */
#include "tools/rpc_verb/rpc.h"

#include <string.h>
#include <tenon/string.h>

#include "tools/rpc_verb/rpc_serve_help.h"

#define ACTIONS "serve, tracker, proxy, ping, functions, upload or call"

/** struct action - an action; argv[0] is its name; returns enum cli_exit */
static const struct action {
	const char *name;
	int (*run)(struct cli *cli, int argc, char **argv);
} actions[] = {
	{ "serve", rpc_serve },
	{ "tracker", rpc_tracker },
	{ "proxy", rpc_proxy },
	{ "ping", rpc_ping_main },
	{ "functions", rpc_functions_main },
	{ "upload", rpc_upload_main },
	{ "call", rpc_call_main },
};

#define ACTION_COUNT (sizeof(actions) / sizeof(actions[0]))

static int rpc_main(struct cli *cli, int argc, char **argv)
{
	static const struct cli_option none[] = { { 0 } };
	struct nearest_name nearest;
	size_t i;

	if (argc < 2)
		return cli_usage(cli, "what to do is missing: " ACTIONS);
	for (i = 0; i < ACTION_COUNT; i++)
		if (!strcmp(argv[1], actions[i].name))
			return actions[i].run(cli, argc - 1, argv + 1);
	if (argv[1][0] == '-')
		return cli_options(cli, argc, argv, none) == CLI_OPTIONS_DONE
			       ? CLI_OK
			       : cli_usage(cli, "%s: an action comes first", argv[1]);
	nearest = (struct nearest_name){ .wanted = tenon_slice_of(argv[1]) };
	for (i = 0; i < ACTION_COUNT; i++)
		nearest_name_offer(&nearest, tenon_slice_of(actions[i].name));
	return cli_unknown(cli, "action", argv[1], &nearest);
}

const struct cli_command rpc_command = {
	"rpc",
	"Serve clients of TVM's RPC: they upload, run and time modules here",
	"Usage: tenon rpc serve [--listen ADDRESS]... [--key KEY] [OPTION]...\n"
	"       tenon rpc tracker [--listen ADDRESS]... [OPTION]...\n"
	"       tenon rpc tracker status [--json] [--timeout S] [HOST:PORT]\n"
	"       tenon rpc proxy [--listen ADDRESS]... [OPTION]...\n"
	"       tenon rpc ping ADDRESS [--count N] [--timeout S] [--json]\n"
	"       tenon rpc functions ADDRESS [--timeout S]\n"
	"       tenon rpc upload ADDRESS FILE... [--timeout S]\n"
	"       tenon rpc call ADDRESS FUNCTION [SPEC]... [--timeout S] [--json]\n"
	"\n"
	"Options of serve:\n" RPC_SERVE_OPTIONS "\n"
	"Options of tracker:\n"
	"  --listen ADDRESS       HOST:PORT or [HOST]:PORT (127.0.0.1:9190)\n"
	"  --wait-timeout S       longest time that a client waits for a server (no limit)\n"
	"  --check-every S        check free servers so often (30; 0 for never)\n"
	"  --check-timeout S      a server must answer a check in this time (10)\n"
	"  --connections N        connections at a time (16384)\n"
	"  --trust-network        as above\n"
	"Options of proxy:\n"
	"  --listen ADDRESS       HOST:PORT or [HOST]:PORT (127.0.0.1:9090)\n"
	"  --tracker HOST:PORT    offer the servers that wait to a tracker, under this address\n"
	"  --advertise HOST[:PORT]  where the tracker's clients find this proxy\n"
	"  --wait-timeout S       longest time that a peer waits for another (600)\n"
	"  --connections N        connections at a time (1024)\n"
	"  --trust-network        as above\n"
	"\n" RPC_SERVE_WARNING "All end with SIGTERM or SIGINT.\n",
	rpc_main,
};

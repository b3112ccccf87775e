/* SPDX-License-Identifier: MIT */
/* tenon-rpc-server: "tenon rpc serve" as a program of its own, for boards with little storage. */
#include <string.h>
#include <tenon/tenon.h>

#include "lib/standard_streams.h"
#include "tools/rpc_verb/rpc.h"
#include "tools/rpc_verb/rpc_serve_help.h"

static const struct cli_command server_command = {
	"rpc-server",
	"Serve clients of TVM's RPC: they upload, run and time modules here",
	"Usage: tenon-rpc-server [--listen ADDRESS]... [--key KEY] [OPTION]...\n"
	"\n"
	"Options:\n" RPC_SERVE_OPTIONS "\n" RPC_SERVE_WARNING "It ends with SIGTERM or SIGINT.\n",
	rpc_serve,
};

int main(int argc, char **argv)
{
	struct cli cli = { stdout, stderr, &server_command, false };

	standard_streams_open();
	if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
		printf("tenon %s\n", tenon_version());
		if (argc > 2 && !strcmp(argv[2], "--verbose"))
			printf("configuration: %s\n", tenon_configuration());
		return CLI_OK;
	}
	return cli_run(&cli, argc, argv);
}

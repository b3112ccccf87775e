/* SPDX-License-Identifier: MIT */
#include "tools/rpc/rpc.h"

#include <string.h>
#include <tenon/string.h>

static int rpc_main(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { { NULL, 0, NULL, 0 } };
	struct nearest_name nearest;

	if (argc < 2)
		return cli_usage(cli, "what to do is missing: serve");
	if (!strcmp(argv[1], "serve"))
		return rpc_serve(cli, argc - 1, argv + 1);
	if (argv[1][0] == '-')
		return cli_option(cli, argc, argv, options) == CLI_OPTIONS_DONE
			       ? CLI_OK
			       : cli_usage(cli, "%s: an action comes first", argv[1]);
	nearest = (struct nearest_name){ .wanted = tenon_slice_of(argv[1]) };
	nearest_name_offer(&nearest, tenon_slice_of("serve"));
	return cli_unknown(cli, "action", argv[1], &nearest);
}

const struct cli_command rpc_command = {
	"rpc",
	"Serve clients of TVM's RPC: they upload, run and time modules here",
	"Usage: tenon rpc serve [--listen ADDRESS]... [--key KEY] [OPTION]...\n"
	"\n"
	"  --listen ADDRESS       HOST:PORT, [HOST]:PORT or unix:PATH (127.0.0.1:9090)\n"
	"  --key KEY              clients must ask for this key\n"
	"  --sessions N           sessions at a time; further clients wait (4)\n"
	"  --session-timeout S    end a session after S seconds (never)\n"
	"  --request-timeout S    end a session whose request takes longer (600)\n"
	"  --folder DIR           folder for the files of sessions (TMPDIR, or /tmp)\n"
	"  --folder-size MIB      what a session may upload (1024)\n"
	"  --memory MIB           memory of a session (half of the machine's)\n"
	"  --packet-size MIB      largest request (1024)\n"
	"  --no-native-code       load device programs only, no shared objects\n"
	"  --allow-read PATH      let sessions read a file or folder\n"
	"  --allow-write PATH     let sessions write a file or folder\n"
	"  --trust-network        accept addresses that other machines can reach\n"
	"  --no-sandbox           let uploaded code do all that this user can\n"
	"\n"
	"An uploaded shared object is native code, and the protocol has no authentication: who can "
	"connect\n"
	"can run programs here, within the limits of the session's sandbox. Ends with SIGTERM or "
	"SIGINT.\n",
	rpc_main,
};

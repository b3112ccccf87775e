/* SPDX-License-Identifier: MIT */
/* tenon rpc tracker: parse its options and run the tracker. */
#include <stdlib.h>
#include <string.h>
#include <tenon/rpc.h>

#include "lib/option.h"
#include "tools/rpc_verb/rpc.h"

#define LISTEN_WORDS 8

int rpc_tracker(struct cli *cli, int argc, char **argv)
{
	struct tenon_rpc_tracker_options o;
	const char *words[LISTEN_WORDS + 1] = { NULL };
	struct cli_words listen = { words, .most = LISTEN_WORDS };
	uint64_t connections = 0;
	const struct cli_option options[] = {
		{ "check-every", .scaled = &o.health_ms, .most = 1e6, .unit = 1e3 },
		{ "check-timeout", .scaled = &o.answer_ms, .least = 0.1, .most = 1e6, .unit = 1e3 },
		{ "connections", .scaled = &connections, .least = 1, .most = 1e6, .unit = 1 },
		{ "listen", .words = &listen },
		{ "trust-network", .flag = &o.trust_network },
		{ "wait-timeout", .scaled = &o.wait_ms, .most = 1e9, .unit = 1e3 },
		{ 0 },
	};
	int code;

	if (argc > 1 && !strcmp(argv[1], "status")) {
		if (OPTION_ON(JSON))
			return rpc_tracker_status(cli, argc - 1, argv + 1);
		fputs("tenon: status: a tracker answers in JSON; it needs CONFIG_JSON\n", cli->err);
		return CLI_UNAVAILABLE;
	}
	tenon_rpc_tracker_options_init(&o, sizeof(o));
	o.say = rpc_say;
	o.context = cli;
	code = cli_options(cli, argc, argv, options);
	if (code)
		return code;
	if (optind < argc)
		return cli_usage(cli, "%s: after tenon rpc tracker come status or options",
				 argv[optind]);
	if (connections)
		o.connections_most = (unsigned int)connections;
	if (!listen.count)
		words[0] = "127.0.0.1:9190";
	o.listen = words;
	if (tenon_rpc_track(&o))
		return cli_error(cli, CLI_UNAVAILABLE);
	return CLI_OK;
}

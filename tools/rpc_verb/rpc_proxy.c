/* SPDX-License-Identifier: MIT */
/* tenon rpc proxy: parse its options and run the proxy. */
#include <tenon/rpc.h>

#include "tools/rpc_verb/rpc.h"

#define LISTEN_WORDS 8

int rpc_proxy(struct cli *cli, int argc, char **argv)
{
	struct tenon_rpc_proxy_options o;
	struct rpc_advertised advertised = { .host = NULL };
	const char *words[LISTEN_WORDS + 1] = { NULL };
	struct cli_words listen = { words, .most = LISTEN_WORDS };
	uint64_t connections = 0;
	const struct cli_option options[] = {
		{ "advertise", .take = rpc_advertise, .context = &advertised },
		{ "connections", .scaled = &connections, .least = 2, .most = 1e5, .unit = 1 },
		{ "listen", .words = &listen },
		{ "tracker", .text = &o.tracker },
		{ "trust-network", .flag = &o.trust_network },
		{ "wait-timeout", .scaled = &o.wait_ms, .least = 0.1, .most = 1e9, .unit = 1e3 },
		{ 0 },
	};
	int code;

	tenon_rpc_proxy_options_init(&o, sizeof(o));
	o.say = rpc_say;
	o.context = cli;
	code = cli_options(cli, argc, argv, options);
	if (code)
		return code;
	if (optind < argc)
		return cli_usage(cli, "%s: tenon rpc proxy takes options alone", argv[optind]);
	o.advertise_host = advertised.host;
	o.advertise_port = advertised.port;
	if ((o.advertise_host || o.advertise_port) && !o.tracker)
		return cli_usage(cli, "--advertise is for --tracker");
	if (connections)
		o.connections_most = (unsigned int)connections;
	if (!listen.count)
		words[0] = "127.0.0.1:9090";
	o.listen = words;
	if (tenon_rpc_proxy(&o))
		return cli_error(cli, CLI_UNAVAILABLE);
	return CLI_OK;
}

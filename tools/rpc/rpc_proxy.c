/* SPDX-License-Identifier: MIT */
/* tenon rpc proxy: parse its options and run the proxy */
#include <tenon/rpc.h>

#include "tools/rpc/rpc.h"

#define LISTEN_WORDS 8

enum { ADVERTISE = 1, CONNECTIONS, LISTEN, TRACKER, TRUST_NETWORK, WAIT_TIMEOUT };

static const struct option options[] = {
	{ "advertise", required_argument, NULL, ADVERTISE },
	{ "connections", required_argument, NULL, CONNECTIONS },
	{ "listen", required_argument, NULL, LISTEN },
	{ "tracker", required_argument, NULL, TRACKER },
	{ "trust-network", no_argument, NULL, TRUST_NETWORK },
	{ "wait-timeout", required_argument, NULL, WAIT_TIMEOUT },
	{ NULL, 0, NULL, 0 },
};

struct proxying {
	struct tenon_rpc_proxy_options proxy;
	const char *listen[LISTEN_WORDS + 1];
	unsigned int listen_count;
	char advertised[RPC_ADVERTISED];
};

static int read_option(struct cli *cli, struct proxying *p, int option)
{
	uint64_t number;
	int code;

	switch (option) {
	case ADVERTISE:
		return rpc_advertised(cli, p->advertised, &p->proxy.advertise_host,
				      &p->proxy.advertise_port);
	case CONNECTIONS:
		code = rpc_number(cli, "connections", 2, 1e5, 1, &number);
		if (!code)
			p->proxy.connections_most = (unsigned int)number;
		return code;
	case LISTEN:
		if (p->listen_count == LISTEN_WORDS)
			return cli_usage(cli, "--listen is given more than %d times", LISTEN_WORDS);
		p->listen[p->listen_count++] = optarg;
		return CLI_OK;
	case TRACKER:
		p->proxy.tracker = optarg;
		return CLI_OK;
	case TRUST_NETWORK:
		p->proxy.trust_network = true;
		return CLI_OK;
	case WAIT_TIMEOUT:
		return rpc_number(cli, "wait-timeout", 0.1, 1e9, 1e3, &p->proxy.wait_ms);
	}
	return CLI_USAGE;
}

int rpc_proxy(struct cli *cli, int argc, char **argv)
{
	struct proxying p = { .listen_count = 0 };
	int option, code;

	tenon_rpc_proxy_options_init(&p.proxy, sizeof(p.proxy));
	p.proxy.say = rpc_say;
	p.proxy.context = cli;
	while ((option = cli_option(cli, argc, argv, options)) != CLI_OPTIONS_END) {
		if (option < CLI_OPTIONS_END)
			return option;
		code = read_option(cli, &p, option);
		if (code)
			return code;
	}
	if (optind < argc)
		return cli_usage(cli, "%s: tenon rpc proxy takes options alone", argv[optind]);
	if ((p.proxy.advertise_host || p.proxy.advertise_port) && !p.proxy.tracker)
		return cli_usage(cli, "--advertise is for --tracker");
	if (!p.listen_count)
		p.listen[p.listen_count++] = "127.0.0.1:9090";
	p.proxy.listen = p.listen;
	if (tenon_rpc_proxy(&p.proxy))
		return cli_error(cli, CLI_UNAVAILABLE);
	return CLI_OK;
}

/* SPDX-License-Identifier: MIT */
/* tenon rpc tracker: parse its options and run the tracker */
#include <stdlib.h>
#include <string.h>
#include <tenon/rpc.h>

#include "tools/rpc/rpc.h"

#define LISTEN_WORDS 8

enum {
	CHECK_EVERY = 1,
	CHECK_TIMEOUT,
	CONNECTIONS,
	LISTEN,
	TRUST_NETWORK,
	WAIT_TIMEOUT,
};

static const struct option options[] = {
	{ "check-every", required_argument, NULL, CHECK_EVERY },
	{ "check-timeout", required_argument, NULL, CHECK_TIMEOUT },
	{ "connections", required_argument, NULL, CONNECTIONS },
	{ "listen", required_argument, NULL, LISTEN },
	{ "trust-network", no_argument, NULL, TRUST_NETWORK },
	{ "wait-timeout", required_argument, NULL, WAIT_TIMEOUT },
	{ NULL, 0, NULL, 0 },
};

struct track {
	struct tenon_rpc_tracker_options tracker;
	const char *listen[LISTEN_WORDS + 1];
	unsigned int listen_count;
};

static int read_option(struct cli *cli, struct track *track, int option)
{
	struct tenon_rpc_tracker_options *o = &track->tracker;
	uint64_t number;
	int code;

	switch (option) {
	case CHECK_EVERY:
		return rpc_number(cli, "check-every", 0, 1e6, 1e3, &o->health_ms);
	case CHECK_TIMEOUT:
		return rpc_number(cli, "check-timeout", 0.1, 1e6, 1e3, &o->answer_ms);
	case CONNECTIONS:
		code = rpc_number(cli, "connections", 1, 1e6, 1, &number);
		if (!code)
			o->connections_most = (unsigned int)number;
		return code;
	case LISTEN:
		if (track->listen_count == LISTEN_WORDS)
			return cli_usage(cli, "--listen is given more than %d times", LISTEN_WORDS);
		track->listen[track->listen_count++] = optarg;
		return CLI_OK;
	case TRUST_NETWORK:
		o->trust_network = true;
		return CLI_OK;
	case WAIT_TIMEOUT:
		return rpc_number(cli, "wait-timeout", 0, 1e9, 1e3, &o->wait_ms);
	}
	return CLI_USAGE;
}

int rpc_tracker(struct cli *cli, int argc, char **argv)
{
	struct track track = { .listen_count = 0 };
	int option, code;

	tenon_rpc_tracker_options_init(&track.tracker, sizeof(track.tracker));
	track.tracker.say = rpc_say;
	track.tracker.context = cli;
	if (argc > 1 && !strcmp(argv[1], "status"))
		return rpc_tracker_status(cli, argc - 1, argv + 1);
	while ((option = cli_option(cli, argc, argv, options)) != CLI_OPTIONS_END) {
		if (option < CLI_OPTIONS_END)
			return option;
		code = read_option(cli, &track, option);
		if (code)
			return code;
	}
	if (optind < argc)
		return cli_usage(cli, "%s: after tenon rpc tracker come status or options",
				 argv[optind]);
	if (!track.listen_count)
		track.listen[track.listen_count++] = "127.0.0.1:9190";
	track.tracker.listen = track.listen;
	if (tenon_rpc_track(&track.tracker))
		return cli_error(cli, CLI_UNAVAILABLE);
	return CLI_OK;
}

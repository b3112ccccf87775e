/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/remote/server.h"
#include "tools/rpc/rpc.h"
#include "tools/text/printable.h"

#define MIB	   (UINT64_C(1) << 20)
#define PATHS_MOST 64

enum {
	ALLOW_READ = 1,
	ALLOW_WRITE,
	FOLDER,
	FOLDER_SIZE,
	KEY,
	LISTEN,
	MEMORY,
	NO_NATIVE_CODE,
	NO_SANDBOX,
	PACKET_SIZE,
	REQUEST_TIMEOUT,
	SESSIONS,
	SESSION_TIMEOUT,
	TRUST_NETWORK,
};

static const struct option options[] = {
	{ "allow-read", required_argument, NULL, ALLOW_READ },
	{ "allow-write", required_argument, NULL, ALLOW_WRITE },
	{ "folder", required_argument, NULL, FOLDER },
	{ "folder-size", required_argument, NULL, FOLDER_SIZE },
	{ "key", required_argument, NULL, KEY },
	{ "listen", required_argument, NULL, LISTEN },
	{ "memory", required_argument, NULL, MEMORY },
	{ "no-native-code", no_argument, NULL, NO_NATIVE_CODE },
	{ "no-sandbox", no_argument, NULL, NO_SANDBOX },
	{ "packet-size", required_argument, NULL, PACKET_SIZE },
	{ "request-timeout", required_argument, NULL, REQUEST_TIMEOUT },
	{ "session-timeout", required_argument, NULL, SESSION_TIMEOUT },
	{ "sessions", required_argument, NULL, SESSIONS },
	{ "trust-network", no_argument, NULL, TRUST_NETWORK },
	{ NULL, 0, NULL, 0 },
};

/* a list of words that ends with NULL */
struct words {
	const char *word[PATHS_MOST + 1];
	size_t count;
};

struct serve {
	struct server_options server;
	struct words listen;
	struct words read;
	struct words write;
};

static int add_word(struct cli *cli, struct words *words, const char *option)
{
	if (words->count == PATHS_MOST)
		return cli_usage(cli, "--%s is given more than %d times", option, PATHS_MOST);
	words->word[words->count++] = optarg;
	return CLI_OK;
}

static int read_number(struct cli *cli, const char *option, double least, double most, double unit,
		       uint64_t *out)
{
	double number;
	int code = cli_amount(cli, option, &number);

	if (code)
		return code;
	if (number < least || number > most)
		return cli_usage(cli, "--%s is %s: %g to %g are possible", option, optarg, least,
				 most);
	*out = (uint64_t)(number * unit);
	return CLI_OK;
}

static int read_sessions(struct cli *cli, struct serve *serve)
{
	uint64_t number;
	int code = read_number(cli, "sessions", 1, 1000, 1, &number);

	if (!code)
		serve->server.sessions_most = (unsigned int)number;
	return code;
}

static int read_key(struct cli *cli, struct serve *serve)
{
	if (strpbrk(optarg, " \t\r\n\v\f") || strlen(optarg) > 1024)
		return cli_usage(cli, "a key has no spaces and at most 1024 bytes");
	serve->server.key = optarg;
	return CLI_OK;
}

static int read_option(struct cli *cli, struct serve *serve, int option)
{
	struct server_options *o = &serve->server;

	switch (option) {
	case ALLOW_READ:
		return add_word(cli, &serve->read, "allow-read");
	case ALLOW_WRITE:
		return add_word(cli, &serve->write, "allow-write");
	case FOLDER:
		o->base = optarg;
		return CLI_OK;
	case FOLDER_SIZE:
		return read_number(cli, "folder-size", 0, 1e9, MIB, &o->session.folder_most);
	case KEY:
		return read_key(cli, serve);
	case LISTEN:
		return add_word(cli, &serve->listen, "listen");
	case MEMORY:
		return read_number(cli, "memory", 16, 1e9, MIB, &o->memory_most);
	case NO_NATIVE_CODE:
		o->session.native_code = false;
		return CLI_OK;
	case NO_SANDBOX:
		o->sandbox = false;
		return CLI_OK;
	case PACKET_SIZE:
		return read_number(cli, "packet-size", 1, 65536, MIB, &o->session.packet_most);
	case REQUEST_TIMEOUT:
		return read_number(cli, "request-timeout", 0, 1e9, 1e3, &o->request_ms);
	case SESSIONS:
		return read_sessions(cli, serve);
	case SESSION_TIMEOUT:
		return read_number(cli, "session-timeout", 0, 1e9, 1e3, &o->session_ms);
	case TRUST_NETWORK:
		o->trust_network = true;
		return CLI_OK;
	}
	return CLI_USAGE;
}

static void say(void *context, const char *line)
{
	struct cli *cli = context;

	fputs("tenon: ", cli->err);
	/* a line may quote what a client sent */
	printable_print(line, cli->err);
	fputc('\n', cli->err);
	fflush(cli->err);
}

static uint64_t half_of_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages / 2 * (uint64_t)size : 0;
}

static void set_defaults(struct cli *cli, struct serve *serve)
{
	const char *folder = getenv("TMPDIR");

	serve->server = (struct server_options){
		.listen = serve->listen.word,
		.key = "",
		.base = folder && *folder ? folder : "/tmp",
		.sessions_most = 4,
		.request_ms = 600 * 1000,
		.session = {
			.packet_most = 1024 * MIB,
			.folder_most = 1024 * MIB,
			.native_code = true,
		},
		.memory_most = half_of_memory(),
		.sandbox = true,
		.read = serve->read.word,
		.write = serve->write.word,
		.say = say,
		.context = cli,
	};
}

int rpc_serve(struct cli *cli, int argc, char **argv)
{
	struct serve serve = { .listen = { .count = 0 } };
	int option, code;

	set_defaults(cli, &serve);
	while ((option = cli_option(cli, argc, argv, options)) != CLI_OPTIONS_END) {
		if (option == CLI_OPTIONS_DONE)
			return CLI_OK;
		if (option == CLI_OPTIONS_BAD)
			return CLI_USAGE;
		code = read_option(cli, &serve, option);
		if (code)
			return code;
	}
	if (optind < argc)
		return cli_usage(cli, "%s: tenon rpc serve takes options alone", argv[optind]);
	if (!serve.listen.count)
		serve.listen.word[serve.listen.count++] = "127.0.0.1:9090";
	serve.server.session.memory_most =
		serve.server.memory_most ? serve.server.memory_most : UINT64_MAX;
	if (server_run(&serve.server))
		return cli_error(cli, CLI_UNAVAILABLE);
	return CLI_OK;
}

/* SPDX-License-Identifier: MIT */
/* tenon rpc serve: parse its options and run the server */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <tenon/rpc.h>

#include "tools/rpc/rpc.h"
#include "tools/target/target.h"
#include "tools/text/printable.h"

#define MIB	   (UINT64_C(1) << 20)
#define PATHS_MOST 64

enum {
	ADVERTISE = 1,
	ALLOW_GROUP,
	ALLOW_READ,
	ALLOW_SOCKET,
	ALLOW_USER,
	ALLOW_WRITE,
	CACHE_SIZE,
	FOLDER,
	FOLDER_IN_MEMORY,
	FOLDER_SIZE,
	HEALTH_CHECK,
	KEY,
	LISTEN,
	MEMORY,
	NO_NATIVE_CODE,
	NO_SANDBOX,
	PACKET_SIZE,
	PROCESSES,
	PROXY,
	REQUEST_TIMEOUT,
	SANDBOX_LEARN,
	SECRET_FILE,
	SESSIONS,
	SESSION_TIMEOUT,
	STDIO,
	TLS_CERTIFICATE,
	TLS_KEY,
	TRACKER,
	TRUST_NETWORK,
};

static const struct option options[] = {
	{ "advertise", required_argument, NULL, ADVERTISE },
	{ "allow-group", required_argument, NULL, ALLOW_GROUP },
	{ "allow-read", required_argument, NULL, ALLOW_READ },
	{ "allow-socket", required_argument, NULL, ALLOW_SOCKET },
	{ "allow-user", required_argument, NULL, ALLOW_USER },
	{ "allow-write", required_argument, NULL, ALLOW_WRITE },
	{ "cache-size", required_argument, NULL, CACHE_SIZE },
	{ "folder", required_argument, NULL, FOLDER },
	{ "folder-in-memory", no_argument, NULL, FOLDER_IN_MEMORY },
	{ "folder-size", required_argument, NULL, FOLDER_SIZE },
	{ "health-check", required_argument, NULL, HEALTH_CHECK },
	{ "key", required_argument, NULL, KEY },
	{ "listen", required_argument, NULL, LISTEN },
	{ "memory", required_argument, NULL, MEMORY },
	{ "no-native-code", no_argument, NULL, NO_NATIVE_CODE },
	{ "no-sandbox", no_argument, NULL, NO_SANDBOX },
	{ "packet-size", required_argument, NULL, PACKET_SIZE },
	{ "processes", required_argument, NULL, PROCESSES },
	{ "proxy", required_argument, NULL, PROXY },
	{ "request-timeout", required_argument, NULL, REQUEST_TIMEOUT },
	{ "sandbox-learn", no_argument, NULL, SANDBOX_LEARN },
	{ "secret-file", required_argument, NULL, SECRET_FILE },
	{ "session-timeout", required_argument, NULL, SESSION_TIMEOUT },
	{ "sessions", required_argument, NULL, SESSIONS },
	{ "stdio", no_argument, NULL, STDIO },
	{ "tls-certificate", required_argument, NULL, TLS_CERTIFICATE },
	{ "tls-key", required_argument, NULL, TLS_KEY },
	{ "tracker", required_argument, NULL, TRACKER },
	{ "trust-network", no_argument, NULL, TRUST_NETWORK },
	{ NULL, 0, NULL, 0 },
};

/* a list of words that ends with NULL */
struct words {
	const char *word[PATHS_MOST + 1];
	size_t count;
};

struct serve {
	struct tenon_rpc_server_options server;
	struct words listen;
	struct words read;
	struct words write;
	struct words groups;
	struct words users;
	struct words sockets;
	char advertised[RPC_ADVERTISED];
	bool sessions_given;
};

static int add_word(struct cli *cli, struct words *words, const char *option)
{
	if (words->count == PATHS_MOST)
		return cli_usage(cli, "--%s is given more than %d times", option, PATHS_MOST);
	words->word[words->count++] = optarg;
	return CLI_OK;
}

int rpc_number(struct cli *cli, const char *option, double least, double most, double unit,
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
	int code = rpc_number(cli, "sessions", 1, 1000, 1, &number);

	if (!code)
		serve->server.sessions_most = (unsigned int)number;
	serve->sessions_given = true;
	return code;
}

static int read_processes(struct cli *cli, struct serve *serve)
{
	uint64_t number;
	int code = rpc_number(cli, "processes", 1, 1000000, 1, &number);

	if (!code)
		serve->server.processes_most = (unsigned int)number;
	return code;
}

static int read_key(struct cli *cli, struct serve *serve)
{
	const char *at = optarg;

	while ((unsigned char)*at > ' ' && *at != '"' && *at != '\\' && *at != 0x7f)
		at++;
	if (*at || strlen(optarg) > 1024)
		return cli_usage(cli, "a key has no spaces, quotes, backslashes or control "
				      "characters, and at most 1024 bytes");
	serve->server.key = optarg;
	return CLI_OK;
}

static int add_socket(struct cli *cli, struct serve *serve)
{
	if (*optarg != '/' || strlen(optarg) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return cli_usage(cli,
				 "--allow-socket %s: the path of a Unix socket begins with / and "
				 "has at most %zu bytes",
				 optarg, sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
	return add_word(cli, &serve->sockets, "allow-socket");
}

static int read_option(struct cli *cli, struct serve *serve, int option)
{
	struct tenon_rpc_server_options *o = &serve->server;

	switch (option) {
	case ADVERTISE:
		return rpc_advertised(cli, serve->advertised, &serve->server.advertise_host,
				      &serve->server.advertise_port);
	case ALLOW_GROUP:
		return add_word(cli, &serve->groups, "allow-group");
	case ALLOW_USER:
		return add_word(cli, &serve->users, "allow-user");
	case ALLOW_READ:
		return add_word(cli, &serve->read, "allow-read");
	case ALLOW_SOCKET:
		return add_socket(cli, serve);
	case ALLOW_WRITE:
		return add_word(cli, &serve->write, "allow-write");
	case CACHE_SIZE:
		return rpc_number(cli, "cache-size", 0, 1e9, MIB, &o->cache_most);
	case FOLDER:
		o->base = optarg;
		return CLI_OK;
	case FOLDER_IN_MEMORY:
		o->folder_in_memory = true;
		return CLI_OK;
	case FOLDER_SIZE:
		return rpc_number(cli, "folder-size", 0, 1e9, MIB, &o->folder_most);
	case HEALTH_CHECK:
		o->health_check = optarg;
		return CLI_OK;
	case KEY:
		return read_key(cli, serve);
	case LISTEN:
		return add_word(cli, &serve->listen, "listen");
	case MEMORY:
		return rpc_number(cli, "memory", 16, 1e9, MIB, &o->memory_most);
	case NO_NATIVE_CODE:
		o->native_code = false;
		return CLI_OK;
	case NO_SANDBOX:
		o->sandbox = false;
		return CLI_OK;
	case PACKET_SIZE:
		return rpc_number(cli, "packet-size", 1, 65536, MIB, &o->packet_most);
	case PROCESSES:
		return read_processes(cli, serve);
	case PROXY:
		o->proxy = optarg;
		return CLI_OK;
	case REQUEST_TIMEOUT:
		return rpc_number(cli, "request-timeout", 0, 1e9, 1e3, &o->request_ms);
	case SANDBOX_LEARN:
#ifdef CONFIG_DSO
		o->learn = true;
		return CLI_OK;
#else
		return cli_usage(cli, "this build has no --sandbox-learn: CONFIG_DSO is off");
#endif
	case SECRET_FILE:
		o->secret_file = optarg;
		return CLI_OK;
	case SESSIONS:
		return read_sessions(cli, serve);
	case SESSION_TIMEOUT:
		return rpc_number(cli, "session-timeout", 0, 1e9, 1e3, &o->session_ms);
	case STDIO:
		o->stdio = true;
		return CLI_OK;
	case TLS_CERTIFICATE:
		o->tls_certificate = optarg;
		return CLI_OK;
	case TLS_KEY:
		o->tls_key = optarg;
		return CLI_OK;
	case TRACKER:
		o->tracker = optarg;
		return CLI_OK;
	case TRUST_NETWORK:
		o->trust_network = true;
		return CLI_OK;
	}
	return CLI_USAGE;
}

void rpc_say(void *context, const char *line)
{
	struct cli *cli = context;

	fputs("tenon: ", cli->err);
	/* a line may quote what a peer sent */
	printable_print(line, cli->err);
	fputc('\n', cli->err);
	fflush(cli->err);
}

/* inetd connects standard error to the client too: a warning would be bytes of the protocol */
static bool is_client(int fd)
{
	struct stat in, st;

	return !fstat(0, &in) && !fstat(fd, &st) && in.st_dev == st.st_dev &&
	       in.st_ino == st.st_ino;
}

static int serve_now(struct cli *cli, struct serve *serve)
{
	struct tenon_rpc_server_options *o = &serve->server;
	int err;

	/* a client that asked a tracker for a board has it for itself */
	if (o->tracker && !serve->sessions_given)
		o->sessions_most = 1;
	if (!serve->listen.count && !o->proxy && !o->stdio)
		serve->listen.word[serve->listen.count++] = "127.0.0.1:9090";
	/* sessions inherit it */
	if (!o->stdio || !is_client(2))
		target_warn_of_choice(cli);
	err = tenon_rpc_serve(o);
	if (err == -TENON_E_USAGE)
		return cli_error(cli, CLI_USAGE);
	return err ? cli_error(cli, CLI_UNAVAILABLE) : CLI_OK;
}

int rpc_serve(struct cli *cli, int argc, char **argv)
{
	struct serve serve = { .listen = { .count = 0 } };
	struct tenon_rpc_server_options *o = &serve.server;
	int option, code;

	tenon_rpc_server_options_init(o, sizeof(*o));
	o->listen = serve.listen.word;
	o->read = serve.read.word;
	o->write = serve.write.word;
	o->sockets = serve.sockets.word;
	o->users = serve.users.word;
	o->groups = serve.groups.word;
	o->say = rpc_say;
	o->context = cli;
	while ((option = cli_option(cli, argc, argv, options)) != CLI_OPTIONS_END) {
		if (option < CLI_OPTIONS_END)
			return option;
		code = read_option(cli, &serve, option);
		if (code)
			return code;
	}
	if (optind < argc)
		return cli_usage(cli, "%s: tenon rpc serve takes options alone", argv[optind]);
	return serve_now(cli, &serve);
}

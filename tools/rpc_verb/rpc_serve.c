/* SPDX-License-Identifier: MIT */
/* tenon rpc serve: parse its options and run the server. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <tenon/rpc.h>

#include "lib/option.h"
#include "tools/device_option/target_list.h"
#include "tools/rpc_verb/rpc.h"
#include "tools/text/text.h"

#define MIB	   (UINT64_C(1) << 20)
#define PATHS_MOST 64

/* lists of words, which end with NULL */
enum { LISTEN, READ, WRITE, GROUPS, USERS, SOCKETS, LISTS };

struct serve {
	struct tenon_rpc_server_options server;
	const char *words[LISTS][PATHS_MOST + 1];
	struct cli_words lists[LISTS];
	struct rpc_advertised advertised;
};

static int read_key(struct cli *cli, void *server)
{
	struct tenon_rpc_server_options *o = server;
	const char *at = optarg;

	while ((unsigned char)*at > ' ' && *at != '"' && *at != '\\' && *at != 0x7f)
		at++;
	if (*at || strlen(optarg) > 1024)
		return cli_usage(cli, "a key has no spaces, quotes, backslashes or control "
				      "characters, and at most 1024 bytes");
	o->key = optarg;
	return CLI_OK;
}

static int check_sockets(struct cli *cli, const char *const *paths)
{
	const size_t most = sizeof(((struct sockaddr_un *)0)->sun_path);

	for (; *paths; paths++)
		if (**paths != '/' || strlen(*paths) >= most)
			return cli_usage(cli,
					 "--allow-socket %s: the path of a Unix socket begins with "
					 "/ and has at most %zu bytes",
					 *paths, most - 1);
	return 0;
}

static int take_options(struct cli *cli, struct serve *serve, int argc, char **argv)
{
	struct tenon_rpc_server_options *o = &serve->server;
	uint64_t sessions = 0, processes = o->processes_most;
	bool no_code = false, no_sandbox = false;
	const struct cli_option options[] = {
		{ "advertise", .take = rpc_advertise, .context = &serve->advertised },
		{ "allow-group", .words = &serve->lists[GROUPS] },
		{ "allow-read", .words = &serve->lists[READ] },
		{ "allow-socket", .words = &serve->lists[SOCKETS] },
		{ "allow-user", .words = &serve->lists[USERS] },
		{ "allow-write", .words = &serve->lists[WRITE] },
		{ "cache-size", .scaled = &o->cache_most, .most = 1e9, .unit = MIB },
		{ "folder", .text = &o->base },
		{ "folder-in-memory", .flag = &o->folder_in_memory },
		{ "folder-size", .scaled = &o->folder_most, .most = 1e9, .unit = MIB },
		{ "health-check", .text = &o->health_check },
		{ "key", .take = read_key, .context = o },
		{ "listen", .words = &serve->lists[LISTEN] },
		{ "memory", .scaled = &o->memory_most, .least = 16, .most = 1e9, .unit = MIB },
		{ "no-native-code", .flag = &no_code },
		{ "no-sandbox", .flag = &no_sandbox },
		{ "packet-size", .scaled = &o->packet_most, .least = 1, .most = 65536,
		  .unit = MIB },
		{ "processes", .scaled = &processes, .least = 1, .most = 1e6, .unit = 1 },
		{ "proxy", .text = &o->proxy },
		{ "request-timeout", .scaled = &o->request_ms, .most = 1e9, .unit = 1e3 },
		{ "sandbox-learn", .flag = &o->learn },
		{ "secret-file", .text = &o->secret_file },
		{ "session-timeout", .scaled = &o->session_ms, .most = 1e9, .unit = 1e3 },
		{ "sessions", .scaled = &sessions, .least = 1, .most = 1000, .unit = 1 },
		{ "stdio", .flag = &o->stdio },
		{ "tls-certificate", .text = &o->tls_certificate },
		{ "tls-key", .text = &o->tls_key },
		{ "tracker", .text = &o->tracker },
		{ "trust-network", .flag = &o->trust_network },
		{ 0 },
	};
	int code = cli_options(cli, argc, argv, options);

	if (code)
		return code;
	if (!OPTION_ON(DSO) && o->learn)
		return cli_usage(cli, "this build has no --sandbox-learn: CONFIG_DSO is off");
	o->native_code &= !no_code;
	o->sandbox &= !no_sandbox;
	o->processes_most = (unsigned int)processes;
	o->advertise_host = serve->advertised.host;
	o->advertise_port = serve->advertised.port;
	/* a client that asked a tracker for a board has it for itself */
	if (sessions || o->tracker)
		o->sessions_most = sessions ? (unsigned int)sessions : 1;
	return check_sockets(cli, serve->words[SOCKETS]);
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

	if (!serve->lists[LISTEN].count && !o->proxy && !o->stdio)
		serve->words[LISTEN][0] = "127.0.0.1:9090";
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
	struct serve serve = { .advertised.host = NULL };
	struct tenon_rpc_server_options *o = &serve.server;
	int code, i;

	tenon_rpc_server_options_init(o, sizeof(*o));
	for (i = 0; i < LISTS; i++)
		serve.lists[i] = (struct cli_words){ serve.words[i], .most = PATHS_MOST };
	o->listen = serve.words[LISTEN];
	o->read = serve.words[READ];
	o->write = serve.words[WRITE];
	o->sockets = serve.words[SOCKETS];
	o->users = serve.words[USERS];
	o->groups = serve.words[GROUPS];
	o->say = rpc_say;
	o->context = cli;
	code = take_options(cli, &serve, argc, argv);
	if (code)
		return code;
	if (optind < argc)
		return cli_usage(cli, "%s: tenon rpc serve takes options alone", argv[optind]);
	return serve_now(cli, &serve);
}

/* SPDX-License-Identifier: MIT */
/* Serve this board to programs of TVM and Tenon, in a sandbox: board 127.0.0.1:9090 */
#include <stdio.h>
#include <tenon/rpc.h>
#include <tenon/tenon.h>

/* Print a line. It may quote text of a peer, whose control characters must not reach the terminal. */
static void print_line(void *context, const char *line)
{
	(void)context;
	for (; *line; line++)
		fputc(*line >= ' ' && *line <= '~' ? *line : '?', stderr);
	fputc('\n', stderr);
}

int main(int argc, char **argv)
{
	const char *const listen[] = { argc > 1 ? argv[1] : "127.0.0.1:9090", NULL };
	struct tenon_rpc_server_options options;

	tenon_rpc_server_options_init(&options, sizeof(options));
	options.listen = listen;
	options.sessions_most = 1;
	options.say = print_line;
	/* returns after SIGTERM or SIGINT */
	if (tenon_rpc_serve(&options)) {
		print_line(NULL, tenon_error_message());
		return 1;
	}
	return 0;
}

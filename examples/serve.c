/* SPDX-License-Identifier: MIT */
/* Serve a language model by HTTP, until a signal: serve FOLDER 8080 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/serve.h>
#include <tenon/tenon.h>

/* A line quotes files, and a terminal would obey escapes in it: what is not printable ASCII becomes '?'. */
static void print_line(void *context, const char *line)
{
	(void)context;
	for (; *line; line++)
		fputc(*line >= ' ' && *line <= '~' ? *line : '?', stderr);
	fputc('\n', stderr);
}

/* Threads of drivers inherit the mask, so that tenon_llm_serve() alone takes these signals. */
static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	/* a client may close its connection before its reply is sent */
	signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
	struct tenon_llm_serve_options options;
	struct tenon_llm *llm = NULL;
	int err;

	block_signals();
	err = tenon_llm_open(argc > 1 ? argv[1] : "model", NULL, &llm);
	tenon_llm_serve_options_init(&options, sizeof(options));
	options.port = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	options.say = print_line;
	if (!err)
		err = tenon_llm_serve(llm, &options);
	if (err)
		print_line(NULL, tenon_error_message());
	tenon_llm_close(llm);
	return err ? 1 : 0;
}

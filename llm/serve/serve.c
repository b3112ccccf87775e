/* SPDX-License-Identifier: MIT */
/* The public functions of libtenon-serve: check the options, listen, answer until the program stops it, and end. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "llm/serve/serve.h"

void tenon_llm_serve_options_init(struct tenon_llm_serve_options *options, size_t size)
{
	const struct tenon_llm_serve_options o = {
		.size = size,
		.host = "127.0.0.1",
		.port = 8080,
		.body_most = 1 << 20,
		.connections_most = 64,
		.requests_most = 64,
		.deadline_ms = 600 * 1000,
	};

	memcpy(options, &o, size < sizeof(o) ? size : sizeof(o));
}

/* tenon/serve.h has these bounds, too. */
static int check_bounds(const struct tenon_llm_serve_options *o)
{
	const struct {
		const char *name;
		uint64_t value, least, most;
	} rows[] = {
		{ "port", o->port, 0, 65535 },
		{ "connections_most", o->connections_most, 1, 100000 },
		{ "requests_most", o->requests_most, 1, 100000 },
		{ "body_most", o->body_most, 1, 1 << 30 },
		{ "tokens_most", o->tokens_most, 0, INT32_MAX },
		{ "deadline_ms", o->deadline_ms, 0, 1000000000 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
			return tenon_error(
				-TENON_E_VALUE, "%s is %" PRIu64 "; want %" PRIu64 " to %" PRIu64,
				rows[i].name, rows[i].value, rows[i].least, rows[i].most);
	return 0;
}

/* Copy what the program knows of the options, over the defaults. */
static int take_options(const struct tenon_llm_serve_options *from,
			struct tenon_llm_serve_options *to)
{
	tenon_llm_serve_options_init(to, sizeof(*to));
	memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
	if (!to->host)
		return tenon_error(-TENON_E_VALUE, "host is NULL; want a numeric address");
	return check_bounds(to);
}

static void say(const struct server *s, const char *line)
{
	if (s->options->say)
		s->options->say(s->options->context, line);
}

static void tell_where(const struct server *s, const char *address)
{
	struct tenon_buffer line = TENON_BUFFER_INIT;

	if (s->options->listening)
		s->options->listening(s->options->context, address);
	tenon_buffer_printf(&line, "%s is at %s/v1", tenon_llm_info(s->llm)->name, address);
	if (!line.status)
		say(s, line.data);
	tenon_buffer_fini(&line);
}

/* Say why messages have another form than the model was made for. */
static void tell_about_template(const struct server *s)
{
	const char *problem = tenon_llm_template_problem(s->llm);
	struct tenon_buffer line = TENON_BUFFER_INIT;

	if (tenon_llm_info(s->llm)->has_template)
		return;
	tenon_buffer_printf(&line, "%s, so messages are \"user: ...\"",
			    problem ? problem
				    : "there is no mlc-chat-config.json with a template of "
				      "conversations");
	if (!line.status)
		say(s, line.data);
	tenon_buffer_fini(&line);
}

/* Refuse new connections, and close the others once their replies are sent. */
static void stop(struct server *s)
{
	const int listening = MHD_quiesce_daemon(s->daemon);

	/* libmicrohttpd leaves this socket open; its thread may still wait for it, so it is closed last */
	shutdown(listening, SHUT_RDWR);
	serve_finish_sending(s, SERVE_SENDING_MS);
	MHD_stop_daemon(s->daemon);
	close(listening);
}

static int serve(struct server *s)
{
	char address[128];
	int err = serve_listen(s, address, sizeof(address));

	if (err)
		return err;
	tell_where(s, address);
	tell_about_template(s);
	if (!s->loopback && !s->options->key)
		say(s, "who can reach this address can use the model; a key keeps others out");
	serve_run(s);
	stop(s);
	return 0;
}

/* Take what is pending, which would end a program that has stopped serving for it. */
static void take_signals(const sigset_t *ours)
{
	static const struct timespec now = { 0, 0 };

	while (sigtimedwait(ours, NULL, &now) > 0)
		;
}

int tenon_llm_serve(struct tenon_llm *llm, const struct tenon_llm_serve_options *options)
{
	struct tenon_llm_serve_options o;
	struct server s = { .options = &o, .llm = llm };
	sigset_t ours, before;
	int err = take_options(options, &o);

	if (err)
		return err;
	serve_init(&s);
	if (!o.stop) {
		serve_signals(&ours);
		pthread_sigmask(SIG_BLOCK, &ours, &before);
	}
	err = serve(&s);
	if (!o.stop) {
		/* without service a signal is for the program */
		if (!err)
			take_signals(&ours);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	serve_fini(&s);
	return err;
}

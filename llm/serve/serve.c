/* SPDX-License-Identifier: MIT */
/* Serve a model: defaults, what people are told, and the order of things from the first to the last. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <tenon/backend/buffer.h>

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

/* Copy what the program knows of the options; the rest is 0. */
static int take_options(const struct tenon_llm_serve_options *from,
			struct tenon_llm_serve_options *to)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
	if (!to->host || to->port > 65535 || !to->connections_most || !to->requests_most ||
	    !to->body_most)
		return tenon_error(-TENON_E_VALUE,
				   "a server needs an address with a port of at most 65535, and "
				   "room for a connection, a request and its body");
	return 0;
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

static int serve(struct server *s)
{
	char address[128];
	int err = serve_listen(s, address, sizeof(address));

	if (err)
		return err;
	tell_where(s, address);
	tell_about_template(s);
	if (!s->loopback && !s->options->key)
		say(s, "who can reach this address can use the model; a key (--key-file of "
		       "tenon-serve) "
		       "keeps others out");
	serve_run(s);
	MHD_stop_daemon(s->daemon);
	return 0;
}

/* Take what is pending, which would end the program, and unblock what was not blocked before. */
static void restore_signals(const sigset_t *ours, const sigset_t *before)
{
	static const struct timespec now = { 0, 0 };

	while (sigtimedwait(ours, NULL, &now) > 0)
		;
	pthread_sigmask(SIG_SETMASK, before, NULL);
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
	if (!o.stop)
		restore_signals(&ours, &before);
	serve_fini(&s);
	return err;
}

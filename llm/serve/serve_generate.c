/* SPDX-License-Identifier: MIT */
/* The generating thread, which called tenon_llm_serve(): it makes the replies of all requests in one batch. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <time.h>

#include "lib/clock.h"
#include "llm/serve/serve.h"

/* how often a thread that has nothing to generate looks whether it is to stop */
#define IDLE_MS 200

/* ---- callbacks of requests, without the lock */

static void finish_with_error(struct exchange *e, unsigned int status, const char *message)
{
	e->ended = true;
	if (e->state == EXCHANGE_STREAMING) {
		tenon_buffer_printf(&e->out, "data: ");
		serve_write_error(&e->out, status, message);
		tenon_buffer_printf(&e->out, "\n\n");
	} else {
		e->out.size = 0;
		e->status = status;
		serve_write_error(&e->out, status, message);
	}
	e->state = EXCHANGE_DONE;
	exchange_wake(e);
}

static void take_text(void *context, struct tenon_slice text, const int32_t *tokens, size_t count)
{
	struct exchange *e = context;

	if (!text.size)
		return;
	pthread_mutex_lock(&e->server->lock);
	if (e->state == EXCHANGE_STREAMING) {
		serve_write_part(&e->out, e, &text, NULL);
		exchange_wake(e);
	} else {
		tenon_buffer_slice(&e->text, text);
	}
	pthread_mutex_unlock(&e->server->lock);
}

static void finish(struct exchange *e, enum tenon_llm_end end, const struct tenon_llm_usage *usage)
{
	/* a reply without a part of its text would look whole */
	if (e->text.status) {
		finish_with_error(e, MHD_HTTP_SERVICE_UNAVAILABLE, "no memory for the reply");
		return;
	}
	e->ended = true;
	if (e->state == EXCHANGE_STREAMING) {
		serve_write_part(&e->out, e, NULL, serve_finish(end));
		if (e->request.stream_usage)
			serve_write_usage(&e->out, e, usage);
		tenon_buffer_printf(&e->out, "data: [DONE]\n\n");
	} else {
		e->status = MHD_HTTP_OK;
		serve_write_reply(&e->out, e, end, usage);
	}
	e->state = EXCHANGE_DONE;
	exchange_wake(e);
}

static void take_end(void *context, enum tenon_llm_end end, const char *message,
		     const struct tenon_llm_usage *usage)
{
	struct exchange *e = context;

	pthread_mutex_lock(&e->server->lock);
	if (end == TENON_LLM_ERROR)
		finish_with_error(e, MHD_HTTP_INTERNAL_SERVER_ERROR, message);
	else if (end == TENON_LLM_CANCELLED)
		finish_with_error(e, MHD_HTTP_SERVICE_UNAVAILABLE, "the server is stopping");
	else if (end == TENON_LLM_DEADLINE && !usage->tokens)
		finish_with_error(e, MHD_HTTP_GATEWAY_TIMEOUT,
				  "the request took longer than the server allows");
	else
		finish(e, end, usage);
	pthread_mutex_unlock(&e->server->lock);
}

/* ---- requests */

static int make_prompt(struct exchange *e, struct tenon_buffer *tokens)
{
	const struct serve_request *r = &e->request;

	if (r->chat)
		return tenon_llm_prompt(e->server->llm, r->messages, r->message_count, tokens);
	if (r->token_count)
		return tenon_buffer_append(tokens, r->tokens, r->token_count * sizeof(*r->tokens));
	return tenon_llm_encode(e->server->llm, r->prompt, 0, tokens);
}

static int submit(struct exchange *e)
{
	const struct tenon_llm_serve_options *o = e->server->options;
	const struct serve_request *r = &e->request;
	struct tenon_buffer tokens = TENON_BUFFER_INIT;
	struct tenon_llm_request request = {
		.size = sizeof(request),
		.most = r->most,
		.sampling = r->sampling,
		.stops = r->stops,
		.stop_count = r->stop_count,
		.deadline = o->deadline_ms ? clock_now() + o->deadline_ms * 1000000 : 0,
		.text = take_text,
		.end = take_end,
		.context = e,
	};
	int err = make_prompt(e, &tokens);

	if (o->tokens_most && (!request.most || request.most > o->tokens_most))
		request.most = o->tokens_most;
	request.prompt = (const int32_t *)(const void *)tokens.data;
	request.prompt_count = tokens.size / sizeof(int32_t);
	if (!err)
		err = tenon_llm_submit(e->server->llm, &request, &e->job);
	tenon_buffer_fini(&tokens);
	return err;
}

/* Begin a request. Its connection waits, so only this thread uses it. */
static void begin(struct exchange *e)
{
	int err = submit(e);

	pthread_mutex_lock(&e->server->lock);
	if (err) {
		finish_with_error(e,
				  err == -TENON_E_NOMEM ? MHD_HTTP_SERVICE_UNAVAILABLE
							: MHD_HTTP_BAD_REQUEST,
				  tenon_error_message());
		tenon_error_clear();
	} else {
		e->submitted = true;
		if (e->request.stream) {
			e->state = EXCHANGE_STREAMING;
			e->status = MHD_HTTP_OK;
			serve_write_part(&e->out, e, NULL, NULL);
			exchange_wake(e);
		}
	}
	pthread_mutex_unlock(&e->server->lock);
}

/*
 * Test whether the client of a connection that waits has gone. One that only ended its own side waits
 * for the reply; what it closed altogether is found out by keep-alive probes. Caller holds the lock.
 */
static bool has_gone(const struct exchange *e)
{
	const union MHD_ConnectionInfo *info;
	struct pollfd p = { .events = 0 };

	if (e->gone || !e->suspended)
		return e->gone;
	info = MHD_get_connection_info(e->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (!info)
		return false;
	p.fd = info->connect_fd;
	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR));
}

/* Cancel what no client waits for, and drop what has ended. */
static void look_after(struct server *s)
{
	struct exchange **at, *e;

	pthread_mutex_lock(&s->lock);
	connections_look_after(s);
	for (at = &s->exchanges; (e = *at);) {
		if (!e->ended && (s->stopping || has_gone(e)))
			tenon_llm_cancel(s->llm, e->job);
		if (!e->ended) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		s->count--;
		exchange_unref(e);
	}
	pthread_mutex_unlock(&s->lock);
}

/* Return: the time so many milliseconds from now, for pthread_cond_timedwait() */
static struct timespec in_ms(unsigned int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* Wait until there is something to do; take the requests that came. */
static struct exchange *wait_for_work(struct server *s, bool busy)
{
	const struct timespec until = in_ms(IDLE_MS);
	struct exchange *fresh;

	pthread_mutex_lock(&s->lock);
	if (!s->fresh && !busy && !s->stopping)
		pthread_cond_timedwait(&s->work, &s->lock, &until);
	fresh = s->fresh;
	s->fresh = NULL;
	pthread_mutex_unlock(&s->lock);
	return fresh;
}

void serve_signals(sigset_t *out)
{
	sigemptyset(out);
	sigaddset(out, SIGTERM);
	sigaddset(out, SIGINT);
}

static bool is_to_stop(const struct server *s)
{
	static const struct timespec now = { 0, 0 };
	sigset_t set;

	if (s->options->stop)
		return s->options->stop(s->options->context);
	serve_signals(&set);
	return sigtimedwait(&set, NULL, &now) > 0;
}

static void begin_all(struct server *s, struct exchange *fresh)
{
	struct exchange *e;

	while ((e = fresh)) {
		fresh = e->next;
		begin(e);
		pthread_mutex_lock(&s->lock);
		e->next = s->exchanges;
		s->exchanges = e;
		pthread_mutex_unlock(&s->lock);
	}
}

static bool is_over(struct server *s)
{
	bool over;

	pthread_mutex_lock(&s->lock);
	over = s->stopping && !s->exchanges && !s->fresh;
	pthread_mutex_unlock(&s->lock);
	return over;
}

void serve_init(struct server *s)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&s->work, &attributes);
	pthread_condattr_destroy(&attributes);
}

void serve_fini(struct server *s)
{
	pthread_cond_destroy(&s->work);
	pthread_mutex_destroy(&s->lock);
}

void serve_run(struct server *s)
{
	bool more = false, stopping = false;

	while (!is_over(s)) {
		begin_all(s, wait_for_work(s, more));
		look_after(s);
		more = tenon_llm_step(s->llm) > 0;
		look_after(s);
		if (!stopping && is_to_stop(s)) {
			stopping = true;
			pthread_mutex_lock(&s->lock);
			s->stopping = true;
			pthread_mutex_unlock(&s->lock);
		}
	}
}

void serve_finish_sending(struct server *s, unsigned int most_ms)
{
	const struct timespec until = in_ms(most_ms);

	pthread_mutex_lock(&s->lock);
	while (s->unsent && !pthread_cond_timedwait(&s->work, &s->lock, &until))
		;
	pthread_mutex_unlock(&s->lock);
}

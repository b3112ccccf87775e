/* SPDX-License-Identifier: MIT */
/* Messages of a connection, and their answers. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/cursor_fast.h"
#include "lib/json_quote.h"
#include "rpc/tracker/tracker_state.h"

/* the rest of a frame that has begun must arrive in this time */
#define FRAME_MS 10000
/* servers that a connection may put, and requests of it that may wait */
#define PUTS_MOST    1024
#define WAITING_MOST 1024
/* no further message is read while so much waits to be sent */
#define OUTPUT_PAUSE (64 << 10)

void tracker_peer_free(struct tracker_peer *c)
{
	close(c->source.fd);
	free(c->in);
	tenon_buffer_fini(&c->out);
	free(c->key);
	free(c->host);
	free(c->health);
	free(c);
}

/* ---- sending */

static size_t unsent(const struct tracker_peer *c)
{
	return c->out.size - c->out_start;
}

static void send_more(struct tracker *t, struct tracker_peer *c)
{
	ssize_t n;

	while (unsent(c)) {
		n = send(c->source.fd, c->out.data + c->out_start, unsent(c),
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n <= 0) {
			c->closing = true;
			return;
		}
		c->out_start += (size_t)n;
	}
	if (!unsent(c)) {
		/* the reply to SUMMARY may be large */
		if (c->out.room > OUTPUT_PAUSE)
			tenon_buffer_fini(&c->out);
		c->out.size = c->out_start = 0;
	}
	if (c->watches_output == !!unsent(c))
		return;
	c->watches_output = !c->watches_output;
	if (!tracker_watch(t, &c->source,
			   c->watches_output ? EPOLLIN | EPOLLRDHUP | EPOLLOUT
					     : EPOLLIN | EPOLLRDHUP,
			   true))
		c->closing = true;
}

static void add_frame(struct tracker_peer *c, const char *data, size_t size)
{
	tenon_buffer_u32(&c->out, (uint32_t)size);
	if (tenon_buffer_append(&c->out, data, size))
		c->closing = true;
}

void tracker_reply(struct tracker *t, struct tracker_peer *c, const char *data, size_t size)
{
	if (c->closing)
		return;
	add_frame(c, data, size);
	send_more(t, c);
}

static void reply_number(struct tracker_peer *c, int number)
{
	add_frame(c, number ? "-1" : "0", number ? 2 : 1);
}

/* ---- servers for clients */

static bool hand_out(struct tracker *t, struct tracker_peer *to,
		     const struct tracker_server *server)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	tenon_buffer_printf(&b, "[0, [");
	json_quote(&b, tenon_slice_of(server->host));
	tenon_buffer_printf(&b, ", %u, ", server->port);
	json_quote(&b, tenon_slice_of(server->match_key));
	tenon_buffer_printf(&b, "]]");
	if (b.status)
		to->closing = true;
	else
		tracker_reply(t, to, b.data, b.size);
	tenon_buffer_fini(&b);
	return !to->closing;
}

void tracker_serve(struct tracker *t, struct tracker_queue *q)
{
	struct tracker_request *request;
	struct tracker_server *server;

	while ((request = tracker_queue_match(q, &server))) {
		struct tracker_peer *to = request->owner;
		struct tracker_peer *from = server->owner;

		to->waiting--;
		if (!to->closing && hand_out(t, to, server)) {
			from->puts--;
			tracker_checks_forget(t, server);
			tracker_server_free(server);
		} else if (!tracker_queue_give_back(q, server)) {
			/* the server offers itself again when its match key is not listed */
			from->puts--;
			tracker_checks_forget(t, server);
			tracker_server_free(server);
		}
		tracker_request_free(request);
	}
}

void tracker_expire(struct tracker *t, uint64_t now)
{
	static const char text[] =
		"[-1, \"no server with this key became free in the time that this tracker lets "
		"clients wait (tenon rpc tracker --wait-timeout)\"]";
	unsigned int i, j;

	if (!t->options->wait_ms)
		return;
	for (i = 0; i < t->queues.count; i++) {
		struct tracker_queue *q = t->queues.queues[i];

		for (j = q->request_count; j-- > 0;) {
			struct tracker_peer *c = q->requests[j]->owner;

			if (now - q->requests[j]->since < t->options->wait_ms)
				continue;
			c->waiting--;
			tracker_queue_remove_request(q, j);
			tracker_reply(t, c, text, sizeof(text) - 1);
		}
	}
}

/* ---- messages */

static bool set_text(char **text, struct tenon_slice value)
{
	free(*text);
	*text = value.size ? strndup(value.data, value.size) : NULL;
	return *text || !value.size;
}

/* Each returns false when the connection must be closed. */
static bool put(struct tracker *t, struct tracker_peer *c, const struct tracker_message *m)
{
	struct tracker_queue *q = c->puts < PUTS_MOST ? tracker_queue_of(&t->queues, m->key) : NULL;
	struct tenon_slice host = m->host.size ? m->host : tenon_slice_of(c->address);
	struct tracker_server *server;

	if (!q)
		return false;
	server = tracker_queue_put(q, c, host, m->port, m->match_key);
	if (!server)
		return false;
	server->checked = clock_ms();
	server->own_address = !strcmp(server->host, c->address);
	c->puts++;
	set_text(&c->health, (struct tenon_slice){ 0 });
	reply_number(c, 0);
	tracker_serve(t, q);
	return true;
}

static bool request(struct tracker *t, struct tracker_peer *c, const struct tracker_message *m)
{
	struct tracker_queue *q =
		c->waiting < WAITING_MOST ? tracker_queue_of(&t->queues, m->key) : NULL;
	struct tracker_request *r;

	if (!q)
		return false;
	/* TVM's clients send no user: those of a machine share its turn */
	r = tracker_queue_request(q, c, m->user.size ? m->user : tenon_slice_of(c->address),
				  m->priority);
	if (!r)
		return false;
	r->since = clock_ms();
	c->waiting++;
	tracker_serve(t, q);
	return true;
}

static bool update(struct tracker *t, struct tracker_peer *c, const struct tracker_message *m)
{
	if (m->key.size && !set_text(&c->key, m->key))
		return false;
	if (!set_text(&c->host, m->host))
		return false;
	c->port = m->port;
	if (m->has_health) {
		if (!set_text(&c->health, m->health))
			return false;
		if (c->health)
			tracker_say(t, "%s at %s took itself out: %s", c->key ? c->key : "a server",
				    c->address, c->health);
	}
	reply_number(c, 0);
	return true;
}

static bool pending(struct tracker *t, struct tracker_peer *c)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	const char *between = "";
	unsigned int i, j;
	bool ok;

	tenon_buffer_printf(&b, "[");
	for (i = 0; c->puts && i < t->queues.count; i++) {
		const struct tracker_queue *q = t->queues.queues[i];

		for (j = 0; j < q->server_count; j++) {
			if (q->servers[j]->owner != c)
				continue;
			tenon_buffer_printf(&b, "%s", between);
			json_quote(&b, tenon_slice_of(q->servers[j]->match_key));
			between = ", ";
		}
	}
	tenon_buffer_printf(&b, "]");
	ok = !b.status;
	if (ok)
		add_frame(c, b.data, b.size);
	tenon_buffer_fini(&b);
	return ok;
}

static bool summary(struct tracker *t, struct tracker_peer *c)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	bool ok;

	tracker_summary(t, &b);
	ok = !b.status;
	if (ok)
		add_frame(c, b.data, b.size);
	tenon_buffer_fini(&b);
	return ok;
}

static bool answer(struct tracker *t, struct tracker_peer *c, const struct tracker_message *m)
{
	switch (m->code) {
	case TRACKER_PING:
		reply_number(c, 0);
		return true;
	case TRACKER_STOP:
		/* this tracker ends with a signal: no key stops it */
		reply_number(c, -1);
		return true;
	case TRACKER_PUT:
		return put(t, c, m);
	case TRACKER_REQUEST:
		return request(t, c, m);
	case TRACKER_UPDATE:
		return update(t, c, m);
	case TRACKER_SUMMARY:
		return summary(t, c);
	case TRACKER_PENDING:
		return pending(t, c);
	}
	return false;
}

static bool read_frame(struct tracker *t, struct tracker_peer *c, const char *data, size_t size)
{
	struct tracker_message m;
	bool ok;

	if (tracker_message_read((struct tenon_slice){ data, size }, &m)) {
		tracker_say(t, "%s: %s", c->address, tenon_error_message());
		tenon_error_clear();
		return false;
	}
	ok = answer(t, c, &m);
	tracker_message_fini(&m);
	return ok;
}

/* Read the frames in @c->in. Returns false when the connection must be closed. */
static bool read_frames(struct tracker *t, struct tracker_peer *c)
{
	size_t at = 0;

	while (c->in_size - at >= 4 && unsent(c) < OUTPUT_PAUSE) {
		uint32_t size = load_u32((const uint8_t *)c->in + at);

		if (!c->greeted) {
			if (size != TRACKER_MAGIC)
				return false;
			c->greeted = true;
			tenon_buffer_u32(&c->out, TRACKER_MAGIC);
			at += 4;
			continue;
		}
		if (!size || size > TRACKER_FRAME_MOST)
			return false;
		if (c->in_size - at - 4 < size)
			break;
		if (!read_frame(t, c, c->in + at + 4, size))
			return false;
		at += 4 + size;
	}
	if (at)
		memmove(c->in, c->in + at, c->in_size - at);
	c->in_size -= at;
	if (at)
		c->deadline = 0;
	if (c->in_size && !c->deadline)
		c->deadline = clock_ms() + FRAME_MS;
	return true;
}

static bool reserve_input(struct tracker_peer *c)
{
	size_t room = c->in_room ? 2 * c->in_room : 512;
	char *grown;

	if (c->in_size < c->in_room)
		return true;
	/* a whole frame, and the start of the next one */
	if (room > 4 * (size_t)TRACKER_FRAME_MOST)
		return false;
	grown = realloc(c->in, room);
	if (!grown)
		return false;
	c->in = grown;
	c->in_room = room;
	return true;
}

/* Returns false when the connection must be closed. */
static bool receive(struct tracker *t, struct tracker_peer *c)
{
	ssize_t n;

	if (!reserve_input(c))
		return false;
	n = recv(c->source.fd, c->in + c->in_size, c->in_room - c->in_size, 0);
	if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
		return true;
	if (n <= 0)
		return false;
	c->in_size += (size_t)n;
	return read_frames(t, c);
}

void tracker_peer_event(struct tracker *t, struct tracker_peer *c, uint32_t events)
{
	if (c->closing)
		return;
	if (events & EPOLLOUT) {
		send_more(t, c);
		if (!c->closing && !read_frames(t, c))
			c->closing = true;
	}
	/* what was sent before the end is read first: recv() reports the end */
	if (!c->closing && (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) &&
	    !receive(t, c))
		c->closing = true;
	if (!c->closing)
		send_more(t, c);
}

/* SPDX-License-Identifier: MIT */
/* The tracker: its sockets and its loop. One process with one thread, which never waits for a peer. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/array_room.h"
#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "rpc/tracker/tracker_state.h"
#include "rpc/wire/address.h"

/* the magic number must arrive in this time, and the rest of a frame that has begun */
#define FRAME_MS 10000

void tracker_say(struct tracker *t, const char *format, ...)
{
	char line[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (t->options->say)
		t->options->say(t->options->context, line);
}

bool tracker_watch(struct tracker *t, struct source *source, uint32_t events, bool again)
{
	struct epoll_event event = { .events = events, .data = { .ptr = source } };

	return !epoll_ctl(t->epoll, again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, source->fd, &event);
}

/* ---- connections */

static void set_options(int fd)
{
	int lost_ms = 60000;

	/* a machine that vanished is noticed after a minute */
	address_keep_alive(fd, 30, 3);
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &lost_ms, sizeof(lost_ms));
}

static bool add_connection(struct tracker *t, struct tracker_peer *c)
{
	if (!array_reserve(t->connections, t->connection_room, t->connection_count + 1) ||
	    !tracker_watch(t, &c->source, EPOLLIN | EPOLLRDHUP, false))
		return false;
	c->index = t->connection_count;
	t->connections[t->connection_count++] = c;
	return true;
}

static void accept_connection(struct tracker *t, int listener)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	int fd =
		accept4(listener, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct tracker_peer *c;

	if (fd < 0)
		return;
	c = t->connection_count < t->options->connections_most ? calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		close(fd);
		return;
	}
	c->source = (struct source){ SOURCE_CONNECTION, fd };
	c->deadline = clock_ms() + FRAME_MS;
	address_of_peer(&address, size, c->address, sizeof(c->address));
	set_options(fd);
	if (!add_connection(t, c))
		tracker_peer_free(c);
}

static void remove_connection(struct tracker *t, struct tracker_peer *c)
{
	unsigned int i = c->index;

	if (c->puts && c->key)
		tracker_say(t, "%s at %s is gone with %u free", c->key, c->address, c->puts);
	tracker_checks_forget_owner(t, c);
	tracker_queues_forget(&t->queues, c);
	t->connections[i] = t->connections[--t->connection_count];
	t->connections[i]->index = i;
	tracker_peer_free(c);
}

/* Close what a reply to others has marked, and what is too slow. */
static void sweep(struct tracker *t, uint64_t now)
{
	unsigned int i;

	for (i = t->connection_count; i-- > 0;) {
		struct tracker_peer *c = t->connections[i];

		if (c->closing || (c->deadline && now >= c->deadline))
			remove_connection(t, c);
	}
}

/* ---- the loop */

static bool handle(struct tracker *t, const struct epoll_event *event)
{
	struct source *source = event->data.ptr;

	switch (source->kind) {
	case SOURCE_SIGNALS:
		return false;
	case SOURCE_LISTENER:
		accept_connection(t, source->fd);
		break;
	case SOURCE_CONNECTION:
		tracker_peer_event(t, (struct tracker_peer *)source, event->events);
		break;
	case SOURCE_CHECK:
		tracker_check_event(t, (struct check *)source);
		break;
	}
	return true;
}

static int loop(struct tracker *t)
{
	struct epoll_event events[64];
	uint64_t next = 0, now;
	int n, i;

	for (;;) {
		n = epoll_wait(t->epoll, events, 64, 500);
		if (n < 0 && errno != EINTR)
			return tenon_error(-TENON_E_IO, "epoll_wait: %s", strerror(errno));
		for (i = 0; i < n; i++)
			if (!handle(t, &events[i]))
				return 0;
		now = clock_ms();
		/* connections are freed here only: an event above may be for one that was marked */
		sweep(t, now);
		if (now < next)
			continue;
		next = now + 250;
		tracker_expire(t, now);
		tracker_checks_start(t, now);
	}
}

/* ---- start and end */

static int open_signals(struct tracker *t)
{
	int err = stop_signals_open(&t->stop, false);

	if (err)
		return err;
	t->signals = (struct source){ SOURCE_SIGNALS, t->stop.fd };
	if (!tracker_watch(t, &t->signals, EPOLLIN, false))
		return tenon_error(-TENON_E_IO, "epoll_ctl: %s", strerror(errno));
	return 0;
}

static int open_listeners(struct tracker *t)
{
	const char *const *text;
	char bound[ADDRESS_TEXT];
	int err;

	if (!t->options->listen || !*t->options->listen)
		return tenon_error(-TENON_E_USAGE, "a tracker without an address has no clients");
	for (text = t->options->listen; *text; text++) {
		struct source *s = &t->listeners[t->listener_count];

		if (t->listener_count == TRACKER_LISTEN_MOST)
			return tenon_error(-TENON_E_VALUE, "more than %d addresses",
					   TRACKER_LISTEN_MOST);
		if (!strncmp(*text, "unix:", 5))
			return tenon_error(-TENON_E_VALUE,
					   "%s: servers and clients of a tracker use TCP", *text);
		s->kind = SOURCE_LISTENER;
		err = address_listen(*text, t->options->trust_network, &s->fd, bound);
		if (err)
			return err;
		t->listener_count++;
		if (!tracker_watch(t, s, EPOLLIN, false))
			return tenon_error(-TENON_E_IO, "epoll_ctl: %s", strerror(errno));
		tracker_say(t, "listening on %s", bound);
	}
	return 0;
}

static void close_tracker(struct tracker *t)
{
	tracker_checks_fini(t);
	while (t->connection_count)
		tracker_peer_free(t->connections[--t->connection_count]);
	free(t->connections);
	tracker_queues_fini(&t->queues);
	while (t->listener_count)
		close(t->listeners[--t->listener_count].fd);
	stop_signals_close(&t->stop);
	close(t->epoll);
}

void tenon_rpc_tracker_options_init(struct tenon_rpc_tracker_options *options, size_t size)
{
	const struct tenon_rpc_tracker_options o = {
		.size = size,
		.health_ms = 30 * 1000,
		.answer_ms = 10 * 1000,
		.connections_most = 16384,
	};

	memcpy(options, &o, size < sizeof(o) ? size : sizeof(o));
}

int tenon_rpc_track(const struct tenon_rpc_tracker_options *given)
{
	struct tenon_rpc_tracker_options o;
	struct tracker t = { .options = &o, .started = clock_ms() };
	int err;

	tenon_rpc_tracker_options_init(&o, sizeof(o));
	memcpy(&o, given, given->size < sizeof(o) ? given->size : sizeof(o));
	descriptors_allow_all();
	t.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (t.epoll < 0)
		return tenon_error(-TENON_E_IO, "epoll_create1: %s", strerror(errno));
	tracker_checks_init(&t);
	err = open_signals(&t);
	if (!err)
		err = open_listeners(&t);
	if (!err)
		err = loop(&t);
	close_tracker(&t);
	return err;
}

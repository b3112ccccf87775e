/* SPDX-License-Identifier: MIT */
/* Connections that send no whole request: there is a limit for their time, and for their number. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/clock.h"
#include "llm/serve/serve.h"

struct connection {
	struct connection *next;
	int fd;
	struct in6_addr address; /* of IPv4, in its mapped form */
	uint64_t since;		 /* when it began to wait for a request */
	enum connection_stage stage;
	const char *url_end;
	bool closed; /* shut down; the library will drop it */
};

/* A client that closed its connection does not answer the probes for long. */
static void probe(int fd)
{
	static const struct {
		int level, option, value;
	} options[] = {
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 10 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 10 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 6 },
	};
	size_t i;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		setsockopt(fd, options[i].level, options[i].option, &options[i].value,
			   sizeof(options[i].value));
}

static void take_address(struct connection *n, const struct sockaddr *from)
{
	const struct sockaddr_in *v4 = (const void *)from;
	const struct sockaddr_in6 *v6 = (const void *)from;

	memset(&n->address, 0, sizeof(n->address));
	if (from->sa_family == AF_INET6) {
		n->address = v6->sin6_addr;
	} else if (from->sa_family == AF_INET) {
		n->address.s6_addr[10] = n->address.s6_addr[11] = 0xff;
		memcpy(&n->address.s6_addr[12], &v4->sin_addr, 4);
	}
}

static void shut_down(struct connection *n)
{
	n->closed = true;
	shutdown(n->fd, SHUT_RDWR);
}

/* Test whether a connection has no whole request; of one address, if @of is given. */
static bool is_waiting(const struct connection *n, const struct connection *of)
{
	return !n->closed && n->stage != CONNECTION_WHOLE &&
	       (!of || !memcmp(&n->address, &of->address, sizeof(n->address)));
}

/* Close the connection that has waited longest, but not @fresh. */
static void close_eldest(struct server *s, const struct connection *fresh,
			 const struct connection *of)
{
	struct connection *n, *eldest = NULL;

	for (n = s->connections; n; n = n->next)
		if (n != fresh && is_waiting(n, of) && (!eldest || n->since < eldest->since))
			eldest = n;
	if (eldest)
		shut_down(eldest);
}

/* Make room: all addresses together have connections_most, and one has half of them for requests to come. */
static void limit(struct server *s, const struct connection *fresh)
{
	const unsigned int most = s->options->connections_most;
	const struct connection *n;
	unsigned int all = 0, of_address = 0;

	for (n = s->connections; n; n = n->next) {
		all += !n->closed;
		of_address += is_waiting(n, fresh);
	}
	if (all > most)
		close_eldest(s, fresh, NULL);
	else if (of_address > most / 2 + 1)
		close_eldest(s, fresh, fresh);
}

static void add(struct server *s, struct MHD_Connection *c, void **of_socket)
{
	const union MHD_ConnectionInfo *fd, *address;
	struct connection *n = calloc(1, sizeof(*n));

	*of_socket = n;
	/* such a connection has no limit but the library's */
	if (!n)
		return;
	fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	n->fd = fd ? fd->connect_fd : -1;
	address = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	if (address && address->client_addr)
		take_address(n, address->client_addr);
	probe(n->fd);
	pthread_mutex_lock(&s->lock);
	n->since = clock_now();
	n->next = s->connections;
	s->connections = n;
	limit(s, n);
	pthread_mutex_unlock(&s->lock);
}

static void drop(struct server *s, struct connection *n)
{
	struct connection **at;

	pthread_mutex_lock(&s->lock);
	for (at = &s->connections; *at && *at != n; at = &(*at)->next)
		;
	if (*at)
		*at = n->next;
	pthread_mutex_unlock(&s->lock);
	free(n);
}

void connection_notify(void *context, struct MHD_Connection *c, void **of_socket,
		       enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		add(context, c, of_socket);
	else
		drop(context, *of_socket);
}

static struct connection *find(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

void *connection_note_url(void *context, const char *url, struct MHD_Connection *c)
{
	struct connection *n = find(c);

	if (n)
		n->url_end = url + strlen(url);
	return NULL;
}

bool connection_url_is_cut(struct MHD_Connection *c, const char *version)
{
	const struct connection *n = find(c);

	/* The line is in one buffer, with a NUL in the place of the blank between path and version. */
	return n && version != n->url_end + 1;
}

void connection_note(struct MHD_Connection *c, enum connection_stage stage)
{
	struct connection *n = find(c);

	if (!n)
		return;
	n->stage = stage;
	if (stage == CONNECTION_HEADERS)
		n->since = clock_now();
}

void connections_look_after(struct server *s)
{
	const uint64_t now = clock_now();
	struct connection *n;

	for (n = s->connections; n; n = n->next)
		if (!n->closed && n->stage == CONNECTION_HEADERS &&
		    now - n->since > (uint64_t)SERVE_IDLE_S * 1000000000)
			shut_down(n);
}

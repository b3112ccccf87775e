/* SPDX-License-Identifier: MIT */
/* Connections: libmicrohttpd's thread calls these functions. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <time.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "llm/serve/serve.h"

/*
 * The protocol is taken as the standard has it: a Host in each request, no spaces before colons. Version 1.0 also
 * refuses a newline without a carriage return; 0.9.75 has no option for that (its get_next_header_line()).
 */
#if MHD_VERSION >= 0x00097601
#define SERVE_STRICT MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1
#else
#define SERVE_STRICT MHD_OPTION_STRICT_FOR_CLIENT, 1
#endif

/* ---- exchanges */

void exchange_wake(struct exchange *e)
{
	if (!e->suspended)
		return;
	e->suspended = false;
	MHD_resume_connection(e->connection);
}

void exchange_unref(struct exchange *e)
{
	if (--e->references)
		return;
	tenon_buffer_fini(&e->body);
	tenon_buffer_fini(&e->out);
	tenon_buffer_fini(&e->text);
	serve_request_fini(&e->request);
	free(e);
}

/* Wait for exchange_wake(). Caller holds the lock. */
static void suspend(struct exchange *e)
{
	e->suspended = true;
	MHD_suspend_connection(e->connection);
}

/* ---- replies */

/* @allow: methods of an address, for status 405; else NULL */
static enum MHD_Result send_allowing(struct MHD_Connection *c, unsigned int status,
				     const char *allow, struct tenon_buffer *body)
{
	struct MHD_Response *r;
	enum MHD_Result result;

	if (body->status)
		return MHD_NO;
	r = MHD_create_response_from_buffer(body->size, body->data, MHD_RESPMEM_MUST_COPY);
	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, "Content-Type", "application/json");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	if (status == MHD_HTTP_TOO_MANY_REQUESTS || status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(r, "Retry-After", "1");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(r, "WWW-Authenticate", "Bearer");
	if (allow)
		MHD_add_response_header(r, "Allow", allow);
	result = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return result;
}

static enum MHD_Result send_bytes(struct MHD_Connection *c, unsigned int status,
				  struct tenon_buffer *body)
{
	return send_allowing(c, status, NULL, body);
}

static enum MHD_Result send_error(struct MHD_Connection *c, unsigned int status,
				  const char *message)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	enum MHD_Result result;

	serve_write_error(&b, status, message);
	result = send_bytes(c, status, &b);
	tenon_buffer_fini(&b);
	return result;
}

static enum MHD_Result send_no_model(struct MHD_Connection *c)
{
	return send_error(c, MHD_HTTP_NOT_FOUND,
			  "there is no such model; /v1/models lists the one that is here");
}

static enum MHD_Result send_not_allowed(struct MHD_Connection *c, const char *allow)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	enum MHD_Result result;
	char text[64];

	snprintf(text, sizeof(text), "want %s", allow);
	serve_write_error(&b, MHD_HTTP_METHOD_NOT_ALLOWED, text);
	result = send_allowing(c, MHD_HTTP_METHOD_NOT_ALLOWED, allow, &b);
	tenon_buffer_fini(&b);
	return result;
}

/* Send what there is of a stream. */
static ssize_t read_stream(void *context, uint64_t at, char *to, size_t most)
{
	struct exchange *e = context;
	size_t n = 0;
	ssize_t result;

	pthread_mutex_lock(&e->server->lock);
	if (e->sent < e->out.size) {
		n = e->out.size - e->sent;
		if (n > most)
			n = most;
		memcpy(to, e->out.data + e->sent, n);
		e->sent += n;
		/* all that was sent is dropped, so a long stream needs little memory */
		if (e->sent == e->out.size)
			e->sent = e->out.size = 0;
		result = (ssize_t)n;
	} else if (e->out.status) {
		result = MHD_CONTENT_READER_END_WITH_ERROR;
	} else if (e->state == EXCHANGE_DONE) {
		result = MHD_CONTENT_READER_END_OF_STREAM;
	} else {
		suspend(e);
		result = 0;
	}
	pthread_mutex_unlock(&e->server->lock);
	return result;
}

static enum MHD_Result send_stream(struct exchange *e)
{
	struct MHD_Response *r =
		MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_stream, e, NULL);
	enum MHD_Result result;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, "Content-Type", "text/event-stream");
	MHD_add_response_header(r, "Cache-Control", "no-cache");
	result = MHD_queue_response(e->connection, MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	return result;
}

/* The reply of an exchange that waited. Its status stays, and so does what it sends if it is no stream. */
static enum MHD_Result send_reply(struct exchange *e)
{
	bool waits;

	pthread_mutex_lock(&e->server->lock);
	waits = e->state == EXCHANGE_WAITING;
	if (waits)
		suspend(e);
	pthread_mutex_unlock(&e->server->lock);
	if (waits)
		return MHD_YES;
	/* without our lock, since libmicrohttpd takes its own here, and holds that when it calls read_stream() */
	if (e->request.stream && e->status == MHD_HTTP_OK)
		return send_stream(e);
	return send_bytes(e->connection, e->status, &e->out);
}

/* ---- requests */

/* A page of another origin that a browser shows can name this address, but not this host. */
static bool is_for_this_host(const struct server *s, struct MHD_Connection *c)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
	const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
	size_t i, n;

	if (!s->loopback || !host)
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		n = strlen(names[i]);
		if (strncasecmp(host, names[i], n))
			continue;
		if (!host[n] ||
		    (host[n] == ':' && !host[n + 1 + strspn(host + n + 1, "0123456789")]))
			return true;
	}
	return false;
}

/* Compare in a time that does not depend on where the first difference is. */
static bool has_key(const struct server *s, struct MHD_Connection *c)
{
	const char *value = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
	const char *key = s->options->key;
	unsigned char difference = 0;
	size_t i, n;

	if (!key)
		return true;
	if (!value || strncasecmp(value, "Bearer ", 7))
		return false;
	value += 7;
	n = strlen(key);
	if (strlen(value) != n)
		return false;
	for (i = 0; i < n; i++)
		difference |= (unsigned char)(key[i] ^ value[i]);
	return !difference;
}

/* A page of another origin cannot send this type without asking, which is refused. */
static bool is_json(struct MHD_Connection *c)
{
	const char *type = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Type");

	return type && !strncasecmp(type, "application/json", 16) &&
	       (!type[16] || type[16] == ';' || type[16] == ' ');
}

/* what the headers of a request say about the rest of it */
struct headers {
	unsigned int host, length, encoding, type, key; /* how often they are there */
	bool chunked;
	bool folded; /* a name that the library made of several lines, or that is none */
};

/*
 * Test whether a name has more than a header's may have. libmicrohttpd 0.9 adds the second line of a
 * header to its name, so "Transfer-Encoding:" and " chunked" are a header "Transfer-Encodingchunked".
 */
static bool is_folded(const char *name)
{
	static const char *const framing[] = { "Content-Length", "Transfer-Encoding" };
	size_t i, n;

	for (i = 0; i < sizeof(framing) / sizeof(framing[0]); i++) {
		n = strlen(framing[i]);
		if (!strncasecmp(name, framing[i], n) && name[n])
			return true;
	}
	return strpbrk(name, " \t:") != NULL;
}

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name,
				    const char *value)
{
	struct headers *h = context;

	h->folded |= is_folded(name);
	h->host += !strcasecmp(name, "Host");
	h->length += !strcasecmp(name, "Content-Length");
	h->type += !strcasecmp(name, "Content-Type");
	h->key += !strcasecmp(name, "Authorization");
	if (!strcasecmp(name, "Transfer-Encoding")) {
		h->encoding++;
		h->chunked = value && !strcasecmp(value, "chunked");
	}
	return MHD_YES;
}

/* Test whether a path has control characters; "%00" became one (unescape()). */
static bool is_broken_path(struct MHD_Connection *c, const char *url, const char *version)
{
	const unsigned char *at = (const unsigned char *)url;

	while (*at >= ' ' && *at != 0x7f)
		at++;
	return *at || connection_url_is_cut(c, version);
}

/*
 * Two programs that read such headers in different ways would see different requests, so they are
 * refused; the library takes the first or the last one.
 */
static bool is_unambiguous(struct MHD_Connection *c)
{
	struct headers h = { 0 };

	MHD_get_connection_values(c, MHD_HEADER_KIND, count_header, &h);
	return !h.folded && h.host <= 1 && h.length <= 1 && h.type <= 1 && h.key <= 1 &&
	       h.encoding + h.length <= 1 && (!h.encoding || h.chunked);
}

/* A body that is announced as too large need not be received. */
static bool is_too_large(const struct server *s, struct MHD_Connection *c)
{
	const char *length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length");

	return length && strtoull(length, NULL, 10) > s->options->body_most;
}

/* Hand a request over to the generating thread. */
static enum MHD_Result enqueue(struct exchange *e)
{
	struct server *s = e->server;
	struct exchange **at;
	bool stopping;

	pthread_mutex_lock(&s->lock);
	stopping = s->stopping;
	if (s->count >= s->options->requests_most || stopping) {
		pthread_mutex_unlock(&s->lock);
		return stopping ? send_error(e->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
					     "the server is stopping")
				: send_error(e->connection, MHD_HTTP_TOO_MANY_REQUESTS,
					     "too many requests are waiting; try again later");
	}
	s->count++;
	e->references++;
	e->state = EXCHANGE_WAITING;
	e->number = ++s->numbers;
	e->created = (int64_t)time(NULL);
	for (at = &s->fresh; *at; at = &(*at)->next)
		;
	*at = e;
	pthread_cond_signal(&s->work);
	suspend(e);
	pthread_mutex_unlock(&s->lock);
	return MHD_YES;
}

/* The body is complete. */
static enum MHD_Result begin(struct exchange *e, bool chat)
{
	const struct tenon_llm_sampling sampling = tenon_llm_sampling(e->server->llm);
	const char *name = tenon_llm_info(e->server->llm)->name;
	struct tenon_slice body = { e->body.data ? e->body.data : "", e->body.size };
	enum MHD_Result result;
	int err;

	if (e->refused)
		return send_error(e->connection, e->refused, "the request is too large");
	if (e->body.status)
		return send_error(e->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				  "no memory for the request");
	err = serve_request_read(body, chat, &sampling, &e->request);
	if (err) {
		/* a client may try again later what is not its fault */
		result = send_error(e->connection,
				    err == -TENON_E_NOMEM ? MHD_HTTP_SERVICE_UNAVAILABLE
							  : MHD_HTTP_BAD_REQUEST,
				    tenon_error_message());
		tenon_error_clear();
		return result;
	}
	tenon_buffer_fini(&e->body);
	if (e->request.model.size && !tenon_slice_equal(e->request.model, tenon_slice_of(name)))
		return send_no_model(e->connection);
	return enqueue(e);
}

static struct exchange *make_exchange(struct server *s, struct MHD_Connection *c)
{
	struct exchange *e = calloc(1, sizeof(*e));

	if (e) {
		e->server = s;
		e->connection = c;
		e->references = 1;
		e->arrived = clock_now();
	}
	return e;
}

/* A client that sends a byte now and then would keep its connection for ever. */
static bool is_too_slow(const struct exchange *e)
{
	const uint64_t most = e->server->options->deadline_ms * 1000000;

	return most && clock_now() - e->arrived > most;
}

static void add_body(struct exchange *e, const char *data, size_t size)
{
	if (size > e->server->options->body_most - e->body.size) {
		e->refused = MHD_HTTP_CONTENT_TOO_LARGE;
		tenon_buffer_fini(&e->body);
	}
	if (!e->refused)
		tenon_buffer_append(&e->body, data, size);
}

/* The list of models, or the one behind a slash. */
static enum MHD_Result send_models(struct server *s, struct MHD_Connection *c, const char *method,
				   const char *rest)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	enum MHD_Result result;

	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return send_not_allowed(c, "GET, HEAD");
	if (*rest && strcmp(rest + 1, tenon_llm_info(s->llm)->name))
		return send_no_model(c);
	if (*rest)
		serve_write_model(&b, s);
	else
		serve_write_models(&b, s);
	result = send_bytes(c, MHD_HTTP_OK, &b);
	tenon_buffer_fini(&b);
	return result;
}

static enum MHD_Result check_request(struct server *s, struct MHD_Connection *c, const char *url,
				     const char *method, const char *version, bool *generates)
{
	const bool chat = !strcmp(url, "/v1/chat/completions");

	*generates = false;
	if (!is_unambiguous(c))
		return send_error(
			c, MHD_HTTP_BAD_REQUEST,
			"headers of the request are there twice, or contradict each other");
	if (is_broken_path(c, url, version))
		return send_error(c, MHD_HTTP_BAD_REQUEST, "the path has control characters");
	if (!is_for_this_host(s, c))
		return send_error(c, MHD_HTTP_FORBIDDEN, "the Host of the request is another one");
	if (!has_key(s, c))
		return send_error(c, MHD_HTTP_UNAUTHORIZED, "the key is missing or wrong");
	if (!strncmp(url, "/v1/models", 10) && (!url[10] || url[10] == '/'))
		return send_models(s, c, method, url + 10);
	if (!chat && strcmp(url, "/v1/completions"))
		return send_error(c, MHD_HTTP_NOT_FOUND,
				  "there are /v1/chat/completions, /v1/completions and /v1/models");
	if (strcmp(method, "POST"))
		return send_not_allowed(c, "POST");
	if (!is_json(c))
		return send_error(c, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
				  "want Content-Type: application/json");
	if (is_too_large(s, c))
		return send_error(c, MHD_HTTP_CONTENT_TOO_LARGE, "the request is too large");
	*generates = true;
	return MHD_YES;
}

static void note(struct server *s, struct MHD_Connection *c, enum connection_stage stage)
{
	pthread_mutex_lock(&s->lock);
	connection_note(c, stage);
	pthread_mutex_unlock(&s->lock);
}

/* Count the exchange as unsent, or no longer. A server that ends waits until no exchange is. */
static void set_unsent(struct exchange *e, bool whole)
{
	struct server *s = e->server;

	pthread_mutex_lock(&s->lock);
	s->unsent += whole;
	s->unsent -= e->whole;
	e->whole = whole;
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&s->lock);
}

/* The request is there: from here on it has a reply to come. */
static void note_whole(struct exchange *e, struct MHD_Connection *c)
{
	note(e->server, c, CONNECTION_WHOLE);
	set_unsent(e, true);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *data,
			      size_t *size, void **of_connection)
{
	struct server *s = context;
	struct exchange *e = *of_connection;
	enum MHD_Result result;
	bool generates;

	if (!e) {
		note(s, c, CONNECTION_BODY);
		e = make_exchange(s, c);
		if (!e)
			return MHD_NO;
		*of_connection = e;
		/* before the reply is queued, which another thread may send at once */
		set_unsent(e, true);
		result = check_request(s, c, url, method, version, &generates);
		if (generates)
			set_unsent(e, false); /* its body is still to come */
		return result;
	}
	if (*size) {
		if (is_too_slow(e))
			return MHD_NO;
		add_body(e, data, *size);
		*size = 0;
		return MHD_YES;
	}
	note_whole(e, c);
	if (e->state == EXCHANGE_READING)
		return begin(e, !strcmp(url, "/v1/chat/completions"));
	return send_reply(e);
}

/* The reply was sent, or the client has gone. */
static void completed(void *context, struct MHD_Connection *c, void **of_connection,
		      enum MHD_RequestTerminationCode code)
{
	struct server *s = context;
	struct exchange *e = *of_connection;

	note(s, c, CONNECTION_HEADERS);
	if (!e)
		return;
	pthread_mutex_lock(&s->lock);
	s->unsent -= e->whole;
	e->gone = true;
	e->suspended = false;
	pthread_cond_signal(&s->work);
	exchange_unref(e);
	pthread_mutex_unlock(&s->lock);
	*of_connection = NULL;
}

/* "%00" would end the path: make it another character that no path has. */
static size_t unescape(void *context, struct MHD_Connection *c, char *text)
{
	char *at = text;

	while ((at = strstr(at, "%00")))
		at[2] = '1';
	return MHD_http_unescape(text);
}

/* ---- listening */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int read_address(const struct tenon_llm_serve_options *o, union address *a, bool *loopback)
{
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, o->host, &a->v4.sin_addr) == 1) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = htons((uint16_t)o->port);
		*loopback = ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
		return 0;
	}
	if (inet_pton(AF_INET6, o->host, &a->v6.sin6_addr) == 1) {
		a->v6.sin6_family = AF_INET6;
		a->v6.sin6_port = htons((uint16_t)o->port);
		*loopback = IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
		return 0;
	}
	return tenon_error(-TENON_E_VALUE, "%s is no numeric address", o->host);
}

int serve_listen(struct server *s, char *out, size_t size)
{
	const struct tenon_llm_serve_options *o = s->options;
	const union MHD_DaemonInfo *port;
	unsigned int flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD |
			     MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
	union address a;
	int err = read_address(o, &a, &s->loopback);

	if (err)
		return err;
	if (a.any.sa_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	errno = 0;
	s->daemon = MHD_start_daemon(
		flags, (uint16_t)o->port, NULL, NULL, handle, s, MHD_OPTION_SOCK_ADDR, &a.any,
		MHD_OPTION_NOTIFY_COMPLETED, completed, s, MHD_OPTION_NOTIFY_CONNECTION,
		connection_notify, s, SERVE_STRICT, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL,
		MHD_OPTION_URI_LOG_CALLBACK, connection_note_url, NULL, MHD_OPTION_CONNECTION_LIMIT,
		/* one more, in whose place another one is closed */
		o->connections_most + 1, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)SERVE_IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768, MHD_OPTION_END);
	if (!s->daemon)
		return tenon_error(-TENON_E_IO, "cannot listen on %s port %u: %s", o->host, o->port,
				   errno ? strerror(errno) : "libmicrohttpd refused");
	port = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
	snprintf(out, size, a.any.sa_family == AF_INET6 ? "http://[%s]:%u" : "http://%s:%u",
		 o->host, port ? (unsigned int)port->port : o->port);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* The server of language models: its threads, connections and exchanges. */
#ifndef LLM_SERVE_SERVE_H
#define LLM_SERVE_SERVE_H

/*
 * Two threads: libmicrohttpd's reads and writes connections; the one that called tenon_llm_serve()
 * generates. An exchange is a request with its reply; both threads have a reference to it. While nothing
 * can be sent, its connection is suspended.
 */

#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <tenon/serve.h>

#include "llm/serve/serve_request.h"

struct server {
	const struct tenon_llm_serve_options *options;
	struct tenon_llm *llm;
	struct MHD_Daemon *daemon;
	bool loopback;
	pthread_mutex_t lock;
	pthread_cond_t work; /* a request came, or a client has gone */
	struct exchange
		*exchanges; /* from request to end of reply; owned by the generating thread */
	struct connection *connections; /* all, the newest first */
	struct exchange *fresh;		/* not seen by the generating thread yet */
	size_t count;			/* of both lists */
	size_t unsent;			/* exchanges that are whole, and whose reply is not sent */
	uint64_t numbers;
	bool stopping;
};

enum exchange_state {
	EXCHANGE_READING, /* the body */
	EXCHANGE_WAITING, /* for the generating thread */
	EXCHANGE_STREAMING,
	EXCHANGE_DONE, /* all that is sent is in @out */
};

/**
 * struct exchange - a request and its reply. The lock of the server protects it once it waits.
 * @arrived: when its headers were there, by clock_now()
 * @body: what was received
 * @refused: status of a request that is refused before its body was read; 0 for none
 * @status: HTTP status of the reply, once it is known
 * @out: the reply, or what is left of a stream
 * @sent: bytes of @out that were sent
 * @suspended: the connection waits for exchange_wake()
 * @whole: the reply waits for nothing more of the request; counted in @unsent of the server
 * @gone: the client has gone, or the reply was sent
 * @references: 2 while both threads have it
 */
struct exchange {
	struct exchange *next;
	struct server *server;
	struct MHD_Connection *connection;
	uint64_t arrived;
	struct tenon_buffer body;
	unsigned int refused;
	struct serve_request request;
	enum exchange_state state;
	unsigned int status;
	struct tenon_buffer out;
	size_t sent;
	bool suspended;
	bool whole;
	bool gone;
	int references;
	uint64_t number;
	uint64_t job;
	int64_t created;
	bool submitted, ended;
	struct tenon_buffer text; /* of a reply that is not streamed */
};

/* how far the request of a connection has come */
enum connection_stage {
	CONNECTION_HEADERS, /* its headers are not complete */
	CONNECTION_BODY,
	CONNECTION_WHOLE,
};

/* ---- serve_connections.c */

/* for MHD_OPTION_NOTIFY_CONNECTION; the context is the server */
void connection_notify(void *context, struct MHD_Connection *c, void **of_socket,
		       enum MHD_ConnectionNotificationCode code);

/* Note how far the request has come. Caller holds the lock. */
void connection_note(struct MHD_Connection *c, enum connection_stage stage);

/* for MHD_OPTION_URI_LOG_CALLBACK */
void *connection_note_url(void *context, const char *url, struct MHD_Connection *c);

/* Test whether libmicrohttpd took a NUL for the end of the path; @version is what it found behind the path. */
bool connection_url_is_cut(struct MHD_Connection *c, const char *version);

/* Close connections whose headers take too long. Caller holds the lock. */
void connections_look_after(struct server *s);

/* ---- serve_http.c */

/* seconds for a client to send the headers of a request, and to send or take something else */
#define SERVE_IDLE_S 30

/* Start to listen; a status. @out receives the text of the address. */
int serve_listen(struct server *s, char *out, size_t size);

/* Let the connection go on. Caller holds the lock. */
void exchange_wake(struct exchange *e);

/* Drop a reference. Caller holds the lock. */
void exchange_unref(struct exchange *e);

/* ---- serve_generate.c */

/* Make the lock of a server, whose other members are set. */
void serve_init(struct server *s);
void serve_fini(struct server *s);

/* SIGTERM and SIGINT */
void serve_signals(sigset_t *out);

/* Answer requests until options->stop() says so; without it, until a signal of serve_signals(), which the thread blocks. */
void serve_run(struct server *s);

/* how long a server that ends waits until its replies are sent */
#define SERVE_SENDING_MS 5000

/* Wait until the reply of each whole request is sent, but not longer than @most_ms. */
void serve_finish_sending(struct server *s, unsigned int most_ms);

/* ---- serve_json.c */

/* The body of an error. */
void serve_write_error(struct tenon_buffer *out, unsigned int status, const char *message);

/* A whole reply. */
void serve_write_reply(struct tenon_buffer *out, const struct exchange *e, enum tenon_llm_end end,
		       const struct tenon_llm_usage *usage);

/* A part of a stream: the first (@text is NULL), text, or the end (@finish). */
void serve_write_part(struct tenon_buffer *out, const struct exchange *e,
		      const struct tenon_slice *text, const char *finish);

/* The last part of a stream, with what it took. */
void serve_write_usage(struct tenon_buffer *out, const struct exchange *e,
		       const struct tenon_llm_usage *usage);

/* The model; and the list of models, which has one. */
void serve_write_model(struct tenon_buffer *out, const struct server *s);
void serve_write_models(struct tenon_buffer *out, const struct server *s);

/* "stop" or "length" */
const char *serve_finish(enum tenon_llm_end end);

#endif /* LLM_SERVE_SERVE_H */

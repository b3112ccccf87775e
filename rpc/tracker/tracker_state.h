/* SPDX-License-Identifier: MIT */
/* What the files that make the tracker share. */
#ifndef RPC_TRACKER_TRACKER_STATE_H
#define RPC_TRACKER_TRACKER_STATE_H

#include <tenon/buffer.h>
#include <tenon/rpc.h>

#include "rpc/tracker/tracker_message.h"
#include "rpc/tracker/tracker_queue.h"
#include "rpc/wire/stop_signals.h"

#define TRACKER_LISTEN_MOST 8
/* checks of servers at a time */
#define TRACKER_CHECKS_MOST 64

/** enum source_kind - what an event of epoll is for */
enum source_kind { SOURCE_LISTENER, SOURCE_SIGNALS, SOURCE_CONNECTION, SOURCE_CHECK };

/** struct source - begins each struct that epoll knows */
struct source {
	enum source_kind kind;
	int fd;
};

/**
 * struct tracker_peer - a server or client of the tracker
 * @source: its socket
 * @index: its place in the tracker's list
 * @greeted: the magic number was exchanged
 * @closing: to be closed when the current event is done
 * @deadline: when an unfinished magic number or frame is too late; 0 for none
 * @in: bytes of an unfinished frame
 * @in_size: number of them
 * @in_room: bytes allocated
 * @out: bytes that the socket did not accept yet
 * @out_start: bytes of @out that were sent
 * @watches_output: epoll waits for room in the socket
 * @address: numeric address of the peer
 * @puts: servers of this connection in the queues
 * @waiting: requests of this connection in the queues
 * @key: what UPDATE_INFO said; NULL before
 * @host: the same; NULL for @address
 * @port: the same
 * @health: why the server does not offer itself; NULL for a healthy one
 */
struct tracker_peer {
	struct source source;
	unsigned int index;
	bool greeted;
	bool closing;
	uint64_t deadline;
	char *in;
	size_t in_size;
	size_t in_room;
	struct tenon_buffer out;
	size_t out_start;
	bool watches_output;
	char address[64];
	unsigned int puts;
	unsigned int waiting;
	char *key;
	char *host;
	uint16_t port;
	char *health;
};

/**
 * struct check - a check whether a server answers
 * @source: the socket; fd -1 for an unused one
 * @server: the server; NULL when it was handed out or left meanwhile
 * @queue: its queue
 * @deadline: when it fails
 * @sent: the handshake was sent
 * @got: bytes of the answer
 * @answer: the answer
 */
struct check {
	struct source source;
	struct tracker_server *server;
	struct tracker_queue *queue;
	uint64_t deadline;
	bool sent;
	unsigned int got;
	uint8_t answer[4];
};

/**
 * struct tracker - the tracker
 * @options: what to do
 * @epoll: waits for all sources
 * @listeners: sockets
 * @listener_count: number of them
 * @stop: signals that end it
 * @signals: their descriptor
 * @connections: all connections
 * @connection_count: number of them
 * @connection_room: number allocated
 * @queues: servers and clients
 * @checks: checks of servers
 * @started: when the tracker started
 */
struct tracker {
	const struct tenon_rpc_tracker_options *options;
	int epoll;
	struct source listeners[TRACKER_LISTEN_MOST];
	unsigned int listener_count;
	struct stop_signals stop;
	struct source signals;
	struct tracker_peer **connections;
	unsigned int connection_count;
	unsigned int connection_room;
	struct tracker_queues queues;
	struct check checks[TRACKER_CHECKS_MOST];
	uint64_t started;
};

/** tracker_say - report a line */
void tracker_say(struct tracker *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** tracker_watch - let epoll report events of a source; false on failure */
bool tracker_watch(struct tracker *t, struct source *source, uint32_t events, bool again);

/** tracker_peer_event - read and answer messages of a connection, and send what waits */
void tracker_peer_event(struct tracker *t, struct tracker_peer *c, uint32_t events);

/** tracker_peer_free - close and free it; its servers and requests leave the queues */
void tracker_peer_free(struct tracker_peer *c);

/** tracker_reply - add a frame to what is sent to a connection, and send it */
void tracker_reply(struct tracker *t, struct tracker_peer *c, const char *data, size_t size);

/** tracker_serve - hand out servers of a queue while clients wait */
void tracker_serve(struct tracker *t, struct tracker_queue *q);

/** tracker_expire - send an error to clients that waited too long */
void tracker_expire(struct tracker *t, uint64_t now);

/** tracker_summary - write the reply to SUMMARY */
void tracker_summary(struct tracker *t, struct tenon_buffer *out);

/* checks of free servers */
void tracker_checks_init(struct tracker *t);
void tracker_checks_fini(struct tracker *t);
void tracker_checks_start(struct tracker *t, uint64_t now);
void tracker_check_event(struct tracker *t, struct check *c);
/** tracker_checks_forget - the server leaves the queues: its check must not use it any more */
void tracker_checks_forget(struct tracker *t, const struct tracker_server *server);
/** tracker_checks_forget_owner - the same for all servers of a connection */
void tracker_checks_forget_owner(struct tracker *t, const void *owner);

#endif /* RPC_TRACKER_TRACKER_STATE_H */

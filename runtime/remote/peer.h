/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_REMOTE_PEER_H
#define RUNTIME_REMOTE_PEER_H

/* a connection of the server: its handshake, then its session's process */

#include <limits.h>
#include <sys/types.h>

#include "runtime/remote/handshake.h"
#include "runtime/remote/server.h"

struct server;

/** enum peer_state - what a connection waits for */
enum peer_state {
	PEER_HANDSHAKE, /* the client's key */
	PEER_WAITING,	/* a free session */
	PEER_SESSION,	/* the end of its session */
};

/**
 * struct peer - a connection
 * @fd: the socket; non-blocking until the session starts
 * @state: enum peer_state
 * @serial: connections are numbered in the order in which they came
 * @deadline: end of the handshake or the session, in milliseconds of CLOCK_MONOTONIC; 0 for none
 * @limit_ms: length of the session; 0 for no limit
 * @gone: when the client closed the connection while its session worked; 0 for not yet
 * @pid: process of the session, and its process group
 * @watch: memory shared with it
 * @folder: its folder
 * @handshake: freed when it is done
 * @reason: why the session was killed; a message for the client when @tell; "" while it runs
 * @tell: send @reason
 */
struct peer {
	int fd;
	enum peer_state state;
	uint64_t serial;
	uint64_t deadline;
	uint64_t limit_ms;
	uint64_t gone;
	pid_t pid;
	struct session_watch *watch;
	char *folder;
	struct handshake *handshake;
	char reason[200];
	bool tell;
};

/** peer_start - start the session of a peer that waits; false when the peer must be closed */
bool peer_start(struct server *s, struct peer *p);

/** peer_kill - kill a session for @p->reason; peer_reap() follows when the process has ended */
void peer_kill(struct peer *p);

/** peer_reap - the process of a session ended: kill its group, tell the client, remove the folder */
void peer_reap(struct server *s, struct peer *p);

/** now_ms - milliseconds of CLOCK_MONOTONIC */
uint64_t now_ms(void);

#endif /* RUNTIME_REMOTE_PEER_H */

/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_REMOTE_SERVER_STATE_H
#define RUNTIME_REMOTE_SERVER_STATE_H

/* what the files that make the server share */

#include <poll.h>

#include "runtime/remote/folder.h"
#include "runtime/remote/peer.h"

/* connections in a handshake or waiting for a session */
#define WAITING_MOST 256
#define LISTEN_MOST  8

/**
 * struct server - the server
 * @options: what to do
 * @folder: folder of the sessions' folders
 * @listeners: sockets
 * @listener_count: number of them
 * @signals: signalfd
 * @peers: connections
 * @peer_count: number of them
 * @peer_room: number of peers allocated
 * @sessions: number of peers in PEER_SESSION
 * @serial: number of connections so far
 * @missing: parts of the sandbox that the kernel lacks
 * @polled: one for each listener, @signals, and each peer
 */
struct server {
	const struct server_options *options;
	struct server_folder folder;
	int listeners[LISTEN_MOST];
	unsigned int listener_count;
	int signals;
	struct peer *peers;
	unsigned int peer_count;
	unsigned int peer_room;
	unsigned int sessions;
	uint64_t serial;
	unsigned int missing;
	struct pollfd *polled;
};

/** server_say - report a line of text */
void server_say(struct server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** server_forget - in a child: close the server's descriptors but @keep, and drop its shared memory */
void server_forget(struct server *s, int keep);

#endif /* RUNTIME_REMOTE_SERVER_STATE_H */

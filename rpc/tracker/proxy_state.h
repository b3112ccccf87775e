/* SPDX-License-Identifier: MIT */
/* What the parts of the proxy share. */
#ifndef RPC_TRACKER_PROXY_STATE_H
#define RPC_TRACKER_PROXY_STATE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <tenon/rpc.h>
#include <tenon/string.h>

#include "rpc/wire/handshake.h"
#include "rpc/wire/registration.h"
#include "rpc/wire/stop_signals.h"

#define PROXY_LISTEN_MOST 8
/* "client:" and "server:" */
#define PROXY_ROLE_SIZE 7

/* bytes from a peer to its partner */
struct flow {
	size_t start;
	size_t size;
	bool ended; /* nothing more comes */
	char bytes[64 << 10];
};

/**
 * struct proxied - a connection
 * @fd: the socket
 * @index: its place in the list
 * @slot: that of the tracker's offer; -1 for none
 * @is_server: which side it is
 * @closing: to be closed when the events are done
 * @ready: the handshake is complete
 * @deadline: end of its handshake, or of its wait
 * @handshake: the key; NULL when it is joined with a partner
 * @partner: the other side
 * @flow: to the partner
 */
struct proxied {
	int fd;
	unsigned int index;
	int slot;
	bool is_server;
	bool closing;
	bool ready;
	uint64_t deadline;
	struct handshake *handshake;
	struct proxied *partner;
	struct flow *flow;
};

/**
 * struct proxy - the proxy
 * @options: what it does
 * @signals: those that end it
 * @listeners: listening sockets
 * @listener_count: number of them
 * @peers: connections
 * @peer_count: number of them
 * @polled: room for poll()
 * @registered: there is a tracker
 * @renamed: the keys of the servers that wait may have changed
 * @rename_at: earliest time of the next report to the tracker, in milliseconds of CLOCK_MONOTONIC
 * @registration: at the tracker; a slot is a server that waits
 * @offered: the server of each slot; NULL for none
 * @name: key in the list of servers that the tracker gets: "proxy[KEY,KEY]"
 */
struct proxy {
	const struct tenon_rpc_proxy_options *options;
	struct stop_signals signals;
	int listeners[PROXY_LISTEN_MOST];
	unsigned int listener_count;
	struct proxied **peers;
	unsigned int peer_count;
	struct pollfd *polled;
	bool registered;
	bool renamed;
	uint64_t rename_at;
	struct registration registration;
	struct proxied *offered[REGISTRATION_SLOTS_MOST];
	char name[900];
};

/** proxied_key - the key of a peer that is not joined, without its role and options */
struct tenon_slice proxied_key(const struct proxied *c);

/* the tracker, in proxy_tracker.c; without one, these do nothing */

/** proxy_tracker_open - begin to register; 0; -TENON_E_VALUE; -TENON_E_NOMEM; -TENON_E_IO */
int proxy_tracker_open(struct proxy *p);
void proxy_tracker_close(struct proxy *p);

/** proxy_tracker_add - offer a server; false when no tracker would take its key, or too many wait */
bool proxy_tracker_add(struct proxy *p, struct proxied *server);

/** proxy_tracker_take - the server that a client's match key is for; NULL for none */
struct proxied *proxy_tracker_take(struct proxy *p, const struct proxied *client);

/** proxy_tracker_forget - a peer leaves */
void proxy_tracker_forget(struct proxy *p, struct proxied *c);

/* for the loop: what to poll, the shorter time to wait (ms, -1 for no limit), and what to do then */
struct pollfd proxy_tracker_polled(const struct proxy *p);
int proxy_tracker_timeout(const struct proxy *p, int timeout);
void proxy_tracker_step(struct proxy *p, short events);

#endif /* RPC_TRACKER_PROXY_STATE_H */

/* SPDX-License-Identifier: MIT */
/* What the files that make the server share. */
#ifndef RPC_SERVER_SERVER_STATE_H
#define RPC_SERVER_SERVER_STATE_H

#include <poll.h>

#include "rpc/server/file_cache.h"
#include "rpc/server/folder.h"
#include "rpc/server/peer.h"
#include "rpc/server/session_cgroup.h"
#include "rpc/wire/registration.h"
#include "rpc/wire/stop_signals.h"

/* connections that wait for a session */
#define WAITING_MOST 256
/* connections that have not shown that they may have one */
#define UNPROVEN_MOST 128
/* of these, connections with a relay, which is a process */
#define UNPROVEN_RELAYS_MOST 16
#define LISTEN_MOST	     8
/* sessions that have ended and whose files wait to be copied to the cache */
#define LEFT_MOST 4
/* system calls that --sandbox-learn reports */
#define LEARNED_MOST 512

/**
 * struct listener - a listening socket
 * @fd: the socket
 * @path: address whose socket file is removed at the end; NULL for none
 * @local: only this machine can reach it
 */
struct listener {
	int fd;
	const char *path;
	bool local;
};

/**
 * struct left - what a session that has ended leaves for the cache
 * @folder: its folder; freed when it is copied
 * @mounted: as in struct peer
 * @builds: as in struct peer
 */
struct left {
	char *folder;
	int mounted;
	char *builds;
};

/**
 * struct server - the server
 * @options: what to do
 * @secret: what clients must prove to know; a size of 0 for none
 * @tls: speak TLS on TCP; NULL for plain bytes
 * @allowed: who may connect to Unix sockets besides this user and root
 * @folder: folder of the sessions' folders
 * @cgroup: in which each session has a cgroup; without a path where it has none
 * @cache: files of earlier sessions
 * @kernels: the kernels of files in the cache are built (kernel_store.h)
 * @unbuilt: the cache may have files whose kernels were not
 * @last_built: of these, the last that was chosen; "" after the cache has changed
 * @keeper: process that copies files of a session that has ended to the cache; 0 for none
 * @left: what it copies next, and what was built, for which there is always room
 * @left_count: number of them
 * @listeners: sockets
 * @listener_count: number of them
 * @signals: those that end it, and of its children
 * @alive: a pipe that is open for writing while the server lives; its first end is for sessions
 * @peers: connections
 * @peer_count: number of them
 * @peer_room: number of peers allocated
 * @sessions: number of peers in PEER_SESSION
 * @serial: number of connections so far
 * @missing: parts of the sandbox that the kernel lacks
 * @learned: system calls that were reported (peer_learn.c), with the argument that says what they are for
 * @learned_count: number of them
 * @sweeps: what a session left outside its process group is looked for
 * @registration: at the tracker; used when @registered
 * @proxy: addresses of the proxy
 * @proxy_next: which of them to try next
 * @proxy_at: when the proxy may be tried again, in milliseconds of CLOCK_MONOTONIC
 * @proxy_reported: a failure of the proxy was reported
 * @relay: process that copies standard input and output; 0 for none
 * @polled: one for each listener, @signals, the tracker, and three for each peer: its socket, its limits and its output
 */
struct server {
	struct tenon_rpc_server_options options;
	struct auth_secret secret;
	struct tls_server *tls;
	struct unix_peers allowed;
	struct server_folder folder;
	struct server_cgroup cgroup;
	struct file_cache cache;
	bool kernels;
	bool unbuilt;
	char last_built[SHA256_TEXT];
	pid_t keeper;
	struct left left[LEFT_MOST + 1];
	unsigned int left_count;
	struct listener listeners[LISTEN_MOST];
	unsigned int listener_count;
	struct stop_signals signals;
	int alive[2];
	struct peer *peers;
	unsigned int peer_count;
	unsigned int peer_room;
	unsigned int sessions;
	uint64_t serial;
	unsigned int missing;
	uint64_t learned[LEARNED_MOST];
	unsigned int learned_count;
	bool sweeps;
	bool registered;
	struct registration registration;
	struct dial_target proxy;
	unsigned int proxy_next;
	uint64_t proxy_at;
	bool proxy_reported;
	pid_t relay;
	struct pollfd *polled;
};

/**
 * server_options_open - take what the server was asked for, and read what it names
 *
 * Return: 0; -TENON_E_USAGE; -TENON_E_VALUE; -TENON_E_IO; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM. server_options_close() in each case.
 */
int server_options_open(struct server *s, const struct tenon_rpc_server_options *given);

/** server_options_close - forget the secrets; also in a child that runs uploaded code, which must not find them */
void server_options_close(struct server *s);

/** server_say - report a line of text */
void server_say(struct server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** server_forget - in a child: drop the memory that is shared with sessions, but that of the peer with socket @own */
void server_forget(struct server *s, int own);

/**
 * server_add_peer - add a connection; its socket is closed on failure
 * @ms: it must reach the next state in this time
 */
bool server_add_peer(struct server *s, struct peer *p, uint64_t ms);

/**
 * server_start_relay - put a relay between a client and @p->fd, and note when bytes pass it
 * @tls: speak TLS with the client; NULL for plain bytes
 */
bool server_start_relay(struct server *s, struct peer *p, struct relay_ends ends,
			const struct tls_server *tls);

/** server_first_state - what a connection waits for at first */
enum peer_state server_first_state(const struct server *s, int fd);

/** server_sweep - kill what sessions that have ended left outside their process groups */
void server_sweep(const struct server *s);

/* ---- server_keeper.c */

/** server_keep_files - take the folder of a session that has ended, to keep its files; false when there is nothing to keep */
bool server_keep_files(struct server *s, struct peer *p);

/**
 * server_keeping - what sessions may wait for (struct session_watch, @keeping)
 *
 * KEEPING while files of a session are being kept, or a session is ending that may have some.
 */
uint64_t server_keeping(const struct server *s);

/** server_tell_keeping - tell sessions whether to wait for files and kernels */
void server_tell_keeping(struct server *s);

/** server_keeper_ended - the process that copied files to the cache has ended */
void server_keeper_ended(struct server *s);

/** server_close_keeper - end it; what it would keep is removed with the server's folder */
void server_close_keeper(struct server *s);

/* ---- server_builder.c */

/** server_builder_init - after the sandbox was tried: decide whether kernels are built */
void server_builder_init(struct server *s);

/** server_builder_wanted - the cache has changed */
void server_builder_wanted(struct server *s);

/** server_builder_step - build the kernels of a file, if there is one, while no session has loaded a module */
void server_builder_step(struct server *s);

/** server_building - kernel_store_number() of the file whose kernels are built; 0 for none */
uint64_t server_building(const struct server *s);

/** server_builder_deadline - when to call server_builder_step(); 0 for no limit */
uint64_t server_builder_deadline(const struct server *s);

/* ---- connections until their sessions start */

/** server_remove_peer - close and forget a connection */
void server_remove_peer(struct server *s, unsigned int i);

/** server_release_session - release what the session of a connection had; the connection stays */
void server_release_session(struct server *s, struct peer *p);

/** server_accept - accept a connection of a listener */
void server_accept(struct server *s, const struct listener *listener);

/** server_admit - go on with a connection that has no session; false when it must be closed */
bool server_admit(struct server *s, struct peer *p, short events);

/** server_listen - open the listening sockets, or take those that a service manager or inetd passed */
int server_listen(struct server *s);

/** server_keep_messages_out - when the client is standard error too, discard messages */
void server_keep_messages_out(void);

/** server_unlisten - close them */
void server_unlisten(struct server *s);

/* the proxy; server_proxy_dialled() returns false when the connection must be closed */
void server_proxy_dial(struct server *s);
bool server_proxy_dialled(struct server *s, struct peer *p);
void server_proxy_refused(struct server *s, const struct handshake *h);

/** server_proxy_deadline - when to dial the proxy again; 0 while a connection to it waits */
uint64_t server_proxy_deadline(const struct server *s);

/**
 * server_proxy_takes - check the key of a client that the proxy sent
 *
 * A proxy with a tracker appends ':' and the random part of the match key to the server's key.
 */
bool server_proxy_takes(const struct server *s, const char *key);

#endif /* RPC_SERVER_SERVER_STATE_H */

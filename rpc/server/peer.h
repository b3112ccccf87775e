/* SPDX-License-Identifier: MIT */
/* A connection of the server: its handshake, then its session's process. */
#ifndef RPC_SERVER_PEER_H
#define RPC_SERVER_PEER_H

#include <limits.h>
#include <sys/types.h>
#include <tenon/rpc.h>

#include "rpc/server/relay.h"
#include "rpc/server/session.h"
#include "rpc/server/unix_peer.h"
#include "rpc/wire/auth.h"
#include "rpc/wire/handshake.h"
#include "rpc/wire/tls.h"
#include "rpc/wire/wire.h"

struct notification;
struct notification_answer;
struct server;

/** enum peer_state - what a connection waits for */
enum peer_state {
	PEER_DIALING,	/* the connection to a proxy */
	PEER_PROXIED,	/* the key of a client, by a proxy */
	PEER_ACCEPTED,	/* the first byte, which starts its relay */
	PEER_HANDSHAKE, /* the client's key */
	PEER_PROOF,	/* the client's proof of the secret */
	PEER_WAITING,	/* a free session */
	PEER_SESSION,	/* the end of its session */
	PEER_ENDED,	/* a request, which is answered with the reason of that end */
};

/**
 * struct peer_proof - a proof of the shared secret while it is made
 * @client: the client's nonce
 * @server: ours
 * @size: bytes of the client's proof that came
 * @bytes: the proof
 * @key: the key that both sign
 */
struct peer_proof {
	uint8_t client[AUTH_NONCE];
	uint8_t server[AUTH_NONCE];
	size_t size;
	uint8_t bytes[AUTH_PROOF];
	char key[HANDSHAKE_KEY_MOST + 1];
};

/**
 * struct peer_request - a request to a session that has ended
 * @size: number of bytes that came
 * @bytes: its length and its first bytes
 */
struct peer_request {
	size_t size;
	uint8_t bytes[1024];
};

/**
 * struct peer_usage - what the server has seen of a session; none of it is the session's word
 * @looked: when the server last looked; in milliseconds of CLOCK_MONOTONIC
 * @working: since when the session works at a request; 0 while it waits for one
 * @waited: when it was last seen to wait
 * @ticks: processor time that it had used then
 * @files: when its files may be counted again
 * @visible: this system lets the server see the open files of its processes
 */
struct peer_usage {
	uint64_t looked;
	uint64_t working;
	uint64_t waited;
	uint64_t ticks;
	uint64_t files;
	bool visible;
};

/**
 * struct peer_limits - what is counted of a session's processes
 * @fd: a socket from the session's process, then the listener that comes from it; -1 for none
 * @listens: @fd is the listener
 * @used: the session started a process or thread
 * @count: at least the number of its processes and threads, without its first
 * @counted: when they were counted, in milliseconds of CLOCK_MONOTONIC
 * @later: when to answer the next that starts; 0 for at once
 */
struct peer_limits {
	int fd;
	bool listens;
	bool used;
	unsigned int count;
	uint64_t counted;
	uint64_t later;
};

/**
 * struct peer_output - what a session prints, on its way to the server's messages
 * @fd: the pipe; -1 for none
 * @second: the second of CLOCK_MONOTONIC that @used is for
 * @used: bytes reported in it
 * @left_out: bytes that were read and not reported
 * @size: bytes of @line
 * @line: a line that is not complete
 */
struct peer_output {
	int fd;
	uint64_t second;
	size_t used;
	uint64_t left_out;
	size_t size;
	char line[512];
};

/**
 * struct peer_ends - descriptors for a session's process
 * @limits: where it sends what peer_limits_send() sends
 * @output: where it prints
 */
struct peer_ends {
	int limits;
	int output;
};

/**
 * struct peer - a connection
 * @fd: the socket; non-blocking until the session starts
 * @state: enum peer_state
 * @serial: connections are numbered in the order in which they came
 * @deadline: end of the handshake or the session, in milliseconds of CLOCK_MONOTONIC; 0 for none
 * @extension: the client offered the extension
 * @limit_ms: length of the session; 0 for no limit
 * @gone: when the client closed the connection while its session worked; 0 for not yet
 * @pid: process of the session, and its process group
 * @cgroup: its cgroup, where the server has such (session_cgroup.h); -1 for none
 * @limits: its processes and threads
 * @output: what it prints
 * @usage: its time, memory and files
 * @relay: process between the client and @fd; 0 for none
 * @traffic: memory shared with the relay
 * @watch: memory shared with it
 * @folder: its folder
 * @mounted: the folder, where it is memory that only the session's processes see; -1 otherwise
 * @handshake: freed when it is done
 * @proof: of the shared secret; freed when it is done
 * @request: PEER_ENDED: the beginning of the next request
 * @slot: the slot of the tracker's registration; -1 for none
 * @greeted: a proxy sent our key to the client
 * @suffix: what follows our key: a proof of the secret, or ""
 * @reason: why the session was killed; a message for the client when @tell; "" while it runs
 * @tell: send @reason
 * @builds: it has no client, and builds the kernels of this file of the cache; NULL for others
 * @stopped: it was killed, and what it built is not kept
 */
struct peer {
	int fd;
	enum peer_state state;
	uint64_t serial;
	uint64_t deadline;
	bool extension;
	uint64_t limit_ms;
	uint64_t gone;
	pid_t pid;
	int cgroup;
	struct peer_limits limits;
	struct peer_output output;
	struct peer_usage usage;
	pid_t relay;
	struct relay_traffic *traffic;
	struct session_watch *watch;
	char *folder;
	int mounted;
	struct handshake *handshake;
	struct peer_proof *proof;
	struct peer_request *request;
	int slot;
	bool greeted;
	char suffix[AUTH_TEXT + 8];
	char reason[200];
	bool tell;
	char *builds;
	bool stopped;
};

/** PEER_NONE - initialises a peer that has no session */
#define PEER_NONE                                                                                  \
	.slot = -1, .cgroup = -1, .mounted = -1, .limits = { .fd = -1 }, .output = { .fd = -1 }

/** peer_start - start the session of a peer that waits; false when the peer must be closed */
bool peer_start(struct server *s, struct peer *p);

/** peer_run - in a session's process: keep nothing of the server, enter the sandbox, serve the client, and end */
void peer_run(struct server *s, struct peer *p, pid_t server, struct peer_ends ends)
	__attribute__((noreturn));

/** peer_kill - kill a session for @p->reason; peer_reap() follows when the process has ended */
void peer_kill(struct peer *p);

/**
 * peer_reap - the process of a session ended: kill its group, and tell the client
 *
 * Return: false when the peer must be closed; true when it is PEER_ENDED.
 */
bool peer_reap(struct server *s, struct peer *p);

/** peer_remove_cgroup - kill what is left in the cgroup of a session, and remove it */
void peer_remove_cgroup(struct server *s, struct peer *p);

/** peer_send_exception - send an exception to the client; WIRE_UNDECIDED is the default encoding */
void peer_send_exception(struct peer *p, enum wire_generation generation, const char *text);

/* ---- peer_limits.c */

/** peer_limits_begin - before the session's process starts: a socket for it, closed by both with the session */
bool peer_limits_begin(struct peer *p, int *child);

/** peer_limits_send - in the session's process: hand over what is not -1, and close the descriptors */
void peer_limits_send(int socket, int listener, int folder);

/** peer_limits_end - close what came from the session's process */
void peer_limits_end(struct peer *p);

/** peer_limits_polled - the descriptor to wait for; -1 for none now */
int peer_limits_polled(struct peer *p);

/** peer_limits_serve - answer the kernel's question about a new process or thread */
void peer_limits_serve(struct server *s, struct peer *p, short events);

/* ---- peer_usage.c */

/** peer_usage_begin - the session starts */
void peer_usage_begin(struct peer *p);

/** peer_usage_look - set @p->usage.working */
void peer_usage_look(struct peer *p);

/** peer_usage_exceeded - look at the session if it is time, and write what it exceeds to @p->reason */
bool peer_usage_exceeded(const struct server *s, struct peer *p);

/** peer_exceed_memory - write to @p->reason that the session used more memory than it may */
void peer_exceed_memory(const struct server *s, struct peer *p);

/** peer_usage_deadline - when peer_usage_exceeded() must be called */
uint64_t peer_usage_deadline(const struct server *s, const struct peer *p);

/* ---- peer_calls.c: what the filter of seccomp has the server asked */

/** peer_calls_is_start - test whether a question is about a new process or thread */
bool peer_calls_is_start(const struct notification *n);

/** peer_calls_answer - answer another question */
void peer_calls_answer(struct server *s, const struct peer *p, const struct notification *n,
		       struct notification_answer *a);

/** peer_learn - report a system call that is not on the list, unless it was reported before */
#ifdef CONFIG_DSO
void peer_learn(struct server *s, const struct peer *p, const struct notification *n);
#else
static inline void peer_learn(struct server *s, const struct peer *p, const struct notification *n)
{
}
#endif

/* ---- peer_output.c */

/** peer_output_begin - before the session's process starts: the pipe that it prints to */
bool peer_output_begin(struct peer *p, int *child);

/** peer_output_polled - the descriptor to wait for; -1 for none */
int peer_output_polled(const struct peer *p);

/** peer_output_serve - read some of what the session printed, and report it line by line */
void peer_output_serve(struct server *s, struct peer *p);

/** peer_output_end - all processes of the session are dead: report the rest, and close */
void peer_output_end(struct server *s, struct peer *p);

/* ---- peer_ended.c */

/** peer_answers_later - a session has ended: test whether the encoding of its client is unknown */
bool peer_answers_later(const struct peer *p);

/** peer_await_request - make a peer PEER_ENDED; false without memory */
bool peer_await_request(struct peer *p);

/** peer_answer_ended - read a request, and answer with the reason; false when the peer must be closed */
bool peer_answer_ended(struct peer *p);

/** now_ms - milliseconds of CLOCK_MONOTONIC */
uint64_t now_ms(void);

#endif /* RPC_SERVER_PEER_H */

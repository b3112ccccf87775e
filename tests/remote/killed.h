/* SPDX-License-Identifier: MIT */
/* What suites share that kill sessions, servers and trackers: a server, exchanges with it, and what may be left of it. */
#ifndef TESTS_REMOTE_KILLED_H
#define TESTS_REMOTE_KILLED_H

#include <tenon/buffer.h>

#include "tests/remote/client.h"
#include "tests/remote/farm_process.h"

/* the server, the folder of its sessions, and the milliseconds that a next client waited at most */
extern struct farm_process killed_server;
extern char killed_base[3000];
extern uint64_t killed_longest;

/** struct exchange - a client: its connection, and the bytes of the request that is under way, with its length */
struct exchange {
	struct client c;
	struct tenon_buffer bytes;
	uint64_t module;
	uint64_t tensor;
};

/** killed_setup - before a suite: choose and print TENON_SEED, make the folder, and become the parent of orphans */
int killed_setup(void **state);

/** killed_random - a number below @n, which TENON_SEED chooses */
uint32_t killed_random(uint32_t n);

void killed_pause(long us);

/** killed_session_of - the only child of a process, which is its session; 0 for none */
pid_t killed_session_of(pid_t pid);

/** killed_count_entries - count what is in a folder; @last receives the path of one, in 4096 characters, or is NULL */
int killed_count_entries(const char *path, char *last);

int killed_count_descriptors(pid_t pid);

/** killed_nothing_is_left - wait until processes, descriptors and folders of a session are gone; fails after a minute
 * @session: the process of the last session, or 0
 * @descriptors: of the server without a session
 * @what: was done, for the message
 */
void killed_nothing_is_left(pid_t session, int descriptors, const char *what);

/** killed_end_server - reap a killed server. Its session dies with it, and becomes a child of this process. */
void killed_end_server(pid_t session);

/** exchange_open - connect to the server */
void exchange_open(struct exchange *x);

void exchange_close(struct exchange *x);

/** exchange_hello - do the handshake with a key */
void exchange_hello(struct exchange *x, const char *key);

#endif /* TESTS_REMOTE_KILLED_H */

/* SPDX-License-Identifier: MIT */
/* Start a server for one suite: it has to serve the next client and keep nothing, whatever clients and uploaded code do. */
#ifndef TESTS_REMOTE_SERVER_PROCESS_H
#define TESTS_REMOTE_SERVER_PROCESS_H

#include "tests/unit/suite.h"

#include <limits.h>
#include <sys/types.h>

#include "rpc/server/process_list.h"
#include "tests/remote/client.h"
#include "tests/remote/emulated.h"
#include "tests/remote/server_client.h"

/* of a session */
#define PROCESSES "64"

/* clients connect over TCP, not over a Unix socket */
extern bool over_tcp;

struct server_process {
	pid_t pid;
	uint16_t port;
	char socket[90];
	char base[3000];
	char log[3100];
	int descriptors;
};

extern struct server_process server;

/* of a group of cases */
int server_setup(void **state);
int server_teardown(void **state);
/* Run the cases of a suite with a server; where processes of an emulated server cannot be counted, skip them. */
#define run_with_server(tests)                                                                     \
	(server_is_emulated() ? 0 : cmocka_run_group_tests(tests, server_setup, server_teardown))

/* @option: a further one, or NULL */
void launch_server(const char *option);
/* Launch it, and wait until it serves. */
void start_server_with(const char *option);
void start_server(void);
/* The server says in one line what the kernel lacks. */
bool kernel_lacks(const char *part);

const char *scratch(void);
void pause_ms(long ms);
double now(void);

/* ---- what there is of the server; each count is of now */

int count_entries(const char *path);
/* processes whose parent is the server: sessions, and what they left behind */
int count_children(void);
/* files in the server's folder: a folder for each session, beside the cache */
int count_folders(void);
int count_sessions(void);
/* for process_list(): set a pid_t to the process of a session */
void find_child(void *context, const struct process *p);
/* Wait until a number of the server is no more than it was; fails the test after a long time. */
void wait_for(int (*count)(void), int want, const char *what);
void nothing_is_left(void);

/* ---- clients */

int connect_server(void);
/* Connect, and read the server's key. */
void begin_client(struct client *c, const char *key);
void open_client(struct client *c, const char *key);
/* Upload the module of hostile functions; its function. */
uint64_t hostile_function(struct client *c, const char *name);
int64_t call_hostile(const char *name);
void the_next_client_is_served(void);

#endif /* TESTS_REMOTE_SERVER_PROCESS_H */

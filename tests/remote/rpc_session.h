/* SPDX-License-Identifier: MIT */
/* Run a session in a thread, with functions for tests, and a client of it that waits for each request, or posts them. */
#ifndef TESTS_REMOTE_RPC_SESSION_H
#define TESTS_REMOTE_RPC_SESSION_H

#include "tests/unit/suite.h"

#include <pthread.h>
#include <semaphore.h>

/* a session of the server in a thread, and a client */
struct rpc_session {
	pthread_t thread;
	int fd;
	char folder[4000];
	struct tenon_remote *remote;
	struct tenon_device *cpu;
	bool wait_each;
	bool by_program;	/* served by tenon_rpc_serve_session() */
	void (*accepted)(void); /* called before the session's requests are served */
};

extern struct rpc_session session;

/* test.waits() has begun; it may end; test.hangs() may end */
extern sem_t entered, released, let_go;

/* of a group: the functions of the server */
int register_functions(void **state);
/* of a case */
int setup_pipelined(void **state);
int setup_waiting(void **state);
int teardown(void **state);

/* a case with both kinds of clients */
#define BOTH(test)                                                                                 \
	{ #test " (pipelined)", test, setup_pipelined, teardown, NULL },                           \
	{                                                                                          \
#test " (request by request)", test, setup_waiting, teardown, NULL                 \
	}

/* @request_ms: limit of each request; 0 for none */
void open_session(bool wait_each, uint32_t request_ms);
/* the session's end, in a thread: its socket is @session.fd */
void *serve(void *argument);
void make_folder(void);
int remove_folder(void);

/* a function of the server; NULL when there is none */
struct tenon_function *function(const char *name);
/* The function returns its argument. */
void check_echo(struct tenon_function *f, struct tenon_value value);
/* a tensor of the server */
struct tenon_tensor *tensor(const int64_t *shape, int32_t ndim, DLDataType dtype);

#endif /* TESTS_REMOTE_RPC_SESSION_H */

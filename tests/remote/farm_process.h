/* SPDX-License-Identifier: MIT */
/* Start a tracker, a proxy or a server as a process of the command, and connect to it. */
#ifndef TESTS_REMOTE_FARM_PROCESS_H
#define TESTS_REMOTE_FARM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* generous: machines under load stall for seconds */
#define PATIENCE_S 120

struct farm_process {
	pid_t pid;
	int port;
	char log[3100];
};

/* Start "tenon rpc WORDS..."; the words end with NULL. With --listen 127.0.0.1:0 among them, wait for the port. */
void farm_start(struct farm_process *p, const char *const *words);
/* End it with SIGTERM; its exit status. */
int farm_stop(struct farm_process *p);
/* Wait until its log has a text. */
void farm_wait_log(const struct farm_process *p, const char *text);

/* connect to a port of 127.0.0.1; reads give up after PATIENCE_S */
int farm_connect(int port);
void farm_send(int fd, const void *data, size_t size);
/* Read exactly @size bytes; false at the end of the stream. */
bool farm_read(int fd, void *data, size_t size);
/* The peer closes the connection, after whatever it sends before. */
bool farm_closes(int fd);

/* The first message of a client, a server or a proxy: its role and key, such as "client:board". */
void farm_send_key(int fd, const char *key);
void farm_expect_key(int fd, const char *key);
/* Send InitServer, and expect its reply. */
void farm_use_session(int fd);

/* a connection to a tracker, after its greeting */
int tracker_connect(int port);
void tracker_send(int fd, const char *json);
/* The reply, in memory that the next call uses again; "" at the end of the stream. */
const char *tracker_receive(int fd);
const char *tracker_exchange(int fd, const char *json);

#endif /* TESTS_REMOTE_FARM_PROCESS_H */

/* SPDX-License-Identifier: MIT */
/* Connect clients to a server in another process, which listens with the key "fixture". */
#ifndef TESTS_REMOTE_SERVER_CLIENT_H
#define TESTS_REMOTE_SERVER_CLIENT_H

#include "tests/remote/client.h"

/* generous: machines under load stall for seconds */
#define PATIENCE_S 120

/* a connection to the path of a Unix socket, or to "127.0.0.1:PORT"; -1 without a server */
int server_connect(const char *text);
/* the server may have closed the connection */
void server_send(int fd, const void *data, size_t size);
void server_send_key(int fd, const char *key);

/* Connect, and read the server's key. client_init() follows. */
void server_client_begin(struct client *c, const char *text, const char *key);
void server_client_close(struct client *c);
/* Upload the test module NAME.so; its function. */
uint64_t server_client_function(struct client *c, const char *module, const char *function);

#endif /* TESTS_REMOTE_SERVER_CLIENT_H */

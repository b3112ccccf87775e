/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_REMOTE_SERVER_H
#define RUNTIME_REMOTE_SERVER_H

/**
 * DOC: the RPC server
 *
 * One process with one thread listens, does the handshakes and starts a child process for each
 * session. It never opens a device or a module, so a child of fork() has the state of a new process.
 * It holds each session's socket too: it reports a crash or a passed deadline to the client, and notices
 * a client that left. All processes of a session are killed and its folder is removed when it ends.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/remote/session.h"

/**
 * struct server_options - what a server does
 * @listen: addresses: "HOST:PORT", "[HOST]:PORT" or "unix:PATH"; ends with NULL
 * @key: clients must name it; "" for none
 * @base: folder for the folders of sessions
 * @sessions_most: sessions at a time; further clients wait
 * @session_ms: longest session in milliseconds; 0 for no limit
 * @request_ms: longest request; 0 for no limit
 * @session: limits of each session
 * @memory_most: private memory of a session's process in bytes; 0 for no limit
 * @sandbox: limit the processes of sessions
 * @trust_network: accept addresses that other machines can reach
 * @read: files and folders that sessions may read, ending with NULL; or NULL
 * @write: files and folders that sessions may write, ending with NULL; or NULL
 * @say: called with a line for people: an address, a session that ended badly
 * @context: passed to @say
 */
struct server_options {
	const char *const *listen;
	const char *key;
	const char *base;
	unsigned int sessions_most;
	uint64_t session_ms;
	uint64_t request_ms;
	struct session_options session;
	uint64_t memory_most;
	bool sandbox;
	bool trust_network;
	const char *const *read;
	const char *const *write;
	void (*say)(void *context, const char *line);
	void *context;
};

/**
 * server_run - serve until SIGTERM or SIGINT
 * @options: what to do
 *
 * Context: a process with one thread that has opened no device and no module. Blocks signals.
 * Return: 0 after a signal; -TENON_E_IO; -TENON_E_VALUE for an address; -TENON_E_NOMEM.
 */
int server_run(const struct server_options *options);

#endif /* RUNTIME_REMOTE_SERVER_H */

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

#include "rpc/server/session.h"
#include "rpc/server/unix_peer.h"
#include "rpc/wire/auth.h"
#include "rpc/wire/tls.h"

/**
 * struct server_options - what a server does
 * @listen: addresses: "HOST:PORT", "[HOST]:PORT" or "unix:PATH"; ends with NULL. Unused when a service manager
 *	passed sockets (LISTEN_FDS)
 * @stdio: serve the peer on standard input and output, and end: a client's connection, a listening socket of
 *	inetd, the pipes of ssh, a serial line
 * @key: clients must name it; "" for none
 * @base: folder for the folders of sessions
 * @sessions_most: sessions at a time; further clients wait
 * @session_ms: longest session in milliseconds; 0 for no limit
 * @request_ms: longest request; 0 for no limit
 * @cache_most: quota of the cache of files that clients need not send again; 0 for none
 * @session: limits of each session
 * @memory_most: private memory of a session's process, and memory of all its processes, in bytes; 0 for no limit
 * @processes_most: processes and threads of a session
 * @sandbox: limit the processes of sessions
 * @learn: let sessions make every system call, and report those that the sandbox's list lacks
 * @sockets: Unix sockets that sessions may connect to, ending with NULL; or NULL for none
 * @trust_network: accept addresses that other machines can reach
 * @tracker: offer sessions to the tracker "HOST:PORT"; NULL for none
 * @advertise_host: address to tell the tracker; NULL for the one that it sees
 * @advertise_port: port to tell the tracker; 0 for that of the first listening socket
 * @health_check: command that must succeed before the tracker hears of the server; NULL for none
 * @proxy: wait for clients at the proxy "HOST:PORT"; NULL for none
 * @secret: what clients must prove to know; a size of 0 for none
 * @tls: speak TLS on TCP; NULL for plain bytes
 * @peers: who may connect to Unix sockets besides this user and root
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
	uint64_t cache_most;
	struct session_options session;
	uint64_t memory_most;
	unsigned int processes_most;
	bool sandbox;
	bool learn;
	const char *const *sockets;
	bool trust_network;
	bool stdio;
	const char *tracker;
	const char *advertise_host;
	uint16_t advertise_port;
	const char *health_check;
	const char *proxy;
	struct auth_secret secret;
	struct tls_server *tls;
	struct unix_peers peers;
	const char *const *read;
	const char *const *write;
	void (*say)(void *context, const char *line);
	void *context;
};

/**
 * server_run - serve until SIGTERM or SIGINT, or until the peer of @stdio left
 * @options: what to do
 *
 * Context: a process with one thread that has opened no device and no module. Blocks signals.
 * Return: 0 after a signal; -TENON_E_IO; -TENON_E_VALUE for an address; -TENON_E_NOMEM.
 */
int server_run(const struct server_options *options);

#endif /* RUNTIME_REMOTE_SERVER_H */

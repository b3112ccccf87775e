/* SPDX-License-Identifier: MIT */
/* Serve one client from the handshake to the end of its connection. */
#ifndef RPC_SERVER_SESSION_H
#define RPC_SERVER_SESSION_H

/*
 * Serves one client on one connection, after the handshake, in one thread. The session's objects are in
 * its table of handles; everything is released at its end. A request that fails, or that is malformed
 * but complete, is answered with an exception, and the session goes on.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct connection;

/** enum session_state - what a session does; read by the server in another process */
enum session_state {
	SESSION_IDLE = 0,
	SESSION_RECEIVING = 1, /* a packet has begun */
	SESSION_WORKING = 2,   /* a request runs, and nothing of its reply was sent */
	SESSION_REPLYING = 3,
};

/**
 * struct session_watch - shared with the server; trusted by it for messages and deadlines only
 * @state: enum session_state
 * @since: when the request began, in milliseconds of CLOCK_MONOTONIC
 * @generation: enum wire_generation, for what the server sends in the session's place
 * @missed: the client asked for a file that the cache does not have, and so will send it
 * @keeping: KEEPING while the server copies files or kernels to the cache; otherwise kernel_store_number() of the file whose
 *	kernels it builds, or 0
 * @loads: the client has a module or an evaluator of time, and may measure time
 */
struct session_watch {
	_Atomic uint32_t state;
	_Atomic uint64_t since;
	_Atomic uint32_t generation;
	_Atomic uint32_t missed;
	_Atomic uint64_t keeping;
	_Atomic uint32_t loads;
};

#define KEEPING UINT64_MAX

/**
 * struct session_options - limits of a session
 * @packet_most: largest packet in bytes
 * @folder_most: quota of the folder in bytes
 * @memory_most: quota of tensors in bytes
 * @cache: folder of the cache of files (file_cache.h); NULL for none
 * @kernels: the cache has kernels of files, too (kernel_store.h)
 * @wait_ms: how long a request waits at most for what the server copies or builds
 * @native_code: load_module accepts shared objects
 * @extension: the client chose Tenon's extension (handshake.h)
 */
struct session_options {
	uint64_t packet_most;
	uint64_t folder_most;
	uint64_t memory_most;
	const char *cache;
	bool kernels;
	uint64_t wait_ms;
	bool native_code;
	bool extension;
};

/**
 * session_run - serve a client until it leaves
 * @connection: the caller closes it
 * @folder: an empty folder for the session's files
 * @options: limits
 * @watch: receives the state; may be NULL
 *
 * Return: 0; -TENON_E_IO when the connection failed or ended within a packet; -TENON_E_FORMAT when
 *	a packet exceeds the limit; -TENON_E_NOMEM.
 */
int session_run(struct connection *connection, const char *folder,
		const struct session_options *options, struct session_watch *watch);

#endif /* RPC_SERVER_SESSION_H */

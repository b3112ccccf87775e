/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_FARM_TRACKER_H
#define RUNTIME_FARM_TRACKER_H

/**
 * DOC: a tracker of TVM's RPC
 *
 * Servers tell the tracker when they are free, clients ask it for one. One process with one thread; it never
 * waits for a peer. A server whose connection ends leaves the queues; one that does not answer at its address
 * is not handed out until it does again.
 */

#include <stdbool.h>
#include <stdint.h>

/**
 * struct tracker_options - what a tracker does
 * @listen: addresses "HOST:PORT" or "[HOST]:PORT"; ends with NULL
 * @trust_network: accept addresses that other machines can reach
 * @wait_ms: a client that waits longer receives an error; 0 for no limit
 * @health_ms: free servers are checked so often; 0 for never
 * @answer_ms: a check fails when the server takes longer to answer
 * @connections_most: connections at a time; further ones are closed
 * @say: called with a line for people
 * @context: passed to @say
 */
struct tracker_options {
	const char *const *listen;
	bool trust_network;
	uint64_t wait_ms;
	uint64_t health_ms;
	uint64_t answer_ms;
	unsigned int connections_most;
	void (*say)(void *context, const char *line);
	void *context;
};

/**
 * tracker_run - serve until SIGTERM or SIGINT
 *
 * Context: blocks signals.
 * Return: 0 after a signal; -TENON_E_IO; -TENON_E_VALUE for an address; -TENON_E_NOMEM.
 */
int tracker_run(const struct tracker_options *options);

#endif /* RUNTIME_FARM_TRACKER_H */

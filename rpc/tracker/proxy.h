/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_FARM_PROXY_H
#define RUNTIME_FARM_PROXY_H

/**
 * DOC: a proxy of TVM's RPC
 *
 * For servers that clients cannot reach: both connect to the proxy, and it copies between a server and a client
 * with the same key. One process with one thread. A side that does not read stops the other one: the proxy holds
 * at most 64 KiB for each direction.
 *
 * With a tracker, servers that wait are offered there under the proxy's address: a client asks the tracker for a
 * key, receives a match key, and brings it to the proxy. Clients with other keys are refused at once, several
 * servers may have one key, and servers wait without end.
 */

#include <stdbool.h>
#include <stdint.h>

/**
 * struct proxy_options - what a proxy does
 * @listen: addresses "HOST:PORT", "[HOST]:PORT" or "unix:PATH"; ends with NULL
 * @trust_network: accept addresses that other machines can reach
 * @wait_ms: a peer that waits longer for another is refused
 * @connections_most: connections at a time; further ones are closed
 * @tracker: "HOST:PORT"; NULL for none
 * @advertise_host: the address to tell the tracker; NULL for that of the connection
 * @advertise_port: the port to tell; 0 for the first TCP port of @listen
 * @say: called with a line for people
 * @context: passed to @say
 */
struct proxy_options {
	const char *const *listen;
	bool trust_network;
	uint64_t wait_ms;
	unsigned int connections_most;
	const char *tracker;
	const char *advertise_host;
	uint16_t advertise_port;
	void (*say)(void *context, const char *line);
	void *context;
};

/** proxy_run - serve until SIGTERM or SIGINT; 0; -TENON_E_IO; -TENON_E_VALUE; -TENON_E_NOMEM */
int proxy_run(const struct proxy_options *options);

#endif /* RUNTIME_FARM_PROXY_H */

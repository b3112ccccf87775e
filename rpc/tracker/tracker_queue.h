/* SPDX-License-Identifier: MIT */
/* The queues of a tracker: free servers and waiting clients of each key. */
#ifndef RPC_TRACKER_TRACKER_QUEUE_H
#define RPC_TRACKER_TRACKER_QUEUE_H

/*
 * Each key has a queue: servers that are free, and clients that wait. Larger priorities are served first.
 * Among equal ones users take turns (start-time fair queueing), and the requests of one user are served in
 * the order in which they came. Servers are handed out in the order in which they came, so that all of them
 * are used. Nothing here does I/O.
 */

#include <stdbool.h>
#include <stdint.h>
#include <tenon/value.h>

/**
 * struct tracker_server - a server that offers itself for one session
 * @owner: its connection
 * @host: address
 * @port: port
 * @match_key: what the client must send to it
 * @checked: when it was put or last checked, in milliseconds of CLOCK_MONOTONIC
 * @unhealthy: why it is not handed out; NULL for a healthy one
 * @checking: a check of it is running
 * @own_address: @host is the address that its connection comes from
 */
struct tracker_server {
	void *owner;
	char *host;
	uint16_t port;
	char *match_key;
	uint64_t checked;
	char *unhealthy;
	bool checking;
	bool own_address;
};

/**
 * struct tracker_request - a client that waits
 * @owner: its connection
 * @user: whose turn it takes
 * @priority: larger ones first
 * @turn: virtual time
 * @serial: order of asking
 * @since: when it asked, in milliseconds of CLOCK_MONOTONIC
 */
struct tracker_request {
	void *owner;
	char *user;
	double priority;
	uint64_t turn;
	uint64_t serial;
	uint64_t since;
};

/**
 * struct tracker_queue - the queue of a key
 * @key: the key
 * @servers: servers that were put and not handed out, in order
 * @server_count: number of them
 * @requests: clients that wait, in order
 * @request_count: number of them
 * @turn: virtual time of the newest request that was served
 * @served: number of servers that were handed out
 */
struct tracker_queue {
	char *key;
	struct tracker_server **servers;
	unsigned int server_count;
	unsigned int server_room;
	struct tracker_request **requests;
	unsigned int request_count;
	unsigned int request_room;
	uint64_t turn;
	uint64_t serial;
	uint64_t served;
};

/** struct tracker_queues - all of them; zero-initialise it */
struct tracker_queues {
	struct tracker_queue **queues;
	unsigned int count;
	unsigned int room;
};

/* most keys */
#define TRACKER_KEYS_MOST 4096

/**
 * tracker_queue_of - find the queue of a key, or make it
 *
 * Return: the queue; NULL when memory is out, or there are too many keys that have servers or clients.
 */
struct tracker_queue *tracker_queue_of(struct tracker_queues *all, struct tenon_slice key);

/** tracker_queue_put - add a server; copies the texts; NULL when memory is out */
struct tracker_server *tracker_queue_put(struct tracker_queue *q, void *owner,
					 struct tenon_slice host, uint16_t port,
					 struct tenon_slice match_key);

/** tracker_queue_request - add a client; copies @user; NULL when memory is out */
struct tracker_request *tracker_queue_request(struct tracker_queue *q, void *owner,
					      struct tenon_slice user, double priority);

/**
 * tracker_queue_match - take the next client and the next healthy server
 * @server: receives the server; the caller frees it
 *
 * Return: the client, which the caller frees; NULL when none waits or no server is free.
 */
struct tracker_request *tracker_queue_match(struct tracker_queue *q,
					    struct tracker_server **server);

/** tracker_queue_give_back - add a server that could not be handed out, as the next one */
bool tracker_queue_give_back(struct tracker_queue *q, struct tracker_server *server);

/** tracker_queues_forget - remove the servers and clients of an owner */
void tracker_queues_forget(struct tracker_queues *all, const void *owner);

/** tracker_queue_remove_request - remove and free one that waits */
void tracker_queue_remove_request(struct tracker_queue *q, unsigned int i);

/** tracker_queue_free - number of healthy servers */
unsigned int tracker_queue_free(const struct tracker_queue *q);

void tracker_server_free(struct tracker_server *server);
void tracker_request_free(struct tracker_request *request);
void tracker_queues_fini(struct tracker_queues *all);

#endif /* RPC_TRACKER_TRACKER_QUEUE_H */

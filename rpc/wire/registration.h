/* SPDX-License-Identifier: MIT */
/* Register sessions of a server or proxy with a tracker. */
#ifndef RPC_WIRE_REGISTRATION_H
#define RPC_WIRE_REGISTRATION_H

/*
 * The server offers each session that it can serve to the tracker, under a random match key that one client
 * receives and must send. A key that was handed out and not used is replaced. When the connection is lost, the
 * server connects again and offers what is free. A proxy registers in the same way, with a slot for each server
 * that waits there, which has a key of its own. Before a session is offered, the health check runs if there
 * is one: while it fails, nothing is offered, and the tracker is told why.
 *
 * Nothing here waits: the server's loop polls the descriptor and calls registration_step().
 */

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <tenon/buffer.h>

#include "rpc/wire/dial.h"

#define REGISTRATION_SLOTS_MOST 1000
#define MATCH_KEY_MOST		1100
/* trackers take match keys of 1024 bytes */
#define REGISTRATION_KEY_MOST 990

/** enum slot_state - what a session that could be served waits for */
enum slot_state {
	SLOT_UNCHECKED, /* the health check */
	SLOT_FREE,	/* to be put */
	SLOT_PUTTING,	/* the tracker's reply */
	SLOT_LISTED,	/* a client */
	SLOT_BUSY,	/* the end of its session; of a proxy: the next server */
	SLOT_KEYLESS,	/* random numbers for a new key */
};

/**
 * struct registration_slot - a session that the tracker may hand out
 * @state: enum slot_state
 * @missed: replies of the tracker in a row that did not list the match key
 * @kept: the match key was offered before, and a client may have it
 * @name_size: bytes of the match key that are the key which clients ask for
 * @key: the match key
 */
struct registration_slot {
	enum slot_state state;
	unsigned int missed;
	bool kept;
	size_t name_size;
	char key[MATCH_KEY_MOST];
};

/** enum registration_wait - what the connection waits for */
enum registration_wait {
	REGISTRATION_RETRY,   /* the time to connect again */
	REGISTRATION_CONNECT, /* the connection */
	REGISTRATION_MAGIC,   /* the tracker's magic number */
	REGISTRATION_IDLE,    /* something to ask */
	REGISTRATION_UPDATE,  /* replies */
	REGISTRATION_PUT,
	REGISTRATION_PENDING,
};

/**
 * struct registration_options - what to register
 * @tracker: "HOST:PORT"
 * @name: what lists of the tracker call it; a server's is its key
 * @key: the key; NULL for one of each slot, by registration_add()
 * @slots: sessions at a time
 * @host: the address to tell; NULL for that of the connection
 * @port: the port to tell
 * @check: command of the health check; NULL for none
 * @say: called with a line for people
 * @context: passed to @say
 */
struct registration_options {
	const char *tracker;
	const char *name;
	const char *key;
	unsigned int slots;
	const char *host;
	uint16_t port;
	const char *check;
	void (*say)(void *context, const char *line);
	void *context;
};

/**
 * struct registration - a server at a tracker
 * @options: what to register
 * @target: addresses of the tracker
 * @next_address: which of them to try next
 * @fd: the connection; -1 for none
 * @wait: what it waits for
 * @deadline: when that is too late, or when to act; milliseconds of CLOCK_MONOTONIC
 * @slots: the slots
 * @putting: the slot of REGISTRATION_PUT
 * @updated: the tracker knows key, address and health
 * @keyless: a slot waits for random numbers, and that was reported
 * @reported: a failure was reported, and there was no success since
 * @retry_ms: when the last failure had it try again; 0 after a success
 * @told: a success was reported, and nothing else since
 * @in: bytes of an unfinished reply
 * @check_pid: the health check that runs; 0 for none
 * @check_fd: its output
 * @check_at: when it is too late, or when the next one is due
 * @health: why nothing is offered; "" when healthy
 */
struct registration {
	struct registration_options options;
	struct dial_target target;
	unsigned int next_address;
	int fd;
	enum registration_wait wait;
	uint64_t deadline;
	struct registration_slot *slots;
	unsigned int putting;
	bool updated;
	bool keyless;
	bool reported;
	uint64_t retry_ms;
	bool told;
	struct tenon_buffer in;
	pid_t check_pid;
	int check_fd;
	uint64_t check_at;
	char health[400];
};

/** registration_init - look up the tracker; 0; -TENON_E_VALUE; -TENON_E_NOMEM; -TENON_E_IO */
int registration_init(struct registration *r, const struct registration_options *options);

/** registration_fini - close the connection and end the health check */
void registration_fini(struct registration *r);

/** registration_polled - what the loop must poll */
struct pollfd registration_polled(const struct registration *r);

/** registration_deadline - when registration_step() must be called although nothing happened */
uint64_t registration_deadline(const struct registration *r);

/** registration_step - do what can be done without waiting; @events of registration_polled() */
void registration_step(struct registration *r, short events);

/** registration_take - the slot of a match key that a client sent, now busy; -1 for none */
int registration_take(struct registration *r, const char *key);

/** registration_release - a slot's session has ended */
void registration_release(struct registration *r, int slot);

/**
 * registration_add - offer a session under a key
 *
 * For registrations without a key of their own.
 *
 * Return: the slot; -1 when all are in use, or the key is longer than REGISTRATION_KEY_MOST.
 */
int registration_add(struct registration *r, const char *key);

/**
 * registration_drop - the session of a slot cannot be served any more
 *
 * A tracker takes an offer back with the connection alone: it is closed when the offer was made, and what else
 * was offered is offered again under the same match keys, which clients may have been given.
 */
void registration_drop(struct registration *r, int slot);

/** registration_rename - tell the tracker another name; @name must outlive the registration */
void registration_rename(struct registration *r, const char *name);

/** registration_reap - a child of the server ended; true when it was the health check */
bool registration_reap(struct registration *r, pid_t pid);

/* the health check, in registration_check.c */
void registration_check_step(struct registration *r, uint64_t now);
void registration_check_kill(struct registration *r);

/** registration_disconnect - close the connection; all that was offered is offered again under new keys */
void registration_disconnect(struct registration *r, uint64_t retry_ms);

#endif /* RPC_WIRE_REGISTRATION_H */

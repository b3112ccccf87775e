/* SPDX-License-Identifier: MIT */
/* The state of a ring, and what its source files call of each other. */
#ifndef DRIVER_RING_PRIVATE_H
#define DRIVER_RING_PRIVATE_H

#include <pthread.h>

#include "driver/ring/ring.h"

/**
 * struct ring - the host's side
 * @port: the board
 * @setup: as the caller gave it
 * @control: the control block, in the window
 * @words: the ring, in the window
 * @mask: its words, less 1
 * @session: our number; what the device must keep in device.session
 * @base: sequence that the session began with
 * @reserved: sequence behind the last reserved packet; the producer's
 * @last: header of the last reserved packet, for its MORTISE_NOTIFY; NULL when all are published
 * @room_from: sequence up to which the device was last seen to be done; the producer's
 * @submitted: sequence behind the last published packet
 * @completed: sequence behind the last packet seen complete; only grows
 * @loss: enum ring_loss; set once in a session
 * @silence_ms: how long the heartbeat may stand still
 * @heartbeat: as last seen
 * @heartbeat_at: when it was last seen to change, or when looking began
 * @looked_at: when it was last looked at
 * @sleep: one thread sleeps in the port for all; @woken tells the others that it came back
 * @sleeper: is there such a thread
 * @nonce: last value of host.waiting
 */
struct ring {
	struct ring_port port;
	struct ring_setup setup;
	struct mortise_control *control;
	uint64_t *words;
	uint32_t mask;
	uint32_t session;
	uint64_t base;
	uint64_t reserved;
	struct mortise_header *last;
	uint64_t room_from;
	uint64_t submitted;
	uint64_t completed;
	uint32_t loss;
	uint32_t silence_ms;
	uint32_t heartbeat;
	uint64_t heartbeat_at;
	uint64_t looked_at;
	pthread_mutex_t sleep;
	pthread_cond_t woken;
	bool sleeper;
	uint32_t nonce;
};

/* the last nanosecond of some; UINT64_MAX where that would wrap */
static inline uint64_t ring_after(uint64_t now, uint64_t ns)
{
	return now > UINT64_MAX - ns ? UINT64_MAX : now + ns;
}

/* ring_session.c: wake the device if it sleeps; call after the writes that it has to see */
void ring_wake(struct ring *ring);

/*
 * ring_wait.c: look at the device. Fills in completed; 0, or negative (with words) when the session is over.
 */
int ring_look(struct ring *ring);

/* ring_report.c: the words for a session that is over, or for a deadline that passed */
int ring_lost(struct ring *ring);
int ring_timed_out(struct ring *ring, const char *what, uint64_t sequence);

/* is the session over */
static inline bool ring_is_lost(const struct ring *ring)
{
	return __atomic_load_n(&ring->loss, __ATOMIC_RELAXED) != RING_ALIVE;
}

/* set the loss once; the first stays */
void ring_lose(struct ring *ring, enum ring_loss loss);

#endif /* DRIVER_RING_PRIVATE_H */

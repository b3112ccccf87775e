/* SPDX-License-Identifier: MIT */
/* What the device has completed, and waiting for it. */
#include <tenon/error.h>
#include <tenon/uapi/mortise_order.h>
#include <time.h>

#include "driver/ring/ring_private.h"
#include "lib/brief_errors.h"
#include "lib/clock.h"

#define LONGEST_SLEEP_NS  50000000U /* look at the heartbeat at least so often */
#define SHORTEST_PAUSE_NS 10000U
#define LONGEST_PAUSE_NS  2000000U

void ring_lose(struct ring *ring, enum ring_loss loss)
{
	uint32_t alive = RING_ALIVE;

	__atomic_compare_exchange_n(&ring->loss, &alive, loss, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

/*
 * Extend the completion word to 64 bits. It must lie between the last value seen and the last
 * sequence submitted. Load the value seen first, because other threads advance it, and the sequence
 * last, because the producer advances that.
 */
static bool take_done(struct ring *ring)
{
	uint64_t seen = __atomic_load_n(&ring->completed, __ATOMIC_ACQUIRE);
	uint32_t done = mortise_load(&ring->control->completion.done);
	uint64_t sequence = seen + (uint32_t)(done - (uint32_t)seen);
	uint64_t submitted = __atomic_load_n(&ring->submitted, __ATOMIC_ACQUIRE);

	if (sequence > submitted)
		return false;
	while (seen < sequence &&
	       !__atomic_compare_exchange_n(&ring->completed, &seen, sequence, true,
					    __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		;
	return true;
}

/* What the device's state says of the session. */
static enum ring_loss look_at_state(const struct ring *ring)
{
	const struct mortise_status *device = &ring->control->device;
	uint32_t state = mortise_load(&device->state);

	if (mortise_load(&device->session) != ring->session)
		return RING_RESTARTED;
	switch (state) {
	case MORTISE_RUNNING:
		return RING_ALIVE;
	case MORTISE_FAULTED:
		return RING_FAULTED;
	case MORTISE_STOPPED:
		return RING_STOPPED;
	case MORTISE_READY:
		return RING_RESTARTED;
	default:
		return RING_GARBAGE;
	}
}

/*
 * Read the state before the completion word, so that packets completed before a fault count as
 * complete.
 */
static enum ring_loss look_at_words(struct ring *ring)
{
	enum ring_loss loss = look_at_state(ring);

	if (loss == RING_RESTARTED || take_done(ring))
		return loss;
	/* the word is not of this session, or it is nonsense */
	return look_at_state(ring) == RING_RESTARTED ? RING_RESTARTED : RING_GARBAGE;
}

static bool has_work(struct ring *ring)
{
	return __atomic_load_n(&ring->completed, __ATOMIC_ACQUIRE) !=
	       __atomic_load_n(&ring->submitted, __ATOMIC_ACQUIRE);
}

/* A device that stands still while it has work is lost. Time in which the host did not look does not count. */
static void check_heartbeat(struct ring *ring)
{
	uint32_t beat = mortise_peek(&ring->control->device.heartbeat);
	uint64_t silence = ring->silence_ms * (uint64_t)1000000, now = clock_now();
	uint64_t looked = __atomic_exchange_n(&ring->looked_at, now, __ATOMIC_RELAXED);
	uint64_t since = __atomic_load_n(&ring->heartbeat_at, __ATOMIC_RELAXED);

	if (beat != __atomic_exchange_n(&ring->heartbeat, beat, __ATOMIC_RELAXED) ||
	    !has_work(ring) || (now > looked && now - looked > silence / 2))
		__atomic_store_n(&ring->heartbeat_at, now, __ATOMIC_RELAXED);
	else if (now > since && now - since > silence)
		ring_lose(ring, RING_SILENT);
}

int ring_look(struct ring *ring)
{
	enum ring_loss loss;

	if (!ring_is_lost(ring)) {
		loss = look_at_words(ring);
		if (loss != RING_ALIVE)
			ring_lose(ring, loss);
		else
			check_heartbeat(ring);
	}
	return ring_is_lost(ring) ? ring_lost(ring) : 0;
}

static bool is_complete(struct ring *ring, uint64_t sequence)
{
	return __atomic_load_n(&ring->completed, __ATOMIC_ACQUIRE) >= sequence;
}

int ring_completed(struct ring *ring, uint64_t *sequence)
{
	int err = ring_look(ring);

	*sequence = __atomic_load_n(&ring->completed, __ATOMIC_ACQUIRE);
	return err;
}

/* Poll the completion word alone, for a moment. */
static void spin(struct ring *ring, uint64_t sequence, uint64_t until)
{
	unsigned int polls;

	do {
		for (polls = 0; polls < 64; polls++) {
			if (ring_is_lost(ring) || !take_done(ring) || is_complete(ring, sequence))
				return;
		}
	} while (clock_now() < until);
}

/* Sleep in the port, for all threads that wait. */
static void sleep_in_port(struct ring *ring, uint64_t sequence, uint64_t deadline)
{
	struct mortise_request *host = &ring->control->host;

	ring->nonce = ring->nonce + 1 ? ring->nonce + 1 : 1;
	mortise_put(&host->wanted, (uint32_t)sequence);
	mortise_release(&host->waiting, ring->nonce);
	mortise_fence();
	/* check again: the device may have completed it before it could see @waiting */
	if (!ring_is_lost(ring) && look_at_words(ring) == RING_ALIVE &&
	    !is_complete(ring, sequence))
		ring->port.sleep(ring->port.context, deadline);
	mortise_put(&host->waiting, 0);
}

/* One thread sleeps in the port; the others wait for it, then check for their sequences. */
static void sleep_once(struct ring *ring, uint64_t sequence, uint64_t deadline)
{
	struct timespec at = { (time_t)(deadline / 1000000000), (long)(deadline % 1000000000) };

	pthread_mutex_lock(&ring->sleep);
	if (ring->sleeper) {
		pthread_cond_timedwait(&ring->woken, &ring->sleep, &at);
		pthread_mutex_unlock(&ring->sleep);
		return;
	}
	ring->sleeper = true;
	pthread_mutex_unlock(&ring->sleep);
	sleep_in_port(ring, sequence, deadline);
	pthread_mutex_lock(&ring->sleep);
	ring->sleeper = false;
	pthread_cond_broadcast(&ring->woken);
	pthread_mutex_unlock(&ring->sleep);
}

/* Without an interrupt: pause, longer each time. */
static void pause_once(uint64_t *pause, uint64_t deadline)
{
	uint64_t until = ring_after(clock_now(), *pause);
	struct timespec at;

	if (until > deadline)
		until = deadline;
	at = (struct timespec){ (time_t)(until / 1000000000), (long)(until % 1000000000) };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	*pause = *pause * 2 < LONGEST_PAUSE_NS ? *pause * 2 : LONGEST_PAUSE_NS;
}

static int wait_asleep(struct ring *ring, uint64_t sequence, uint64_t deadline)
{
	uint64_t pause = SHORTEST_PAUSE_NS, now, until;
	int err;

	for (;;) {
		err = ring_look(ring);
		if (is_complete(ring, sequence)) {
			if (err)
				tenon_error_clear();
			return 0;
		}
		if (err)
			return err;
		now = clock_now();
		if (now >= deadline)
			return ring_timed_out(ring, "no completion", sequence);
		/* a doorbell may have been lost */
		ring_wake(ring);
		until = ring_after(now, LONGEST_SLEEP_NS);
		if (until > deadline)
			until = deadline;
		if (ring->port.sleep)
			sleep_once(ring, sequence, until);
		else
			pause_once(&pause, until);
	}
}

int ring_wait(struct ring *ring, uint64_t sequence, uint64_t deadline)
{
	uint64_t until;

	if (sequence > __atomic_load_n(&ring->submitted, __ATOMIC_ACQUIRE))
		return tenon_error(-TENON_E_USAGE, "%s: sequence %llu was never published",
				   ring->setup.name, (unsigned long long)sequence);
	if (sequence < ring->base)
		return tenon_error(-TENON_E_LOST,
				   "%s: sequence %llu belongs to a session that is over",
				   ring->setup.name, (unsigned long long)sequence);
	if (is_complete(ring, sequence))
		return 0;
	if (deadline != RING_NOW) {
		until = ring_after(clock_now(), ring->setup.spin_ns);
		spin(ring, sequence, until < deadline ? until : deadline);
		if (is_complete(ring, sequence))
			return 0;
	}
	return wait_asleep(ring, sequence, deadline);
}

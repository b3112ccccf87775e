/* SPDX-License-Identifier: MIT */
/* Sessions: the control block, from the host's side. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <tenon/error.h>
#include <tenon/uapi/mortise_order.h>
#include <time.h>

#include "driver/ring/ring_private.h"
#include "lib/brief_errors.h"
#include "lib/clock.h"

#define DEFAULT_SILENCE_MS 2000
#define DEFAULT_SPIN_NS	   20000
/* a device that boots while a session is asked for does not see the request: ask again */
#define ASK_AGAIN_NS 100000000U
#define PAUSE_NS     50000

void ring_wake(struct ring *ring)
{
	if (!ring->port.doorbell)
		return;
	mortise_fence();
	if (mortise_peek(&ring->control->completion.sleeping))
		ring->port.doorbell(ring->port.context);
}

/* A fresh number that memory of an older session is unlikely to hold. */
static uint32_t fresh_number(uint32_t old)
{
	uint32_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (uint32_t)clock_now();
	return number && number != old ? number : old + 1 ? old + 1 : 1;
}

static void pause_a_little(void)
{
	const struct timespec t = { 0, PAUSE_NS };

	nanosleep(&t, NULL);
}

static bool is_there(struct ring *ring)
{
	return mortise_load(&ring->control->identity.magic) == MORTISE_MAGIC;
}

/* Wait until the device says @session; false when @until passed. */
static bool await_session(struct ring *ring, uint32_t session, uint64_t until)
{
	const uint32_t *word = &ring->control->device.session;
	unsigned int polls = 0;

	while (!is_there(ring) || mortise_load(word) != session) {
		if (clock_now() >= until)
			return false;
		if (++polls > 1000)
			pause_a_little();
	}
	return true;
}

static void ask_for(struct ring *ring, uint32_t session)
{
	mortise_release(&ring->control->host.session, session);
	ring_wake(ring);
}

static void write_setup(struct ring *ring)
{
	const struct ring_setup *from = &ring->setup;
	struct mortise_setup *to = &ring->control->setup;

	to->magic = MORTISE_MAGIC;
	to->abi = MORTISE_ABI;
	to->ring_address = from->window_address + from->ring_offset;
	to->ring_words = from->ring_words;
	to->ring_start = (uint32_t)ring->base;
	to->watchdog_ms = from->watchdog_ms;
	to->region_count = from->region_count;
	memcpy(to->regions, from->regions, sizeof(to->regions));
	mortise_put(&ring->control->host.head, (uint32_t)ring->base);
	mortise_put(&ring->control->host.waiting, 0);
	mortise_put(&ring->control->host.wanted, 0);
}

/* The device answered: is it one that we can talk to. */
static int check_identity(struct ring *ring)
{
	uint32_t abi = mortise_peek(&ring->control->identity.abi);
	uint32_t version = mortise_peek(&ring->control->identity.version);

	if (abi >> 16 != MORTISE_ABI_MAJOR)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"%s: firmware %u.%u.%u has ABI %u.%u, this library has %u.%u; install the "
			"firmware that belongs to it",
			ring->setup.name, version >> 16 & 0xff, version >> 8 & 0xff, version & 0xff,
			abi >> 16, abi & 0xffff, MORTISE_ABI_MAJOR, MORTISE_ABI_MINOR);
	return 0;
}

/* Without a timer the heartbeat stands still while a function runs. */
static void choose_silence(struct ring *ring)
{
	uint32_t features = mortise_peek(&ring->control->identity.features);

	ring->silence_ms = ring->setup.silence_ms;
	if (!ring->silence_ms)
		ring->silence_ms = features & MORTISE_FEATURE_WATCHDOG ? DEFAULT_SILENCE_MS
								       : 10 * DEFAULT_SILENCE_MS;
}

static int check_answer(struct ring *ring)
{
	uint32_t state = mortise_load(&ring->control->device.state);

	choose_silence(ring);
	if (state == MORTISE_RUNNING)
		return 0;
	ring_lose(ring, state == MORTISE_FAULTED ? RING_FAULTED : RING_GARBAGE);
	return tenon_error_in(ring_lost(ring), "the device refused the session");
}

static int not_there(struct ring *ring, const char *what)
{
	return tenon_error(-TENON_E_TIMEOUT, "%s: %s: %s (magic 0x%08x, state %u)",
			   ring->setup.name, what,
			   is_there(ring) ? "the firmware does not answer"
					  : "there is no firmware, or it has not started",
			   mortise_peek(&ring->control->identity.magic),
			   mortise_peek(&ring->control->device.state));
}

/* Ask for a session until the device answers. */
static int begin_session(struct ring *ring, uint64_t deadline)
{
	uint64_t until;
	int err;

	ask_for(ring, 0);
	if (!await_session(ring, 0, deadline))
		return not_there(ring, "cannot end the old session");
	err = check_identity(ring);
	if (err)
		return err;
	do {
		/* a device that restarted in between takes a number that it finds for an old one */
		ask_for(ring, 0);
		write_setup(ring);
		ring->session = fresh_number(ring->session);
		ask_for(ring, ring->session);
		until = ring_after(clock_now(), ASK_AGAIN_NS);
		if (until > deadline)
			until = deadline;
	} while (!await_session(ring, ring->session, until) && clock_now() < deadline);
	if (mortise_load(&ring->control->device.session) != ring->session)
		return not_there(ring, "cannot begin a session");
	return check_answer(ring);
}

int ring_restart(struct ring *ring, uint64_t deadline)
{
	/* sequences of the old session lie below all new ones */
	ring->base = ++ring->reserved;
	ring->room_from = ring->base;
	ring->last = NULL;
	__atomic_store_n(&ring->completed, ring->base, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->submitted, ring->base, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->loss, RING_ALIVE, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->heartbeat_at, clock_now(), __ATOMIC_RELAXED);
	return begin_session(ring, deadline);
}

static int check_setup(const struct ring_setup *s)
{
	uint64_t bytes = (uint64_t)s->ring_words * MORTISE_WORD;

	if (s->window_size < MORTISE_SHARED_OFFSET)
		return tenon_error(-TENON_E_VALUE,
				   "%s: a window of %llu bytes has no control block", s->name,
				   (unsigned long long)s->window_size);
	if (s->ring_words < MORTISE_RING_LEAST || s->ring_words > MORTISE_RING_MOST ||
	    (s->ring_words & (s->ring_words - 1)))
		return tenon_error(-TENON_E_VALUE,
				   "%s: a ring has a power of two of words, %u to %u, not %u",
				   s->name, MORTISE_RING_LEAST, MORTISE_RING_MOST, s->ring_words);
	if (s->ring_offset < MORTISE_SHARED_OFFSET || s->ring_offset % 64 ||
	    s->ring_offset > s->window_size || bytes > s->window_size - s->ring_offset)
		return tenon_error(-TENON_E_VALUE,
				   "%s: the ring at 0x%llx is not inside the window", s->name,
				   (unsigned long long)s->ring_offset);
	if (s->region_count > MORTISE_REGION_COUNT)
		return tenon_error(-TENON_E_VALUE, "%s: at most %u regions, not %u", s->name,
				   MORTISE_REGION_COUNT, s->region_count);
	return 0;
}

static int create(const struct ring_port *port, const struct ring_setup *setup, struct ring **out)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	pthread_condattr_t clock;

	if (!ring)
		return tenon_error(-TENON_E_NOMEM, "no memory for a ring");
	ring->port = *port;
	ring->setup = *setup;
	if (!ring->setup.spin_ns)
		ring->setup.spin_ns = DEFAULT_SPIN_NS;
	ring->control = (struct mortise_control *)(void *)(setup->window + MORTISE_CONTROL_OFFSET);
	ring->words = (uint64_t *)(void *)(setup->window + setup->ring_offset);
	ring->mask = setup->ring_words - 1;
	ring->reserved = (uint64_t)setup->ring_start - 1; /* ring_restart() adds 1 */
	pthread_mutex_init(&ring->sleep, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&ring->woken, &clock);
	pthread_condattr_destroy(&clock);
	*out = ring;
	return 0;
}

static void destroy(struct ring *ring)
{
	pthread_cond_destroy(&ring->woken);
	pthread_mutex_destroy(&ring->sleep);
	free(ring);
}

int ring_open(const struct ring_port *port, const struct ring_setup *setup, uint64_t deadline,
	      struct ring **out)
{
	struct ring *ring = NULL;
	int err;

	*out = NULL;
	err = check_setup(setup);
	if (!err)
		err = create(port, setup, &ring);
	if (err)
		return err;
	err = ring_restart(ring, deadline);
	if (err) {
		destroy(ring);
		return err;
	}
	*out = ring;
	return 0;
}

void ring_end(struct ring *ring)
{
	uint32_t ours = ring->session;

	/* the word is the hosts' alone */
	if (__atomic_compare_exchange_n(&ring->control->host.session, &ours, 0, false,
					__ATOMIC_RELEASE, __ATOMIC_RELAXED))
		ring_wake(ring);
}

void ring_close(struct ring *ring)
{
	if (!ring)
		return;
	ring_end(ring);
	destroy(ring);
}

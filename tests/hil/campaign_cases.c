/* SPDX-License-Identifier: MIT */
/*
 * Faults at random, the same for the same seed: whatever happens, each wait ends in bounded time with a class of
 * failure that fits, and what runs afterwards is right.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "tests/fuzz/random.h"
#include "tests/hil/hil.h"

#define SILENCE_MS 300
/* as long as any wait may take on a machine under load */
#define BOUND_NS UINT64_C(15000000000)

static struct mortise_control *control(void)
{
	return (struct mortise_control *)(void *)(board_memory(hil.board)->base +
						  MORTISE_CONTROL_OFFSET);
}

/* The status that came, as a bit; 0 is a success. */
static unsigned int bit_of(int err)
{
	return 1U << -err;
}

#define FINE	(1U << 0)
#define JOB	(1U << TENON_E_DEVICE)
#define LOST	(1U << TENON_E_LOST)
#define IN_TIME (1U << TENON_E_TIMEOUT)

static int work(struct random *r)
{
	struct mortise_fill p = { { MORTISE_OP_FILL, 0, 0, 0 },
				  rig_at(&hil, 0),
				  8 * random_below(r, 5000),
				  random_next(r),
				  8,
				  0 };
	uint64_t sequence = 0;
	int err = 0, i;

	for (i = 0; i < 20 && !err; i++)
		err = ring_emit(hil.ring, &p, sizeof(p), RING_NOW, &sequence);
	return err ? err : ring_wait(hil.ring, sequence, in_ms(10000));
}

/* ---- faults; each returns which outcomes fit */

static unsigned int freeze(struct random *r)
{
	(void)r;
	assert_ok(board_inject(hil.board, BOARD_FREEZE));
	return LOST;
}

static unsigned int kill_it(struct random *r)
{
	(void)r;
	assert_ok(board_inject(hil.board, BOARD_KILL));
	return LOST;
}

static unsigned int reboot(struct random *r)
{
	(void)r;
	assert_ok(board_inject(hil.board, BOARD_REBOOT));
	return LOST;
}

static unsigned int lose_doorbell(struct random *r)
{
	(void)r;
	assert_ok(board_inject(hil.board, BOARD_LOSE_DOORBELL));
	return FINE;
}

/* The device overwrites what is its own soon enough, so that it may pass unseen. */
static unsigned int garbage_of_the_device(struct random *r)
{
	uint32_t *words = (uint32_t *)(void *)&control()->device;
	size_t i = random_below(r, offsetof(struct mortise_control, host) / 4 -
					   offsetof(struct mortise_control, device) / 4);

	__atomic_store_n(&words[i], (uint32_t)random_next(r), __ATOMIC_RELEASE);
	return FINE | LOST | JOB;
}

static unsigned int garbage_of_the_host(struct random *r)
{
	void *packet;

	assert_ok(ring_reserve(hil.ring, (uint8_t)random_next(r), 8 + random_below(r, 400),
			       RING_NOW, &packet));
	if (random_one_in(r, 2))
		*(uint64_t *)packet = random_next(r);
	return FINE | JOB | LOST;
}

static unsigned int end_of_the_session(struct random *r)
{
	__atomic_store_n(&control()->host.session, (uint32_t)random_below(r, 2), __ATOMIC_RELEASE);
	return LOST;
}

static unsigned int packet_that_waits_for_ever(struct random *r)
{
	struct mortise_semaphore p = { { MORTISE_OP_WAIT, 0, 0, 0 }, rig_at(&hil, 0x600000), 1, 0 };

	(void)r;
	assert_ok(ring_emit(hil.ring, &p, sizeof(p), RING_NOW, NULL));
	return JOB; /* of the watchdog */
}

static const struct {
	const char *name;
	unsigned int (*inject)(struct random *r);
} faults[] = {
	{ "freeze", freeze },
	{ "kill", kill_it },
	{ "reboot", reboot },
	{ "lost doorbell", lose_doorbell },
	{ "garbage of the device", garbage_of_the_device },
	{ "garbage of the device", garbage_of_the_device },
	{ "garbage of the host", garbage_of_the_host },
	{ "garbage of the host", garbage_of_the_host },
	{ "end of the session", end_of_the_session },
	{ "packet that waits for ever", packet_that_waits_for_ever },
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

/* A new session where that helps, else a reset. */
static void recover(void)
{
	tenon_error_clear();
	board_inject(hil.board, BOARD_THAW);
	if (board_alive(hil.board) || ring_restart(hil.ring, in_ms(3000)))
		rig_reset(&hil);
	tenon_error_clear();
}

static void inject_one(uint64_t seed)
{
	struct random r = { seed };
	size_t which = random_below(&r, FAULTS);
	unsigned int fits = faults[which].inject(&r), found;
	uint64_t before = clock_now();

	found = bit_of(work(&r));
	if (!(found & fits))
		fail_msg("seed %llu, %s: %s", (unsigned long long)seed, faults[which].name,
			 tenon_error_message());
	assert_true(clock_now() - before < BOUND_NS);
	recover();
	hil_compare_stream(seed, 10);
}

static void faults_at_random_end_in_time_and_harm_nothing_later(void)
{
	bool all = getenv("HIL") && *getenv("HIL");
	uint64_t seed, count = hil_is_sim() ? (all ? 400 : 60) : (all ? 60 : 20);

	ring_close(hil.ring);
	rig_setup(&hil);
	hil.setup.silence_ms = SILENCE_MS;
	hil.setup.watchdog_ms = 100;
	rig_begin(&hil);
	for (seed = 1; seed <= count; seed++)
		inject_one(seed);
	ring_close(hil.ring);
	rig_setup(&hil);
	rig_begin(&hil);
}

const struct hil_case hil_campaign_cases[] = {
	HIL_CASE(faults_at_random_end_in_time_and_harm_nothing_later),
	{ NULL, NULL },
};

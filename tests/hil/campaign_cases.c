/* SPDX-License-Identifier: MIT */
/*
 * Faults at random, the same for the same seed: whatever happens, each wait ends in bounded time with a class of
 * failure that fits, and what runs afterwards is right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tests/fuzz/random.h"
#include "tests/hil/hil.h"

#define SILENCE_MS 300
/* as long as any wait may take on a machine under load */
#define BOUND_NS UINT64_C(90000000000)

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
	return err ? err : ring_wait(hil.ring, sequence, in_ms(60000));
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

	rig_scribble(&words[i], (uint32_t)random_next(r));
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

/* What the device reads of jobs is overwritten behind the host's back. */
static unsigned int garbage_in_the_ring(struct random *r)
{
	uint32_t *words =
		(uint32_t *)(void *)(board_memory(hil.board)->base + MORTISE_SHARED_OFFSET);
	struct mortise_fill p = { { MORTISE_OP_FILL, 0, 0, 0 }, rig_at(&hil, 0), 65536, 1, 8, 0 };
	uint32_t n;

	for (n = 0; n < 200; n++)
		assert_ok(ring_emit(hil.ring, &p, sizeof(p), RING_NOW, NULL));
	for (n = 0; n < 64; n++)
		rig_scribble(&words[random_below(r, 2 * MORTISE_RING_LEAST)],
			     (uint32_t)random_next(r));
	return FINE | JOB | LOST;
}

/* A child of fork() drops its copies between a submission and the wait for it. */
static unsigned int fork_of_the_host(struct random *r)
{
	struct mortise_semaphore p = { { MORTISE_OP_SIGNAL, 0, 0, 0 }, rig_at(&hil, 0), 1, 0 };
	uint64_t sequence;
	int status;
	pid_t pid;

	(void)r;
	assert_ok(ring_emit(hil.ring, &p, sizeof(p), RING_NOW, &sequence));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		board_close(hil.board);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_ok(ring_wait(hil.ring, sequence, in_ms(60000)));
	return FINE;
}

static unsigned int end_of_the_session(struct random *r)
{
	__atomic_store_n(&control()->host.session, (uint32_t)random_below(r, 2), __ATOMIC_RELEASE);
	/* a firmware that looked just before may complete the work */
	return FINE | LOST;
}

static unsigned int packet_that_waits_for_ever(struct random *r)
{
	struct mortise_semaphore p = { { MORTISE_OP_WAIT, 0, 0, 0 }, rig_at(&hil, 0x600000), 1, 0 };

	(void)r;
	assert_ok(ring_emit(hil.ring, &p, sizeof(p), RING_NOW, NULL));
	return JOB; /* of the watchdog */
}

/* What ends a job: silence or the watchdog, soon; the watchdog alone, for a machine that is slow; neither. */
enum patience { HASTY, WATCHED, PATIENT };

static const struct {
	const char *name;
	unsigned int (*inject)(struct random *r);
	enum patience patience;
} faults[] = {
	{ "freeze", freeze, HASTY },
	{ "kill", kill_it, HASTY },
	{ "reboot", reboot, PATIENT },
	{ "lost doorbell", lose_doorbell, PATIENT },
	{ "garbage of the device", garbage_of_the_device, HASTY },
	{ "garbage of the device", garbage_of_the_device, HASTY },
	{ "garbage of the host", garbage_of_the_host, HASTY },
	{ "garbage of the host", garbage_of_the_host, HASTY },
	{ "garbage in the ring", garbage_in_the_ring, HASTY },
	{ "fork of the host", fork_of_the_host, PATIENT },
	{ "end of the session", end_of_the_session, PATIENT },
	{ "packet that waits for ever", packet_that_waits_for_ever, WATCHED },
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static void begin(enum patience patience)
{
	ring_close(hil.ring);
	rig_setup(&hil);
	hil.setup.silence_ms = patience == HASTY ? SILENCE_MS : 30000;
	hil.setup.watchdog_ms = patience == PATIENT ? 0 : 100;
	rig_begin(&hil);
}

/* A new session where that helps, else a reset. */
static void recover(void)
{
	tenon_error_clear();
	board_inject(hil.board, BOARD_THAW);
	if (board_alive(hil.board) || ring_restart(hil.ring, in_ms(3000)))
		rig_reset(&hil);
	tenon_error_clear();
	begin(PATIENT);
}

static void inject_one(uint64_t seed)
{
	struct random r = { seed };
	size_t which = random_below(&r, FAULTS);
	unsigned int fits, found;
	uint64_t before;

	begin(faults[which].patience);
	before = clock_now();
	fits = faults[which].inject(&r);
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
	const char *hil_run = getenv("HIL"), *full = getenv("FULL");
	bool all = (hil_run && *hil_run) || (full && *full);
	uint64_t i, count = hil_is_sim() ? (all ? 400 : 60) : (all && !hil_is_clocked() ? 40 : 15);
	uint64_t first = hil_seed();

	for (i = 0; i < count; i++)
		inject_one(first + i);
	print_message("# %llu faults on %s, from SEED=%llu on\n", (unsigned long long)count,
		      hil_board, (unsigned long long)first);
	ring_close(hil.ring);
	rig_setup(&hil);
	rig_begin(&hil);
}

const struct hil_case hil_campaign_cases[] = {
	HIL_CASE(faults_at_random_end_in_time_and_harm_nothing_later),
	{ NULL, NULL },
};

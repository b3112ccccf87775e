/* SPDX-License-Identifier: MIT */
/* What a board does to its host: it stands still, dies, restarts, loses doorbells. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/board/board_private.h"
#include "driver/board/qemu_process.h"
#include "lib/clock.h"
#include "tests/hil/hil.h"

static int signal_and_wait(uint64_t ms)
{
	struct mortise_semaphore p = { { MORTISE_OP_SIGNAL, 0, 0, 0 }, rig_at(&hil, 0), 3, 0 };
	uint64_t sequence;
	int err = ring_emit(hil.ring, &p, sizeof(p), RING_NOW, &sequence);

	return err ? err : ring_wait(hil.ring, sequence, in_ms(ms));
}

static void assert_well(void)
{
	assert_ok(signal_and_wait(60000));
	assert_int_equal(*rig_word(&hil, 0), 3);
}

/* The board as it was, but with little patience. */
static void be_impatient(void)
{
	ring_close(hil.ring);
	rig_setup(&hil);
	hil.setup.silence_ms = 2000;
	rig_begin(&hil);
}

static void a_frozen_device_is_lost_in_bounded_time(void)
{
	uint64_t before;
	struct ring_report r;

	be_impatient();
	assert_ok(board_inject(hil.board, BOARD_FREEZE));
	before = clock_now();
	assert_int_equal(signal_and_wait(60000), -TENON_E_LOST);
	assert_error_has("stands still");
	assert_true(clock_now() - before < UINT64_C(60000000000));
	ring_report(hil.ring, &r);
	assert_int_equal(r.loss, RING_SILENT);
	/* a device that comes back is not believed before a new session */
	assert_ok(board_inject(hil.board, BOARD_THAW));
	assert_int_equal(signal_and_wait(100), -TENON_E_LOST);
	assert_ok(ring_restart(hil.ring, in_ms(60000)));
	assert_well();
}

static void a_deadline_before_that_is_a_timeout(void)
{
	assert_ok(board_inject(hil.board, BOARD_FREEZE));
	assert_int_equal(signal_and_wait(50), -TENON_E_TIMEOUT);
	assert_ok(board_inject(hil.board, BOARD_THAW));
	assert_well();
}

static void a_killed_device_is_lost_and_comes_back(void)
{
	be_impatient();
	assert_ok(board_alive(hil.board));
	assert_ok(board_inject(hil.board, BOARD_KILL));
	assert_int_equal(signal_and_wait(60000), -TENON_E_LOST);
	while (!board_alive(hil.board))
		;
	tenon_error_clear();
	assert_int_equal(ring_restart(hil.ring, in_ms(200)), -TENON_E_TIMEOUT);
	assert_error_has("does not answer");
	rig_reset(&hil);
	assert_well();
}

static void a_device_that_restarts_has_lost_the_session(void)
{
	struct mortise_semaphore p = { { MORTISE_OP_WAIT, 0, 0, 0 }, rig_at(&hil, 0), 3, 0 };
	struct ring_report r;
	uint64_t sequence;

	assert_ok(ring_emit(hil.ring, &p, sizeof(p), RING_NOW, &sequence));
	assert_ok(board_inject(hil.board, BOARD_REBOOT));
	assert_int_equal(ring_wait(hil.ring, sequence, in_ms(60000)), -TENON_E_LOST);
	assert_error_has("restarted");
	ring_report(hil.ring, &r);
	assert_int_equal(r.loss, RING_RESTARTED);
	assert_ok(ring_restart(hil.ring, in_ms(60000)));
	assert_well();
}

static void memory_survives_a_reset(void)
{
	memset(hil.heap, 0x5a, 4096);
	rig_reset(&hil);
	assert_int_equal(hil.heap[0], 0x5a);
	assert_int_equal(hil.heap[4095], 0x5a);
}

static void a_lost_doorbell_costs_time_alone(void)
{
	uint64_t until = in_ms(60000);
	struct ring_report r;

	do
		ring_report(hil.ring, &r);
	while (!r.asleep && clock_now() < until);
	assert_ok(board_inject(hil.board, BOARD_LOSE_DOORBELL));
	assert_well();
}

static void shutdown_stops_the_device(void)
{
	struct mortise_header p = { MORTISE_OP_SHUTDOWN, 0, 0, 0 };

	assert_ok(RUN(&hil, p));
	assert_true(signal_and_wait(60000) < 0);
	tenon_error_clear();
	rig_reset(&hil);
	assert_well();
}

/* A host that dies leaves a session; another one takes the device over. */
static void a_second_ring_takes_the_device_over(void)
{
	struct ring *first = hil.ring;
	uint64_t done;

	rig_begin(&hil);
	assert_well();
	assert_int_equal(ring_completed(first, &done), -TENON_E_LOST);
	assert_error_has("another host took the device");
	ring_close(first);
	assert_ok(ring_restart(hil.ring, in_ms(60000)));
	assert_well();
}

/* A child of fork() may drop its copies, and the parent goes on. */
static void a_child_process_disturbs_nothing(void)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		board_close(hil.board);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_well();
}

/* In a child: a board of its own with jobs in its ring; tell the parent which emulator it is, and wait to be killed. */
static void be_a_host(int tell)
{
	struct mortise_semaphore p = { { MORTISE_OP_WAIT, 0, 0, 0 }, 0, 1, 0 };
	const struct qemu_process *emulator;
	struct rig rig = { 0 };
	int i;

	if (board_open(board_kind_find(hil_board), &rig.board))
		_exit(1);
	rig_setup(&rig);
	if (ring_open(board_port(rig.board), &rig.setup, in_ms(60000), &rig.ring))
		_exit(1);
	p.address = rig_at(&rig, 0);
	for (i = 0; i < 50; i++)
		if (ring_emit(rig.ring, &p, sizeof(p), RING_NOW, NULL))
			_exit(1);
	emulator = rig.board->state;
	if (write(tell, &emulator->group, sizeof(emulator->group)) < 0)
		_exit(1);
	for (;;)
		pause();
}

static void a_killed_host_takes_its_emulator_along(void)
{
	uint64_t until;
	int to[2], status;
	pid_t pid, group = 0;

	if (!hil_is_process()) {
		print_message("# skip: the board is no process of its host\n");
		skip();
	}
	assert_int_equal(pipe(to), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		be_a_host(to[1]);
	close(to[1]);
	assert_int_equal(read(to[0], &group, sizeof(group)), sizeof(group));
	close(to[0]);
	assert_true(group > 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	until = in_ms(60000);
	while (!kill(-group, 0) && clock_now() < until)
		usleep(1000);
	assert_int_equal(kill(-group, 0), -1);
	assert_well();
}

const struct hil_case hil_fault_cases[] = {
	HIL_CASE(a_frozen_device_is_lost_in_bounded_time),
	HIL_CASE(a_deadline_before_that_is_a_timeout),
	HIL_CASE(a_killed_device_is_lost_and_comes_back),
	HIL_CASE(a_device_that_restarts_has_lost_the_session),
	HIL_CASE(memory_survives_a_reset),
	HIL_CASE(a_lost_doorbell_costs_time_alone),
	HIL_CASE(shutdown_stops_the_device),
	HIL_CASE(a_second_ring_takes_the_device_over),
	HIL_CASE(a_child_process_disturbs_nothing),
	HIL_CASE(a_killed_host_takes_its_emulator_along),
	{ NULL, NULL },
};

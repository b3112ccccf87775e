/* SPDX-License-Identifier: MIT */
/* Sessions, deadlines, idling, and a device that writes nonsense. */
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/clock.h"
#include "tests/hil/hil.h"

static struct mortise_control *control(void)
{
	return (struct mortise_control *)(void *)(board_memory(hil.board)->base +
						  MORTISE_CONTROL_OFFSET);
}

static struct mortise_semaphore hold(void)
{
	return (struct mortise_semaphore){ { MORTISE_OP_WAIT, 0, 0, 0 }, rig_at(&hil, 0), 1, 0 };
}

static uint64_t emit_hold(void)
{
	struct mortise_semaphore p = hold();
	uint64_t sequence;

	assert_ok(ring_emit(hil.ring, &p, sizeof(p), RING_NOW, &sequence));
	return sequence;
}

static void let_go(void)
{
	__atomic_store_n(rig_word(&hil, 0), 1, __ATOMIC_RELEASE);
}

static void what_was_queued_is_lost_with_its_session(void)
{
	uint64_t sequence = emit_hold();

	assert_ok(ring_restart(hil.ring, in_ms(60000)));
	assert_int_equal(ring_wait(hil.ring, sequence, in_ms(10)), -TENON_E_LOST);
	assert_error_has("belongs to a session that is over");
	let_go();
	assert_ok(ring_wait(hil.ring, emit_hold(), in_ms(60000)));
}

static void what_was_never_published_cannot_be_waited_for(void)
{
	assert_int_equal(ring_wait(hil.ring, UINT64_MAX, RING_NOW), -TENON_E_USAGE);
	tenon_error_clear();
}

static void a_timeout_says_what_the_device_is_doing(void)
{
	uint64_t sequence = emit_hold(), before = clock_now();

	assert_int_equal(ring_wait(hil.ring, sequence, in_ms(100)), -TENON_E_TIMEOUT);
	assert_true(clock_now() - before >= 99000000);
	assert_error_has("last packet wait");
	assert_int_equal(ring_wait(hil.ring, sequence, RING_NOW), -TENON_E_TIMEOUT);
	let_go();
	assert_ok(ring_wait(hil.ring, sequence, in_ms(60000)));
}

/* A setup that the device must refuse. */
static void refuse(uint32_t error)
{
	struct ring_report r;
	struct ring *ring;

	assert_int_equal(ring_open(board_port(hil.board), &hil.setup, in_ms(5000), &ring),
			 -TENON_E_DEVICE);
	assert_null(ring);
	ring_report(hil.ring, &r);
	assert_int_equal(r.fault.code, MORTISE_FAULT_SETUP);
	assert_int_equal(r.fault.detail, error);
	tenon_error_clear();
	rig_setup(&hil);
}

static void regions_outside_of_the_window_are_refused(void)
{
	uint64_t base = board_address(hil.board), size = board_memory(hil.board)->size;

	hil.setup.regions[0] = (struct mortise_region){ base + size - 8, 16, MORTISE_READ, 0 };
	refuse(MORTISE_SETUP_REGION);
	/* the firmware and the control block */
	hil.setup.regions[0] = (struct mortise_region){ base, 16, MORTISE_READ, 0 };
	refuse(MORTISE_SETUP_REGION);
	hil.setup.regions[0] =
		(struct mortise_region){ base + MORTISE_CONTROL_OFFSET, 16, MORTISE_READ, 0 };
	refuse(MORTISE_SETUP_REGION);
	/* the ring */
	hil.setup.regions[1] =
		(struct mortise_region){ base + MORTISE_SHARED_OFFSET, 16, MORTISE_READ, 0 };
	refuse(MORTISE_SETUP_REGION);
	hil.setup.regions[1] =
		(struct mortise_region){ base + RIG_HEAP, UINT64_MAX, MORTISE_READ, 0 };
	refuse(MORTISE_SETUP_REGION);
	hil.setup.regions[1] = (struct mortise_region){ base + RIG_HEAP, 0, MORTISE_READ, 0 };
	refuse(MORTISE_SETUP_REGION);
	hil.setup.regions[1] = (struct mortise_region){ base + RIG_HEAP, 16, 8, 0 };
	refuse(MORTISE_SETUP_REGION);
	assert_ok(ring_restart(hil.ring, in_ms(60000)));
}

static void a_setup_out_of_range_does_not_reach_the_device(void)
{
	struct ring *ring;

	hil.setup.ring_words = 3000;
	assert_int_equal(ring_open(board_port(hil.board), &hil.setup, in_ms(5000), &ring),
			 -TENON_E_VALUE);
	rig_setup(&hil);
	hil.setup.ring_offset = hil.setup.window_size - 64;
	assert_int_equal(ring_open(board_port(hil.board), &hil.setup, in_ms(5000), &ring),
			 -TENON_E_VALUE);
	rig_setup(&hil);
	hil.setup.region_count = 17;
	assert_int_equal(ring_open(board_port(hil.board), &hil.setup, in_ms(5000), &ring),
			 -TENON_E_VALUE);
	rig_setup(&hil);
	tenon_error_clear();
}

static void another_abi_is_refused(void)
{
	control()->identity.abi += 1 << 16;
	assert_int_equal(ring_restart(hil.ring, in_ms(5000)), -TENON_E_UNSUPPORTED);
	assert_error_has("ABI 2.0");
	control()->identity.abi -= 1 << 16;
	assert_ok(ring_restart(hil.ring, in_ms(60000)));
}

/* ---- garbage from the device's side */

static void a_completion_of_what_was_not_submitted_is_garbage(void)
{
	uint64_t done;
	struct ring_report r;

	/* the device stands in a packet, so it does not write the word itself */
	emit_hold();
	control()->completion.done += 1 << 20;
	assert_int_equal(ring_completed(hil.ring, &done), -TENON_E_LOST);
	assert_error_has("what no firmware writes");
	ring_report(hil.ring, &r);
	assert_int_equal(r.loss, RING_GARBAGE);
	rig_reset(&hil);
}

static void a_completion_that_goes_backwards_is_garbage(void)
{
	struct mortise_semaphore first = { { MORTISE_OP_SIGNAL, 0, 0, 0 }, rig_at(&hil, 8), 1, 0 };
	uint64_t done;

	assert_ok(RUN(&hil, first));
	emit_hold();
	control()->completion.done -= 1;
	assert_int_equal(ring_completed(hil.ring, &done), -TENON_E_LOST);
	assert_error_has("what no firmware writes");
	rig_reset(&hil);
}

static void a_state_that_is_none_is_garbage(void)
{
	uint64_t done;

	control()->device.state = 77;
	assert_int_equal(ring_completed(hil.ring, &done), -TENON_E_LOST);
	assert_error_has("what no firmware writes");
	assert_int_equal(ring_completed(hil.ring, &done), -TENON_E_LOST);
	tenon_error_clear();
	rig_reset(&hil);
}

static void a_session_that_is_not_ours_ends_it(void)
{
	uint64_t done;
	struct ring_report r;

	control()->device.session ^= 1;
	assert_int_equal(ring_completed(hil.ring, &done), -TENON_E_LOST);
	assert_error_has("restarted");
	ring_report(hil.ring, &r);
	assert_int_equal(r.loss, RING_RESTARTED);
	rig_reset(&hil);
}

/* ---- garbage from the host's side */

static void garbage_in_the_ring_faults(void)
{
	uint64_t words[4] = { 0xdeadbeefcafef00d, 0x0123456789abcdef, 0, UINT64_MAX }, sequence;
	void *packet;
	size_t i;

	for (i = 0; i < 4; i++) {
		assert_ok(ring_reserve(hil.ring, MORTISE_OP_SIGNAL, 24, RING_NOW, &packet));
		memcpy(packet, &words[i], 8);
		sequence = ring_publish(hil.ring);
		assert_int_equal(ring_wait(hil.ring, sequence, in_ms(60000)), -TENON_E_DEVICE);
		assert_int_equal(rig_fault(&hil).code, MORTISE_FAULT_HEADER);
		assert_ok(ring_restart(hil.ring, in_ms(60000)));
	}
}

static void a_head_that_is_too_far_ahead_faults(void)
{
	const struct ring_port *port = board_port(hil.board);
	uint64_t done;
	uint64_t until = in_ms(60000);

	__atomic_store_n(&control()->host.head, control()->host.head + MORTISE_RING_LEAST + 1,
			 __ATOMIC_RELEASE);
	if (port->doorbell)
		port->doorbell(port->context);
	while (!ring_completed(hil.ring, &done) && clock_now() < until)
		;
	assert_int_equal(rig_fault(&hil).code, MORTISE_FAULT_HEAD);
}

/* ---- idling */

static uint64_t processor_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *let_go_later(void *arg)
{
	const struct timespec t = { 0, 500000000 };

	(void)arg;
	nanosleep(&t, NULL);
	let_go();
	return NULL;
}

/* The host sleeps while the device works; on the simulator the device's own thread is of this process. */
static void waiting_costs_no_processor_time(void)
{
	uint64_t sequence = emit_hold(), before;
	pthread_t thread;

	if (hil_is_sim()) {
		print_message("# skip: the simulator polls on a thread of this process\n");
		skip();
	}
	assert_int_equal(pthread_create(&thread, NULL, let_go_later, NULL), 0);
	before = processor_time();
	assert_ok(ring_wait(hil.ring, sequence, in_ms(60000)));
	assert_true(processor_time() - before < 20000000);
	pthread_join(thread, NULL);
}

static void a_device_without_work_goes_to_sleep_and_wakes_up(void)
{
	const struct timespec half = { 0, 500000000 };
	struct ring_report r;
	uint64_t until = in_ms(60000), before;

	do
		ring_report(hil.ring, &r);
	while (!r.asleep && clock_now() < until);
	assert_true(r.asleep);
	before = processor_time();
	nanosleep(&half, NULL);
	assert_true(processor_time() - before < 20000000);
	let_go();
	assert_ok(ring_wait(hil.ring, emit_hold(), in_ms(60000)));
}

static void *wait_for_it(void *arg)
{
	uint64_t *sequence = arg;

	return ring_wait(hil.ring, *sequence, in_ms(60000)) ? arg : NULL;
}

static void several_threads_wait(void)
{
	uint64_t sequences[8];
	pthread_t threads[8], later;
	void *failed;
	size_t i;

	for (i = 0; i < 8; i++)
		sequences[i] = emit_hold();
	for (i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_for_it, &sequences[7 - i]),
				 0);
	assert_int_equal(pthread_create(&later, NULL, let_go_later, NULL), 0);
	for (i = 0; i < 8; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	pthread_join(later, NULL);
}

const struct hil_case hil_session_cases[] = {
	HIL_CASE(what_was_queued_is_lost_with_its_session),
	HIL_CASE(what_was_never_published_cannot_be_waited_for),
	HIL_CASE(a_timeout_says_what_the_device_is_doing),
	HIL_CASE(regions_outside_of_the_window_are_refused),
	HIL_CASE(a_setup_out_of_range_does_not_reach_the_device),
	HIL_CASE(another_abi_is_refused),
	HIL_CASE(a_completion_of_what_was_not_submitted_is_garbage),
	HIL_CASE(a_completion_that_goes_backwards_is_garbage),
	HIL_CASE(a_state_that_is_none_is_garbage),
	HIL_CASE(a_session_that_is_not_ours_ends_it),
	HIL_CASE(garbage_in_the_ring_faults),
	HIL_CASE(a_head_that_is_too_far_ahead_faults),
	HIL_CASE(waiting_costs_no_processor_time),
	HIL_CASE(a_device_without_work_goes_to_sleep_and_wakes_up),
	HIL_CASE(several_threads_wait),
	{ NULL, NULL },
};

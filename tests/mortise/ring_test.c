/* SPDX-License-Identifier: MIT */
/*
 * The host's side of the ring, on a device that does what each case says: it answers when its doorbell rings, or when the host
 * sleeps. So it writes what no firmware writes, between any two looks of the host. The linker's --wrap puts this file's calloc() and
 * getrandom() before those of the C library (Kbuild).
 */
#include "tests/unit/suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <tenon/uapi/mortise_order.h>
#include <time.h>

#include "driver/ring/ring.h"
#include "lib/clock.h"

#define WORDS	MORTISE_RING_LEAST
#define WINDOW	(MORTISE_SHARED_OFFSET + WORDS * MORTISE_WORD)
#define MS	UINT64_C(1000000)
#define SECOND	(1000 * MS)
#define VERSION 0x010203U
#define AT	0x1122334455667788U
#define NUMBER	1000U /* of the first session */

/* ---- calls that fail */

static bool no_memory;
static int64_t random_number; /* negative: there is none */

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return no_memory ? NULL : __real_calloc(count, size);
}

ssize_t __wrap_getrandom(void *to, size_t size, unsigned int flags);
ssize_t __wrap_getrandom(void *to, size_t size, unsigned int flags)
{
	const uint32_t number = (uint32_t)random_number;

	(void)flags;
	if (random_number < 0)
		return -1;
	memcpy(to, &number, size);
	return (ssize_t)size;
}

/* ---- the device */

struct device {
	uint8_t *window;
	struct mortise_control *control;
	struct ring_setup setup;
	struct ring *ring;
	uint32_t state;	   /* that it answers a session with */
	unsigned int deaf; /* requests that it does not hear */
	void (*rung)(struct device
			     *d); /* what else it does for the doorbell, while there is a session */
	void (*awaited)(struct device *d); /* while the host sleeps */
};

static void complete_all(struct device *d)
{
	mortise_release(&d->control->completion.done, mortise_load(&d->control->host.head));
}

static void fault(struct device *d)
{
	d->control->fault =
		(struct mortise_fault){ .code = MORTISE_FAULT_TRAP, .opcode = MORTISE_OP_COPY };
	mortise_release(&d->control->device.state, MORTISE_FAULTED);
}

static void doorbell(void *context)
{
	struct device *d = context;
	uint32_t wanted = mortise_load(&d->control->host.session);

	if (wanted == d->control->device.session) {
		if (d->rung)
			d->rung(d);
		return;
	}
	if (wanted && d->deaf) {
		d->deaf--;
		return;
	}
	d->control->completion.done = d->control->setup.ring_start;
	d->control->device.position = d->control->setup.ring_start;
	d->control->device.state = wanted ? d->state : MORTISE_READY;
	mortise_release(&d->control->device.session, wanted);
}

static void nap(void *context, uint64_t deadline)
{
	struct device *d = context;

	(void)deadline;
	if (d->awaited)
		d->awaited(d);
}

static struct ring_port port_of(struct device *d)
{
	return (struct ring_port){ d, doorbell, nap };
}

static int set_up(void **state)
{
	struct device *d = calloc(1, sizeof(*d));

	if (!d || posix_memalign((void **)&d->window, 64, WINDOW))
		return -1;
	memset(d->window, 0, WINDOW);
	d->control = (struct mortise_control *)(void *)(d->window + MORTISE_CONTROL_OFFSET);
	d->control->identity = (struct mortise_identity){ .magic = MORTISE_MAGIC,
							  .abi = MORTISE_ABI,
							  .version = VERSION,
							  .features = MORTISE_FEATURE_WATCHDOG };
	d->control->completion.sleeping = 1;
	d->state = MORTISE_RUNNING;
	d->setup = (struct ring_setup){ .name = "script",
					.window = d->window,
					.window_size = WINDOW,
					.ring_offset = MORTISE_SHARED_OFFSET,
					.ring_words = WORDS };
	random_number = NUMBER;
	*state = d;
	return 0;
}

static int tear_down(void **state)
{
	struct device *d = *state;

	ring_close(d->ring);
	free(d->window);
	free(d);
	return 0;
}

static void begin(struct device *d)
{
	struct ring_port port = port_of(d);

	assert_int_equal(ring_open(&port, &d->setup, RING_FOREVER, &d->ring), 0);
	assert_non_null(d->ring);
}

static int try_to_begin(struct device *d, uint64_t deadline)
{
	struct ring_port port = port_of(d);
	int err = ring_open(&port, &d->setup, deadline, &d->ring);

	assert_true(!err == !!d->ring);
	return err;
}

/* A packet of @words words that names AT; the sequence behind it. */
static uint64_t emit(struct device *d, uint8_t opcode, uint32_t words)
{
	uint64_t packet[MORTISE_PACKET_MOST] = { 0, AT, AT }, sequence;

	memcpy(packet, &(struct mortise_header){ .opcode = opcode }, sizeof(struct mortise_header));
	assert_int_equal(
		ring_emit(d->ring, packet, (size_t)words * MORTISE_WORD, RING_FOREVER, &sequence),
		0);
	return sequence;
}

/* ---- setups */

static void a_setup_out_of_range_is_refused(void **state)
{
	struct device *d = *state;
	const struct ring_setup good = d->setup;

	d->setup.window_size = MORTISE_SHARED_OFFSET - 1;
	assert_int_equal(try_to_begin(d, RING_FOREVER), -TENON_E_VALUE);
	assert_error_has("has no control block");
	for (uint32_t words = 0; words < 4; words++) {
		const uint32_t bad[] = { MORTISE_RING_LEAST / 2, MORTISE_RING_MOST * 2, WORDS + 8,
					 0 };

		d->setup = good;
		d->setup.ring_words = bad[words];
		assert_int_equal(try_to_begin(d, RING_FOREVER), -TENON_E_VALUE);
		assert_error_has("a power of two of words");
	}
	for (int place = 0; place < 4; place++) {
		const uint64_t bad[] = { MORTISE_SHARED_OFFSET - 64, MORTISE_SHARED_OFFSET + 8,
					 WINDOW + 64, MORTISE_SHARED_OFFSET + 64 };

		d->setup = good;
		d->setup.ring_offset = bad[place];
		assert_int_equal(try_to_begin(d, RING_FOREVER), -TENON_E_VALUE);
		assert_error_has("is not inside the window");
	}
	d->setup = good;
	d->setup.region_count = MORTISE_REGION_COUNT + 1;
	assert_int_equal(try_to_begin(d, RING_FOREVER), -TENON_E_VALUE);
	assert_error_has("at most 16 regions, not 17");
	ring_close(NULL);
}

static void a_ring_without_memory_is_an_error(void **state)
{
	struct device *d = *state;
	int err;

	no_memory = true;
	err = try_to_begin(d, RING_FOREVER);
	no_memory = false;
	assert_int_equal(err, -TENON_E_NOMEM);
	assert_error_has("no memory");
}

/* ---- sessions */

static void a_device_that_misses_a_request_is_asked_again(void **state)
{
	struct device *d = *state;

	d->deaf = 1;
	begin(d);
	assert_int_equal(d->deaf, 0);
}

static void a_device_that_does_not_answer_is_given_up(void **state)
{
	struct device *d = *state;

	d->deaf = UINT32_MAX;
	assert_int_equal(try_to_begin(d, clock_now() + MS), -TENON_E_TIMEOUT);
	assert_error_has("cannot begin a session: the firmware does not answer");
	/* it keeps an older session */
	d->control->device.session = 7;
	d->control->completion.sleeping = 0;
	assert_int_equal(try_to_begin(d, RING_NOW), -TENON_E_TIMEOUT);
	assert_error_has("cannot end the old session: the firmware does not answer");
	d->control->identity.magic = 0;
	assert_int_equal(try_to_begin(d, RING_NOW), -TENON_E_TIMEOUT);
	assert_error_has("there is no firmware");
}

static void a_device_that_refuses_the_session_is_an_error(void **state)
{
	struct device *d = *state;

	d->state = MORTISE_FAULTED;
	d->control->fault.code = MORTISE_FAULT_SETUP;
	assert_int_equal(try_to_begin(d, RING_FOREVER), -TENON_E_DEVICE);
	assert_error_has("the device refused the session");
	d->control->fault.code = 0x4711;
	assert_int_equal(try_to_begin(d, RING_FOREVER), -TENON_E_DEVICE);
	assert_error_has("unknown");
	d->state = 0x4711;
	assert_int_equal(try_to_begin(d, RING_FOREVER), -TENON_E_LOST);
	assert_error_has("the device wrote what no firmware writes");
}

static void a_device_of_another_abi_is_refused(void **state)
{
	struct device *d = *state;

	d->control->identity.abi = (MORTISE_ABI_MAJOR + 1) << 16;
	assert_int_equal(try_to_begin(d, RING_FOREVER), -TENON_E_UNSUPPORTED);
	assert_error_has("firmware 1.2.3 has ABI 2.0");
}

static void each_session_has_another_number(void **state)
{
	static const uint32_t last = UINT32_MAX;
	struct device *d = *state;

	begin(d);
	assert_int_equal(d->control->device.session, NUMBER);
	/* the same again */
	assert_int_equal(ring_restart(d->ring, RING_FOREVER), 0);
	assert_int_equal(d->control->device.session, NUMBER + 1);
	random_number = last;
	assert_int_equal(ring_restart(d->ring, RING_FOREVER), 0);
	assert_int_equal(d->control->device.session, last);
	/* 0 is no session */
	assert_int_equal(ring_restart(d->ring, RING_FOREVER), 0);
	assert_int_equal(d->control->device.session, 1);
	random_number = 0;
	assert_int_equal(ring_restart(d->ring, RING_FOREVER), 0);
	assert_int_equal(d->control->device.session, 2);
	/* a kernel that has no random numbers yet */
	random_number = -1;
	assert_int_equal(ring_restart(d->ring, RING_FOREVER), 0);
	assert_int_not_equal(d->control->device.session, 0);
	assert_int_not_equal(d->control->device.session, 2);
}

static void a_session_of_another_host_is_left_alone(void **state)
{
	struct device *d = *state;

	begin(d);
	mortise_put(&d->control->host.session, NUMBER + 7);
	ring_end(d->ring);
	assert_int_equal(d->control->host.session, NUMBER + 7);
}

/* the device of the case that follows: it polls, and has no doorbell */
static bool polling;

static void *poll_words(void *context)
{
	struct device *d = context;
	uint32_t seen = 0;

	while (__atomic_load_n(&polling, __ATOMIC_ACQUIRE)) {
		if (mortise_load(&d->control->host.session) != d->control->device.session)
			doorbell(d);
		else if (mortise_load(&d->control->host.head) != d->control->completion.done)
			complete_all(d);
		mortise_put(&d->control->device.heartbeat, ++seen);
	}
	return NULL;
}

static void a_device_that_polls_needs_no_doorbell(void **state)
{
	struct device *d = *state;
	struct ring_port port = { NULL, NULL, NULL };
	pthread_t thread;

	__atomic_store_n(&polling, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_create(&thread, NULL, poll_words, d), 0);
	/* the host sees most packets complete before it sleeps */
	d->setup.spin_ns = 500 * (uint32_t)MS;
	assert_int_equal(ring_open(&port, &d->setup, RING_FOREVER, &d->ring), 0);
	for (int i = 0; i < 100; i++) {
		uint64_t sequence = emit(d, MORTISE_OP_BARRIER, 1);

		assert_int_equal(ring_wait(d->ring, sequence, RING_FOREVER), 0);
		assert_int_equal(ring_wait(d->ring, sequence, RING_NOW), 0);
	}
	__atomic_store_n(&polling, false, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- packets */

static void a_packet_out_of_range_is_refused(void **state)
{
	struct device *d = *state;
	void *packet;

	begin(d);
	assert_int_equal(ring_reserve(d->ring, MORTISE_OP_COPY, 7, RING_NOW, &packet),
			 -TENON_E_VALUE);
	assert_error_has("not 7");
	assert_int_equal(ring_reserve(d->ring, MORTISE_OP_COPY,
				      MORTISE_PACKET_MOST * MORTISE_WORD + 1, RING_NOW, &packet),
			 -TENON_E_VALUE);
	assert_error_has("a packet has 8 to");
	assert_null(packet);
	assert_int_equal(ring_publish(d->ring), 0);
}

/* Fill the ring from @start with packets of @size words until one has no room; the words in use. */
static uint32_t fill_up(struct device *d, uint32_t size)
{
	uint32_t words = 0;
	void *packet;

	while (!ring_reserve(d->ring, MORTISE_OP_BARRIER, (size_t)size * MORTISE_WORD, RING_NOW,
			     &packet))
		words += size;
	assert_error_has("no room");
	assert_null(packet);
	return words;
}

static void a_full_ring_waits_for_the_device(void **state)
{
	/* a packet with the gap before it takes more than half of the ring, or less; the ring is half empty, or full */
	static const struct {
		uint32_t before, done;
	} rings[] = { { WORDS - 527, 0 }, { WORDS - 527, 521 }, { WORDS, 0 }, { WORDS - 100, 0 } };
	struct device *d = *state;

	for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
		uint64_t sequence;

		d->rung = NULL;
		begin(d);
		for (uint32_t left = rings[i].before; left; left -= left < 100 ? left : 100)
			emit(d, MORTISE_OP_BARRIER, left < 100 ? left : 100);
		mortise_release(&d->control->completion.done, rings[i].done);
		assert_int_equal(ring_completed(d->ring, &sequence), 0);
		assert_int_equal(sequence, rings[i].done);
		d->awaited = complete_all;
		emit(d, MORTISE_OP_BARRIER, MORTISE_PACKET_MOST);
		ring_close(d->ring);
		d->ring = NULL;
		d->awaited = NULL;
	}
}

static void a_device_that_stops_while_its_ring_is_full_is_an_error(void **state)
{
	struct device *d = *state;
	void *packet;

	begin(d);
	assert_int_equal(fill_up(d, 8), WORDS);
	fault(d);
	assert_int_equal(ring_reserve(d->ring, MORTISE_OP_BARRIER, 8, RING_FOREVER, &packet),
			 -TENON_E_DEVICE);
	assert_error_has("the core trapped");
	assert_int_equal(ring_reserve(d->ring, MORTISE_OP_BARRIER, 8, RING_FOREVER, &packet),
			 -TENON_E_DEVICE);
	assert_error_has("begin a new session");
	/* and in a wait for room */
	assert_int_equal(ring_restart(d->ring, RING_FOREVER), 0);
	assert_int_equal(fill_up(d, 8), WORDS - 8);
	d->awaited = fault;
	assert_int_equal(ring_reserve(d->ring, MORTISE_OP_BARRIER, 64, RING_FOREVER, &packet),
			 -TENON_E_DEVICE);
	assert_null(packet);
	assert_error_has("the core trapped");
}

/* ---- waits */

static void a_sequence_that_is_not_of_the_session_is_refused(void **state)
{
	struct device *d = *state;
	uint64_t first;

	begin(d);
	first = emit(d, MORTISE_OP_BARRIER, 1);
	assert_int_equal(ring_wait(d->ring, first + 1, RING_FOREVER), -TENON_E_USAGE);
	assert_error_has("was never published");
	assert_int_equal(ring_wait(d->ring, first, RING_NOW), -TENON_E_TIMEOUT);
	assert_error_has("no completion of sequence 1 in time; sequence 0 of 1 complete");
	assert_int_equal(ring_restart(d->ring, RING_FOREVER), 0);
	assert_int_equal(ring_wait(d->ring, first, RING_FOREVER), -TENON_E_LOST);
	assert_error_has("belongs to a session that is over");
}

static void look_and_lose(struct device *d)
{
	uint64_t sequence;

	fault(d);
	assert_int_equal(ring_completed(d->ring, &sequence), -TENON_E_DEVICE);
}

static void must_not_sleep(struct device *d)
{
	(void)d;
	fail_msg("the host sleeps though there is news");
}

static void what_changes_just_before_the_sleep_is_seen(void **state)
{
	static const struct {
		void (*change)(struct device *d);
		int status;
	} changes[] = { { complete_all, 0 },
			{ fault, -TENON_E_DEVICE },
			{ look_and_lose, -TENON_E_DEVICE } };
	struct device *d = *state;

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		uint64_t sequence;

		d->rung = NULL;
		d->awaited = must_not_sleep;
		begin(d);
		sequence = emit(d, MORTISE_OP_BARRIER, 1);
		/* a wait rings once more, right before it sleeps */
		d->rung = changes[i].change;
		assert_int_equal(ring_wait(d->ring, sequence, RING_FOREVER), changes[i].status);
		tenon_error_clear();
		d->rung = NULL;
		ring_close(d->ring);
		d->ring = NULL;
	}
}

static void a_wait_that_nothing_interrupts_pauses_until_its_deadline(void **state)
{
	struct ring_port port = { *state, doorbell, NULL };
	struct device *d = *state;

	assert_int_equal(ring_open(&port, &d->setup, RING_FOREVER, &d->ring), 0);
	assert_int_equal(ring_wait(d->ring, emit(d, MORTISE_OP_BARRIER, 1), clock_now() + 20 * MS),
			 -TENON_E_TIMEOUT);
	assert_error_has("no completion of sequence 1 in time");
}

static void time_in_which_the_host_does_not_look_is_not_silence(void **state)
{
	const struct timespec long_since = { 0, 30000000 };
	struct device *d = *state;
	uint64_t sequence;

	d->setup.silence_ms = 40;
	begin(d);
	emit(d, MORTISE_OP_BARRIER, 1);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ring_completed(d->ring, &sequence), 0);
		nanosleep(&long_since, NULL);
	}
}

static void a_device_without_a_timer_may_be_silent_for_longer(void **state)
{
	struct device *d = *state;

	d->control->identity.features = 0;
	begin(d);
	assert_int_equal(ring_wait(d->ring, emit(d, MORTISE_OP_BARRIER, 1), RING_NOW),
			 -TENON_E_TIMEOUT);
	tenon_error_clear();
}

/* ---- what a device may write */

static void each_state_of_a_device_ends_the_session_by_its_name(void **state)
{
	static const struct {
		uint32_t state;
		int status;
		const char *text;
	} ends[] = {
		{ MORTISE_FAULTED, -TENON_E_DEVICE, "begin a new session" },
		{ MORTISE_STOPPED, -TENON_E_LOST, "the firmware was shut down" },
		{ MORTISE_READY, -TENON_E_LOST, "the firmware restarted" },
		{ 0x4711, -TENON_E_LOST, "no firmware writes" },
	};
	struct device *d = *state;
	uint64_t sequence, awaited;

	begin(d);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		assert_int_equal(ring_restart(d->ring, RING_FOREVER), 0);
		awaited = emit(d, MORTISE_OP_BARRIER, 1);
		mortise_put(&d->control->device.state, ends[i].state);
		assert_int_equal(ring_completed(d->ring, &sequence), ends[i].status);
		assert_error_has(ends[i].text);
		/* and still later */
		assert_int_equal(ring_wait(d->ring, awaited, RING_FOREVER), ends[i].status);
		assert_error_has(ends[i].text);
	}
}

static void a_completion_of_what_was_not_submitted_is_nonsense(void **state)
{
	struct device *d = *state;
	uint64_t sequence;

	begin(d);
	emit(d, MORTISE_OP_BARRIER, 1);
	mortise_put(&d->control->completion.done, 2);
	assert_int_equal(ring_completed(d->ring, &sequence), -TENON_E_LOST);
	assert_int_equal(sequence, 0);
	assert_error_has("no firmware writes");
	/* a wait that polls sees the same */
	assert_int_equal(ring_restart(d->ring, RING_FOREVER), 0);
	sequence = emit(d, MORTISE_OP_BARRIER, 1);
	mortise_put(&d->control->completion.done, (uint32_t)sequence + 1);
	assert_int_equal(ring_wait(d->ring, sequence, RING_FOREVER), -TENON_E_LOST);
	assert_error_has("no firmware writes");
}

static uint64_t address_at(struct device *d, uint32_t position)
{
	struct ring_report report;

	mortise_put(&d->control->device.position, position);
	ring_report(d->ring, &report);
	return report.address;
}

static void the_position_of_a_device_may_be_anything(void **state)
{
	struct device *d = *state;
	struct ring_report report;
	void *packet;

	begin(d);
	for (uint32_t at = 0; at < WORDS - 1; at += at ? 93 : 1) /* 1 + 22 * 93 */
		emit(d, MORTISE_OP_COPY, at ? 93 : 1);
	emit(d, MORTISE_OP_BARRIER, 1); /* in the last word */
	/* a packet with an address, one without, the inside of a packet, the last word, what was not submitted */
	assert_int_equal(address_at(d, 1), AT);
	assert_int_equal(address_at(d, 0), 0);
	assert_int_equal(address_at(d, 2), 0);
	assert_int_equal(address_at(d, WORDS - 1), 0);
	assert_int_equal(address_at(d, WORDS), 0);
	/* before what is complete, and before the first */
	complete_all(d);
	assert_int_equal(ring_wait(d->ring, WORDS, RING_NOW), 0);
	assert_int_equal(address_at(d, 1), 0);
	assert_int_equal(address_at(d, UINT32_MAX - 16), 0);
	/* pads have no address */
	assert_int_equal(ring_reserve(d->ring, MORTISE_OP_PAD, 16, RING_NOW, &packet), 0);
	ring_publish(d->ring);
	assert_int_equal(address_at(d, WORDS), 0);
	mortise_put(&d->control->device.opcode, 0x4711);
	ring_report(d->ring, &report);
	assert_int_equal(report.opcode, 0x4711);
	assert_int_equal(ring_wait(d->ring, WORDS + 2, RING_NOW), -TENON_E_TIMEOUT);
	assert_error_has("last packet unknown");
}

static void a_position_before_the_first_is_that_position(void **state)
{
	struct device *d = *state;
	struct ring_report report;

	begin(d);
	mortise_put(&d->control->device.position, UINT32_MAX - 15);
	ring_report(d->ring, &report);
	assert_true(report.running == UINT32_MAX - 15);
	assert_int_equal(report.address, 0);
	assert_true(report.asleep);
}

static void an_error_is_explained_by_what_the_device_did(void **state)
{
	struct device *d = *state;

	begin(d);
	tenon_error(-TENON_E_VALUE, "a reason");
	assert_int_equal(ring_explain(d->ring, -TENON_E_VALUE), -TENON_E_VALUE);
	assert_error_has("a reason; sequence 0 of 0 complete");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(a_setup_out_of_range_is_refused),
		CASE(a_ring_without_memory_is_an_error),
		CASE(a_device_that_misses_a_request_is_asked_again),
		CASE(a_device_that_does_not_answer_is_given_up),
		CASE(a_device_that_refuses_the_session_is_an_error),
		CASE(a_device_of_another_abi_is_refused),
		CASE(each_session_has_another_number),
		CASE(a_session_of_another_host_is_left_alone),
		CASE(a_device_that_polls_needs_no_doorbell),
		CASE(a_packet_out_of_range_is_refused),
		CASE(a_full_ring_waits_for_the_device),
		CASE(a_device_that_stops_while_its_ring_is_full_is_an_error),
		CASE(a_sequence_that_is_not_of_the_session_is_refused),
		CASE(what_changes_just_before_the_sleep_is_seen),
		CASE(a_wait_that_nothing_interrupts_pauses_until_its_deadline),
		CASE(time_in_which_the_host_does_not_look_is_not_silence),
		CASE(a_device_without_a_timer_may_be_silent_for_longer),
		CASE(each_state_of_a_device_ends_the_session_by_its_name),
		CASE(a_completion_of_what_was_not_submitted_is_nonsense),
		CASE(the_position_of_a_device_may_be_anything),
		CASE(a_position_before_the_first_is_that_position),
		CASE(an_error_is_explained_by_what_the_device_did),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

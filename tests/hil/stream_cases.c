/* SPDX-License-Identifier: MIT */
/* Many packets: against a reference, in order, through the end of the ring and of 32 bits. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/hil/hil.h"
#include "tests/hil/reference.h"

#define ROOM 65536U

/* ---- random streams */

static void begin_at(uint32_t position)
{
	ring_close(hil.ring);
	hil.setup.ring_start = position;
	rig_begin(&hil);
}

void hil_compare_stream(uint64_t seed, size_t packets)
{
	static uint8_t want[ROOM];
	struct random r = { seed };
	union any_packet p;
	uint64_t sequence = 0;
	size_t i, size;

	for (i = 0; i < ROOM; i++)
		want[i] = hil.heap[i] = (uint8_t)random_next(&r);
	for (i = 0; i < packets; i++) {
		size = random_packet(&r, &p, hil.heap_address, ROOM);
		assert_ok(ring_emit(hil.ring, &p, size, in_ms(60000), &sequence));
		reference_run(&p, want, hil.heap_address);
	}
	assert_ok(ring_wait(hil.ring, sequence, in_ms(60000)));
	for (i = 0; i < ROOM; i++)
		if (hil.heap[i] != want[i])
			fail_msg("seed %llu: byte %zu is 0x%02x, not 0x%02x",
				 (unsigned long long)seed, i, hil.heap[i], want[i]);
}

static void random_streams_do_what_the_reference_does(void)
{
	uint64_t i, seeds = hil_count(40, 12), first = hil_seed();

	for (i = 0; i < seeds; i++)
		hil_compare_stream(first + i, 200);
}

/* ---- order */

struct watcher {
	pthread_t thread;
	uint32_t seen;
	int status;
	bool backwards;
	uint32_t stop;
};

/* While packets run, look at completion from another thread: it only grows. */
static void *watch(void *arg)
{
	struct watcher *w = arg;
	uint64_t last = 0, sequence;

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		w->status = ring_completed(hil.ring, &sequence);
		if (w->status)
			return NULL;
		w->backwards |= sequence < last;
		last = sequence;
		w->seen++;
		sched_yield();
	}
	return NULL;
}

/* a core that does something else */
static void *load(void *arg)
{
	const uint32_t *stop = arg;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED))
		;
	return NULL;
}

#define BATCH 100

/* Publish a batch of signals that count up: what is complete has written its number. */
static void signal_batch(uint32_t first)
{
	uint64_t behind[BATCH], done;
	struct mortise_semaphore *p;
	uint32_t i, value, complete = 0;
	void *packet;

	for (i = 0; i < BATCH; i++) {
		assert_ok(ring_reserve(hil.ring, MORTISE_OP_SIGNAL, sizeof(*p), in_ms(60000),
				       &packet));
		p = packet;
		p->address = rig_at(&hil, 0);
		p->value = first + i;
		p->reserved = 0;
		behind[i] = i % 10 == 9 || i == BATCH - 1 ? ring_publish(hil.ring) : 0;
	}
	assert_ok(ring_completed(hil.ring, &done));
	value = __atomic_load_n(rig_word(&hil, 0), __ATOMIC_ACQUIRE);
	for (i = 0; i < BATCH; i++)
		if (behind[i] && behind[i] <= done)
			complete = i + 1;
	if (complete)
		assert_true((int32_t)(value - (first + complete - 1)) >= 0);
	assert_true(value < first + BATCH);
}

static void no_completion_is_lost_or_reordered_under_load(void)
{
	size_t count =
		hil_is_clocked() ? 12000 : hil_count(1000000, getenv("FULL") ? 1000000 : 300000);
	size_t i;
	struct watcher w = { 0 };
	pthread_t loader;
	uint64_t done;

	/* so few packets wrap it only from near its end on */
	begin_at(hil_is_clocked() ? 0xffffc000 : 0xffff0000);
	assert_int_equal(pthread_create(&w.thread, NULL, watch, &w), 0);
	assert_int_equal(pthread_create(&loader, NULL, load, &w.stop), 0);
	for (i = 0; i < count; i += BATCH)
		signal_batch((uint32_t)i);
	assert_ok(ring_wait(hil.ring, ring_publish(hil.ring), in_ms(60000)));
	assert_int_equal(*rig_word(&hil, 0), count - 1);
	__atomic_store_n(&w.stop, 1, __ATOMIC_RELAXED);
	pthread_join(w.thread, NULL);
	pthread_join(loader, NULL);
	assert_int_equal(w.status, 0);
	assert_false(w.backwards);
	assert_true(w.seen > 0);
	/* the 32-bit position has wrapped on the way */
	assert_ok(ring_completed(hil.ring, &done));
	assert_true(done > UINT32_MAX);
	begin_at(0);
}

/* One packet at a time, each of which the host waits for: the way of small models. */
static void round_trips_are_not_lost(void)
{
	struct mortise_semaphore p = { { MORTISE_OP_SIGNAL, 0, 0, 0 }, rig_at(&hil, 0), 0, 0 };
	size_t i, count = hil_count(20000, 5000);

	for (i = 1; i <= count; i++) {
		p.value = (uint32_t)i;
		assert_ok(RUN(&hil, p));
		assert_int_equal(*rig_word(&hil, 0), i);
	}
}

/* ---- the end of the ring */

static void packets_of_all_sizes_go_through_the_end_of_the_ring(void)
{
	struct {
		struct mortise_call call;
		struct mortise_argument arguments[MORTISE_ARGUMENT_COUNT];
	} big;
	struct random r = { 1 };
	uint64_t sequence = 0;
	void *packet;
	size_t i, size;

	/* pads have any size and are not looked at */
	for (i = 0; i < 3000; i++) {
		size = 8 + random_below(&r, sizeof(big) - 8);
		assert_ok(ring_reserve(hil.ring, MORTISE_OP_PAD, size, in_ms(60000), &packet));
		sequence = ring_publish(hil.ring);
	}
	assert_ok(ring_wait(hil.ring, sequence, in_ms(60000)));
}

static void a_full_ring_says_so(void)
{
	struct mortise_semaphore wait = { { MORTISE_OP_WAIT, 0, 0, 0 }, rig_at(&hil, 0), 1, 0 };
	uint64_t sequence;
	int err = 0, count = 0;

	while (!err) {
		err = ring_emit(hil.ring, &wait, sizeof(wait), RING_NOW, &sequence);
		count += !err;
	}
	assert_int_equal(err, -TENON_E_TIMEOUT);
	assert_error_has("no room");
	assert_true(count > 600);
	assert_int_equal(ring_emit(hil.ring, &wait, sizeof(wait), in_ms(30), NULL),
			 -TENON_E_TIMEOUT);
	tenon_error_clear();
	__atomic_store_n(rig_word(&hil, 0), 1, __ATOMIC_RELEASE);
	assert_ok(ring_emit(hil.ring, &wait, sizeof(wait), in_ms(60000), &sequence));
	assert_ok(ring_wait(hil.ring, sequence, in_ms(60000)));
}

static void a_packet_larger_than_any_is_refused(void)
{
	void *packet;

	assert_int_equal(ring_reserve(hil.ring, MORTISE_OP_PAD, MORTISE_PACKET_MOST * 8 + 1,
				      RING_NOW, &packet),
			 -TENON_E_VALUE);
	assert_null(packet);
	assert_int_equal(ring_reserve(hil.ring, MORTISE_OP_PAD, 7, RING_NOW, &packet),
			 -TENON_E_VALUE);
	tenon_error_clear();
}

const struct hil_case hil_stream_cases[] = {
	HIL_CASE(random_streams_do_what_the_reference_does),
	HIL_CASE(no_completion_is_lost_or_reordered_under_load),
	HIL_CASE(round_trips_are_not_lost),
	HIL_CASE(packets_of_all_sizes_go_through_the_end_of_the_ring),
	HIL_CASE(a_full_ring_says_so),
	HIL_CASE(a_packet_larger_than_any_is_refused),
	{ NULL, NULL },
};

/* SPDX-License-Identifier: MIT */
/*
 * Figures of the ring: commands a second in batches, round trips, and what waiting costs, for each board that can be
 * started here. Beside them, measured in the same run, what two threads of this machine need at least: a round trip
 * of one word (the cache line goes there and back), and a loop that polls a mailbox without any ring. The DSP behind FastRPC
 * is that of a named fake of the kernel, which qemu-hexagon runs.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <tenon/error.h>
#include <tenon/uapi/mortise_order.h>
#include <time.h>

#include "driver/board/board.h"
#include "lib/clock.h"
#include "tests/bench/bench.h"
#include "tests/fastrpc/dsp_kernel.h"

#define BATCHES	    15
#define ROUND_TRIPS 20000
#define COMMANDS    200000
#define BATCH	    64

/* fewer on boards that are far away */
static int batches = BATCHES;
static uint32_t round_trip_count = ROUND_TRIPS, command_count = COMMANDS;
#define HEAP 0x100000U

/* ---- the floor: two cache lines, a writer for each */

struct lines {
	uint32_t there __attribute__((aligned(64)));
	uint32_t back __attribute__((aligned(64)));
	uint32_t work __attribute__((aligned(64)));
	uint32_t result __attribute__((aligned(64)));
};

static struct lines lines;

static void *echo(void *arg)
{
	uint32_t seen = 0, value;

	(void)arg;
	while (seen != UINT32_MAX) {
		value = mortise_load(&lines.there);
		if (value == seen)
			continue;
		/* what the smallest command does: fetch, write, answer */
		lines.result = lines.work;
		seen = value;
		mortise_release(&lines.back, seen);
	}
	return NULL;
}

static double floor_batch(void)
{
	static uint32_t number;
	double before = bench_now();
	uint32_t i;

	for (i = 0; i < ROUND_TRIPS; i++) {
		mortise_release(&lines.there, ++number);
		while (mortise_load(&lines.back) != number)
			;
	}
	return (bench_now() - before) / ROUND_TRIPS;
}

/* a median, which the rest of the machine's load is in, and the best batch, which it is least in */
struct figure {
	double median, best;
};

static struct figure figure_of(double *figures)
{
	struct figure f = { bench_middle(figures, batches), 0 };

	f.best = figures[0];
	return f;
}

static struct figure measure_floor(void)
{
	double figures[BATCHES];
	pthread_t thread;
	int i;

	if (pthread_create(&thread, NULL, echo, NULL))
		return (struct figure){ 0, 0 };
	for (i = 0; i < batches; i++)
		figures[i] = floor_batch();
	mortise_release(&lines.there, UINT32_MAX);
	pthread_join(thread, NULL);
	return figure_of(figures);
}

/* ---- a board */

struct bench {
	struct board *board;
	struct ring *ring;
	uint64_t word; /* device's address of a word to signal */
};

static int open_ring(struct bench *b)
{
	const struct shm *memory = board_memory(b->board);
	uint64_t base = board_address(b->board);
	struct ring_setup setup = {
		.name = "bench",
		.window = memory->base,
		.window_size = memory->size,
		.window_address = base,
		.ring_offset = MORTISE_SHARED_OFFSET,
		.ring_words = 8192,
		.silence_ms = 10000,
		.region_count = 1,
		.regions = { { base + HEAP, 4096, MORTISE_READ | MORTISE_WRITE, 0 } },
	};

	b->word = base + HEAP;
	return ring_open(board_port(b->board), &setup, clock_now() + UINT64_C(20000000000),
			 &b->ring);
}

static int put_signal(struct bench *b, uint32_t value)
{
	struct mortise_semaphore *p;
	void *packet;
	int err;

	err = ring_reserve(b->ring, MORTISE_OP_SIGNAL, sizeof(*p),
			   clock_now() + UINT64_C(20000000000), &packet);
	if (err)
		return err;
	p = packet;
	p->address = b->word;
	p->value = value;
	p->reserved = 0;
	return 0;
}

/* nanoseconds a command, published 64 at a time */
static double batched(struct bench *b)
{
	double before = bench_now();
	uint32_t i;

	for (i = 0; i < command_count; i++) {
		if (put_signal(b, i))
			return 0;
		if (i % BATCH == BATCH - 1)
			ring_publish(b->ring);
	}
	if (ring_wait(b->ring, ring_publish(b->ring), RING_FOREVER))
		return 0;
	return (bench_now() - before) / command_count;
}

static double round_trips(struct bench *b)
{
	double before = bench_now();
	uint32_t i;

	for (i = 0; i < round_trip_count; i++)
		if (put_signal(b, i) || ring_wait(b->ring, ring_publish(b->ring), RING_FOREVER))
			return 0;
	return (bench_now() - before) / round_trip_count;
}

static double thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Processor time of this thread a command, published 64 at a time, without the wait for them. */
static double submitted(struct bench *b)
{
	double sum = 0;

	for (uint32_t i = 0; i < command_count / BATCH; i++) {
		double before = thread_ns();
		uint64_t sequence;

		for (int j = 0; j < BATCH; j++)
			if (put_signal(b, i))
				return 0;
		sequence = ring_publish(b->ring);
		sum += thread_ns() - before;
		if (ring_wait(b->ring, sequence, RING_FOREVER))
			return 0;
	}
	return sum / (command_count / BATCH * BATCH);
}

static struct figure measure(struct bench *b, double (*batch)(struct bench *b))
{
	double figures[BATCHES];
	int i;

	batch(b);
	for (i = 0; i < batches; i++)
		figures[i] = batch(b);
	return figure_of(figures);
}

static double processor_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Processor time of this process for a second in which the device sleeps. */
static double idle_ms(struct bench *b)
{
	const struct timespec settle = { 0, 200000000 }, second = { 1, 0 };
	double before;

	(void)b;
	nanosleep(&settle, NULL);
	before = processor_ms();
	nanosleep(&second, NULL);
	return processor_ms() - before;
}

/* Processor time of this process for a wait of a second: the device is in a packet meanwhile. */
static double waiting_ms(struct bench *b)
{
	struct mortise_semaphore p = { { MORTISE_OP_WAIT, 0, 0, 0 }, b->word + 64, 1, 0 };
	uint32_t *word = (uint32_t *)(void *)(board_memory(b->board)->base + HEAP + 64);
	double before = processor_ms();
	uint64_t sequence;

	*word = 0;
	if (ring_emit(b->ring, &p, sizeof(p), RING_FOREVER, &sequence))
		return 0;
	ring_wait(b->ring, sequence, clock_now() + UINT64_C(1000000000));
	tenon_error_clear();
	before = processor_ms() - before;
	mortise_release(word, 1);
	ring_wait(b->ring, sequence, RING_FOREVER);
	return before;
}

static void measure_ring(struct bench b, const char *name, struct figure floor)
{
	bool sim = !strcmp(name, "sim");
	struct figure each, trip, submit;

	if (open_ring(&b)) {
		printf("# skipped: %s: %s\n", name, tenon_error_message());
		goto close_board;
	}
	each = measure(&b, batched);
	trip = measure(&b, round_trips);
	submit = measure(&b, submitted);
	printf("%-6s commands in batches of 64     %9.2f M/s   best %9.2f   %s\n", name,
	       1e3 / each.median, 1e3 / each.best, bench_at_least(1e3 / each.best, sim ? 20 : 1));
	printf("%-6s round trip, both polling      %9.0f ns    best %9.0f", name, trip.median,
	       trip.best);
	if (floor.median > 0)
		printf("   %.1f x floor, best %.1f   %s", trip.median / floor.median,
		       trip.best / floor.best, bench_at_most(trip.best / floor.best, 3));
	printf("\n");
	printf("%-6s processor time of submitting a command %6.0f ns    best %9.0f\n", name,
	       submit.median, submit.best);
	printf("%-6s processor time of an idle second      %6.2f ms\n", name, idle_ms(&b));
	printf("%-6s processor time of a second's wait     %6.2f ms%s\n", name, waiting_ms(&b),
	       sim ? "   (with the device's own thread)" : "");
	ring_close(b.ring);
close_board:
	board_close(b.board);
}

static void measure_less(void)
{
	batches = 5;
	round_trip_count = 500;
	command_count = 20000;
}

static void measure_board(const struct board_kind *kind, struct figure floor)
{
	struct bench b = { 0 };

	/* the last one: where a machine is busy, its process sleeps between packets */
	if (!strcmp(kind->name, "fastrpc"))
		measure_less();
	if (kind->ready(kind) || board_open(kind, &b.board))
		printf("# skipped: %s: %s\n", kind->name, tenon_error_message());
	else
		measure_ring(b, kind->name, floor);
}

/*
 * A board that runs already: "uio/0". What opening costs is the processor's time. Two threads of this machine say nothing
 * about a board outside of it, and on a guest's one processor each of their round trips takes two slices of the scheduler.
 */
static int measure_running(char *name)
{
	struct board_place place = { .deadline = clock_now() + UINT64_C(10000000000) };
	char *slash = strchr(name, '/');
	const struct board_kind *kind;
	struct bench b = { 0 };
	double before;

	place.path = slash ? strdup(slash) : NULL;
	if (slash)
		*slash = 0;
	kind = board_kind_find(name);
	if (!place.path || !kind || !board_is_attached(kind)) {
		printf("# skipped: %s is no board that runs already\n", name);
		return 1;
	}
	before = processor_ms();
	if (board_attach(kind, &place, &b.board)) {
		printf("# skipped: %s: %s\n", name, tenon_error_message());
		return 1;
	}
	printf("%-6s processor time of opening and mapping %6.2f ms\n", name,
	       processor_ms() - before);
	measure_less();
	measure_ring(b, name, (struct figure){ 0, 0 });
	return 0;
}

int main(int argc, char **argv)
{
	const struct board_kind *kind;
	struct figure floor;
	const char *why;

	/* a run that is cut short leaves what it has measured */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && strchr(argv[1], '/'))
		return measure_running(argv[1]);
	floor = measure_floor();
	why = dsp_kernel_use();
	if (why)
		printf("# no DSP for fastrpc: %s\n", why);

	printf("floor  a word there and back         %9.0f ns    best %9.0f\n", floor.median,
	       floor.best);
	for (kind = board_kinds; kind->name; kind++)
		if (!board_is_attached(kind) && (argc < 2 || !strcmp(argv[1], kind->name)))
			measure_board(kind, floor);
	return 0;
}

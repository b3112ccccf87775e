/* SPDX-License-Identifier: MIT */
/*
 * What a run of a network costs beside the driver's calls that it makes: the calls of one run are recorded, with their
 * arguments, and made again without Tenon. Both run on the kernel's model (a named fake), whose calls are no switches to a
 * kernel, and whose NPU compares bytes. So the difference counts, and the ratio says what share of the whole it is.
 *
 * Figures are processor time of all threads, and medians of batches that take turns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "devices/torq/torq_device.h"
#include "tests/bench/bench.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/torq/torq_kernel.h"
#include "tests/torq/torq_session.h"
#include "tests/unit/suite.h"

#define BATCHES	  21
#define RUNS	  100
#define CALL_MOST 64
#define SIZE_MOST 64 /* bytes of an argument */

/* the calls of a run */
static struct recorded {
	int fd;
	unsigned long request;
	uint64_t argument[SIZE_MOST / 8];
} recorded[CALL_MOST];
static unsigned int count;
static bool is_recording;

static struct system_calls recording;
static struct torq_session session;

static int record_ioctl(int fd, unsigned long request, void *argument)
{
	struct recorded *r = &recorded[count];

	if (is_recording) {
		assert_true(count < CALL_MOST && _IOC_SIZE(request) <= SIZE_MOST);
		r->fd = fd;
		r->request = request;
		memcpy(r->argument, argument, _IOC_SIZE(request));
		count++;
	}
	return torq_calls.ioctl(fd, request, argument);
}

static double processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- the ways to run */

static int bare_calls(void)
{
	unsigned int i, k;

	for (i = 0; i < RUNS; i++)
		for (k = 0; k < count; k++)
			if (faulty_calls.ioctl(recorded[k].fd, recorded[k].request,
					       recorded[k].argument))
				return -1;
	return 0;
}

static int dispatch(void)
{
	const struct tenon_dispatch d = { .kernel = session.kernel,
					  .grid = { 1, 1, 1 },
					  .block = { 1, 1, 1 },
					  .arguments = session.arguments };

	return tenon_queue_dispatch(session.queue, &d, NULL);
}

static int queue_in_a_row(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < RUNS && !err; i++)
		err = dispatch();
	return err ? err : tenon_queue_sync(session.queue, UINT64_MAX);
}

static int queue_one_by_one(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < RUNS && !err; i++) {
		err = dispatch();
		err = err ? err : tenon_queue_sync(session.queue, UINT64_MAX);
	}
	return err;
}

static const struct {
	const char *name;
	int (*batch)(void);
} ways[] = {
	{ "the driver's calls alone", bare_calls },
	{ "a queue, runs in a row", queue_in_a_row },
	{ "a queue, each run waited for", queue_one_by_one },
};

#define WAYS (sizeof(ways) / sizeof(*ways))

/* ---- networks */

static int start(const struct torq_network_data *data)
{
	torq_begin(data);
	count = 0;
	if (torq_session_try(&session, data) || torq_session_run(&session))
		return -1;
	is_recording = true;
	if (torq_session_run(&session))
		return -1;
	is_recording = false;
	return 0;
}

static int measure(const struct torq_network_data *data)
{
	static double ns[WAYS][BATCHES];
	double before, middle, bare = 0;
	int i;
	size_t w;

	/* the first warms up */
	for (i = -1; i < BATCHES; i++)
		for (w = 0; w < WAYS; w++) {
			before = processor_ns();
			if (ways[w].batch())
				return -1;
			if (i >= 0)
				ns[w][i] = (processor_ns() - before) / RUNS;
		}
	for (w = 0; w < WAYS; w++) {
		middle = bench_middle(ns[w], BATCHES);
		bare = w ? bare : middle;
		printf("%-12s %-30s %8.1f us   %+6.1f us   %.2f x\n", data->name, ways[w].name,
		       middle / 1e3, (middle - bare) / 1e3, middle / bare);
	}
	printf("%-12s %u calls of the kernel in a run; %" PRIu64
	       " bytes of arguments were copied in all\n",
	       data->name, count, ((const struct torq_kernel *)session.kernel)->network.copied);
	return 0;
}

int main(void)
{
	size_t i;

	tree_pretend("/model-of-the-kernel");
	recording = torq_calls;
	recording.ioctl = record_ioctl;
	faults_over(&recording);
	torq_source.calls = &faulty_calls;
	torq_source.root = tree;
	for (i = 0; i < TORQ_NETWORKS; i++) {
		if (start(&torq_networks[i]) || measure(&torq_networks[i]))
			printf("# skipped: %s: %s\n", torq_networks[i].name, tenon_error_message());
		torq_session_stop(&session);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A program with an event loop: work of devices, and whatever else it waits for, in one epoll set and one
 * thread. Here a timer submits work, and a wait set tells when it is done: event_loop cpu:0
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <tenon/tenon.h>
#include <unistd.h>

#define JOBS  5
#define BYTES 65536

static struct tenon_memory *memory;
static uint32_t results[JOBS];

/* Submit a job; its point goes to the wait set, with the place of its result as context. */
static int submit(struct tenon_queue *queue, struct tenon_wait_set *set,
		  struct tenon_timeline *timeline, int job)
{
	struct tenon_point done = { timeline, (uint64_t)job + 1 };
	struct tenon_sync sync = { .signal = &done, .signal_count = 1 };
	int err = tenon_queue_fill(queue, memory, 0, BYTES, (uint32_t)job, 4, NULL);

	if (!err)
		err = tenon_queue_read(queue, &results[job], memory, BYTES - 4, 4, &sync);
	return err ? err : tenon_wait_set_add(set, &done, &results[job]);
}

static int loop(struct tenon_queue *queue, struct tenon_wait_set *set, struct tenon_timeline *t)
{
	const struct itimerspec every = { { 0, 1000000 }, { 0, 1000000 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), epoll = epoll_create1(0);
	struct epoll_event tick = { EPOLLIN, { .fd = timer } },
			   work = { EPOLLIN, { .fd = tenon_wait_set_fd(set) } }, event;
	struct tenon_wait_result result;
	int submitted = 0, done = 0, err = 0;
	uint64_t ticks;

	timerfd_settime(timer, 0, &every, NULL);
	epoll_ctl(epoll, EPOLL_CTL_ADD, tick.data.fd, &tick);
	epoll_ctl(epoll, EPOLL_CTL_ADD, work.data.fd, &work);
	while (!err && done < JOBS && epoll_wait(epoll, &event, 1, -1) == 1) {
		if (event.data.fd == timer && read(timer, &ticks, sizeof(ticks)) > 0 &&
		    submitted < JOBS)
			err = submit(queue, set, t, submitted++);
		while (!err && tenon_wait_set_next(set, &result)) {
			err = result.status;
			printf("job %u is done\n", *(const uint32_t *)result.context);
			done++;
		}
	}
	close(epoll);
	close(timer);
	return err;
}

int main(int argc, char **argv)
{
	const struct tenon_memory_request request = { sizeof(request), BYTES, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	struct tenon_device *device = NULL;
	struct tenon_wait_set *set = NULL;
	struct tenon_timeline *t = NULL;
	struct tenon_queue *queue = NULL;
	int err = tenon_device_open(argc > 1 ? argv[1] : "cpu:0", &device);

	if (err || (err = tenon_queue_create(device, &queue)) ||
	    (err = tenon_memory_alloc(device, &request, &memory)) ||
	    (err = tenon_timeline_create(0, &t)) || (err = tenon_wait_set_create(&set)) ||
	    (err = loop(queue, set, t)))
		fprintf(stderr, "%s\n", tenon_error_message());
	return err ? 1 : 0;
}

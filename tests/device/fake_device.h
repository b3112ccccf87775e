/* SPDX-License-Identifier: MIT */
/*
 * A fake backend whose device does nothing until the test says so, to see the core at every step.
 *
 * The backend "fake" has two devices. A test says how far each of their queues has come, and what fails; no real
 * device allows that.
 */
#ifndef TESTS_DEVICE_FAKE_DEVICE_H
#define TESTS_DEVICE_FAKE_DEVICE_H

#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>

#include "tests/unit/suite.h"

#define FAKE_TYPE 70

/**
 * struct fake - what all fake devices do, set by tests
 * @count_fails: count says that the library is missing
 * @open_fails: how many of the next opens fail
 * @allocations_left: allocations that succeed before all fail; -1 for no end
 * @submits_left: operations that queues take before they refuse one; -1 for no end
 * @marks_fail: how many of the next marks fail
 * @no_order: queues cannot wait for each other
 * @allocations: made so far
 * @frees: given back so far
 * @orders: how often a queue was told to wait for another
 * @queues_gone: queues whose last reference went
 * @made_current: how often a thread chose a device
 * @last_request: the last allocation's
 */
struct fake {
	bool count_fails;
	int open_fails;
	int allocations_left;
	int submits_left;
	int marks_fail;
	bool no_order;
	int allocations;
	int frees;
	int orders;
	int queues_gone;
	int made_current;
	struct tenon_memory_request last_request;
};

extern struct fake fake;
extern const struct tenon_backend fake_backend;

/**
 * struct fake_queue - a queue
 * @given: operations submitted; atomic, as what follows
 * @done: how many of them are done
 * @failed: 0, or the first that failed
 * @last_kind: of the last operation
 * @last_priority: of it
 * @stamp: where the last timestamp is to be written; the fake does not write it
 */
struct fake_queue {
	struct tenon_queue base;
	uint64_t given;
	uint64_t done;
	uint64_t failed;
	uint32_t last_kind;
	int32_t last_priority;
	uint64_t *stamp;
};

static inline struct fake_queue *fake_queue(struct tenon_queue *queue)
{
	return (struct fake_queue *)queue;
}

/* All that a queue was given is done. */
static inline void fake_finish(struct tenon_queue *queue)
{
	struct fake_queue *q = fake_queue(queue);

	__atomic_store_n(&q->done, __atomic_load_n(&q->given, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

/* The group's setup: registers the backend. */
int fake_setup(void **state);
/* The setup of a case: the fake as it is at the start, and no device open. */
int fake_reset(void **state);

/* Open a device by URI, with a queue. */
struct tenon_device *fake_open(const char *uri, struct tenon_queue **queue);

#endif /* TESTS_DEVICE_FAKE_DEVICE_H */

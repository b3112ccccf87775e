/* SPDX-License-Identifier: MIT */
/* Open a device of mortise with a queue and memory, for the suites that misuse it. */
#ifndef TESTS_MORTISE_MORTISE_RIG_H
#define TESTS_MORTISE_MORTISE_RIG_H

#include "devices/mortise/mortise_device.h"
#include "tests/unit/suite.h"

#define SECOND UINT64_C(1000000000)

struct bench {
	struct tenon_device *device;
	struct mortise_device *mortise;
	struct tenon_queue *queue;
	struct tenon_memory *memory;
};

#define ok(call)                                                                                   \
	do {                                                                                       \
		int err_ = (call);                                                                 \
		if (err_)                                                                          \
			print_error("%s: %s\n", #call, tenon_error_message());                     \
		assert_int_equal(err_, 0);                                                         \
	} while (0)

/* Register the backend, where the build does not have it. For group fixtures. */
int bench_register(void);

/* Open a device, and begin to use it in this thread. */
void start(struct bench *b, const char *uri);
void end(struct bench *b);

/* The device works: a round trip of known bytes. */
void works(struct bench *b, uint32_t pattern);

/* Submit, and wait: it fails within the deadline, as a loss that says why. */
void is_lost(struct bench *b, const char *why);

/* The device that replaces a lost one works. With reset: by tenon_device_reset(). */
void reopen(struct bench *b);
void reset(struct bench *b);

/* Why a board cannot be tried here, or NULL. Emulated boards other than rv64 are for "make check-hil". */
const char *board_is_left_out(const char *name);

#endif /* TESTS_MORTISE_MORTISE_RIG_H */

/* SPDX-License-Identifier: MIT */
/*
 * System calls that fail on a schedule, to test that a driver reports each failure and leaks nothing.
 *
 * The table lies over another one, which answers as a device would (a named fake). It counts descriptors and mappings,
 * so a test can check that none is left.
 */
#ifndef TESTS_DRIVER_FAULTS_H
#define TESTS_DRIVER_FAULTS_H

#include <stdbool.h>

#include "driver/syscall/syscall.h"

enum call {
	CALL_ACCESS,
	CALL_OPEN,
	CALL_CLOSE,
	CALL_IOCTL,
	CALL_MMAP,
	CALL_MADVISE,
	CALL_READ,
	CALL_WRITE,
	CALL_PREAD,
	CALL_PWRITE,
	CALL_READLINK,
	CALL_PPOLL,
	CALL_EVENTFD,
	CALL_MKDIR,
	CALL_RMDIR,
	CALL_FLOCK,
	CALLS,
};

/* in place of an errno: read, write, pread and pwrite move one byte less than they should */
#define SHORT (-1)

/**
 * struct fault - a call that failed
 * @call: which
 * @path: what it looked for, opened, or made, or read the link of; for others, the path of the descriptor; "" if unknown
 * @request: of an ioctl
 * @nth: it was the nth of this kind
 * @step: faults_step at that time
 * @error: errno, or SHORT
 * @happened: it was reached
 */
struct fault {
	enum call call;
	char path[512];
	unsigned long request;
	unsigned int nth;
	int step;
	int error;
	bool happened;
};

/* calls that fail, one at a time, and without a schedule only count */
extern const struct system_calls faulty_calls;

/* where the scenario stands, for scenarios whose parts treat errors differently; 0 when one begins */
extern int faults_step;

/* Let them pass on to these. */
void faults_over(const struct system_calls *calls);

/* Fail the test if a descriptor or a mapping is left. */
void assert_nothing_open(void);

/**
 * struct sweep - what is tried with every fault
 * @under: the calls that answer
 * @scenario: makes the calls, releases all that it got; returns the first status below 0, or 0
 * @ioctl_errors: the errnos that the kernel documents for the ioctls, ended by 0
 * @expected: the status that a fault should lead to; NULL: system_status(), -TENON_E_TRUNCATED for SHORT. Returns 1
 *	for faults whose status is not compared: they may have any effect but a leak
 * @reset: brings the fake to its start; returns how many of its objects are still held that the fault does not
 *	explain; may be NULL
 */
struct sweep {
	const struct system_calls *under;
	int (*scenario)(const struct system_calls *calls);
	const int *ioctl_errors;
	int (*expected)(const struct fault *fault);
	unsigned int (*reset)(const struct fault *fault);
};

/**
 * sweep_faults - run a scenario with each call failing with each of its errnos, the first, the second, …
 *
 * Fails the test when a status is another than expected, or a descriptor, a mapping or an object of the fake is left.
 * Return: the number of faults.
 */
unsigned int sweep_faults(const struct sweep *sweep);

/* path of a descriptor that is open through faulty_calls or through fakes that call fake_opened() */
const char *path_of(int fd);

/* A fake hands out a descriptor by other calls than open: count it. */
void fake_opened(int fd, const char *path);

#endif /* TESTS_DRIVER_FAULTS_H */

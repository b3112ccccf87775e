/* SPDX-License-Identifier: MIT */
/*
 * Measure what a launch by Tenon costs beside the same launch by the device's own interface.
 *
 * The kernel takes some buffers and an int32, and does nothing. The variants of launching it take turns, batch by
 * batch, in one process. The result is the median and the tenths.
 */
#ifndef TENON_TESTS_DEVICE_BENCH_H
#define TENON_TESTS_DEVICE_BENCH_H

#include <tenon/backend/backend.h>
#include <tenon/backend/memory.h>
#include <tenon/commands.h>
#include <tenon/executable.h>
#include <tenon/memory.h>
#include <tenon/tenon.h>

#include "bench.h"

#define DEVICE_BENCH_BATCHES 41
#define DEVICE_BENCH_BUFFERS 4 /* at most */

/** struct device_bench - a device, and what is launched on it */
struct device_bench {
	struct tenon_device *device;
	struct tenon_queue *queue;
	struct tenon_memory *memory[DEVICE_BENCH_BUFFERS]; /* 4 KiB each */
	struct tenon_kernel *kernel;
	struct tenon_function *function; /* the same kernel, of a module */
};

/** device_bench_failed - say what is not measured, and why; -1 */
int device_bench_failed(const char *what);

/** device_bench_info - a kernel of @buffers and an int32; stays valid until the next */
struct tenon_kernel_info device_bench_info(const char *name, int buffers);

/** device_bench_open - the device, a queue, @buffers and the first kernel of @program; 0 or -1 */
int device_bench_open(struct device_bench *b, const char *uri, int buffers,
		      const struct tenon_program *program);

/** device_bench_put_table - a payload's format and its table of one such kernel, on blockIdx.x */
void device_bench_put_table(struct tenon_buffer *payload, const char *format, const char *name,
			    int buffers);

/** device_bench_load - the function of a payload, which is dropped; 0 or -1 */
int device_bench_load(struct device_bench *b, const char *kind, struct tenon_buffer *payload,
		      const char *name);

/** device_bench_launch - a launch of one thread */
struct tenon_dispatch device_bench_launch(const struct device_bench *b, const uint64_t *arguments);

/** device_bench_calls - @n packed calls of the function, with the first @buffers; 0 or a status */
int device_bench_calls(const struct device_bench *b, int buffers, int n);

/** struct device_bench_variant - one way to launch */
struct device_bench_variant {
	const char *name;
	int (*batch)(int n); /* @n launches, waited for; 0, or not */
	int raw;	     /* it, and those behind it, are compared with this one */
	/* nanoseconds over raw that are the goal, or a twentieth of raw where that is more; below 0: none */
	double most_over;
};

/** device_bench_measure - time batches of @n launches and print a row for each variant; 0 or -1 */
int device_bench_measure(const struct device_bench *b, const char *driver,
			 const struct device_bench_variant *variants, int count, int n);

/**
 * device_bench_in_child - run @measure in a process of its own, a minute at most
 *
 * A vendor's library is opened once in a process, so each driver gets its own. Returns 0, or 1 when there
 * is no process to be had.
 */
int device_bench_in_child(const char *driver, const char *library,
			  void (*measure)(const char *driver, const char *library));

/** device_bench_compile - milliseconds until the kernel of @program can be launched; below 0: failed */
double device_bench_compile(const struct device_bench *b, const struct tenon_program *program);

/** device_bench_cache - keep kernels in an empty folder from now on; 0 or -1 */
int device_bench_cache(void);

/** device_bench_cache_remove - remove that folder; 0, or not */
int device_bench_cache_remove(void);

#endif

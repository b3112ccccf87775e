/* SPDX-License-Identifier: MIT */
/* Measure what launches on a device cost, beside the calls of its own interface. */
#include "device_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/backend/backend.h>
#include <tenon/backend/buffer.h>

#define BATCHES	 DEVICE_BENCH_BATCHES
#define VARIANTS 8 /* at most */

int device_bench_failed(const char *what)
{
	printf("# skipped: %s: %s\n", what, tenon_error_message());
	return -1;
}

/* ---- a kernel that does nothing */

struct tenon_kernel_info device_bench_info(const char *name, int buffers)
{
	static struct tenon_argument arguments[DEVICE_BENCH_BUFFERS + 1];
	struct tenon_kernel_info info = { .name = tenon_slice_of(name),
					  .arguments = arguments,
					  .argument_count = (uint32_t)buffers + 1,
					  .memory_count = (uint32_t)buffers,
					  .scalar_count = 1,
					  .dimensions = 1 };
	int i;

	for (i = 0; i < buffers; i++)
		arguments[i] = (struct tenon_argument){
			{ kDLOpaqueHandle, 64, 1 }, TENON_ARGUMENT_MEMORY, 8, (uint32_t)i
		};
	arguments[i] = (struct tenon_argument){ { kDLInt, 32, 1 }, TENON_ARGUMENT_SCALAR, 4, 0 };
	return info;
}

int device_bench_open(struct device_bench *b, const char *uri, int buffers,
		      const struct tenon_program *program)
{
	const struct tenon_memory_request request = { sizeof(request), 4096, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	struct tenon_executable *executable;
	int i;

	if (tenon_device_open(uri, &b->device) || tenon_queue_create(b->device, &b->queue))
		return -1;
	for (i = 0; i < buffers; i++)
		if (tenon_memory_alloc(b->device, &request, &b->memory[i]))
			return -1;
	if (tenon_executable_create(b->device, program, NULL, &executable) ||
	    tenon_executable_kernel(executable, 0, &b->kernel))
		return -1;
	return 0;
}

void device_bench_put_table(struct tenon_buffer *payload, const char *format, const char *name,
			    int buffers)
{
	int i;

	tenon_buffer_string(payload, tenon_slice_of(format));
	tenon_buffer_u64(payload, 1);
	tenon_buffer_string(payload, tenon_slice_of(name));
	tenon_buffer_string(payload, tenon_slice_of(""));
	tenon_buffer_u64(payload, (uint64_t)buffers + 1);
	for (i = 0; i < buffers; i++)
		tenon_buffer_append(payload, "\x03\x40\x01\0", 4);
	tenon_buffer_append(payload, "\0\x20\x01\0", 4);
	tenon_buffer_u64(payload, 1);
	tenon_buffer_string(payload, tenon_slice_of("blockIdx.x"));
	tenon_buffer_u64(payload, 0);
}

int device_bench_load(struct device_bench *b, const char *kind, struct tenon_buffer *payload,
		      const char *name)
{
	struct tenon_module *module;
	int err;

	err = tenon_module_load_bytes(kind, (struct tenon_slice){ payload->data, payload->size },
				      &module);
	tenon_buffer_fini(payload);
	return err ? -1 : tenon_module_get_function(module, name, &b->function);
}

struct tenon_dispatch device_bench_launch(const struct device_bench *b, const uint64_t *arguments)
{
	const struct tenon_dispatch d = { .kernel = b->kernel,
					  .arguments = arguments,
					  .grid = { 1, 1, 1 },
					  .block = { 1, 1, 1 },
					  .cluster = { 1, 1, 1 },
					  .preferred_cluster = { 1, 1, 1 } };

	return d;
}

int device_bench_calls(const struct device_bench *b, int buffers, int n)
{
	struct tenon_value args[DEVICE_BENCH_BUFFERS + 2], none = { .type = TENON_TYPE_NONE };
	int i, err = 0;

	for (i = 0; i < buffers; i++)
		args[i] = tenon_arg_pointer(tenon_memory_data(b->memory[i]));
	args[buffers] = tenon_arg_int(0);
	args[buffers + 1] = tenon_arg_int(1);
	for (i = 0; i < n; i++)
		err |= tenon_function_call(b->function, args, buffers + 2, &none);
	return err;
}

/* ---- timing launches */

static void tell(const struct device_bench_variant *variants, int count, double ns[][BATCHES])
{
	double raw = 0, middle, over;
	int v;

	for (v = 0; v < count; v++) {
		middle = bench_middle(ns[v], BATCHES);
		if (variants[v].raw)
			raw = middle;
		printf("%-48s %9.1f ns   %+8.1f over raw   (%.1f to %.1f)", variants[v].name,
		       middle, middle - raw, ns[v][BATCHES / 10],
		       ns[v][BATCHES - 1 - BATCHES / 10]);
		over = variants[v].most_over;
		if (over >= 0)
			printf("   %s",
			       bench_at_most(middle - raw, over > raw / 20 ? over : raw / 20));
		printf("\n");
	}
}

int device_bench_measure(const struct device_bench *b, const char *driver,
			 const struct device_bench_variant *variants, int count, int n)
{
	static double ns[VARIANTS][BATCHES];
	double start;
	int i, v;

	/* the first two warm up */
	for (i = -2; i < BATCHES; i++) {
		for (v = 0; v < count; v++) {
			start = bench_now();
			if (variants[v].batch(n))
				return device_bench_failed(variants[v].name);
			if (i >= 0)
				ns[v][i] = (bench_now() - start) / n;
		}
	}
	printf("# %s: %s, %s; %d batches of %d launches\n", driver, b->device->properties->name,
	       b->device->properties->driver, BATCHES, n);
	tell(variants, count, ns);
	return 0;
}

int device_bench_in_child(const char *driver, const char *library,
			  void (*measure)(const char *driver, const char *library))
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		/* a driver that hangs must not hang the run */
		alarm(60);
		measure(driver, library);
		fflush(stdout);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	if (WIFSIGNALED(status))
		printf("# skipped: %s: signal %d\n", driver, WTERMSIG(status));
	return 0;
}

/* ---- compiling */

double device_bench_compile(const struct device_bench *b, const struct tenon_program *program)
{
	struct tenon_executable *executable;
	struct tenon_kernel *kernel;
	double start = bench_now();

	if (tenon_executable_create(b->device, program, NULL, &executable) ||
	    tenon_executable_kernel(executable, 0, &kernel))
		return -1;
	start = (bench_now() - start) / 1e6;
	tenon_object_unref(executable);
	return start;
}

static char cache[] = "/tmp/tenon-bench-XXXXXX";

int device_bench_cache(void)
{
	if (!mkdtemp(cache))
		return -1;
	return setenv("TENON_CACHE_DIR", cache, 1);
}

int device_bench_cache_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", cache);
	return system(command);
}

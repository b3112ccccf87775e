/* SPDX-License-Identifier: MIT */
/*
 * What a launch costs over the calls of OpenCL itself, in one process: a driver that does nothing
 * shows what Tenon adds, the machine's own driver shows what that means. Batches of the variants
 * take turns; told are the median and the tenths. Then what copies cost, compiling, and the cache. Words choose: "null" or "real" alone.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tenon/commands.h>
#include <tenon/executable.h>
#include <tenon/memory.h>
#include <tenon/tenon.h>
#include "driver/opencl/opencl_api.h"

#define BATCHES	 41
#define ARGS	 3
#define RECORDED 1000

enum variant {
	RAW_ALL,
	RAW_ENQUEUE,
	TENON_SAME,
	TENON_CHANGING,
	TENON_CALL,
	TENON_REPLAY,
	VARIANTS
};

static const char *const names[VARIANTS] = { "raw calls, three arguments set and enqueued",
					     "raw calls, enqueued only",
					     "tenon, arguments stay",
					     "tenon, one argument changes",
					     "tenon, packed call of the module's kernel",
					     "tenon, a recording of 1000 launches, each" };

static const char source[] = "// Function: nothing\n"
			     "__kernel void nothing(__global int *a, __global int *b, int n) {}\n";

static struct tenon_device *device;
static struct tenon_queue *queue;
static struct tenon_memory *memory[2];
static struct tenon_kernel *kernel;
static struct tenon_function *function;
static struct tenon_commands *commands;
static ocl_context raw_context;
static ocl_queue raw_queue;
static ocl_kernel raw_kernel;
static ocl_mem raw_memory[2];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int failed(const char *what)
{
	printf("# skipped: %s: %s\n", what, tenon_error_message());
	return -1;
}

static int make_tenon(void)
{
	static const struct tenon_argument arguments[ARGS] = {
		{ { kDLOpaqueHandle, 64, 1 }, TENON_ARGUMENT_MEMORY, 8, 0 },
		{ { kDLOpaqueHandle, 64, 1 }, TENON_ARGUMENT_MEMORY, 8, 1 },
		{ { kDLInt, 32, 1 }, TENON_ARGUMENT_SCALAR, 4, 0 },
	};
	static const struct tenon_kernel_info info = { .name = { "nothing", 7 },
						       .arguments = arguments,
						       .argument_count = ARGS,
						       .memory_count = 2,
						       .scalar_count = 1,
						       .dimensions = 1 };
	static const struct tenon_program program = {
		{ "opencl", 6 }, { "cl", 2 }, { source, sizeof(source) - 1 }, &info, 1, "bench"
	};
	const struct tenon_memory_request request = { 4096, TENON_MEMORY_DEFAULT, -1, NULL };
	struct tenon_executable *executable;
	int i;

	if (tenon_device_open("opencl:0", &device) || tenon_queue_create(device, &queue))
		return -1;
	for (i = 0; i < 2; i++)
		if (tenon_memory_alloc(device, &request, &memory[i]))
			return -1;
	if (tenon_executable_create(device, &program, NULL, &executable) ||
	    tenon_executable_kernel(executable, 0, &kernel))
		return -1;
	return 0;
}

static void write_kernel(struct tenon_buffer *b)
{
	tenon_buffer_string(b, tenon_slice_of("cl"));
	tenon_buffer_u64(b, 1);
	tenon_buffer_string(b, tenon_slice_of("nothing"));
	tenon_buffer_string(b, tenon_slice_of(""));
	tenon_buffer_u64(b, ARGS);
	tenon_buffer_append(b, "\x03\x40\x01\0\x03\x40\x01\0\0\x20\x01\0", 12);
	tenon_buffer_u64(b, 1);
	tenon_buffer_string(b, tenon_slice_of("blockIdx.x"));
	tenon_buffer_u64(b, 0);
	tenon_buffer_string(b, tenon_slice_of(source));
}

static int make_function(void)
{
	struct tenon_buffer payload = TENON_BUFFER_INIT;
	struct tenon_module *module;

	write_kernel(&payload);
	if (tenon_module_load_bytes("opencl", (struct tenon_slice){ payload.data, payload.size },
				    &module))
		return -1;
	return tenon_module_get_function(module, "nothing", &function);
}

static int make_recording(void)
{
	const uint64_t arguments[ARGS] = { (uintptr_t)memory[0], (uintptr_t)memory[1], 0 };
	const struct tenon_dispatch dispatch = { .kernel = kernel,
						 .arguments = arguments,
						 .grid = { 1, 1, 1 },
						 .block = { 1, 1, 1 },
						 .cluster = { 1, 1, 1 },
						 .preferred_cluster = { 1, 1, 1 } };
	int i, err = tenon_commands_create(device, &commands);

	for (i = 0; i < RECORDED && !err; i++)
		err = tenon_commands_dispatch(commands, &dispatch);
	return err ? err : tenon_commands_finish(commands);
}

static int make_raw(void)
{
	const char *text = source;
	const size_t size = sizeof(source) - 1;
	ocl_device id = device->ops->native(device);
	ocl_program program;
	int status = 0, i;

	if (opencl_library())
		return -1;
	raw_context = ocl.CreateContext(NULL, 1, &id, NULL, NULL, &status);
	if (!raw_context)
		return -1;
	raw_queue = ocl.CreateCommandQueue(raw_context, id, 0, &status);
	program = ocl.CreateProgramWithSource(raw_context, 1, &text, &size, &status);
	if (!raw_queue || !program || ocl.BuildProgram(program, 1, &id, NULL, NULL, NULL))
		return -1;
	raw_kernel = ocl.CreateKernel(program, "nothing", &status);
	for (i = 0; i < 2; i++)
		raw_memory[i] =
			ocl.CreateBuffer(raw_context, OCL_MEM_READ_WRITE, 4096, NULL, &status);
	return raw_kernel && raw_memory[0] && raw_memory[1] ? 0 : -1;
}

static void raw_arguments(int n)
{
	ocl.SetKernelArg(raw_kernel, 0, sizeof(ocl_mem), &raw_memory[0]);
	ocl.SetKernelArg(raw_kernel, 1, sizeof(ocl_mem), &raw_memory[1]);
	ocl.SetKernelArg(raw_kernel, 2, sizeof(n), &n);
}

static int raw_finish(void)
{
	char word[4];

	return ocl.EnqueueReadBuffer(raw_queue, raw_memory[0], 1, 0, sizeof(word), word, 0, NULL,
				     NULL);
}

static int call_batch(int n)
{
	struct tenon_value args[4] = { { .type = TENON_TYPE_POINTER },
				       { .type = TENON_TYPE_POINTER },
				       { .type = TENON_TYPE_INT },
				       { .type = TENON_TYPE_INT } };
	struct tenon_value none = { .type = TENON_TYPE_NONE };
	int i, err = 0;

	args[0].as.pointer = memory[0];
	args[1].as.pointer = memory[1];
	args[3].as.integer = 1;
	for (i = 0; i < n; i++)
		err |= tenon_function_call(function, args, 4, &none);
	return err ? err : tenon_device_sync(device, TENON_FOREVER);
}

static int replay_batch(int n)
{
	int i, err = 0;

	for (i = 0; i < n; i += RECORDED)
		err |= tenon_queue_execute(queue, commands, NULL, 0, NULL);
	return err ? err : tenon_queue_sync(queue, TENON_FOREVER);
}

static int raw_batch(int all, int n)
{
	const size_t global[3] = { 1, 1, 1 }, local[3] = { 1, 1, 1 };
	int i, status = 0;

	raw_arguments(0);
	for (i = 0; i < n; i++) {
		if (all)
			raw_arguments(i);
		status |= ocl.EnqueueNDRangeKernel(raw_queue, raw_kernel, 1, NULL, global, local, 0,
						   NULL, NULL);
	}
	return status | raw_finish();
}

static int tenon_batch(int changing, int n)
{
	uint64_t arguments[ARGS] = { (uintptr_t)memory[0], (uintptr_t)memory[1], 0 };
	const struct tenon_dispatch dispatch = { .kernel = kernel,
						 .arguments = arguments,
						 .grid = { 1, 1, 1 },
						 .block = { 1, 1, 1 },
						 .cluster = { 1, 1, 1 },
						 .preferred_cluster = { 1, 1, 1 } };
	int i, err = 0;

	for (i = 0; i < n; i++) {
		if (changing)
			arguments[2] = (uint32_t)i;
		err |= tenon_queue_dispatch(queue, &dispatch, NULL);
	}
	return err ? err : tenon_queue_sync(queue, TENON_FOREVER);
}

static int batch(enum variant v, int n)
{
	switch (v) {
	case RAW_ALL:
	case RAW_ENQUEUE:
		return raw_batch(v == RAW_ALL, n);
	case TENON_CALL:
		return call_batch(n);
	case TENON_REPLAY:
		return replay_batch(n);
	default:
		return tenon_batch(v == TENON_CHANGING, n);
	}
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int measure(const char *driver, int n)
{
	static double ns[VARIANTS][BATCHES];
	double start, raw = 0;
	int b, v;

	if (make_tenon() || make_function() || make_recording())
		return failed(driver);
	if (make_raw())
		return failed("raw calls");
	for (b = -2; b < BATCHES; b++) {
		for (v = 0; v < VARIANTS; v++) {
			start = now();
			if (batch(v, n))
				return failed(names[v]);
			if (b >= 0)
				ns[v][b] = (now() - start) / n;
		}
	}
	printf("# %s: %s, %s; %d batches of %d launches\n", driver, device->properties.name,
	       device->properties.driver, BATCHES, n);
	for (v = 0; v < VARIANTS; v++) {
		qsort(ns[v], BATCHES, sizeof(double), by_size);
		if (v == RAW_ALL)
			raw = ns[v][BATCHES / 2];
		printf("%-48s %9.1f ns   %+8.1f over raw   (%.1f to %.1f)\n", names[v],
		       ns[v][BATCHES / 2], ns[v][BATCHES / 2] - raw, ns[v][BATCHES / 10],
		       ns[v][BATCHES - 1 - BATCHES / 10]);
	}
	return 0;
}

/* Nanoseconds of a copy between host and device that is waited for. */
static double copy_once(bool tenon, bool write, struct tenon_memory *m, ocl_mem mem, void *host,
			uint64_t size)
{
	double start = now();
	int err;

	if (tenon) {
		err = write ? tenon_queue_write(queue, m, 0, host, size, NULL)
			    : tenon_queue_read(queue, host, m, 0, size, NULL);
		if (!err)
			err = tenon_queue_sync(queue, TENON_FOREVER);
	} else {
		err = write ? ocl.EnqueueWriteBuffer(raw_queue, mem, 1, 0, size, host, 0, NULL,
						     NULL)
			    : ocl.EnqueueReadBuffer(raw_queue, mem, 1, 0, size, host, 0, NULL,
						    NULL);
	}
	return err ? -1 : now() - start;
}

static int measure_copy(uint64_t size, bool write)
{
	const struct tenon_memory_request request = { size, TENON_MEMORY_DEFAULT, -1, NULL };
	static double ns[2][BATCHES];
	struct tenon_memory *m;
	char *host = malloc(size);
	ocl_mem mem;
	int status, i, tenon;

	mem = ocl.CreateBuffer(raw_context, OCL_MEM_READ_WRITE, size, NULL, &status);
	if (!host || !mem || tenon_memory_alloc(device, &request, &m))
		return failed("memory to copy");
	memset(host, 1, size);
	for (i = -2; i < BATCHES; i++)
		for (tenon = 0; tenon < 2; tenon++)
			ns[tenon][i < 0 ? 0 : i] = copy_once(tenon, write, m, mem, host, size);
	for (tenon = 0; tenon < 2; tenon++)
		qsort(ns[tenon], BATCHES, sizeof(double), by_size);
	printf("%-6s %9" PRIu64 " bytes, raw calls / tenon %17.2f us %11.2f us\n",
	       write ? "write" : "read", size, ns[0][BATCHES / 2] / 1e3, ns[1][BATCHES / 2] / 1e3);
	ocl.ReleaseMemObject(mem);
	tenon_object_unref(m);
	free(host);
	return 0;
}

static int measure_copies(void)
{
	static const uint64_t sizes[] = { 4 << 10, 256 << 10, 4 << 20, 64 << 20 };
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !err; i++) {
		err = measure_copy(sizes[i], true);
		if (!err)
			err = measure_copy(sizes[i], false);
	}
	return err;
}

/* Milliseconds until a kernel can be launched, median of @times kernels that nobody has seen. */
static int measure_build(int times)
{
	static double cold[16], warm[16];
	static const struct tenon_argument arguments[1] = {
		{ { kDLOpaqueHandle, 64, 1 }, TENON_ARGUMENT_MEMORY, 8, 0 },
	};
	static const struct tenon_kernel_info info = { .name = { "fill", 4 },
						       .arguments = arguments,
						       .argument_count = 1,
						       .memory_count = 1,
						       .dimensions = 1 };
	struct tenon_executable *executable;
	struct tenon_kernel *k;
	char text[256];
	double start;
	int i, again;

	for (i = 0; i < times; i++) {
		int n = snprintf(
			text, sizeof(text),
			"__kernel void fill(__global int *a) { a[get_global_id(0)] = %d; }", i);
		const struct tenon_program program = {
			{ "opencl", 6 }, { "cl", 2 }, { text, (size_t)n }, &info, 1, "bench"
		};

		for (again = 0; again < 2; again++) {
			start = now();
			if (tenon_executable_create(device, &program, NULL, &executable) ||
			    tenon_executable_kernel(executable, 0, &k))
				return failed("compiling");
			(again ? warm : cold)[i] = (now() - start) / 1e6;
			tenon_object_unref(executable);
		}
	}
	qsort(cold, (size_t)times, sizeof(double), by_size);
	qsort(warm, (size_t)times, sizeof(double), by_size);
	printf("%-48s %9.2f ms\n", "a kernel, compiled", cold[times / 2]);
	printf("%-48s %9.2f ms\n", "a kernel, from the disk cache", warm[times / 2]);
	return 0;
}

/* A library of OpenCL is opened once in a process, so each driver gets its own. */
static int measure_in_child(const char *driver, const char *library, int n)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		if (library)
			setenv("TENON_OPENCL_LIBRARY", library, 1);
		/* a driver that hangs must not hang the run */
		alarm(60);
		if (!measure(driver, n) && !library && !measure_copies())
			measure_build(9);
		fflush(stdout);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	if (WIFSIGNALED(status))
		printf("# skipped: %s: signal %d\n", driver, WTERMSIG(status));
	return 0;
}

int main(int argc, char **argv)
{
	const char *build = getenv("TENON_BUILD"), *only = argc > 1 ? argv[1] : "";
	char fake[4096], cache[] = "/tmp/tenon-bench-XXXXXX", command[64];
	int status;

	/* entries of this run only; and PoCL's own cache would hide what compiling costs */
	if (!mkdtemp(cache))
		return 1;
	setenv("TENON_CACHE_DIR", cache, 1);
	setenv("POCL_KERNEL_CACHE", "0", 0);
	snprintf(fake, sizeof(fake), "%s/tests/opencl/fake_opencl_null.so",
		 build ? build : "build");
	status = strcmp(only, "real") ? measure_in_child("a driver that does nothing", fake, 20000)
				      : 0;
	if (strcmp(only, "null"))
		status |= measure_in_child("this machine's driver", NULL, 2000);
	snprintf(command, sizeof(command), "rm -rf '%s'", cache);
	return status | system(command);
}

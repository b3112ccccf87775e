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

#include <tenon/backend/backend.h>
#include <tenon/backend/buffer.h>

#include "driver/opencl/opencl_api.h"
#include "device_bench.h"

#define BATCHES	 DEVICE_BENCH_BATCHES
#define BUFFERS	 2
#define RECORDED 1000

static const char source[] = "// Function: nothing\n"
			     "__kernel void nothing(__global int *a, __global int *b, int n) {}\n";

static struct device_bench rig;
static struct tenon_commands *commands;
static ocl_context raw_context;
static ocl_queue raw_queue;
static ocl_kernel raw_kernel;
static ocl_mem raw_memory[BUFFERS];

static int make_tenon(void)
{
	static struct tenon_kernel_info info;
	static const struct tenon_program program = {
		{ "opencl", 6 }, { "cl", 2 }, { source, sizeof(source) - 1 }, &info, 1, "bench"
	};

	info = device_bench_info("nothing", BUFFERS);
	return device_bench_open(&rig, "opencl:0", BUFFERS, &program);
}

static int make_function(void)
{
	struct tenon_buffer payload = TENON_BUFFER_INIT;

	device_bench_put_table(&payload, "cl", "nothing", BUFFERS);
	tenon_buffer_string(&payload, tenon_slice_of(source));
	return device_bench_load(&rig, "opencl", &payload, "nothing");
}

static int make_recording(void)
{
	const uint64_t arguments[] = { (uintptr_t)rig.memory[0], (uintptr_t)rig.memory[1], 0 };
	const struct tenon_dispatch dispatch = device_bench_launch(&rig, arguments);
	int i, err = tenon_commands_create(rig.device, &commands);

	for (i = 0; i < RECORDED && !err; i++)
		err = tenon_commands_dispatch(commands, &dispatch);
	return err ? err : tenon_commands_finish(commands);
}

static int make_raw(void)
{
	const char *text = source;
	const size_t size = sizeof(source) - 1;
	ocl_device id = rig.device->ops->native(rig.device);
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

static int raw_batch(bool all, int n)
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

static int tenon_batch(bool changing, int n)
{
	uint64_t arguments[] = { (uintptr_t)rig.memory[0], (uintptr_t)rig.memory[1], 0 };
	const struct tenon_dispatch dispatch = device_bench_launch(&rig, arguments);
	int i, err = 0;

	for (i = 0; i < n; i++) {
		if (changing)
			arguments[2] = (uint32_t)i;
		err |= tenon_queue_dispatch(rig.queue, &dispatch, NULL);
	}
	return err ? err : tenon_queue_sync(rig.queue, TENON_FOREVER);
}

static int raw_all(int n)
{
	return raw_batch(true, n);
}

static int raw_enqueue(int n)
{
	return raw_batch(false, n);
}

static int tenon_same(int n)
{
	return tenon_batch(false, n);
}

static int tenon_changing(int n)
{
	return tenon_batch(true, n);
}

static int tenon_calls(int n)
{
	int err = device_bench_calls(&rig, BUFFERS, n);

	return err ? err : tenon_device_sync(rig.device, TENON_FOREVER);
}

static int tenon_replay(int n)
{
	int i, err = 0;

	for (i = 0; i < n; i += RECORDED)
		err |= tenon_queue_execute(rig.queue, commands, NULL, 0, NULL);
	return err ? err : tenon_queue_sync(rig.queue, TENON_FOREVER);
}

static int measure_launches(const char *driver, int n)
{
	static const struct device_bench_variant variants[] = {
		{ "raw calls, three arguments set and enqueued", raw_all, 1, -1 },
		{ "raw calls, enqueued only", raw_enqueue, 0, -1 },
		{ "tenon, arguments stay", tenon_same, 0, 5 },
		{ "tenon, one argument changes", tenon_changing, 0, 5 },
		{ "tenon, packed call of the module's kernel", tenon_calls, 0, 5 },
		{ "tenon, a recording of 1000 launches, each", tenon_replay, 0, 0 },
	};

	if (make_tenon() || make_function() || make_recording())
		return device_bench_failed(driver);
	if (make_raw())
		return device_bench_failed("raw calls");
	return device_bench_measure(&rig, driver, variants, sizeof(variants) / sizeof(variants[0]),
				    n);
}

/* Nanoseconds of a copy between host and device that is waited for. */
static double copy_once(bool tenon, bool write, struct tenon_memory *m, ocl_mem mem, void *host,
			uint64_t size)
{
	double start = bench_now();
	int err;

	if (tenon) {
		err = write ? tenon_queue_write(rig.queue, m, 0, host, size, NULL)
			    : tenon_queue_read(rig.queue, host, m, 0, size, NULL);
		if (!err)
			err = tenon_queue_sync(rig.queue, TENON_FOREVER);
	} else {
		err = write ? ocl.EnqueueWriteBuffer(raw_queue, mem, 1, 0, size, host, 0, NULL,
						     NULL)
			    : ocl.EnqueueReadBuffer(raw_queue, mem, 1, 0, size, host, 0, NULL,
						    NULL);
	}
	return err ? -1 : bench_now() - start;
}

static int measure_copy(uint64_t size, bool write)
{
	const struct tenon_memory_request request = { sizeof(request), size, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	static double ns[2][BATCHES];
	struct tenon_memory *m;
	double raw, own;
	char *host = malloc(size);
	ocl_mem mem;
	int status, i, tenon;

	mem = ocl.CreateBuffer(raw_context, OCL_MEM_READ_WRITE, size, NULL, &status);
	if (!host || !mem || tenon_memory_alloc(rig.device, &request, &m))
		return device_bench_failed("memory to copy");
	memset(host, 1, size);
	for (i = -2; i < BATCHES; i++)
		for (tenon = 0; tenon < 2; tenon++)
			ns[tenon][i < 0 ? 0 : i] = copy_once(tenon, write, m, mem, host, size);
	raw = bench_middle(ns[0], BATCHES);
	own = bench_middle(ns[1], BATCHES);
	printf("%-6s %9" PRIu64
	       " bytes, raw calls / tenon %17.2f us %11.2f us%s   %5.2f of raw   %s\n",
	       write ? "write" : "read", size, raw / 1e3, own / 1e3,
	       bench_spread(ns[1], BATCHES, 1e3), own / raw, bench_at_most(own / raw, 1.05));
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
	static double took[2][16];
	static const struct tenon_argument arguments[1] = {
		{ { kDLOpaqueHandle, 64, 1 }, TENON_ARGUMENT_MEMORY, 8, 0 },
	};
	static const struct tenon_kernel_info info = { .name = { "fill", 4 },
						       .arguments = arguments,
						       .argument_count = 1,
						       .memory_count = 1,
						       .dimensions = 1 };
	char text[256];
	int i, again;

	for (i = 0; i < times; i++) {
		int n = snprintf(
			text, sizeof(text),
			"__kernel void fill(__global int *a) { a[get_global_id(0)] = %d; }", i);
		const struct tenon_program program = {
			{ "opencl", 6 }, { "cl", 2 }, { text, (size_t)n }, &info, 1, "bench"
		};

		for (again = 0; again < 2; again++) {
			took[again][i] = device_bench_compile(&rig, &program);
			if (took[again][i] < 0)
				return device_bench_failed("compiling");
		}
	}
	printf("%-48s %9.2f ms\n", "a kernel, compiled", bench_middle(took[0], times));
	printf("%-48s %9.2f ms\n", "a kernel, from the disk cache", bench_middle(took[1], times));
	return 0;
}

static void measure(const char *driver, const char *library)
{
	if (library)
		setenv("TENON_OPENCL_LIBRARY", library, 1);
	if (!measure_launches(driver, library ? 20000 : 2000) && !library && !measure_copies())
		measure_build(9);
}

int main(int argc, char **argv)
{
	const char *build = getenv("TENON_BUILD"), *only = argc > 1 ? argv[1] : "";
	char fake[4096];
	int status = 0;

	/* entries of this run only; and PoCL's own cache would hide what compiling costs */
	if (device_bench_cache())
		return 1;
	setenv("POCL_KERNEL_CACHE", "0", 0);
	snprintf(fake, sizeof(fake), "%s/tests/opencl/fake_opencl_null.so",
		 build ? build : "build");
	if (strcmp(only, "real"))
		status = device_bench_in_child("a driver that does nothing", fake, measure);
	if (strcmp(only, "null"))
		status |= device_bench_in_child("this machine's driver", NULL, measure);
	return status | device_bench_cache_remove();
}

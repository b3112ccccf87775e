/* SPDX-License-Identifier: MIT */
/*
 * What a launch costs over the calls of CUDA's driver API itself, in one process: a fake libcuda whose
 * launches do nothing shows what Tenon adds, the machine's own driver shows what that means. Batches of
 * the variants take turns; told are the median and the tenths.
 */
#include <dlfcn.h>
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
#include "driver/cuda/cuda_api.h"
#include "tests/bench/bench.h"
#include "tests/cuda/fake_cuda.h"

#define BATCHES	 41
#define ARGS	 3
#define RECORDED 1000

enum variant { RAW, TENON_DISPATCH, TENON_CALL, RAW_GRAPH, TENON_GRAPH, TENON_REBIND, VARIANTS };

static const char *const names[VARIANTS] = {
	"raw cuLaunchKernel, three arguments",	     "tenon, a dispatch",
	"tenon, packed call of the module's kernel", "raw cuGraphLaunch of 1000 launches, each",
	"tenon, a recording of 1000 launches, each", "tenon, the same with other memory, each",
};

static const char source[] =
	".version 6.0\n.target sm_52\n.address_size 64\n"
	".visible .entry nothing(.param .u64 a, .param .u64 b, .param .u32 n)\n{\nret;\n}\n";

static struct tenon_device *device;
static struct tenon_queue *queue;
static struct tenon_memory *memory[3];
static struct tenon_kernel *kernel;
static struct tenon_function *function;
static struct tenon_commands *commands, *bound;
static const struct cuda_api *cu;
static cu_stream raw_stream;
static cu_function raw_function;
static cu_graph_exec raw_graph;

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
		{ "cuda", 4 }, { "ptx", 3 }, { source, sizeof(source) - 1 }, &info, 1, "bench"
	};
	const struct tenon_memory_request request = { 4096, TENON_MEMORY_DEFAULT, -1, NULL };
	struct tenon_executable *executable;
	int i;

	if (tenon_device_open("cuda:0", &device) || tenon_queue_create(device, &queue))
		return -1;
	for (i = 0; i < 3; i++)
		if (tenon_memory_alloc(device, &request, &memory[i]))
			return -1;
	if (tenon_executable_create(device, &program, NULL, &executable) ||
	    tenon_executable_kernel(executable, 0, &kernel))
		return -1;
	return 0;
}

static int make_function(void)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_module *module;

	tenon_buffer_string(&b, tenon_slice_of("ptx"));
	tenon_buffer_u64(&b, 1);
	tenon_buffer_string(&b, tenon_slice_of("nothing"));
	tenon_buffer_string(&b, tenon_slice_of(""));
	tenon_buffer_u64(&b, ARGS);
	tenon_buffer_append(&b, "\x03\x40\x01\0\x03\x40\x01\0\0\x20\x01\0", 12);
	tenon_buffer_u64(&b, 1);
	tenon_buffer_string(&b, tenon_slice_of("blockIdx.x"));
	tenon_buffer_u64(&b, 0);
	tenon_buffer_string(&b, tenon_slice_of(source));
	if (tenon_module_load_bytes("cuda", (struct tenon_slice){ b.data, b.size }, &module))
		return -1;
	return tenon_module_get_function(module, "nothing", &function);
}

static struct tenon_dispatch dispatch_of(const uint64_t *arguments)
{
	const struct tenon_dispatch d = { .kernel = kernel,
					  .arguments = arguments,
					  .grid = { 1, 1, 1 },
					  .block = { 1, 1, 1 },
					  .cluster = { 1, 1, 1 },
					  .preferred_cluster = { 1, 1, 1 } };

	return d;
}

static int make_recording(struct tenon_commands **out, const int32_t *slots)
{
	const uint64_t arguments[ARGS] = { memory[0]->address, memory[1]->address, 0 };
	struct tenon_dispatch d = dispatch_of(arguments);
	int i, err = tenon_commands_create(device, out);

	d.slots = slots;
	for (i = 0; i < RECORDED && !err; i++) {
		err = tenon_commands_dispatch(*out, &d);
		if (!err)
			err = tenon_commands_barrier(*out);
	}
	return err ? err : tenon_commands_finish(*out);
}

static int make_raw_graph(void)
{
	uint64_t a = memory[0]->address, b = memory[1]->address;
	int n = 0, i, status;
	void *arguments[ARGS] = { &a, &b, &n };
	const struct cu_kernel_node node = { .function = raw_function,
					     .grid = { 1, 1, 1 },
					     .block = { 1, 1, 1 },
					     .arguments = arguments };
	cu_node last = NULL, next;
	cu_graph graph;

	status = cu->GraphCreate(&graph, 0);
	for (i = 0; i < RECORDED && !status; i++) {
		status =
			cu->GraphAddKernel2(&next, graph, last ? &last : NULL, last != NULL, &node);
		last = next;
	}
	return status ? status : cu->GraphInstantiate3(&raw_graph, graph, 0);
}

static int make_raw(void)
{
	cu_context context;
	cu_module module;

	if (cuda_library(&cu) || cu->PrimaryRetain(&context, 0) || cu->CtxSetCurrent(context) ||
	    cu->StreamCreate(&raw_stream, 0) ||
	    cu->ModuleLoadDataEx(&module, source, 0, NULL, NULL) ||
	    cu->ModuleGetFunction(&raw_function, module, "nothing"))
		return -1;
	return cu->graphs && cu->GraphInstantiate3 ? make_raw_graph() : -1;
}

static int raw_sync(void)
{
	int status;

	do
		status = cu->StreamQuery(raw_stream);
	while (status == CU_NOT_READY);
	return status;
}

static int raw_batch(int n)
{
	uint64_t a = memory[0]->address, b = memory[1]->address;
	int i, status = 0;
	void *arguments[ARGS] = { &a, &b, &i };

	for (i = 0; i < n; i++)
		status |= cu->LaunchKernel(raw_function, 1, 1, 1, 1, 1, 1, 0, raw_stream, arguments,
					   NULL);
	return status | raw_sync();
}

static int dispatch_batch(int n)
{
	uint64_t arguments[ARGS] = { memory[0]->address, memory[1]->address, 0 };
	const struct tenon_dispatch d = dispatch_of(arguments);
	int i, err = 0;

	for (i = 0; i < n; i++) {
		arguments[2] = (uint32_t)i;
		err |= tenon_queue_dispatch(queue, &d, NULL);
	}
	return err ? err : tenon_queue_sync(queue, TENON_FOREVER);
}

static int call_batch(int n)
{
	struct tenon_value args[4] = { { .type = TENON_TYPE_POINTER },
				       { .type = TENON_TYPE_POINTER },
				       { .type = TENON_TYPE_INT },
				       { .type = TENON_TYPE_INT } };
	struct tenon_value none = { .type = TENON_TYPE_NONE };
	int i, err = 0;

	args[0].as.pointer = tenon_memory_data(memory[0]);
	args[1].as.pointer = tenon_memory_data(memory[1]);
	args[3].as.integer = 1;
	for (i = 0; i < n; i++)
		err |= tenon_function_call(function, args, 4, &none);
	return err ? err : tenon_device_sync(device, TENON_FOREVER);
}

static int raw_graph_batch(int n)
{
	int i, status = 0;

	for (i = 0; i < n; i += RECORDED)
		status |= cu->GraphLaunch(raw_graph, raw_stream);
	return status | raw_sync();
}

static int graph_batch(int n, struct tenon_commands *c)
{
	int i, err = 0;

	for (i = 0; i < n; i += RECORDED)
		err |= tenon_queue_execute(queue, c, &memory[i / RECORDED % 2], c == bound ? 2 : 0,
					   NULL);
	return err ? err : tenon_queue_sync(queue, TENON_FOREVER);
}

static int batch(enum variant v, int n)
{
	switch (v) {
	case RAW:
		return raw_batch(n);
	case TENON_DISPATCH:
		return dispatch_batch(n);
	case TENON_CALL:
		return call_batch(n);
	case RAW_GRAPH:
		return raw_graph_batch(n);
	default:
		return graph_batch(n, v == TENON_GRAPH ? commands : bound);
	}
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void tell(double ns[VARIANTS][BATCHES])
{
	double raw = 0;
	int v;

	for (v = 0; v < VARIANTS; v++) {
		qsort(ns[v], BATCHES, sizeof(double), by_size);
		if (v == RAW || v == RAW_GRAPH)
			raw = ns[v][BATCHES / 2];
		printf("%-48s %9.1f ns   %+8.1f over raw   (%.1f to %.1f)\n", names[v],
		       ns[v][BATCHES / 2], ns[v][BATCHES / 2] - raw, ns[v][BATCHES / 10],
		       ns[v][BATCHES - 1 - BATCHES / 10]);
	}
}

/* Blocks that are asked for while @n launches go out, after warming up. */
static void tell_allocations(int n)
{
	long before = bench_allocations(), dispatched;

	dispatch_batch(n);
	dispatched = bench_allocations() - before;
	before = bench_allocations();
	call_batch(n);
	printf("%-48s %9ld dispatched, %ld called, in %d launches\n", "memory asked for",
	       dispatched, bench_allocations() - before, n);
}

static int measure(const char *driver, int n, int fake)
{
	static double ns[VARIANTS][BATCHES];
	static const int32_t slots[ARGS] = { 0, 1, -1 };
	struct fake_cuda *f = NULL;
	double start;
	int b, v;

	if (make_tenon() || make_function() || make_recording(&commands, NULL) ||
	    make_recording(&bound, slots))
		return failed(driver);
	if (make_raw())
		return failed("raw calls");
	if (fake) {
		f = dlsym(dlopen(getenv("TENON_CUDA_LIBRARY"), RTLD_NOW), "fake_cuda");
		f->nothing = 1;
	}
	for (b = -2; b < BATCHES; b++)
		for (v = 0; v < VARIANTS; v++) {
			start = now();
			if (batch(v, n))
				return failed(names[v]);
			if (b >= 0)
				ns[v][b] = (now() - start) / n;
		}
	printf("# %s: %s, %s; %d batches of %d launches\n", driver, device->properties.name,
	       device->properties.driver, BATCHES, n);
	tell(ns);
	tell_allocations(n);
	return 0;
}

/* A library of CUDA is opened once in a process, so each driver gets its own. */
static int measure_in_child(const char *driver, const char *library, int n)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		if (library) {
			setenv("TENON_CUDA_LIBRARY", library, 1);
			setenv("TENON_FAKE_CUDA", "inline", 1);
		}
		/* a driver that hangs must not hang the run */
		alarm(60);
		measure(driver, n, library != NULL);
		fflush(stdout);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	if (WIFSIGNALED(status))
		printf("# skipped: %s: signal %d\n", driver, WTERMSIG(status));
	return 0;
}

int main(void)
{
	const char *build = getenv("TENON_BUILD");
	char fake[4096];

	snprintf(fake, sizeof(fake), "%s/tests/cuda/fake_cuda.so", build ? build : "build");
	return measure_in_child("a fake libcuda whose launches do nothing", fake, 20000) |
	       measure_in_child("this machine's driver", NULL, 20000);
}

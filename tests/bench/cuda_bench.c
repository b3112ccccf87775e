/* SPDX-License-Identifier: MIT */
/*
 * What a launch costs over the calls of CUDA's driver API itself, in one process: a fake libcuda whose
 * launches do nothing shows what Tenon adds, the machine's own driver shows what that means. Batches of
 * the variants take turns; told are the median and the tenths.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/buffer.h>
#include <tenon/backend/memory.h>

#include "driver/cuda/cuda_api.h"
#include "tests/cuda/fake_cuda.h"
#include "device_bench.h"

#define BUFFERS	 2
#define RECORDED 1000
#define LAUNCHES 20000

static const char source[] =
	".version 6.0\n.target sm_52\n.address_size 64\n"
	".visible .entry nothing(.param .u64 a, .param .u64 b, .param .u32 n)\n{\nret;\n}\n";

static struct device_bench rig;
static struct tenon_commands *commands, *bound;
static const struct cuda_api *cu;
static cu_stream raw_stream;
static cu_function raw_function;
static cu_graph_exec raw_graph;
static cu_node raw_node[RECORDED];

static int make_tenon(void)
{
	static struct tenon_kernel_info info;
	static const struct tenon_program program = {
		{ "cuda", 4 }, { "ptx", 3 }, { source, sizeof(source) - 1 }, &info, 1, "bench"
	};

	info = device_bench_info("nothing", BUFFERS);
	/* and one more, to be bound in a recording */
	return device_bench_open(&rig, "cuda:0", BUFFERS + 1, &program);
}

static int make_function(void)
{
	struct tenon_buffer payload = TENON_BUFFER_INIT;

	device_bench_put_table(&payload, "ptx", "nothing", BUFFERS);
	tenon_buffer_string(&payload, tenon_slice_of(source));
	return device_bench_load(&rig, "cuda", &payload, "nothing");
}

static int make_recording(struct tenon_commands **out, const int32_t *slots)
{
	const uint64_t arguments[] = { rig.memory[0]->address, rig.memory[1]->address, 0 };
	struct tenon_dispatch d = device_bench_launch(&rig, arguments);
	int i, err = tenon_commands_create(rig.device, out);

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
	uint64_t a = rig.memory[0]->address, b = rig.memory[1]->address;
	int n = 0, i, status;
	void *arguments[] = { &a, &b, &n };
	const struct cu_kernel_node node = { .function = raw_function,
					     .grid = { 1, 1, 1 },
					     .block = { 1, 1, 1 },
					     .arguments = arguments };
	cu_graph graph;

	status = cu->GraphCreate(&graph, 0);
	for (i = 0; i < RECORDED && !status; i++)
		status = cu->GraphAddKernel2(&raw_node[i], graph, i ? &raw_node[i - 1] : NULL,
					     i > 0, &node);
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
	return cu->graphs && cu->GraphInstantiate3 && cu->GraphSetKernel2 ? make_raw_graph() : -1;
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
	uint64_t a = rig.memory[0]->address, b = rig.memory[1]->address;
	int i, status = 0;
	void *arguments[] = { &a, &b, &i };

	for (i = 0; i < n; i++)
		status |= cu->LaunchKernel(raw_function, 1, 1, 1, 1, 1, 1, 0, raw_stream, arguments,
					   NULL);
	return status | raw_sync();
}

static int dispatch_batch(int n)
{
	uint64_t arguments[] = { rig.memory[0]->address, rig.memory[1]->address, 0 };
	const struct tenon_dispatch d = device_bench_launch(&rig, arguments);
	int i, err = 0;

	for (i = 0; i < n; i++) {
		arguments[2] = (uint32_t)i;
		err |= tenon_queue_dispatch(rig.queue, &d, NULL);
	}
	return err ? err : tenon_queue_sync(rig.queue, TENON_FOREVER);
}

static int call_batch(int n)
{
	int err = device_bench_calls(&rig, BUFFERS, n);

	return err ? err : tenon_device_sync(rig.device, TENON_FOREVER);
}

static int raw_graph_batch(int n)
{
	int i, status = 0;

	for (i = 0; i < n; i += RECORDED)
		status |= cu->GraphLaunch(raw_graph, raw_stream);
	return status | raw_sync();
}

/* What binding other memory is in CUDA: each launch's arguments set anew, before all of them are launched. */
static int raw_bound_batch(int n)
{
	uint64_t a = 0, b = rig.memory[2]->address;
	int i, k, number = 0, status = 0;
	void *arguments[] = { &a, &b, &number };
	const struct cu_kernel_node node = { .function = raw_function,
					     .grid = { 1, 1, 1 },
					     .block = { 1, 1, 1 },
					     .arguments = arguments };

	for (i = 0; i < n; i += RECORDED) {
		a = rig.memory[i / RECORDED % 2]->address;
		for (k = 0; k < RECORDED; k++)
			status |= cu->GraphSetKernel2(raw_graph, raw_node[k], &node);
		status |= cu->GraphLaunch(raw_graph, raw_stream);
	}
	return status | raw_sync();
}

static int graph_batch(int n, struct tenon_commands *c)
{
	int i, err = 0;

	for (i = 0; i < n; i += RECORDED)
		err |= tenon_queue_execute(rig.queue, c, &rig.memory[i / RECORDED % 2],
					   c == bound ? 2 : 0, NULL);
	return err ? err : tenon_queue_sync(rig.queue, TENON_FOREVER);
}

static int recording_batch(int n)
{
	return graph_batch(n, commands);
}

static int bound_batch(int n)
{
	return graph_batch(n, bound);
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

static void measure(const char *driver, const char *library)
{
	static const struct device_bench_variant variants[] = {
		{ "raw cuLaunchKernel, three arguments", raw_batch, 1, -1 },
		{ "tenon, a dispatch", dispatch_batch, 0, 10 },
		{ "tenon, packed call of the module's kernel", call_batch, 0, 10 },
		{ "raw cuGraphLaunch of 1000 launches, each", raw_graph_batch, 1, -1 },
		{ "tenon, a recording of 1000 launches, each", recording_batch, 0, 20 },
		{ "raw, the arguments of each set anew before", raw_bound_batch, 1, -1 },
		{ "tenon, the same with other memory, each", bound_batch, 0, 20 },
	};
	static const int32_t slots[] = { 0, 1, -1 };
	struct fake_cuda *fake;

	if (library) {
		setenv("TENON_CUDA_LIBRARY", library, 1);
		setenv("TENON_FAKE_CUDA", "inline", 1);
	}
	if (make_tenon() || make_function() || make_recording(&commands, NULL) ||
	    make_recording(&bound, slots)) {
		device_bench_failed(driver);
		return;
	}
	if (make_raw()) {
		device_bench_failed("raw calls");
		return;
	}
	if (library) {
		fake = dlsym(dlopen(library, RTLD_NOW), "fake_cuda");
		fake->nothing = 1;
	}
	if (!device_bench_measure(&rig, driver, variants, sizeof(variants) / sizeof(variants[0]),
				  LAUNCHES))
		tell_allocations(LAUNCHES);
}

int main(void)
{
	const char *build = getenv("TENON_BUILD");
	char fake[4096];

	snprintf(fake, sizeof(fake), "%s/tests/cuda/fake_cuda.so", build ? build : "build");
	return device_bench_in_child("a fake libcuda whose launches do nothing", fake, measure) |
	       device_bench_in_child("this machine's driver", NULL, measure);
}

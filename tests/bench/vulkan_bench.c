/* SPDX-License-Identifier: MIT */
/*
 * What a launch, a copy and a pipeline cost over the calls of Vulkan itself, on one device in one
 * process. The raw program uses the same pipeline and buffers and records what a program does that
 * knows nothing of the launch before: descriptors, scalars, the pipeline, the dispatch, a barrier.
 * Batches of the variants take turns on one processor; told are the median and the tenths.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "devices/vulkan/vulkan_record.h"
#include "tests/vulkan/spirv_words.h"
#include "device_bench.h"

#define BATCHES	 DEVICE_BENCH_BATCHES
#define LAUNCHES 200 /* fewer than a queue keeps back: recording is seen apart from submitting */
#define RECORDED 1000
#define BUFFERS	 3
#define ARGS	 (BUFFERS + 1)
#define COPY	 ((size_t)64 << 20)
#define COPIES	 31

enum variant {
	RAW,
	TENON_SAME,
	TENON_SCALAR,
	TENON_BUFFER,
	TENON_CALL,
	TENON_RECORD,
	TENON_REPLAY,
	VARIANTS
};

static const char *const names[VARIANTS] = {
	"raw calls, all bound for each launch",
	"tenon, arguments stay",
	"tenon, the scalar changes",
	"tenon, a buffer changes",
	"tenon, packed call of the module's kernel",
	"tenon, into a recording of 1000 launches",
	"tenon, replayed from it, each of 1000 launches",
};

static struct device_bench rig;
static struct tenon_commands *commands;
static VkCommandPool raw_pool;
static VkCommandBuffer raw_commands;

/* ---- a kernel of three buffers and the count, which is 0: it does nothing */

static uint32_t words[SPIRV_ROOM];
static struct tenon_kernel_info info;
static const struct tenon_program program = { .kind = { "vulkan", 6 },
					      .format = { "vulkan", 6 },
					      .kernels = &info,
					      .kernel_count = 1,
					      .label = "bench" };

static void describe(uint32_t threads)
{
	const struct spirv_sum sum = { "sum", BUFFERS, 1, 0, threads };

	info = device_bench_info("sum", BUFFERS);
	info.code.size = spirv_sum_write(&sum, words) * 4;
	info.code.data = (const char *)words;
}

static int make_tenon(void)
{
	describe(64);
	/* and one more buffer, to change to */
	return device_bench_open(&rig, "vulkan:0", BUFFERS + 1, &program);
}

static int make_function(void)
{
	struct tenon_buffer payload = TENON_BUFFER_INIT;

	device_bench_put_table(&payload, "vulkan", "sum", BUFFERS);
	tenon_buffer_u64(&payload, 1);
	tenon_buffer_string(&payload, info.name);
	tenon_buffer_u32(&payload, 0);
	tenon_buffer_u64(&payload, info.code.size / 4);
	tenon_buffer_append(&payload, info.code.data, info.code.size);
	return device_bench_load(&rig, "vulkan", &payload, "sum");
}

static void fill_arguments(uint64_t *values)
{
	int i;

	for (i = 0; i < BUFFERS; i++)
		values[i] = (uintptr_t)rig.memory[i];
	values[BUFFERS] = 0;
}

/* ---- the same by hand */

static struct vulkan_device *vulkan(void)
{
	return (struct vulkan_device *)rig.device;
}

static int make_raw(void)
{
	return vulkan_record_buffer(vulkan(), VK_COMMAND_BUFFER_LEVEL_PRIMARY, &raw_pool,
				    &raw_commands);
}

static void raw_launch(const struct vulkan_device_api *api, const struct vulkan_kernel *k,
		       uint64_t scalar)
{
	const VkMemoryBarrier barrier = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
					  .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
					  .dstAccessMask = VK_ACCESS_SHADER_READ_BIT |
							   VK_ACCESS_SHADER_WRITE_BIT };
	VkDescriptorBufferInfo buffers[BUFFERS];
	VkWriteDescriptorSet writes[BUFFERS];
	int i;

	memset(writes, 0, sizeof(writes));
	for (i = 0; i < BUFFERS; i++) {
		buffers[i].buffer = vulkan_memory_of(rig.memory[i])->buffer;
		buffers[i].offset = 0;
		buffers[i].range = VK_WHOLE_SIZE;
		writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
		writes[i].dstBinding = (uint32_t)i;
		writes[i].descriptorCount = 1;
		writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
		writes[i].pBufferInfo = &buffers[i];
	}
	api->CmdBindPipeline(raw_commands, VK_PIPELINE_BIND_POINT_COMPUTE, k->pipeline);
	api->CmdPushDescriptorSetKHR(raw_commands, VK_PIPELINE_BIND_POINT_COMPUTE,
				     k->layout->pipeline, 0, BUFFERS, writes);
	api->CmdPushConstants(raw_commands, k->layout->pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0,
			      sizeof(scalar), &scalar);
	api->CmdDispatch(raw_commands, 1, 1, 1);
	api->CmdPipelineBarrier(raw_commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
				VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0,
				NULL);
}

static int raw_record(void)
{
	const struct vulkan_kernel *k = (const struct vulkan_kernel *)rig.kernel;
	const struct vulkan_device_api *api = &vulkan()->api;
	int i, err;

	err = vulkan_record_begin(vulkan(), raw_commands,
				  VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	for (i = 0; i < LAUNCHES && !err; i++)
		raw_launch(api, k, 0);
	return err ? err : api->EndCommandBuffer(raw_commands);
}

static int raw_finish(void)
{
	const VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
				      .commandBufferCount = 1,
				      .pCommandBuffers = &raw_commands };
	const struct vulkan_device_api *api = &vulkan()->api;

	if (api->QueueSubmit(vulkan()->ports[0].handle, 1, &submit, VK_NULL_HANDLE))
		return -1;
	api->DeviceWaitIdle(vulkan()->handle);
	return api->ResetCommandPool(vulkan()->handle, raw_pool, 0);
}

/* ---- the variants: what is timed first, then what brings it to its end */

static int tenon_launches(enum variant v)
{
	uint64_t values[ARGS];
	struct tenon_dispatch d = device_bench_launch(&rig, values);
	int i, err = 0;

	fill_arguments(values);
	for (i = 0; i < LAUNCHES && !err; i++) {
		if (v == TENON_SCALAR)
			values[BUFFERS] = (uint64_t)(i & 1) << 32;
		if (v == TENON_BUFFER)
			values[0] = (uintptr_t)rig.memory[i & 1 ? BUFFERS : 0];
		err = tenon_queue_dispatch(rig.queue, &d, NULL);
	}
	return err;
}

static int tenon_recording(void)
{
	uint64_t values[ARGS];
	struct tenon_dispatch d = device_bench_launch(&rig, values);
	int i, err;

	fill_arguments(values);
	err = tenon_commands_create(rig.device, &commands);
	for (i = 0; i < RECORDED && !err; i++) {
		err = tenon_commands_dispatch(commands, &d);
		if (!err)
			err = tenon_commands_barrier(commands);
	}
	return err ? err : tenon_commands_finish(commands);
}

static int record(enum variant v)
{
	switch (v) {
	case RAW:
		return raw_record();
	case TENON_CALL:
		return device_bench_calls(&rig, BUFFERS, LAUNCHES);
	case TENON_RECORD:
		return tenon_recording();
	case TENON_REPLAY:
		return tenon_queue_execute(rig.queue, commands, NULL, 0, NULL);
	default:
		return tenon_launches(v);
	}
}

/* Not timed alone: the device's work, and giving back what was recorded. */
static int finish(enum variant v)
{
	int err;

	if (v == RAW)
		return raw_finish();
	err = tenon_device_sync(rig.device, TENON_FOREVER);
	if (v == TENON_REPLAY) {
		tenon_object_unref(commands);
		commands = NULL;
	}
	return err;
}

static int measure_launches(void)
{
	static double made[VARIANTS][BATCHES], done[VARIANTS][BATCHES];
	double start, mid, raw = 0, n;
	int b, v;

	for (b = -3; b < BATCHES; b++) {
		for (v = 0; v < VARIANTS; v++) {
			start = bench_now();
			if (record(v))
				return device_bench_failed(names[v]);
			mid = bench_now();
			if (finish(v))
				return device_bench_failed(names[v]);
			n = v == TENON_RECORD || v == TENON_REPLAY ? RECORDED : LAUNCHES;
			if (b >= 0) {
				made[v][b] = (mid - start) / n;
				done[v][b] = (bench_now() - start) / n;
			}
		}
	}
	printf("# %d batches of %d launches; ns for each launch: written, and in parentheses with "
	       "the device's work\n",
	       BATCHES, LAUNCHES);
	for (v = 0; v < VARIANTS; v++) {
		n = bench_middle(made[v], BATCHES);
		if (v == RAW)
			raw = n;
		printf("%-48s %9.1f ns  %6.3f of raw  %5.0f to %5.0f  (%.0f)   %s\n", names[v], n,
		       n / raw, made[v][BATCHES / 10], made[v][BATCHES - 1 - BATCHES / 10],
		       bench_middle(done[v], BATCHES),
		       v == RAW ? "" : bench_at_most(n / raw, v == TENON_REPLAY ? 0.1 : 1));
	}
	return 0;
}

/*
 * ---- copies: the fastest counts, since a neighbour takes half of the memory's speed. All begin at a page, as the device's
 * memory does: "rep movsb", which some memcpy() use, is slow where what is written begins a few bytes further in its page than
 * what is read.
 */

#define PAGE ((size_t)4096)

enum way { MEMCPY, WRITE, READ, WRITE_STAGED, WAYS };

static int move(enum way w, char *to, char *from, struct tenon_memory *m)
{
	if (w == MEMCPY) {
		memcpy(to, from, COPY);
		return 0;
	}
	if (w == READ ? tenon_queue_read(rig.queue, to, m, 0, COPY, NULL)
		      : tenon_queue_write(rig.queue, m, 0, from, COPY, NULL))
		return -1;
	return tenon_queue_sync(rig.queue, TENON_FOREVER);
}

static int measure_copies(void)
{
	static const char *const ways[WAYS] = { "memcpy of 64 MiB", "host to device, 64 MiB",
						"device to host, 64 MiB",
						"host to device, 64 MiB, behind other work" };
	const struct tenon_memory_request request = { sizeof(request), COPY, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	char *from = aligned_alloc(PAGE, COPY), *to = aligned_alloc(PAGE, COPY);
	double gb[WAYS][COPIES], start, base = 0;
	struct tenon_memory *m;
	int i, w;

	if (!from || !to || tenon_memory_alloc(rig.device, &request, &m))
		return device_bench_failed("64 MiB");
	memset(from, 1, COPY);
	memset(to, 2, COPY);
	for (i = -1; i < COPIES; i++) {
		for (w = 0; w < WAYS; w++) {
			if (w == WRITE_STAGED &&
			    tenon_queue_fill(rig.queue, rig.memory[0], 0, 4, 0, 4, NULL))
				return device_bench_failed(ways[w]);
			start = bench_now();
			if (move(w, to, from, m))
				return device_bench_failed(ways[w]);
			if (i >= 0)
				gb[w][i] = (double)COPY / (bench_now() - start);
		}
	}
	for (w = 0; w < WAYS; w++) {
		start = bench_middle(gb[w], COPIES);
		if (w == MEMCPY)
			base = gb[w][COPIES - 1];
		printf("%-48s %9.1f GB/s %6.2f of memcpy  (median %.1f)   %s\n", ways[w],
		       gb[w][COPIES - 1], gb[w][COPIES - 1] / base, start,
		       w == MEMCPY ? "" : bench_at_least(gb[w][COPIES - 1] / base, 0.9));
	}
	tenon_object_unref(m);
	free(from);
	free(to);
	return 0;
}

/* ---- milliseconds until a kernel can be launched that nobody has seen, and once more */

static int measure_build(void)
{
	double took[2][9];
	int i, again;

	for (i = 0; i < 9; i++) {
		describe((uint32_t)i + 1);
		for (again = 0; again < 2; again++) {
			took[again][i] = device_bench_compile(&rig, &program);
			if (took[again][i] < 0)
				return device_bench_failed("a pipeline");
		}
	}
	printf("%-48s %9.3f ms\n", "a pipeline, compiled", bench_middle(took[0], 9));
	printf("%-48s %9.3f ms\n", "a pipeline, with the disk cache", bench_middle(took[1], 9));
	return 0;
}

/* The driver's own threads were made before and stay where they are. */
static void pin(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int main(void)
{
	int err;

	/* entries of this run only */
	if (device_bench_cache())
		return 1;
	setenv("MESA_SHADER_CACHE_DISABLE", "true", 0);
	err = make_tenon() ? device_bench_failed("vulkan:0") : 0;
	if (!err) {
		printf("# %s, %s\n", rig.device->properties->name, rig.device->properties->driver);
		pin();
	}
	if (!err && (make_function() || make_raw()))
		err = device_bench_failed("a kernel");
	if (!err && !vulkan()->facts.push_most)
		err = device_bench_failed(
			"raw calls push descriptors, which this device does not have");
	if (!err && !measure_launches() && !measure_copies())
		measure_build();
	return device_bench_cache_remove();
}

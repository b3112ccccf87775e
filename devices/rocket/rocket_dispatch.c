/* SPDX-License-Identifier: MIT */
/* A launch as a job: addresses in the words, tasks, buffers, and marks where results begin. */
#include <inttypes.h>
#include <tenon/timeline.h>

#include "devices/mapped/inline_work.h"
#include "devices/rocket/rocket_device.h"
#include "devices/rocket/rocket_registers.h"
#include "lib/brief_errors.h"

/**
 * struct launch - a job in the making
 * @q: queue
 * @kernel: what is launched
 * @addresses: of the regions in use, for the NPU
 * @job: receives the rest
 */
struct launch {
	struct rocket_queue *q;
	const struct tenon_kernel *kernel;
	uint64_t addresses[TENON_CMDSTREAM_REGIONS];
	struct rocket_launch *job;
};

static bool is_used(const struct launch *l, uint32_t region)
{
	return l->q->binding.used >> region & 1;
}

/* ---- buffers: each once, as written if anything writes to it */

static void add_use(struct launch *l, const struct rocket_buffer *b, bool is_written)
{
	size_t i = 0;

	while (i < l->job->use_count && l->job->uses[i].buffer->drm.handle != b->drm.handle)
		i++;
	if (i == l->job->use_count)
		l->job->uses[l->job->use_count++] = (struct rocket_use){ .buffer = b };
	l->job->uses[i].is_written |= is_written;
}

static void find_buffers(struct launch *l)
{
	const struct rocket_memory *m;
	uint64_t offset;
	uint32_t i;

	for (i = 0; i < TENON_CMDSTREAM_REGIONS; i++) {
		if (!is_used(l, i))
			continue;
		offset = 0;
		m = rocket_memory_of(&l->q->binding.regions[i], &offset);
		l->addresses[i] = m->buffer.address + offset;
		add_use(l, &m->buffer,
			cmdstream_executable_region(l->kernel, i)->access & TENON_REGION_WRITE);
	}
	add_use(l, &l->job->commands, false);
}

/* ---- words */

static int reserve_words(struct rocket_accel *a, size_t size, struct rocket_buffer *commands)
{
	if (commands->drm.handle && commands->drm.size >= size)
		return 0;
	rocket_buffer_close(a, commands);
	return rocket_buffer_open(a, size, commands);
}

/* Words are little-endian. */
static uint64_t word_at(const struct rocket_launch *job, size_t at)
{
	const uint8_t *bytes = (const uint8_t *)job->commands.drm.base + at;
	uint64_t word = 0;
	size_t i;

	for (i = ROCKET_WORD; i; i--)
		word = word << 8 | bytes[i - 1];
	return word;
}

/* Does the kernel read something where a result begins? Then no pattern may be there. */
static bool is_input(const struct launch *l, uint64_t address)
{
	const struct tenon_cmdstream_region *r;
	uint32_t i;

	for (i = 0; i < TENON_CMDSTREAM_REGIONS; i++) {
		if (!is_used(l, i))
			continue;
		r = cmdstream_executable_region(l->kernel, i);
		if ((r->kind == TENON_REGION_INPUT || r->kind == TENON_REGION_CONSTANT) &&
		    address + ROCKET_MARK > l->addresses[i] && address < l->addresses[i] + r->size)
			return true;
	}
	return false;
}

static void add_mark(struct launch *l, uint64_t address)
{
	const struct tenon_cmdstream_region *r;
	uint32_t i;

	if (l->job->mark_count == ROCKET_MARKS || is_input(l, address))
		return;
	for (i = 0; i < TENON_CMDSTREAM_REGIONS; i++) {
		if (!is_used(l, i) || address < l->addresses[i])
			continue;
		r = cmdstream_executable_region(l->kernel, i);
		if (address + ROCKET_MARK > l->addresses[i] + r->size)
			continue;
		l->job->marks[l->job->mark_count++] =
			(uint8_t *)inline_address(&l->q->binding.regions[i]) +
			(address - l->addresses[i]);
		return;
	}
}

static bool is_result(uint64_t word)
{
	return (rocket_word_target(word) == ROCKET_TARGET_DPU &&
		rocket_word_register(word) == ROCKET_DPU_DST_BASE_ADDR) ||
	       (rocket_word_target(word) == ROCKET_TARGET_PPU &&
		rocket_word_register(word) == ROCKET_PPU_DST_BASE_ADDR);
}

static bool is_written_to(uint32_t units, uint64_t word)
{
	return units &
	       (rocket_word_target(word) == ROCKET_TARGET_PPU ? ROCKET_UNIT_PPU : ROCKET_UNIT_DPU);
}

/* Of each unit, the last address that the task sets is the one that it writes to. */
static void add_results(struct launch *l, size_t begin, size_t end)
{
	const uint32_t units = rocket_word_value(word_at(l->job, end - ROCKET_WORD));
	uint64_t word, last[2] = { 0, 0 };
	size_t at, i;

	for (at = begin; at < end; at += ROCKET_WORD) {
		word = word_at(l->job, at);
		if (is_result(word) && is_written_to(units, word))
			last[rocket_word_target(word) == ROCKET_TARGET_PPU] = word;
	}
	/* what the DPU hands to the PPU does not go to memory */
	if (last[1])
		last[0] = 0;
	for (i = 0; i < 2; i++)
		if (last[i])
			add_mark(l, rocket_word_value(last[i]));
}

/* The code was checked: each task ends. */
static int find_tasks(struct launch *l, size_t size)
{
	size_t begin = 0, end;

	while (begin < size) {
		if (l->job->task_count == ROCKET_TASKS)
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "a kernel of more than %d tasks; make several of it",
					   ROCKET_TASKS);
		end = begin;
		while (rocket_word_target(word_at(l->job, end)) != ROCKET_TARGET_ENABLE)
			end += ROCKET_WORD;
		end += ROCKET_WORD;
		l->job->tasks[l->job->task_count++] = (struct rocket_uapi_task){
			l->job->commands.address + (uint32_t)begin,
			(uint32_t)((end - begin) / ROCKET_WORD),
		};
		add_results(l, begin, end);
		begin = (end + ROCKET_TASK_ALIGNMENT - 1) / ROCKET_TASK_ALIGNMENT *
			ROCKET_TASK_ALIGNMENT;
	}
	return 0;
}

/* ---- the job */

static int prepare(struct tenon_queue *queue, const struct tenon_dispatch *dispatch, void *launch)
{
	const size_t size = cmdstream_code_size(dispatch->kernel);
	struct launch l = { .q = (struct rocket_queue *)queue,
			    .kernel = dispatch->kernel,
			    .job = launch };
	struct rocket_buffer *commands = &l.job->commands;
	int err;

	l.job->task_count = l.job->use_count = l.job->mark_count = 0;
	err = cmdstream_bind(queue, dispatch, &l.q->binding);
	err = err ? err : reserve_words(rocket_accel_of(queue->device), size, commands);
	if (err)
		return err;
	find_buffers(&l);
	err = cmdstream_patch(dispatch->kernel, l.addresses, commands->drm.base);
	return err ? err : find_tasks(&l, size);
}

/* The kernel ends each job, with a reset if it must: how long that takes depends on the jobs of other programs. */
static int run_jobs(struct tenon_queue *queue, void *launch)
{
	struct rocket_lane *lane = &((struct rocket_queue *)queue)->lane;
	struct rocket_launch *l = launch;
	const struct rocket_job job = { .tasks = l->tasks,
					.task_count = l->task_count,
					.uses = l->uses,
					.use_count = l->use_count,
					.marks = l->marks,
					.mark_count = l->mark_count };
	int err = rocket_lane_start(lane, &job);

	if (err)
		return err;
	do {
		err = rocket_lane_finish(lane, tenon_deadline(WORKER_SLICE));
	} while (err == -TENON_E_TIMEOUT && rocket_lane_is_busy(lane) &&
		 !worker_is_lost(queue->device));
	return err;
}

static void release(struct tenon_queue *queue, void *launch)
{
	rocket_buffer_close(rocket_accel_of(queue->device),
			    &((struct rocket_launch *)launch)->commands);
}

const struct worker_launches rocket_launches = {
	.size = sizeof(struct rocket_launch),
	.prepare = prepare,
	.run = run_jobs,
	.release = release,
};

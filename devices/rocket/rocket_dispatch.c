/* SPDX-License-Identifier: MIT */
/* A launch as a job: addresses in the words, tasks, buffers, and marks where results begin. */
#include <inttypes.h>
#include <tenon/timeline.h>

#include "devices/inline/inline_work.h"
#include "devices/rocket/rocket_device.h"
#include "devices/rocket/rocket_registers.h"
#include "lib/brief_errors.h"

/* The kernel resets a core that works for 0.5 s, but other programs may have jobs before this one. */
#define DEADLINE (UINT64_C(60) * 1000000000)

/**
 * struct launch - a job in the making
 * @q: queue
 * @kernel: what is launched
 * @addresses: of the regions in use, for the NPU
 * @tasks: number of q->tasks
 * @uses: buffers
 * @use_count: number of these
 * @marks: where results begin
 * @mark_count: number of these
 */
struct launch {
	struct rocket_queue *q;
	const struct tenon_kernel *kernel;
	uint64_t addresses[TENON_CMDSTREAM_REGIONS];
	size_t tasks;
	struct rocket_use uses[ROCKET_BUFFERS];
	size_t use_count;
	uint8_t *marks[ROCKET_MARKS];
	size_t mark_count;
};

static bool is_used(const struct launch *l, uint32_t region)
{
	return l->q->binding.used >> region & 1;
}

/* ---- buffers: each once, as written if anything writes to it */

static void add_use(struct launch *l, const struct rocket_buffer *b, bool is_written)
{
	size_t i = 0;

	while (i < l->use_count && l->uses[i].buffer->drm.handle != b->drm.handle)
		i++;
	if (i == l->use_count)
		l->uses[l->use_count++] = (struct rocket_use){ .buffer = b };
	l->uses[i].is_written |= is_written;
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
	add_use(l, &l->q->commands, false);
}

/* ---- words */

static int make_room(struct rocket_queue *q, size_t size)
{
	struct rocket_accel *a = q->lane.accel;

	if (q->commands.drm.handle && q->commands.drm.size >= size)
		return 0;
	rocket_buffer_close(a, &q->commands);
	return rocket_buffer_open(a, size, &q->commands);
}

/* Words are little-endian. */
static uint64_t word_at(const struct rocket_queue *q, size_t at)
{
	const uint8_t *bytes = (const uint8_t *)q->commands.drm.base + at;
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

	if (l->mark_count == ROCKET_MARKS || is_input(l, address))
		return;
	for (i = 0; i < TENON_CMDSTREAM_REGIONS; i++) {
		if (!is_used(l, i) || address < l->addresses[i])
			continue;
		r = cmdstream_executable_region(l->kernel, i);
		if (address + ROCKET_MARK > l->addresses[i] + r->size)
			continue;
		l->marks[l->mark_count++] = (uint8_t *)inline_address(&l->q->binding.regions[i]) +
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
	const uint32_t units = rocket_word_value(word_at(l->q, end - ROCKET_WORD));
	uint64_t word, last[2] = { 0, 0 };
	size_t at, i;

	for (at = begin; at < end; at += ROCKET_WORD) {
		word = word_at(l->q, at);
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
		if (l->tasks == ROCKET_TASKS)
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "a kernel of more than %d tasks; make several of it",
					   ROCKET_TASKS);
		end = begin;
		while (rocket_word_target(word_at(l->q, end)) != ROCKET_TARGET_ENABLE)
			end += ROCKET_WORD;
		end += ROCKET_WORD;
		l->q->tasks[l->tasks++] = (struct rocket_uapi_task){
			l->q->commands.address + (uint32_t)begin,
			(uint32_t)((end - begin) / ROCKET_WORD),
		};
		add_results(l, begin, end);
		begin = (end + ROCKET_TASK_ALIGNMENT - 1) / ROCKET_TASK_ALIGNMENT *
			ROCKET_TASK_ALIGNMENT;
	}
	return 0;
}

/* ---- the job */

/*
 * Keep references to the buffers of a failed call: its job may still run, and the lane returns the
 * buffers to the CPU when it ends. Their handles and mappings must not be reused before.
 */
static void keep(struct launch *l)
{
	struct rocket_queue *q = l->q;
	struct rocket_memory *m;
	uint64_t offset;
	uint32_t i;

	for (i = 0; i < TENON_CMDSTREAM_REGIONS; i++) {
		if (!is_used(l, i))
			continue;
		offset = 0;
		m = rocket_memory_of(&q->binding.regions[i], &offset);
		tenon_object_ref(&m->base);
		q->kept[q->kept_count++] = &m->base;
	}
}

void rocket_let_go(struct rocket_queue *q)
{
	while (q->kept_count)
		tenon_object_unref(q->kept[--q->kept_count]);
}

int rocket_settle(struct rocket_queue *q)
{
	if (!rocket_lane_is_busy(&q->lane))
		return 0;
	if (rocket_lane_finish(&q->lane, tenon_now() + DEADLINE) == -TENON_E_TIMEOUT)
		return -TENON_E_TIMEOUT;
	/* the call that started it failed; whether it succeeded since does not matter */
	tenon_error_clear();
	rocket_let_go(q);
	return 0;
}

static int make_job(struct launch *l, const struct tenon_dispatch *dispatch)
{
	const size_t size = cmdstream_code_size(dispatch->kernel);
	struct rocket_queue *q = l->q;
	int err;

	err = cmdstream_bind(&q->base, dispatch, &q->binding);
	err = err ? err : make_room(q, size);
	if (err)
		return err;
	find_buffers(l);
	err = cmdstream_patch(dispatch->kernel, l->addresses, q->commands.drm.base);
	return err ? err : find_tasks(l, size);
}

int rocket_dispatch(struct rocket_queue *q, const struct tenon_dispatch *dispatch)
{
	struct launch l;
	struct rocket_job job;
	int err;

	l.q = q;
	l.kernel = dispatch->kernel;
	l.tasks = l.use_count = l.mark_count = 0;
	err = make_job(&l, dispatch);
	if (err)
		return err;
	job = (struct rocket_job){ .tasks = q->tasks,
				   .task_count = l.tasks,
				   .uses = l.uses,
				   .use_count = l.use_count,
				   .marks = l.marks,
				   .mark_count = l.mark_count };
	err = rocket_lane_start(&q->lane, &job);
	if (err)
		return err;
	err = rocket_lane_finish(&q->lane, tenon_now() + DEADLINE);
	if (err == -TENON_E_TIMEOUT)
		keep(&l);
	return err;
}

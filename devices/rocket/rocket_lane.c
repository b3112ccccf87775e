/* SPDX-License-Identifier: MIT */
/* Check jobs, submit them, wait for them, and look for marks in their results. */
#include "devices/rocket/rocket_lane.h"

#include <string.h>
#include <tenon/error.h>

#include "driver/dmabuf/dmabuf.h"
#include "lib/brief_errors.h"

int rocket_lane_open(struct rocket_accel *a, struct rocket_lane *out)
{
	int err;

	out->accel = a;
	out->shared = out->fence = -1;
	out->buffer_count = out->mark_count = 0;
	out->runs = 0;
	err = rocket_buffer_open(a, 1, &out->page);
	if (!err) {
		out->shared = drm_export(&a->drm, &out->page.drm);
		err = out->shared < 0 ? out->shared : 0;
	}
	if (err)
		rocket_lane_close(out);
	return err;
}

void rocket_lane_close(struct rocket_lane *l)
{
	if (!l->accel)
		return;
	system_close(l->accel->drm.calls, &l->fence);
	system_close(l->accel->drm.calls, &l->shared);
	rocket_buffer_close(l->accel, &l->page);
	l->accel = NULL;
}

bool rocket_lane_is_busy(const struct rocket_lane *l)
{
	return l->fence >= 0;
}

/* ---- what the kernel would drop without a word */

static int check_tasks(const struct rocket_lane *l, const struct rocket_job *job)
{
	size_t i;

	if (!job->task_count || job->task_count > ROCKET_TASKS)
		return tenon_error(-TENON_E_VALUE, "%s: a job of %zu tasks; 1 to %d are possible",
				   l->accel->drm.path, job->task_count, ROCKET_TASKS);
	for (i = 0; i < job->task_count; i++)
		if (!job->tasks[i].count || job->tasks[i].count > ROCKET_WORDS)
			return tenon_error(
				-TENON_E_VALUE, "%s: task %zu has %u words; 1 to %u are possible",
				l->accel->drm.path, i, job->tasks[i].count, ROCKET_WORDS);
	return 0;
}

static int check_uses(const struct rocket_lane *l, const struct rocket_job *job)
{
	size_t i, k;

	if (job->use_count >= ROCKET_BUFFERS || job->mark_count > ROCKET_MARKS)
		return tenon_error(
			-TENON_E_VALUE,
			"%s: a job with %zu buffers and %zu marks; %d and %d are possible",
			l->accel->drm.path, job->use_count, job->mark_count, ROCKET_BUFFERS - 1,
			ROCKET_MARKS);
	for (i = 0; i < job->use_count; i++) {
		if (!job->uses[i].buffer->drm.handle)
			return tenon_error(-TENON_E_VALUE, "%s: buffer %zu of a job is closed",
					   l->accel->drm.path, i);
		/* the kernel would lock it twice */
		for (k = 0; k < i; k++)
			if (job->uses[i].buffer->drm.handle == job->uses[k].buffer->drm.handle)
				return tenon_error(-TENON_E_VALUE,
						   "%s: buffers %zu and %zu of a job are the same",
						   l->accel->drm.path, k, i);
	}
	return 0;
}

/* ---- a job */

/* A pattern of each run: results are not likely to be equal to it. */
static void make_pattern(uint64_t run, size_t index, uint8_t pattern[ROCKET_MARK])
{
	uint64_t state = run * UINT64_C(0x9e3779b97f4a7c15) + index;
	size_t i;

	for (i = 0; i < ROCKET_MARK; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		pattern[i] = (uint8_t)(state >> 56);
	}
}

static void set_marks(struct rocket_lane *l, const struct rocket_job *job)
{
	uint8_t pattern[ROCKET_MARK];
	size_t i;

	for (i = 0; i < job->mark_count; i++) {
		make_pattern(l->runs, i, pattern);
		memcpy(job->marks[i], pattern, ROCKET_MARK);
		l->marks[i] = job->marks[i];
	}
	l->mark_count = job->mark_count;
}

static int give_buffers(struct rocket_lane *l, const struct rocket_job *job)
{
	size_t i;
	int err = 0;

	for (i = 0; i < job->use_count && !err; i++) {
		l->buffers[i] = *job->uses[i].buffer;
		if (!job->uses[i].is_given)
			err = rocket_buffer_end(l->accel, &l->buffers[i]);
	}
	l->buffer_count = i;
	return err;
}

static int take_buffers(struct rocket_lane *l)
{
	size_t i;
	int err = 0;

	for (i = 0; i < l->buffer_count && !err; i++)
		err = rocket_buffer_begin(l->accel, &l->buffers[i], UINT64_MAX);
	l->buffer_count = 0;
	return err;
}

/* For callers that return an error already, which stays the thread's. */
static void prepare(const struct rocket_lane *l, const struct rocket_buffer *b)
{
	struct rocket_uapi_prepare p = { .handle = b->drm.handle, .deadline = INT64_MAX };

	(void)drm_call(&l->accel->drm, ROCKET_UAPI_PREPARE, &p);
}

static void take_back(struct rocket_lane *l)
{
	size_t i;

	for (i = 0; i < l->buffer_count; i++)
		prepare(l, &l->buffers[i]);
	l->buffer_count = 0;
}

/* @in and @out have room for all */
static void list_handles(const struct rocket_lane *l, const struct rocket_job *job,
			 struct rocket_uapi_job *j, uint32_t *in, uint32_t *out)
{
	size_t i;

	for (i = 0; i < job->use_count; i++) {
		if (job->uses[i].is_written)
			out[j->out_count++] = job->uses[i].buffer->drm.handle;
		else
			in[j->in_count++] = job->uses[i].buffer->drm.handle;
	}
	out[j->out_count++] = l->page.drm.handle;
	j->in_handles = (uintptr_t)in;
	j->out_handles = (uintptr_t)out;
}

static int submit(const struct rocket_lane *l, const struct rocket_job *job)
{
	uint32_t in[ROCKET_BUFFERS], out[ROCKET_BUFFERS];
	struct rocket_uapi_job j = { .tasks = (uintptr_t)job->tasks,
				     .task_count = (uint32_t)job->task_count,
				     .task_size = sizeof(*job->tasks) };
	struct rocket_uapi_submit s = { .jobs = (uintptr_t)&j, .count = 1, .job_size = sizeof(j) };
	int err;

	list_handles(l, job, &j, in, out);
	err = drm_call(&l->accel->drm, ROCKET_UAPI_SUBMIT, &s);
	return err ? system_error(-err, l->accel->drm.path, "submit a job") : 0;
}

/*
 * Export the fence of the page. A fence that is signalled at once says nothing: the job may have
 * ended before.
 */
static int take_fence(struct rocket_lane *l)
{
	const struct system_calls *calls = l->accel->drm.calls;
	struct dmabuf page;
	int ready;

	dmabuf_adopt(calls, l->shared, l->page.drm.size, &page);
	l->fence = dmabuf_export_fence(&page, DMABUF_READ);
	if (l->fence < 0)
		return l->fence;
	ready = system_wait(calls, l->fence, "sync_file", POLLIN, 0);
	l->was_done = ready > 0;
	return ready < 0 ? ready : 0;
}

int rocket_lane_start(struct rocket_lane *l, const struct rocket_job *job)
{
	int err;

	if (rocket_lane_is_busy(l))
		return tenon_error(-TENON_E_USAGE, "%s: the job before is not finished",
				   l->accel->drm.path);
	err = check_tasks(l, job);
	if (!err)
		err = check_uses(l, job);
	if (err)
		return err;
	l->runs++;
	set_marks(l, job);
	err = give_buffers(l, job);
	if (!err)
		err = submit(l, job);
	if (err) {
		take_back(l);
		return err;
	}
	err = take_fence(l);
	if (err) {
		/* the job runs: its memory is not the caller's before it ends */
		prepare(l, &l->page);
		take_back(l);
		system_close(l->accel->drm.calls, &l->fence);
	}
	return err;
}

static int check_marks(const struct rocket_lane *l)
{
	uint8_t pattern[ROCKET_MARK];
	size_t i;

	for (i = 0; i < l->mark_count; i++) {
		make_pattern(l->runs, i, pattern);
		if (!memcmp(l->marks[i], pattern, ROCKET_MARK))
			return tenon_error(
				-TENON_E_DEVICE,
				"%s: the job ended at once, and result %zu is as it was "
				"before: the kernel dropped the job, or the device failed",
				l->accel->drm.path, i);
	}
	return 0;
}

int rocket_lane_finish(struct rocket_lane *l, uint64_t deadline)
{
	const struct system_calls *calls;
	int err;

	if (!rocket_lane_is_busy(l))
		return tenon_error(-TENON_E_USAGE, "%s: there is no job", l->accel->drm.path);
	err = rocket_buffer_begin(l->accel, &l->page, deadline);
	if (err == -TENON_E_TIMEOUT)
		return err;
	calls = l->accel->drm.calls;
	if (!err)
		err = l->was_done ? 0 : sync_file_wait(calls, l->fence, 0);
	system_close(calls, &l->fence);
	if (err)
		take_back(l);
	else
		err = take_buffers(l);
	return !err && l->was_done ? check_marks(l) : err;
}

/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/npu/rocket_objects.h"
#include "tests/unit/suite.h"

/* a job that takes longer is given up, whether it makes progress or not */
#define MOST_TIME (ROCKET_SECOND / 2)

#define CORES 8

struct rocket_record rocket_records[ROCKET_RECORDS];
static struct job jobs[JOBS];
static unsigned int taken;
static uint64_t core_free[CORES];

void rocket_job_put(struct job *job)
{
	unsigned int i;

	if (!job || --job->references)
		return;
	for (i = 0; i < job->bo_count; i++)
		rocket_object_put(job->bos[i]);
	rocket_file_put(job->file);
	memset(job, 0, sizeof(*job));
}

unsigned int rocket_jobs_left(void)
{
	unsigned int i, left = 0;

	for (i = 0; i < JOBS; i++)
		left += jobs[i].references != 0;
	return left;
}

void rocket_drop_jobs(void)
{
	memset(jobs, 0, sizeof(jobs));
	memset(core_free, 0, sizeof(core_free));
	memset(rocket_records, 0, sizeof(rocket_records));
	taken = 0;
}

/* ---- the end of jobs */

/* The one of those that wait whose end comes first. */
static struct job *first_to_end(void)
{
	struct job *first = NULL;
	unsigned int i;

	for (i = 0; i < JOBS; i++)
		if (jobs[i].queued && (!first || jobs[i].end < first->end))
			first = &jobs[i];
	return first;
}

static void end_job(struct job *job, int error)
{
	unsigned int i;

	job->queued = false;
	job->error = error;
	rocket.jobs++;
	for (i = job->out_from; i < job->bo_count; i++)
		if (job->bos[i]->writer == job) {
			job->bos[i]->writer = NULL;
			rocket_job_put(job);
		}
	rocket_fence_signals(job);
	rocket_job_put(job);
}

static bool run_tasks(const struct job *job)
{
	unsigned int i;

	for (i = 0; i < job->task_count; i++) {
		if (rocket.tasks < ROCKET_RECORDS)
			rocket_records[rocket.tasks] =
				(struct rocket_record){ job->tasks[i].regcmd,
							job->tasks[i].regcmd_count, job->core };
		rocket.tasks++;
		if (!rocket_run_task(job->file, &job->tasks[i]))
			return false;
	}
	return true;
}

static void run_first(struct job *job)
{
	const bool runs = job->fate != ROCKET_HANGS && run_tasks(job);
	const bool succeeds = runs && job->fate == ROCKET_DONE;

	end_job(job, succeeds ? 0 : ECANCELED);
	if (succeeds)
		return;
	rocket.resets++;
	while (rocket.cancels_all && (job = first_to_end()))
		end_job(job, ECANCELED);
}

void rocket_run_queue(void)
{
	struct job *job;

	while ((job = first_to_end()) && job->end <= rocket.now)
		run_first(job);
}

bool rocket_pass_until(const struct job *job, uint64_t deadline)
{
	struct job *first;

	while (job->queued && (first = first_to_end()) && first->end <= deadline) {
		if (rocket.now < first->end)
			rocket.now = first->end;
		run_first(first);
	}
	if (job->queued && rocket.now < deadline && deadline != UINT64_MAX)
		rocket.now = deadline;
	return !job->queued;
}

void rocket_pass_time(uint64_t nanoseconds)
{
	rocket.now += nanoseconds;
	rocket_run_queue();
}

/* Fences are those of writers, and a wait does not tell whether they failed. */
int rocket_wait(const struct object *object, int64_t deadline)
{
	const bool is_past = deadline <= 0 || (uint64_t)deadline <= rocket.now;

	if (!object->writer)
		return 0;
	if (is_past)
		return EBUSY;
	return rocket_pass_until(object->writer, (uint64_t)deadline) ? 0 : ETIMEDOUT;
}

/* ---- submission */

static int copy_tasks(const struct job_argument *j, struct job *job)
{
	const char *at = (const char *)(uintptr_t)j->tasks;
	unsigned int i;

	if (j->task_struct_size < sizeof(struct task_argument))
		return EINVAL;
	assert_true(j->task_count <= JOB_TASKS);
	for (i = 0; i < j->task_count; i++) {
		if (j->tasks < ROCKET_PAGE)
			return EFAULT;
		memcpy(&job->tasks[i], at + (size_t)i * j->task_struct_size, sizeof(job->tasks[i]));
		if (!job->tasks[i].regcmd_count)
			return EINVAL;
	}
	job->task_count = j->task_count;
	return 0;
}

static int find_objects(const struct file *file, uint64_t handles, uint32_t count, struct job *job)
{
	uint32_t i, k, handle;

	if (count && handles < ROCKET_PAGE)
		return EFAULT;
	assert_true(job->bo_count + count <= JOB_BOS);
	for (i = 0; i < count; i++) {
		memcpy(&handle, (const char *)(uintptr_t)handles + i * sizeof(handle),
		       sizeof(handle));
		job->bos[job->bo_count] = rocket_object_of(file, handle);
		if (!job->bos[job->bo_count])
			return ENOENT;
		/* the locks of all are taken, each once */
		for (k = 0; k < job->bo_count; k++)
			if (job->bos[k] == job->bos[job->bo_count])
				return EALREADY;
		job->bo_count++;
	}
	return 0;
}

static struct job *free_job(void)
{
	unsigned int i = 0;

	while (i < JOBS && jobs[i].references)
		i++;
	assert_true(i < JOBS);
	return &jobs[i];
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A job waits for those that write its buffers, and for a core. */
static void schedule(struct job *job)
{
	unsigned int i, running = 1;
	uint64_t begin = rocket.now;

	for (i = 0; i < job->bo_count; i++)
		if (job->bos[i]->writer)
			begin = later(begin, job->bos[i]->writer->end);
	assert_true(rocket.cores <= CORES);
	for (i = 1; i < rocket.cores; i++)
		if (core_free[i] < core_free[job->core] && core_free[job->core] > begin)
			job->core = i;
	job->begin = later(begin, core_free[job->core]);
	job->fate = taken < rocket.fate_count ? rocket.fates[taken] : ROCKET_DONE;
	taken++;
	job->end = job->begin +
		   (job->fate == ROCKET_DONE ? rocket.job_time * job->task_count : MOST_TIME);
	core_free[job->core] = job->end;
	for (i = 0; i < JOBS; i++)
		running += jobs[i].queued && &jobs[i] != job && jobs[i].begin < job->end &&
			   jobs[i].end > job->begin;
	if (running > rocket.most_at_once)
		rocket.most_at_once = running;
}

static void push(struct job *job, struct file *file)
{
	unsigned int i;

	schedule(job);
	job->references = 1;
	job->queued = true;
	job->file = file;
	file->references++;
	for (i = 0; i < job->bo_count; i++) {
		job->bos[i]->references++;
		if (i < job->out_from)
			continue;
		rocket_job_put(job->bos[i]->writer);
		job->bos[i]->writer = job;
		job->references++;
	}
	rocket_run_queue();
}

/* What is wrong with a job is the kernel's secret. */
static void submit_one(struct file *file, const struct job_argument *j)
{
	static struct job found;
	struct job *job;
	int error = j->task_count && !rocket.drops ? 0 : EINVAL;

	rocket.drops -= rocket.drops > 0;
	memset(&found, 0, sizeof(found));
	if (!error)
		error = copy_tasks(j, &found);
	if (!error)
		error = find_objects(file, j->in_bo_handles, j->in_bo_handle_count, &found);
	found.out_from = found.bo_count;
	if (!error)
		error = find_objects(file, j->out_bo_handles, j->out_bo_handle_count, &found);
	rocket.dropped += error != 0;
	if (error)
		return;
	job = free_job();
	*job = found;
	push(job, file);
}

int rocket_submit(struct file *file, const struct submit_argument *s)
{
	const char *at = (const char *)(uintptr_t)s->jobs;
	struct job_argument j;
	uint32_t i;

	rocket.submits++;
	if (!s->job_count)
		return 0;
	if (s->job_struct_size < sizeof(j) || s->reserved)
		return EINVAL;
	if (s->jobs < ROCKET_PAGE)
		return EFAULT;
	for (i = 0; i < s->job_count; i++) {
		memcpy(&j, at + (size_t)i * s->job_struct_size, sizeof(j));
		submit_one(file, &j);
	}
	return 0;
}

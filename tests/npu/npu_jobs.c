/* SPDX-License-Identifier: MIT */
/* Jobs of the kernel's model, and its time. */
#include <errno.h>
#include <string.h>

#include "tests/npu/npu_objects.h"
#include "tests/unit/suite.h"

#define CORES 8

static const struct npu_driver *driver;
static struct npu_job jobs[NPU_JOBS];
static uint64_t core_free[CORES];

void npu_jobs_begin(const struct npu_driver *d)
{
	driver = d;
	memset(jobs, 0, sizeof(jobs));
	npu_cores_begin();
}

void npu_cores_begin(void)
{
	unsigned int i;

	for (i = 0; i < NPU_JOBS; i++)
		assert_false(jobs[i].queued);
	memset(core_free, 0, sizeof(core_free));
}

void npu_job_put(struct npu_job *job)
{
	unsigned int i;

	if (!job || --job->references)
		return;
	for (i = 0; i < job->object_count; i++)
		npu_object_put(job->objects[i]);
	if (job->file)
		npu_file_put(job->file);
	memset(job, 0, sizeof(*job));
}

unsigned int npu_jobs_left(void)
{
	unsigned int i, left = 0;

	for (i = 0; i < NPU_JOBS; i++)
		left += jobs[i].references != 0;
	return left;
}

/* ---- the end of jobs */

/* The queued job that ends first; NULL if none is queued. */
static struct npu_job *first_to_end(void)
{
	struct npu_job *first = NULL;
	unsigned int i;

	for (i = 0; i < NPU_JOBS; i++)
		if (jobs[i].queued && (!first || jobs[i].end < first->end))
			first = &jobs[i];
	return first;
}

static void end_job(struct npu_job *job, int error)
{
	unsigned int i;

	job->queued = false;
	job->error = error;
	npu.jobs++;
	for (i = job->written_from; i < job->object_count; i++)
		if (job->objects[i]->writer == job) {
			job->objects[i]->writer = NULL;
			npu_job_put(job);
		}
	npu_fence_signals(job);
	npu_job_put(job);
}

static void cancel_all(uint64_t now)
{
	struct npu_job *job;
	unsigned int i;

	while ((job = first_to_end()))
		end_job(job, ECANCELED);
	for (i = 0; i < CORES; i++)
		core_free[i] = now;
}

static void run_first(struct npu_job *job)
{
	const bool runs = job->fate != NPU_HANGS && job->fate != NPU_FAULTS && driver->compute(job);
	const bool succeeds = runs && job->fate == NPU_DONE;
	const uint64_t end = job->end;

	end_job(job, succeeds ? 0 : ECANCELED);
	if (succeeds)
		return;
	npu.resets++;
	if (npu.cancels_all)
		cancel_all(end);
}

void npu_run_queue(void)
{
	struct npu_job *job;

	while ((job = first_to_end()) && job->end <= npu.now)
		run_first(job);
}

bool npu_pass_until(const struct npu_job *job, uint64_t deadline)
{
	struct npu_job *first;

	while (job->queued && (first = first_to_end()) && first->end <= deadline) {
		if (npu.now < first->end)
			npu.now = first->end;
		run_first(first);
	}
	if (job->queued && npu.now < deadline && deadline != UINT64_MAX)
		npu.now = deadline;
	return !job->queued;
}

/* ---- submission */

int npu_job_add(struct npu_job *job, struct npu_object *object)
{
	unsigned int i;

	for (i = 0; i < job->object_count; i++)
		if (job->objects[i] == object)
			return EALREADY;
	assert_true(job->object_count < NPU_JOB_OBJECTS);
	job->objects[job->object_count++] = object;
	return 0;
}

static struct npu_job *free_job(void)
{
	unsigned int i = 0;

	while (i < NPU_JOBS && jobs[i].references)
		i++;
	assert_true(i < NPU_JOBS);
	return &jobs[i];
}

static enum npu_fate next_fate(void)
{
	unsigned int i, nth = npu.jobs;

	for (i = 0; i < NPU_JOBS; i++)
		nth += jobs[i].queued;
	return nth < npu.fate_count ? npu.fates[nth] : NPU_DONE;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool hangs(const struct npu_job *job)
{
	return job->fate == NPU_HANGS || job->fate == NPU_WRITES_AND_HANGS;
}

/* A job waits for those that write its objects, and for a core. */
static void schedule(struct npu_job *job)
{
	unsigned int i, running = 1;

	job->begin = npu.now;
	for (i = 0; i < job->object_count; i++)
		if (job->objects[i]->writer)
			job->begin = later(job->begin, job->objects[i]->writer->end);
	assert_true(npu.cores <= CORES);
	for (i = 1; i < npu.cores; i++)
		if (core_free[i] < core_free[job->core] && core_free[job->core] > job->begin)
			job->core = i;
	job->begin = later(job->begin, core_free[job->core]);
	job->fate = next_fate();
	job->end = job->begin + (hangs(job) ? driver->patience : npu.job_time * job->task_count);
	core_free[job->core] = job->end;
	for (i = 0; i < NPU_JOBS; i++)
		running += jobs[i].queued && jobs[i].begin < job->end && jobs[i].end > job->begin;
	if (running > npu.most_at_once)
		npu.most_at_once = running;
}

void npu_job_push(const struct npu_job *found)
{
	struct npu_job *job = free_job();
	unsigned int i;

	*job = *found;
	schedule(job);
	job->references = 1;
	job->queued = true;
	if (job->file)
		job->file->references++;
	for (i = 0; i < job->object_count; i++) {
		job->objects[i]->references++;
		if (i < job->written_from)
			continue;
		npu_job_put(job->objects[i]->writer);
		job->objects[i]->writer = job;
		job->references++;
	}
	npu_run_queue();
}

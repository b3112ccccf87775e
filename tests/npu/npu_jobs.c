/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "devices/ethosu/ethosu_sim.h"
#include "devices/ethosu/ethosu_uapi.h"
#include "tests/npu/npu_objects.h"
#include "tests/unit/suite.h"

/* the kernel looks after 500 ms, and waits for 100 ms more for progress */
#define HANG_TIME (NPU_SECOND * 6 / 10)
#define SRAM	  2

static struct npu_job jobs[NPU_JOBS];
static struct npu_job *queue[NPU_JOBS];
static unsigned int queue_count;
static uint64_t last_end;

void npu_job_put(struct npu_job *job)
{
	unsigned int i;

	if (!job || --job->references)
		return;
	for (i = 0; i < NPU_REGIONS; i++)
		npu_object_put(job->regions[i]);
	npu_object_put(job->stream);
	memset(job, 0, sizeof(*job));
}

unsigned int npu_jobs_left(void)
{
	unsigned int i, left = 0;

	for (i = 0; i < NPU_JOBS; i++)
		left += jobs[i].references != 0;
	return left;
}

void npu_drop_jobs(void)
{
	memset(jobs, 0, sizeof(jobs));
	queue_count = 0;
	last_end = 0;
}

/* ---- the device */

static enum npu_fate fate_of(unsigned int nth)
{
	return nth < npu.fate_count ? npu.fates[nth] : NPU_DONE;
}

static uint64_t end_of(const struct npu_job *job)
{
	const uint64_t start = job->start > last_end ? job->start : last_end;

	return start + (fate_of(npu.jobs) == NPU_HANGS ? HANG_TIME : npu.job_time);
}

/* Run a stream with what the device sees: SRAM has lost its contents. Return: whether it ended without an error. */
static bool compute(const struct npu_job *job)
{
	const struct ethosu_target target = { npu.config, npu.id };
	struct ethosu_memory memory = { { NULL }, { 0 } };
	uint8_t *sram = malloc(npu.sram_size ? npu.sram_size : 1);
	unsigned int i;
	int err;

	assert_non_null(sram);
	memset(sram, 0xe7, npu.sram_size);
	for (i = 0; i < NPU_REGIONS; i++) {
		if (!job->regions[i])
			continue;
		memory.base[i] = job->regions[i]->base;
		memory.size[i] = job->regions[i]->size;
	}
	if (job->sram_size) {
		memory.base[SRAM] = sram;
		memory.size[SRAM] = npu.sram_size;
	}
	err = ethosu_sim_run(tenon_cursor_of(job->stream->base, job->stream->stream_size, "job", 0),
			     &target, &memory, 0, NULL);
	if (err) {
		print_message("a job failed: %s\n", tenon_error_message());
		tenon_error_clear();
	}
	free(sram);
	return !err;
}

static void end_job(struct npu_job *job, int error)
{
	unsigned int i;

	job->queued = false;
	job->error = error;
	npu.jobs++;
	for (i = 0; i < NPU_REGIONS; i++)
		if (job->regions[i] && job->regions[i]->writer == job) {
			job->regions[i]->writer = NULL;
			npu_job_put(job);
		}
	npu_fence_signals(job);
	npu_job_put(job);
}

static void take_head(void)
{
	memmove(queue, queue + 1, --queue_count * sizeof(*queue));
}

static void run_head(void)
{
	struct npu_job *job = queue[0];
	const enum npu_fate fate = fate_of(npu.jobs);
	bool succeeded = false;

	last_end = end_of(job);
	if (fate == NPU_DONE || fate == NPU_WRITES_AND_FAULTS)
		succeeded = compute(job) && fate == NPU_DONE;
	take_head();
	end_job(job, succeeded ? 0 : ECANCELED);
	if (succeeded)
		return;
	npu.resets++;
	while (queue_count && !npu.keeps_queue) {
		job = queue[0];
		take_head();
		end_job(job, ECANCELED);
	}
}

void npu_run_queue(void)
{
	while (queue_count && end_of(queue[0]) <= npu.now)
		run_head();
}

bool npu_pass_until(const struct npu_job *job, uint64_t deadline)
{
	while (job->queued && queue_count && end_of(queue[0]) <= deadline) {
		if (npu.now < end_of(queue[0]))
			npu.now = end_of(queue[0]);
		run_head();
	}
	if (job->queued && npu.now < deadline && deadline != UINT64_MAX)
		npu.now = deadline;
	return !job->queued;
}

void npu_set_time(uint64_t now)
{
	assert_int_equal(queue_count, 0);
	npu.now = now;
	last_end = 0;
}

void npu_pass_time(uint64_t nanoseconds)
{
	npu.now += nanoseconds;
	npu_run_queue();
}

/* Fences are those of writers, and a wait does not tell whether they failed. */
int npu_wait(struct npu_object *object, int64_t deadline)
{
	if (!object->writer)
		return 0;
	return npu_pass_until(object->writer, deadline < 0 ? 0 : (uint64_t)deadline) ? 0 : ETIME;
}

/* ---- submission */

/* Region 2 without a buffer is in SRAM. Return: whether that is so, or an errno. */
static int in_sram(const struct ethosu_uapi_job *j, const struct npu_pass *pass)
{
	if (npu.generation == 1)
		return j->sram_size != 0;
	return pass->size[SRAM] > npu.sram_size ? -EINVAL : 1;
}

static int find_region(const struct npu_file *file, const struct ethosu_uapi_job *j,
		       const struct npu_pass *pass, unsigned int i, struct npu_object **out)
{
	const uint32_t handle = j->regions[i];
	int sram;

	*out = NULL;
	if (!handle && !pass->size[i])
		return 0;
	if (!handle && i == SRAM) {
		sram = in_sram(j, pass);
		if (sram)
			return sram < 0 ? -sram : 0;
	}
	if (handle && !pass->size[i])
		return EINVAL;
	*out = npu_object_of(file, handle);
	if (!*out)
		return ENOENT;
	if ((*out)->is_stream)
		return EINVAL;
	return pass->size[i] > (*out)->size ? EOVERFLOW : 0;
}

static int find_objects(const struct npu_file *file, const struct ethosu_uapi_job *j,
			struct npu_job *job)
{
	unsigned int i, k;
	int error;

	if (j->regions[SRAM] && j->sram_size)
		return EINVAL;
	if (j->sram_size > npu.sram_size)
		return EINVAL;
	job->stream = npu_object_of(file, j->stream);
	if (!job->stream)
		return ENOENT;
	if (!job->stream->is_stream)
		return EINVAL;
	for (i = 0; i < NPU_REGIONS; i++) {
		error = find_region(file, j, &job->stream->pass, i, &job->regions[i]);
		if (error)
			return error;
		/* the locks of all are taken, each once */
		for (k = 0; k < i; k++)
			if (job->regions[i] && job->regions[i] == job->regions[k])
				return EALREADY;
	}
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

static void push(struct npu_job *job)
{
	unsigned int i;

	job->references = 1;
	job->queued = true;
	job->start = npu.now;
	job->stream->references++;
	for (i = 0; i < NPU_REGIONS; i++) {
		if (!job->regions[i])
			continue;
		job->regions[i]->references++;
		if (!job->stream->pass.written[i])
			continue;
		npu_job_put(job->regions[i]->writer);
		job->regions[i]->writer = job;
		job->references++;
	}
	queue[queue_count++] = job;
	npu_run_queue();
}

static int submit_one(const struct npu_file *file, const struct ethosu_uapi_job *j)
{
	struct npu_job found = { 0 }, *job;
	int error = find_objects(file, j, &found);

	npu.refused += error != 0;
	if (error)
		return error;
	job = free_job();
	*job = found;
	job->sram_size = j->sram_size;
	push(job);
	return 0;
}

int npu_submit(const struct npu_file *file, const void *argument)
{
	const struct ethosu_uapi_submit *s = argument;
	const char *at = (const char *)(uintptr_t)s->jobs;
	struct ethosu_uapi_job j;
	uint32_t i;
	int error = 0;

	npu.submits++;
	if (s->pad)
		return EINVAL;
	if (s->count && s->jobs < NPU_PAGE)
		return EFAULT;
	for (i = 0; i < s->count && !error; i++) {
		memcpy(&j, at + i * sizeof(j), sizeof(j));
		error = submit_one(file, &j);
	}
	return error;
}

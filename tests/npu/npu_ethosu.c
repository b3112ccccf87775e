/* SPDX-License-Identifier: MIT */
/* The driver "ethosu" of the kernel's model. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/timeline.h>

#include "devices/ethosu/ethosu_sim.h"
#include "devices/ethosu/ethosu_uapi.h"
#include "tests/npu/npu_objects.h"
#include "tests/unit/suite.h"

#define SRAM 2

/* ---- the device */

/* Run the stream of a job on the functional model. SRAM has lost its contents. */
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
		memory.base[i] = job->regions[i]->cpu;
		memory.size[i] = job->regions[i]->size;
	}
	if (job->sram_size) {
		memory.base[SRAM] = sram;
		memory.size[SRAM] = npu.sram_size;
	}
	err = ethosu_sim_run(tenon_cursor_of(job->stream->cpu, job->stream->stream_size, "job", 0),
			     &target, &memory, 0, NULL);
	if (err) {
		print_message("a job failed: %s\n", tenon_error_message());
		tenon_error_clear();
	}
	free(sram);
	return !err;
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

static int add_regions(struct npu_job *job, bool written)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < NPU_REGIONS && !error; i++)
		if (job->regions[i] && job->stream->pass.written[i] == written)
			error = npu_job_add(job, job->regions[i]);
	return error;
}

static int find_objects(const struct npu_file *file, const struct ethosu_uapi_job *j,
			struct npu_job *job)
{
	unsigned int i;
	int error;

	if (j->regions[SRAM] && j->sram_size)
		return EINVAL;
	if (j->sram_size > npu.sram_size)
		return EINVAL;
	job->sram_size = j->sram_size;
	job->stream = npu_object_of(file, j->stream);
	if (!job->stream)
		return ENOENT;
	if (!job->stream->is_stream)
		return EINVAL;
	for (i = 0; i < NPU_REGIONS; i++) {
		error = find_region(file, j, &job->stream->pass, i, &job->regions[i]);
		if (error)
			return error;
	}
	error = npu_job_add(job, job->stream);
	error = error ? error : add_regions(job, false);
	job->written_from = job->object_count;
	return error ? error : add_regions(job, true);
}

static int submit_one(struct npu_file *file, const struct ethosu_uapi_job *j)
{
	static struct npu_job found;
	int error;

	memset(&found, 0, sizeof(found));
	found.task_count = 1;
	error = find_objects(file, j, &found);
	npu.refused += error != 0;
	if (!error)
		npu_job_push(&found);
	return error;
}

/* ---- calls */

static int do_query(struct npu_file *file, void *argument)
{
	struct ethosu_uapi_query *q = argument;
	const struct ethosu_uapi_info info = { npu.id, npu.config, npu.sram_size, 4 };

	(void)file;
	if (q->type)
		return EINVAL;
	if (!q->pointer) {
		q->size = npu.info_size;
		return 0;
	}
	if (q->size < ETHOSU_UAPI_INFO_OLD)
		return EINVAL;
	if (q->pointer < NPU_PAGE)
		return EFAULT;
	memset((void *)(uintptr_t)q->pointer, 0, q->size);
	memcpy((void *)(uintptr_t)q->pointer, &info,
	       q->size < npu.info_size ? q->size : npu.info_size);
	return 0;
}

static int do_create(struct npu_file *file, void *argument)
{
	struct ethosu_uapi_buffer *b = argument;
	struct npu_object *o;

	if (!b->size || b->flags & ~ETHOSU_UAPI_NO_MMAP)
		return EINVAL;
	o = npu_object_make(file, b->size);
	if (!o)
		return ENOMEM;
	o->may_not_map = b->flags & ETHOSU_UAPI_NO_MMAP;
	b->size = o->size - npu.lacks;
	return npu_give_handle(file, o, &b->handle);
}

/* Wait for the last job that writes to the buffer; the result does not show whether that failed. */
static int do_wait(struct npu_file *file, void *argument)
{
	const struct ethosu_uapi_wait *w = argument;
	const struct npu_object *o = npu_object_of(file, w->handle);

	if (w->pad || !o)
		return EINVAL;
	if (!o->writer)
		return 0;
	return npu_pass_until(o->writer, w->deadline < 0 ? 0 : (uint64_t)w->deadline) ? 0 : ETIME;
}

static int do_mmap_offset(struct npu_file *file, void *argument)
{
	struct ethosu_uapi_mmap *m = argument;
	const struct npu_object *o = npu_object_of(file, m->handle);

	if (m->pad)
		return EINVAL;
	if (!o)
		return ENOENT;
	m->offset = npu_offset_of(o);
	return 0;
}

static int do_stream(struct npu_file *file, void *argument)
{
	struct ethosu_uapi_stream *s = argument;
	struct npu_object *o;
	int error;

	if (!s->size || !s->data || s->flags || s->pad)
		return EINVAL;
	o = npu_object_make(file, s->size);
	if (!o)
		return ENOMEM;
	o->is_stream = o->may_not_map = true;
	o->stream_size = s->size;
	error = s->data < NPU_PAGE ? EFAULT : 0;
	if (!error) {
		memcpy(o->cpu, (const void *)(uintptr_t)s->data, s->size);
		error = npu_pass((const uint32_t *)(const void *)o->cpu, s->size, npu.generation,
				 npu.config, &o->pass);
	}
	if (error) {
		npu_object_put(o);
		return error;
	}
	npu.damaged |= o->pass.damages;
	npu.streams++;
	return npu_give_handle(file, o, &s->handle);
}

static int do_submit(struct npu_file *file, void *argument)
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

static const struct npu_call calls[] = {
	{ ETHOSU_UAPI_QUERY, do_query },   { ETHOSU_UAPI_BO_CREATE, do_create },
	{ ETHOSU_UAPI_BO_WAIT, do_wait },  { ETHOSU_UAPI_BO_MMAP, do_mmap_offset },
	{ ETHOSU_UAPI_STREAM, do_stream }, { ETHOSU_UAPI_SUBMIT, do_submit },
};

/* @patience: the kernel looks at a job after 500 ms, and ends it 100 ms later if it made no progress */
static const struct npu_driver driver = {
	.name = "ethosu",
	.major = 1,
	.patience = NPU_SECOND * 6 / 10,
	.calls = calls,
	.call_count = sizeof(calls) / sizeof(*calls),
	.compute = compute,
};

void npu_start(void)
{
	npu_begin(&driver);
	npu.cores = 1;
	npu.cancels_all = true;
	npu.memory = 16 << 20;
	/* deadlines are times of the real clock: to a clock ahead of it, they have passed */
	npu.now = tenon_now();
	npu.generation = 3;
	npu.id = 0x10066001;
	npu.config = 0x10003008;
	npu.sram_size = 384 << 10;
	npu.info_size = 16;
}

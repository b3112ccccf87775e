/* SPDX-License-Identifier: MIT */
/* The driver "rocket" of the kernel's model. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <tenon/timeline.h>

#include "tests/npu/npu_objects.h"
#include "tests/unit/suite.h"

struct npu_record npu_records[NPU_RECORDS];

/* ---- arguments: layouts are those of the kernel's header */

struct create_argument {
	uint32_t size;
	uint32_t handle;
	uint64_t dma_address;
	uint64_t offset;
};

struct submit_argument {
	uint64_t jobs;
	uint32_t job_count;
	uint32_t job_struct_size;
	uint64_t reserved;
};

struct job_argument {
	uint64_t tasks;
	uint64_t in_bo_handles;
	uint64_t out_bo_handles;
	uint32_t task_count;
	uint32_t task_struct_size;
	uint32_t in_bo_handle_count;
	uint32_t out_bo_handle_count;
};

struct prep_argument {
	uint32_t handle;
	uint32_t reserved;
	int64_t timeout_ns;
};

struct fini_argument {
	uint32_t handle;
	uint32_t reserved;
};

/* ---- the device */

static bool compute(const struct npu_job *job)
{
	unsigned int i;

	for (i = 0; i < job->task_count; i++) {
		if (npu.tasks < NPU_RECORDS)
			npu_records[npu.tasks] =
				(struct npu_record){ job->tasks[i].commands, job->tasks[i].count,
						     job->core };
		npu.tasks++;
		if (!rocket_run_task(job->file, &job->tasks[i]))
			return false;
	}
	return true;
}

uint8_t *rocket_find(const struct npu_file *file, uint64_t address, uint64_t *left)
{
	unsigned int i;

	for (i = 0; i < NPU_OBJECTS; i++) {
		const struct npu_object *o = &npu_objects[i];

		if (!o->references || o->file != file || address < o->address ||
		    address >= o->address + o->size)
			continue;
		*left = o->address + o->size - address;
		return o->device + (address - o->address);
	}
	return NULL;
}

/* The first place in the address space that no object but @own has. */
static uint64_t find_room(const struct npu_object *own)
{
	uint64_t address = npu.base;
	unsigned int i = 0;

	while (i < NPU_OBJECTS) {
		const struct npu_object *o = &npu_objects[i];

		if (o != own && o->references && o->file == own->file &&
		    o->address < address + own->size && address < o->address + o->size) {
			address = o->address + o->size;
			i = 0;
		} else {
			i++;
		}
	}
	return address;
}

/* ---- submission */

static int copy_tasks(const struct job_argument *j, struct npu_job *job)
{
	const char *at = (const char *)(uintptr_t)j->tasks;
	unsigned int i;

	if (j->task_struct_size < sizeof(struct npu_task))
		return EINVAL;
	assert_true(j->task_count <= NPU_JOB_TASKS);
	for (i = 0; i < j->task_count; i++) {
		if (j->tasks < NPU_PAGE)
			return EFAULT;
		memcpy(&job->tasks[i], at + (size_t)i * j->task_struct_size, sizeof(job->tasks[i]));
		if (!job->tasks[i].count)
			return EINVAL;
	}
	job->task_count = j->task_count;
	return 0;
}

static int find_objects(const struct npu_file *file, uint64_t handles, uint32_t count,
			struct npu_job *job)
{
	struct npu_object *o;
	uint32_t i, handle;
	int error = 0;

	if (count && handles < NPU_PAGE)
		return EFAULT;
	for (i = 0; i < count && !error; i++) {
		memcpy(&handle, (const char *)(uintptr_t)handles + i * sizeof(handle),
		       sizeof(handle));
		o = npu_object_of(file, handle);
		error = o ? npu_job_add(job, o) : ENOENT;
	}
	return error;
}

/* Submit a job, or drop an invalid one and report success, as the kernel does. */
static void submit_one(struct npu_file *file, const struct job_argument *j)
{
	static struct npu_job found;
	int error = j->task_count && !npu.drops ? 0 : EINVAL;

	npu.drops -= npu.drops > 0;
	memset(&found, 0, sizeof(found));
	found.file = file;
	if (!error)
		error = copy_tasks(j, &found);
	if (!error)
		error = find_objects(file, j->in_bo_handles, j->in_bo_handle_count, &found);
	found.written_from = found.object_count;
	if (!error)
		error = find_objects(file, j->out_bo_handles, j->out_bo_handle_count, &found);
	npu.dropped += error != 0;
	if (!error)
		npu_job_push(&found);
}

/* ---- calls */

static int do_create(struct npu_file *file, void *argument)
{
	struct create_argument *c = argument;
	struct npu_object *o;

	if (!c->size)
		return EINVAL;
	o = npu_object_make(file, c->size);
	if (!o)
		return ENOMEM;
	o->address = find_room(o);
	o->device = malloc((size_t)o->size);
	assert_non_null(o->device);
	/* the NPU's copy has a pattern until FINI_BO copies there what the CPU wrote */
	memset(o->device, 0xa7, (size_t)o->size);
	c->dma_address = o->address;
	c->offset = npu_offset_of(o);
	return npu_give_handle(file, o, &c->handle);
}

static int do_submit(struct npu_file *file, void *argument)
{
	const struct submit_argument *s = argument;
	const char *at = (const char *)(uintptr_t)s->jobs;
	struct job_argument j;
	uint32_t i;

	npu.submits++;
	if (!s->job_count)
		return 0;
	if (s->job_struct_size < sizeof(j) || s->reserved)
		return EINVAL;
	if (s->jobs < NPU_PAGE)
		return EFAULT;
	for (i = 0; i < s->job_count; i++) {
		memcpy(&j, at + (size_t)i * s->job_struct_size, sizeof(j));
		submit_one(file, &j);
	}
	return 0;
}

/* Wait for the last job that writes to the buffer; the result does not show whether that failed. */
static int wait_for(const struct npu_object *object, int64_t deadline)
{
	const bool is_past = deadline <= 0 || (uint64_t)deadline <= npu.now;

	if (!object->writer)
		return 0;
	if (is_past)
		return EBUSY;
	return npu_pass_until(object->writer, (uint64_t)deadline) ? 0 : ETIMEDOUT;
}

/* The caches are synchronised whether the wait succeeds or not. */
static int do_prep(struct npu_file *file, void *argument)
{
	const struct prep_argument *p = argument;
	const struct npu_object *o = npu_object_of(file, p->handle);
	int error;

	if (p->reserved)
		return EINVAL;
	if (!o)
		return ENOENT;
	error = wait_for(o, p->timeout_ns);
	memcpy(o->cpu, o->device, (size_t)o->size);
	return error;
}

static int do_fini(struct npu_file *file, void *argument)
{
	const struct fini_argument *f = argument;
	const struct npu_object *o = npu_object_of(file, f->handle);

	if (f->reserved)
		return EINVAL;
	if (!o)
		return ENOENT;
	memcpy(o->device, o->cpu, (size_t)o->size);
	return 0;
}

static const struct npu_call calls[] = {
	{ _IOWR('d', 0x40, struct create_argument), do_create },
	{ _IOW('d', 0x41, struct submit_argument), do_submit },
	{ _IOW('d', 0x42, struct prep_argument), do_prep },
	{ _IOW('d', 0x43, struct fini_argument), do_fini },
};

/* @patience: the driver ends a job that takes longer, even if it makes progress. @major: it sets no version */
static const struct npu_driver driver = {
	.name = "rocket",
	.patience = NPU_SECOND / 2,
	.calls = calls,
	.call_count = sizeof(calls) / sizeof(*calls),
	.compute = compute,
};

void npu_start_rocket(void)
{
	npu_begin(&driver);
	memset(npu_records, 0, sizeof(npu_records));
	npu.cores = 3;
	npu.memory = 64 << 20;
	npu.now = tenon_now();
}

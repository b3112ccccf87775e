/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "devices/ethosu/ethosu_uapi.h"
#include "driver/dmabuf/dmabuf_uapi.h"
#include "driver/drm/drm_uapi.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/npu_objects.h"
#include "tests/unit/suite.h"

#define DESCRIPTORS 64
#define FAKE_OFFSET (UINT64_C(1) << 24)

enum kind { NOTHING, NODE, BUFFER, FENCE };

/* a descriptor that the model gave away */
struct descriptor {
	enum kind kind;
	int fd;
	struct npu_file *file;
	struct npu_object *object;
	struct npu_job *job;
};

struct npu_kernel npu;
static struct npu_object objects[NPU_OBJECTS];
static struct descriptor descriptors[DESCRIPTORS];

void npu_start(void)
{
	npu_drop_jobs();
	for (unsigned int i = 0; i < DESCRIPTORS; i++)
		free(descriptors[i].file);
	memset(descriptors, 0, sizeof(descriptors));
	for (unsigned int i = 0; i < NPU_OBJECTS; i++)
		if (objects[i].references) {
			objects[i].references = 1;
			npu_object_put(&objects[i]);
		}
	memset(&npu, 0, sizeof(npu));
	npu.driver = "ethosu";
	npu.generation = 3;
	npu.id = 0x10066001;
	npu.config = 0x10003008;
	npu.sram_size = 384 << 10;
	npu.info_size = 16;
	npu.cma = 16 << 20;
	npu.now = 3600 * NPU_SECOND;
	npu.job_time = NPU_SECOND / 1000;
}

unsigned int npu_left(void)
{
	unsigned int i, left = npu_jobs_left();

	for (i = 0; i < NPU_OBJECTS; i++)
		left += objects[i].references != 0;
	for (i = 0; i < DESCRIPTORS; i++)
		left += descriptors[i].kind != NOTHING;
	return left;
}

static int refuse(int error)
{
	errno = error;
	return -1;
}

/* ---- descriptors */

static struct descriptor *descriptor_of(int fd)
{
	unsigned int i;

	for (i = 0; i < DESCRIPTORS; i++)
		if (descriptors[i].kind != NOTHING && descriptors[i].fd == fd)
			return &descriptors[i];
	return NULL;
}

static struct descriptor *add_descriptor(enum kind kind, int fd)
{
	unsigned int i = 0;

	while (i < DESCRIPTORS && descriptors[i].kind != NOTHING)
		i++;
	assert_true(i < DESCRIPTORS && fd >= 0);
	descriptors[i] = (struct descriptor){ .kind = kind, .fd = fd };
	return &descriptors[i];
}

static int npu_open(const char *path, int flags)
{
	struct descriptor *d;
	int fd;

	if (strncmp(path, tree, strlen(tree)) || strcmp(path + strlen(tree), NPU_NODE))
		return system_calls_of_kernel.open(path, flags);
	if (npu.unplugged)
		return refuse(ENODEV);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	d = add_descriptor(NODE, fd);
	d->file = calloc(1, sizeof(*d->file));
	assert_non_null(d->file);
	return fd;
}

static void close_file(struct npu_file *file)
{
	unsigned int i;

	for (i = 1; i < NPU_HANDLES; i++) {
		npu.left_handles += file->handles[i] != NULL;
		npu_object_put(file->handles[i]);
	}
	free(file);
}

static int npu_close(int fd)
{
	struct descriptor *d = descriptor_of(fd);

	if (d) {
		if (d->kind == NODE)
			close_file(d->file);
		npu_object_put(d->object);
		npu_job_put(d->job);
		memset(d, 0, sizeof(*d));
	}
	return close(fd);
}

void npu_fence_signals(const struct npu_job *job)
{
	unsigned int i;

	for (i = 0; i < DESCRIPTORS; i++)
		if (descriptors[i].kind == FENCE && descriptors[i].job == job)
			assert_int_equal(eventfd_write(descriptors[i].fd, 1), 0);
}

/* ---- objects */

void npu_object_put(struct npu_object *object)
{
	if (!object || --object->references)
		return;
	npu.cma += object->size;
	munmap(object->base, (size_t)object->size);
	close(object->memory);
	memset(object, 0, sizeof(*object));
}

struct npu_object *npu_object_of(const struct npu_file *file, uint32_t handle)
{
	return handle < NPU_HANDLES ? file->handles[handle] : NULL;
}

static int take_handle(struct npu_file *file, struct npu_object *object, uint32_t *handle)
{
	uint32_t i = 1;

	while (i < NPU_HANDLES && file->handles[i])
		i++;
	if (i == NPU_HANDLES)
		return ENOMEM;
	file->handles[i] = object;
	object->references++;
	*handle = i;
	return 0;
}

/* Return: an object with one reference; NULL if there is no memory. */
static struct npu_object *make_object(uint64_t size, uint32_t flags)
{
	const uint64_t whole = (size + NPU_PAGE - 1) & ~(NPU_PAGE - 1);
	struct npu_object *o = objects;

	while (o < objects + NPU_OBJECTS && o->references)
		o++;
	assert_true(o < objects + NPU_OBJECTS);
	if (whole < size || whole > npu.cma)
		return NULL;
	npu.cma -= whole;
	o->memory = memfd_create("object", MFD_CLOEXEC);
	assert_int_equal(ftruncate(o->memory, (off_t)whole), 0);
	o->base = mmap(NULL, (size_t)whole, PROT_READ | PROT_WRITE, MAP_SHARED, o->memory, 0);
	assert_true(o->base != MAP_FAILED);
	o->references = 1;
	o->size = whole;
	o->flags = flags;
	return o;
}

/* The handle keeps the object, or nothing does. */
static int give_handle(struct npu_file *file, struct npu_object *o, uint32_t *handle)
{
	int error = take_handle(file, o, handle);

	npu_object_put(o);
	return error;
}

static void *npu_mmap(void *start, size_t size, int protection, int flags, int fd, off_t offset)
{
	const struct descriptor *d = descriptor_of(fd);
	const struct npu_object *o;
	uint64_t index;
	unsigned int i = 1;

	if (!d || d->kind == BUFFER)
		return mmap(start, size, protection, flags, fd, offset);
	index = ((uint64_t)offset - FAKE_OFFSET) / FAKE_OFFSET;
	if (npu.unplugged || d->kind != NODE || index >= NPU_OBJECTS) {
		errno = npu.unplugged ? ENODEV : EINVAL;
		return MAP_FAILED;
	}
	o = &objects[index];
	while (i < NPU_HANDLES && d->file->handles[i] != o)
		i++;
	errno = i == NPU_HANDLES ? EACCES : EINVAL;
	if (i == NPU_HANDLES || size > o->size || o->is_stream || o->flags & ETHOSU_UAPI_NO_MMAP)
		return MAP_FAILED;
	return mmap(start, size, protection, flags, o->memory, 0);
}

/* ---- calls of all drivers of DRM */

static int do_version(struct npu_file *file, void *argument)
{
	struct drm_uapi_version *v = argument;
	const size_t length = strlen(npu.driver);

	(void)file;
	if (v->name)
		memcpy(v->name, npu.driver, length < v->name_size ? length : v->name_size);
	v->name_size = length;
	v->major = 1;
	v->minor = v->patch = 0;
	v->date_size = v->text_size = 0;
	return 0;
}

static int do_cap(struct npu_file *file, void *argument)
{
	struct drm_uapi_cap *c = argument;

	(void)file;
	c->value = 0;
	switch (c->capability) {
	case DRM_UAPI_CAP_PRIME:
		c->value = DRM_UAPI_PRIME_IMPORT | DRM_UAPI_PRIME_EXPORT;
		return 0;
	case DRM_UAPI_CAP_SYNCOBJ:
	case DRM_UAPI_CAP_TIMELINE:
		return 0;
	default:
		return EOPNOTSUPP;
	}
}

static int do_close(struct npu_file *file, void *argument)
{
	const struct drm_uapi_close *c = argument;
	struct npu_object *o = npu_object_of(file, c->handle);

	if (!o)
		return EINVAL;
	file->handles[c->handle] = NULL;
	npu_object_put(o);
	return 0;
}

static int do_export(struct npu_file *file, void *argument)
{
	struct drm_uapi_prime *p = argument;
	struct npu_object *o = npu_object_of(file, p->handle);
	struct descriptor *d;

	if (p->flags & ~(uint32_t)(O_CLOEXEC | O_RDWR))
		return EINVAL;
	if (!o)
		return ENOENT;
	d = add_descriptor(BUFFER, fcntl(o->memory, F_DUPFD_CLOEXEC, 0));
	d->object = o;
	o->references++;
	fake_opened(d->fd, "dma-buf");
	p->fd = d->fd;
	return 0;
}

/* Buffers of others cannot be imported; the driver's own can, and have one handle for each descriptor of the node. */
static int do_import(struct npu_file *file, void *argument)
{
	struct drm_uapi_prime *p = argument;
	const struct descriptor *d = descriptor_of(p->fd);
	uint32_t i;

	if (!d || d->kind != BUFFER)
		return fcntl(p->fd, F_GETFD) < 0 ? EBADF : EINVAL;
	for (i = 1; i < NPU_HANDLES; i++)
		if (file->handles[i] == d->object) {
			p->handle = i;
			return 0;
		}
	return take_handle(file, d->object, &p->handle);
}

/* ---- calls of the driver */

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
	o = make_object(b->size, b->flags);
	if (!o)
		return ENOMEM;
	b->size = o->size - npu.lacks;
	return give_handle(file, o, &b->handle);
}

static int do_wait(struct npu_file *file, void *argument)
{
	const struct ethosu_uapi_wait *w = argument;
	struct npu_object *o = npu_object_of(file, w->handle);

	return w->pad || !o ? EINVAL : npu_wait(o, w->deadline);
}

static int do_mmap_offset(struct npu_file *file, void *argument)
{
	struct ethosu_uapi_mmap *m = argument;
	const struct npu_object *o = npu_object_of(file, m->handle);

	if (m->pad)
		return EINVAL;
	if (!o)
		return ENOENT;
	m->offset = FAKE_OFFSET * (uint64_t)(o - objects + 1);
	return 0;
}

static int do_stream(struct npu_file *file, void *argument)
{
	struct ethosu_uapi_stream *s = argument;
	struct npu_object *o;
	int error;

	if (!s->size || !s->data || s->flags || s->pad)
		return EINVAL;
	o = make_object(s->size, 0);
	if (!o)
		return ENOMEM;
	o->is_stream = true;
	o->stream_size = s->size;
	error = s->data < NPU_PAGE ? EFAULT : 0;
	if (!error) {
		memcpy(o->base, (const void *)(uintptr_t)s->data, s->size);
		error = npu_pass((const uint32_t *)(const void *)o->base, s->size, npu.generation,
				 npu.config, &o->pass);
	}
	if (error) {
		npu_object_put(o);
		return error;
	}
	npu.damaged |= o->pass.damages;
	npu.streams++;
	return give_handle(file, o, &s->handle);
}

static int do_submit(struct npu_file *file, void *argument)
{
	return npu_submit(file, argument);
}

static const struct call_of_driver {
	unsigned long request;
	int (*make)(struct npu_file *file, void *argument);
} calls_of_driver[] = {
	{ DRM_UAPI_VERSION, do_version },
	{ DRM_UAPI_GET_CAP, do_cap },
	{ DRM_UAPI_CLOSE, do_close },
	{ DRM_UAPI_HANDLE_TO_FD, do_export },
	{ DRM_UAPI_FD_TO_HANDLE, do_import },
	{ ETHOSU_UAPI_QUERY, do_query },
	{ ETHOSU_UAPI_BO_CREATE, do_create },
	{ ETHOSU_UAPI_BO_WAIT, do_wait },
	{ ETHOSU_UAPI_BO_MMAP, do_mmap_offset },
	{ ETHOSU_UAPI_STREAM, do_stream },
	{ ETHOSU_UAPI_SUBMIT, do_submit },
};

static const struct call_of_driver *call_of(unsigned long request)
{
	size_t i;

	for (i = 0; i < sizeof(calls_of_driver) / sizeof(*calls_of_driver); i++)
		if (_IOC_NR(calls_of_driver[i].request) == _IOC_NR(request))
			return &calls_of_driver[i];
	return NULL;
}

/* An argument is as long as its number says: shorter ones are filled with zeroes, and longer ones cut. */
static int node_call(struct npu_file *file, unsigned long request, void *argument)
{
	const struct call_of_driver *c = call_of(request);
	size_t given = _IOC_SIZE(request), known;
	_Alignas(8) char copy[128] = { 0 };
	int error;

	if (_IOC_TYPE(request) != 'd')
		return ENOTTY;
	if (npu.unplugged)
		return ENODEV;
	if (!c)
		return EINVAL;
	if (npu.interrupts) {
		npu.interrupts--;
		return EINTR;
	}
	known = _IOC_SIZE(c->request);
	assert_true(known <= sizeof(copy));
	known = known < given ? known : given;
	memcpy(copy, argument, known);
	npu_run_queue();
	error = c->make(file, copy);
	memcpy(argument, copy, known);
	return error;
}

/* ---- dma-bufs and sync_files */

/* The fence of the writer that a buffer has now; one that has signalled if it has none. */
static int buffer_call(const struct descriptor *d, unsigned long request, void *argument)
{
	struct dmabuf_uapi_fence *f = argument;
	struct npu_job *job = d->object->writer;
	struct descriptor *fence;

	if (request != DMABUF_UAPI_EXPORT)
		return ENOTTY;
	if (!f->flags || f->flags & ~DMABUF_UAPI_BOTH)
		return EINVAL;
	fence = add_descriptor(FENCE, eventfd(job ? 0 : 1, EFD_CLOEXEC));
	fence->job = job;
	if (job)
		job->references++;
	fake_opened(fence->fd, "sync_file");
	f->fd = fence->fd;
	return 0;
}

static int fence_call(const struct descriptor *d, unsigned long request, void *argument)
{
	struct sync_uapi_info *info = argument;

	if (request != SYNC_UAPI_INFO)
		return ENOTTY;
	info->status = 1;
	if (d->job)
		info->status = d->job->queued ? 0 : d->job->error ? -d->job->error : 1;
	return 0;
}

static int npu_ioctl(int fd, unsigned long request, void *argument)
{
	const struct descriptor *d = descriptor_of(fd);
	int error;

	if (!d)
		return system_calls_of_kernel.ioctl(fd, request, argument);
	if (d->kind == NODE)
		error = node_call(d->file, request, argument);
	else if (d->kind == BUFFER)
		error = buffer_call(d, request, argument);
	else
		error = fence_call(d, request, argument);
	return error ? refuse(error) : 0;
}

/* Time passes here, and not in the machine. */
static int npu_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	const struct descriptor *d = descriptor_of(polled->fd);
	static const struct timespec now = { 0, 0 };

	assert_int_equal(count, 1);
	npu_run_queue();
	if (d && d->kind == FENCE && d->job)
		(void)npu_pass_until(d->job,
				     timeout ? npu.now + (uint64_t)timeout->tv_sec * NPU_SECOND +
						       (uint64_t)timeout->tv_nsec
					     : UINT64_MAX);
	return system_calls_of_kernel.ppoll(polled, count, &now);
}

static int npu_munmap(void *start, size_t size)
{
	return munmap(start, size);
}

static int npu_madvise(void *start, size_t size, int advice)
{
	return madvise(start, size, advice);
}

const struct system_calls npu_calls = {
	.open = npu_open,
	.close = npu_close,
	.ioctl = npu_ioctl,
	.mmap = npu_mmap,
	.munmap = npu_munmap,
	.madvise = npu_madvise,
	.ppoll = npu_ppoll,
};

/* SPDX-License-Identifier: MIT */
/* The kernel's model: descriptors, objects, calls of all drivers of DRM, dma-bufs and sync_files. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "driver/dmabuf/dmabuf_uapi.h"
#include "driver/drm/drm_uapi.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/npu_objects.h"
#include "tests/unit/suite.h"

#define DESCRIPTORS 128
#define FAKE_OFFSET (UINT64_C(1) << 32)
#define PREFIX	    "/dev/accel/accel"
#define HELD	    (1000 * NPU_SECOND)

/* numbers of ioctls from here on belong to the driver, those below to DRM */
#define OWN_CALLS 0x40

enum kind { NOTHING, NODE, BUFFER, FENCE };

/* a descriptor that the model gave away; @driver: of a node */
struct descriptor {
	enum kind kind;
	int fd;
	const char *driver;
	struct npu_file *file;
	struct npu_object *object;
	struct npu_job *job;
};

struct npu_kernel npu;
struct npu_object npu_objects[NPU_OBJECTS];
static const struct npu_driver *driver;
static struct descriptor descriptors[DESCRIPTORS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(void)
{
	pthread_mutex_lock(&lock);
}

static void leave(void)
{
	pthread_mutex_unlock(&lock);
}

static void nap(void)
{
	const struct timespec millisecond = { 0, 1000000 };

	nanosleep(&millisecond, NULL);
}

void npu_begin(const struct npu_driver *d)
{
	static bool registered;
	unsigned int i;

	/* fork() with the lock held: no thread of the child would release it */
	if (!registered)
		assert_int_equal(pthread_atfork(enter, leave, leave), 0);
	registered = true;
	npu_jobs_begin(d);
	for (i = 0; i < NPU_OBJECTS; i++)
		if (npu_objects[i].references) {
			npu_objects[i].references = 1;
			npu_object_put(&npu_objects[i]);
		}
	for (i = 0; i < DESCRIPTORS; i++)
		if (descriptors[i].file)
			npu_file_put(descriptors[i].file);
	memset(descriptors, 0, sizeof(descriptors));
	memset(&npu, 0, sizeof(npu));
	driver = d;
	npu.drivers[0] = d->name;
	npu.job_time = NPU_SECOND / 1000;
}

unsigned int npu_left(void)
{
	unsigned int i, left;

	enter();
	left = npu_jobs_left();
	for (i = 0; i < NPU_OBJECTS; i++)
		left += npu_objects[i].references != 0;
	for (i = 0; i < DESCRIPTORS; i++)
		left += descriptors[i].kind != NOTHING;
	leave();
	return left;
}

void npu_set_time(uint64_t now)
{
	enter();
	npu_cores_begin();
	npu.now = now;
	leave();
}

void npu_pass_time(uint64_t nanoseconds)
{
	enter();
	npu.now += nanoseconds;
	npu_run_queue();
	leave();
}

void npu_hold_jobs(void)
{
	enter();
	npu.submits = 0;
	npu.job_time = HELD;
	leave();
}

void npu_end_jobs(void)
{
	enter();
	npu.job_time = 0;
	npu.now += 4 * HELD;
	npu_run_queue();
	leave();
}

unsigned int npu_ended(void)
{
	unsigned int jobs;

	enter();
	jobs = npu.jobs;
	leave();
	return jobs;
}

bool npu_await_submits(unsigned int count)
{
	unsigned int i, submits = 0;

	for (i = 0; i < 10000 && submits < count; i++) {
		if (i)
			nap();
		enter();
		submits = npu.submits;
		leave();
	}
	return submits == count;
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

static const char *driver_of(const char *path)
{
	const size_t root = strlen(tree);
	const char *number = path + root + strlen(PREFIX);

	if (strncmp(path, tree, root) || strncmp(path + root, PREFIX, strlen(PREFIX)) ||
	    *number < '0' || *number >= '0' + NPU_NODES || number[1])
		return NULL;
	return npu.drivers[*number - '0'];
}

static int open_node(const char *path, int flags)
{
	const char *name = driver_of(path);
	struct descriptor *d;
	int fd;

	if (!name)
		return system_calls_of_kernel.open(path, flags);
	if (npu.unplugged)
		return refuse(ENODEV);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	d = add_descriptor(NODE, fd);
	d->driver = name;
	d->file = calloc(1, sizeof(*d->file));
	assert_non_null(d->file);
	d->file->references = 1;
	return fd;
}

void npu_file_put(struct npu_file *file)
{
	if (!--file->references)
		free(file);
}

static void close_file(struct npu_file *file)
{
	unsigned int i;

	for (i = 1; i < NPU_HANDLES; i++) {
		npu.left_handles += file->handles[i] != NULL;
		npu_object_put(file->handles[i]);
		file->handles[i] = NULL;
	}
	npu_file_put(file);
}

static void drop(int fd)
{
	struct descriptor *d = descriptor_of(fd);

	if (!d)
		return;
	if (d->kind == NODE)
		close_file(d->file);
	npu_object_put(d->object);
	npu_job_put(d->job);
	memset(d, 0, sizeof(*d));
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
	struct npu_file *file;

	if (!object || --object->references)
		return;
	file = object->file;
	npu.memory += object->size;
	munmap(object->cpu, (size_t)object->size);
	free(object->device);
	close(object->memory);
	memset(object, 0, sizeof(*object));
	npu_file_put(file);
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

int npu_give_handle(struct npu_file *file, struct npu_object *o, uint32_t *handle)
{
	int error = take_handle(file, o, handle);

	npu_object_put(o);
	return error;
}

struct npu_object *npu_object_make(struct npu_file *file, uint64_t size)
{
	const uint64_t whole = (size + NPU_PAGE - 1) & ~(NPU_PAGE - 1);
	struct npu_object *o = npu_objects;

	while (o < npu_objects + NPU_OBJECTS && o->references)
		o++;
	assert_true(o < npu_objects + NPU_OBJECTS);
	if (whole < size || whole > npu.memory)
		return NULL;
	npu.memory -= whole;
	o->memory = memfd_create("object", MFD_CLOEXEC);
	assert_int_equal(ftruncate(o->memory, (off_t)whole), 0);
	o->cpu = mmap(NULL, (size_t)whole, PROT_READ | PROT_WRITE, MAP_SHARED, o->memory, 0);
	assert_true(o->cpu != MAP_FAILED);
	o->references = 1;
	o->size = whole;
	o->file = file;
	file->references++;
	return o;
}

uint64_t npu_offset_of(const struct npu_object *o)
{
	return FAKE_OFFSET * (uint64_t)(o - npu_objects + 1);
}

static void *map(void *start, size_t size, int protection, int flags, int fd, off_t offset)
{
	const struct descriptor *d = descriptor_of(fd);
	const struct npu_object *o;
	uint64_t index;
	unsigned int i = 1;

	if (!d || d->kind != NODE)
		return mmap(start, size, protection, flags, fd, offset);
	index = ((uint64_t)offset - FAKE_OFFSET) / FAKE_OFFSET;
	if (npu.unplugged || index >= NPU_OBJECTS) {
		errno = npu.unplugged ? ENODEV : EINVAL;
		return MAP_FAILED;
	}
	o = &npu_objects[index];
	while (i < NPU_HANDLES && d->file->handles[i] != o)
		i++;
	errno = i == NPU_HANDLES ? EACCES : EINVAL;
	if (i == NPU_HANDLES || size > o->size || o->may_not_map)
		return MAP_FAILED;
	return mmap(start, size, protection, flags, o->memory, 0);
}

/* ---- calls of all drivers of DRM */

static int do_version(const char *name, void *argument)
{
	struct drm_uapi_version *v = argument;
	const size_t length = strlen(name);

	if (v->name)
		memcpy(v->name, name, length < v->name_size ? length : v->name_size);
	v->name_size = length;
	v->major = driver->major;
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

static const struct npu_call calls_of_drm[] = {
	{ DRM_UAPI_VERSION, NULL /* do_version() */ },
	{ DRM_UAPI_GET_CAP, do_cap },
	{ DRM_UAPI_CLOSE, do_close },
	{ DRM_UAPI_HANDLE_TO_FD, do_export },
	{ DRM_UAPI_FD_TO_HANDLE, do_import },
};

static const struct npu_call *find_call(const struct npu_call *calls, size_t count,
					unsigned long request)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (_IOC_NR(calls[i].request) == _IOC_NR(request))
			return &calls[i];
	return NULL;
}

static const struct npu_call *call_of(const struct descriptor *node, unsigned long request)
{
	if (_IOC_NR(request) < OWN_CALLS)
		return find_call(calls_of_drm, sizeof(calls_of_drm) / sizeof(*calls_of_drm),
				 request);
	if (strcmp(node->driver, driver->name))
		return NULL;
	return find_call(driver->calls, driver->call_count, request);
}

/* The request has the size of the argument: fill a shorter one with zeroes, and cut a longer one. */
static int node_call(const struct descriptor *node, unsigned long request, void *argument)
{
	const struct npu_call *c = call_of(node, request);
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
	error = c->make ? c->make(node->file, copy) : do_version(node->driver, copy);
	if (_IOC_DIR(request) & _IOC_READ)
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

/* Advance the model's clock instead of waiting. */
static int wait_for(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
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

/* ---- the table */

static int fake_open(const char *path, int flags)
{
	int fd;

	/* the device tree, if the test made one */
	if (strstr(path, "/sys/"))
		return system_calls_of_kernel.open(path, flags);
	enter();
	fd = open_node(path, flags);
	leave();
	return fd;
}

static int fake_close(int fd)
{
	int err;

	enter();
	drop(fd);
	err = close(fd);
	leave();
	return err;
}

static ssize_t fake_read(int fd, void *bytes, size_t size)
{
	return system_calls_of_kernel.read(fd, bytes, size);
}

static int fake_ioctl(int fd, unsigned long request, void *argument)
{
	const struct descriptor *d;
	int error;

	enter();
	d = descriptor_of(fd);
	if (!d) {
		leave();
		return system_calls_of_kernel.ioctl(fd, request, argument);
	}
	if (d->kind == NODE)
		error = node_call(d, request, argument);
	else if (d->kind == BUFFER)
		error = buffer_call(d, request, argument);
	else
		error = fence_call(d, request, argument);
	leave();
	/* a caller repeats a wait that timed out: sleep, so that its loop does not keep the processor busy */
	if (error == ETIME || error == ETIMEDOUT || error == EBUSY)
		nap();
	return error ? refuse(error) : 0;
}

static void *fake_mmap(void *start, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *base;

	enter();
	base = map(start, size, protection, flags, fd, offset);
	leave();
	return base;
}

static int fake_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	int ready;

	enter();
	ready = wait_for(polled, count, timeout);
	leave();
	return ready;
}

static int fake_munmap(void *start, size_t size)
{
	return munmap(start, size);
}

static int fake_madvise(void *start, size_t size, int advice)
{
	return madvise(start, size, advice);
}

const struct system_calls npu_calls = {
	.open = fake_open,
	.close = fake_close,
	.ioctl = fake_ioctl,
	.mmap = fake_mmap,
	.munmap = fake_munmap,
	.madvise = fake_madvise,
	.read = fake_read,
	.ppoll = fake_ppoll,
};

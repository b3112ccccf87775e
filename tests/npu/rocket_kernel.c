/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <tenon/timeline.h>
#include <unistd.h>

#include "driver/dmabuf/dmabuf_uapi.h"
#include "driver/drm/drm_uapi.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/rocket_objects.h"
#include "tests/unit/suite.h"

#define DESCRIPTORS 128
#define FAKE_OFFSET (UINT64_C(1) << 32)
#define PREFIX	    "/dev/accel/accel"

enum kind { NOTHING, NODE, BUFFER, FENCE };

/* a descriptor that the model gave away */
struct descriptor {
	enum kind kind;
	int fd;
	const char *driver;
	struct file *file;
	struct object *object;
	struct job *job;
};

struct rocket_kernel rocket;
struct object rocket_objects[OBJECTS];
static struct descriptor descriptors[DESCRIPTORS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void rocket_start(void)
{
	rocket_drop_jobs();
	for (unsigned int i = 0; i < OBJECTS; i++)
		if (rocket_objects[i].references) {
			rocket_objects[i].references = 1;
			rocket_object_put(&rocket_objects[i]);
		}
	for (unsigned int i = 0; i < DESCRIPTORS; i++)
		if (descriptors[i].file)
			rocket_file_put(descriptors[i].file);
	memset(descriptors, 0, sizeof(descriptors));
	memset(&rocket, 0, sizeof(rocket));
	rocket.drivers[0] = "rocket";
	rocket.memory = 64 << 20;
	rocket.cores = 3;
	rocket.now = tenon_now();
	rocket.job_time = ROCKET_SECOND / 1000;
}

unsigned int rocket_left(void)
{
	unsigned int i, left = rocket_jobs_left();

	for (i = 0; i < OBJECTS; i++)
		left += rocket_objects[i].references != 0;
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

static const char *driver_of(const char *path)
{
	const size_t root = strlen(tree);
	const char *number = path + root + strlen(PREFIX);

	if (strncmp(path, tree, root) || strncmp(path + root, PREFIX, strlen(PREFIX)) ||
	    *number < '0' || *number >= '0' + ROCKET_NODES || number[1])
		return NULL;
	return rocket.drivers[*number - '0'];
}

static int open_node(const char *path, int flags)
{
	const char *driver = driver_of(path);
	struct descriptor *d;
	int fd;

	if (!driver)
		return system_calls_of_kernel.open(path, flags);
	if (rocket.unplugged)
		return refuse(ENODEV);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	d = add_descriptor(NODE, fd);
	d->driver = driver;
	d->file = calloc(1, sizeof(*d->file));
	assert_non_null(d->file);
	d->file->references = 1;
	return fd;
}

void rocket_file_put(struct file *file)
{
	if (!--file->references)
		free(file);
}

static void close_file(struct file *file)
{
	unsigned int i;

	for (i = 1; i < HANDLES; i++) {
		rocket.left_handles += file->handles[i] != NULL;
		rocket_object_put(file->handles[i]);
		file->handles[i] = NULL;
	}
	rocket_file_put(file);
}

static void drop(int fd)
{
	struct descriptor *d = descriptor_of(fd);

	if (!d)
		return;
	if (d->kind == NODE)
		close_file(d->file);
	rocket_object_put(d->object);
	rocket_job_put(d->job);
	memset(d, 0, sizeof(*d));
}

void rocket_fence_signals(const struct job *job)
{
	unsigned int i;

	for (i = 0; i < DESCRIPTORS; i++)
		if (descriptors[i].kind == FENCE && descriptors[i].job == job)
			assert_int_equal(eventfd_write(descriptors[i].fd, 1), 0);
}

/* ---- objects */

void rocket_object_put(struct object *object)
{
	struct file *file;

	if (!object || --object->references)
		return;
	file = object->file;
	rocket.memory += object->size;
	munmap(object->cpu, (size_t)object->size);
	free(object->device);
	close(object->memory);
	memset(object, 0, sizeof(*object));
	rocket_file_put(file);
}

struct object *rocket_object_of(const struct file *file, uint32_t handle)
{
	return handle < HANDLES ? file->handles[handle] : NULL;
}

static int take_handle(struct file *file, struct object *object, uint32_t *handle)
{
	uint32_t i = 1;

	while (i < HANDLES && file->handles[i])
		i++;
	if (i == HANDLES)
		return ENOMEM;
	file->handles[i] = object;
	object->references++;
	*handle = i;
	return 0;
}

uint8_t *rocket_find(const struct file *file, uint64_t address, uint64_t *left)
{
	unsigned int i;

	for (i = 0; i < OBJECTS; i++) {
		const struct object *o = &rocket_objects[i];

		if (!o->references || o->file != file || address < o->address ||
		    address >= o->address + o->size)
			continue;
		*left = o->address + o->size - address;
		return o->device + (address - o->address);
	}
	return NULL;
}

/* the first place in the address space that no object has */
static uint64_t find_room(const struct file *file, uint64_t size)
{
	uint64_t address = rocket.base;
	unsigned int i = 0;

	while (i < OBJECTS) {
		const struct object *o = &rocket_objects[i];

		if (o->references && o->file == file && o->address < address + size &&
		    address < o->address + o->size) {
			address = o->address + o->size;
			i = 0;
		} else {
			i++;
		}
	}
	return address;
}

static struct object *make_object(struct file *file, uint64_t size)
{
	const uint64_t whole = (size + ROCKET_PAGE - 1) & ~(ROCKET_PAGE - 1);
	struct object *o = rocket_objects;
	uint64_t address;

	if (whole > rocket.memory)
		return NULL;
	address = find_room(file, whole);
	while (o < rocket_objects + OBJECTS && o->references)
		o++;
	assert_true(o < rocket_objects + OBJECTS);
	rocket.memory -= whole;
	o->memory = memfd_create("object", MFD_CLOEXEC);
	assert_int_equal(ftruncate(o->memory, (off_t)whole), 0);
	o->cpu = mmap(NULL, (size_t)whole, PROT_READ | PROT_WRITE, MAP_SHARED, o->memory, 0);
	assert_true(o->cpu != MAP_FAILED);
	o->device = malloc((size_t)whole);
	assert_non_null(o->device);
	/* nothing that the CPU writes is there before it is carried over */
	memset(o->device, 0xa7, (size_t)whole);
	o->references = 1;
	o->size = whole;
	o->address = address;
	o->file = file;
	file->references++;
	return o;
}

static void *map(void *start, size_t size, int protection, int flags, int fd, off_t offset)
{
	const struct descriptor *d = descriptor_of(fd);
	const struct object *o;
	uint64_t index;
	unsigned int i = 1;

	if (!d || d->kind != NODE)
		return mmap(start, size, protection, flags, fd, offset);
	index = ((uint64_t)offset - FAKE_OFFSET) / FAKE_OFFSET;
	if (rocket.unplugged || index >= OBJECTS) {
		errno = rocket.unplugged ? ENODEV : EINVAL;
		return MAP_FAILED;
	}
	o = &rocket_objects[index];
	while (i < HANDLES && d->file->handles[i] != o)
		i++;
	errno = i == HANDLES ? EACCES : EINVAL;
	if (i == HANDLES || size > o->size)
		return MAP_FAILED;
	return mmap(start, size, protection, flags, o->memory, 0);
}

/* ---- calls of all drivers of DRM */

static int do_version(const struct descriptor *node, void *argument)
{
	struct drm_uapi_version *v = argument;
	const size_t length = strlen(node->driver);

	if (v->name)
		memcpy(v->name, node->driver, length < v->name_size ? length : v->name_size);
	v->name_size = length;
	/* the driver does not fill its version in */
	v->major = v->minor = v->patch = 0;
	v->date_size = v->text_size = 0;
	return 0;
}

static int do_cap(const struct descriptor *node, void *argument)
{
	struct drm_uapi_cap *c = argument;

	(void)node;
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

static int do_close(const struct descriptor *node, void *argument)
{
	const struct drm_uapi_close *c = argument;
	struct object *o = rocket_object_of(node->file, c->handle);

	if (!o)
		return EINVAL;
	node->file->handles[c->handle] = NULL;
	rocket_object_put(o);
	return 0;
}

static int do_export(const struct descriptor *node, void *argument)
{
	struct drm_uapi_prime *p = argument;
	struct object *o = rocket_object_of(node->file, p->handle);
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
static int do_import(const struct descriptor *node, void *argument)
{
	struct drm_uapi_prime *p = argument;
	const struct descriptor *d = descriptor_of(p->fd);
	uint32_t i;

	if (!d || d->kind != BUFFER)
		return fcntl(p->fd, F_GETFD) < 0 ? EBADF : EINVAL;
	for (i = 1; i < HANDLES; i++)
		if (node->file->handles[i] == d->object) {
			p->handle = i;
			return 0;
		}
	return take_handle(node->file, d->object, &p->handle);
}

/* ---- calls of the driver; layouts are those of the kernel's header */

struct create_argument {
	uint32_t size;
	uint32_t handle;
	uint64_t dma_address;
	uint64_t offset;
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

static int do_create(const struct descriptor *node, void *argument)
{
	struct create_argument *c = argument;
	struct object *o;
	int error;

	if (!c->size)
		return EINVAL;
	o = make_object(node->file, c->size);
	if (!o)
		return ENOMEM;
	error = take_handle(node->file, o, &c->handle);
	c->dma_address = o->address;
	c->offset = FAKE_OFFSET * (uint64_t)(o - rocket_objects + 1);
	rocket_object_put(o);
	return error;
}

static int do_submit(const struct descriptor *node, void *argument)
{
	return rocket_submit(node->file, argument);
}

/* The caches are synchronised whether the wait succeeds or not. */
static int do_prep(const struct descriptor *node, void *argument)
{
	const struct prep_argument *p = argument;
	const struct object *o = rocket_object_of(node->file, p->handle);
	int error;

	if (p->reserved)
		return EINVAL;
	if (!o)
		return ENOENT;
	error = rocket_wait(o, p->timeout_ns);
	memcpy(o->cpu, o->device, (size_t)o->size);
	return error;
}

static int do_fini(const struct descriptor *node, void *argument)
{
	const struct fini_argument *f = argument;
	const struct object *o = rocket_object_of(node->file, f->handle);

	if (f->reserved)
		return EINVAL;
	if (!o)
		return ENOENT;
	memcpy(o->device, o->cpu, (size_t)o->size);
	return 0;
}

static const struct call_of_driver {
	unsigned int number;
	size_t size;
	int (*make)(const struct descriptor *node, void *argument);
} calls_of_driver[] = {
	{ 0x00, sizeof(struct drm_uapi_version), do_version },
	{ 0x0c, sizeof(struct drm_uapi_cap), do_cap },
	{ 0x09, sizeof(struct drm_uapi_close), do_close },
	{ 0x2d, sizeof(struct drm_uapi_prime), do_export },
	{ 0x2e, sizeof(struct drm_uapi_prime), do_import },
	{ 0x40, 24, do_create },
	{ 0x41, 24, do_submit },
	{ 0x42, 16, do_prep },
	{ 0x43, 8, do_fini },
};

static const struct call_of_driver *call_of(unsigned long request)
{
	size_t i;

	for (i = 0; i < sizeof(calls_of_driver) / sizeof(*calls_of_driver); i++)
		if (calls_of_driver[i].number == _IOC_NR(request))
			return &calls_of_driver[i];
	return NULL;
}

/* An argument is as long as its number says: shorter ones are filled with zeroes, and longer ones cut. */
static int node_call(const struct descriptor *node, unsigned long request, void *argument)
{
	const struct call_of_driver *c = call_of(request);
	size_t given = _IOC_SIZE(request), known;
	_Alignas(8) char copy[128] = { 0 };
	int error;

	if (_IOC_TYPE(request) != 'd')
		return ENOTTY;
	if (rocket.unplugged)
		return ENODEV;
	if (!c || (c->number >= 0x40 && strcmp(node->driver, "rocket")))
		return EINVAL;
	if (rocket.interrupts) {
		rocket.interrupts--;
		return EINTR;
	}
	known = c->size < given ? c->size : given;
	assert_true(known <= sizeof(copy));
	memcpy(copy, argument, known);
	rocket_run_queue();
	error = c->make(node, copy);
	if (_IOC_DIR(request) & _IOC_READ)
		memcpy(argument, copy, known);
	return error;
}

/* ---- dma-bufs and sync_files */

/* The fence of the writer that a buffer has now; one that has signalled if it has none. */
static int buffer_call(const struct descriptor *d, unsigned long request, void *argument)
{
	struct dmabuf_uapi_fence *f = argument;
	struct job *job = d->object->writer;
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

static int call(int fd, unsigned long request, void *argument)
{
	const struct descriptor *d = descriptor_of(fd);
	int error;

	if (!d)
		return system_calls_of_kernel.ioctl(fd, request, argument);
	if (d->kind == NODE)
		error = node_call(d, request, argument);
	else if (d->kind == BUFFER)
		error = buffer_call(d, request, argument);
	else
		error = fence_call(d, request, argument);
	return error ? refuse(error) : 0;
}

/* Time passes here, and not in the machine. */
static int wait_for(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	const struct descriptor *d = descriptor_of(polled->fd);
	static const struct timespec now = { 0, 0 };

	assert_int_equal(count, 1);
	rocket_run_queue();
	if (d && d->kind == FENCE && d->job)
		(void)rocket_pass_until(
			d->job, timeout ? rocket.now + (uint64_t)timeout->tv_sec * ROCKET_SECOND +
						  (uint64_t)timeout->tv_nsec
					: UINT64_MAX);
	return system_calls_of_kernel.ppoll(polled, count, &now);
}

/* ---- the table */

static int locked_open(const char *path, int flags)
{
	int fd;

	pthread_mutex_lock(&lock);
	fd = open_node(path, flags);
	pthread_mutex_unlock(&lock);
	return fd;
}

static int locked_close(int fd)
{
	int err;

	pthread_mutex_lock(&lock);
	drop(fd);
	err = close(fd);
	pthread_mutex_unlock(&lock);
	return err;
}

static int locked_ioctl(int fd, unsigned long request, void *argument)
{
	int err;

	pthread_mutex_lock(&lock);
	err = call(fd, request, argument);
	pthread_mutex_unlock(&lock);
	return err;
}

static void *locked_mmap(void *start, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *base;

	pthread_mutex_lock(&lock);
	base = map(start, size, protection, flags, fd, offset);
	pthread_mutex_unlock(&lock);
	return base;
}

static int locked_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	int ready;

	pthread_mutex_lock(&lock);
	ready = wait_for(polled, count, timeout);
	pthread_mutex_unlock(&lock);
	return ready;
}

static int plain_munmap(void *start, size_t size)
{
	return munmap(start, size);
}

static int plain_madvise(void *start, size_t size, int advice)
{
	return madvise(start, size, advice);
}

const struct system_calls rocket_calls = {
	.open = locked_open,
	.close = locked_close,
	.ioctl = locked_ioctl,
	.mmap = locked_mmap,
	.munmap = plain_munmap,
	.madvise = plain_madvise,
	.ppoll = locked_ppoll,
};

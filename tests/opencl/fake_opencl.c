/* SPDX-License-Identifier: MIT */
/* The fake OpenCL library (fake_opencl.h). Its kernels: "add" (int *out, const int *in, int what), others do nothing. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../../driver/opencl/opencl_api.h"
#include "fake_opencl.h"

#ifndef FAKE_VERSION
#define FAKE_VERSION "OpenCL 1.2 fake"
#endif

/* a fake looks at few of its arguments */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define EXPORT	  __attribute__((visibility("default")))
#define ARGUMENTS 8

EXPORT struct fake_opencl fake_opencl;

enum { SOURCE, BINARY };

struct object {
	int references;
};

struct ocl_context {
	struct object o;
};
struct ocl_queue {
	struct object o;
	struct ocl_context *context;
	uint64_t properties;
	struct ocl_semaphore *behind; /* what was waited for last */
};
struct ocl_semaphore {
	struct object o;
	uint64_t exports;
	int fd; /* of an imported one; -1 */
	int signalled;
	int consumes;
};
struct ocl_mem {
	struct object o;
	size_t size;
	char *data;
	struct ocl_mem *parent;
	int borrowed;
	void (*gone)(ocl_mem, void *);
	void *gone_data;
};
struct ocl_program {
	struct object o;
	char *text;
	size_t size;
};
struct ocl_kernel {
	struct object o;
	char name[64];
	unsigned char argument[ARGUMENTS][8];
};
struct ocl_event {
	struct object o;
	int status;
	int slow;
	struct ocl_semaphore *behind;
	int told; /* 1: that it is done, which orders nothing; 2: who waited for it */
	uint64_t end;
};

static struct ocl_platform {
	int unused;
} platform;
static struct ocl_device {
	int unused;
} device;
static int lost;
static uint64_t ticks;

#define f	    fake_opencl
#define COUNT(what) __atomic_add_fetch(&f.what, 1, __ATOMIC_RELAXED)

/* The test's own malloc() lets allocations fail; not those of the fake. */
static void *allocate(size_t size)
{
	void *p;

	__atomic_store_n(&f.inside, 1, __ATOMIC_SEQ_CST);
	p = calloc(1, size);
	__atomic_store_n(&f.inside, 0, __ATOMIC_SEQ_CST);
	if (!p)
		abort();
	return p;
}

static void *make(size_t size)
{
	struct object *o = allocate(size);

	o->references = 1;
	COUNT(live);
	return o;
}

/* 1 when it was the last reference */
static int drop(struct object *o)
{
	if (__atomic_sub_fetch(&o->references, 1, __ATOMIC_ACQ_REL))
		return 0;
	__atomic_sub_fetch(&f.live, 1, __ATOMIC_RELAXED);
	return 1;
}

/* Counts down; true when it is now. */
static int due(int *countdown)
{
	return *countdown && !--*countdown;
}

/* Every call that may fail passes here: 0, or what the test wants of this one. */
static int fault(void)
{
	if (COUNT(calls) != f.fails_at)
		return 0;
	lost = f.failure == OCL_DEVICE_NOT_AVAILABLE;
	return f.failure;
}

static int answer(const void *data, size_t size, size_t room, void *out, size_t *got)
{
	if (out && room < size)
		return -30;
	if (out)
		memcpy(out, data, size);
	if (got)
		*got = size;
	return 0;
}

static int answer_text(const char *text, size_t room, void *out, size_t *got)
{
	return answer(text, strlen(text) + 1, room, out, got);
}

#include "fake_opencl_device.h"

static void *made(void *object, int *status, int failure)
{
	if (status)
		*status = failure;
	return object;
}

EXPORT ocl_context clCreateContext(const intptr_t *properties, uint32_t n, const ocl_device *ids,
				   void (*notify)(const char *, const void *, size_t, void *),
				   void *data, int *status)
{
	int failure = fault();

	if (failure)
		return made(NULL, status, failure);
	lost = 0;
	return made(make(sizeof(struct ocl_context)), status, 0);
}

EXPORT int clReleaseContext(ocl_context c)
{
	if (drop(&c->o))
		free(c);
	return 0;
}

EXPORT ocl_queue clCreateCommandQueue(ocl_context c, ocl_device d, uint64_t properties, int *status)
{
	int failure = f.queue_fails ? OCL_OUT_OF_HOST_MEMORY : fault();
	struct ocl_queue *q;

	if (failure)
		return made(NULL, status, failure);
	q = make(sizeof(*q));
	q->context = c;
	q->properties = properties;
	return made(q, status, 0);
}

EXPORT int clGetCommandQueueInfo(ocl_queue q, uint32_t what, size_t room, void *out, size_t *got)
{
	int failure = fault();

	if (failure)
		return failure;
	if (what == OCL_QUEUE_CONTEXT)
		return answer(&q->context, sizeof(q->context), room, out, got);
	return answer(&q->properties, sizeof(q->properties), room, out, got);
}

EXPORT int clRetainCommandQueue(ocl_queue q)
{
	__atomic_add_fetch(&q->o.references, 1, __ATOMIC_RELAXED);
	return 0;
}

static int release_semaphore(ocl_semaphore s);

EXPORT int clReleaseCommandQueue(ocl_queue q)
{
	if (!drop(&q->o))
		return 0;
	if (q->behind)
		release_semaphore(q->behind);
	free(q);
	return 0;
}

EXPORT ocl_mem clCreateBuffer(ocl_context c, uint64_t flags, size_t size, void *host, int *status)
{
	int failure = lost ? OCL_DEVICE_NOT_AVAILABLE : fault();
	struct ocl_mem *m;

	if (failure)
		return made(NULL, status, failure);
	if (due(&f.alloc_fails_at))
		return made(NULL, status, OCL_MEM_OBJECT_ALLOCATION_FAILURE);
	if (size > 1 << 20)
		return made(NULL, status, OCL_INVALID_BUFFER_SIZE);
	m = make(sizeof(*m));
	m->size = size;
	m->borrowed = (flags & OCL_MEM_USE_HOST_PTR) != 0;
	m->data = m->borrowed ? host : allocate(size);
	return made(m, status, 0);
}

#ifndef FAKE_OLD
EXPORT ocl_mem clCreateSubBuffer(ocl_mem parent, uint64_t flags, uint32_t type, const void *info,
				 int *status)
{
	const struct ocl_region *region = info;
	int failure = fault();
	struct ocl_mem *m;

	if (failure)
		return made(NULL, status, failure);
	if (region->origin % 64 || region->origin + region->size > parent->size)
		return made(NULL, status, -13);
	m = make(sizeof(*m));
	m->size = region->size;
	m->data = parent->data + region->origin;
	m->borrowed = 1;
	m->parent = parent;
	__atomic_add_fetch(&parent->o.references, 1, __ATOMIC_RELAXED);
	return made(m, status, 0);
}
#endif

EXPORT int clReleaseMemObject(ocl_mem m)
{
	if (!drop(&m->o))
		return 0;
	if (m->gone)
		m->gone(m, m->gone_data);
	if (m->parent)
		clReleaseMemObject(m->parent);
	if (!m->borrowed)
		free(m->data);
	free(m);
	return 0;
}

#ifndef FAKE_OLD
EXPORT int clSetMemObjectDestructorCallback(ocl_mem m, void (*gone)(ocl_mem, void *), void *data)
{
	int failure = fault();

	if (failure)
		return failure;
	m->gone = gone;
	m->gone_data = data;
	return 0;
}

EXPORT void *clSVMAlloc(ocl_context c, uint64_t flags, size_t size, uint32_t align)
{
	if (fault() || !f.processor || !(flags & OCL_MEM_SVM_FINE_GRAIN_BUFFER))
		return NULL;
	COUNT(live);
	return allocate(size);
}

EXPORT void clSVMFree(ocl_context c, void *p)
{
	__atomic_sub_fetch(&f.live, 1, __ATOMIC_RELAXED);
	free(p);
}
#endif

static ocl_program program_make(const void *text, size_t size, int *status)
{
	int failure = fault();
	struct ocl_program *p;

	if (failure)
		return made(NULL, status, failure);
	p = make(sizeof(*p));
	p->text = allocate(size + 1);
	memcpy(p->text, text, size);
	p->size = size;
	return made(p, status, 0);
}

EXPORT ocl_program clCreateProgramWithSource(ocl_context c, uint32_t n, const char **text,
					     const size_t *size, int *status)
{
	COUNT(sources);
	snprintf(f.text, sizeof(f.text), "%.*s", (int)*size, *text);
	return program_make(*text, *size, status);
}

EXPORT ocl_program clCreateProgramWithBinary(ocl_context c, uint32_t n, const ocl_device *ids,
					     const size_t *size, const unsigned char **bytes,
					     int *each, int *status)
{
	COUNT(binaries);
	*each = 0;
	if (f.binaries_fail || *size < 5 || memcmp(*bytes, "FAKE:", 5))
		return made(NULL, status, -42);
	return program_make(*bytes + 5, *size - 5, status);
}

EXPORT int clReleaseProgram(ocl_program p)
{
	if (drop(&p->o)) {
		free(p->text);
		free(p);
	}
	return 0;
}

EXPORT int clBuildProgram(ocl_program p, uint32_t n, const ocl_device *ids, const char *options,
			  void (*notify)(ocl_program, void *), void *data)
{
	COUNT(builds);
	strncpy(f.options, options ? options : "", sizeof(f.options) - 1);
	return f.compile_fails ? -11 : fault();
}

EXPORT int clGetProgramInfo(ocl_program p, uint32_t what, size_t room, void *out, size_t *got)
{
	size_t size = p->size + 5;
	int failure = fault();

	if (failure)
		return failure;
	if (what == OCL_PROGRAM_BINARY_SIZES)
		return answer(&size, sizeof(size), room, out, got);
	memcpy(*(char **)out, "FAKE:", 5);
	memcpy(*(char **)out + 5, p->text, p->size);
	return 0;
}

EXPORT int clGetProgramBuildInfo(ocl_program p, ocl_device d, uint32_t what, size_t room, void *out,
				 size_t *got)
{
	int failure = fault();

	if (failure)
		return failure;
	return answer_text(f.compile_fails ? "fake.cl:1: error: told to fail\n" : "", room, out,
			   got);
}

EXPORT ocl_kernel clCreateKernel(ocl_program p, const char *name, int *status)
{
	int failure = f.kernel_fails ? OCL_INVALID_KERNEL_NAME : fault();
	struct ocl_kernel *k;

	if (failure)
		return made(NULL, status, failure);
	k = make(sizeof(*k));
	strncpy(k->name, name, sizeof(k->name) - 1);
	return made(k, status, 0);
}

EXPORT int clReleaseKernel(ocl_kernel k)
{
	if (drop(&k->o))
		free(k);
	return 0;
}

EXPORT int clSetKernelArg(ocl_kernel k, uint32_t i, size_t size, const void *value)
{
#ifndef FAKE_NULL
	int failure = fault();

	if (failure)
		return failure;
	f.set_arguments++;
	if (i >= ARGUMENTS)
		return -49;
	memcpy(k->argument[i], value, size);
#endif
	return 0;
}

EXPORT int clGetKernelInfo(ocl_kernel k, uint32_t what, size_t room, void *out, size_t *got)
{
	int failure = fault();

	if (failure)
		return failure;
	return answer_number(f.arguments ? (uint32_t)f.arguments : 3, 4, room, out, got);
}

#include "fake_opencl_semaphore.h"
#include "fake_opencl_queue.h"
#ifndef FAKE_OLD
#include "fake_opencl_extensions.h"
#endif

/* SPDX-License-Identifier: MIT */
/* The core of the fake libcuda (fake_cuda.h): devices, contexts, objects that are alive, and faults. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../driver/cuda/cuda_api.h"
#include "fake_cuda.h"

#ifndef FAKE_VERSION
#define FAKE_VERSION 12080
#endif

/* a fake looks at few of its arguments */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define EXPORT	__attribute__((visibility("default")))
#define DEVICES 2

EXPORT struct fake_cuda fake_cuda;

#define f	    fake_cuda
#define COUNT(what) __atomic_add_fetch(&f.what, 1, __ATOMIC_RELAXED)

enum { CONTEXT = 0x43757478, STREAM, EVENT, MODULE, FUNCTION, GRAPH, NODE, EXEC, SEMAPHORE, GONE };

struct cu_context_data {
	int magic;
	int device;
	int sticky; /* atomic */
	struct cu_context_data *next;
};

/* every handle begins with it; what was destroyed stays in memory, to be recognized */
struct handle {
	int magic;
	struct cu_context_data *context;
	struct handle *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all but memory */
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static struct cu_context_data *primary[DEVICES], *contexts;
static int retained[DEVICES]; /* a reset does not change it */
static struct handle *handles;
static pid_t process;
static int initialized, inline_streams;
static int capability = 90;
static __thread struct cu_context_data *current;
static __thread int in_function;

static void complain(const char *what, const char *where)
{
	if (COUNT(complaints) == 1)
		snprintf(f.complaint, sizeof(f.complaint), "%s: %s", where, what);
	if (getenv("TENON_FAKE_CUDA_LOUD"))
		fprintf(stderr, "fake libcuda: %s: %s\n", where, what);
}

static int sticky_of(struct cu_context_data *c)
{
	return __atomic_load_n(&c->sticky, __ATOMIC_ACQUIRE);
}

static void spoil(struct cu_context_data *c, int status)
{
	int none = 0;

	/* a fault of a kernel: driver 580 gives no context after it, reset or not */
	if (status != CU_CONTEXT_IS_DESTROYED)
		__atomic_store_n(&f.fault, status, __ATOMIC_RELEASE);

	__atomic_compare_exchange_n(&c->sticky, &none, status, 0, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
}

static int gives_back(const char *name)
{
	static const char *const ways[] = { "Free",  "Destroy",	   "Release", "Unload",
					    "Unmap", "Unregister", "Reset" };
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strstr(name, ways[i]))
			return 1;
	return 0;
}

/* Is this the call that was to fail? */
static int fails(const char *name)
{
	if (f.any_at > 0 && !gives_back(name))
		return !__atomic_sub_fetch(&f.any_at, 1, __ATOMIC_ACQ_REL);
	return f.fail_at && f.failing && !strcmp(f.failing, name) &&
	       !__atomic_sub_fetch(&f.fail_at, 1, __ATOMIC_ACQ_REL);
}

/* Every function passes here. */
static int enter(const char *name)
{
	/* the real one may hang here: its threads and its locks are the parent's */
	if (initialized && process != getpid()) {
		fprintf(stderr, "fake libcuda: %s in a child of the process that began\n", name);
		abort();
	}
	if (in_function)
		complain("called from a host function", name);
	if (!initialized && strcmp(name, "cuInit")) {
		complain("before cuInit", name);
		return 3;
	}
	if (fails(name)) {
		if (f.result >= CU_ILLEGAL_ADDRESS && current)
			spoil(current, f.result);
		return f.result;
	}
	return 0;
}

/* … and those that need a context. */
static int enter_context(const char *name)
{
	int status = enter(name);

	if (status)
		return status;
	if (!current || current->magic != CONTEXT) {
		complain("no context is current", name);
		return CU_INVALID_CONTEXT;
	}
	return sticky_of(current);
}

#define ENTER(name)                                                                                \
	do {                                                                                       \
		int entered_ = enter(name);                                                        \
		if (entered_)                                                                      \
			return entered_;                                                           \
	} while (0)

#define ENTER_CONTEXT(name)                                                                        \
	do {                                                                                       \
		int entered_ = enter_context(name);                                                \
		if (entered_)                                                                      \
			return entered_;                                                           \
	} while (0)

/* A handle of the current context that was not destroyed. */
static int check_handle(const void *handle, int magic, const char *name)
{
	const struct handle *h = handle;

	if (!h) {
		complain("NULL where a handle is wanted", name);
		return CU_INVALID_HANDLE;
	}
	if (h->magic != magic) {
		complain(h->magic == GONE ? "a handle that was destroyed" : "no such handle", name);
		return CU_INVALID_HANDLE;
	}
	if (h->context != current) {
		complain("a handle of another context", name);
		return CU_INVALID_CONTEXT;
	}
	return 0;
}

#define CHECK(handle, magic, name)                                                                 \
	do {                                                                                       \
		int checked_ = check_handle(handle, magic, name);                                  \
		if (checked_)                                                                      \
			return checked_;                                                           \
	} while (0)

static void *make_handle(size_t size, int magic)
{
	struct handle *h = calloc(1, size);

	h->magic = magic;
	h->context = current;
	pthread_mutex_lock(&lock);
	h->next = handles;
	handles = h;
	pthread_mutex_unlock(&lock);
	COUNT(live);
	return h;
}

static void end_handle(void *handle)
{
	((struct handle *)handle)->magic = GONE;
	__atomic_sub_fetch(&f.live, 1, __ATOMIC_ACQ_REL);
}

#include "fake_cuda_memory.h"
#include "fake_ptx.h"
#include "fake_ptx_read.h"
#include "fake_ptx_run.h"
#include "fake_cuda_stream.h"
#include "fake_cuda_copy.h"
#include "fake_cuda_module.h"
#include "fake_cuda_graph.h"
#ifndef FAKE_OLD
#include "fake_cuda_fence.h"
#endif

EXPORT int cuInit(uint32_t flags)
{
	const char *mode = getenv("TENON_FAKE_CUDA");

	ENTER("cuInit");
	inline_streams = mode && !strcmp(mode, "inline");
	if (getenv("TENON_FAKE_CUDA_SM"))
		capability = atoi(getenv("TENON_FAKE_CUDA_SM"));
	process = getpid();
	initialized = 1;
	return 0;
}

EXPORT int cuDriverGetVersion(int *version)
{
	*version = FAKE_VERSION;
	return 0;
}

static const struct {
	int status;
	const char *name, *words;
} errors[] = {
	{ CU_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
	{ CU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
	{ CU_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed" },
	{ CU_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid" },
	{ CU_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
	{ CU_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
	  "an illegal memory access was encountered" },
	{ CU_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT",
	  "the launch timed out and was terminated" },
	{ 716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address" },
	{ CU_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
	  "system has unsupported display driver / cuda driver combination" },
};

EXPORT int cuGetErrorName(int status, const char **out)
{
	size_t i;

	*out = NULL;
	for (i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].status == status)
			*out = errors[i].name;
	return *out ? 0 : CU_INVALID_VALUE;
}

EXPORT int cuGetErrorString(int status, const char **out)
{
	size_t i;

	*out = NULL;
	for (i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].status == status)
			*out = errors[i].words;
	return *out ? 0 : CU_INVALID_VALUE;
}

EXPORT int cuDeviceGetCount(int *count)
{
	ENTER("cuDeviceGetCount");
	*count = DEVICES;
	return 0;
}

EXPORT int cuDeviceGet(int *device, int index)
{
	ENTER("cuDeviceGet");
	*device = index;
	return index < DEVICES ? 0 : 101;
}

EXPORT int cuDeviceGetName(char *name, int room, int device)
{
	ENTER("cuDeviceGetName");
	snprintf(name, (size_t)room, "Fake GPU %d", device);
	return 0;
}

EXPORT int cuDeviceGetUuid(void *uuid, int device)
{
	memset(uuid, 0x10 + device, 16);
	return 0;
}

#ifndef FAKE_OLD
EXPORT int cuDeviceGetUuid_v2(void *uuid, int device)
{
	memset(uuid, 0x20 + device, 16);
	return 0;
}
#endif

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	*bytes = DEVICE_MEMORY;
	return 0;
}

EXPORT int cuDeviceGetAttribute(int *out, int what, int device)
{
	static const struct {
		int what, value;
	} values[] = {
		{ CU_ATTRIBUTE_MAX_THREADS, 1024 },
		{ CU_ATTRIBUTE_MAX_BLOCK_X, 1024 },
		{ CU_ATTRIBUTE_MAX_BLOCK_X + 1, 1024 },
		{ CU_ATTRIBUTE_MAX_BLOCK_X + 2, 64 },
		{ CU_ATTRIBUTE_MAX_GRID_X, INT32_MAX },
		{ CU_ATTRIBUTE_MAX_GRID_X + 1, 65535 },
		{ CU_ATTRIBUTE_MAX_GRID_X + 2, 65535 },
		{ CU_ATTRIBUTE_MAX_SHARED, 49152 },
		{ CU_ATTRIBUTE_MAX_SHARED_OPTIN, 232448 },
		{ CU_ATTRIBUTE_WARP_SIZE, 32 },
		{ CU_ATTRIBUTE_MAX_REGISTERS, 65536 },
		{ CU_ATTRIBUTE_CLOCK_KHZ, 1980000 },
		{ CU_ATTRIBUTE_PROCESSORS, 4 },
		{ CU_ATTRIBUTE_CONCURRENT_KERNELS, 1 },
		{ CU_ATTRIBUTE_PCI_BUS, 0x41 },
		{ CU_ATTRIBUTE_L2_BYTES, 52428800 },
		{ CU_ATTRIBUTE_UNIFIED_ADDRESSING, 1 },
		{ CU_ATTRIBUTE_COOPERATIVE, 1 },
		{ CU_ATTRIBUTE_HOST_REGISTER, 1 },
		{ CU_ATTRIBUTE_VIRTUAL_MEMORY, 1 },
		{ CU_ATTRIBUTE_POSIX_FD, 1 },
#ifndef FAKE_OLD
		{ CU_ATTRIBUTE_MEMORY_POOLS, 1 },
		{ CU_ATTRIBUTE_CLUSTERS, 1 },
		{ CU_ATTRIBUTE_DMA_BUF, 1 },
#endif
	};
	size_t i;

	ENTER("cuDeviceGetAttribute");
	*out = 0;
	for (i = 0; i < sizeof(values) / sizeof(*values); i++)
		if (values[i].what == what)
			*out = values[i].value;
	if (what == CU_ATTRIBUTE_MAJOR)
		*out = capability / 10;
	if (what == CU_ATTRIBUTE_MINOR)
		*out = capability % 10;
	return 0;
}

EXPORT int cuDevicePrimaryCtxRetain(cu_context *out, int device)
{
	struct cu_context_data *c;
	int fault = __atomic_load_n(&f.fault, __ATOMIC_ACQUIRE);

	ENTER("cuDevicePrimaryCtxRetain");
	if (fault)
		return fault;
	pthread_mutex_lock(&lock);
	c = primary[device];
	if (!c) {
		c = calloc(1, sizeof(*c));
		c->magic = CONTEXT;
		c->device = device;
		c->next = contexts;
		contexts = c;
		primary[device] = c;
	}
	retained[device]++;
	pthread_mutex_unlock(&lock);
	COUNT(live);
	*out = c;
	return sticky_of(c);
}

/* Everything of a context goes with it. */
static long end_context(struct cu_context_data *c)
{
	struct handle *h;
	long left = 0;

	pthread_mutex_lock(&lock);
	for (h = handles; h; h = h->next)
		if (h->context == c && h->magic != GONE) {
			left++;
			end_handle(h);
		}
	c->magic = GONE;
	primary[c->device] = NULL;
	pthread_mutex_unlock(&lock);
	return left + memory_end(c);
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
	struct cu_context_data *c = primary[device];

	ENTER("cuDevicePrimaryCtxRelease_v2");
	if (!retained[device]) {
		complain("the context is not retained", "cuDevicePrimaryCtxRelease_v2");
		return CU_INVALID_CONTEXT;
	}
	if (!--retained[device] && c) {
		quiesce(c);
		/* in a process where somebody else holds the context they would stay */
		if (end_context(c) && !sticky_of(c))
			complain("objects are left", "cuDevicePrimaryCtxRelease_v2");
	}
	/* last: whoever looks at what is live sees all of it gone */
	__atomic_sub_fetch(&f.live, 1, __ATOMIC_ACQ_REL);
	return 0;
}

EXPORT int cuDevicePrimaryCtxReset_v2(int device)
{
	struct cu_context_data *c = primary[device];

	ENTER("cuDevicePrimaryCtxReset_v2");
	COUNT(resets);
	if (c) {
		quiesce(c);
		end_context(c);
	}
	return 0;
}

EXPORT int cuCtxGetCurrent(cu_context *out)
{
	*out = current;
	return 0;
}

EXPORT int cuCtxSetCurrent(cu_context c)
{
	ENTER("cuCtxSetCurrent");
	if (c && c->magic != CONTEXT) {
		complain("a context that was ended", "cuCtxSetCurrent");
		return CU_INVALID_CONTEXT;
	}
	COUNT(context_switches);
	current = c;
	return 0;
}

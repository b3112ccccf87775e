/* SPDX-License-Identifier: MIT */
/*
 * The part of fake_cuda.c that allocates, maps, exports and imports memory. A device's addresses are none of
 * this process, so whoever follows one on the host crashes; pinned memory has its host address on the device, too.
 */

#define DEVICE_MEMORY (UINT64_C(1) << 30)
#define TAG	      (UINT64_C(1) << 60)

enum { PLAIN, PINNED, REGISTERED, MAPPING, SHARED };

struct range {
	struct range *next;
	struct cu_context_data *context;
	uint64_t address;
	size_t size;
	char *host;
	int kind;
	int accessible;
	int fd; /* of SHARED and MAPPING */
};

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;
static uint64_t next_reserved = TAG + (UINT64_C(1) << 56);
static size_t allocated;

static void quiesce(struct cu_context_data *c);

static void *memory_at(uint64_t address, size_t size)
{
	struct range *r;
	char *host = NULL;

	pthread_mutex_lock(&memory_lock);
	for (r = ranges; r && !host; r = r->next)
		if (r->kind != SHARED && r->accessible && address >= r->address &&
		    size <= r->size && address - r->address <= r->size - size)
			host = r->host + (address - r->address);
	pthread_mutex_unlock(&memory_lock);
	return host;
}

static int is_pinned(const void *host)
{
	struct range *r;
	int pinned = 0;

	pthread_mutex_lock(&memory_lock);
	for (r = ranges; r; r = r->next)
		if ((r->kind == PINNED || r->kind == REGISTERED) && (const char *)host >= r->host &&
		    (const char *)host < r->host + r->size)
			pinned = 1;
	pthread_mutex_unlock(&memory_lock);
	return pinned;
}

static struct range *range_add(int kind, uint64_t address, size_t size, char *host, int fd)
{
	struct range *r = calloc(1, sizeof(*r));

	*r = (struct range){ NULL, current, address, size, host, kind, 1, fd };
	pthread_mutex_lock(&memory_lock);
	r->next = ranges;
	ranges = r;
	if (kind == PLAIN)
		__atomic_add_fetch(&allocated, size, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&memory_lock);
	COUNT(live);
	return r;
}

static void range_free(struct range *r)
{
	if (r->kind == PLAIN || r->kind == PINNED)
		free(r->host);
	if (r->kind == MAPPING && r->host)
		munmap(r->host, r->size);
	if (r->kind == SHARED)
		close(r->fd);
	free(r);
	__atomic_sub_fetch(&f.live, 1, __ATOMIC_ACQ_REL);
}

/* Take a range out; NULL when there is none of that kind that begins there. */
static struct range *range_take(int kind, uint64_t address)
{
	struct range **at, *r;

	pthread_mutex_lock(&memory_lock);
	for (at = &ranges; (r = *at); at = &r->next)
		if (r->kind == kind && r->address == address) {
			*at = r->next;
			if (kind == PLAIN)
				__atomic_sub_fetch(&allocated, r->size, __ATOMIC_RELAXED);
			break;
		}
	pthread_mutex_unlock(&memory_lock);
	return r;
}

static int range_end(int kind, uint64_t address, const char *name)
{
	struct range *r = range_take(kind, address);

	if (!r) {
		complain("memory that is not there", name);
		return CU_INVALID_VALUE;
	}
	if (r->context != current)
		complain("memory of another context", name);
	range_free(r);
	return 0;
}

/* Memory of a context that ends; what is shared and mapped stays. */
static long memory_end(struct cu_context_data *c)
{
	struct range **at = &ranges, *r;
	long left = 0;

	pthread_mutex_lock(&memory_lock);
	while ((r = *at)) {
		if (r->context != c) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		if (r->kind == PLAIN)
			__atomic_sub_fetch(&allocated, r->size, __ATOMIC_RELAXED);
		range_free(r);
		left++;
	}
	pthread_mutex_unlock(&memory_lock);
	return left;
}

EXPORT int cuMemGetInfo_v2(size_t *left, size_t *total)
{
	ENTER_CONTEXT("cuMemGetInfo_v2");
	*total = DEVICE_MEMORY;
	*left = DEVICE_MEMORY - __atomic_load_n(&allocated, __ATOMIC_RELAXED);
	return 0;
}

static int alloc(uint64_t *out, size_t size)
{
	char *host = NULL;

	if (!size)
		return CU_INVALID_VALUE;
	if (size > DEVICE_MEMORY - __atomic_load_n(&allocated, __ATOMIC_RELAXED))
		return CU_OUT_OF_MEMORY;
	if (posix_memalign((void **)&host, 256, size))
		return CU_OUT_OF_MEMORY;
	memset(host, 0xa5, size);
	*out = (uint64_t)(uintptr_t)host + TAG;
	range_add(PLAIN, *out, size, host, -1);
	return 0;
}

EXPORT int cuMemAlloc_v2(uint64_t *out, size_t size)
{
	ENTER_CONTEXT("cuMemAlloc_v2");
	return alloc(out, size);
}

EXPORT int cuMemFree_v2(uint64_t address)
{
	ENTER_CONTEXT("cuMemFree_v2");
	quiesce(current);
	return range_end(PLAIN, address, "cuMemFree_v2");
}

EXPORT int cuMemHostAlloc(void **out, size_t size, uint32_t flags)
{
	ENTER_CONTEXT("cuMemHostAlloc");
	if (!size || posix_memalign(out, 4096, size))
		return CU_OUT_OF_MEMORY;
	memset(*out, 0x5a, size);
	range_add(PINNED, (uintptr_t)*out, size, *out, -1);
	return 0;
}

EXPORT int cuMemFreeHost(void *host)
{
	ENTER_CONTEXT("cuMemFreeHost");
	quiesce(current);
	return range_end(PINNED, (uintptr_t)host, "cuMemFreeHost");
}

EXPORT int cuMemHostRegister_v2(void *host, size_t size, uint32_t flags)
{
	ENTER_CONTEXT("cuMemHostRegister_v2");
	if (is_pinned(host))
		return CU_HOST_MEMORY_ALREADY_REGISTERED;
	range_add(REGISTERED, (uintptr_t)host, size, host, -1);
	return 0;
}

EXPORT int cuMemHostUnregister(void *host)
{
	ENTER_CONTEXT("cuMemHostUnregister");
	quiesce(current);
	return range_end(REGISTERED, (uintptr_t)host, "cuMemHostUnregister");
}

EXPORT int cuMemHostGetDevicePointer_v2(uint64_t *out, void *host, uint32_t flags)
{
	ENTER_CONTEXT("cuMemHostGetDevicePointer_v2");
	*out = (uintptr_t)host;
	return is_pinned(host) ? 0 : CU_INVALID_VALUE;
}

EXPORT int cuPointerGetAttribute(void *out, int what, uint64_t pointer)
{
	ENTER_CONTEXT("cuPointerGetAttribute");
	if (what != CU_POINTER_MEMORY_TYPE)
		return CU_INVALID_VALUE;
	if (is_pinned((void *)(uintptr_t)pointer))
		*(uint32_t *)out = CU_MEMORY_HOST;
	else if (memory_at(pointer, 1))
		*(uint32_t *)out = CU_MEMORY_DEVICE;
	else
		return CU_INVALID_VALUE;
	return 0;
}

#ifndef FAKE_OLD
EXPORT int cuPointerGetAttributes(uint32_t count, const int *what, void **out, uint64_t pointer)
{
	ENTER_CONTEXT("cuPointerGetAttributes");
	for (; count; count--, what++, out++)
		if (cuPointerGetAttribute(*out, *what, pointer))
			memset(*out, 0, 4);
	return 0;
}
#endif

EXPORT int cuMemGetAllocationGranularity(size_t *out, const struct cu_allocation *a, int option)
{
	ENTER("cuMemGetAllocationGranularity");
	*out = 2 << 20;
	return 0;
}

static struct range *shared_of(uint64_t handle)
{
	struct range *r;

	pthread_mutex_lock(&memory_lock);
	for (r = ranges; r && (r->kind != SHARED || (uintptr_t)r != handle); r = r->next)
		;
	pthread_mutex_unlock(&memory_lock);
	return r;
}

EXPORT int cuMemCreate(uint64_t *out, size_t size, const struct cu_allocation *a, uint64_t flags)
{
	int fd;

	ENTER_CONTEXT("cuMemCreate");
	if (a->type != CU_ALLOCATION_PINNED || a->location.type != CU_LOCATION_DEVICE ||
	    a->location.id != current->device || size % (2 << 20))
		return CU_INVALID_VALUE;
	fd = memfd_create("fake-cuda", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)size))
		return CU_OUT_OF_MEMORY;
	*out = (uintptr_t)range_add(SHARED, 0, size, NULL, fd);
	return 0;
}

EXPORT int cuMemRelease(uint64_t handle)
{
	struct range **at, *r;

	ENTER("cuMemRelease");
	pthread_mutex_lock(&memory_lock);
	for (at = &ranges; (r = *at) && (uintptr_t)r != handle; at = &r->next)
		;
	if (r)
		*at = r->next;
	pthread_mutex_unlock(&memory_lock);
	if (!r)
		return CU_INVALID_VALUE;
	range_free(r);
	return 0;
}

EXPORT int cuMemAddressReserve(uint64_t *out, size_t size, size_t align, uint64_t at,
			       uint64_t flags)
{
	ENTER("cuMemAddressReserve");
	*out = __atomic_fetch_add(&next_reserved, size, __ATOMIC_RELAXED);
	COUNT(live);
	return 0;
}

EXPORT int cuMemAddressFree(uint64_t address, size_t size)
{
	ENTER("cuMemAddressFree");
	__atomic_sub_fetch(&f.live, 1, __ATOMIC_ACQ_REL);
	return 0;
}

EXPORT int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle, uint64_t flags)
{
	struct range *shared;
	char *host;

	ENTER_CONTEXT("cuMemMap");
	shared = shared_of(handle);
	if (!shared || size > shared->size)
		return CU_INVALID_VALUE;
	host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, shared->fd, 0);
	if (host == MAP_FAILED)
		return CU_OUT_OF_MEMORY;
	range_add(MAPPING, address, size, host, shared->fd)->accessible = 0;
	return 0;
}

EXPORT int cuMemUnmap(uint64_t address, size_t size)
{
	ENTER("cuMemUnmap");
	return range_end(MAPPING, address, "cuMemUnmap");
}

EXPORT int cuMemSetAccess(uint64_t address, size_t size, const struct cu_access *access,
			  size_t count)
{
	struct range *r;

	ENTER("cuMemSetAccess");
	pthread_mutex_lock(&memory_lock);
	for (r = ranges; r; r = r->next)
		if (r->kind == MAPPING && r->address == address)
			r->accessible = access->flags == CU_ACCESS_READ_WRITE;
	pthread_mutex_unlock(&memory_lock);
	return 0;
}

EXPORT int cuMemExportToShareableHandle(void *out, uint64_t handle, int type, uint64_t flags)
{
	struct range *shared;

	ENTER("cuMemExportToShareableHandle");
	shared = shared_of(handle);
	if (!shared || type != CU_HANDLE_POSIX_FD)
		return CU_INVALID_VALUE;
	*(int *)out = dup(shared->fd);
	return 0;
}

EXPORT int cuMemImportFromShareableHandle(uint64_t *out, void *fd, int type)
{
	off_t size;
	int own;

	ENTER("cuMemImportFromShareableHandle");
	own = dup((int)(intptr_t)fd);
	size = own < 0 ? -1 : lseek(own, 0, SEEK_END);
	if (size <= 0)
		return CU_INVALID_VALUE;
	*out = (uintptr_t)range_add(SHARED, 0, (size_t)size, NULL, own);
	return 0;
}

#ifndef FAKE_OLD
EXPORT int cuMemGetHandleForAddressRange(void *out, uint64_t address, size_t size, int type,
					 uint64_t flags)
{
	struct range *r;

	ENTER_CONTEXT("cuMemGetHandleForAddressRange");
	for (r = ranges; r; r = r->next)
		if (r->kind == MAPPING && r->address == address && size % 4096 == 0) {
			*(int *)out = dup(r->fd);
			return 0;
		}
	return CU_INVALID_VALUE;
}
#endif

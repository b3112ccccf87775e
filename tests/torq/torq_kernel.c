/* SPDX-License-Identifier: MIT */
/* The kernel's model: a node, networks, bindings, a heap of dma-bufs, and an NPU that replays records. */
#include "tests/torq/torq_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/dmabuf/dmabuf_uapi.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/torq/torq_record.h"
#include "tests/unit/suite.h"

#define NODE	  "/dev/torq"
#define HEAP	  "/dev/dma_heap/system"
#define LRAM_SIZE (512u << 10)
#define PAGE	  4096u
#define NETWORKS  16
#define BINDINGS  64
#define SEGMENTS  64
#define FILES	  16

/* ---- arguments: layouts are those of the driver's header */

struct create_argument {
	unsigned int xram_start;
	int dmabuf_fd;
	unsigned int network_id;
};

struct network_argument {
	unsigned int network_id;
};

struct run_argument {
	unsigned int network_id;
	unsigned int code_entry;
};

struct wait_argument {
	unsigned int network_id;
	unsigned int wait_bits;
};

struct lram_argument {
	unsigned int network_id;
	unsigned int addr;
	unsigned int size;
	void *data;
};

struct attach_argument {
	unsigned int network_id;
	int dmabuf_fd;
	unsigned int xram_addr;
	unsigned int data_offset;
	unsigned int binding_size;
};

struct detach_argument {
	unsigned int network_id;
	unsigned int xram_addr;
	unsigned int data_offset;
	unsigned int binding_size;
};

struct hardware_argument {
	unsigned int hw_id;
};

/* ---- state */

/* a dma-buf that the IOMMU maps at an address */
struct mapping {
	uint8_t *base;
	uint32_t address;
	uint32_t size;
	uint32_t offset;
};

struct segment {
	uint32_t address, size;
	uint8_t *data;
};

struct network {
	int file; /* of which descriptor; 0 for none */
	uint32_t id;
	struct mapping memory;
	struct mapping bindings[BINDINGS];
	unsigned int binding_count;
	struct segment segments[SEGMENTS];
	unsigned int segment_count;
	bool was_started;
};

struct torq_kernel_model torq;
static struct network networks[NETWORKS], *active;
static int files[FILES];
static uint32_t last_id;
static uint8_t lram[LRAM_SIZE];
static struct torq_run runs[TORQ_RECORDS];
static unsigned int run_count;
/* of the active network: runs whose jobs until now were these, the job that comes, and what the last one ends with */
static bool is_possible[TORQ_RECORDS];
static unsigned int job;
static int outcome;
static bool has_ended;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void unmap(struct mapping *m)
{
	if (m->base)
		munmap(m->base, m->size);
	memset(m, 0, sizeof(*m));
}

static void drop_network(struct network *n)
{
	unsigned int i;

	for (i = 0; i < n->binding_count; i++)
		unmap(&n->bindings[i]);
	for (i = 0; i < n->segment_count; i++)
		free(n->segments[i].data);
	unmap(&n->memory);
	if (active == n)
		active = NULL;
	memset(n, 0, sizeof(*n));
}

void torq_start(void)
{
	unsigned int i;

	for (i = 0; i < NETWORKS; i++)
		drop_network(&networks[i]);
	for (i = 0; i < run_count; i++)
		torq_record_free(&runs[i]);
	run_count = 0;
	memset(files, 0, sizeof(files));
	memset(&torq, 0, sizeof(torq));
}

void torq_replay(const char *path)
{
	run_count += torq_record_read(path, runs + run_count, TORQ_RECORDS - run_count);
}

unsigned int torq_left(void)
{
	unsigned int i, left = 0;

	pthread_mutex_lock(&lock);
	for (i = 0; i < NETWORKS; i++)
		left += networks[i].file ? 1 + networks[i].binding_count : 0;
	for (i = 0; i < FILES; i++)
		left += files[i] != 0;
	pthread_mutex_unlock(&lock);
	return left;
}

/* ---- dma-bufs: memfds */

/* Map a dma-buf as the IOMMU does; @size 0 for all of it. Return: 0; the errno. */
static int map_dmabuf(int fd, uint32_t address, uint32_t offset, uint32_t size, struct mapping *out)
{
	struct stat s;

	if (fcntl(fd, F_GETFD) < 0)
		return EBADF;
	if (fcntl(fd, F_GET_SEALS) < 0 || fstat(fd, &s))
		return EINVAL;
	if (!size)
		size = (uint32_t)s.st_size;
	if (offset > s.st_size || size > s.st_size - offset)
		return ERANGE;
	out->base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	assert_true(out->base != MAP_FAILED);
	out->address = address;
	out->size = size;
	out->offset = offset;
	return 0;
}

static int heap_call(unsigned long request, void *argument)
{
	struct heap_uapi_allocation *a = argument;
	const uint64_t size = (a->size + PAGE - 1) / PAGE * PAGE;
	int fd;

	if (request != HEAP_UAPI_ALLOCATE)
		return ENOTTY;
	if (!a->size || size > UINT32_MAX)
		return ENOMEM;
	fd = memfd_create("dma-buf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	fake_opened(fd, "dma-buf");
	a->fd = (uint32_t)fd;
	return 0;
}

static int dmabuf_call(unsigned long request, const void *argument)
{
	const struct dmabuf_uapi_sync *s = argument;

	if (request != DMABUF_UAPI_SYNC)
		return ENOTTY;
	torq.accesses += !(s->flags & DMABUF_UAPI_END);
	torq.open_accesses += s->flags & DMABUF_UAPI_END ? -1 : 1;
	return 0;
}

/* ---- the NPU */

/* Where a byte of XRAM is; NULL where the IOMMU maps nothing. */
static uint8_t *xram_at(uint64_t address)
{
	const struct mapping *m = active->bindings;
	unsigned int i;

	for (i = 0; i < active->binding_count; i++, m++)
		if (address >= m->address && address - m->address < m->size)
			return m->base + (address - m->address);
	m = &active->memory;
	return address >= m->address && address - m->address < m->size
		       ? m->base + (address - m->address)
		       : NULL;
}

static uint8_t *byte_at(const struct torq_bytes *b, uint32_t i)
{
	if (b->is_xram)
		return xram_at((uint64_t)b->address + i);
	return (uint64_t)b->address + i < LRAM_SIZE ? &lram[b->address + i] : NULL;
}

/* The vendor's runtime lists the memory of results as loaded, too: what is there does not matter. */
static bool is_overwritten(const struct torq_run *run, const struct torq_bytes *b)
{
	unsigned int i;

	for (i = 0; i < run->byte_count; i++)
		if (run->bytes[i].is_result && run->bytes[i].is_xram == b->is_xram &&
		    run->bytes[i].address == b->address && run->bytes[i].size >= b->size)
			return true;
	return false;
}

static bool is_there(const struct torq_bytes *b)
{
	const uint8_t *at;
	uint32_t i;

	for (i = 0; i < b->size; i++) {
		at = byte_at(b, i);
		if (!at || *at != b->data[i])
			return false;
	}
	return true;
}

/* Does the job of a run begin here, with these bytes? */
static bool is_job(const struct torq_run *run, uint32_t entry)
{
	const struct torq_job *j = &run->jobs[job];
	unsigned int i;

	if (job >= run->job_count || j->entry != entry)
		return false;
	for (i = j->first; i < j->first + j->count; i++)
		if (!run->bytes[i].is_result && !is_overwritten(run, &run->bytes[i]) &&
		    !is_there(&run->bytes[i]))
			return false;
	return true;
}

static void leave_results(const struct torq_run *run)
{
	const struct torq_job *j = &run->jobs[job];
	const struct torq_bytes *b;
	unsigned int i;
	uint32_t k;

	for (i = j->first; i < j->first + j->count; i++) {
		b = &run->bytes[i];
		for (k = 0; b->is_result && k < b->size; k++) {
			assert_non_null(byte_at(b, k));
			*byte_at(b, k) = b->data[k];
		}
	}
}

static void compute(uint32_t entry)
{
	const struct torq_run *found = NULL;
	unsigned int i;

	for (i = 0; i < run_count; i++) {
		is_possible[i] = is_possible[i] && is_job(&runs[i], entry);
		if (is_possible[i] && !found)
			found = &runs[i];
	}
	if (found)
		leave_results(found);
	torq.unknown += !found;
	outcome = found ? 0 : EIO;
	job++;
}

static void run_job(uint32_t entry)
{
	enum torq_fate fate = TORQ_REPLAYS;

	if (torq.fate_count) {
		fate = *torq.fates++;
		torq.fate_count--;
	}
	torq.jobs++;
	has_ended = fate != TORQ_HANGS;
	if (fate == TORQ_REPLAYS)
		compute(entry);
	else if (fate == TORQ_NOTHING)
		outcome = 0;
	else
		outcome = fate == TORQ_HANGS ? ETIMEDOUT : EIO;
}

/* ---- the driver's calls */

static struct network *network_of(int fd, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < NETWORKS; i++)
		if (networks[i].file == fd && networks[i].id == id)
			return &networks[i];
	return NULL;
}

static int do_create(int fd, void *argument)
{
	struct create_argument *c = argument;
	struct network *n = networks;
	int error;

	if (c->dmabuf_fd < 0 || c->xram_start % PAGE)
		return EINVAL;
	while (n < networks + NETWORKS && n->file)
		n++;
	assert_true(n < networks + NETWORKS);
	error = map_dmabuf(c->dmabuf_fd, c->xram_start, 0, 0, &n->memory);
	if (error)
		return error;
	n->file = fd;
	n->id = c->network_id = ++last_id;
	return 0;
}

static void write_lram(const struct segment *s)
{
	if (s->address > LRAM_SIZE || s->size > LRAM_SIZE - s->address)
		torq.damaged = true;
	else
		memcpy(lram + s->address, s->data, s->size);
}

static int do_start(int fd, void *argument)
{
	struct network *n = network_of(fd, ((struct network_argument *)argument)->network_id);
	unsigned int i;

	if (!n)
		return ENOENT;
	if (active)
		return EBUSY;
	if (torq.busy) {
		torq.busy--;
		return EBUSY;
	}
	active = n;
	n->was_started = true;
	for (i = 0; i < n->segment_count; i++)
		write_lram(&n->segments[i]);
	for (i = 0; i < run_count; i++)
		is_possible[i] = true;
	job = 0;
	has_ended = false;
	return 0;
}

static int do_run(int fd, void *argument)
{
	const struct run_argument *r = argument;
	const struct network *n = network_of(fd, r->network_id);

	if (!n)
		return ENOENT;
	if (active != n)
		return ENODEV;
	/* what the CPU wrote is in memory */
	assert_int_equal(torq.open_accesses, 0);
	run_job(r->code_entry);
	return 0;
}

static int do_wait(int fd, void *argument)
{
	const struct wait_argument *w = argument;
	const struct network *n = network_of(fd, w->network_id);

	if (!n)
		return ENOENT;
	if (active != n)
		return ENODEV;
	if (!has_ended)
		return ETIMEDOUT;
	has_ended = false;
	return w->wait_bits & ~1u ? EIO : outcome;
}

static int do_stop(int fd, void *argument)
{
	const struct network *n = network_of(fd, ((struct network_argument *)argument)->network_id);

	if (!n)
		return ENOENT;
	if (active != n)
		return EPERM;
	active = NULL;
	return 0;
}

static int do_destroy(int fd, void *argument)
{
	struct network *n = network_of(fd, ((struct network_argument *)argument)->network_id);

	if (!n)
		return ENOENT;
	if (active == n)
		return EBUSY;
	drop_network(n);
	return 0;
}

static int do_write(int fd, void *argument)
{
	const struct lram_argument *l = argument;
	struct network *n = network_of(fd, l->network_id);
	struct segment s = { l->addr, l->size, NULL };

	if (!l->data || !l->size)
		return EINVAL;
	if (!n)
		return ENOENT;
	s.data = malloc(l->size);
	assert_non_null(s.data);
	memcpy(s.data, l->data, l->size);
	if (active == n)
		write_lram(&s);
	if (n->was_started) {
		free(s.data);
	} else {
		assert_true(n->segment_count < SEGMENTS);
		n->segments[n->segment_count++] = s;
	}
	return 0;
}

static int do_read(int fd, void *argument)
{
	const struct lram_argument *l = argument;
	const struct network *n = network_of(fd, l->network_id);
	const struct segment *s;
	unsigned int i;

	if (!l->data || !l->size)
		return EINVAL;
	for (i = 0; n && i < n->segment_count; i++) {
		s = &n->segments[i];
		if (s->address != l->addr)
			continue;
		memcpy(l->data, s->data, s->size < l->size ? s->size : l->size);
		return 0;
	}
	return ENOENT;
}

static uint32_t whole_pages(uint32_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

static int do_attach(int fd, void *argument)
{
	const struct attach_argument *a = argument;
	struct network *n = network_of(fd, a->network_id);
	const uint32_t size = whole_pages(a->binding_size);
	unsigned int i;
	int error;

	if (a->dmabuf_fd < 0 || !a->binding_size || a->xram_addr % PAGE || a->data_offset % PAGE)
		return EINVAL;
	if (!n)
		return ENOENT;
	if (active != n)
		return ENODEV;
	if (a->xram_addr < n->memory.address)
		return ERANGE;
	for (i = 0; i < n->binding_count; i++)
		if (a->xram_addr < n->bindings[i].address + n->bindings[i].size &&
		    n->bindings[i].address < a->xram_addr + size)
			return EBUSY;
	assert_true(n->binding_count < BINDINGS);
	error = map_dmabuf(a->dmabuf_fd, a->xram_addr, a->data_offset, size,
			   &n->bindings[n->binding_count]);
	n->binding_count += !error;
	torq.attached += !error;
	return error;
}

static int do_detach(int fd, void *argument)
{
	const struct detach_argument *d = argument;
	struct network *n = network_of(fd, d->network_id);
	struct mapping *m;
	unsigned int i;

	if (!d->binding_size || d->xram_addr % PAGE || d->data_offset % PAGE)
		return EINVAL;
	if (!n)
		return ENOENT;
	if (active != n)
		return ENODEV;
	for (i = 0; i < n->binding_count; i++) {
		m = &n->bindings[i];
		if (m->address != d->xram_addr || m->offset != d->data_offset ||
		    m->size != whole_pages(d->binding_size))
			continue;
		unmap(m);
		*m = n->bindings[--n->binding_count];
		return 0;
	}
	return ENOENT;
}

static int do_hardware(int fd, void *argument)
{
	(void)fd;
	((struct hardware_argument *)argument)->hw_id = torq.hardware;
	return 0;
}

static const struct {
	unsigned long request;
	int (*make)(int fd, void *argument);
} calls[] = {
	{ _IOWR('S', 1, struct create_argument), do_create },
	{ _IOWR('S', 2, struct network_argument), do_start },
	{ _IOWR('S', 3, struct run_argument), do_run },
	{ _IOWR('S', 4, struct wait_argument), do_wait },
	{ _IOWR('S', 5, struct network_argument), do_stop },
	{ _IOWR('S', 6, struct network_argument), do_destroy },
	{ _IOWR('S', 7, struct lram_argument), do_write },
	{ _IOWR('S', 8, struct lram_argument), do_read },
	{ _IOWR('S', 9, struct attach_argument), do_attach },
	{ _IOWR('S', 10, struct detach_argument), do_detach },
	{ _IOWR('S', 11, struct hardware_argument), do_hardware },
};

static int node_call(int fd, unsigned long request, void *argument)
{
	size_t i;

	if (torq.interrupts) {
		torq.interrupts--;
		return EINTR;
	}
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i].request == request)
			return calls[i].make(fd, argument);
	return ENOTTY;
}

/* ---- the table */

static int *file_of(int fd)
{
	unsigned int i;

	for (i = 0; i < FILES; i++)
		if (files[i] == fd)
			return &files[i];
	return NULL;
}

static bool is_path(const char *path, const char *name)
{
	const size_t root = strlen(tree);

	return !strncmp(path, tree, root) && !strcmp(path + root, name);
}

static int fake_open(const char *path, int flags)
{
	int fd = -1;

	(void)flags;
	errno = ENOENT;
	if (!is_path(path, NODE) && !is_path(path, HEAP))
		return -1;
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd >= 0 && is_path(path, NODE)) {
		pthread_mutex_lock(&lock);
		assert_non_null(file_of(0));
		*file_of(0) = fd;
		pthread_mutex_unlock(&lock);
	}
	return fd;
}

/* A file that is closed takes its networks with it. */
static int fake_close(int fd)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	if (file_of(fd)) {
		*file_of(fd) = 0;
		for (i = 0; i < NETWORKS; i++)
			if (networks[i].file == fd)
				drop_network(&networks[i]);
	}
	pthread_mutex_unlock(&lock);
	return close(fd);
}

static int fake_ioctl(int fd, unsigned long request, void *argument)
{
	int error;

	pthread_mutex_lock(&lock);
	if (file_of(fd))
		error = node_call(fd, request, argument);
	else if (_IOC_TYPE(request) == 'H')
		error = heap_call(request, argument);
	else
		error = dmabuf_call(request, argument);
	pthread_mutex_unlock(&lock);
	if (!error)
		return 0;
	errno = error;
	return -1;
}

/* Who naps looks again at once. */
static int fake_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	(void)timeout;
	assert_true(count == 1 && polled->fd < 0);
	return 0;
}

const struct system_calls torq_calls = {
	.open = fake_open,
	.close = fake_close,
	.ioctl = fake_ioctl,
	.mmap = mmap,
	.munmap = munmap,
	.madvise = madvise,
	.ppoll = fake_ppoll,
};

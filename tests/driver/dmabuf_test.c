/* SPDX-License-Identifier: MIT */
/*
 * dma-bufs on a named fake: a heap whose buffers are memfds, and fences that are eventfds with a status. The heaps and
 * udmabuf have no other test, because Debian's kernel has neither; dma-bufs and sync_files have guest/drm_cases.c.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/dmabuf/dmabuf.h"
#include "driver/dmabuf/dmabuf_uapi.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/unit/suite.h"

static int status;	     /* of every fence */
static bool old_kernel;	     /* no fences of dma-bufs */
static unsigned int busy;    /* EAGAINs before a bracket succeeds */
static uint64_t brackets[8]; /* flags of what began and ended */
static unsigned int bracket_count;
static uint64_t wanted; /* bytes of the last allocation */
static struct udmabuf_uapi_create created;

static int refuse(int error)
{
	errno = error;
	return -1;
}

static int new_buffer(uint64_t size)
{
	int fd = memfd_create("dma-buf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	fake_opened(fd, "dma-buf");
	return fd;
}

static int new_fence(void)
{
	int fd = system_calls_of_kernel.eventfd(1, 0);

	assert_true(fd >= 0);
	fake_opened(fd, "sync_file");
	return fd;
}

static int fake_ioctl(int fd, unsigned long request, void *argument)
{
	struct dmabuf_uapi_fence *fence = argument;
	struct heap_uapi_allocation *heap = argument;

	(void)fd;
	switch (request) {
	case HEAP_UAPI_ALLOCATE:
		wanted = heap->size;
		heap->fd = (uint32_t)new_buffer(heap->size);
		return 0;
	case UDMABUF_UAPI_CREATE:
		created = *(struct udmabuf_uapi_create *)argument;
		return new_buffer(created.size);
	case DMABUF_UAPI_SYNC:
		if (busy) {
			busy--;
			return refuse(EAGAIN);
		}
		if (bracket_count < 8)
			brackets[bracket_count++] = ((struct dmabuf_uapi_sync *)argument)->flags;
		return 0;
	case DMABUF_UAPI_EXPORT:
		if (old_kernel)
			return refuse(ENOTTY);
		fence->fd = new_fence();
		return 0;
	case SYNC_UAPI_INFO:
		((struct sync_uapi_info *)argument)->status = status;
		return 0;
	}
	return refuse(ENOTTY);
}

/* nothing becomes ready: deadlines pass at once */
static int fake_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	(void)count;
	(void)timeout;
	polled->revents = polled->events;
	return status != 0;
}

static struct system_calls fake;

static int setup(void **state)
{
	int err = tree_setup(state);

	fake = system_calls_of_kernel;
	fake.ioctl = fake_ioctl;
	fake.ppoll = fake_ppoll;
	faults_over(&fake);
	status = 1;
	old_kernel = false;
	busy = bracket_count = 0;
	tree_zeroes("/dev/dma_heap/system", 0);
	tree_zeroes("/dev/dma_heap/npu_region", 0);
	tree_zeroes("/dev/udmabuf", 0);
	return err;
}

static void a_heap_is_found_by_the_first_name_that_exists(void **state)
{
	struct dmabuf b;

	(void)state;
	assert_int_equal(dmabuf_allocate(&faulty_calls, tree, NULL, 5000, &b), 0);
	assert_int_equal(wanted % (uint64_t)sysconf(_SC_PAGESIZE), 0);
	assert_true(b.size >= 5000);
	assert_int_equal(dmabuf_map(&b), 0);
	assert_int_equal(dmabuf_map(&b), 0);
	((char *)b.base)[b.size - 1] = 1;
	dmabuf_close(&b);
	dmabuf_close(&b);
	tree_drop("/dev/dma_heap/system");
	assert_int_equal(dmabuf_allocate(&faulty_calls, tree, NULL, 5000, &b), -TENON_E_NOT_FOUND);
	assert_error_has("none of the heaps " DMABUF_HEAPS);
	assert_int_equal(dmabuf_allocate(&faulty_calls, tree, "none,,npu_region", 1, &b), 0);
	dmabuf_close(&b);
	assert_int_equal(dmabuf_allocate(&faulty_calls, tree, "", 1, &b), -TENON_E_NOT_FOUND);
	assert_int_equal(dmabuf_allocate(&faulty_calls, tree, NULL, 0, &b), -TENON_E_OVERFLOW);
	assert_int_equal(dmabuf_allocate(&faulty_calls, tree, NULL, UINT64_MAX, &b),
			 -TENON_E_OVERFLOW);
	tenon_error_clear();
	assert_nothing_open();
}

static void memory_of_the_process_becomes_a_buffer(void **state)
{
	struct dmabuf b;

	(void)state;
	assert_int_equal(dmabuf_of_memfd(&faulty_calls, tree, 5, 4096, 8192, &b), 0);
	assert_int_equal(created.memfd, 5);
	assert_int_equal(created.offset, 4096);
	assert_int_equal(created.flags, UDMABUF_UAPI_CLOEXEC);
	assert_int_equal(b.size, 8192);
	dmabuf_close(&b);
	tree_drop("/dev/udmabuf");
	assert_int_equal(dmabuf_of_memfd(&faulty_calls, tree, 5, 0, 4096, &b), -TENON_E_NOT_FOUND);
	tenon_error_clear();
	assert_nothing_open();
}

static void accesses_begin_and_end(void **state)
{
	struct dmabuf b;

	(void)state;
	assert_int_equal(dmabuf_allocate(&faulty_calls, tree, NULL, 1, &b), 0);
	busy = 3;
	assert_int_equal(dmabuf_begin(&b, DMABUF_WRITE), 0);
	assert_int_equal(dmabuf_end(&b, DMABUF_WRITE), 0);
	assert_int_equal(brackets[0], DMABUF_UAPI_WRITE);
	assert_int_equal(brackets[1], DMABUF_UAPI_WRITE | DMABUF_UAPI_END);
	dmabuf_close(&b);
	assert_nothing_open();
}

static void a_fence_that_failed_is_no_success(void **state)
{
	static const struct {
		int fence;
		int status;
	} rows[] = {
		{ 1, 0 },
		{ 0, -TENON_E_TIMEOUT },
		{ -ECANCELED, -TENON_E_LOST },
		{ -EIO, -TENON_E_DEVICE },
		/* the work took too long: not the caller's deadline */
		{ -ETIMEDOUT, -TENON_E_DEVICE },
	};
	struct dmabuf b;

	(void)state;
	assert_int_equal(dmabuf_allocate(&faulty_calls, tree, NULL, 1, &b), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int fd = dmabuf_export_fence(&b, DMABUF_READ);

		status = rows[i].fence;
		assert_true(fd >= 0);
		assert_int_equal(sync_file_wait(&faulty_calls, fd, 1), rows[i].status);
		faulty_calls.close(fd);
	}
	old_kernel = true;
	assert_int_equal(dmabuf_export_fence(&b, DMABUF_READ), -TENON_E_UNSUPPORTED);
	assert_error_has("the kernel is older than 6.0");
	tenon_error_clear();
	dmabuf_close(&b);
	assert_nothing_open();
}

static int use_buffer(struct dmabuf *b, int *fence)
{
	int err = dmabuf_map(b);

	if (!err)
		err = dmabuf_begin(b, DMABUF_BOTH);
	if (!err)
		err = dmabuf_end(b, DMABUF_BOTH);
	if (err)
		return err;
	*fence = dmabuf_export_fence(b, DMABUF_WRITE);
	return *fence < 0 ? *fence : sync_file_wait(b->calls, *fence, UINT64_MAX);
}

static int use(const struct system_calls *calls)
{
	struct dmabuf b;
	int err, fence = -1;

	err = dmabuf_of_memfd(calls, tree, 5, 0, 4096, &b);
	dmabuf_close(&b);
	if (err)
		return err;
	err = dmabuf_allocate(calls, tree, "system", 4096, &b);
	if (!err)
		err = use_buffer(&b, &fence);
	system_close(calls, &fence);
	dmabuf_close(&b);
	return err;
}

static int expected(const struct fault *f)
{
	if (f->call == CALL_IOCTL && f->error == EAGAIN && f->request == DMABUF_UAPI_SYNC)
		return 0;
	if (f->request == DMABUF_UAPI_EXPORT && f->error == ENOTTY)
		return -TENON_E_UNSUPPORTED;
	return 2;
}

static void every_call_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const int errors[] = { EINTR, EAGAIN, EINVAL, EFAULT,	ENOMEM, ENOTTY, EIO,
				      EPERM, ENODEV, EBUSY,  ETIMEDOUT, ENOENT, 0 };
	static const struct sweep sweep = {
		.under = &fake,
		.scenario = use,
		.ioctl_errors = errors,
		.expected = expected,
	};

	(void)state;
	assert_true(sweep_faults(&sweep) > 100);
}

int main(void)
{
#define on(test) cmocka_unit_test_setup_teardown(test, setup, tree_teardown)
	const struct CMUnitTest tests[] = {
		on(a_heap_is_found_by_the_first_name_that_exists),
		on(memory_of_the_process_becomes_a_buffer),
		on(accesses_begin_and_end),
		on(a_fence_that_failed_is_no_success),
		on(every_call_that_fails_is_reported_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

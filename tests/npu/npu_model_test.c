/* SPDX-License-Identifier: MIT */
/*
 * The kernel's model itself, call by call: each answer of the tables that it was written from. A program under test is
 * judged by these.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/dmabuf/dmabuf_uapi.h"
#include "driver/drm/drm_uapi.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/networks.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

static struct rig rig;

static int open_node(void)
{
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s" NPU_NODE, tree);
	fd = faulty_calls.open(path, O_RDWR);
	assert_true(fd >= 0);
	return fd;
}

static int begin(void)
{
	npu_start();
	faults_over(&npu_calls);
	return open_node();
}

static void end(int fd)
{
	faulty_calls.close(fd);
	npu_pass_time(NPU_SECOND);
	assert_nothing_open();
	assert_int_equal(npu_left(), 0);
}

/* Return: 0 or the errno. */
static int call(int fd, unsigned long request, void *argument)
{
	return faulty_calls.ioctl(fd, request, argument) ? errno : 0;
}

static uint32_t make_buffer(int fd, uint64_t size)
{
	struct ethosu_uapi_buffer b = { .size = size };

	assert_int_equal(call(fd, ETHOSU_UAPI_BO_CREATE, &b), 0);
	return b.handle;
}

static uint32_t make_stream(int fd, enum network_id id)
{
	struct ethosu_uapi_stream s = { 0 };

	network_read(id, &rig);
	s.size = (uint32_t)rig.p.stream.size;
	s.data = (uintptr_t)rig.p.stream.data;
	assert_int_equal(call(fd, ETHOSU_UAPI_STREAM, &s), 0);
	return s.handle;
}

static int submit(int fd, struct ethosu_uapi_job *jobs, uint32_t count)
{
	struct ethosu_uapi_submit s = { .jobs = (uintptr_t)jobs, .count = count };

	return call(fd, ETHOSU_UAPI_SUBMIT, &s);
}

static int wait_for(int fd, uint32_t handle, int64_t deadline)
{
	struct ethosu_uapi_wait w = { .handle = handle, .deadline = deadline };

	return call(fd, ETHOSU_UAPI_BO_WAIT, &w);
}

static int close_handle(int fd, uint32_t handle)
{
	struct drm_uapi_close c = { .handle = handle };

	return call(fd, DRM_UAPI_CLOSE, &c);
}

static void numbers_and_sizes_are_those_of_the_kernel(void **state)
{
	(void)state;
	assert_int_equal(ETHOSU_UAPI_QUERY, 0xC0106440);
	assert_int_equal(ETHOSU_UAPI_BO_CREATE, 0xC0106441);
	assert_int_equal(ETHOSU_UAPI_BO_WAIT, 0xC0106442);
	assert_int_equal(ETHOSU_UAPI_BO_MMAP, 0xC0106443);
	assert_int_equal(ETHOSU_UAPI_STREAM, 0xC0186444);
	assert_int_equal(ETHOSU_UAPI_SUBMIT, 0xC0106445);
	assert_int_equal(sizeof(struct ethosu_uapi_job), 40);
	assert_int_equal(offsetof(struct ethosu_uapi_job, regions), 8);
	assert_int_equal(offsetof(struct ethosu_uapi_stream, handle), 16);
	assert_int_equal(offsetof(struct ethosu_uapi_buffer, handle), 12);
}

static void queries_fill_in_what_both_sides_know(void **state)
{
	uint32_t info[8];
	struct ethosu_uapi_query q = { 0 };
	int fd = begin();

	(void)state;
	assert_int_equal(call(fd, ETHOSU_UAPI_QUERY, &q), 0);
	assert_int_equal(q.size, 16);
	memset(info, 0xff, sizeof(info));
	q = (struct ethosu_uapi_query){ 0, 24, (uintptr_t)info };
	assert_int_equal(call(fd, ETHOSU_UAPI_QUERY, &q), 0);
	assert_int_equal(q.size, 24);
	assert_int_equal(info[1], npu.config);
	assert_int_equal(info[4], 0);
	assert_int_equal(info[6], 0xffffffff);
	npu.info_size = 12;
	q.size = 16;
	assert_int_equal(call(fd, ETHOSU_UAPI_QUERY, &q), 0);
	assert_int_equal(info[3], 0);
	q.size = 11;
	assert_int_equal(call(fd, ETHOSU_UAPI_QUERY, &q), EINVAL);
	q.size = 12;
	q.type = 1;
	assert_int_equal(call(fd, ETHOSU_UAPI_QUERY, &q), EINVAL);
	q = (struct ethosu_uapi_query){ 0, 16, 8 };
	assert_int_equal(call(fd, ETHOSU_UAPI_QUERY, &q), EFAULT);
	end(fd);
}

static void calls_that_do_not_exist_are_refused(void **state)
{
	uint64_t bytes[16] = { 0 };
	int fd = begin();

	(void)state;
	assert_int_equal(call(fd, _IOWR('d', 0x60, uint64_t), bytes), EINVAL);
	assert_int_equal(call(fd, _IOWR('x', 0x41, uint64_t), bytes), ENOTTY);
	/* no dumb buffers (DRM_IOCTL_MODE_CREATE_DUMB), and no syncobjs */
	assert_int_equal(call(fd, _IOC(_IOC_READ | _IOC_WRITE, 'd', 0xb2, 32), bytes), EINVAL);
	/* a longer struct of a later header */
	bytes[0] = 100;
	assert_int_equal(call(fd, _IOC(_IOC_READ | _IOC_WRITE, 'd', 0x41, 32), bytes), 0);
	assert_int_equal(bytes[0], NPU_PAGE);
	assert_int_equal(close_handle(fd, (uint32_t)(bytes[1] >> 32)), 0);
	npu.unplugged = true;
	assert_int_equal(call(fd, ETHOSU_UAPI_BO_CREATE, bytes), ENODEV);
	npu.unplugged = false;
	end(fd);
}

static void buffers_are_whole_pages_of_memory_that_ends(void **state)
{
	struct ethosu_uapi_buffer b = { .size = 0 };
	int fd = begin();
	uint32_t first;

	(void)state;
	assert_int_equal(call(fd, ETHOSU_UAPI_BO_CREATE, &b), EINVAL);
	b = (struct ethosu_uapi_buffer){ .size = 1, .flags = 2 };
	assert_int_equal(call(fd, ETHOSU_UAPI_BO_CREATE, &b), EINVAL);
	b = (struct ethosu_uapi_buffer){ .size = npu.memory + 1 };
	assert_int_equal(call(fd, ETHOSU_UAPI_BO_CREATE, &b), ENOMEM);
	first = make_buffer(fd, NPU_PAGE + 1);
	assert_int_equal(first, 1);
	assert_int_equal(make_buffer(fd, 1), 2);
	/* the number of a handle that was closed is the next one's */
	assert_int_equal(close_handle(fd, first), 0);
	assert_int_equal(close_handle(fd, first), EINVAL);
	assert_int_equal(make_buffer(fd, 1), first);
	faulty_calls.close(fd);
	assert_int_equal(npu.left_handles, 2);
	assert_int_equal(npu_left(), 0);
	assert_nothing_open();
}

static void *map(int fd, size_t size, uint64_t offset)
{
	void *at = faulty_calls.mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				     (off_t)offset);

	return at == MAP_FAILED ? NULL : at;
}

static void mappings_belong_to_a_descriptor(void **state)
{
	int fd = begin(), other = open_node();
	struct ethosu_uapi_buffer hidden = { .size = 1, .flags = ETHOSU_UAPI_NO_MMAP };
	struct ethosu_uapi_mmap m = { .handle = make_buffer(fd, 1) };
	void *at;

	(void)state;
	assert_int_equal(call(other, ETHOSU_UAPI_BO_MMAP, &m), ENOENT);
	assert_int_equal(call(fd, ETHOSU_UAPI_BO_MMAP, &m), 0);
	assert_null(map(other, NPU_PAGE, m.offset));
	assert_int_equal(errno, EACCES);
	assert_null(map(fd, NPU_PAGE + 1, m.offset));
	assert_int_equal(errno, EINVAL);
	at = map(fd, NPU_PAGE, m.offset);
	assert_non_null(at);
	faulty_calls.munmap(at, NPU_PAGE);
	m.pad = 1;
	assert_int_equal(call(fd, ETHOSU_UAPI_BO_MMAP, &m), EINVAL);
	/* these have an offset, and no mapping */
	assert_int_equal(call(fd, ETHOSU_UAPI_BO_CREATE, &hidden), 0);
	m = (struct ethosu_uapi_mmap){ .handle = hidden.handle };
	assert_int_equal(call(fd, ETHOSU_UAPI_BO_MMAP, &m), 0);
	assert_null(map(fd, NPU_PAGE, m.offset));
	assert_int_equal(errno, EINVAL);
	m = (struct ethosu_uapi_mmap){ .handle = make_stream(fd, CONVOLUTION) };
	assert_int_equal(call(fd, ETHOSU_UAPI_BO_MMAP, &m), 0);
	assert_null(map(fd, NPU_PAGE, m.offset));
	assert_int_equal(errno, EINVAL);
	faulty_calls.close(other);
	end(fd);
}

static void streams_are_judged_when_they_are_handed_over(void **state)
{
	struct ethosu_uapi_stream good, s;
	int fd = begin();

	(void)state;
	network_read(CONVOLUTION, &rig);
	good = (struct ethosu_uapi_stream){ .size = (uint32_t)rig.p.stream.size,
					    .data = (uintptr_t)rig.p.stream.data };
	s = good;
	s.size = 0;
	assert_int_equal(call(fd, ETHOSU_UAPI_STREAM, &s), EINVAL);
	s = good;
	s.data = 0;
	assert_int_equal(call(fd, ETHOSU_UAPI_STREAM, &s), EINVAL);
	s = good;
	s.flags = 1;
	assert_int_equal(call(fd, ETHOSU_UAPI_STREAM, &s), EINVAL);
	s = good;
	s.pad = 1;
	assert_int_equal(call(fd, ETHOSU_UAPI_STREAM, &s), EINVAL);
	s = good;
	s.data = 8;
	assert_int_equal(call(fd, ETHOSU_UAPI_STREAM, &s), EFAULT);
	/* from the second command on: maps without setters */
	s = good;
	s.data += 0x120 - 32;
	s.size -= 0x120 - 32;
	assert_int_equal(call(fd, ETHOSU_UAPI_STREAM, &s), EINVAL);
	assert_int_equal(call(fd, ETHOSU_UAPI_STREAM, &good), 0);
	assert_int_equal(good.handle, 1);
	end(fd);
}

/* The padding of the container is read as pools without setters. */
static void a_stream_with_its_container_is_refused(void **state)
{
	struct ethosu_uapi_stream s;
	int fd = begin();

	(void)state;
	network_read(CONVOLUTION, &rig);
	s = (struct ethosu_uapi_stream){ .size = 32 + (uint32_t)rig.p.stream.size,
					 .data = (uintptr_t)rig.payload };
	assert_int_equal(call(fd, ETHOSU_UAPI_STREAM, &s), EINVAL);
	end(fd);
}

static void jobs_name_a_buffer_for_each_region_in_use_and_no_other(void **state)
{
	int fd = begin(), other = open_node();
	const uint32_t stream = make_stream(fd, CONVOLUTION);
	const uint32_t constants = make_buffer(fd, 496), arena = make_buffer(fd, 2048);
	const struct ethosu_uapi_job good = { .stream = stream, .regions = { constants, arena } };
	struct ethosu_uapi_job j[2] = { good, good };
	struct ethosu_uapi_submit s = { .jobs = (uintptr_t)j, .count = 1, .pad = 1 };

	(void)state;
	assert_int_equal(call(fd, ETHOSU_UAPI_SUBMIT, &s), EINVAL);
	s = (struct ethosu_uapi_submit){ .jobs = 8, .count = 1 };
	assert_int_equal(call(fd, ETHOSU_UAPI_SUBMIT, &s), EFAULT);
	assert_int_equal(submit(fd, j, 0), 0);
	j[0].stream = 40;
	assert_int_equal(submit(fd, j, 1), ENOENT);
	j[0].stream = arena;
	assert_int_equal(submit(fd, j, 1), EINVAL);
	j[0] = good;
	j[0].regions[1] = 0;
	assert_int_equal(submit(fd, j, 1), ENOENT);
	j[0].regions[1] = stream;
	assert_int_equal(submit(fd, j, 1), EINVAL);
	j[0] = good;
	j[0].regions[5] = arena;
	assert_int_equal(submit(fd, j, 1), EINVAL);
	j[0] = good;
	j[0].regions[0] = arena;
	assert_int_equal(submit(fd, j, 1), EALREADY);
	j[0] = good;
	j[0].regions[2] = arena;
	j[0].sram_size = 16;
	assert_int_equal(submit(fd, j, 1), EINVAL);
	j[0] = good;
	j[0].sram_size = npu.sram_size + 1;
	assert_int_equal(submit(fd, j, 1), EINVAL);
	/* handles belong to a descriptor */
	assert_int_equal(submit(other, (struct ethosu_uapi_job[]){ good }, 1), ENOENT);
	assert_int_equal(npu.jobs, 0);
	/* the second job of a call is refused, and the first is queued */
	j[0] = j[1] = good;
	j[1].stream = 40;
	assert_int_equal(submit(fd, j, 2), ENOENT);
	assert_int_equal(wait_for(fd, arena, INT64_MAX), 0);
	assert_int_equal(npu.jobs, 1);
	faulty_calls.close(other);
	end(fd);
}

static void a_buffer_that_is_a_page_short_is_refused(void **state)
{
	int fd = begin();
	const uint32_t stream = make_stream(fd, FALLBACK_0);
	struct ethosu_uapi_job j = { .stream = stream,
				     .regions = { make_buffer(fd, 1776), make_buffer(fd, 4096) } };

	(void)state;
	assert_int_equal(submit(fd, &j, 1), EOVERFLOW);
	j.regions[1] = make_buffer(fd, 8192);
	assert_int_equal(submit(fd, &j, 1), 0);
	end(fd);
}

static void region_2_is_in_sram_or_in_a_buffer(void **state)
{
	int fd = begin();
	const uint32_t stream = make_stream(fd, SOFTMAX);
	struct ethosu_uapi_job j = { .stream = stream,
				     .regions = { make_buffer(fd, 6496), make_buffer(fd, 768) } };

	(void)state;
	/* later kernels take it without a size, and do not set the address: the job fails */
	assert_int_equal(submit(fd, &j, 1), 0);
	assert_int_equal(wait_for(fd, j.regions[1], INT64_MAX), 0);
	assert_int_equal(npu.resets, 1);
	npu.sram_size = 100;
	assert_int_equal(submit(fd, &j, 1), EINVAL);
	npu.generation = 1;
	assert_int_equal(submit(fd, &j, 1), ENOENT);
	/* the first generation does not compare sizes */
	j.sram_size = 16;
	assert_int_equal(submit(fd, &j, 1), 0);
	end(fd);
}

static void waits_are_absolute_and_for_writers_alone(void **state)
{
	int fd = begin();
	const uint32_t stream = make_stream(fd, CONVOLUTION);
	struct ethosu_uapi_job j = { .stream = stream,
				     .regions = { make_buffer(fd, 496), make_buffer(fd, 2048) } };
	struct ethosu_uapi_wait w = { .handle = j.regions[1], .pad = 1 };

	(void)state;
	assert_int_equal(submit(fd, &j, 1), 0);
	assert_int_equal(call(fd, ETHOSU_UAPI_BO_WAIT, &w), EINVAL);
	assert_int_equal(wait_for(fd, 40, INT64_MAX), EINVAL);
	assert_int_equal(wait_for(fd, j.regions[1], 0), ETIME);
	/* a second from now, had it been relative */
	assert_int_equal(wait_for(fd, j.regions[1], (int64_t)NPU_SECOND), ETIME);
	/* constants have no fence */
	assert_int_equal(wait_for(fd, j.regions[0], 0), 0);
	assert_int_equal(npu.jobs, 0);
	assert_int_equal(wait_for(fd, j.regions[1], (int64_t)(npu.now + NPU_SECOND)), 0);
	assert_int_equal(npu.jobs, 1);
	end(fd);
}

static int export_buffer(int fd, uint32_t handle)
{
	struct drm_uapi_prime p = { .handle = handle, .flags = O_CLOEXEC | O_RDWR };

	assert_int_equal(call(fd, DRM_UAPI_HANDLE_TO_FD, &p), 0);
	return p.fd;
}

static int export_fence(int buffer)
{
	struct dmabuf_uapi_fence f = { .flags = DMABUF_UAPI_READ };

	assert_int_equal(call(buffer, DMABUF_UAPI_EXPORT, &f), 0);
	return f.fd;
}

static int status_of(int fence)
{
	struct sync_uapi_info info = { .status = 77 };

	assert_int_equal(call(fence, SYNC_UAPI_INFO, &info), 0);
	return info.status;
}

static void a_hang_resets_the_device_and_all_jobs_that_wait(void **state)
{
	static const enum npu_fate fates[] = { NPU_HANGS };
	int fd = begin(), buffer, fences[2];
	const uint32_t stream = make_stream(fd, CONVOLUTION);
	struct ethosu_uapi_job j = { .stream = stream,
				     .regions = { make_buffer(fd, 496), make_buffer(fd, 2048) } };

	(void)state;
	npu.fates = fates;
	npu.fate_count = 1;
	buffer = export_buffer(fd, j.regions[1]);
	assert_int_equal(submit(fd, &j, 1), 0);
	fences[0] = export_fence(buffer);
	assert_int_equal(submit(fd, &j, 1), 0);
	fences[1] = export_fence(buffer);
	npu_pass_time(NPU_SECOND / 2);
	assert_int_equal(status_of(fences[0]), 0);
	npu_pass_time(NPU_SECOND / 5);
	assert_int_equal(status_of(fences[0]), -ECANCELED);
	assert_int_equal(status_of(fences[1]), -ECANCELED);
	assert_int_equal(npu.resets, 1);
	/* and the wait succeeds */
	assert_int_equal(wait_for(fd, j.regions[1], 0), 0);
	faulty_calls.close(fences[0]);
	/* a fence that is taken too late says that all is well */
	fences[0] = export_fence(buffer);
	assert_int_equal(status_of(fences[0]), 1);
	faulty_calls.close(fences[0]);
	faulty_calls.close(fences[1]);
	faulty_calls.close(buffer);
	end(fd);
}

static void foreign_buffers_are_not_imported(void **state)
{
	int fd = begin(), other = open_node();
	int foreign = memfd_create("foreign", MFD_CLOEXEC);
	struct drm_uapi_prime p = { .fd = foreign };
	int own = export_buffer(fd, make_buffer(fd, 1));

	(void)state;
	assert_int_equal(call(fd, DRM_UAPI_FD_TO_HANDLE, &p), EINVAL);
	p.fd = own;
	assert_int_equal(call(other, DRM_UAPI_FD_TO_HANDLE, &p), 0);
	assert_int_equal(p.handle, 1);
	assert_int_equal(call(other, DRM_UAPI_FD_TO_HANDLE, &p), 0);
	assert_int_equal(p.handle, 1);
	close(foreign);
	faulty_calls.close(own);
	faulty_calls.close(other);
	end(fd);
}

/* Jobs keep what they use: handles may be closed, and the descriptor too. */
static void jobs_outlive_their_handles(void **state)
{
	int fd = begin();
	struct ethosu_uapi_job j = { .stream = make_stream(fd, CONVOLUTION) };

	(void)state;
	j.regions[0] = make_buffer(fd, 496);
	j.regions[1] = make_buffer(fd, 2048);
	assert_int_equal(submit(fd, &j, 1), 0);
	assert_int_equal(close_handle(fd, j.stream), 0);
	assert_int_equal(close_handle(fd, j.regions[0]), 0);
	assert_int_equal(close_handle(fd, j.regions[1]), 0);
	assert_int_equal(npu_left(), 5);
	faulty_calls.close(fd);
	assert_int_equal(npu_left(), 4);
	npu_pass_time(NPU_SECOND);
	assert_int_equal(npu.jobs, 1);
	assert_int_equal(npu.resets, 1); /* there were no weights */
	assert_int_equal(npu_left(), 0);
	assert_nothing_open();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_sizes_are_those_of_the_kernel),
		cmocka_unit_test(queries_fill_in_what_both_sides_know),
		cmocka_unit_test(calls_that_do_not_exist_are_refused),
		cmocka_unit_test(buffers_are_whole_pages_of_memory_that_ends),
		cmocka_unit_test(mappings_belong_to_a_descriptor),
		cmocka_unit_test(streams_are_judged_when_they_are_handed_over),
		cmocka_unit_test(a_stream_with_its_container_is_refused),
		cmocka_unit_test(jobs_name_a_buffer_for_each_region_in_use_and_no_other),
		cmocka_unit_test(a_buffer_that_is_a_page_short_is_refused),
		cmocka_unit_test(region_2_is_in_sram_or_in_a_buffer),
		cmocka_unit_test(waits_are_absolute_and_for_writers_alone),
		cmocka_unit_test(a_hang_resets_the_device_and_all_jobs_that_wait),
		cmocka_unit_test(foreign_buffers_are_not_imported),
		cmocka_unit_test(jobs_outlive_their_handles),
	};

	return cmocka_run_group_tests(tests, tree_setup, tree_teardown);
}

/* SPDX-License-Identifier: MIT */
/*
 * Memory that ethosu://accel/0 uses where it is, on the kernel's model (a named fake): buffers of the device, dma-bufs, and the
 * arena of a program. What does not fit is copied.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tenon/device.h>
#include <tenon/ethosu.h>
#include <tenon/executable.h>
#include <tenon/memory.h>
#include <tenon/queue.h>

#include "devices/ethosu/ethosu_device.h"
#include "driver/dmabuf/dmabuf_uapi.h"
#include "runtime/tflite/npu_parts.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/accel_session.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

static uint64_t copied(const struct model_session *s)
{
	struct ethosu_device *d = (struct ethosu_device *)s->device;
	const uint64_t bytes = d->copied;

	d->copied = 0;
	return bytes;
}

static struct tenon_memory *buffer_of(const struct model_session *s, uint64_t size)
{
	const struct tenon_memory_request request = { sizeof(request), size, TENON_MEMORY_DEFAULT,
						      ETHOSU_HEAP_OWN, NULL };
	struct tenon_memory *m;

	if (tenon_memory_alloc(s->device, &request, &m))
		fail_msg("%s", tenon_error_message());
	return m;
}

static struct tenon_memory *part_of(struct tenon_memory *whole, uint64_t offset, uint64_t size)
{
	struct tenon_memory *m;

	assert_int_equal(tenon_memory_subrange(whole, offset, size, &m), 0);
	return m;
}

/* Takes @m over, and fills it if it is an input. */
static void give(struct model_session *s, size_t i, struct tenon_memory *m)
{
	static uint8_t bytes[FILE_MOST];
	const size_t size = network_file(s->model->folder, s->model->arguments[i], bytes);

	tenon_object_unref(s->memory[i]);
	s->memory[i] = m;
	s->arguments[i] = (uintptr_t)m;
	/* nothing on the queue uses the memory, so the CPU writes it */
	if (i + 1 < s->model->count)
		memcpy(m->host, bytes, size);
	else
		memset(m->host, 0xee, size);
}

/* Both inputs are in region 3, so they have one buffer. */
static void give_buffers(struct model_session *s)
{
	struct tenon_memory *in = buffer_of(s, 1152);

	give(s, 0, part_of(in, 0, 576));
	give(s, 1, part_of(in, 576, 576));
	give(s, 2, buffer_of(s, 576));
	tenon_object_unref(in);
}

static void run_right(struct model_session *s, uint64_t bytes)
{
	if (model_session_run(s))
		fail_msg("%s", tenon_error_message());
	assert_int_equal(copied(s), bytes);
	model_session_assert_output(s);
}

static void tensors_in_buffers_of_the_device_are_not_copied(void **state)
{
	struct tenon_memory_request request = { .size = sizeof(request),
						.usage = TENON_MEMORY_DEFAULT };
	struct model_session s;
	struct tenon_memory *m;

	(void)state;
	accel_session_start(&s, &accel_models[1]);
	run_right(&s, 1152 + 576);
	give_buffers(&s);
	run_right(&s, 0);
	print_message("bytes copied for an inference: 0 in buffers of the kernel, %d in memory of "
		      "the process\n",
		      1152 + 576);
	/* other buffers get the handles that those before had */
	give_buffers(&s);
	run_right(&s, 0);
	/* and memory of the process may come back, for one of them */
	request.bytes = 576;
	assert_int_equal(tenon_memory_alloc(s.device, &request, &m), 0);
	give(&s, 2, m);
	run_right(&s, 576);
	give_buffers(&s);
	run_right(&s, 0);
	accel_session_stop(&s);
}

static void buffers_that_do_not_fit_a_region_are_copied(void **state)
{
	struct tenon_memory *in;
	struct model_session s;

	(void)state;
	accel_session_start(&s, &accel_models[1]);
	give_buffers(&s);
	in = buffer_of(&s, 4096);
	/* not where the stream has them */
	give(&s, 0, part_of(in, 576, 576));
	give(&s, 1, part_of(in, 0, 576));
	run_right(&s, 1152);
	/* in two buffers, of which a region has one */
	give(&s, 0, buffer_of(&s, 576));
	give(&s, 1, buffer_of(&s, 576));
	run_right(&s, 1152);
	/* the output at the place of the first input, which the kernel takes for one region alone */
	give(&s, 0, part_of(in, 0, 576));
	give(&s, 1, part_of(in, 576, 576));
	give(&s, 2, part_of(in, 0, 576));
	give(&s, 0, part_of(in, 0, 576));
	run_right(&s, 576);
	tenon_object_unref(in);
	accel_session_stop(&s);
	/* the arena has more than tensors, and is the network's own */
	accel_session_start(&s, &accel_models[0]);
	give(&s, 0, buffer_of(&s, 1024));
	give(&s, 1, buffer_of(&s, 1024));
	run_right(&s, 2048);
	accel_session_stop(&s);
}

static void buffers_may_change_their_regions(void **state)
{
	struct tenon_memory *one, *other;
	struct model_session s;
	unsigned int i;

	(void)state;
	accel_session_start(&s, &accel_models[1]);
	one = buffer_of(&s, 4096);
	other = buffer_of(&s, 4096);
	for (i = 0; i < 4; i++) {
		give(&s, 0, part_of(i & 1 ? one : other, 0, 576));
		give(&s, 1, part_of(i & 1 ? one : other, 576, 576));
		give(&s, 2, part_of(i & 1 ? other : one, 0, 576));
		run_right(&s, 0);
	}
	tenon_object_unref(one);
	tenon_object_unref(other);
	accel_session_stop(&s);
}

/* The kernel gives the lowest free handle: here that of the region's neighbour in the run before. */
static void the_handles_of_buffers_may_return_for_other_regions(void **state)
{
	struct tenon_memory *in, *out;
	struct model_session s;
	size_t i;

	(void)state;
	accel_session_start(&s, &accel_models[1]);
	give_buffers(&s);
	run_right(&s, 0);
	for (i = 0; i < 3; i++) {
		tenon_object_unref(s.memory[i]);
		s.memory[i] = NULL;
	}
	assert_int_equal(tenon_queue_sync(s.queue, UINT64_MAX), 0);
	out = buffer_of(&s, 1152);
	in = buffer_of(&s, 1152);
	give(&s, 0, part_of(in, 0, 576));
	give(&s, 1, part_of(in, 576, 576));
	give(&s, 2, part_of(out, 0, 576));
	tenon_object_unref(in);
	tenon_object_unref(out);
	run_right(&s, 0);
	accel_session_stop(&s);
}

/* The caller may free what a job uses, and a network that runs. */
static void buffers_and_networks_of_a_job_are_kept_until_it_ends(void **state)
{
	struct model_session s;

	(void)state;
	accel_session_start(&s, &accel_models[1]);
	give_buffers(&s);
	accel_session_hold_jobs(&s);
	assert_int_equal(model_session_dispatch(&s), 0);
	give_buffers(&s);
	assert_int_equal(model_session_dispatch(&s), 0);
	tenon_object_unref(s.executable);
	s.executable = NULL;
	tenon_program_free(s.program);
	s.program = NULL;
	accel_session_assert_pending(&s);
	npu_end_jobs();
	assert_int_equal(tenon_queue_sync(s.queue, UINT64_MAX), 0);
	assert_int_equal(copied(&s), 0);
	model_session_assert_output(&s);
	assert_int_equal(npu_ended(), 2);
	accel_session_stop(&s);
}

#define RUNS 501

static struct system_calls watched;
static uint64_t submitted_at;

static int watched_ioctl(int fd, unsigned long request, void *argument)
{
	if (request == ETHOSU_UAPI_SUBMIT)
		submitted_at = tenon_now();
	return npu_calls.ioctl(fd, request, argument);
}

static int compare_times(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Time is printed, and no verdict: goals are those of an idle machine. */
static void a_launch_in_place_is_one_submission(void **state)
{
	static uint64_t times[RUNS];
	struct model_session s;
	unsigned int i;

	(void)state;
	watched = npu_calls;
	watched.ioctl = watched_ioctl;
	faults_over(&watched);
	npu.submits = 0;
	accel_session_start(&s, &accel_models[1]);
	give_buffers(&s);
	for (i = 0; i < RUNS; i++) {
		const uint64_t before = tenon_now();

		assert_int_equal(model_session_run(&s), 0);
		times[i] = submitted_at - before;
	}
	assert_int_equal(npu.submits, RUNS);
	assert_int_equal(copied(&s), 0);
	model_session_assert_output(&s);
	accel_session_stop(&s);
	faults_over(&npu_calls);
	qsort(times, RUNS, sizeof(*times), compare_times);
	print_message("from the launch on a queue to the submission: %llu ns (median "
		      "of %d); bytes copied for an inference: 0\n",
		      (unsigned long long)times[RUNS / 2], RUNS);
}

static int import(const struct model_session *s, int fd, uint64_t size, struct tenon_memory **out)
{
	const struct tenon_memory_import from = { .size = sizeof(from),
						  .type = TENON_HANDLE_DMA_BUF,
						  .fd = fd,
						  .bytes = size,
						  .usage = TENON_MEMORY_DEFAULT };

	return tenon_memory_import(s->device, &from, out);
}

static void dma_bufs_of_the_driver_are_not_copied(void **state)
{
	struct tenon_memory_request request = { sizeof(request), 576,
						TENON_MEMORY_DEFAULT | TENON_MEMORY_EXPORT, -1,
						NULL };
	struct tenon_memory *m, *again;
	struct model_session s;
	int fd;

	(void)state;
	accel_session_start(&s, &accel_models[1]);
	give_buffers(&s);
	assert_int_equal(tenon_memory_alloc(s.device, &request, &m), 0);
	assert_int_equal(tenon_memory_export(m, TENON_HANDLE_DMA_BUF, &fd), 0);
	assert_int_equal(import(&s, fd, 5000, &again), -TENON_E_VALUE);
	assert_error_has("has 4096 bytes");
	assert_int_equal(import(&s, fd, 576, &again), 0);
	faulty_calls.close(fd);
	/* one handle, which the last of both ends */
	tenon_object_unref(m);
	give(&s, 2, again);
	assert_int_equal(tenon_memory_invalidate(again, 0, 576), 0);
	run_right(&s, 0);
	assert_int_equal(tenon_memory_flush(again, 0, 576), 0);
	request.heap = ETHOSU_HEAP_PROCESS;
	assert_int_equal(tenon_memory_alloc(s.device, &request, &m), -TENON_E_UNSUPPORTED);
	assert_error_has("ask for heap 1");
	accel_session_stop(&s);
}

/* ---- dma-bufs of others: a memfd stands for one, and these calls for what its driver does in accesses (a named fake) */

static struct system_calls with_foreign;
static uint64_t accesses[4];
static unsigned int access_count;

static int foreign_ioctl(int fd, unsigned long request, void *argument)
{
	if (request != DMABUF_UAPI_SYNC)
		return npu_calls.ioctl(fd, request, argument);
	assert_true(access_count < 4);
	accesses[access_count++] = ((const struct dmabuf_uapi_sync *)argument)->flags;
	return 0;
}

static void dma_bufs_of_others_are_copied(void **state)
{
	int fd = memfd_create("foreign", MFD_CLOEXEC);
	struct tenon_memory *m;
	struct model_session s;

	(void)state;
	with_foreign = npu_calls;
	with_foreign.ioctl = foreign_ioctl;
	faults_over(&with_foreign);
	access_count = 0;
	assert_int_equal(ftruncate(fd, 4096), 0);
	accel_session_start(&s, &accel_models[1]);
	give_buffers(&s);
	if (import(&s, fd, 576, &m))
		fail_msg("%s", tenon_error_message());
	close(fd);
	assert_int_equal(tenon_memory_invalidate(m, 0, 576), 0);
	give(&s, 2, m);
	run_right(&s, 576);
	assert_int_equal(tenon_memory_flush(m, 0, 576), 0);
	assert_int_equal(access_count, 2);
	assert_int_equal(accesses[0], DMABUF_UAPI_BOTH);
	assert_int_equal(accesses[1], DMABUF_UAPI_BOTH | DMABUF_UAPI_END);
	accel_session_stop(&s);
	faults_over(&npu_calls);
}

/* ---- a network in parts */

static struct npu_tensor tensor_of(const struct ethosu_container *c, enum ethosu_role role)
{
	const struct ethosu_tensor t = ethosu_container_tensor(c, role, 0);

	return (struct npu_tensor){ (uint32_t)t.region, t.offset, t.bytes };
}

/**
 * struct in_parts - a network as its parts
 * @file: that the constants are in
 * @payload: of the driver
 * @tensors: its input and its output
 * @op: all of it
 * @parts: the same as a program's code
 * @info: of its kernel, with constants
 * @program: with @info
 */
struct in_parts {
	uint8_t file[FILE_MOST], payload[FILE_MOST];
	struct npu_tensor tensors[2];
	struct npu_operator op;
	struct tenon_buffer parts;
	struct tenon_kernel_info info;
	struct tenon_program program;
};

static void make_parts(struct in_parts *n, bool is_given)
{
	struct ethosu_container contents;
	struct tenon_cursor c;

	memset(n, 0, sizeof(*n));
	c = tenon_cursor_of(n->file, network_file("u65_conv1x1", "u65.npz", n->file), "npz", 0);
	assert_int_equal(ethosu_container_read(&c, &contents), 0);
	n->tensors[0] = tensor_of(&contents, ETHOSU_INPUT);
	n->tensors[1] = tensor_of(&contents, ETHOSU_OUTPUT);
	n->op.payload =
		(struct tenon_slice){ (const char *)n->payload,
				      network_file("u65_conv1x1", "payload.bin", n->payload) };
	n->op.constants = contents.constants;
	n->op.arena = contents.sizes[NPU_ARENA];
	n->op.is_given = is_given;
	n->op.tensors = n->tensors;
	n->op.input_count = n->op.output_count = 1;
	assert_int_equal(npu_parts(&n->op, &n->parts), 0);
}

static struct tenon_program *read_parts(const struct in_parts *n)
{
	struct tenon_program *p;

	if (tenon_program_read(tenon_slice_of("ethos-u"), TENON_GENERATION_NONE,
			       (struct tenon_slice){ n->parts.data, n->parts.size }, "parts", &p))
		fail_msg("%s", tenon_error_message());
	return p;
}

/* Read from a file or a module, a network in parts has no constants: only a program gives them. */
static void a_network_in_parts_needs_constants_of_its_program(void **state)
{
	static struct in_parts n;
	struct tenon_executable *e;
	struct tenon_program *p;
	struct tenon_kernel *k;
	struct tenon_device *d;

	(void)state;
	make_parts(&n, false);
	/* it has none of the constants' bytes */
	assert_true(n.parts.size < n.op.payload.size + 512);
	assert_int_equal(tenon_device_open("ethosu://sim", &d), 0);
	p = read_parts(&n);
	assert_int_equal(tenon_executable_create(d, p, NULL, &e), 0);
	assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_FORMAT);
	assert_error_has("bytes of constants");
	tenon_object_unref(e);
	tenon_program_free(p);
	tenon_object_unref(d);
	tenon_buffer_fini(&n.parts);
}

/* The device of the session has the network of parts in the place of its file. */
static void start_given(struct model_session *s, struct in_parts *n)
{
	accel_session_start(s, &accel_models[0]);
	tenon_object_unref(s->executable);
	tenon_program_free(s->program);
	s->program = read_parts(n);
	n->info = s->program->kernels[0];
	n->info.code = n->op.constants;
	n->program = *s->program;
	n->program.kernels = &n->info;
	assert_int_equal(tenon_executable_create(s->device, &n->program, NULL, &s->executable), 0);
	if (tenon_executable_kernel(s->executable, 0, &s->kernel))
		fail_msg("%s", tenon_error_message());
}

static void give_arena(struct model_session *s, const struct in_parts *n)
{
	struct tenon_memory *arena = buffer_of(s, n->op.arena);

	give(s, 0, part_of(arena, n->tensors[0].offset, n->tensors[0].bytes));
	give(s, 1, part_of(arena, n->tensors[1].offset, n->tensors[1].bytes));
	tenon_object_unref(arena);
}

/* The network has no memory of its own for the region once a run used the program's. */
static void a_run_without_the_memory_of_the_program_is_refused_and_the_next_goes_on(void **state)
{
	static struct in_parts n;
	struct model_session s;
	unsigned int i;

	(void)state;
	make_parts(&n, true);
	start_given(&s, &n);
	for (i = 0; i < 3; i++) {
		give(&s, 0, buffer_of(&s, n.tensors[0].bytes));
		give(&s, 1, buffer_of(&s, n.tensors[1].bytes));
		assert_int_equal(model_session_run(&s), -TENON_E_VALUE);
		assert_error_has("are not at their places in one piece");
		give_arena(&s, &n);
		run_right(&s, 0);
	}
	assert_int_equal(npu.jobs, 3);
	accel_session_stop(&s);
	tenon_buffer_fini(&n.parts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tensors_in_buffers_of_the_device_are_not_copied,
				       accel_session_begin),
		cmocka_unit_test_setup(buffers_that_do_not_fit_a_region_are_copied,
				       accel_session_begin),
		cmocka_unit_test_setup(buffers_may_change_their_regions, accel_session_begin),
		cmocka_unit_test_setup(the_handles_of_buffers_may_return_for_other_regions,
				       accel_session_begin),
		cmocka_unit_test_setup(buffers_and_networks_of_a_job_are_kept_until_it_ends,
				       accel_session_begin),
		cmocka_unit_test_setup(a_launch_in_place_is_one_submission, accel_session_begin),
		cmocka_unit_test_setup(dma_bufs_of_the_driver_are_not_copied, accel_session_begin),
		cmocka_unit_test_setup(dma_bufs_of_others_are_copied, accel_session_begin),
		cmocka_unit_test_setup(a_network_in_parts_needs_constants_of_its_program,
				       accel_session_begin),
		cmocka_unit_test_setup(
			a_run_without_the_memory_of_the_program_is_refused_and_the_next_goes_on,
			accel_session_begin),
	};

	return cmocka_run_group_tests(tests, accel_session_begin_all, tree_teardown);
}

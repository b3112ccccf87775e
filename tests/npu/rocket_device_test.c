/* SPDX-License-Identifier: MIT */
/* rocket://accel/0 on the kernel's model (a named fake): register commands as modules. */
#include <stdio.h>
#include <stdlib.h>

#include <tenon/device.h>
#include <tenon/executable.h>
#include <tenon/memory.h>
#include <tenon/module.h>
#include <tenon/queue.h>
#include <tenon/regions.h>
#include <tenon/timeline.h>

#include "devices/rocket/rocket_device.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/npu_kernel.h"
#include "tests/npu/rocket_stream.h"
#include "tests/unit/suite.h"

static int begin(void **state)
{
	(void)state;
	npu.fates = NULL;
	npu.fate_count = 0;
	npu.jobs = npu.resets = npu.tasks = npu.dropped = 0;
	npu_set_time(tenon_now());
	npu.job_time = NPU_SECOND / 1000;
	return 0;
}

static int begin_all(void **state)
{
	int err = tree_setup(state);

	npu_start_rocket();
	faults_over(&npu_calls);
	rocket_source.calls = &faulty_calls;
	rocket_source.root = tree;
	return err;
}

/* The library keeps devices open: accel/0 and two that other cases opened. Nothing else is left. */
static void assert_only_nodes_are_open(void)
{
	npu_pass_time(NPU_SECOND);
	assert_int_equal(npu_left(), 3);
}

static void a_node_is_a_device(void **state)
{
	struct tenon_device *d;

	(void)state;
	if (tenon_device_open("rocket://accel/0", &d))
		fail_msg("%s", tenon_error_message());
	assert_string_equal(tenon_device_properties(d)->name, "rk3588");
	assert_non_null(strstr(tenon_device_properties(d)->driver, "/dev/accel/accel0"));
	tenon_object_unref(d);
	assert_int_equal(tenon_device_open("rocket://accel/1", &d), -TENON_E_DEVICE);
	assert_error_has("/dev/accel/accel1");
	assert_int_equal(tenon_device_open("rocket://accel/x", &d), -TENON_E_DEVICE);
	assert_error_has("stands for /dev/accel/accel0");
	assert_int_equal(tenon_device_open("rocket://accel/0?cores=1", &d), -TENON_E_VALUE);
	assert_error_has("has no keys");
}

#define DEVICE_TREE "/sys/firmware/devicetree/base/compatible"

/* A board's device tree has a string each of the board and of its SoC. */
static void write_device_tree(const char *soc)
{
	char path[512];
	FILE *f;

	tree_text(DEVICE_TREE, "");
	snprintf(path, sizeof(path), "%s" DEVICE_TREE, tree);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "acme,board%c%s%c", 0, soc, 0);
	assert_int_equal(fclose(f), 0);
}

static void a_device_has_the_name_and_the_cores_of_the_board_s_soc(void **state)
{
	static const struct {
		const char *soc, *name;
		uint32_t cores;
	} boards[] = {
		{ "rockchip,rk3588", "rk3588", 3 },
		{ "rockchip,rk3576", "rk3576", 2 },
		{ "rockchip,rk3568", "rk3568", 1 },
		{ "rockchip,rk3566", "rk3566", 1 },
	};
	struct tenon_device_properties p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(boards) / sizeof(*boards); i++) {
		write_device_tree(boards[i].soc);
		assert_int_equal(rocket_backend.describe(0, &p), 0);
		assert_string_equal(p.name, boards[i].name);
		assert_int_equal(p.processors, boards[i].cores);
	}
	write_device_tree("acme,soc");
	assert_int_equal(rocket_backend.describe(0, &p), -TENON_E_UNSUPPORTED);
	assert_error_has("acme,board");
	tree_drop(DEVICE_TREE);
}

static void commands_for_another_soc_are_refused(void **state)
{
	struct tenon_executable *x;
	struct tenon_program *program;
	struct tenon_device *d;
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	write_device_tree("rockchip,rk3576");
	npu.drivers[3] = "rocket";
	assert_int_equal(tenon_device_open("rocket://accel/3", &d), 0);
	assert_int_equal(sample_stream(1, &b), 0);
	assert_int_equal(tenon_program_read(tenon_slice_of("rocket"), TENON_GENERATION_NONE,
					    (struct tenon_slice){ b.data, b.size }, "sample",
					    &program),
			 0);
	assert_int_equal(tenon_executable_create(d, program, NULL, &x), -TENON_E_UNSUPPORTED);
	assert_error_has("for RK3588, and this is an RK3576");
	tenon_program_free(program);
	tenon_object_unref(d);
	tenon_buffer_fini(&b);
	tree_drop(DEVICE_TREE);
	npu.drivers[3] = NULL;
}

static void nodes_of_the_driver_are_counted(void **state)
{
	struct tenon_device *d;
	uint32_t count;

	(void)state;
	assert_int_equal(rocket_backend.count(&count), 0);
	assert_int_equal(count, 1);
	npu.drivers[1] = "ethosu";
	npu.drivers[2] = "rocket";
	assert_int_equal(rocket_backend.count(&count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(tenon_device_open("rocket:1", &d), 0);
	assert_non_null(strstr(tenon_device_properties(d)->driver, "/dev/accel/accel2"));
	tenon_object_unref(d);
	npu.drivers[1] = npu.drivers[2] = NULL;
}

/* ---- programs */

/* A program on a device, with memory for its arguments. */
struct session {
	struct tenon_device *device;
	struct tenon_queue *queue;
	struct tenon_program *program;
	struct tenon_executable *executable;
	struct tenon_kernel *kernel;
	struct tenon_memory *in, *out;
	uint64_t arguments[2];
	struct tenon_buffer payload;
};

static uint8_t bytes[SAMPLE_BYTES], found[SAMPLE_BYTES];

static void start(struct session *s, unsigned int tasks)
{
	struct tenon_memory_request request = { .size = sizeof(request),
						.bytes = SAMPLE_BYTES,
						.usage = TENON_MEMORY_DEFAULT };
	size_t i;

	memset(s, 0, sizeof(*s));
	assert_int_equal(sample_stream(tasks, &s->payload), 0);
	if (tenon_device_open("rocket://accel/0", &s->device) ||
	    tenon_queue_create(s->device, &s->queue) ||
	    tenon_program_read(tenon_slice_of("rocket"), TENON_GENERATION_NONE,
			       (struct tenon_slice){ s->payload.data, s->payload.size }, "sample",
			       &s->program) ||
	    tenon_executable_create(s->device, s->program, NULL, &s->executable) ||
	    tenon_executable_kernel(s->executable, 0, &s->kernel) ||
	    tenon_memory_alloc(s->device, &request, &s->in) ||
	    tenon_memory_alloc(s->device, &request, &s->out))
		fail_msg("%s", tenon_error_message());
	for (i = 0; i < SAMPLE_BYTES; i++)
		bytes[i] = (uint8_t)(i * 5 + 1);
	assert_int_equal(tenon_queue_write(s->queue, s->in, 0, bytes, SAMPLE_BYTES, NULL), 0);
	/* another session fills the same bytes */
	assert_int_equal(tenon_queue_sync(s->queue, UINT64_MAX), 0);
	s->arguments[0] = (uintptr_t)s->in;
	s->arguments[1] = (uintptr_t)s->out;
}

static int dispatch(struct session *s)
{
	const struct tenon_dispatch d = { .kernel = s->kernel,
					  .grid = { 1, 1, 1 },
					  .block = { 1, 1, 1 },
					  .arguments = s->arguments };

	return tenon_queue_dispatch(s->queue, &d, NULL);
}

static int run(struct session *s)
{
	int err = dispatch(s);

	return err ? err : tenon_queue_sync(s->queue, UINT64_MAX);
}

static void assert_output(struct session *s, unsigned int tasks)
{
	size_t i;

	assert_int_equal(tenon_queue_read(s->queue, found, s->out, 0, SAMPLE_BYTES, NULL), 0);
	assert_int_equal(tenon_queue_sync(s->queue, UINT64_MAX), 0);
	for (i = 0; i < SAMPLE_BYTES; i++)
		assert_int_equal(found[i], (uint8_t)(bytes[i] + tasks * SAMPLE_WEIGHT(i)));
}

static void release(struct session *s)
{
	tenon_object_unref(s->in);
	tenon_object_unref(s->out);
	tenon_object_unref(s->executable);
	tenon_program_free(s->program);
	tenon_object_unref(s->queue);
	tenon_object_unref(s->device);
	tenon_buffer_fini(&s->payload);
}

static void stop(struct session *s)
{
	release(s);
	assert_only_nodes_are_open();
}

static void register_commands_run_as_modules(void **state)
{
	struct session s;
	unsigned int tasks;

	(void)state;
	for (tasks = 1; tasks <= 2; tasks++) {
		begin(NULL);
		start(&s, tasks);
		if (run(&s) || run(&s))
			fail_msg("%s", tenon_error_message());
		assert_output(&s, tasks);
		assert_int_equal(npu.jobs, 2);
		assert_int_equal(npu.tasks, 2 * tasks);
		assert_int_equal(npu.dropped, 0);
		stop(&s);
	}
}

static void parts_of_memory_are_arguments(void **state)
{
	struct tenon_memory_request request = { .size = sizeof(request),
						.bytes = 4 * SAMPLE_BYTES,
						.usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *whole;
	struct session s;

	(void)state;
	start(&s, 2);
	tenon_object_unref(s.in);
	tenon_object_unref(s.out);
	assert_int_equal(tenon_memory_alloc(s.device, &request, &whole), 0);
	assert_int_equal(tenon_memory_subrange(whole, SAMPLE_BYTES, SAMPLE_BYTES, &s.in), 0);
	assert_int_equal(tenon_memory_subrange(whole, 3 * SAMPLE_BYTES, SAMPLE_BYTES, &s.out), 0);
	tenon_object_unref(whole);
	assert_int_equal(tenon_queue_write(s.queue, s.in, 0, bytes, SAMPLE_BYTES, NULL), 0);
	s.arguments[0] = (uintptr_t)s.in;
	s.arguments[1] = (uintptr_t)s.out;
	if (run(&s))
		fail_msg("%s", tenon_error_message());
	assert_output(&s, 2);
	stop(&s);
}

static void a_job_that_fails_is_an_error_of_the_run(void **state)
{
	struct session s;

	(void)state;
	start(&s, 2);
	npu.drops = 1;
	assert_int_equal(run(&s), -TENON_E_DEVICE);
	assert_error_has("the kernel dropped the job");
	assert_int_equal(run(&s), 0);
	assert_output(&s, 2);
	stop(&s);
}

/* ---- jobs in flight */

static void assert_pending(const struct session *s, unsigned int ended)
{
	assert_int_equal(tenon_queue_sync(s->queue, tenon_deadline(1000000)), -TENON_E_TIMEOUT);
	tenon_error_clear();
	assert_int_equal(npu_ended(), ended);
}

static void queues_have_jobs_in_flight_at_the_same_time(void **state)
{
	struct session s, other;

	(void)state;
	start(&s, 1);
	start(&other, 2);
	assert_int_equal(tenon_queue_sync(s.queue, UINT64_MAX), 0);
	assert_int_equal(tenon_queue_sync(other.queue, UINT64_MAX), 0);
	npu_hold_jobs();
	assert_int_equal(dispatch(&s), 0);
	assert_int_equal(dispatch(&other), 0);
	assert_true(npu_await_submits(2));
	assert_pending(&s, 0);
	assert_pending(&other, 0);
	npu_end_jobs();
	assert_int_equal(tenon_queue_sync(s.queue, UINT64_MAX), 0);
	assert_int_equal(tenon_queue_sync(other.queue, UINT64_MAX), 0);
	assert_int_equal(npu.most_at_once, 2);
	assert_output(&s, 1);
	assert_output(&other, 2);
	release(&other);
	stop(&s);
}

/* A second job reads what the first wrote, and a copy what the second did; nothing waits in between. */
static void operations_of_a_queue_are_submitted_without_waiting_and_done_in_order(void **state)
{
	struct tenon_timeline *t;
	struct tenon_point point;
	struct session s;
	uint64_t value;
	size_t i;

	(void)state;
	start(&s, 1);
	assert_int_equal(tenon_timeline_create(0, &t), 0);
	point = (struct tenon_point){ t, 1 };
	memset(found, 0, sizeof(found));
	npu_hold_jobs();
	assert_int_equal(dispatch(&s), 0);
	s.arguments[0] = (uintptr_t)s.out;
	s.arguments[1] = (uintptr_t)s.in;
	assert_int_equal(dispatch(&s), 0);
	assert_int_equal(tenon_queue_read(s.queue, found, s.in, 0, SAMPLE_BYTES,
					  &(struct tenon_sync){ NULL, 0, &point, 1 }),
			 0);
	assert_pending(&s, 0);
	assert_int_equal(tenon_timeline_value(t, &value), 0);
	assert_int_equal(value, 0);
	npu_end_jobs();
	assert_int_equal(tenon_timeline_wait(t, 1, UINT64_MAX), 0);
	assert_int_equal(npu_ended(), 2);
	for (i = 0; i < SAMPLE_BYTES; i++)
		assert_int_equal(found[i], (uint8_t)(bytes[i] + 2 * SAMPLE_WEIGHT(i)));
	tenon_object_unref(t);
	stop(&s);
}

static void a_deadline_ends_a_wait_and_no_job(void **state)
{
	struct tenon_timeline *t;
	struct tenon_point point;
	struct tenon_job job = { .deadline = tenon_deadline(1000000) };
	struct session s;
	struct tenon_dispatch d = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };

	(void)state;
	start(&s, 1);
	assert_int_equal(tenon_timeline_create(0, &t), 0);
	point = (struct tenon_point){ t, 1 };
	job.sync.signal = &point;
	job.sync.signal_count = 1;
	d.kernel = s.kernel;
	d.arguments = s.arguments;
	npu_hold_jobs();
	assert_int_equal(tenon_queue_launch(s.queue, &d, &job), 0);
	assert_int_equal(tenon_timeline_wait(t, 1, UINT64_MAX), -TENON_E_TIMEOUT);
	tenon_error_clear();
	assert_pending(&s, 0);
	npu_end_jobs();
	assert_int_equal(tenon_queue_sync(s.queue, UINT64_MAX), 0);
	assert_output(&s, 1);
	tenon_object_unref(t);
	stop(&s);
}

static uint32_t handle_of(const struct tenon_memory *m)
{
	return ((const struct rocket_memory *)m)->buffer.drm.handle;
}

/* The kernel gives the handle of a buffer that is closed to the next one. */
static void memory_of_a_job_is_kept_until_it_ends(void **state)
{
	struct tenon_memory_request request = { .size = sizeof(request),
						.bytes = SAMPLE_BYTES,
						.usage = TENON_MEMORY_DEFAULT };
	struct session s;
	uint32_t in, out;

	(void)state;
	start(&s, 1);
	in = handle_of(s.in);
	out = handle_of(s.out);
	npu_hold_jobs();
	assert_int_equal(dispatch(&s), 0);
	tenon_object_unref(s.in);
	tenon_object_unref(s.out);
	/* the code was copied, too */
	tenon_object_unref(s.executable);
	s.executable = NULL;
	tenon_program_free(s.program);
	s.program = NULL;
	assert_int_equal(tenon_memory_alloc(s.device, &request, &s.in), 0);
	assert_int_equal(tenon_memory_alloc(s.device, &request, &s.out), 0);
	assert_true(handle_of(s.in) != in && handle_of(s.in) != out);
	assert_true(handle_of(s.out) != in && handle_of(s.out) != out);
	assert_pending(&s, 0);
	npu_end_jobs();
	assert_int_equal(tenon_queue_sync(s.queue, UINT64_MAX), 0);
	assert_int_equal(npu_ended(), 1);
	/* the next has the handles that were let go */
	tenon_object_unref(s.in);
	assert_int_equal(tenon_memory_alloc(s.device, &request, &s.in), 0);
	assert_true(handle_of(s.in) <= in || handle_of(s.in) <= out);
	stop(&s);
}

static void a_queue_of_a_lost_device_is_closed_while_its_job_goes_on(void **state)
{
	struct tenon_device *again;
	struct session s;

	(void)state;
	start(&s, 1);
	npu_hold_jobs();
	assert_int_equal(dispatch(&s), 0);
	assert_true(npu_await_submits(1));
	tenon_error(-TENON_E_DEVICE, "somebody pulled the plug");
	assert_int_equal(tenon_device_lose(s.device, -TENON_E_DEVICE), -TENON_E_LOST);
	assert_int_equal(tenon_queue_sync(s.queue, UINT64_MAX), -TENON_E_LOST);
	tenon_error_clear();
	tenon_object_unref(s.queue);
	s.queue = NULL;
	assert_int_equal(npu_ended(), 0);
	npu_end_jobs();
	assert_int_equal(tenon_device_reopen(s.device, &again), 0);
	tenon_object_unref(again);
	stop(&s);
}

static void streams_for_other_targets_are_refused(void **state)
{
	struct tenon_executable *x;
	struct tenon_program *p;
	struct tenon_device *d;
	struct tenon_buffer b = TENON_BUFFER_INIT;
	char *name;

	(void)state;
	assert_int_equal(tenon_device_open("rocket://accel/0", &d), 0);
	assert_int_equal(sample_stream(1, &b), 0);
	name = b.data + sizeof(struct tenon_cmdstream_header) +
	       sizeof(struct tenon_cmdstream_section);
	assert_string_equal(name, "rocket");
	name[0] = 'p';
	assert_int_equal(tenon_program_read(tenon_slice_of("rocket"), TENON_GENERATION_NONE,
					    (struct tenon_slice){ b.data, b.size }, "pocket", &p),
			 0);
	assert_int_equal(tenon_executable_create(d, p, NULL, &x), -TENON_E_UNSUPPORTED);
	assert_error_has("a command stream for target \"pocket\"");
	tenon_program_free(p);
	tenon_object_unref(d);
	tenon_buffer_fini(&b);
	assert_only_nodes_are_open();
}

/* Linux's driver tells the address of its own buffers alone, and the backend exports none. */
static void a_model_in_memory_of_the_caller_is_refused_by_the_device_s_name(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	const int fd = 0;
	const struct tenon_regions regions = { .size = sizeof(regions), .dmabuf = { NULL, &fd } };
	struct tenon_model_options o = { .size = sizeof(o), .graph = tenon_slice_of("{}") };
	struct tenon_module *library;
	struct tenon_model *model;
	struct tenon_device *d;
	DLDevice id;

	(void)state;
	assert_int_equal(tenon_device_open("rocket://accel/0", &d), 0);
	id = tenon_device_id(d);
	o.devices = &id;
	o.device_count = 1;
	assert_int_equal(sample_stream(1, &b), 0);
	assert_int_equal(
		tenon_module_load_bytes("rocket", (struct tenon_slice){ b.data, b.size }, &library),
		0);
	assert_int_equal(tenon_model_open_in(library, &o, &regions, &model), -TENON_E_UNSUPPORTED);
	assert_error_has("rocket:");
	tenon_object_unref(library);
	tenon_object_unref(d);
	tenon_buffer_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_node_is_a_device, begin),
		cmocka_unit_test_setup(nodes_of_the_driver_are_counted, begin),
		cmocka_unit_test_setup(a_device_has_the_name_and_the_cores_of_the_board_s_soc,
				       begin),
		cmocka_unit_test_setup(commands_for_another_soc_are_refused, begin),
		cmocka_unit_test_setup(register_commands_run_as_modules, begin),
		cmocka_unit_test_setup(parts_of_memory_are_arguments, begin),
		cmocka_unit_test_setup(a_job_that_fails_is_an_error_of_the_run, begin),
		cmocka_unit_test_setup(queues_have_jobs_in_flight_at_the_same_time, begin),
		cmocka_unit_test_setup(
			operations_of_a_queue_are_submitted_without_waiting_and_done_in_order,
			begin),
		cmocka_unit_test_setup(a_deadline_ends_a_wait_and_no_job, begin),
		cmocka_unit_test_setup(memory_of_a_job_is_kept_until_it_ends, begin),
		cmocka_unit_test_setup(a_queue_of_a_lost_device_is_closed_while_its_job_goes_on,
				       begin),
		cmocka_unit_test_setup(streams_for_other_targets_are_refused, begin),
		cmocka_unit_test(a_model_in_memory_of_the_caller_is_refused_by_the_device_s_name),
	};

	return cmocka_run_group_tests(tests, begin_all, tree_teardown);
}

/* SPDX-License-Identifier: MIT */
/* torq:0 on the kernel's model (a named fake), which replays what the vendor's model of the NPU computed. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "devices/torq/torq_device.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/torq/torq_kernel.h"
#include "tests/torq/torq_session.h"
#include "tests/unit/suite.h"

static int begin_all(void **state)
{
	(void)state;
	tree_pretend("/model-of-the-kernel");
	torq_source.calls = &faulty_calls;
	torq_source.root = tree;
	return 0;
}

static int begin(void **state)
{
	(void)state;
	tenon_error_clear();
	torq_start();
	faults_over(&torq_calls);
	return 0;
}

static const struct torq_network *network_of(const struct torq_session *s)
{
	return &((const struct torq_kernel *)s->kernel)->network;
}

static void stop(struct torq_session *s)
{
	torq_session_stop(s);
	assert_false(torq.damaged);
	assert_int_equal(torq.open_accesses, 0);
	assert_int_equal(torq_left(), 0);
	assert_nothing_open();
}

static void run_right(struct torq_session *s)
{
	if (torq_session_run(s))
		fail_msg("%s", tenon_error_message());
	torq_session_assert_output(s);
}

/* ---- the device */

static void a_node_is_a_device(void **state)
{
	struct tenon_device *d;

	(void)state;
	assert_int_equal(tenon_device_open("torq:0", &d), 0);
	assert_string_equal(d->properties->name, "sl2610");
	tenon_object_unref(d);
	tenon_device_close_all();
	assert_nothing_open();
}

static void a_missing_node_is_named_with_its_driver(void **state)
{
	struct tenon_device *d;

	(void)state;
	torq_source.root = "/nowhere";
	assert_int_equal(tenon_device_open("torq:0", &d), -TENON_E_DEVICE);
	assert_error_has("/dev/torq");
	torq_source.root = tree;
}

static void programs_for_other_hardware_are_refused(void **state)
{
	struct torq_session s;

	(void)state;
	torq_begin(&torq_networks[0]);
	torq.hardware = 1;
	assert_int_equal(torq_session_try(&s, &torq_networks[0]), -TENON_E_UNSUPPORTED);
	assert_error_has("made for hardware 0, and /dev/torq is 1");
	stop(&s);
}

/* ---- runs */

static void networks_give_what_the_vendors_model_gave(void **state)
{
	struct torq_session s;
	unsigned int i, k;

	(void)state;
	for (i = 0; i < TORQ_NETWORKS; i++) {
		torq_session_start(&s, &torq_networks[i]);
		for (k = 0; k < 3; k++)
			run_right(&s);
		assert_int_equal(torq.jobs, 6);
		assert_int_equal(torq.unknown, 0);
		stop(&s);
	}
}

static void arguments_are_used_where_they_are(void **state)
{
	struct torq_session s;

	(void)state;
	torq_session_start(&s, &torq_networks[0]);
	run_right(&s);
	assert_int_equal(torq.attached, 3);
	assert_int_equal(network_of(&s)->copied, 0);
	stop(&s);
}

static void put_index(const struct torq_session *s, int32_t index)
{
	memcpy(s->memory[0]->host, &index, sizeof(index));
}

/* The record has the slice in no job, since the host copies it: so it is looked for where the NPU finds it. */
static void a_slice_begins_where_an_argument_says(void **state)
{
	const struct torq_network_data *data = &torq_networks[3];
	uint8_t input[TORQ_TENSOR_MOST], index[4];
	struct torq_session s;
	const uint8_t *slice;
	int32_t at;

	(void)state;
	torq_session_start(&s, data);
	run_right(&s);
	torq_tensor(data, 1, input);
	torq_tensor(data, 0, index);
	memcpy(&at, index, sizeof(at));
	assert_true(at >= 0 && at <= 32);
	slice = (const uint8_t *)network_of(&s)->memory.base +
		(network_of(&s)->actions[3].copy.target - network_of(&s)->base);
	assert_memory_equal(slice, input + 4 * (size_t)at, 128);
	put_index(&s, 33);
	assert_int_equal(torq_session_run(&s), -TENON_E_VALUE);
	assert_error_has("argument 0 is 33");
	put_index(&s, -1);
	assert_int_equal(torq_session_run(&s), -TENON_E_VALUE);
	tenon_error_clear();
	put_index(&s, at);
	run_right(&s);
	assert_int_equal(network_of(&s)->copied, 0);
	stop(&s);
}

static struct tenon_memory *part_of(struct tenon_memory *whole, uint64_t offset, uint64_t size)
{
	struct tenon_memory *m;

	assert_int_equal(tenon_memory_subrange(whole, offset, size, &m), 0);
	return m;
}

static struct tenon_memory *whole_of(const struct torq_session *s, uint64_t size)
{
	const struct tenon_memory_request request = { .size = sizeof(request),
						      .bytes = size,
						      .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *m;

	assert_int_equal(tenon_memory_alloc(s->device, &request, &m), 0);
	return m;
}

/* The driver maps pages: a part that shares one with others is copied, the last one of its memory is not. */
static void parts_that_share_a_page_are_copied(void **state)
{
	struct tenon_memory *whole;
	struct torq_session s;

	(void)state;
	torq_session_start(&s, &torq_networks[0]);
	whole = whole_of(&s, 8192 + 256);
	assert_int_equal(torq_session_put(&s, 0, part_of(whole, 256, 256)), 0);
	assert_int_equal(torq_session_put(&s, 1, part_of(whole, 8192, 256)), 0);
	assert_int_equal(torq_session_put(&s, 2, part_of(whole, 4096, 256)), 0);
	tenon_object_unref(whole);
	run_right(&s);
	assert_int_equal(network_of(&s)->copied, 3 * 256);
	stop(&s);
}

/* of the CPU, in one run */
static unsigned int accesses_of_a_run(struct torq_session *s)
{
	const unsigned int before = torq.accesses;

	run_right(s);
	return torq.accesses - before;
}

static void the_cpu_begins_and_ends_each_access_to_parts(void **state)
{
	const struct torq_network_data *slices = &torq_networks[3];
	struct tenon_memory *whole;
	unsigned int accesses;
	struct torq_session s;

	(void)state;
	torq_session_start(&s, &torq_networks[0]);
	accesses = accesses_of_a_run(&s);
	whole = whole_of(&s, 8192);
	assert_int_equal(torq_session_put(&s, 0, part_of(whole, 256, 256)), 0);
	tenon_object_unref(whole);
	/* to read the argument, and to write the copy */
	assert_int_equal(accesses_of_a_run(&s), accesses + 2);
	stop(&s);
	/* a number that moves a slice, which the NPU does not use */
	torq_session_start(&s, slices);
	accesses = accesses_of_a_run(&s);
	whole = whole_of(&s, 8192);
	assert_int_equal(torq_session_put(&s, 0, part_of(whole, 256, slices->sizes[0])), 0);
	tenon_object_unref(whole);
	assert_int_equal(accesses_of_a_run(&s), accesses);
	stop(&s);
}

static void dma_bufs_of_other_drivers_are_used_where_they_are(void **state)
{
	struct tenon_memory_import from = { .size = sizeof(from),
					    .type = TENON_HANDLE_DMA_BUF,
					    .bytes = 256,
					    .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *m;
	struct torq_session s;

	(void)state;
	torq_session_start(&s, &torq_networks[0]);
	from.fd = memfd_create("foreign", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(from.fd, 4096), 0);
	assert_int_equal(tenon_memory_import(s.device, &from, &m), 0);
	close(from.fd);
	assert_int_equal(torq_session_put(&s, 0, m), 0);
	run_right(&s);
	assert_int_equal(network_of(&s)->copied, 0);
	stop(&s);
}

static void a_file_and_its_program_may_go_before_the_run(void **state)
{
	struct torq_session s;

	(void)state;
	torq_session_start(&s, &torq_networks[2]);
	torq.busy = 5;
	assert_int_equal(tenon_queue_dispatch(s.queue,
					      &(struct tenon_dispatch){ .kernel = s.kernel,
									.grid = { 1, 1, 1 },
									.block = { 1, 1, 1 },
									.arguments = s.arguments },
					      NULL),
			 0);
	tenon_object_unref(s.executable);
	s.executable = NULL;
	tenon_program_free(s.program);
	s.program = NULL;
	assert_int_equal(tenon_queue_sync(s.queue, UINT64_MAX), 0);
	torq_session_assert_output(&s);
	stop(&s);
}

/* ---- failures */

static void the_npu_is_waited_for_while_another_program_has_it(void **state)
{
	struct torq_session s;

	(void)state;
	torq_session_start(&s, &torq_networks[0]);
	torq.busy = 20;
	torq.interrupts = 3;
	run_right(&s);
	assert_int_equal(torq.busy, 0);
	torq.busy = 1000000;
	assert_int_equal(torq_session_run(&s), -TENON_E_DEVICE);
	assert_error_has("in use by another program for 30 seconds");
	stop(&s);
}

static void a_job_that_fails_is_an_error_of_its_run_alone(void **state)
{
	static const enum torq_fate fates[] = { TORQ_HANGS, TORQ_REPLAYS, TORQ_OTHER_INTERRUPT };
	struct torq_session s;

	(void)state;
	torq_session_start(&s, &torq_networks[1]);
	torq.fates = fates;
	torq.fate_count = 3;
	assert_int_equal(torq_session_run(&s), -TENON_E_DEVICE);
	assert_error_has("did not end within the driver's five seconds");
	assert_int_equal(torq_session_run(&s), -TENON_E_DEVICE);
	assert_error_has("interrupted before its program ended");
	run_right(&s);
	stop(&s);
}

/* The fake is no oracle: another input has no answer. */
static void an_input_that_no_record_has_fails(void **state)
{
	struct torq_session s;

	(void)state;
	torq_session_start(&s, &torq_networks[0]);
	((uint8_t *)s.memory[1]->host)[17] ^= 1;
	assert_int_equal(torq_session_run(&s), -TENON_E_DEVICE);
	assert_int_equal(torq.unknown, 1);
	tenon_error_clear();
	stop(&s);
}

static void an_argument_that_is_too_small_is_refused(void **state)
{
	struct torq_session s;

	(void)state;
	torq_session_start(&s, &torq_networks[0]);
	assert_int_equal(torq_session_put(&s, 2, whole_of(&s, 255)), 0);
	assert_int_equal(torq_session_run(&s), -TENON_E_VALUE);
	assert_error_has("main: argument 2 has 255 bytes, and needs 256");
	stop(&s);
}

#define on(case) cmocka_unit_test_setup(case, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on(a_node_is_a_device),
		on(a_missing_node_is_named_with_its_driver),
		on(programs_for_other_hardware_are_refused),
		on(networks_give_what_the_vendors_model_gave),
		on(arguments_are_used_where_they_are),
		on(a_slice_begins_where_an_argument_says),
		on(parts_that_share_a_page_are_copied),
		on(the_cpu_begins_and_ends_each_access_to_parts),
		on(dma_bufs_of_other_drivers_are_used_where_they_are),
		on(a_file_and_its_program_may_go_before_the_run),
		on(the_npu_is_waited_for_while_another_program_has_it),
		on(a_job_that_fails_is_an_error_of_its_run_alone),
		on(an_input_that_no_record_has_fails),
		on(an_argument_that_is_too_small_is_refused),
	};

	return cmocka_run_group_tests(tests, begin_all, NULL);
}

/* SPDX-License-Identifier: MIT */
/* ethosu://accel/0 on the kernel's model (a named fake): files of Vela as modules, as with ethosu://sim, and jobs in flight. */
#include <tenon/backend/backend.h>
#include <tenon/device.h>
#include <tenon/ethosu.h>
#include <tenon/executable.h>
#include <tenon/memory.h>
#include <tenon/queue.h>

#include "tests/driver/tree.h"
#include "tests/npu/accel_session.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

static void a_node_is_a_device(void **state)
{
	struct tenon_device *d;

	(void)state;
	if (tenon_device_open("ethosu://accel/0", &d))
		fail_msg("%s", tenon_error_message());
	assert_string_equal(tenon_device_properties(d)->name, "u65-256");
	tenon_object_unref(d);
	assert_int_equal(tenon_device_open("ethosu://accel/1", &d), -TENON_E_DEVICE);
	assert_error_has("/dev/accel/accel1");
	assert_int_equal(tenon_device_open("ethosu://accel/x", &d), -TENON_E_DEVICE);
	assert_error_has("this build has \"sim\"");
	assert_int_equal(tenon_device_open("ethosu://accel/0?target=u65-256", &d), -TENON_E_VALUE);
	assert_error_has("has no key \"target\"");
	assert_int_equal(tenon_device_open("ethosu://accel/0?memory=fast", &d), -TENON_E_VALUE);
	assert_error_has("expected \"buffers\" or \"process\"");
}

static void files_of_vela_run_as_modules(void **state)
{
	struct model_session s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(accel_models) / sizeof(*accel_models); i++) {
		accel_session_begin(NULL);
		accel_session_start(&s, &accel_models[i]);
		if (model_session_run(&s) || model_session_run(&s))
			fail_msg("%s: %s", accel_models[i].folder, tenon_error_message());
		model_session_assert_output(&s);
		assert_int_equal(npu.jobs, 2);
		accel_session_stop(&s);
	}
}

static void a_job_that_fails_is_an_error_of_the_run(void **state)
{
	static const enum npu_fate fates[] = { NPU_HANGS };
	const struct tenon_memory_request request = { .size = sizeof(request),
						      .bytes = 64,
						      .usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *m;
	struct model_session s;

	(void)state;
	npu.fates = fates;
	npu.fate_count = 1;
	accel_session_start(&s, &accel_models[1]);
	assert_int_equal(tenon_memory_alloc(s.device, &request, &m), 0);
	assert_int_equal(model_session_run(&s), -TENON_E_LOST);
	/* releasing an object leaves the message */
	tenon_object_unref(m);
	assert_int_equal(tenon_error_status(), -TENON_E_LOST);
	tenon_error_clear();
	assert_int_equal(tenon_queue_sync(s.queue, UINT64_MAX), 0);
	assert_int_equal(npu.resets, 1);
	assert_int_equal(model_session_run(&s), 0);
	model_session_assert_output(&s);
	accel_session_stop(&s);
}

/* ---- jobs in flight */

static void queues_have_jobs_in_flight_at_the_same_time(void **state)
{
	static struct model_session s, other;

	(void)state;
	accel_session_start(&s, &accel_models[0]);
	accel_session_start(&other, &accel_models[1]);
	accel_session_hold_jobs(&other);
	accel_session_hold_jobs(&s);
	assert_int_equal(model_session_dispatch(&s), 0);
	assert_int_equal(model_session_dispatch(&other), 0);
	assert_true(npu_await_submits(2));
	accel_session_assert_pending(&s);
	accel_session_assert_pending(&other);
	npu_end_jobs();
	assert_int_equal(tenon_queue_sync(s.queue, UINT64_MAX), 0);
	assert_int_equal(tenon_queue_sync(other.queue, UINT64_MAX), 0);
	assert_int_equal(npu_ended(), 2);
	model_session_assert_output(&s);
	model_session_assert_output(&other);
	model_session_stop(&other);
	accel_session_stop(&s);
}

/* The second run has other inputs, which are written while the first has not ended. */
static void operations_of_a_queue_are_submitted_without_waiting_and_done_in_order(void **state)
{
	static uint8_t zeroes[FILE_MOST], first[FILE_MOST];
	struct model_session s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(accel_models) / sizeof(*accel_models); i++) {
		accel_session_begin(NULL);
		accel_session_start(&s, &accel_models[i]);
		accel_session_hold_jobs(&s);
		assert_int_equal(model_session_dispatch(&s), 0);
		assert_int_equal(tenon_queue_read(s.queue, first, s.memory[s.model->count - 1], 0,
						  s.bytes, NULL),
				 0);
		assert_int_equal(tenon_queue_write(s.queue, s.memory[0], 0, zeroes,
						   tenon_memory_size(s.memory[0]), NULL),
				 0);
		assert_int_equal(model_session_dispatch(&s), 0);
		accel_session_assert_pending(&s);
		npu_end_jobs();
		assert_int_equal(tenon_queue_sync(s.queue, UINT64_MAX), 0);
		assert_int_equal(npu_ended(), 2);
		assert_memory_equal(first, s.expected, s.bytes);
		accel_session_stop(&s);
	}
}

static void a_queue_of_a_lost_device_is_closed_while_its_job_goes_on(void **state)
{
	struct tenon_device *again;
	struct model_session s;

	(void)state;
	accel_session_start(&s, &accel_models[1]);
	accel_session_hold_jobs(&s);
	assert_int_equal(model_session_dispatch(&s), 0);
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
	accel_session_stop(&s);
}

/* ---- what is refused */

static void other_targets_are_refused(void **state)
{
	struct tenon_executable *e;
	struct tenon_program *p;
	struct tenon_kernel *k;
	struct tenon_device *d;
	static uint8_t file[FILE_MOST];
	size_t size = network_file("u65_conv1x1", "two-cores.npz", file);

	(void)state;
	assert_int_equal(tenon_device_open("ethosu://accel/0", &d), 0);
	assert_int_equal(tenon_program_read(tenon_slice_of("ethos-u"), TENON_GENERATION_NONE,
					    (struct tenon_slice){ (const char *)file, size }, "two",
					    &p),
			 0);
	assert_int_equal(tenon_executable_create(d, p, NULL, &e), 0);
	assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_UNSUPPORTED);
	assert_error_has("compiled for u65-512");
	tenon_object_unref(e);
	tenon_program_free(p);
	tenon_object_unref(d);
	accel_session_assert_only_the_node();
}

/* C code of TVM calls this with arrays of its own. */
static void launches_without_regions_are_refused(void **state)
{
	static uint8_t payload[FILE_MOST];
	const size_t size = network_file("u65_conv1x1", "payload.bin", payload);
	const uint64_t addresses[5] = { 0 };
	const size_t sizes[5] = { 0 };

	(void)state;
	assert_int_equal(TVMEthosULaunch(NULL, payload, size, addresses, sizes, -1), -1);
	assert_error_has("no count of -1");
	assert_int_equal(TVMEthosULaunch(NULL, payload, size, NULL, sizes, 5), -1);
	assert_error_has("addresses and sizes of regions are needed");
	assert_int_equal(TVMEthosULaunch(NULL, payload, size, addresses, NULL, 5), -1);
	tenon_error_clear();
	assert_int_equal(TVMEthosULaunch(NULL, NULL, size, addresses, sizes, 5), -1);
	tenon_error_clear();
	assert_int_equal(TVMEthosULaunch(NULL, payload, size, addresses, sizes, 0), -1);
	assert_error_has("of region 0, and the module gives 0");
	assert_int_equal(TVMEthosULaunch(NULL, payload, 40, addresses, sizes, 5), -1);
	tenon_error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_node_is_a_device, accel_session_begin),
		cmocka_unit_test_setup(files_of_vela_run_as_modules, accel_session_begin),
		cmocka_unit_test_setup(a_job_that_fails_is_an_error_of_the_run,
				       accel_session_begin),
		cmocka_unit_test_setup(queues_have_jobs_in_flight_at_the_same_time,
				       accel_session_begin),
		cmocka_unit_test_setup(
			operations_of_a_queue_are_submitted_without_waiting_and_done_in_order,
			accel_session_begin),
		cmocka_unit_test_setup(a_queue_of_a_lost_device_is_closed_while_its_job_goes_on,
				       accel_session_begin),
		cmocka_unit_test_setup(other_targets_are_refused, accel_session_begin),
		cmocka_unit_test_setup(launches_without_regions_are_refused, accel_session_begin),
	};

	return cmocka_run_group_tests(tests, accel_session_begin_all, tree_teardown);
}

/* SPDX-License-Identifier: MIT */
/* ethosu://accel/0 on the kernel's model (a named fake): files of Vela as modules, as with ethosu://sim. */
#include <stdio.h>
#include <stdlib.h>

#include <tenon/device.h>
#include <tenon/executable.h>
#include <tenon/memory.h>
#include <tenon/module.h>
#include <tenon/queue.h>
#include <tenon/timeline.h>

#include "devices/ethosu/ethosu_accel_device.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/model_session.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

static int begin(void **state)
{
	(void)state;
	npu.fates = NULL;
	npu.fate_count = 0;
	npu.jobs = npu.resets = 0;
	npu.now = tenon_now();
	return 0;
}

static int begin_all(void **state)
{
	int err = tree_setup(state);

	npu_start();
	faults_over(&npu_calls);
	ethosu_accel_source.calls = &faulty_calls;
	ethosu_accel_source.root = tree;
	return err;
}

/* The library keeps the device open; nothing else is left of it. */
static void assert_only_the_node_is_open(void)
{
	npu_pass_time(NPU_SECOND);
	assert_int_equal(npu_left(), 1);
}

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
	assert_error_has("has no keys");
}

static const struct model models[] = {
	{ "u65_conv1x1", "u65.npz", { "in0.bin", "ref0.bin" }, 2 },
	{ "u65_add2_cop2", "u65.npz", { "in0.bin", "in1.bin", "ref0.bin" }, 3 },
	{ "u65_softmax_mix", "u65.npz", { "in0.bin", "ref0.bin" }, 2 },
};

static void start(struct model_session *s, const struct model *m)
{
	model_session_start(s, "ethosu://accel/0", m);
}

static void stop(struct model_session *s)
{
	model_session_stop(s);
	assert_only_the_node_is_open();
}

static void files_of_vela_run_as_modules(void **state)
{
	struct model_session s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(models) / sizeof(*models); i++) {
		begin(NULL);
		start(&s, &models[i]);
		if (model_session_run(&s) || model_session_run(&s))
			fail_msg("%s: %s", models[i].folder, tenon_error_message());
		model_session_assert_output(&s);
		assert_int_equal(npu.jobs, 2);
		stop(&s);
	}
}

static void a_job_that_fails_is_an_error_of_the_run(void **state)
{
	static const enum npu_fate fates[] = { NPU_HANGS };
	struct model_session s;

	(void)state;
	npu.fates = fates;
	npu.fate_count = 1;
	start(&s, &models[1]);
	assert_int_equal(model_session_run(&s), -TENON_E_LOST);
	tenon_error_clear();
	assert_int_equal(npu.resets, 1);
	assert_int_equal(model_session_run(&s), 0);
	model_session_assert_output(&s);
	stop(&s);
}

/* Its memory has the inputs of the next run, which it must not overwrite when it ends. */
static void a_run_waits_for_a_job_that_outlived_its_deadline(void **state)
{
	struct model_session s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(models) / sizeof(*models); i++) {
		begin(NULL);
		start(&s, &models[i]);
		npu.job_time = 1000 * NPU_SECOND;
		assert_int_equal(model_session_run(&s), -TENON_E_TIMEOUT);
		tenon_error_clear();
		assert_int_equal(npu.jobs, 0);
		npu.job_time = 0;
		if (model_session_run(&s))
			fail_msg("%s: %s", models[i].folder, tenon_error_message());
		assert_int_equal(npu.jobs, 2);
		model_session_assert_output(&s);
		stop(&s);
	}
}

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
	assert_only_the_node_is_open();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_node_is_a_device, begin),
		cmocka_unit_test_setup(files_of_vela_run_as_modules, begin),
		cmocka_unit_test_setup(a_job_that_fails_is_an_error_of_the_run, begin),
		cmocka_unit_test_setup(a_run_waits_for_a_job_that_outlived_its_deadline, begin),
		cmocka_unit_test_setup(other_targets_are_refused, begin),
	};

	return cmocka_run_group_tests(tests, begin_all, tree_teardown);
}

/* SPDX-License-Identifier: MIT */
/* Jobs behind the kernel's accel interface, on the kernel's model (a named fake): time, failures, several of them. */
#include <tenon/error.h>

#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/accel_rig.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

static struct ethosu_network other_net;

static void not_yet_is_not_done(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	open_network();
	network_put(&rig, &net);
	assert_int_equal(ethosu_network_finish(&net, 0), -TENON_E_USAGE);
	assert_int_equal(ethosu_network_start(&net), 0);
	assert_int_equal(ethosu_network_start(&net), -TENON_E_USAGE);
	tenon_error_clear();
	assert_int_equal(ethosu_network_finish(&net, 0), -TENON_E_TIMEOUT);
	assert_error_has("has not ended yet");
	assert_int_equal(ethosu_network_finish(&net, npu.now + npu.job_time / 2), -TENON_E_TIMEOUT);
	tenon_error_clear();
	assert_int_equal(npu.jobs, 0);
	/* the job goes on after each of these */
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), 0);
	assert_int_equal(npu.jobs, 1);
	assert_int_equal(npu.submits, 1);
	assert_true(network_is_right(&rig, &net));
	end();
}

static void interrupted_calls_are_made_again(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	npu.interrupts = 3;
	open_network();
	network_put(&rig, &net);
	npu.interrupts = 2;
	assert_int_equal(ethosu_network_start(&net), 0);
	npu.interrupts = 2;
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), 0);
	assert_int_equal(npu.jobs, 1);
	assert_true(network_is_right(&rig, &net));
	end();
}

static void fail_once(enum network_id id, enum npu_fate fate, uint64_t job_time, int status)
{
	begin(id);
	npu.fates = &fate;
	npu.fate_count = 1;
	npu.job_time = job_time;
	open_network();
	network_put(&rig, &net);
	assert_int_equal(ethosu_network_start(&net), 0);
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), status);
	tenon_error_clear();
	assert_int_equal(npu.resets, 1);
	/* the device works again */
	run_network("after a reset");
	end();
}

static void jobs_that_fail_are_seen_though_the_wait_succeeds(void **state)
{
	int id;

	(void)state;
	for (id = 0; id < NETWORKS; id++) {
		fail_once((enum network_id)id, NPU_HANGS, NPU_SECOND / 1000, -TENON_E_LOST);
		fail_once((enum network_id)id, NPU_FAULTS, NPU_SECOND / 1000, -TENON_E_LOST);
		fail_once((enum network_id)id, NPU_WRITES_AND_FAULTS, NPU_SECOND / 1000,
			  -TENON_E_LOST);
		/* its fence is gone before it can be taken */
		fail_once((enum network_id)id, NPU_FAULTS, 0, -TENON_E_DEVICE);
	}
}

/* A job that succeeds at once has no fence to be taken either. */
static void jobs_that_end_at_once_succeed(void **state)
{
	int id;

	(void)state;
	for (id = 0; id < NETWORKS; id++) {
		begin((enum network_id)id);
		npu.job_time = 0;
		open_network();
		run_network(rig.network->folder);
		assert_true(net.was_done);
		end();
	}
}

static void a_reset_ends_jobs_of_other_descriptors(void **state)
{
	static const enum npu_fate fates[] = { NPU_HANGS };
	struct ethosu_accel second;

	(void)state;
	begin(CONVOLUTION);
	npu.fates = fates;
	npu.fate_count = 1;
	open_accel(&second);
	open_network();
	assert_int_equal(ethosu_network_open(&second, &rig.plan, &other_net), 0);
	network_put(&rig, &net);
	network_put(&rig, &other_net);
	assert_int_equal(ethosu_network_start(&net), 0);
	assert_int_equal(ethosu_network_start(&other_net), 0);
	assert_int_equal(ethosu_network_finish(&other_net, UINT64_MAX), -TENON_E_LOST);
	assert_error_has("the work behind a fence failed");
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), -TENON_E_LOST);
	tenon_error_clear();
	assert_int_equal(npu.resets, 1);
	network_put(&rig, &other_net);
	assert_int_equal(ethosu_network_start(&other_net), 0);
	assert_int_equal(ethosu_network_finish(&other_net, UINT64_MAX), 0);
	assert_true(network_is_right(&rig, &other_net));
	ethosu_network_close(&other_net);
	ethosu_accel_close(&second);
	end();
}

/* A scheduler that gives up the job that hangs alone: those that wait run. */
static void a_reset_may_leave_jobs_that_wait(void **state)
{
	static const enum npu_fate fates[] = { NPU_HANGS };
	struct ethosu_accel second;

	(void)state;
	begin(CONVOLUTION);
	npu.fates = fates;
	npu.fate_count = 1;
	npu.cancels_all = false;
	open_accel(&second);
	open_network();
	assert_int_equal(ethosu_network_open(&second, &rig.plan, &other_net), 0);
	network_put(&rig, &net);
	network_put(&rig, &other_net);
	assert_int_equal(ethosu_network_start(&net), 0);
	assert_int_equal(ethosu_network_start(&other_net), 0);
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), -TENON_E_LOST);
	tenon_error_clear();
	assert_int_equal(ethosu_network_finish(&other_net, UINT64_MAX), 0);
	assert_true(network_is_right(&rig, &other_net));
	assert_int_equal(npu.resets, 1);
	ethosu_network_close(&other_net);
	ethosu_accel_close(&second);
	end();
}

static void networks_of_several_descriptors_run_after_each_other(void **state)
{
	static struct rig second_rig;
	struct ethosu_accel second;
	int i;

	(void)state;
	network_read(FALLBACK_0, &second_rig);
	begin(SOFTMAX);
	open_accel(&second);
	open_network();
	assert_int_equal(ethosu_network_open(&second, &second_rig.plan, &other_net), 0);
	for (i = 0; i < 3; i++) {
		network_put(&rig, &net);
		network_put(&second_rig, &other_net);
		assert_int_equal(ethosu_network_start(&net), 0);
		assert_int_equal(ethosu_network_start(&other_net), 0);
		assert_int_equal(ethosu_network_finish(&other_net, UINT64_MAX), 0);
		assert_int_equal(ethosu_network_finish(&net, 0), 0);
		assert_true(network_is_right(&rig, &net));
		assert_true(network_is_right(&second_rig, &other_net));
	}
	ethosu_network_close(&other_net);
	ethosu_accel_close(&second);
	end();
}

static void a_network_that_is_closed_leaves_its_job_to_the_kernel(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	open_network();
	network_put(&rig, &net);
	assert_int_equal(ethosu_network_start(&net), 0);
	ethosu_network_close(&net);
	ethosu_network_close(&net);
	assert_int_equal(npu.jobs, 0);
	npu_pass_time(NPU_SECOND);
	assert_int_equal(npu.jobs, 1);
	end();
}

static void a_device_that_is_gone_is_lost(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	open_network();
	network_put(&rig, &net);
	npu.unplugged = true;
	assert_int_equal(ethosu_network_start(&net), -TENON_E_LOST);
	tenon_error_clear();
	npu.unplugged = false;
	assert_int_equal(ethosu_network_start(&net), 0);
	npu.unplugged = true;
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), -TENON_E_LOST);
	tenon_error_clear();
	npu.unplugged = false;
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_yet_is_not_done),
		cmocka_unit_test(interrupted_calls_are_made_again),
		cmocka_unit_test(jobs_that_fail_are_seen_though_the_wait_succeeds),
		cmocka_unit_test(jobs_that_end_at_once_succeed),
		cmocka_unit_test(a_reset_ends_jobs_of_other_descriptors),
		cmocka_unit_test(a_reset_may_leave_jobs_that_wait),
		cmocka_unit_test(networks_of_several_descriptors_run_after_each_other),
		cmocka_unit_test(a_network_that_is_closed_leaves_its_job_to_the_kernel),
		cmocka_unit_test(a_device_that_is_gone_is_lost),
	};

	return cmocka_run_group_tests(tests, tree_setup, tree_teardown);
}

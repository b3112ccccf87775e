/* SPDX-License-Identifier: MIT */
/* Open ethosu://accel/0 on the kernel's model (a named fake) with a network of Vela. */
#include "tests/npu/accel_session.h"

#include "devices/ethosu/ethosu_device.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

int accel_session_begin(void **state)
{
	(void)state;
	npu.fates = NULL;
	npu.fate_count = 0;
	npu.jobs = npu.resets = 0;
	npu_set_time(tenon_now());
	npu.job_time = NPU_SECOND / 1000;
	return 0;
}

int accel_session_begin_all(void **state)
{
	int err = tree_setup(state);

	npu_start();
	faults_over(&npu_calls);
	ethosu_accel_source.calls = &faulty_calls;
	ethosu_accel_source.root = tree;
	return err;
}

void accel_session_assert_only_the_node(void)
{
	npu_pass_time(NPU_SECOND);
	assert_int_equal(npu_left(), 1);
}

const struct model accel_models[3] = {
	{ "u65_conv1x1", "u65.npz", { "in0.bin", "ref0.bin" }, 2 },
	{ "u65_add2_cop2", "u65.npz", { "in0.bin", "in1.bin", "ref0.bin" }, 3 },
	{ "u65_softmax_mix", "u65.npz", { "in0.bin", "ref0.bin" }, 2 },
};

void accel_session_start(struct model_session *s, const struct model *m)
{
	model_session_start(s, "ethosu://accel/0", m);
	((struct ethosu_device *)s->device)->copied = 0;
}

void accel_session_stop(struct model_session *s)
{
	model_session_stop(s);
	accel_session_assert_only_the_node();
}

void accel_session_hold_jobs(const struct model_session *s)
{
	assert_int_equal(tenon_queue_sync(s->queue, UINT64_MAX), 0);
	npu_hold_jobs();
}

void accel_session_assert_pending(const struct model_session *s)
{
	assert_int_equal(tenon_queue_sync(s->queue, tenon_deadline(1000000)), -TENON_E_TIMEOUT);
	tenon_error_clear();
	assert_int_equal(npu_ended(), 0);
}

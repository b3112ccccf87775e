/* SPDX-License-Identifier: MIT */
/*
 * Each system call of a network behind the kernel's accel interface fails, in turn, on the kernel's model (a named fake):
 * it is reported, and leaves nothing.
 */
#include <errno.h>
#include <tenon/error.h>

#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/accel_rig.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

enum step { OPENING, LOADING, RUNNING, FINISHING, AGAIN };

static int run_it(const struct system_calls *calls, struct ethosu_network *n)
{
	int err;

	(void)calls;
	network_put(&rig, n);
	faults_step = RUNNING;
	err = ethosu_network_start(n);
	faults_step = FINISHING;
	if (!err)
		err = ethosu_network_finish(n, UINT64_MAX);
	if (!err)
		assert_true(network_is_right(&rig, n));
	return err;
}

static int scenario(const struct system_calls *calls)
{
	struct ethosu_network n;
	struct ethosu_accel a;
	int err = ethosu_accel_open(calls, tree, NPU_NODE, &a);

	if (err)
		return err;
	faults_step = LOADING;
	err = ethosu_network_open(&a, &rig.plan, &n);
	if (!err) {
		err = run_it(calls, &n);
		ethosu_network_close(&n);
	}
	ethosu_accel_close(&a);
	return err;
}

static int expected(const struct fault *f)
{
	if (f->call != CALL_IOCTL)
		return 2;
	/* EAGAIN of a dma-buf and of a sync_file is an error: only DRM asks for another try */
	if (f->error == EAGAIN)
		return _IOC_TYPE(f->request) == 'd' ? 0 : 2;
	switch (_IOC_TYPE(f->request) == 'd' ? _IOC_NR(f->request) : 0x100) {
	case 0x0c:
		/* what it does not know, it has not */
		return f->error == EINVAL || f->error == EOPNOTSUPP || f->error == ENOTTY ? 0 : 2;
	case 0x00:
		return f->error == ENOTTY ? -TENON_E_UNSUPPORTED : 2;
	case 0x09:
		/* the object ends with the node */
		return 0;
	case 0x44:
		return f->error == EINVAL ? -TENON_E_UNSUPPORTED : 2;
	}
	return 2;
}

/* What the kernel could not be told to drop, it drops with the node. */
static unsigned int restart(const struct fault *f)
{
	unsigned int left;

	(void)f;
	npu_pass_time(NPU_SECOND);
	left = npu_left();
	if (!f->happened || _IOC_NR(f->request) != 0x09)
		left += npu.left_handles;
	npu_start();
	npu.config = rig.network->config;
	return left;
}

static void every_call_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const int errors[] = { EINTR, EAGAIN, EINVAL, EFAULT, ENOMEM,	ENOENT,
				      EBUSY, ENODEV, EACCES, ENOSYS, EPERM,	EOPNOTSUPP,
				      EIO,   ETIME,  ENOTTY, ENOSPC, EOVERFLOW, 0 };
	static const struct sweep sweep = {
		.under = &npu_calls,
		.scenario = scenario,
		.ioctl_errors = errors,
		.expected = expected,
		.reset = restart,
	};
	unsigned int faults;

	(void)state;
	npu_start();
	network_read(ADDITION, &rig);
	npu.config = rig.network->config;
	faults = sweep_faults(&sweep);
	print_message("%u faults\n", faults);
	assert_true(faults > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_that_fails_is_reported_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, tree_setup, tree_teardown);
}

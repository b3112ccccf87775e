/* SPDX-License-Identifier: MIT */
/* Open a device behind the kernel's accel interface, and run a network on it. */
#include "tests/npu/accel_rig.h"

#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

struct ethosu_accel accel;
struct ethosu_network net;
struct rig rig;

void open_accel(struct ethosu_accel *a)
{
	if (ethosu_accel_open(&faulty_calls, tree, NPU_NODE, a))
		fail_msg("%s", tenon_error_message());
}

/* A device that runs a network, and the network on it. */
void begin(enum network_id id)
{
	npu_start();
	faults_over(&npu_calls);
	network_read(id, &rig);
	npu.config = rig.network->config;
	open_accel(&accel);
}

void open_network(void)
{
	if (ethosu_network_open(&accel, &rig.plan, &net))
		fail_msg("%s", tenon_error_message());
}

void end(void)
{
	ethosu_network_close(&net);
	ethosu_accel_close(&accel);
	npu_pass_time(NPU_SECOND);
	assert_nothing_open();
	assert_int_equal(npu.left_handles, 0);
	assert_int_equal(npu_left(), 0);
	assert_false(npu.damaged);
}

void run_network(const char *what)
{
	network_put(&rig, &net);
	if (ethosu_network_start(&net) || ethosu_network_finish(&net, npu.now + NPU_SECOND))
		fail_msg("%s: %s", what, tenon_error_message());
	if (!network_is_right(&rig, &net))
		fail_msg("%s: wrong outputs", what);
}

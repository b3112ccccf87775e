/* SPDX-License-Identifier: MIT */
/*
 * Ethos-U behind the kernel's accel interface, on the kernel's model (npu_kernel.h, a named fake): networks of a
 * compiler run bit for bit, and what is refused is refused before anything is allocated.
 */
#include <tenon/error.h>

#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/accel_rig.h"
#include "tests/npu/npu_kernel.h"
#include "tests/unit/suite.h"

static void networks_give_the_outputs_of_the_reference_kernels(void **state)
{
	unsigned int generation;
	int id;

	(void)state;
	for (generation = 1; generation <= 3; generation++)
		for (id = 0; id < NETWORKS; id++) {
			begin((enum network_id)id);
			npu.generation = generation;
			open_network();
			run_network(rig.network->folder);
			run_network(rig.network->folder);
			/* what is prepared once is not made again */
			assert_int_equal(npu.streams, 1);
			assert_int_equal(npu.jobs, 2);
			assert_int_equal(npu.refused, 0);
			end();
		}
}

/* ---- what is checked before anything is allocated */

static void open_fails(int status, const char *words)
{
	const unsigned int streams = npu.streams;

	assert_int_equal(ethosu_network_open(&accel, &rig.plan, &net), status);
	assert_error_has(words);
	assert_int_equal(npu.streams, streams);
}

static void other_drivers_and_products_are_refused(void **state)
{
	(void)state;
	npu_start();
	faults_over(&npu_calls);
	npu.drivers[0] = "rocket";
	assert_int_equal(ethosu_accel_open(&faulty_calls, tree, NPU_NODE, &accel),
			 -TENON_E_UNSUPPORTED);
	assert_error_has("its driver is \"rocket\"");
	npu.drivers[0] = "ethosu";
	npu.config = 0x70000000;
	assert_int_equal(ethosu_accel_open(&faulty_calls, tree, NPU_NODE, &accel),
			 -TENON_E_UNSUPPORTED);
	tenon_error_clear();
	npu.unplugged = true;
	assert_int_equal(ethosu_accel_open(&faulty_calls, tree, NPU_NODE, &accel), -TENON_E_DEVICE);
	tenon_error_clear();
	assert_nothing_open();
}

static void old_and_new_kernels_say_what_the_device_is(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	assert_false(accel.is_old);
	assert_int_equal(accel.target.config, npu.config);
	assert_int_equal(accel.target.id, npu.id);
	assert_int_equal(accel.sram_size, npu.sram_size);
	ethosu_accel_close(&accel);
	npu.info_size = ETHOSU_UAPI_INFO_OLD;
	open_accel(&accel);
	assert_true(accel.is_old);
	assert_int_equal(accel.sram_size, npu.sram_size);
	open_network();
	run_network("old kernel");
	end();
}

/* A wrong answer of a kernel is an error, and no access behind a buffer. */
static void a_kernel_that_gives_less_than_it_must_is_refused(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	npu.lacks = 4096;
	open_fails(-TENON_E_DEVICE, "gives a buffer of 0 bytes for 496");
	npu.lacks = 0;
	end();
	npu.info_size = 8;
	assert_int_equal(ethosu_accel_open(&faulty_calls, tree, NPU_NODE, &accel), -TENON_E_DEVICE);
	assert_error_has("the driver describes the NPU in 8 bytes, want at least 12");
	assert_nothing_open();
}

static void networks_for_other_targets_are_refused(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	accel.target.config = 0x10006009;
	open_fails(-TENON_E_UNSUPPORTED, "compiled for u65-256 (config 0x10003008");
	accel.target.config = 0x00003008;
	open_fails(-TENON_E_UNSUPPORTED, "compile it for that target");
	/* a later minor version of the architecture runs it, another major one does not */
	accel.target = (struct ethosu_target){ npu.config, 0x20066001 };
	open_fails(-TENON_E_UNSUPPORTED, "compiled for u65-256");
	accel.target.id = 0x10166001;
	open_network();
	end();
}

static void streams_are_checked_by_both_rules(void **state)
{
	static const struct ethosu_range outside = { 1, 2040, 16 }, nowhere = { 5, 0, 16 };

	(void)state;
	begin(CONVOLUTION);
	rig.plan.sizes[0] = 495;
	open_fails(-TENON_E_FORMAT, "it has 495");
	rig.plan.sizes[0] = 496;
	/* the rest of the page is in the buffer, and none of the stream's */
	rig.plan.outputs = &outside;
	open_fails(-TENON_E_FORMAT, "an output of 16 bytes at 2040 of region 1, which has 2048");
	rig.plan.outputs = &nowhere;
	open_fails(-TENON_E_FORMAT, "which has 0");
	rig.plan.outputs = rig.outputs;
	rig.plan.constant_region = 1;
	open_fails(-TENON_E_FORMAT, "writes to region 1, which has the constants");
	end();
}

static void memory_that_ends_is_said(void **state)
{
	(void)state;
	begin(CONVOLUTION);
	npu.memory = NPU_PAGE;
	open_fails(-TENON_E_NOMEM, "no contiguous memory");
	npu.memory = 16 << 20;
	end();
}

/* The kernel takes a stream for U85, and the functional model does not run it. */
static void a_stream_for_u85_is_handed_over(void **state)
{
	static const struct ethosu_range output = { 1, 0, 576 };
	struct tenon_cursor c;

	(void)state;
	begin(CONVOLUTION);
	ethosu_accel_close(&accel);
	npu.config = 0x20000118;
	npu.id = 0x20007000;
	open_accel(&accel);
	c = tenon_cursor_of(rig.payload, network_file("u85_residual", "payload.bin", rig.payload),
			    "u85", 0);
	assert_int_equal(ethosu_payload_read(&c, &rig.p), 0);
	memset(rig.plan.sizes, 0xff, sizeof(rig.plan.sizes));
	rig.plan.constants.size = 0;
	rig.plan.inputs = rig.plan.outputs = &output;
	rig.plan.input_count = rig.plan.output_count = 1;
	open_network();
	assert_int_equal(net.job.sram_size, 57360);
	assert_int_equal(ethosu_network_start(&net), 0);
	assert_int_equal(npu.refused, 0);
	assert_int_equal(ethosu_network_finish(&net, UINT64_MAX), -TENON_E_LOST);
	tenon_error_clear();
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(networks_give_the_outputs_of_the_reference_kernels),
		cmocka_unit_test(other_drivers_and_products_are_refused),
		cmocka_unit_test(old_and_new_kernels_say_what_the_device_is),
		cmocka_unit_test(a_kernel_that_gives_less_than_it_must_is_refused),
		cmocka_unit_test(networks_for_other_targets_are_refused),
		cmocka_unit_test(streams_are_checked_by_both_rules),
		cmocka_unit_test(memory_that_ends_is_said),
		cmocka_unit_test(a_stream_for_u85_is_handed_over),
	};

	return cmocka_run_group_tests(tests, tree_setup, tree_teardown);
}

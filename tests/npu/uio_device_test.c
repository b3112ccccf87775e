/* SPDX-License-Identifier: MIT */
/* ethosu://uio/0 on the model of the registers (a named fake): files of Vela as modules, as with ethosu://sim. */
#include <stdio.h>
#include <stdlib.h>

#include <tenon/device.h>

#include "devices/ethosu/ethosu_registers.h"
#include "devices/ethosu/ethosu_device.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/model_session.h"
#include "tests/npu/npu_registers.h"
#include "tests/unit/suite.h"

#define DEVICE "ethosu://uio/0"
#define U55    0x00001807

static int begin(void **state)
{
	(void)state;
	npu_registers_start();
	return 0;
}

static int begin_all(void **state)
{
	int err = tree_setup(state);

	faults_over(&npu_registers_calls);
	ethosu_uio_source.calls = &faulty_calls;
	ethosu_uio_source.root = tree;
	return err;
}

static int end_all(void **state)
{
	npu_registers_stop();
	return tree_teardown(state);
}

/* with weights; with inputs and outputs of their own; with tables and fast scratch memory */
enum { WEIGHTS, LOCAL, TABLES, POOL };

static const struct model models[] = {
	[WEIGHTS] = { "u65_conv1x1", "u65.npz", { "in0.bin", "ref0.bin" }, 2 },
	[LOCAL] = { "u65_add2_cop2", "u65.npz", { "in0.bin", "in1.bin", "ref0.bin" }, 3 },
	[TABLES] = { "u65_softmax_mix", "u65.npz", { "in0.bin", "ref0.bin" }, 2 },
	[POOL] = { "u55_avgpool", "u55.npz", { "in0.bin", "ref0.bin" }, 2 },
};

/* The library keeps devices that were opened. */
static void stop(struct model_session *s)
{
	model_session_stop(s);
	tenon_device_close_all();
	assert_nothing_open();
}

static void run_twice(const char *device, const struct model *m)
{
	struct model_session s;

	model_session_start(&s, device, m);
	if (model_session_run(&s) || model_session_run(&s))
		fail_msg("%s: %s", m->folder, tenon_error_message());
	model_session_assert_output(&s);
	assert_int_equal(npu_registers.jobs, 2);
	stop(&s);
}

static void files_of_vela_run_by_registers(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < POOL; i++) {
		npu_registers_start();
		run_twice(DEVICE, &models[i]);
		/* opening it resets it, and counts no interrupt */
		assert_int_equal(npu_registers.resets, 1);
		assert_int_equal(npu_registers.counted, 2);
		assert_int_equal(npu_registers.ports, 0xaaaa);
	}
}

static void a_u55_uses_the_port_that_writes(void **state)
{
	(void)state;
	npu_registers.config = U55;
	npu_registers_power();
	run_twice(DEVICE, &models[POOL]);
	assert_int_equal(npu_registers.ports, 0);
}

static void keys_choose_memory_and_ports(void **state)
{
	(void)state;
	run_twice(DEVICE "?memory=udmabuf0&ports=0xaa8a", &models[TABLES]);
	assert_int_equal(npu_registers.ports, 0xaa8a);
	assert_in_range(npu_registers.first, NPU_REGISTERS_BUFFER,
			NPU_REGISTERS_BUFFER + NPU_REGISTERS_BUFFER_SIZE);
	npu_registers_start();
	run_twice(DEVICE "?memory=1", &models[TABLES]);
	assert_in_range(npu_registers.first, NPU_REGISTERS_MEMORY,
			NPU_REGISTERS_MEMORY + NPU_REGISTERS_MEMORY_SIZE);
}

static void a_device_without_an_interrupt_is_polled(void **state)
{
	(void)state;
	npu_registers.has_interrupt = false;
	run_twice(DEVICE, &models[LOCAL]);
	assert_int_equal(npu_registers.counted, 0);
}

static void interrupts_that_are_lost_or_of_others_end_no_job(void **state)
{
	static const enum npu_end ends[] = { NPU_END_SILENT, NPU_END_STRAY };

	(void)state;
	npu_registers.ends = ends;
	npu_registers.end_count = 2;
	run_twice(DEVICE, &models[WEIGHTS]);
	assert_int_equal(npu_registers.resets, 1);
	assert_int_equal(npu_registers.counted, 2);
}

/* ---- faults */

static void a_fault_is_told_in_words_and_the_next_run_succeeds(void **state)
{
	static const struct {
		enum npu_end end;
		int status;
		const char *words;
	} cases[] = {
		{ NPU_END_BUS, -TENON_E_DEVICE,
		  "the bus refused an access, on AXI M1, to weights" },
		{ NPU_END_PARSE, -TENON_E_DEVICE, "it could not read the command stream" },
		{ NPU_END_WEIGHTS, -TENON_E_DEVICE, "it could not decode weights" },
		{ NPU_END_ECC, -TENON_E_DEVICE, "(ECC)" },
		{ NPU_END_EARLY, -TENON_E_DEVICE, "before the end of the stream" },
		{ NPU_END_HANGS, -TENON_E_DEVICE, "the job has not ended" },
	};
	struct model_session s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		npu_registers_start();
		npu_registers.ends = &cases[i].end;
		npu_registers.end_count = 1;
		model_session_start(&s, DEVICE, &models[TABLES]);
		assert_int_equal(model_session_run(&s), cases[i].status);
		assert_error_has(cases[i].words);
		assert_int_equal(npu_registers.resets, 2);
		if (model_session_run(&s))
			fail_msg("%s", tenon_error_message());
		model_session_assert_output(&s);
		stop(&s);
	}
}

static void a_device_that_vanishes_is_lost(void **state)
{
	static const enum npu_end ends[] = { NPU_END_VANISHES };
	struct model_session s;

	(void)state;
	npu_registers.ends = ends;
	npu_registers.end_count = 1;
	model_session_start(&s, DEVICE, &models[LOCAL]);
	assert_int_equal(model_session_run(&s), -TENON_E_LOST);
	assert_error_has("does not answer any more");
	assert_int_equal(model_session_run(&s), -TENON_E_LOST);
	tenon_error_clear();
	stop(&s);
}

static void a_reset_that_does_not_end_is_tried_again_by_the_next_run(void **state)
{
	static const enum npu_end ends[] = { NPU_END_HANGS };
	struct model_session s;

	(void)state;
	npu_registers.ends = ends;
	npu_registers.end_count = 1;
	model_session_start(&s, DEVICE, &models[LOCAL]);
	npu_registers.stuck_resets = 2;
	npu_registers_power();
	assert_int_equal(model_session_run(&s), -TENON_E_DEVICE);
	assert_error_has("and then: /dev/uio0: the reset does not end");
	assert_int_equal(model_session_run(&s), -TENON_E_DEVICE);
	assert_error_has("the reset does not end");
	assert_int_equal(model_session_run(&s), 0);
	model_session_assert_output(&s);
	stop(&s);
}

/* ---- opening */

static void assert_refused(const char *device, int status, const char *words)
{
	struct tenon_device *d;

	assert_int_equal(tenon_device_open(device, &d), status);
	assert_error_has(words);
	assert_nothing_open();
}

static void names_that_say_nothing_are_refused(void **state)
{
	(void)state;
	assert_refused("ethosu://uio/1", -TENON_E_DEVICE, "/dev/uio1");
	assert_refused("ethosu://uio/x", -TENON_E_DEVICE, "\"uio/N\"");
	assert_refused(DEVICE "?window=1", -TENON_E_VALUE, "\"memory\" and \"ports\"");
	assert_refused(DEVICE "?memory=2", -TENON_E_VALUE, "there is no map 2");
	assert_refused(DEVICE "?memory=a/b", -TENON_E_VALUE, "expected the number of a map");
	assert_refused(DEVICE "?memory=udmabuf1", -TENON_E_DEVICE, "udmabuf1");
	assert_refused(DEVICE "?ports=0x10000", -TENON_E_VALUE, "REGIONCFG");
	assert_refused(DEVICE "?ports=x", -TENON_E_VALUE, "REGIONCFG");
}

/* Values that are nearly a number of a map, a name of an u-dma-buf, or a register. */
static void values_of_keys_are_read_to_their_end(void **state)
{
	static const struct {
		const char *query;
		int status;
		const char *words;
	} cases[] = {
		{ "?memory=", -TENON_E_VALUE, "memory=: from 1 to 39 bytes" },
		{ "?memory=0123456789012345678901234567890123456789", -TENON_E_VALUE, "39 bytes" },
		{ "?memory=u-dma-buf-with-a-name-of-33-bytes", -TENON_E_VALUE,
		  "the number of a map" },
		{ "?memory=10", -TENON_E_DEVICE, "u-dma-buf/10/phys_addr" },
		{ "?memory=:", -TENON_E_DEVICE, "u-dma-buf/:/phys_addr" },
		{ "?memory=-", -TENON_E_DEVICE, "u-dma-buf/-/phys_addr" },
		{ "?memory=%2F", -TENON_E_VALUE, "the number of a map" },
		{ "?memory=9", -TENON_E_VALUE, "there is no map 9" },
		{ "?ports=", -TENON_E_VALUE, "ports=: from 1 to 15 bytes" },
		{ "?ports=0xaa8ax", -TENON_E_VALUE, "REGIONCFG" },
		{ "?ports=%201", -TENON_E_VALUE, "REGIONCFG" },
		{ "?ports=-1", -TENON_E_VALUE, "REGIONCFG" },
		{ "?ports=:", -TENON_E_VALUE, "REGIONCFG" },
		{ "?ports=65536&window=1", -TENON_E_VALUE, "has no key \"window\"" },
		{ "?window=1&ports=1", -TENON_E_VALUE, "has no key \"window\"" },
	};
	char name[80];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(name, sizeof(name), DEVICE "%s", cases[i].query);
		assert_refused(name, cases[i].status, cases[i].words);
	}
}

static void a_device_has_one_user(void **state)
{
	struct tenon_device *first, *second;

	(void)state;
	assert_int_equal(tenon_device_open(DEVICE, &first), 0);
	assert_int_equal(tenon_device_open(DEVICE "?memory=1", &second), -TENON_E_DEVICE);
	assert_error_has("another program uses it");
	tenon_object_unref(first);
	tenon_device_close_all();
	assert_nothing_open();
}

static void registers_that_are_no_npu_are_refused(void **state)
{
	(void)state;
	npu_registers.id = UINT32_MAX;
	npu_registers_power();
	assert_refused(DEVICE, -TENON_E_DEVICE, "read as 0xffffffff");
	npu_registers_start();
	npu_registers.config = 0x30003008;
	npu_registers_power();
	assert_refused(DEVICE, -TENON_E_DEVICE, "product 3");
	npu_registers.config = 0x10003018;
	npu_registers_power();
	assert_refused(DEVICE, -TENON_E_DEVICE, "version 1 of command streams");
	npu_registers_start();
	tree_text("/sys/class/uio/uio0/maps/map0/size", "0x80\n");
	assert_refused(DEVICE, -TENON_E_DEVICE, "has 128 bytes, and the registers have");
}

static void maps_are_found_by_their_names_or_their_order(void **state)
{
	(void)state;
	tree_text("/sys/class/uio/uio0/maps/map0/name", "all\n");
	tree_text("/sys/class/uio/uio0/maps/map1/name", "sram\n");
	run_twice(DEVICE, &models[LOCAL]);
	assert_in_range(npu_registers.first, NPU_REGISTERS_MEMORY,
			NPU_REGISTERS_MEMORY + NPU_REGISTERS_MEMORY_SIZE);
	/* the memory has its registers in it */
	assert_refused(DEVICE "?memory=0", -TENON_E_VALUE, "its registers are in it");
}

static void devices_that_cannot_be_used_are_refused(void **state)
{
	(void)state;
	npu_registers.is_secure = true;
	assert_refused(DEVICE, -TENON_E_DEVICE, "secure state");
	npu_registers_start();
	npu_registers.stuck_resets = 1;
	npu_registers_power();
	assert_refused(DEVICE, -TENON_E_DEVICE, "the reset does not end");
	npu_registers_start();
	npu_registers.config = 0x20000118;
	npu_registers_power();
	assert_refused(DEVICE, -TENON_E_DEVICE, "it is a U85");
	npu_registers.id = npu_registers.config = 0;
	npu_registers_power();
	assert_refused(DEVICE, -TENON_E_DEVICE, "no clock or power");
}

static void memory_that_the_device_does_not_reach_is_refused(void **state)
{
	(void)state;
	tree_text("/sys/class/uio/uio0/maps/map1/addr", "0xfffffff000\n");
	assert_refused(DEVICE, -TENON_E_VALUE, "addresses of 40 bits");
	npu_registers.config = U55;
	npu_registers_power();
	tree_text("/sys/class/uio/uio0/maps/map1/addr", "0x100000000\n");
	assert_refused(DEVICE, -TENON_E_VALUE, "addresses of 32 bits");
	tree_text("/sys/class/uio/uio0/maps/map1/addr", "0x40000008\n");
	assert_refused(DEVICE, -TENON_E_VALUE, "no multiple of 64");
	tree_text("/sys/class/uio/uio0/maps/map1/addr", "0x0\n");
	assert_refused(DEVICE, -TENON_E_DEVICE, "no physical address");
}

static void networks_of_another_target_or_size_are_refused(void **state)
{
	struct model_session s;

	(void)state;
	assert_int_equal(model_session_try(&s, DEVICE, &models[POOL]), -TENON_E_UNSUPPORTED);
	assert_error_has("compiled for u55-128");
	stop(&s);
	tree_text("/sys/class/uio/uio0/maps/map1/size", "0x1000\n");
	assert_int_equal(model_session_try(&s, DEVICE, &models[TABLES]), -TENON_E_NOMEM);
	assert_error_has("no room for");
	stop(&s);
}

static void pieces_are_free_again_when_a_network_is(void **state)
{
	struct model_session s;
	unsigned int i;

	(void)state;
	tree_text("/sys/class/uio/uio0/maps/map1/size", "0x4000\n");
	for (i = 0; i < 3; i++) {
		model_session_start(&s, DEVICE, &models[TABLES]);
		assert_int_equal(model_session_run(&s), 0);
		model_session_assert_output(&s);
		model_session_stop(&s);
	}
	model_session_start(&s, DEVICE, &models[TABLES]);
	stop(&s);
}

static void a_device_can_be_reset(void **state)
{
	struct tenon_device *d, *again;

	(void)state;
	assert_int_equal(tenon_device_open(DEVICE, &d), 0);
	assert_string_equal(tenon_device_properties(d)->name, "u65-256");
	if (tenon_device_reset(d, &again))
		fail_msg("%s", tenon_error_message());
	/* it was opened, ended, and opened again */
	assert_int_equal(npu_registers.resets, 3);
	tenon_object_unref(d);
	tenon_object_unref(again);
	tenon_device_close_all();
	assert_nothing_open();
}

static void words_for_each_channel(void **state)
{
	char text[ETHOSU_FAULT_TEXT];

	(void)state;
	ethosu_fault_text(ETHOSU_STATUS_BUS | 9 << 12, text);
	assert_non_null(strstr(text, "AXI M0, to the destination of a DMA transfer"));
	ethosu_fault_text(ETHOSU_STATUS_BUS | 15 << 12, text);
	assert_non_null(strstr(text, "an unknown channel"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(files_of_vela_run_by_registers, begin),
		cmocka_unit_test_setup(a_u55_uses_the_port_that_writes, begin),
		cmocka_unit_test_setup(keys_choose_memory_and_ports, begin),
		cmocka_unit_test_setup(a_device_without_an_interrupt_is_polled, begin),
		cmocka_unit_test_setup(interrupts_that_are_lost_or_of_others_end_no_job, begin),
		cmocka_unit_test_setup(a_fault_is_told_in_words_and_the_next_run_succeeds, begin),
		cmocka_unit_test_setup(a_device_that_vanishes_is_lost, begin),
		cmocka_unit_test_setup(a_reset_that_does_not_end_is_tried_again_by_the_next_run,
				       begin),
		cmocka_unit_test_setup(names_that_say_nothing_are_refused, begin),
		cmocka_unit_test_setup(values_of_keys_are_read_to_their_end, begin),
		cmocka_unit_test_setup(a_device_has_one_user, begin),
		cmocka_unit_test_setup(registers_that_are_no_npu_are_refused, begin),
		cmocka_unit_test_setup(maps_are_found_by_their_names_or_their_order, begin),
		cmocka_unit_test_setup(devices_that_cannot_be_used_are_refused, begin),
		cmocka_unit_test_setup(memory_that_the_device_does_not_reach_is_refused, begin),
		cmocka_unit_test_setup(networks_of_another_target_or_size_are_refused, begin),
		cmocka_unit_test_setup(pieces_are_free_again_when_a_network_is, begin),
		cmocka_unit_test_setup(a_device_can_be_reset, begin),
		cmocka_unit_test(words_for_each_channel),
	};

	return cmocka_run_group_tests(tests, begin_all, end_all);
}

/* SPDX-License-Identifier: MIT */
/* Bitstreams that name their loader: reading, and loading by an FPGA manager on a named fake. */
#include <stdio.h>
#include <unistd.h>

#include "driver/fpga/fpga_bitstream.h"
#include "tests/driver/bitstream.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/unit/suite.h"

#define MANAGER "/sys/class/fpga_manager/fpga0"
static struct system_calls fake;

static struct bitstream payload;

static ssize_t fake_write(int fd, const void *bytes, size_t size)
{
	const char *path = path_of(fd);

	if (*path && !strcmp(path + strlen(tree), MANAGER "/firmware"))
		tree_text(MANAGER "/state", "operating\n");
	return write(fd, bytes, size);
}

static int setup(void **state)
{
	int err = tree_setup(state);

	fake = system_calls_of_kernel;
	fake.write = fake_write;
	faults_over(&fake);
	tree_text(MANAGER "/name", "Xilinx Zynq FPGA Manager\n");
	tree_text(MANAGER "/state", "unknown\n");
	tree_text(MANAGER "/status", "");
	tree_text(MANAGER "/flags", "0\n");
	tree_text(MANAGER "/firmware", "");
	tree_text("/lib/firmware/npu.bit.bin", BITSTREAM_TEXT);
	bitstream_fill(&payload);
	return err;
}

static int read_it(size_t size, struct fpga_bitstream *b)
{
	struct tenon_cursor c = tenon_cursor_of(&payload, size, "npu.bitstream", 0);

	return fpga_bitstream_read(&c, b);
}

static void a_bitstream_says_what_it_is_for(void **state)
{
	struct fpga_bitstream b;

	(void)state;
	assert_int_equal(read_it(sizeof(payload.header) + BITSTREAM_SIZE, &b), 0);
	assert_true(tenon_slice_equal(b.part, tenon_slice_of("xc7z020clg400-1")));
	assert_true(tenon_slice_equal(b.loader, tenon_slice_of("fpga_manager")));
	assert_int_equal(b.region.size, 0);
	assert_true(tenon_slice_equal(b.firmware, tenon_slice_of("npu.bit.bin")));
	assert_int_equal(b.bytes.size, BITSTREAM_SIZE);
}

static void what_is_no_bitstream_is_refused(void **state)
{
	struct fpga_bitstream b;
	size_t size;

	(void)state;
	for (size = 0; size < sizeof(payload.header) + BITSTREAM_SIZE; size++)
		assert_int_equal(read_it(size, &b), -TENON_E_TRUNCATED);
	payload.header.part[63] = 'x';
	assert_int_equal(read_it(sizeof(payload), &b), -TENON_E_FORMAT);
	assert_error_has("filled up with zero bytes");
	memset(payload.header.part, 0, 64);
	assert_int_equal(read_it(sizeof(payload), &b), -TENON_E_FORMAT);
	assert_error_has("without a part");
	payload.header.part[0] = '\n';
	assert_int_equal(read_it(sizeof(payload), &b), -TENON_E_FORMAT);
	payload.header.major = 2;
	assert_int_equal(read_it(sizeof(payload), &b), -TENON_E_UNSUPPORTED);
	payload.header.magic++;
	assert_int_equal(read_it(sizeof(payload), &b), -TENON_E_FORMAT);
	assert_error_has("no bitstream");
}

static void it_is_loaded_where_the_file_has_its_bytes(void **state)
{
	struct fpga_bitstream b;
	struct fpga f;

	(void)state;
	assert_int_equal(fpga_open(&faulty_calls, tree, 0, &f), 0);
	assert_int_equal(read_it(sizeof(payload.header) + BITSTREAM_SIZE, &b), 0);
	assert_int_equal(fpga_bitstream_load(&f, tree, &b), 0);
	assert_string_equal(tree_read(MANAGER "/firmware"), "npu.bit.bin");
	tree_text("/lib/firmware/npu.bit.bin", "the bytes of a Bitstream");
	assert_int_equal(fpga_bitstream_load(&f, tree, &b), -TENON_E_VALUE);
	assert_error_has("differs");
	tree_text("/lib/firmware/npu.bit.bin", BITSTREAM_TEXT "!");
	assert_int_equal(fpga_bitstream_load(&f, tree, &b), -TENON_E_VALUE);
	tree_drop("/lib/firmware/npu.bit.bin");
	assert_int_equal(fpga_bitstream_load(&f, tree, &b), -TENON_E_IO);
	assert_nothing_open();
}

static void damage_and_other_loaders_are_refused(void **state)
{
	struct fpga_bitstream b;
	struct fpga f;

	(void)state;
	assert_int_equal(fpga_open(&faulty_calls, tree, 0, &f), 0);
	payload.bytes[3]++;
	assert_int_equal(read_it(sizeof(payload.header) + BITSTREAM_SIZE, &b), 0);
	assert_int_equal(fpga_bitstream_load(&f, tree, &b), -TENON_E_FORMAT);
	assert_error_has("damaged");
	b.loader = tenon_slice_of("openFPGALoader");
	assert_int_equal(fpga_bitstream_load(&f, tree, &b), -TENON_E_UNSUPPORTED);
	assert_error_has("openFPGALoader");
	b.loader = tenon_slice_of("fpga_manager");
	b.firmware = tenon_slice_of("../npu.bit.bin");
	assert_int_equal(fpga_bitstream_load(&f, tree, &b), -TENON_E_VALUE);
	assert_nothing_open();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_bitstream_says_what_it_is_for, setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(what_is_no_bitstream_is_refused, setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(it_is_loaded_where_the_file_has_its_bytes, setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(damage_and_other_loaders_are_refused, setup,
						tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

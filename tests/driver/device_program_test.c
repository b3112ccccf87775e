/* SPDX-License-Identifier: MIT */
/* tenon device program and overlays on a named fake: files stand for the kernel's attributes. */
#include <stdio.h>
#include <unistd.h>

#include "tests/driver/bitstream.h"
#include "tests/driver/tree.h"
#include "tests/unit/suite.h"

#include "tests/unit/cli_run.h"

#define MANAGER	 "/sys/class/fpga_manager/fpga0"
#define FIRMWARE "/lib/firmware/npu.bit.bin"
#define OVERLAYS "/sys/kernel/config/device-tree/overlays"

static struct bitstream bitstream;
static char file[300];

static void write_bitstream(size_t size)
{
	FILE *to = fopen(file, "wb");

	assert_non_null(to);
	assert_int_equal(fwrite(&bitstream, 1, size, to), size);
	assert_int_equal(fclose(to), 0);
}

static int setup(void **state)
{
	int err = tree_setup(state);

	tree_text(MANAGER "/name", "Xilinx Zynq FPGA Manager\n");
	tree_text(MANAGER "/state", "operating\n");
	tree_text(MANAGER "/status", "");
	tree_text(MANAGER "/flags", "");
	tree_text(MANAGER "/firmware", "");
	tree_text(FIRMWARE, BITSTREAM_TEXT);
	snprintf(file, sizeof(file), "%s/npu.bitstream", tree);
	bitstream_fill(&bitstream);
	write_bitstream(sizeof(bitstream.header) + BITSTREAM_SIZE);
	return err;
}

static struct cli_run program(char *option)
{
	return RUN("device", "program", "fpga0", file, "--root", tree, option);
}

static void a_bitstream_is_loaded_and_what_operates_is_printed(void **state)
{
	(void)state;
	assert_ran(
		RUN("device", "program", "fpga0", file, "--root", tree), CLI_OK,
		"fpga0 (Xilinx Zynq FPGA Manager) operates: all logic is npu.bit.bin, 24 bytes for "
		"xc7z020clg400-1\n",
		"");
	assert_string_equal(tree_read(MANAGER "/firmware"), "npu.bit.bin");
	assert_string_equal(tree_read(MANAGER "/flags"), "0x0");
}

static void a_region_is_loaded_as_a_part(void **state)
{
	struct cli_run r;

	(void)state;
	memcpy(bitstream.header.region, "region0", 7);
	write_bitstream(sizeof(bitstream.header) + BITSTREAM_SIZE);
	r = RUN("device", "program", "fpga0", file, "--root", tree);
	assert_int_equal(r.code, CLI_OK);
	assert_non_null(strstr(r.out, "region0 is npu.bit.bin"));
	assert_string_equal(tree_read(MANAGER "/flags"), "0x1");
	cli_run_free(&r);
}

static void the_bytes_are_written_where_the_kernel_reads_them(void **state)
{
	struct cli_run r;

	(void)state;
	tree_text(FIRMWARE, "others");
	assert_refused(RUN("device", "program", "fpga0", file, "--root", tree), CLI_NO_FILE,
		       "--copy");
	assert_string_equal(tree_read(MANAGER "/firmware"), "");
	r = program("--copy");
	assert_int_equal(r.code, CLI_OK);
	cli_run_free(&r);
	assert_string_equal(tree_read(FIRMWARE), BITSTREAM_TEXT);
	assert_string_equal(tree_read(MANAGER "/firmware"), "npu.bit.bin");
}

static void damaged_bytes_are_neither_written_nor_loaded(void **state)
{
	(void)state;
	bitstream.bytes[3]++;
	write_bitstream(sizeof(bitstream.header) + BITSTREAM_SIZE);
	assert_refused(program("--copy"), CLI_NO_FILE, "damaged");
	assert_string_equal(tree_read(FIRMWARE), BITSTREAM_TEXT);
	write_bitstream(100);
	assert_refused(program("--copy"), CLI_NO_FILE, "npu.bitstream");
	assert_string_equal(tree_read(MANAGER "/firmware"), "");
}

static void a_firmware_outside_its_folder_is_not_written(void **state)
{
	(void)state;
	strcpy(bitstream.header.firmware, "../../npu.bit.bin");
	write_bitstream(sizeof(bitstream.header) + BITSTREAM_SIZE);
	assert_refused(program("--copy"), CLI_NO_FILE, "below /lib/firmware");
}

static void a_manager_that_fails_is_told_in_the_words_of_the_kernel(void **state)
{
	(void)state;
	tree_text(MANAGER "/state", "write error\n");
	tree_text(MANAGER "/status", "reconfig CRC error\n");
	assert_refused(RUN("device", "program", "fpga0", file, "--root", tree), CLI_UNAVAILABLE,
		       "reconfig CRC error");
	tree_drop(MANAGER "/flags");
	assert_refused(RUN("device", "program", "fpga0", file, "--root", tree), CLI_UNAVAILABLE,
		       "by device-tree overlays");
	assert_refused(RUN("device", "program", "fpga7", file, "--root", tree), CLI_UNAVAILABLE,
		       "no FPGA manager fpga7");
	assert_refused(RUN("device", "program", "cpu", file, "--root", tree), CLI_USAGE,
		       "\"cpu\" is no FPGA manager");
}

static void what_may_not_be_programmed_is_no_fault_of_the_file(void **state)
{
	(void)state;
	tree_drop(MANAGER "/flags");
	tree_text(MANAGER "/flags/x", "");
	assert_refused(RUN("device", "program", "fpga0", file, "--root", tree), CLI_UNAVAILABLE,
		       "flags");
}

static void overlays_need_a_kernel_that_has_them(void **state)
{
	(void)state;
	assert_refused(RUN("device", "apply-overlay", "npu", "npu.dtbo", "--root", tree),
		       CLI_UNAVAILABLE, "no overlays in configfs");
	assert_refused(RUN("device", "apply-overlay", "a/b", "npu.dtbo", "--root", tree), CLI_USAGE,
		       "\"a/b\" is not the name of an overlay");
	assert_refused(RUN("device", "remove-overlay", "npu", "--root", tree), CLI_UNAVAILABLE,
		       "npu");
	tree_text(OVERLAYS "/npu/x", "");
	tree_drop(OVERLAYS "/npu/x");
	tree_text(OVERLAYS "/a\033[31mb/x", "");
	tree_drop(OVERLAYS "/a\033[31mb/x");
	assert_ran(RUN("device", "remove-overlay", "npu", "--root", tree), CLI_OK,
		   "the overlay npu was removed\n", "");
	assert_ran(RUN("device", "remove-overlay", "a\033[31mb", "--root", tree), CLI_OK,
		   "the overlay a?[31mb was removed\n", "");
}

static void an_action_says_which_words_it_takes(void **state)
{
	(void)state;
	assert_refused(RUN("device", "program", "fpga0"), CLI_USAGE, "FILE.bitstream");
	assert_refused(RUN("device", "progam", "fpga0"), CLI_USAGE, "Nearest: \"program\"");
	assert_refused(RUN("device", "reset", "cpu", "--copy"), CLI_USAGE, "--copy");
	assert_refused(RUN("device", "reset", "cpu", "--root", tree), CLI_USAGE, "--root");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_bitstream_is_loaded_and_what_operates_is_printed,
						setup, tree_teardown),
		cmocka_unit_test_setup_teardown(a_region_is_loaded_as_a_part, setup, tree_teardown),
		cmocka_unit_test_setup_teardown(the_bytes_are_written_where_the_kernel_reads_them,
						setup, tree_teardown),
		cmocka_unit_test_setup_teardown(damaged_bytes_are_neither_written_nor_loaded, setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(a_firmware_outside_its_folder_is_not_written, setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(
			a_manager_that_fails_is_told_in_the_words_of_the_kernel, setup,
			tree_teardown),
		cmocka_unit_test_setup_teardown(what_may_not_be_programmed_is_no_fault_of_the_file,
						setup, tree_teardown),
		cmocka_unit_test_setup_teardown(overlays_need_a_kernel_that_has_them, setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(an_action_says_which_words_it_takes, setup,
						tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

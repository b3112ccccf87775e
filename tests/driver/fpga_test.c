/* SPDX-License-Identifier: MIT */
/* FPGA managers on a named fake: files stand for attributes, folders for overlays in configfs. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/fpga/fpga.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/unit/suite.h"

#define MANAGER	 "/sys/class/fpga_manager/fpga0"
#define OVERLAYS "/sys/kernel/config/device-tree/overlays"

static const char *after_load; /* the state behind a write to "firmware" */
static int load_error;	       /* errno of that write; 0: it succeeds */
static const char *applied;    /* the status of an overlay */
static bool overlay;	       /* one is there */

static bool is(int fd, const char *name)
{
	const char *path = path_of(fd);

	return *path && !strcmp(path + strlen(tree), name);
}

static ssize_t fake_write(int fd, const void *bytes, size_t size)
{
	if (is(fd, MANAGER "/firmware"))
		tree_text(MANAGER "/state", after_load);
	if (is(fd, MANAGER "/firmware") && load_error) {
		errno = load_error;
		return -1;
	}
	return write(fd, bytes, size);
}

/* configfs fills the folders that are made in it */
static int fake_mkdir(const char *path, mode_t mode)
{
	int err = mkdir(path, mode);

	if (err)
		return err;
	tree_text(OVERLAYS "/npu/path", "");
	tree_text(OVERLAYS "/npu/status", applied);
	overlay = true;
	return 0;
}

static int fake_rmdir(const char *path)
{
	if (!overlay) {
		errno = ENOENT;
		return -1;
	}
	tree_drop(OVERLAYS "/npu/path");
	tree_drop(OVERLAYS "/npu/status");
	overlay = false;
	return rmdir(path);
}

static struct system_calls fake;

static int setup(void **state)
{
	int err = tree_setup(state);

	fake = system_calls_of_kernel;
	fake.write = fake_write;
	fake.mkdir = fake_mkdir;
	fake.rmdir = fake_rmdir;
	faults_over(&fake);
	after_load = "operating\n";
	load_error = 0;
	applied = "applied\n";
	overlay = false;
	tree_text(MANAGER "/name", "Xilinx Zynq FPGA Manager\n");
	tree_text(MANAGER "/state", "unknown\n");
	tree_text(MANAGER "/status", "");
	tree_text(MANAGER "/flags", "0\n");
	tree_text(MANAGER "/firmware", "");
	tree_text(OVERLAYS "/.keep", "");
	return err;
}

static void states_are_sorted(void **state)
{
	static const struct {
		const char *words;
		enum fpga_state state;
	} rows[] = {
		{ "operating", FPGA_OPERATING },      { "unknown", FPGA_EMPTY },
		{ "power off", FPGA_EMPTY },	      { "reset", FPGA_EMPTY },
		{ "firmware request", FPGA_LOADING }, { "firmware request error", FPGA_FAILED },
		{ "write init", FPGA_LOADING },	      { "write complete error", FPGA_FAILED },
		{ "parse header", FPGA_LOADING },     { "parse header error", FPGA_FAILED },
	};
	enum fpga_state found;
	struct fpga f;
	char words[64];

	(void)state;
	assert_int_equal(fpga_open(&faulty_calls, tree, 0, &f), 0);
	assert_string_equal(f.name, "Xilinx Zynq FPGA Manager");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		tree_text(MANAGER "/state", rows[i].words);
		assert_int_equal(fpga_get_state(&f, &found, words, sizeof(words)), 0);
		assert_int_equal(found, rows[i].state);
	}
	assert_int_equal(fpga_open(&faulty_calls, tree, 1, &f), -TENON_E_NOT_FOUND);
	tenon_error_clear();
	assert_nothing_open();
}

static void a_bitstream_is_loaded_by_name(void **state)
{
	struct fpga f;

	(void)state;
	assert_int_equal(fpga_open(&faulty_calls, tree, 0, &f), 0);
	assert_int_equal(fpga_check(&f), -TENON_E_DEVICE);
	assert_error_has("the state is \"unknown\"");
	assert_int_equal(fpga_load(&f, "npu.bit.bin", false), 0);
	assert_string_equal(tree_read(MANAGER "/firmware"), "npu.bit.bin");
	assert_int_equal(fpga_check(&f), 0);
	assert_int_equal(fpga_load(&f, "../npu.bit.bin", false), -TENON_E_VALUE);
	tree_text(MANAGER "/status", "reconfig CRC error\nreconfig incompatible image\n");
	assert_int_equal(fpga_load(&f, "npu.bit.bin", true), -TENON_E_DEVICE);
	assert_error_has("\"operating\", reconfig CRC error,reconfig incompatible image");
	tree_drop(MANAGER "/flags");
	assert_int_equal(fpga_load(&f, "npu.bit.bin", false), -TENON_E_UNSUPPORTED);
	assert_error_has("by device-tree overlays only");
	assert_nothing_open();
}

static void a_bitstream_that_is_not_loaded_is_told_with_the_step(void **state)
{
	static const struct {
		const char *state;
		int error, status;
		const char *words;
	} rows[] = {
		{ "firmware request error\n", ENOENT, -TENON_E_NOT_FOUND,
		  "firmware request error" },
		{ "parse header error\n", EINVAL, -TENON_E_DEVICE, "parse header error" },
		{ "write error\n", EPROTO, -TENON_E_DEVICE, "Protocol error; the state is" },
		{ "write complete error\n", ETIMEDOUT, -TENON_E_DEVICE, "write complete error" },
		{ "write error\n", ENOMEM, -TENON_E_NOMEM, "\"write error\", reconfig CRC error" },
		{ "operating\n", EINVAL, -TENON_E_VALUE, "/firmware: cannot write it: Invalid" },
		{ "write\n", EBUSY, -TENON_E_DEVICE, "/firmware: cannot write it: Device or" },
	};
	struct fpga f;

	(void)state;
	tree_text(MANAGER "/status", "reconfig CRC error\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(fpga_open(&faulty_calls, tree, 0, &f), 0);
		after_load = rows[i].state;
		load_error = rows[i].error;
		assert_int_equal(fpga_load(&f, "npu.bit.bin", false), rows[i].status);
		assert_error_has(rows[i].words);
		tenon_error_clear();
	}
	assert_nothing_open();
}

static void overlays_are_applied_and_removed(void **state)
{
	(void)state;
	assert_int_equal(fpga_overlay_apply(&faulty_calls, tree, "npu", "npu.dtbo"), 0);
	assert_string_equal(tree_read(OVERLAYS "/npu/path"), "npu.dtbo");
	assert_int_equal(fpga_overlay_apply(&faulty_calls, tree, "npu", "npu.dtbo"),
			 -TENON_E_EXISTS);
	assert_true(overlay);
	assert_int_equal(fpga_overlay_remove(&faulty_calls, tree, "npu"), 0);
	assert_int_equal(fpga_overlay_remove(&faulty_calls, tree, "npu"), -TENON_E_NOT_FOUND);
	applied = "unapplied\n";
	assert_int_equal(fpga_overlay_apply(&faulty_calls, tree, "npu", "npu.dtbo"),
			 -TENON_E_DEVICE);
	assert_error_has("npu.dtbo was not applied: \"unapplied\"");
	assert_false(overlay);
	assert_int_equal(fpga_overlay_apply(&faulty_calls, tree, "../npu", "a"), -TENON_E_VALUE);
	assert_int_equal(fpga_overlay_apply(&faulty_calls, tree, "", "a"), -TENON_E_VALUE);
	assert_int_equal(fpga_overlay_apply(&faulty_calls, tree, "npu", "/a"), -TENON_E_VALUE);
	assert_int_equal(fpga_overlay_remove(&faulty_calls, tree, ".."), -TENON_E_VALUE);
	tenon_error_clear();
	tree_drop(OVERLAYS "/.keep");
	tree_drop(OVERLAYS);
	assert_int_equal(fpga_overlay_apply(&faulty_calls, tree, "npu", "a"), -TENON_E_UNSUPPORTED);
	assert_error_has("configfs is not mounted");
	assert_nothing_open();
}

static int use(const struct system_calls *calls)
{
	struct fpga f;
	int err;

	tree_text(MANAGER "/state", "unknown\n");
	err = fpga_open(calls, tree, 0, &f);
	if (!err)
		err = fpga_load(&f, "npu.bit.bin", true);
	if (!err)
		err = fpga_check(&f);
	if (!err)
		err = fpga_overlay_apply(calls, tree, "npu", "npu.dtbo");
	return err ? err : fpga_overlay_remove(calls, tree, "npu");
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static int expected(const struct fault *f)
{
	if (f->call == CALL_READ && f->error == SHORT)
		return 0;
	/* none of a kernel's: that one looks for no file */
	if (f->call == CALL_WRITE && f->error == ENOENT && ends_with(f->path, "/flags"))
		return -TENON_E_UNSUPPORTED;
	if (f->call == CALL_OPEN && f->error == ENOENT) {
		if (ends_with(f->path, "fpga0/status"))
			return 0;
		if (ends_with(f->path, "/flags"))
			return -TENON_E_UNSUPPORTED;
	}
	if (f->call == CALL_MKDIR && f->error == ENOENT)
		return -TENON_E_UNSUPPORTED;
	return 2;
}

/* An overlay stays when its removal is what fails. */
static unsigned int restart(const struct fault *f)
{
	bool left = overlay;

	if (overlay)
		assert_int_equal(fake_rmdir(f->path[0] ? f->path : "none"), 0);
	return left && f->call != CALL_RMDIR;
}

static void every_call_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const int none[] = { 0 };
	static const struct sweep sweep = {
		.under = &fake,
		.scenario = use,
		.ioctl_errors = none,
		.expected = expected,
		.reset = restart,
	};

	(void)state;
	assert_true(sweep_faults(&sweep) > 100);
}

int main(void)
{
#define on(test) cmocka_unit_test_setup_teardown(test, setup, tree_teardown)
	const struct CMUnitTest tests[] = {
		on(states_are_sorted),
		on(a_bitstream_is_loaded_by_name),
		on(a_bitstream_that_is_not_loaded_is_told_with_the_step),
		on(overlays_are_applied_and_removed),
		on(every_call_that_fails_is_reported_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

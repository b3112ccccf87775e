/* SPDX-License-Identifier: MIT */
/*
 * The kernel's framework for FPGAs, with the managers of tests/driver/module/tenon_fpga.c: what stands in a bitstream
 * says what becomes of it. fpga0 has the attributes of vendors' kernels, fpga1 those of mainline alone.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/error.h>
#include <unistd.h>

#include "driver/fpga/fpga.h"
#include "lib/clock.h"
#include "tests/driver/guest/guest.h"

#define BITSTREAM "tenon/test.bit"

/* Open a manager. Return: whether there is one; else the case is skipped or has failed. */
static bool open_manager(unsigned int number, struct fpga *f)
{
	char why[128];

	if (!system_read_text(&system_calls_of_kernel, "/modules/no_fpga", why, sizeof(why))) {
		guest_skip(why);
		return false;
	}
	if (!fpga_open(NULL, "", number, f))
		return true;
	guest_fail(__FILE__, __LINE__, "fpga_open()");
	return false;
}

/* Write a bitstream of this kind below /lib/firmware. */
static bool write_bitstream(const char *kind)
{
	int fd, n;

	mkdir("/lib", 0755);
	mkdir("/lib/firmware", 0755);
	mkdir("/lib/firmware/tenon", 0755);
	fd = open("/lib/firmware/" BITSTREAM, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	n = fd < 0 ? -1 : dprintf(fd, "TBIT%s and the logic itself", kind);
	if (fd >= 0)
		close(fd);
	return n > 0;
}

static bool state_is(struct fpga *f, enum fpga_state state, const char *words)
{
	enum fpga_state found;
	char said[64];

	return !fpga_get_state(f, &found, said, sizeof(said)) && found == state &&
	       !strcmp(said, words);
}

static void managers_are_found(void)
{
	struct fpga f;

	if (!open_manager(0, &f))
		return;
	expect(!strcmp(f.name, "Tenon's FPGA of a vendor"));
	expect(state_is(&f, FPGA_EMPTY, "power up"));
	expect(fpga_check(&f) == -TENON_E_DEVICE);
	expect(strstr(tenon_error_message(), "the state is \"power up\""));
	expect(fpga_open(NULL, "", 1, &f) == 0);
	expect(!strcmp(f.name, "Tenon's FPGA of mainline"));
	expect(fpga_open(NULL, "", 2, &f) == -TENON_E_NOT_FOUND);
}

static void a_bitstream_is_loaded(void)
{
	struct fpga f;

	if (!open_manager(0, &f))
		return;
	expect(write_bitstream("good"));
	expect(fpga_load(&f, BITSTREAM, false) == 0);
	expect(state_is(&f, FPGA_OPERATING, "operating"));
	expect(fpga_check(&f) == 0);
	/* this one replaces a region, and the kernel has to be told so */
	expect(write_bitstream("part"));
	expect(fpga_load(&f, BITSTREAM, false) == -TENON_E_DEVICE);
	expect(fpga_load(&f, BITSTREAM, true) == 0);
	expect(fpga_check(&f) == 0);
}

static void each_step_that_fails_is_told(void)
{
	static const struct {
		const char *kind, *words;
	} rows[] = {
		{ "head", "the state is \"parse header error\"" },
		{ "init", "the state is \"write init error\"" },
		{ "data", "the state is \"write error\"" },
		{ "done", "the state is \"write complete error\"" },
		{ "crc ", "\"operating\", reconfig CRC error,reconfig fifo overflow error" },
	};
	struct fpga f;

	if (!open_manager(0, &f))
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		expect(write_bitstream(rows[i].kind));
		expect(fpga_load(&f, BITSTREAM, false) == -TENON_E_DEVICE);
		expect(strstr(tenon_error_message(), rows[i].words));
		expect(fpga_check(&f) == -TENON_E_DEVICE);
	}
	expect(fpga_load(&f, "tenon/none.bit", false) == -TENON_E_NOT_FOUND);
	expect(strstr(tenon_error_message(), "firmware request error"));
	expect(write_bitstream("good"));
	expect(fpga_load(&f, BITSTREAM, false) == 0);
	expect(fpga_check(&f) == 0);
}

static int loaded;

static void *load(void *manager)
{
	loaded = fpga_load(manager, BITSTREAM, false);
	return NULL;
}

static void a_manager_that_is_busy_is_told(void)
{
	const char *go_on = "/sys/class/fpga_manager/fpga0/go_on";
	uint64_t deadline = guest_deadline();
	pthread_t thread;
	struct fpga f;
	int second;
	bool busy;

	if (!open_manager(0, &f))
		return;
	expect(write_bitstream("hold"));
	expect(!pthread_create(&thread, NULL, load, &f));
	while (!(busy = state_is(&f, FPGA_LOADING, "parse header")) && clock_now() < deadline)
		guest_pause();
	second = fpga_load(&f, BITSTREAM, false);
	system_write_text(&system_calls_of_kernel, go_on, "1");
	pthread_join(thread, NULL);
	expect(busy);
	expect(second == -TENON_E_DEVICE);
	expect(loaded == 0);
	expect(fpga_check(&f) == 0);
}

static void mainline_loads_none_by_name(void)
{
	struct fpga f;

	if (!open_manager(1, &f))
		return;
	expect(fpga_load(&f, BITSTREAM, false) == -TENON_E_UNSUPPORTED);
	expect(strstr(tenon_error_message(), "by device-tree overlays only"));
	expect(state_is(&f, FPGA_EMPTY, "power up"));
}

static void a_kernel_without_overlays_says_so(void)
{
	expect(fpga_overlay_apply(NULL, "", "npu", "npu.dtbo") == -TENON_E_UNSUPPORTED);
	expect(strstr(tenon_error_message(), "no overlays in configfs"));
	expect(fpga_overlay_remove(NULL, "", "npu") == -TENON_E_NOT_FOUND);
}

const struct guest_case fpga_cases[] = {
	{ "fpga: managers of the kernel are found", managers_are_found },
	{ "fpga: a bitstream is loaded by name, whole and partial", a_bitstream_is_loaded },
	{ "fpga: each step that fails is told in the kernel's words",
	  each_step_that_fails_is_told },
	{ "fpga: a manager that is busy is told", a_manager_that_is_busy_is_told },
	{ "fpga: a manager of mainline loads none by name", mainline_loads_none_by_name },
	{ "fpga: a kernel without overlays says so", a_kernel_without_overlays_says_so },
	{ NULL, NULL },
};

/* SPDX-License-Identifier: MIT */
/*
 * A board on a DSP: how it begins and ends, what is told where something is missing, and each call of the kernel failing in
 * each way. The kernel is a named fake (dsp_kernel.c); qemu-hexagon runs the firmware.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/device.h>
#include <tenon/object.h>
#include <time.h>

#include "devices/mortise/mortise_device.h"
#include "driver/board/board_private.h"
#include "driver/dmabuf/dmabuf_uapi.h"
#include "driver/fastrpc/fastrpc_uapi.h"
#include "lib/clock.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/fastrpc/dsp_kernel.h"
#include "tests/fastrpc/dsp_process.h"
#include "tests/unit/suite.h"

/* how long a firmware may take to end on a busy machine, and one that never will */
#define PATIENT UINT64_C(60000000000)
#define BRIEF	UINT64_C(100000000)

static const struct board_kind *kind;

static int begin(void **state)
{
	(void)state;
	dsp_kernel.libraries = NULL;
	dsp_kernel.map_address = 0;
	board_fastrpc_source = (struct board_fastrpc_source){ &dsp_calls, tree, PATIENT, PATIENT };
	return 0;
}

static void assert_fails(int status, const char *text)
{
	struct board *board;
	int found = board_open(kind, &board);

	assert_null(board);
	if (found != status || !strstr(tenon_error_message(), text))
		print_error("status %d: %s\n", found, tenon_error_message());
	assert_int_equal(found, status);
	assert_non_null(strstr(tenon_error_message(), text));
	tenon_error_clear();
	assert_int_equal(dsp_kernel.processes, 0);
}

static void a_firmware_runs_in_a_process_on_the_dsp(void **state)
{
	const struct mortise_identity *identity;
	struct board *board;

	(void)state;
	assert_int_equal(kind->ready(kind), 0);
	assert_int_equal(board_open(kind, &board), 0);
	assert_int_equal(dsp_kernel.processes, 1);
	assert_int_equal(board_address(board), DSP_ADDRESS);
	identity = (const void *)(board_memory(board)->base + MORTISE_CONTROL_OFFSET);
	assert_int_equal(identity->machine, MORTISE_MACHINE_HEXAGON);
	assert_int_equal(identity->address_bits, 32);
	assert_int_equal(board_alive(board), 0);
	board_close(board);
	assert_int_equal(dsp_kernel.processes, 0);
}

static void a_place_is_the_name_of_a_dsp(void **state)
{
	struct board_place place = { .path = "/cdsp" };
	struct board *board;

	(void)state;
	assert_int_equal(board_attach(kind, &place, &board), 0);
	assert_string_equal(board_name(board), "fastrpc/cdsp");
	board_close(board);
	place.path = "/adsp";
	assert_int_equal(board_attach(kind, &place, &board), -TENON_E_NOT_FOUND);
	assert_error_has("there is no /dev/fastrpc-adsp");
	place.path = "/npu";
	assert_int_equal(board_attach(kind, &place, &board), -TENON_E_VALUE);
	tenon_error_clear();
}

static void what_is_missing_is_told(void **state)
{
	static const char wrong[] =
		"\177ELF\1\1\1 a shell, long enough to be a program of a DSP ....";

	(void)state;
	tree_drop(DSP_SHELL);
	assert_int_equal(kind->ready(kind), -TENON_E_NOT_FOUND);
	assert_fails(-TENON_E_NOT_FOUND, "hexagon-dsp-binaries");
	tree_text(DSP_SHELL, wrong);
	tree_drop(DSP_NODE);
	assert_fails(-TENON_E_NOT_FOUND, "CONFIG_QCOM_FASTRPC");
	tree_zeroes(DSP_NODE, 0);
	dsp_kernel.libraries = tree;
	assert_fails(-TENON_E_DEVICE, "no such library");
	dsp_kernel.libraries = NULL;
	dsp_kernel.map_address = UINT64_C(0x100000000);
	assert_fails(-TENON_E_DEVICE, "cores of 32 bits");
	/* the firmware would write there */
	dsp_kernel.map_address = 0x10000000;
	assert_fails(-TENON_E_LOST, "the DSP restarted");
}

/* A DSP has few sessions, and each node that is open is one. */
static void what_there_is_is_told_without_a_session(void **state)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;

	(void)state;
	dsp_kernel.opened = 0;
	assert_int_equal(kind->ready(kind), 0);
	assert_int_equal(kind->ops->describe(kind, &text), 0);
	assert_non_null(strstr(text.data, "fastrpc: /dev/fastrpc-cdsp, "));
	tree_drop(DSP_NODE);
	assert_int_equal(kind->ready(kind), -TENON_E_NOT_FOUND);
	assert_error_has("CONFIG_QCOM_FASTRPC");
	tree_zeroes(DSP_NODE, 0);
	assert_int_equal(dsp_kernel.opened, 0);
	tenon_buffer_fini(&text);
}

static void a_process_that_ends_is_a_lost_board(void **state)
{
	uint64_t until = clock_now() + UINT64_C(60000000000);
	struct board *board;

	(void)state;
	assert_int_equal(board_open(kind, &board), 0);
	dsp_kernel_signal(SIGKILL);
	while (!board_alive(board) && clock_now() < until)
		;
	assert_int_equal(board_alive(board), -TENON_E_LOST);
	assert_error_has("the DSP restarted");
	/* its memory keeps its bytes over a reset */
	board_memory(board)->base[MORTISE_SHARED_OFFSET] = 7;
	assert_int_equal(board_reset(board), 0);
	assert_int_equal(board_memory(board)->base[MORTISE_SHARED_OFFSET], 7);
	assert_int_equal(board_alive(board), 0);
	board_leave(board);
	assert_int_equal(board_alive(board), -TENON_E_LOST);
	assert_int_equal(dsp_kernel.processes, 0);
	tenon_error_clear();
	board_close(board);
}

/* A process that stands still is not waited for: it ends with its host. */
static void a_firmware_that_does_not_end_is_left(void **state)
{
	struct board *board;

	(void)state;
	assert_int_equal(board_open(kind, &board), 0);
	dsp_kernel_signal(SIGSTOP);
	board_fastrpc_source.stop_ns = BRIEF;
	assert_int_equal(board_reset(board), -TENON_E_TIMEOUT);
	assert_error_has("does not return");
	board_close(board);
	assert_int_equal(dsp_kernel.processes, 1);
	/* another session of the same DSP is possible */
	board_fastrpc_source.stop_ns = PATIENT;
	assert_int_equal(board_open(kind, &board), 0);
	board_close(board);
	dsp_kernel.processes = 0;
}

static _Thread_local unsigned int naps;

int nanosleep(const struct timespec *time, struct timespec *left)
{
	naps++;
	return clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
}

/* A loss waits for the firmware's end no longer than @leave_ns, and once; a reset afterwards does. */
static void a_lost_board_is_left_before_its_firmware_ends(void **state)
{
	struct board *board;

	(void)state;
	assert_int_equal(board_open(kind, &board), 0);
	dsp_kernel_signal(SIGSTOP);
	board_fastrpc_source.leave_ns = BRIEF;
	board_fastrpc_source.stop_ns = 3 * BRIEF;
	board_leave(board);
	naps = 0;
	board_leave(board);
	assert_int_equal(naps, 0);
	assert_int_equal(dsp_kernel.processes, 1);
	board_fastrpc_source.stop_ns = PATIENT;
	dsp_kernel_signal(SIGCONT);
	assert_int_equal(board_reset(board), 0);
	assert_int_equal(board_alive(board), 0);
	assert_int_equal(dsp_kernel.processes, 1);
	board_close(board);
	assert_int_equal(dsp_kernel.processes, 0);
}

static void register_devices(void)
{
	if (!tenon_backend_find(tenon_slice_of("mortise")))
		assert_int_equal(tenon_backend_register(&mortise_backend), 0);
}

/* also where a loss waits for nothing */
static void a_device_that_is_reset_has_one_session(void **state)
{
	struct tenon_device *device, *again;

	(void)state;
	register_devices();
	board_fastrpc_source.leave_ns = 0;
	assert_int_equal(tenon_device_open("mortise://fastrpc", &device), 0);
	assert_int_equal(tenon_device_reset(device, &again), 0);
	assert_int_equal(dsp_kernel.processes, 1);
	assert_int_equal(tenon_device_check(again), 0);
	tenon_object_unref(device);
	tenon_object_unref(again);
	tenon_device_close_all();
	assert_int_equal(dsp_kernel.processes, 0);
}

static void the_name_of_the_device_opens_it(void **state)
{
	struct tenon_device *device;

	(void)state;
	register_devices();
	assert_int_equal(tenon_device_open("mortise://fastrpc", &device), 0);
	assert_string_equal(tenon_device_properties(device)->name, "fastrpc");
	tenon_object_unref(device);
	assert_int_equal(tenon_device_open("mortise://fastrpc/cdsp?wait=60000", &device), 0);
	assert_string_equal(tenon_device_properties(device)->name, "fastrpc/cdsp");
	tenon_object_unref(device);
	tree_drop(DSP_SHELL);
	assert_true(tenon_device_open("mortise://fastrpc", &device) < 0);
	assert_non_null(strstr(tenon_error_message(), "hexagon-dsp-binaries"));
	tenon_error_clear();
	tree_text(DSP_SHELL, "\177ELF\1\1\1 a shell, long enough to be a program of a DSP ....");
}

/* ---- faults */

static int counted_ioctl(int fd, unsigned long request, void *argument)
{
	int result = dsp_calls.ioctl(fd, request, argument);

	if (!result && request == FASTRPC_UAPI_ALLOCATE)
		fake_opened(((struct fastrpc_uapi_buffer *)argument)->fd, "dma-buf");
	return result;
}

static int use(const struct system_calls *calls)
{
	struct board *board;
	int err;

	board_fastrpc_source.calls = calls;
	err = board_open(kind, &board);
	board_close(board);
	return err;
}

static int expected(const struct fault *f)
{
	/* the fourth file that is opened is the shell, to read it; before, a shell that cannot be opened is looked for elsewhere */
	if (f->call == CALL_OPEN && strstr(f->path, "fastrpc_shell") && f->nth < 4 &&
	    f->error != EINTR)
		return -TENON_E_NOT_FOUND;
	if (f->call == CALL_PREAD && f->error == SHORT)
		return 0;
	if (f->request == FASTRPC_UAPI_INVOKE && f->error == EINTR)
		return -TENON_E_IO;
	if (f->error == EPIPE || f->error == ECONNRESET)
		return f->request == FASTRPC_UAPI_INVOKE ? -TENON_E_LOST : -TENON_E_IO;
	if (f->call == CALL_IOCTL && f->request == DMABUF_UAPI_SYNC && f->error == EAGAIN)
		return 0;
	return 2;
}

static unsigned int processes_left(const struct fault *f)
{
	unsigned int left = dsp_kernel.processes;

	(void)f;
	dsp_kernel.processes = 0;
	return left;
}

static void every_call_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const int errors[] = { EINTR,  EAGAIN, EINVAL,	 EFAULT,     ENOMEM,	 EBUSY,
				      ENODEV, EACCES, EPERM,	 EPIPE,	     ECONNRESET, EIO,
				      ENOTTY, ENOSPC, ETIMEDOUT, EOPNOTSUPP, 0 };
	static struct system_calls under;
	static const struct sweep sweep = {
		.under = &under,
		.scenario = use,
		.ioctl_errors = errors,
		.expected = expected,
		.reset = processes_left,
	};

	(void)state;
	under = dsp_calls;
	under.ioctl = counted_ioctl;
	assert_true(sweep_faults(&sweep) > 150);
}

int main(void)
{
#define on(test) cmocka_unit_test_setup(test, begin)
	const struct CMUnitTest tests[] = {
		on(a_firmware_runs_in_a_process_on_the_dsp),
		on(a_place_is_the_name_of_a_dsp),
		on(what_is_missing_is_told),
		on(what_there_is_is_told_without_a_session),
		on(a_process_that_ends_is_a_lost_board),
		on(every_call_that_fails_is_reported_and_leaves_nothing),
		on(a_firmware_that_does_not_end_is_left),
		on(a_lost_board_is_left_before_its_firmware_ends),
		on(a_device_that_is_reset_has_one_session),
		on(the_name_of_the_device_opens_it),
	};
	const char *why = dsp_kernel_start();

	if (why) {
		printf("%s\n", why);
		return 77;
	}
	kind = board_kind_find("fastrpc");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

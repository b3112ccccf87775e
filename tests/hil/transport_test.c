/* SPDX-License-Identifier: MIT */
/*
 * Boards behind UIO, VFIO and remoteproc on named fakes of the kernel, whose calls fail on a schedule. The memory of the
 * board is a file; no firmware runs in it, its identification stands there alone. What a kernel does is in
 * tests/driver/guest.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "driver/board/board.h"
#include "driver/vfio/vfio.h"
#include "driver/vfio/vfio_uapi.h"
#include "tenon/uapi/mortise.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/driver/vfio_kernel.h"
#include "tests/unit/suite.h"

#define UIO	   "/sys/class/uio/uio0"
#define CORE	   "/sys/class/remoteproc/remoteproc0"
#define WINDOW	   (UINT64_C(1) << 20)
#define PAGE	   ((uint64_t)sysconf(_SC_PAGESIZE))
#define IVSHMEM_ID 0x11101af4U

/* parts of a scenario: an error while a board is used has other classes than one while it is opened */
enum step { ATTACH, LOOK, SLEEP, CLOSE };

static struct system_calls fake;
static unsigned int interrupts; /* how often the node of UIO can be read */
static int mask = -1;		/* what was written to it last */

static bool is(int fd, const char *name)
{
	const char *path = path_of(fd);

	return *path && !strcmp(path + strlen(tree), name);
}

/* ---- the fakes */

static ssize_t fake_read(int fd, void *bytes, size_t size)
{
	if (!is(fd, "/dev/uio0"))
		return read(fd, bytes, size);
	if (!interrupts) {
		errno = EAGAIN;
		return -1;
	}
	interrupts--;
	memset(bytes, 7, size);
	return (ssize_t)size;
}

static ssize_t fake_write(int fd, const void *bytes, size_t size)
{
	if (is(fd, "/dev/uio0")) {
		memcpy(&mask, bytes, sizeof(mask));
		return (ssize_t)size;
	}
	if (!is(fd, CORE "/state"))
		return write(fd, bytes, size);
	tree_text(CORE "/state", size == 5 ? "running\n" : "offline\n");
	return (ssize_t)size;
}

static int fake_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	/* the deadline passes at once */
	const struct timespec none = { 0, 0 };

	(void)timeout;
	if (!is(polled->fd, "/dev/uio0"))
		return ppoll(polled, count, &none, NULL);
	polled->revents = interrupts ? POLLIN : 0;
	return interrupts > 0;
}

static int fake_ioctl(int fd, unsigned long request, void *argument)
{
	return is(fd, "/dev/remoteproc0") ? 0 : vfio_kernel_ioctl(fd, request, argument);
}

/* The identification of a firmware, in a file that has the window at an offset. */
static void put_firmware(const char *name, uint64_t window)
{
	struct mortise_identity identity = { .magic = MORTISE_MAGIC, .window_size = WINDOW };
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s%s", tree, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(
		pwrite(fd, &identity, sizeof(identity), (off_t)(window + MORTISE_CONTROL_OFFSET)),
		sizeof(identity));
	close(fd);
}

static int setup(void **state)
{
	int err = tree_setup(state);

	fake = system_calls_of_kernel;
	fake.read = fake_read;
	fake.write = fake_write;
	fake.ppoll = fake_ppoll;
	fake.ioctl = fake_ioctl;
	faults_over(&fake);
	interrupts = 0;
	mask = -1;
	return err;
}

/* The register map is page 0 of the node, the window begins at page 1. */
static int setup_uio(void **state)
{
	int err = setup(state);

	tree_text(UIO "/name", "npu\n");
	tree_text(UIO "/event", "0\n");
	tree_text(UIO "/maps/map0/name", "doorbell\n");
	tree_text(UIO "/maps/map0/addr", "0x43c00000\n");
	tree_text(UIO "/maps/map0/size", "4096\n");
	tree_text(UIO "/maps/map1/name", "window\n");
	tree_text(UIO "/maps/map1/addr", "0x10000000\n");
	tree_text(UIO "/maps/map1/size", "0x100000\n");
	tree_zeroes("/dev/uio0", (size_t)(PAGE + WINDOW));
	put_firmware("/dev/uio0", PAGE);
	return err;
}

static int setup_uio_pci(void **state)
{
	static const uint32_t id = IVSHMEM_ID;
	char path[600];
	int fd, err = setup(state);

	tree_text(UIO "/name", "uio_pci_generic\n");
	tree_text(UIO "/event", "0\n");
	tree_zeroes("/dev/uio0", 0);
	tree_zeroes(UIO "/device/config", 64);
	snprintf(path, sizeof(path), "%s" UIO "/device/config", tree);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(fd, &id, sizeof(id), 0), sizeof(id));
	close(fd);
	tree_text(UIO "/device/resource",
		  "0x00000000fe000000 0x00000000fe000fff 0x0000000000040200\n"
		  "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
		  "0x00000000fd000000 0x00000000fd0fffff 0x0000000000040200\n");
	tree_zeroes(UIO "/device/resource0", 4096);
	tree_zeroes(UIO "/device/resource2", (size_t)WINDOW);
	put_firmware(UIO "/device/resource2", 0);
	return err;
}

static int setup_remoteproc(void **state)
{
	int err = setup_uio(state);

	tree_text(CORE "/name", "7e000000.dsp\n");
	tree_text(CORE "/state", "offline\n");
	tree_text(CORE "/firmware", "old.elf\n");
	tree_zeroes("/dev/remoteproc0", 0);
	return err;
}

/* BAR 0 is the window, and a page of registers behind it. */
static int setup_vfio(void **state)
{
	int err = setup(state);

	vfio_kernel_setup(WINDOW + PAGE);
	put_firmware("/device", 0);
	return err;
}

static int setup_vfio_intx(void **state)
{
	int err = setup_vfio(state);

	vfio_kernel.no_msi = true;
	return err;
}

/* ---- a board is opened, used and closed */

static int use(const struct system_calls *calls, const char *kind, struct board_place *place)
{
	const struct ring_port *port;
	struct board *board;
	int err;

	place->calls = calls;
	place->keys[BOARD_ROOT] = tree;
	err = board_attach(board_kind_find(kind), place, &board);
	if (err) {
		assert_null(board);
		return err;
	}
	assert_int_equal(board_memory(board)->size, WINDOW);
	faults_step = LOOK;
	err = board_alive(board);
	faults_step = SLEEP;
	port = board_port(board);
	if (!err && port->doorbell)
		port->doorbell(port->context);
	if (!err && port->sleep)
		port->sleep(port->context, 0);
	faults_step = CLOSE;
	board_close(board);
	return err;
}

static int use_uio(const struct system_calls *calls)
{
	struct board_place place = { .path = "/0", .keys[BOARD_ACKNOWLEDGE] = "0:8:3" };

	interrupts = 2;
	return use(calls, "uio", &place);
}

static int use_remoteproc(const struct system_calls *calls)
{
	struct board_place place = { .path = "/0",
				     .keys[BOARD_UIO] = "0",
				     .keys[BOARD_FIRMWARE] = "mortise.elf" };

	interrupts = 2;
	return use(calls, "remoteproc", &place);
}

static int use_vfio(const struct system_calls *calls)
{
	struct board_place place = { .path = "/" VFIO_NAME,
				     .keys[BOARD_DOORBELL] = "0:0x100000",
				     .keys[BOARD_ACKNOWLEDGE] = "0:0x100008:3" };

	return use(calls, "vfio", &place);
}

/* ---- what a fault leads to */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* A device that cannot be looked at is lost, but for calls that are repeated. */
static int lost_of(const struct fault *f)
{
	if (f->error == EINTR || f->call == CALL_CLOSE)
		return 0;
	return -TENON_E_LOST;
}

static int expected_of_uio(const struct fault *f)
{
	bool node = ends_with(f->path, "/dev/uio0");

	if (f->step == LOOK)
		return lost_of(f);
	/* the ring looks again, and closing goes on */
	if (f->step == SLEEP || f->step == CLOSE)
		return 0;
	/* a device whose interrupt does not work is polled */
	if (node && (f->call == CALL_READ || f->call == CALL_WRITE || f->call == CALL_PPOLL))
		return 0;
	if (f->call == CALL_PREAD && f->nth > 1)
		return 0;
	if (f->call == CALL_FLOCK && f->error == EWOULDBLOCK)
		return -TENON_E_DEVICE;
	/* a text that the kernel cuts is read on */
	if (f->call == CALL_READ && f->error == SHORT)
		return 0;
	if (f->call != CALL_OPEN || f->error != ENOENT)
		return 2;
	if (ends_with(f->path, "/addr"))
		return -TENON_E_FORMAT;
	if (ends_with(f->path, "/offset") || ends_with(f->path, "/event") ||
	    ends_with(f->path, "/map2/size"))
		return 0;
	/* maps without a name, or fewer of them: another one is taken for the window */
	if (strstr(f->path, "/maps/"))
		return 1;
	return 2;
}

static int expected_of_remoteproc(const struct fault *f)
{
	bool state = ends_with(f->path, CORE "/state");

	if (f->step != ATTACH)
		return f->step == LOOK && !(f->call == CALL_READ && f->error == SHORT) ? lost_of(f)
										       : 0;
	/* kernels without such nodes leave the core running when the process is killed */
	if (ends_with(f->path, "/dev/remoteproc0"))
		return 0;
	/* the start says what is missing, which is not the attribute */
	if (state && f->error == ENOENT)
		return 1;
	return expected_of_uio(f);
}

static int expected_of_vfio(const struct fault *f)
{
	if (f->step == LOOK)
		return lost_of(f);
	if (f->step == SLEEP || f->step == CLOSE)
		return 0;
	/* a device whose interrupt does not work is polled */
	if (f->call == CALL_EVENTFD || f->request == VFIO_DEVICE_GET_IRQ ||
	    f->request == VFIO_DEVICE_SET_IRQS)
		return 0;
	if (f->request == VFIO_GROUP_GET_DEVICE_FD && f->error == ENODEV)
		return -TENON_E_NOT_FOUND;
	/* the link is looked for on two buses: without it there is no IOMMU */
	if (f->call == CALL_READLINK && f->error == ENOENT)
		return strstr(f->path, "iommu_group") ? -TENON_E_UNSUPPORTED : 1;
	return 2;
}

/* A core that this process started stops with the board, unless stopping it is what failed. */
static unsigned int core_runs(const struct fault *f)
{
	bool runs = !strcmp(tree_read(CORE "/state"), "running\n");

	tree_text(CORE "/state", "offline\n");
	return runs && f->step != CLOSE;
}

static unsigned int restart_vfio(const struct fault *f)
{
	bool no_msi = vfio_kernel.no_msi;

	(void)f;
	vfio_kernel_start(WINDOW + PAGE);
	vfio_kernel.no_msi = no_msi;
	return 0;
}

static const int ioctl_errors[] = { EINTR,  EINVAL, EFAULT, ENOMEM, EBUSY,  ENODEV, EPERM,
				    ENOTTY, EIO,    ENOSPC, EEXIST, EACCES, 0 };

static void every_call_of_uio_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const struct sweep sweep = {
		.under = &fake,
		.scenario = use_uio,
		.ioctl_errors = ioctl_errors,
		.expected = expected_of_uio,
	};

	(void)state;
	assert_true(sweep_faults(&sweep) > 200);
}

static void every_call_of_remoteproc_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const struct sweep sweep = {
		.under = &fake,
		.scenario = use_remoteproc,
		.ioctl_errors = ioctl_errors,
		.expected = expected_of_remoteproc,
		.reset = core_runs,
	};

	(void)state;
	assert_true(sweep_faults(&sweep) > 400);
}

static void every_call_of_vfio_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const struct sweep sweep = {
		.under = &fake,
		.scenario = use_vfio,
		.ioctl_errors = ioctl_errors,
		.expected = expected_of_vfio,
		.reset = restart_vfio,
	};

	(void)state;
	assert_true(sweep_faults(&sweep) > 250);
}

/* ---- interrupts */

static uint32_t word_at(const char *name, off_t offset)
{
	uint32_t word = 0;
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s%s", tree, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(fd, &word, sizeof(word), offset), sizeof(word));
	close(fd);
	return word;
}

static struct board *attach(const char *kind, struct board_place *place)
{
	struct board *board;

	place->calls = &faulty_calls;
	place->keys[BOARD_ROOT] = tree;
	assert_int_equal(board_attach(board_kind_find(kind), place, &board), 0);
	return board;
}

static void an_interrupt_of_uio_is_unmasked_awaited_and_taken_back(void **state)
{
	struct board_place place = { .path = "/0", .keys[BOARD_ACKNOWLEDGE] = "0:8:3" };
	struct board *board = attach("uio", &place);
	const struct ring_port *port = board_port(board);

	(void)state;
	port->doorbell(port->context);
	assert_int_equal(word_at("/dev/uio0", 0), 1);
	mask = -1;
	port->sleep(port->context, 0);
	/* none came: there is nothing to take back */
	assert_int_equal(mask, 1);
	assert_int_equal(word_at("/dev/uio0", 8), 0);
	interrupts = 1;
	port->sleep(port->context, 0);
	assert_int_equal(interrupts, 0);
	assert_int_equal(word_at("/dev/uio0", 8), 3);
	board_close(board);
	assert_nothing_open();
}

static void a_level_interrupt_of_vfio_is_taken_back_and_unmasked(void **state)
{
	struct board_place place = { .path = "/" VFIO_NAME,
				     .keys[BOARD_ACKNOWLEDGE] = "0:0x100008:3" };
	struct board *board = attach("vfio", &place);
	const struct ring_port *port = board_port(board);
	const uint64_t one = 1;

	(void)state;
	assert_null(port->doorbell);
	vfio_kernel.intx_masked = true;
	port->sleep(port->context, 0);
	assert_true(vfio_kernel.intx_masked);
	assert_int_equal(word_at("/device", WINDOW + 8), 0);
	assert_int_equal(write(vfio_kernel.intx, &one, sizeof(one)), sizeof(one));
	port->sleep(port->context, 0);
	assert_false(vfio_kernel.intx_masked);
	assert_int_equal(word_at("/device", WINDOW + 8), 3);
	board_close(board);
	assert_nothing_open();
}

int main(void)
{
#define on(test, how) cmocka_unit_test_setup_teardown(test, how, tree_teardown)
	const struct CMUnitTest tests[] = {
		on(an_interrupt_of_uio_is_unmasked_awaited_and_taken_back, setup_uio),
		on(a_level_interrupt_of_vfio_is_taken_back_and_unmasked, setup_vfio_intx),
		on(every_call_of_uio_that_fails_is_reported_and_leaves_nothing, setup_uio),
		{ "every_call_of_uio_on_pci_that_fails_is_reported_and_leaves_nothing",
		  every_call_of_uio_that_fails_is_reported_and_leaves_nothing, setup_uio_pci,
		  tree_teardown, NULL },
		on(every_call_of_vfio_that_fails_is_reported_and_leaves_nothing, setup_vfio),
		{ "every_call_of_vfio_without_msi_that_fails_is_reported_and_leaves_nothing",
		  every_call_of_vfio_that_fails_is_reported_and_leaves_nothing, setup_vfio_intx,
		  tree_teardown, NULL },
		on(every_call_of_remoteproc_that_fails_is_reported_and_leaves_nothing,
		   setup_remoteproc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

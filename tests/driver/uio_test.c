/* SPDX-License-Identifier: MIT */
/*
 * UIO on a named fake: files stand for sysfs, configuration space and BARs; interrupts are counted here. What the
 * kernel does is in guest/uio_cases.c.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "driver/uio/uio.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/unit/suite.h"

static uint32_t counter, taken; /* the kernel's counter, and where the open descriptor stands */
static int control = -1;	/* what was written to the node last */
static int control_error;	/* errno of writes */
static unsigned int stolen;	/* reads that another reader was faster in */

static bool is_node(int fd)
{
	const char *path = path_of(fd);

	return strlen(path) > 9 && !strcmp(path + strlen(path) - 9, "/dev/uio0");
}

static ssize_t fake_read(int fd, void *bytes, size_t size)
{
	if (!is_node(fd))
		return read(fd, bytes, size);
	assert_int_equal(size, 4);
	if (counter == taken || stolen) {
		stolen -= stolen > 0;
		errno = EAGAIN;
		return -1;
	}
	taken = counter;
	memcpy(bytes, &counter, 4);
	return 4;
}

static ssize_t fake_write(int fd, const void *bytes, size_t size)
{
	if (!is_node(fd))
		return write(fd, bytes, size);
	assert_int_equal(size, 4);
	errno = control_error;
	if (control_error)
		return -1;
	memcpy(&control, bytes, 4);
	return 4;
}

static int fake_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	(void)timeout;
	assert_int_equal(count, 1);
	assert_true(is_node(polled->fd));
	/* the deadline passes at once */
	return counter != taken;
}

static struct system_calls fake;

static int setup(void **state)
{
	int err = tree_setup(state);

	fake = system_calls_of_kernel;
	fake.read = fake_read;
	fake.write = fake_write;
	fake.ppoll = fake_ppoll;
	faults_over(&fake);
	counter = taken = 41;
	control = -1;
	control_error = 0;
	stolen = 0;
	tree_text("/sys/class/uio/uio0/name", "npu\n");
	tree_text("/sys/class/uio/uio0/event", "41\n");
	tree_text("/sys/class/uio/uio0/maps/map0/name", "registers\n");
	tree_text("/sys/class/uio/uio0/maps/map0/addr", "0x43c00010\n");
	tree_text("/sys/class/uio/uio0/maps/map0/size", "0x0000000000000ff0\n");
	tree_text("/sys/class/uio/uio0/maps/map0/offset", "0x10\n");
	tree_text("/sys/class/uio/uio0/maps/map1/addr", "0x10000000\n");
	tree_text("/sys/class/uio/uio0/maps/map1/size", "4096\n");
	tree_zeroes("/dev/uio0", 2 * (size_t)sysconf(_SC_PAGESIZE));
	return err;
}

static int setup_pci(void **state)
{
	int err = setup(state);

	tree_text("/sys/class/uio/uio0/name", "uio_pci_generic\n");
	/* vendor, device, and a command register that disables interrupts */
	tree_text("/sys/class/uio/uio0/device/config", "\1\1\1\1\4\4");
	tree_text("/sys/class/uio/uio0/device/resource",
		  "0x00000000fe000000 0x00000000fe001fff 0x0000000000040200\n"
		  "0x000000000000c000 0x000000000000c03f 0x0000000000040101\n"
		  "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
		  "0x0000000000000010 0xffffffffffffffff 0x0000000000040200\n");
	tree_zeroes("/sys/class/uio/uio0/device/resource0", 8192);
	control_error = EIO;
	return err;
}

static void open_it(struct uio *u)
{
	assert_int_equal(uio_open(&faulty_calls, tree, 0, u), 0);
}

static void close_it(struct uio *u)
{
	uio_close(u);
	assert_nothing_open();
	uio_close(u);
}

static void maps_have_names_sizes_and_addresses(void **state)
{
	struct uio u;

	(void)state;
	open_it(&u);
	assert_string_equal(u.driver, "npu");
	assert_int_equal(u.map_count, 2);
	assert_string_equal(u.map[0].name, "registers");
	assert_int_equal(u.map[0].address, 0x43c00010);
	assert_int_equal(u.map[0].size, 0xff0);
	assert_string_equal(u.map[1].name, "");
	assert_int_equal(u.map[1].size, 4096);
	close_it(&u);
}

static void a_map_begins_at_its_offset_and_ends_with_its_size(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct uio u;

	(void)state;
	open_it(&u);
	assert_int_equal(uio_map(&u, 0), 0);
	assert_ptr_equal(u.map[0].base, (uint8_t *)u.map[0].start + 0x10);
	u.map[0].base[0] = 0xa5;
	assert_int_equal(uio_map(&u, 1), 0);
	u.map[1].base[0] = 0x5a;
	assert_int_equal(uio_map(&u, 1), 0);
	assert_int_equal(uio_map(&u, 2), -TENON_E_VALUE);
	assert_error_has("there is no map 2; the device has 2");
	close_it(&u);
	assert_null(u.map[0].base);
	/* the number of a map is its page in the node */
	assert_int_equal(tree_read("/dev/uio0")[0x10], (char)0xa5);
	{
		FILE *f;
		char path[600];

		snprintf(path, sizeof(path), "%s/dev/uio0", tree);
		f = fopen(path, "r");
		assert_non_null(f);
		assert_int_equal(fseek(f, (long)page, SEEK_SET), 0);
		assert_int_equal(fgetc(f), 0x5a);
		fclose(f);
	}
}

static void maps_that_make_no_sense_are_refused(void **state)
{
	struct uio u;

	(void)state;
	tree_text("/sys/class/uio/uio0/maps/map0/offset", "0x100000\n");
	assert_int_equal(uio_open(&faulty_calls, tree, 0, &u), -TENON_E_FORMAT);
	assert_error_has("expected an offset inside a page");
	tree_text("/sys/class/uio/uio0/maps/map0/offset", "0x10\n");
	tree_drop("/sys/class/uio/uio0/maps/map0/addr");
	assert_int_equal(uio_open(&faulty_calls, tree, 0, &u), -TENON_E_FORMAT);
	tree_text("/sys/class/uio/uio0/maps/map0/addr", "0x0\n");
	tree_text("/sys/class/uio/uio0/maps/map0/size", "0xffffffffffffffff\n");
	open_it(&u);
	assert_int_equal(uio_map(&u, 0), -TENON_E_OVERFLOW);
	tenon_error_clear();
	close_it(&u);
}

static void a_device_that_is_not_there_is_not_found(void **state)
{
	struct uio u;

	(void)state;
	assert_int_equal(uio_open(&faulty_calls, tree, 1, &u), -TENON_E_NOT_FOUND);
	assert_error_has("/dev/uio1: ");
	assert_nothing_open();
}

static void interrupts_are_counted_and_missed_ones_reported(void **state)
{
	struct uio u;
	uint32_t count;

	(void)state;
	open_it(&u);
	assert_int_equal(uio_wait_interrupt(&u, 0, &count), -TENON_E_TIMEOUT);
	assert_int_equal(count, 0);
	counter++;
	assert_int_equal(uio_wait_interrupt(&u, 0, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(u.missed, 0);
	counter += 5;
	assert_int_equal(uio_wait_interrupt(&u, 0, &count), 0);
	assert_int_equal(count, 5);
	assert_int_equal(u.interrupts, 6);
	assert_int_equal(u.missed, 4);
	tenon_error_clear();
	close_it(&u);
}

static void the_counter_goes_on_beyond_32_bits(void **state)
{
	struct uio u;
	uint32_t count;

	(void)state;
	counter = taken = UINT32_MAX;
	tree_text("/sys/class/uio/uio0/event", "4294967295\n");
	open_it(&u);
	counter += 2;
	assert_int_equal(uio_wait_interrupt(&u, 0, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(u.missed, 1);
	close_it(&u);
}

/* open() notes the counter, the attribute is read behind it: it may have counted on in between */
static void an_interrupt_while_the_device_is_opened_counts_once(void **state)
{
	struct uio u;
	uint32_t count;

	(void)state;
	counter = 42;
	tree_text("/sys/class/uio/uio0/event", "42\n");
	open_it(&u);
	assert_int_equal(uio_wait_interrupt(&u, 0, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(u.missed, 0);
	close_it(&u);
}

static void a_reader_that_comes_late_waits_on(void **state)
{
	struct uio u;
	uint32_t count;

	(void)state;
	open_it(&u);
	stolen = 2;
	counter++;
	assert_int_equal(uio_wait_interrupt(&u, UINT64_MAX, &count), 0);
	assert_int_equal(count, 1);
	close_it(&u);
}

static void the_node_unmasks(void **state)
{
	struct uio u;

	(void)state;
	open_it(&u);
	assert_int_equal(uio_enable_interrupt(&u), 0);
	assert_int_equal(control, 1);
	/* a driver without a mask */
	control_error = ENOSYS;
	assert_int_equal(uio_enable_interrupt(&u), 0);
	/* a device without an interrupt */
	control_error = EIO;
	assert_int_equal(uio_enable_interrupt(&u), -TENON_E_DEVICE);
	assert_error_has("cannot unmask its interrupt");
	assert_int_equal(uio_pci_map(&u, 0), -TENON_E_UNSUPPORTED);
	tenon_error_clear();
	close_it(&u);
}

static unsigned int command(void)
{
	const char *bytes = tree_read("/sys/class/uio/uio0/device/config");

	return (unsigned int)((uint8_t)bytes[4] | (uint8_t)bytes[5] << 8);
}

static void pci_generic_unmasks_in_configuration_space(void **state)
{
	struct uio u;

	(void)state;
	open_it(&u);
	assert_int_equal(command(), 0x404);
	assert_int_equal(uio_enable_interrupt(&u), 0);
	assert_int_equal(command(), 0x004);
	assert_int_equal(uio_enable_interrupt(&u), 0);
	assert_int_equal(command(), 0x004);
	close_it(&u);
}

static void bars_that_are_memory_can_be_mapped(void **state)
{
	struct uio u;

	(void)state;
	open_it(&u);
	assert_int_equal(uio_pci_map(&u, 0), 0);
	assert_int_equal(u.bar[0].size, 8192);
	assert_int_equal(u.bar[0].address, 0xfe000000);
	u.bar[0].base[8191] = 1;
	assert_int_equal(uio_pci_map(&u, 1), -TENON_E_VALUE);
	assert_error_has("BAR 1 is no memory");
	assert_int_equal(uio_pci_map(&u, 2), -TENON_E_VALUE);
	assert_int_equal(uio_pci_map(&u, 3), -TENON_E_OVERFLOW);
	assert_error_has("BAR 3 has 18446744073709551600 bytes");
	assert_int_equal(uio_pci_map(&u, 5), -TENON_E_FORMAT);
	assert_int_equal(uio_pci_map(&u, 6), -TENON_E_VALUE);
	tenon_error_clear();
	close_it(&u);
}

/* ---- every call fails with every errno */

static int use(const struct system_calls *calls)
{
	struct uio u;
	uint32_t count;
	int err;

	counter = taken = 41;
	err = uio_open(calls, tree, 0, &u);
	if (err)
		return err;
	counter++;
	err = u.config >= 0 ? uio_pci_map(&u, 0) : uio_map(&u, 0);
	if (!err && u.config < 0)
		err = uio_map(&u, 1);
	if (!err)
		err = uio_enable_interrupt(&u);
	if (!err)
		err = uio_wait_interrupt(&u, UINT64_MAX, &count);
	uio_close(&u);
	return err;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static int expected(const struct fault *f)
{
	bool node = ends_with(f->path, "/dev/uio0");

	/* attributes that need not be there; a folder that is missing ends the list of maps */
	if (f->call == CALL_OPEN && f->error == ENOENT) {
		if (ends_with(f->path, "/offset") || ends_with(f->path, "/event") ||
		    ends_with(f->path, "/maps/map0/name") || ends_with(f->path, "/maps/map1/name"))
			return 0;
		if (ends_with(f->path, "/addr"))
			return -TENON_E_FORMAT;
		if (ends_with(f->path, "/map2/size"))
			return 0;
		/* fewer maps than there are: the scenario finds none to map, or uses none */
		if (ends_with(f->path, "/map0/size") || ends_with(f->path, "/map1/size"))
			return 1;
		return 2;
	}
	if (f->call == CALL_READ && node && f->error == EAGAIN)
		return 0;
	/* a text that the kernel cuts is read on */
	if (f->call == CALL_READ && !node && f->error == SHORT)
		return 0;
	return 2;
}

static const int no_ioctls[] = { 0 };
static const struct sweep sweep = {
	.under = &fake,
	.scenario = use,
	.ioctl_errors = no_ioctls,
	.expected = expected,
};

static void every_call_that_fails_is_reported_and_leaves_nothing(void **state)
{
	(void)state;
	assert_true(sweep_faults(&sweep) > 200);
}

int main(void)
{
#define on(test, how) cmocka_unit_test_setup_teardown(test, how, tree_teardown)
	const struct CMUnitTest tests[] = {
		on(maps_have_names_sizes_and_addresses, setup),
		on(a_map_begins_at_its_offset_and_ends_with_its_size, setup),
		on(maps_that_make_no_sense_are_refused, setup),
		on(a_device_that_is_not_there_is_not_found, setup),
		on(interrupts_are_counted_and_missed_ones_reported, setup),
		on(the_counter_goes_on_beyond_32_bits, setup),
		on(an_interrupt_while_the_device_is_opened_counts_once, setup),
		on(a_reader_that_comes_late_waits_on, setup),
		on(the_node_unmasks, setup),
		on(pci_generic_unmasks_in_configuration_space, setup_pci),
		on(bars_that_are_memory_can_be_mapped, setup_pci),
		on(every_call_that_fails_is_reported_and_leaves_nothing, setup),
		{ "every_call_on_pci_that_fails_is_reported_and_leaves_nothing",
		  every_call_that_fails_is_reported_and_leaves_nothing, setup_pci, tree_teardown,
		  NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* driver/vfio on a named fake of the kernel (vfio_kernel.h), which needs no device; guest/vfio_cases.c tests the kernel itself. */
#include <errno.h>
#include <unistd.h>

#include "driver/vfio/vfio.h"
#include "driver/vfio/vfio_uapi.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/driver/vfio_kernel.h"
#include "tests/unit/suite.h"

/* bytes of BAR 0 */
#define BAR0 (2 * VFIO_PAGE)

static struct system_calls fake;

static int setup(void **state)
{
	int err = tree_setup(state);

	fake = system_calls_of_kernel;
	fake.ioctl = vfio_kernel_ioctl;
	faults_over(&fake);
	vfio_kernel_setup(BAR0);
	return err;
}

static void open_it(struct vfio *v)
{
	assert_int_equal(vfio_open(&faulty_calls, tree, VFIO_NAME, v), 0);
}

static void close_it(struct vfio *v)
{
	vfio_close(v);
	assert_nothing_open();
	vfio_close(v);
}

static void refused(int status, const char *message)
{
	struct vfio v;

	assert_int_equal(vfio_open(&faulty_calls, tree, VFIO_NAME, &v), status);
	assert_error_has(message);
	assert_nothing_open();
}

static void a_device_tells_what_it_has(void **state)
{
	struct vfio v;

	(void)state;
	open_it(&v);
	assert_int_equal(v.group_number, 7);
	assert_true(v.is_pci);
	assert_int_equal(v.regions, 9);
	assert_int_equal(v.irqs, 5);
	close_it(&v);
	vfio_kernel.old_iommu = true;
	open_it(&v);
	close_it(&v);
}

static void what_cannot_be_opened_is_refused_with_a_remedy(void **state)
{
	struct vfio v;

	(void)state;
	vfio_kernel.viable = false;
	refused(-TENON_E_DEVICE, "other devices of this group");
	vfio_kernel.viable = true;
	vfio_kernel.bound = false;
	refused(-TENON_E_NOT_FOUND, "bind the device to vfio-pci");
	vfio_kernel.bound = true;
	vfio_kernel.type1 = false;
	refused(-TENON_E_UNSUPPORTED, "not of type 1");
	vfio_kernel.type1 = true;
	vfio_kernel.version = 1;
	refused(-TENON_E_UNSUPPORTED, "expected version 0 of the interface, found 1");
	vfio_kernel.version = 0;
	tree_drop("/dev/vfio/7");
	refused(-TENON_E_NOT_FOUND, VFIO_NAME ": bind the device to vfio-pci");
	tree_drop("/sys/devices/pci0000:00/" VFIO_NAME "/iommu_group");
	refused(-TENON_E_UNSUPPORTED, "no IOMMU for this device");
	tree_link("/sys/devices/pci0000:00/" VFIO_NAME "/iommu_group", "../seven");
	refused(-TENON_E_FORMAT, "expected the number of a group, found \"../seven\"");
	tree_drop("/sys/bus/pci/devices/" VFIO_NAME);
	refused(-TENON_E_NOT_FOUND, "there is no such device");
	assert_int_equal(vfio_open(&faulty_calls, tree, "../../" VFIO_NAME, &v), -TENON_E_VALUE);
	assert_int_equal(vfio_open(&faulty_calls, tree, "", &v), -TENON_E_VALUE);
	tenon_error_clear();
}

static void regions_are_mapped_or_read_by_calls(void **state)
{
	struct vfio_region bar, other;
	uint32_t word = 0x12345678, found = 0;
	struct vfio v;

	(void)state;
	open_it(&v);
	assert_int_equal(vfio_region_open(&v, VFIO_PCI_BAR0, &bar), 0);
	assert_int_equal(bar.size, 2 * VFIO_PAGE);
	assert_int_equal(vfio_region_map(&v, &bar), 0);
	assert_int_equal(vfio_region_map(&v, &bar), 0);
	assert_int_equal(vfio_region_write(&v, &bar, 8, &word, 4), 0);
	assert_memory_equal((const void *)(bar.base + 8), &word, 4);
	assert_int_equal(vfio_region_open(&v, VFIO_PCI_BAR0 + 1, &other), 0);
	assert_int_equal(vfio_region_map(&v, &other), -TENON_E_UNSUPPORTED);
	assert_error_has("cannot be mapped");
	assert_int_equal(vfio_region_write(&v, &other, 2 * VFIO_PAGE - 4, &word, 4), 0);
	assert_int_equal(vfio_region_read(&v, &other, 2 * VFIO_PAGE - 4, &found, 4), 0);
	assert_int_equal(found, word);
	assert_int_equal(vfio_region_read(&v, &other, 2 * VFIO_PAGE - 3, &found, 4),
			 -TENON_E_VALUE);
	assert_int_equal(vfio_region_read(&v, &other, UINT64_MAX, &found, 4), -TENON_E_VALUE);
	assert_int_equal(vfio_region_open(&v, 3, &other), -TENON_E_VALUE);
	assert_error_has("region 3 is empty");
	assert_int_equal(vfio_region_open(&v, 2, &other), -TENON_E_OVERFLOW);
	assert_int_equal(vfio_region_open(&v, 9, &other), -TENON_E_VALUE);
	tenon_error_clear();
	vfio_region_close(&v, &bar);
	vfio_region_close(&v, &bar);
	close_it(&v);
}

static void interrupts_signal_their_descriptors(void **state)
{
	int fds[2], intx;
	uint64_t count, two = 2;
	struct vfio v;

	(void)state;
	open_it(&v);
	assert_int_equal(vfio_interrupts_open(&v, VFIO_PCI_MSI, 2, fds), 0);
	assert_int_equal(vfio_kernel.vectors[1], fds[1]);
	assert_int_equal(vfio_interrupt_wait(&v, fds[0], 0, &count), -TENON_E_TIMEOUT);
	assert_int_equal(count, 0);
	assert_int_equal(write(vfio_kernel.vectors[1], &two, 8), 8);
	assert_int_equal(vfio_interrupt_wait(&v, fds[1], UINT64_MAX, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(vfio_interrupt_unmask(&v, VFIO_PCI_MSI), -TENON_E_VALUE);
	assert_int_equal(vfio_interrupts_open(&v, VFIO_PCI_INTX, 1, &intx), -TENON_E_VALUE);
	assert_int_equal(intx, -1);
	vfio_interrupts_close(&v, VFIO_PCI_MSI, 2, fds);
	assert_int_equal(fds[0], -1);
	assert_int_equal(vfio_kernel.vectors[0], -1);
	vfio_kernel.intx_masked = true;
	assert_int_equal(vfio_interrupts_open(&v, VFIO_PCI_INTX, 1, &intx), 0);
	assert_int_equal(vfio_interrupt_unmask(&v, VFIO_PCI_INTX), 0);
	assert_false(vfio_kernel.intx_masked);
	vfio_interrupts_close(&v, VFIO_PCI_INTX, 1, &intx);
	tenon_error_clear();
	close_it(&v);
}

static void vectors_that_the_device_lacks_are_refused(void **state)
{
	int fds[VFIO_MSI + 1];
	struct vfio v;

	(void)state;
	open_it(&v);
	assert_int_equal(vfio_interrupts_open(&v, VFIO_PCI_MSI, VFIO_MSI + 1, fds), -TENON_E_VALUE);
	assert_error_has("5 vectors wanted, the device has 4");
	assert_int_equal(vfio_interrupts_open(&v, VFIO_PCI_MSI, 0, fds), -TENON_E_VALUE);
	assert_int_equal(vfio_interrupts_open(&v, VFIO_PCI_MSIX, 1, fds), -TENON_E_UNSUPPORTED);
	assert_int_equal(vfio_interrupts_open(&v, 5, 1, fds), -TENON_E_UNSUPPORTED);
	tenon_error_clear();
	close_it(&v);
}

/* ---- every call fails with every errno */

static int use_device(struct vfio *v, struct vfio_region *bar, int *fds)
{
	uint64_t count, one = 1;
	uint32_t word = 0;
	int err;

	err = vfio_region_open(v, VFIO_PCI_BAR0, bar);
	if (!err)
		err = vfio_region_map(v, bar);
	if (!err)
		err = vfio_region_write(v, bar, 0, &word, sizeof(word));
	if (!err)
		err = vfio_region_read(v, bar, 0, &word, sizeof(word));
	if (!err)
		err = vfio_pci_set_master(v, true);
	if (!err)
		err = vfio_interrupts_open(v, VFIO_PCI_MSI, 2, fds);
	if (err)
		return err;
	assert_int_equal(write(fds[0], &one, 8), 8);
	err = vfio_interrupt_wait(v, fds[0], UINT64_MAX, &count);
	return err ? err : vfio_interrupt_unmask(v, VFIO_PCI_INTX);
}

static int use(const struct system_calls *calls)
{
	struct vfio_region bar = { .base = NULL };
	int fds[2] = { -1, -1 };
	struct vfio v;
	int err = vfio_open(calls, tree, VFIO_NAME, &v);

	if (err)
		return err;
	faults_step = 1;
	err = use_device(&v, &bar, fds);
	faults_step = 2;
	if (fds[0] >= 0)
		vfio_interrupts_close(&v, VFIO_PCI_MSI, 2, fds);
	vfio_region_close(&v, &bar);
	vfio_close(&v);
	return err;
}

static unsigned int restart(const struct fault *f)
{
	(void)f;
	vfio_kernel_start(BAR0);
	return 0;
}

static int expected(const struct fault *f)
{
	if (f->call == CALL_READ && f->error == EAGAIN)
		return 0;
	/* a device that is not bound, or no container */
	if (f->request == VFIO_GROUP_GET_DEVICE_FD && f->error == ENODEV)
		return -TENON_E_NOT_FOUND;
	/* the link is looked for on two buses: without it there is no IOMMU */
	if (f->call == CALL_READLINK && f->error == ENOENT)
		return strstr(f->path, "iommu_group") ? -TENON_E_UNSUPPORTED : 1;
	/* interrupts end with the device, whatever closing them says */
	if (f->request == VFIO_DEVICE_SET_IRQS && f->step == 2)
		return 0;
	return 2;
}

static void every_call_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const int errors[] = { EINTR,  EINVAL, EFAULT, ENOMEM, EBUSY,  ENODEV, EPERM,
				      ENOTTY, EIO,    ENOSPC, EEXIST, EACCES, 0 };
	static const struct sweep sweep = {
		.under = &fake,
		.scenario = use,
		.ioctl_errors = errors,
		.expected = expected,
		.reset = restart,
	};

	(void)state;
	assert_true(sweep_faults(&sweep) > 250);
}

int main(void)
{
#define on(test) cmocka_unit_test_setup_teardown(test, setup, tree_teardown)
	const struct CMUnitTest tests[] = {
		on(a_device_tells_what_it_has),
		on(what_cannot_be_opened_is_refused_with_a_remedy),
		on(regions_are_mapped_or_read_by_calls),
		on(interrupts_signal_their_descriptors),
		on(vectors_that_the_device_lacks_are_refused),
		on(every_call_that_fails_is_reported_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

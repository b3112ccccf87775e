/* SPDX-License-Identifier: MIT */
/*
 * VFIO on a named fake: a PCI device of two BARs (one that cannot be mapped), configuration space, MSI and INTx, behind
 * a type 1 IOMMU that keeps a list of what is mapped. What the kernel does is in guest_vfio.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/vfio/vfio.h"
#include "driver/vfio/vfio_uapi.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/unit/suite.h"

#define NAME	 "0000:00:04.0"
#define PAGE	 ((uint64_t)sysconf(_SC_PAGESIZE))
#define MAPPINGS 8
#define VECTORS	 4

static struct {
	int version;
	bool type1, viable, bound, resets, attached, iommu;
	bool old_iommu;	     /* it does not know version 2 of type 1 */
	bool loop;	     /* its capabilities refer to themselves */
	uint32_t cap_offset; /* 0: where the capability is */
	uint32_t ranges;
	int vectors[VECTORS]; /* eventfds of MSI; -1 when disabled */
	int intx;
	bool intx_masked;
	unsigned int resets_done;
	struct {
		uint64_t iova, size;
	} mapped[MAPPINGS];
	unsigned int mapped_count;
} kernel;

static unsigned int start(void)
{
	unsigned int left = kernel.mapped_count;

	memset(&kernel, 0, sizeof(kernel));
	kernel.type1 = kernel.viable = kernel.bound = kernel.resets = true;
	kernel.ranges = 2;
	for (int i = 0; i < VECTORS; i++)
		kernel.vectors[i] = -1;
	kernel.intx = -1;
	return left;
}

static int refuse(int error)
{
	errno = error;
	return -1;
}

static int container_call(unsigned long request, void *argument)
{
	intptr_t type = (intptr_t)argument;

	switch (request) {
	case VFIO_GET_API_VERSION:
		return kernel.version;
	case VFIO_CHECK_EXTENSION:
		return kernel.type1 && (type == VFIO_IOMMU_TYPE1 ||
					(type == VFIO_IOMMU_TYPE1_V2 && !kernel.old_iommu));
	case VFIO_SET_IOMMU:
		if (!kernel.attached)
			return refuse(EINVAL);
		assert_int_equal(type, kernel.old_iommu ? VFIO_IOMMU_TYPE1 : VFIO_IOMMU_TYPE1_V2);
		kernel.iommu = true;
		return 0;
	}
	if (!kernel.iommu)
		return refuse(EINVAL);
	switch (request) {
	case VFIO_IOMMU_GET_INFO: {
		struct vfio_uapi_iommu_info *info = argument;
		struct vfio_uapi_iova_ranges cap = { { VFIO_CAP_IOVA_RANGES, 1, 0 }, 0, 0 };
		uint64_t range[4] = { 0, 0xfedfffff, 0xfef00000, UINT64_C(0x7fffffffff) };
		uint32_t at = sizeof(*info);

		cap.cap.next = kernel.loop ? at : 0;
		cap.count = kernel.ranges;
		assert_true(info->size >= 256);
		info->flags = VFIO_INFO_HAS_PAGE_SIZES | VFIO_INFO_HAS_CAPS;
		info->page_sizes = 0x40201000;
		info->cap_offset = kernel.cap_offset ? kernel.cap_offset : at;
		memcpy((char *)argument + at, &cap, sizeof(cap));
		memcpy((char *)argument + at + sizeof(cap), range, sizeof(range));
		return 0;
	}
	case VFIO_IOMMU_MAP_DMA: {
		const struct vfio_uapi_map *m = argument;

		for (unsigned int i = 0; i < kernel.mapped_count; i++)
			if (m->iova < kernel.mapped[i].iova + kernel.mapped[i].size &&
			    kernel.mapped[i].iova < m->iova + m->bytes)
				return refuse(EEXIST);
		assert_true(kernel.mapped_count < MAPPINGS);
		kernel.mapped[kernel.mapped_count].iova = m->iova;
		kernel.mapped[kernel.mapped_count].size = m->bytes;
		kernel.mapped_count++;
		return 0;
	}
	case VFIO_IOMMU_UNMAP_DMA: {
		struct vfio_uapi_unmap *m = argument;
		unsigned int i = 0;

		while (i < kernel.mapped_count && kernel.mapped[i].iova != m->iova)
			i++;
		if (i == kernel.mapped_count) {
			m->bytes = 0;
			return 0;
		}
		m->bytes = kernel.mapped[i].size;
		kernel.mapped[i] = kernel.mapped[--kernel.mapped_count];
		return 0;
	}
	}
	return refuse(ENOTTY);
}

static int group_call(unsigned long request, void *argument)
{
	char path[600];
	int fd;

	switch (request) {
	case VFIO_GROUP_GET_STATUS:
		((struct vfio_uapi_group_status *)argument)->flags = kernel.viable;
		return 0;
	case VFIO_GROUP_SET_CONTAINER:
		kernel.attached = true;
		return 0;
	case VFIO_GROUP_GET_DEVICE_FD:
		assert_string_equal(argument, NAME);
		if (!kernel.bound)
			return refuse(ENODEV);
		snprintf(path, sizeof(path), "%s/device", tree);
		fd = open(path, O_RDWR | O_CLOEXEC);
		fake_opened(fd, path);
		return fd;
	}
	return refuse(ENOTTY);
}

/* Regions lie behind each other in the file of the device: BAR 0, BAR 1, configuration space. */
static int region_info(struct vfio_uapi_region_info *info)
{
	info->bytes = 0;
	if (info->index > 8)
		return refuse(EINVAL);
	if (info->index == VFIO_PCI_BAR0 || info->index == VFIO_PCI_BAR0 + 1) {
		info->bytes = 2 * PAGE;
		info->offset = info->index * 2 * PAGE;
		info->flags = info->index ? 3 : 7;
	} else if (info->index == VFIO_PCI_CONFIG) {
		info->bytes = 256;
		info->offset = 4 * PAGE;
		info->flags = 3;
	} else if (info->index == 2) {
		info->bytes = UINT64_MAX;
		info->offset = 16;
	}
	return 0;
}

static int set_irqs(const struct vfio_uapi_irq_set *s)
{
	const int32_t *fds = (const int32_t *)(s + 1);

	if (s->index == VFIO_PCI_INTX && s->flags == (VFIO_IRQ_DATA_NONE | VFIO_IRQ_UNMASK)) {
		kernel.intx_masked = false;
		return 0;
	}
	if (s->flags == (VFIO_IRQ_DATA_NONE | VFIO_IRQ_TRIGGER) && !s->count) {
		for (int i = 0; s->index == VFIO_PCI_MSI && i < VECTORS; i++)
			kernel.vectors[i] = -1;
		return 0;
	}
	if (s->flags != (VFIO_IRQ_DATA_EVENTFD | VFIO_IRQ_TRIGGER) ||
	    s->size != sizeof(*s) + s->count * sizeof(*fds))
		return refuse(EINVAL);
	/* one kind at a time */
	if (s->index == VFIO_PCI_INTX && kernel.vectors[0] >= 0)
		return refuse(EINVAL);
	for (uint32_t i = 0; i < s->count; i++)
		*(s->index == VFIO_PCI_MSI ? &kernel.vectors[i] : &kernel.intx) = fds[i];
	return 0;
}

static int device_call(unsigned long request, void *argument)
{
	switch (request) {
	case VFIO_DEVICE_GET_INFO: {
		struct vfio_uapi_device_info *info = argument;

		info->flags = VFIO_DEVICE_IS_PCI | (kernel.resets ? VFIO_DEVICE_HAS_RESET : 0);
		info->regions = 9;
		info->irqs = 5;
		return 0;
	}
	case VFIO_DEVICE_GET_REGION:
		return region_info(argument);
	case VFIO_DEVICE_GET_IRQ: {
		struct vfio_uapi_irq_info *info = argument;

		info->count = info->index == VFIO_PCI_MSI ? VECTORS : info->index == VFIO_PCI_INTX;
		info->flags =
			VFIO_IRQ_HAS_EVENTFD |
			(info->index == VFIO_PCI_INTX ? VFIO_IRQ_MASKABLE | VFIO_IRQ_AUTOMASKED
						      : 0);
		return 0;
	}
	case VFIO_DEVICE_SET_IRQS:
		return set_irqs(argument);
	case VFIO_DEVICE_RESET:
		kernel.resets_done++;
		return 0;
	}
	return refuse(ENOTTY);
}

static int fake_ioctl(int fd, unsigned long request, void *argument)
{
	const char *name = path_of(fd) + strlen(tree);

	if (!strcmp(name, "/dev/vfio/vfio"))
		return container_call(request, argument);
	if (!strcmp(name, "/dev/vfio/7"))
		return group_call(request, argument);
	assert_string_equal(name, "/device");
	return device_call(request, argument);
}

static struct system_calls fake;

static int setup(void **state)
{
	int err = tree_setup(state);

	fake = system_calls_of_kernel;
	fake.ioctl = fake_ioctl;
	faults_over(&fake);
	start();
	tree_link("/sys/bus/pci/devices/" NAME, "../../../devices/pci0000:00/" NAME);
	tree_link("/sys/devices/pci0000:00/" NAME "/iommu_group", "../../../kernel/iommu_groups/7");
	tree_zeroes("/dev/vfio/vfio", 0);
	tree_zeroes("/dev/vfio/7", 0);
	tree_zeroes("/device", 5 * (size_t)PAGE);
	return err;
}

static void open_it(struct vfio *v)
{
	assert_int_equal(vfio_open(&faulty_calls, tree, NAME, v), 0);
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

	assert_int_equal(vfio_open(&faulty_calls, tree, NAME, &v), status);
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
	assert_true(v.can_reset);
	assert_int_equal(v.page_sizes, 0x40201000);
	assert_int_equal(v.range_count, 2);
	assert_int_equal(v.range[0].last, 0xfedfffff);
	assert_int_equal(v.range[1].first, 0xfef00000);
	close_it(&v);
	kernel.old_iommu = true;
	open_it(&v);
	close_it(&v);
}

static void what_cannot_be_opened_is_refused_with_a_remedy(void **state)
{
	struct vfio v;

	(void)state;
	kernel.viable = false;
	refused(-TENON_E_DEVICE, "other devices of this group");
	kernel.viable = true;
	kernel.bound = false;
	refused(-TENON_E_NOT_FOUND, "bind the device to vfio-pci");
	kernel.bound = true;
	kernel.type1 = false;
	refused(-TENON_E_UNSUPPORTED, "not of type 1");
	kernel.type1 = true;
	kernel.version = 1;
	refused(-TENON_E_UNSUPPORTED, "expected version 0 of the interface, found 1");
	kernel.version = 0;
	tree_drop("/dev/vfio/7");
	refused(-TENON_E_NOT_FOUND, NAME ": bind the device to vfio-pci");
	tree_drop("/sys/devices/pci0000:00/" NAME "/iommu_group");
	refused(-TENON_E_UNSUPPORTED, "no IOMMU for this device");
	tree_link("/sys/devices/pci0000:00/" NAME "/iommu_group", "../seven");
	refused(-TENON_E_FORMAT, "expected the number of a group, found \"../seven\"");
	tree_drop("/sys/bus/pci/devices/" NAME);
	refused(-TENON_E_NOT_FOUND, "there is no such device");
	assert_int_equal(vfio_open(&faulty_calls, tree, "../../" NAME, &v), -TENON_E_VALUE);
	assert_int_equal(vfio_open(&faulty_calls, tree, "", &v), -TENON_E_VALUE);
	tenon_error_clear();
}

/* What the kernel says is read with the same care as a file. */
static void capabilities_that_make_no_sense_are_left_out(void **state)
{
	struct vfio v;

	(void)state;
	kernel.loop = true;
	open_it(&v);
	assert_int_equal(v.range_count, 2);
	vfio_close(&v);
	kernel.loop = false;
	kernel.cap_offset = 4094;
	open_it(&v);
	assert_int_equal(v.range_count, 0);
	vfio_close(&v);
	kernel.cap_offset = UINT32_MAX;
	open_it(&v);
	assert_int_equal(v.range_count, 0);
	vfio_close(&v);
	kernel.cap_offset = 0;
	kernel.ranges = UINT32_MAX;
	open_it(&v);
	assert_int_equal(v.range_count, VFIO_RANGES);
	close_it(&v);
}

static void regions_are_mapped_or_read_by_calls(void **state)
{
	struct vfio_region bar, other;
	uint32_t word = 0x12345678, found = 0;
	struct vfio v;

	(void)state;
	open_it(&v);
	assert_int_equal(vfio_region_open(&v, VFIO_PCI_BAR0, &bar), 0);
	assert_int_equal(bar.size, 2 * PAGE);
	assert_int_equal(vfio_region_map(&v, &bar), 0);
	assert_int_equal(vfio_region_map(&v, &bar), 0);
	assert_int_equal(vfio_region_write(&v, &bar, 8, &word, 4), 0);
	assert_memory_equal((const void *)(bar.base + 8), &word, 4);
	assert_int_equal(vfio_region_open(&v, VFIO_PCI_BAR0 + 1, &other), 0);
	assert_int_equal(vfio_region_map(&v, &other), -TENON_E_UNSUPPORTED);
	assert_error_has("cannot be mapped");
	assert_int_equal(vfio_region_write(&v, &other, 2 * PAGE - 4, &word, 4), 0);
	assert_int_equal(vfio_region_read(&v, &other, 2 * PAGE - 4, &found, 4), 0);
	assert_int_equal(found, word);
	assert_int_equal(vfio_region_read(&v, &other, 2 * PAGE - 3, &found, 4), -TENON_E_VALUE);
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

static void memory_is_mapped_where_the_iommu_can(void **state)
{
	char *memory = mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct vfio v;
	unsigned int both = VFIO_DEVICE_READS | VFIO_DEVICE_WRITES;

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	open_it(&v);
	assert_int_equal(vfio_map_dma(&v, memory, 2 * PAGE, 0x10000, both), 0);
	assert_int_equal(vfio_map_dma(&v, memory, PAGE, 0x10000, both), -TENON_E_EXISTS);
	assert_int_equal(vfio_map_dma(&v, memory, PAGE, 0xfee00000, both), -TENON_E_VALUE);
	assert_error_has("the IOMMU cannot map");
	assert_int_equal(vfio_map_dma(&v, memory, 0, 0x20000, both), -TENON_E_VALUE);
	assert_int_equal(vfio_map_dma(&v, memory + 1, PAGE, 0x20000, both), -TENON_E_VALUE);
	assert_int_equal(vfio_map_dma(&v, memory, PAGE - 1, 0x20000, both), -TENON_E_VALUE);
	assert_int_equal(vfio_map_dma(&v, memory, PAGE, 0x20001, both), -TENON_E_VALUE);
	assert_int_equal(vfio_map_dma(&v, memory, UINT64_MAX & ~(PAGE - 1), 0x20000, both),
			 -TENON_E_VALUE);
	assert_int_equal(vfio_unmap_dma(&v, 0x10000, 2 * PAGE), 0);
	assert_int_equal(vfio_unmap_dma(&v, 0x10000, 2 * PAGE), -TENON_E_NOT_FOUND);
	assert_error_has("0 of");
	assert_int_equal(kernel.mapped_count, 0);
	close_it(&v);
	munmap(memory, 2 * (size_t)PAGE);
}

static void interrupts_signal_their_descriptors(void **state)
{
	int fds[2], intx;
	uint64_t count, two = 2;
	struct vfio v;

	(void)state;
	open_it(&v);
	assert_int_equal(vfio_interrupts_open(&v, VFIO_PCI_MSI, 2, fds), 0);
	assert_int_equal(kernel.vectors[1], fds[1]);
	assert_int_equal(vfio_interrupt_wait(&v, fds[0], 0, &count), -TENON_E_TIMEOUT);
	assert_int_equal(count, 0);
	assert_int_equal(write(kernel.vectors[1], &two, 8), 8);
	assert_int_equal(vfio_interrupt_wait(&v, fds[1], UINT64_MAX, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(vfio_interrupt_unmask(&v, VFIO_PCI_MSI), -TENON_E_VALUE);
	assert_int_equal(vfio_interrupts_open(&v, VFIO_PCI_INTX, 1, &intx), -TENON_E_VALUE);
	assert_int_equal(intx, -1);
	vfio_interrupts_close(&v, VFIO_PCI_MSI, 2, fds);
	assert_int_equal(fds[0], -1);
	assert_int_equal(kernel.vectors[0], -1);
	kernel.intx_masked = true;
	assert_int_equal(vfio_interrupts_open(&v, VFIO_PCI_INTX, 1, &intx), 0);
	assert_int_equal(vfio_interrupt_unmask(&v, VFIO_PCI_INTX), 0);
	assert_false(kernel.intx_masked);
	vfio_interrupts_close(&v, VFIO_PCI_INTX, 1, &intx);
	tenon_error_clear();
	close_it(&v);
}

static void vectors_that_the_device_lacks_are_refused(void **state)
{
	int fds[VECTORS + 1];
	struct vfio v;

	(void)state;
	open_it(&v);
	assert_int_equal(vfio_interrupts_open(&v, VFIO_PCI_MSI, VECTORS + 1, fds), -TENON_E_VALUE);
	assert_error_has("5 vectors wanted, the device has 4");
	assert_int_equal(vfio_interrupts_open(&v, VFIO_PCI_MSI, 0, fds), -TENON_E_VALUE);
	assert_int_equal(vfio_interrupts_open(&v, VFIO_PCI_MSIX, 1, fds), -TENON_E_UNSUPPORTED);
	assert_int_equal(vfio_interrupts_open(&v, 5, 1, fds), -TENON_E_UNSUPPORTED);
	tenon_error_clear();
	close_it(&v);
}

static void a_device_is_reset_where_it_can_be(void **state)
{
	struct vfio v;

	(void)state;
	open_it(&v);
	assert_int_equal(vfio_reset(&v), 0);
	assert_int_equal(kernel.resets_done, 1);
	vfio_close(&v);
	kernel.resets = false;
	open_it(&v);
	assert_int_equal(vfio_reset(&v), -TENON_E_UNSUPPORTED);
	assert_error_has("offers no reset");
	close_it(&v);
}

/* ---- every call fails with every errno */

static int use_device(struct vfio *v, struct vfio_region *bar, void *memory, int *fds)
{
	uint64_t count, one = 1;
	int err;

	err = vfio_region_open(v, VFIO_PCI_BAR0, bar);
	if (!err)
		err = vfio_region_map(v, bar);
	if (!err)
		err = vfio_pci_set_master(v, true);
	if (!err)
		err = vfio_interrupts_open(v, VFIO_PCI_MSI, 2, fds);
	if (err)
		return err;
	assert_int_equal(write(fds[0], &one, 8), 8);
	err = vfio_interrupt_wait(v, fds[0], UINT64_MAX, &count);
	if (!err)
		err = vfio_reset(v);
	if (!err)
		err = vfio_map_dma(v, memory, PAGE, 0x10000, VFIO_DEVICE_READS);
	return err ? err : vfio_unmap_dma(v, 0x10000, PAGE);
}

static char *sweep_memory;

static int use(const struct system_calls *calls)
{
	struct vfio_region bar = { .base = NULL };
	int fds[2] = { -1, -1 };
	struct vfio v;
	int err = vfio_open(calls, tree, NAME, &v);

	if (err)
		return err;
	err = use_device(&v, &bar, sweep_memory, fds);
	if (fds[0] >= 0)
		vfio_interrupts_close(&v, VFIO_PCI_MSI, 2, fds);
	vfio_region_close(&v, &bar);
	vfio_close(&v);
	return err;
}

/* what is mapped ends with its container */
static unsigned int restart(const struct fault *f)
{
	(void)f;
	start();
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
	if (f->request == VFIO_DEVICE_SET_IRQS && kernel.resets_done)
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
	sweep_memory =
		mmap(NULL, (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(sweep_memory, MAP_FAILED);
	assert_true(sweep_faults(&sweep) > 250);
	munmap(sweep_memory, (size_t)PAGE);
}

int main(void)
{
#define on(test) cmocka_unit_test_setup_teardown(test, setup, tree_teardown)
	const struct CMUnitTest tests[] = {
		on(a_device_tells_what_it_has),
		on(what_cannot_be_opened_is_refused_with_a_remedy),
		on(capabilities_that_make_no_sense_are_left_out),
		on(regions_are_mapped_or_read_by_calls),
		on(memory_is_mapped_where_the_iommu_can),
		on(interrupts_signal_their_descriptors),
		on(vectors_that_the_device_lacks_are_refused),
		on(a_device_is_reset_where_it_can_be),
		on(every_call_that_fails_is_reported_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

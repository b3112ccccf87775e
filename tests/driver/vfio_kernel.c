/* SPDX-License-Identifier: MIT */
/* Answer the calls of VFIO as the kernel does, for one PCI device. */
#include "tests/driver/vfio_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "driver/vfio/vfio.h"
#include "driver/vfio/vfio_uapi.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/unit/suite.h"

struct vfio_kernel vfio_kernel;

void vfio_kernel_start(uint64_t bar0)
{
	memset(&vfio_kernel, 0, sizeof(vfio_kernel));
	vfio_kernel.type1 = vfio_kernel.viable = vfio_kernel.bound = true;
	vfio_kernel.bar0 = bar0;
	for (int i = 0; i < VFIO_MSI; i++)
		vfio_kernel.vectors[i] = -1;
	vfio_kernel.intx = -1;
}

void vfio_kernel_setup(uint64_t bar0)
{
	vfio_kernel_start(bar0);
	tree_link("/sys/bus/pci/devices/" VFIO_NAME, "../../../devices/pci0000:00/" VFIO_NAME);
	tree_link("/sys/devices/pci0000:00/" VFIO_NAME "/iommu_group",
		  "../../../kernel/iommu_groups/7");
	tree_zeroes("/dev/vfio/vfio", 0);
	tree_zeroes("/dev/vfio/7", 0);
	tree_zeroes("/device", (size_t)(bar0 + VFIO_BAR1 + VFIO_PAGE));
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
		return vfio_kernel.version;
	case VFIO_CHECK_EXTENSION:
		return vfio_kernel.type1 &&
		       (type == VFIO_IOMMU_TYPE1 ||
			(type == VFIO_IOMMU_TYPE1_V2 && !vfio_kernel.old_iommu));
	case VFIO_SET_IOMMU:
		if (!vfio_kernel.attached)
			return refuse(EINVAL);
		assert_int_equal(type,
				 vfio_kernel.old_iommu ? VFIO_IOMMU_TYPE1 : VFIO_IOMMU_TYPE1_V2);
		return 0;
	}
	return refuse(ENOTTY);
}

static int group_call(unsigned long request, void *argument)
{
	char path[600];
	int fd;

	switch (request) {
	case VFIO_GROUP_GET_STATUS:
		((struct vfio_uapi_group_status *)argument)->flags = vfio_kernel.viable;
		return 0;
	case VFIO_GROUP_SET_CONTAINER:
		vfio_kernel.attached = true;
		return 0;
	case VFIO_GROUP_GET_DEVICE_FD:
		assert_string_equal(argument, VFIO_NAME);
		if (!vfio_kernel.bound)
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
	if (info->index == VFIO_PCI_BAR0) {
		info->bytes = vfio_kernel.bar0;
		info->flags = 7;
	} else if (info->index == VFIO_PCI_BAR0 + 1) {
		info->bytes = VFIO_BAR1;
		info->offset = vfio_kernel.bar0;
		info->flags = 3;
	} else if (info->index == VFIO_PCI_CONFIG) {
		info->bytes = 256;
		info->offset = vfio_kernel.bar0 + VFIO_BAR1;
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
		vfio_kernel.intx_masked = false;
		return 0;
	}
	if (s->flags == (VFIO_IRQ_DATA_NONE | VFIO_IRQ_TRIGGER) && !s->count) {
		for (int i = 0; s->index == VFIO_PCI_MSI && i < VFIO_MSI; i++)
			vfio_kernel.vectors[i] = -1;
		return 0;
	}
	if (s->flags != (VFIO_IRQ_DATA_EVENTFD | VFIO_IRQ_TRIGGER) ||
	    s->size != sizeof(*s) + s->count * sizeof(*fds))
		return refuse(EINVAL);
	/* one kind at a time */
	if (s->index == VFIO_PCI_INTX && vfio_kernel.vectors[0] >= 0)
		return refuse(EINVAL);
	for (uint32_t i = 0; i < s->count; i++)
		*(s->index == VFIO_PCI_MSI ? &vfio_kernel.vectors[i] : &vfio_kernel.intx) = fds[i];
	return 0;
}

static int device_call(unsigned long request, void *argument)
{
	switch (request) {
	case VFIO_DEVICE_GET_INFO: {
		struct vfio_uapi_device_info *info = argument;

		info->flags = VFIO_DEVICE_IS_PCI;
		info->regions = 9;
		info->irqs = 5;
		return 0;
	}
	case VFIO_DEVICE_GET_REGION:
		return region_info(argument);
	case VFIO_DEVICE_GET_IRQ: {
		struct vfio_uapi_irq_info *info = argument;

		info->count = info->index == VFIO_PCI_INTX;
		if (info->index == VFIO_PCI_MSI && !vfio_kernel.no_msi)
			info->count = VFIO_MSI;
		info->flags =
			VFIO_IRQ_HAS_EVENTFD |
			(info->index == VFIO_PCI_INTX ? VFIO_IRQ_MASKABLE | VFIO_IRQ_AUTOMASKED
						      : 0);
		return 0;
	}
	case VFIO_DEVICE_SET_IRQS:
		return set_irqs(argument);
	}
	return refuse(ENOTTY);
}

int vfio_kernel_ioctl(int fd, unsigned long request, void *argument)
{
	const char *name = path_of(fd) + strlen(tree);

	if (!strcmp(name, "/dev/vfio/vfio"))
		return container_call(request, argument);
	if (!strcmp(name, "/dev/vfio/7"))
		return group_call(request, argument);
	assert_string_equal(name, "/device");
	return device_call(request, argument);
}

/* SPDX-License-Identifier: MIT */
/*
 * The part of the kernel's VFIO interface that is used here: numbers and layouts as in linux/vfio.h, which some C
 * libraries do not install.
 */
#ifndef DRIVER_VFIO_UAPI_H
#define DRIVER_VFIO_UAPI_H

#include <stdint.h>
#include <sys/ioctl.h>

#define VFIO_CALL(n) _IO(';', 100 + (n))

#define VFIO_GET_API_VERSION	 VFIO_CALL(0)
#define VFIO_CHECK_EXTENSION	 VFIO_CALL(1)
#define VFIO_SET_IOMMU		 VFIO_CALL(2)
#define VFIO_GROUP_GET_STATUS	 VFIO_CALL(3)
#define VFIO_GROUP_SET_CONTAINER VFIO_CALL(4)
#define VFIO_GROUP_GET_DEVICE_FD VFIO_CALL(6)
#define VFIO_DEVICE_GET_INFO	 VFIO_CALL(7)
#define VFIO_DEVICE_GET_REGION	 VFIO_CALL(8)
#define VFIO_DEVICE_GET_IRQ	 VFIO_CALL(9)
#define VFIO_DEVICE_SET_IRQS	 VFIO_CALL(10)

#define VFIO_VERSION	    0
#define VFIO_IOMMU_TYPE1    1
#define VFIO_IOMMU_TYPE1_V2 3

#define VFIO_GROUP_VIABLE     1u
#define VFIO_DEVICE_IS_PCI    2u
#define VFIO_IRQ_HAS_EVENTFD  1u
#define VFIO_IRQ_MASKABLE     2u
#define VFIO_IRQ_AUTOMASKED   4u
#define VFIO_IRQ_DATA_NONE    1u
#define VFIO_IRQ_DATA_EVENTFD 4u
#define VFIO_IRQ_UNMASK	      (1u << 4)
#define VFIO_IRQ_TRIGGER      (1u << 5)

struct vfio_uapi_group_status {
	uint32_t size;
	uint32_t flags;
};

struct vfio_uapi_device_info {
	uint32_t size;
	uint32_t flags;
	uint32_t regions;
	uint32_t irqs;
	uint32_t cap_offset;
	uint32_t pad;
};

struct vfio_uapi_region_info {
	uint32_t size;
	uint32_t flags;
	uint32_t index;
	uint32_t cap_offset;
	uint64_t bytes;
	uint64_t offset;
};

struct vfio_uapi_irq_info {
	uint32_t size;
	uint32_t flags;
	uint32_t index;
	uint32_t count;
};

/* the data follow the header */
struct vfio_uapi_irq_set {
	uint32_t size;
	uint32_t flags;
	uint32_t index;
	uint32_t start;
	uint32_t count;
};

#endif /* DRIVER_VFIO_UAPI_H */

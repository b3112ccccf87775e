/* SPDX-License-Identifier: MIT */
/*
 * A named fake of the kernel's VFIO, to test driver/vfio with failures and devices that no machine has on demand.
 *
 * It has a PCI device with two BARs (one of which cannot be mapped), configuration space, MSI and INTx, behind a type
 * 1 IOMMU. Its regions are ranges of the file "device" in the tree: BAR 0, BAR 1, configuration space.
 * tests/driver/guest/ tests what the kernel itself does.
 */
#ifndef TESTS_DRIVER_VFIO_KERNEL_H
#define TESTS_DRIVER_VFIO_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "driver/syscall/syscall.h"

#define VFIO_NAME "0000:00:04.0"
#define VFIO_PAGE ((uint64_t)sysconf(_SC_PAGESIZE))
#define VFIO_BAR1 (2 * VFIO_PAGE) /* bytes of BAR 1 */
#define VFIO_MSI  4		  /* vectors of MSI */

/**
 * struct vfio_kernel - its state
 * @version: of the interface
 * @type1: the IOMMU is of type 1
 * @viable: so is the group
 * @bound: the device is bound to vfio-pci
 * @attached: the group has a container
 * @old_iommu: it does not know version 2 of type 1
 * @no_msi: the device has INTx alone
 * @bar0: bytes of BAR 0
 * @vectors: eventfds of MSI; -1 when disabled
 * @intx: eventfd; -1 when disabled
 * @intx_masked: by the kernel, when it signalled it
 */
struct vfio_kernel {
	int version;
	bool type1, viable, bound, attached;
	bool old_iommu;
	bool no_msi;
	uint64_t bar0;
	int vectors[VFIO_MSI];
	int intx;
	bool intx_masked;
};

extern struct vfio_kernel vfio_kernel;

/* Back to the state of a fresh device with a BAR 0 of @bar0 bytes. */
void vfio_kernel_start(uint64_t bar0);

/* Make the files in the tree, and start. */
void vfio_kernel_setup(uint64_t bar0);

/* Its answers, for a table of system calls. */
int vfio_kernel_ioctl(int fd, unsigned long request, void *argument);

#endif /* TESTS_DRIVER_VFIO_KERNEL_H */

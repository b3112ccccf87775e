/* SPDX-License-Identifier: MIT */
/* Registers and interrupts of a device that VFIO hands to programs. */
#ifndef DRIVER_VFIO_H
#define DRIVER_VFIO_H

/*
 * A device that is bound to vfio-pci or vfio-platform belongs to one program: registers by mapping, interrupts by
 * eventfd. Here nothing is mapped for DMA, so the IOMMU keeps the device off all memory, and no privilege is needed
 * beyond access to /dev/vfio/GROUP. The kernel logs an access of the device ("DMAR: … fault"); it reaches nothing.
 *
 * The interface is that of groups and containers with a type 1 IOMMU. Without an IOMMU there is no group and
 * vfio_open() fails; VFIO's mode without IOMMU is not supported, because driver/uio offers as much.
 */

#include <stdbool.h>
#include <stdint.h>

#include "driver/syscall/syscall.h"

/* regions and interrupts of PCI devices, as in linux/vfio.h; platform devices number theirs from 0 */
enum {
	VFIO_PCI_BAR0 = 0,
	VFIO_PCI_CONFIG = 7,
	VFIO_PCI_INTX = 0,
	VFIO_PCI_MSI = 1,
	VFIO_PCI_MSIX = 2,
};

/* most vectors that vfio_interrupts_open() takes */
#define VFIO_VECTORS 32

/**
 * struct vfio - an open device
 * @calls: system calls
 * @name: "0000:00:04.0", for messages
 * @group_number: number of its IOMMU group
 * @container: descriptor of the address space
 * @group: descriptor of the group
 * @fd: descriptor of the device
 * @is_pci: regions and interrupts are those of PCI
 * @regions: number of regions
 * @irqs: number of kinds of interrupts
 */
struct vfio {
	const struct system_calls *calls;
	char name[64];
	unsigned int group_number;
	int container;
	int group;
	int fd;
	bool is_pci;
	uint32_t regions;
	uint32_t irqs;
};

/**
 * struct vfio_region - a region of a device
 * @size: bytes
 * @offset: of its first byte in the device's descriptor
 * @base: first byte; NULL when the kernel does not let it be mapped, or it was not asked for
 * @readable: vfio_region_read() works
 * @writable: vfio_region_write() works
 * @mappable: vfio_region_map() works
 */
struct vfio_region {
	uint64_t size;
	uint64_t offset;
	volatile uint8_t *base;
	bool readable;
	bool writable;
	bool mappable;
};

/**
 * vfio_open - open a device with an address space of its own
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /dev and /sys; "" except in tests
 * @name: "0000:00:04.0", or the name of a platform device
 * @out: the device; closed on failure
 *
 * Return: 0; -TENON_E_NOT_FOUND when there is no such device or it is not bound to VFIO; -TENON_E_UNSUPPORTED when it
 *	has no IOMMU or the IOMMU is not of type 1; -TENON_E_DEVICE when another device of the group is bound to another
 *	driver, or another program has the group; else system_open().
 */
int vfio_open(const struct system_calls *calls, const char *root, const char *name,
	      struct vfio *out);

/** vfio_close - close the device, its group and its address space; closing twice does nothing */
void vfio_close(struct vfio *v);

/**
 * vfio_region_open - look a region up
 * @v: the device
 * @index: VFIO_PCI_BAR0 + n, VFIO_PCI_CONFIG
 * @out: the region, not mapped
 *
 * Return: 0; -TENON_E_VALUE when there is none or it is empty; else system_status().
 */
int vfio_region_open(struct vfio *v, uint32_t index, struct vfio_region *out);

/**
 * vfio_region_map - map a region
 *
 * Return: 0; -TENON_E_UNSUPPORTED when it can only be read and written by calls; else system_map().
 */
int vfio_region_map(struct vfio *v, struct vfio_region *region);

/** vfio_region_close - unmap a region */
void vfio_region_close(struct vfio *v, struct vfio_region *region);

/**
 * vfio_region_read - read bytes of a region by a system call
 * @v: the device
 * @region: the region
 * @offset: in it
 * @bytes: room for @size bytes
 * @size: 1, 2 or 4 for registers
 *
 * Return: 0; -TENON_E_VALUE when the range leaves the region; else system_read_whole().
 */
int vfio_region_read(struct vfio *v, const struct vfio_region *region, uint64_t offset, void *bytes,
		     size_t size);

/** vfio_region_write - write bytes of a region by a system call; as vfio_region_read() */
int vfio_region_write(struct vfio *v, const struct vfio_region *region, uint64_t offset,
		      const void *bytes, size_t size);

/**
 * vfio_pci_set_master - allow a PCI device to do DMA, or forbid it
 *
 * Return: 0; -TENON_E_UNSUPPORTED for other buses; else vfio_region_read().
 */
int vfio_pci_set_master(struct vfio *v, bool on);

/**
 * vfio_interrupts_open - let interrupts signal eventfds
 * @v: the device
 * @index: VFIO_PCI_INTX, VFIO_PCI_MSI, VFIO_PCI_MSIX
 * @count: vectors, from 0 on; at most VFIO_VECTORS
 * @fds: a descriptor for each vector, for poll loops; -1 on failure
 *
 * A PCI device uses one kind of interrupt at a time. MSI are writes to memory: the device sends none before
 * vfio_pci_set_master().
 *
 * Return: 0; -TENON_E_VALUE when the device has fewer vectors, or another kind is in use; -TENON_E_UNSUPPORTED when it
 *	has none of this kind; else system_status().
 */
int vfio_interrupts_open(struct vfio *v, uint32_t index, uint32_t count, int *fds);

/** vfio_interrupts_close - disable a kind of interrupt and close its descriptors, which become -1 */
void vfio_interrupts_close(struct vfio *v, uint32_t index, uint32_t count, int *fds);

/**
 * vfio_interrupt_wait - wait for a vector
 * @v: the device
 * @fd: one of vfio_interrupts_open()
 * @deadline: absolute nanoseconds of CLOCK_MONOTONIC; UINT64_MAX for none, 0 to look once
 * @count: interrupts since the last call, at least 1; 0 on failure
 *
 * Return: 0; -TENON_E_TIMEOUT; else system_status().
 */
int vfio_interrupt_wait(struct vfio *v, int fd, uint64_t deadline, uint64_t *count);

/**
 * vfio_interrupt_unmask - unmask a level-triggered interrupt (INTx) after it was handled
 *
 * The kernel masks such an interrupt when it signals it. The device must not assert it any more.
 *
 * Return: 0; -TENON_E_VALUE when the interrupt cannot be masked (MSI); else system_status().
 */
int vfio_interrupt_unmask(struct vfio *v, uint32_t index);

#endif /* DRIVER_VFIO_H */

/* SPDX-License-Identifier: MIT */
/* Registers and interrupts of a device that the kernel's UIO hands to programs. */
#ifndef DRIVER_UIO_H
#define DRIVER_UIO_H

/*
 * /dev/uioN gives a program the registers of a device and its interrupts. The kernel's drivers are uio_pdrv_genirq
 * (devices of a device tree: FPGA logic, soft cores), uio_pci_generic (any PCI device with an interrupt pin) and
 * many small ones. UIO has no IOMMU: a device that does DMA can reach all memory, so opening one is equivalent to
 * being root.
 *
 * The kernel masks an interrupt when it has counted it. The order that loses none is: uio_enable_interrupt(), read
 * the device's status register, then uio_wait_interrupt().
 */

#include <stdbool.h>
#include <stdint.h>

#include "driver/syscall/syscall.h"

/* as MAX_UIO_MAPS of the kernel, and the BARs of a PCI function */
#define UIO_MAPS     5
#define UIO_PCI_BARS 6

/**
 * struct uio_map - a range of registers or memory
 * @name: name in the device tree or of the driver; "" if it has none
 * @address: physical address, for DMA without an IOMMU; 0 if unknown
 * @size: bytes
 * @base: first byte; NULL until uio_map() or uio_pci_map()
 * @start: start of the mapping, which is a whole number of pages
 * @offset: of the first byte in the mapping
 */
struct uio_map {
	char name[64];
	uint64_t address;
	uint64_t size;
	volatile uint8_t *base;
	void *start;
	uint64_t offset;
};

/**
 * struct uio - an open device
 * @calls: system calls
 * @path: "/dev/uio0", for messages
 * @folder: "/sys/class/uio/uio0"
 * @driver: the name that the driver gave: "uio_pci_generic", "npu"
 * @fd: descriptor, readable when an interrupt was counted: for poll loops
 * @config: descriptor of PCI configuration space; -1 for other devices
 * @map_count: ranges in @map
 * @map: ranges of the driver
 * @bar: BARs of a PCI device, for uio_pci_map()
 * @seen: the kernel's counter at the last interrupt that was read
 * @interrupts: interrupts that the kernel counted since the device was opened
 * @missed: interrupts that the kernel counted before the previous one was read
 */
struct uio {
	const struct system_calls *calls;
	char path[64];
	char folder[256];
	char driver[64];
	int fd;
	int config;
	unsigned int map_count;
	struct uio_map map[UIO_MAPS];
	struct uio_map bar[UIO_PCI_BARS];
	uint32_t seen;
	uint64_t interrupts;
	uint64_t missed;
};

/**
 * uio_open - open a device
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /dev and /sys; "" except in tests
 * @number: N of /dev/uioN
 * @out: the device; closed on failure
 *
 * Return: 0; -TENON_E_NOT_FOUND when there is no such device; -TENON_E_FORMAT when the kernel describes its maps in
 *	an unexpected way; else system_open().
 */
int uio_open(const struct system_calls *calls, const char *root, unsigned int number,
	     struct uio *out);

/** uio_close - unmap and close everything; closing twice does nothing */
void uio_close(struct uio *u);

/**
 * uio_map - map a range of the driver
 * @u: the device
 * @index: below u->map_count
 *
 * Sets u->map[@index].base. A range that is mapped stays so.
 *
 * Return: 0; -TENON_E_VALUE when there is no such range; else system_map().
 */
int uio_map(struct uio *u, unsigned int index);

/**
 * uio_pci_map - map a BAR of a PCI device
 * @u: the device
 * @index: below UIO_PCI_BARS
 *
 * uio_pci_generic of older kernels has no maps of its own. Sets u->bar[@index].
 *
 * Return: 0; -TENON_E_UNSUPPORTED for other buses; -TENON_E_VALUE when the BAR is not memory; else system_map().
 */
int uio_pci_map(struct uio *u, unsigned int index);

/**
 * uio_enable_interrupt - unmask the device's interrupt
 * @u: the device
 *
 * By a write to the node, or, for uio_pci_generic, by clearing "interrupt disable" in configuration space. Drivers
 * without a mask need none of it; the call then succeeds.
 *
 * Return: 0; else system_status().
 */
int uio_enable_interrupt(struct uio *u);

/**
 * uio_wait_interrupt - wait for interrupts
 * @u: the device
 * @deadline: absolute nanoseconds of CLOCK_MONOTONIC; UINT64_MAX for none, 0 to look once
 * @count: interrupts since the last call, at least 1; more than 1 when some were missed. 0 on failure
 *
 * Return: 0; -TENON_E_TIMEOUT; -TENON_E_DEVICE when the device has no interrupt; -TENON_E_LOST when it was removed.
 */
int uio_wait_interrupt(struct uio *u, uint64_t deadline, uint32_t *count);

#endif /* DRIVER_UIO_H */

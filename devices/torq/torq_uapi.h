/* SPDX-License-Identifier: MIT */
/*
 * Numbers and layouts of Synaptics' kernel driver "torq", which is not in Linux: its eleven calls of /dev/torq, and the
 * errors that they return besides EFAULT for bad pointers, ENOENT for an unknown network and ENOTTY for an unknown call.
 *
 * A *network* belongs to an open file. It has memory in XRAM, which is one dma-buf, and *bindings*, other dma-bufs; the
 * IOMMU maps these alone while it is *active*. One network of all programs is active at a time.
 */
#ifndef DEVICES_TORQ_TORQ_UAPI_H
#define DEVICES_TORQ_TORQ_UAPI_H

#include <stdint.h>
#include <sys/ioctl.h>

/* EINVAL: an address that is at no page; EBADF, EINVAL: no dma-buf; ENOMEM. Gives the network's number, above 0 */
struct torq_uapi_create {
	uint32_t address;
	int32_t fd;
	uint32_t network;
};

/* of the calls that name a network alone: start, stop, destroy */
struct torq_uapi_network {
	uint32_t network;
};

/* ENODEV: the network is not active */
struct torq_uapi_run {
	uint32_t network;
	uint32_t entry; /* in LRAM */
};

/* ENODEV; ETIMEDOUT: no interrupt for five seconds; EIO: another interrupt than those awaited */
struct torq_uapi_wait {
	uint32_t network;
	uint32_t events;
};

/* the bit of an end of the NPU's program; the others are of its parts */
#define TORQ_UAPI_DONE 1u

/*
 * A write to a network that is active goes to LRAM, one before its first start goes there at each start. A read returns
 * what was written before the first start, at the same address, and nothing of the NPU; ENOENT for other addresses. No
 * address is compared with the size of LRAM. EINVAL: no bytes; ENOMEM.
 */
struct torq_uapi_lram {
	uint32_t network;
	uint32_t address;
	uint32_t size;
	void *data;
};

/*
 * EINVAL: no bytes, or not at pages; ENODEV: not active; ERANGE: below the network's memory, or more than the dma-buf has;
 * EBUSY: overlaps another binding; EBADF, EINVAL: no dma-buf; ENOMEM
 */
struct torq_uapi_attach {
	uint32_t network;
	int32_t fd;
	uint32_t address;
	uint32_t offset;
	uint32_t size;
};

/* ENOENT: not as it was attached; EFAULT: the IOMMU did not unmap all of it */
struct torq_uapi_detach {
	uint32_t network;
	uint32_t address;
	uint32_t offset;
	uint32_t size;
};

struct torq_uapi_hardware {
	uint32_t hardware;
};

#define TORQ_UAPI_CREATE _IOWR('S', 1, struct torq_uapi_create)
/* EBUSY: a network is active, perhaps of another program */
#define TORQ_UAPI_START _IOWR('S', 2, struct torq_uapi_network)
#define TORQ_UAPI_RUN	_IOWR('S', 3, struct torq_uapi_run)
#define TORQ_UAPI_WAIT	_IOWR('S', 4, struct torq_uapi_wait)
/* EPERM: not active */
#define TORQ_UAPI_STOP _IOWR('S', 5, struct torq_uapi_network)
/* EBUSY: active */
#define TORQ_UAPI_DESTROY    _IOWR('S', 6, struct torq_uapi_network)
#define TORQ_UAPI_WRITE_LRAM _IOWR('S', 7, struct torq_uapi_lram)
#define TORQ_UAPI_READ_LRAM  _IOWR('S', 8, struct torq_uapi_lram)
#define TORQ_UAPI_ATTACH     _IOWR('S', 9, struct torq_uapi_attach)
#define TORQ_UAPI_DETACH     _IOWR('S', 10, struct torq_uapi_detach)
#define TORQ_UAPI_HARDWARE   _IOWR('S', 11, struct torq_uapi_hardware)

#endif /* DEVICES_TORQ_TORQ_UAPI_H */

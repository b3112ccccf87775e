/* SPDX-License-Identifier: MIT */
/*
 * Numbers and layouts as in linux/dma-buf.h, linux/dma-heap.h, linux/udmabuf.h and linux/sync_file.h, which some C
 * libraries do not install, or in older versions.
 */
#ifndef DRIVER_DMABUF_UAPI_H
#define DRIVER_DMABUF_UAPI_H

#include <stdint.h>
#include <sys/ioctl.h>

#define DMABUF_UAPI_READ  1u
#define DMABUF_UAPI_WRITE 2u
#define DMABUF_UAPI_BOTH  3u /* reads and writes */
#define DMABUF_UAPI_END	  4u

struct dmabuf_uapi_sync {
	uint64_t flags;
};

struct dmabuf_uapi_fence {
	uint32_t flags;
	int32_t fd;
};

#define DMABUF_UAPI_SYNC   _IOW('b', 0, struct dmabuf_uapi_sync)
#define DMABUF_UAPI_EXPORT _IOWR('b', 2, struct dmabuf_uapi_fence)

struct heap_uapi_allocation {
	uint64_t size;
	uint32_t fd;
	uint32_t fd_flags;
	uint64_t heap_flags;
};

#define HEAP_UAPI_ALLOCATE _IOWR('H', 0, struct heap_uapi_allocation)

#define UDMABUF_UAPI_CLOEXEC 1u

struct udmabuf_uapi_create {
	uint32_t memfd;
	uint32_t flags;
	uint64_t offset;
	uint64_t size;
};

#define UDMABUF_UAPI_CREATE _IOW('u', 0x42, struct udmabuf_uapi_create)

struct sync_uapi_info {
	char name[32];
	int32_t status;
	uint32_t flags;
	uint32_t fences;
	uint32_t pad;
	uint64_t fence_info;
};

#define SYNC_UAPI_INFO _IOWR('>', 4, struct sync_uapi_info)

#endif /* DRIVER_DMABUF_UAPI_H */

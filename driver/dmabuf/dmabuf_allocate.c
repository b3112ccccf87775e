/* SPDX-License-Identifier: MIT */
/* Get a dma-buf from a dma-heap, or make one of a memfd. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>
#include <unistd.h>

#include "driver/dmabuf/dmabuf.h"
#include "driver/dmabuf/dmabuf_uapi.h"
#include "lib/brief_errors.h"

/* Open the first heap of a list that exists. Return: the descriptor, with its path; the negative status. */
static int open_heap(const struct system_calls *calls, const char *root, const char *heaps,
		     char *path, size_t room)
{
	const char *name = heaps;

	while (*name) {
		int length = (int)strcspn(name, ",");
		int fd = -TENON_E_NOT_FOUND;

		if (length) {
			snprintf(path, room, "%s/dev/dma_heap/%.*s", root, length, name);
			fd = system_open(calls, path, O_RDWR);
		}
		if (fd != -TENON_E_NOT_FOUND)
			return fd;
		name += length;
		name += *name == ',';
	}
	return tenon_error(
		-TENON_E_NOT_FOUND,
		"none of the heaps %s is in %s/dev/dma_heap: the kernel needs "
		"CONFIG_DMABUF_HEAPS and a heap; others are named by the device's options",
		heaps, root);
}

int dmabuf_allocate(const struct system_calls *calls, const char *root, const char *heaps,
		    uint64_t size, struct dmabuf *out)
{
	struct heap_uapi_allocation a = { .fd_flags = O_RDWR | O_CLOEXEC };
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char path[PATH_MAX];
	int heap, err;

	dmabuf_adopt(calls, -1, 0, out);
	if (!size || size > INT64_MAX)
		return tenon_error(-TENON_E_OVERFLOW, "cannot allocate %" PRIu64 " bytes", size);
	a.size = (size + page - 1) & ~(page - 1);
	heap = open_heap(out->calls, root, heaps ? heaps : DMABUF_HEAPS, path, sizeof(path));
	if (heap < 0)
		return heap;
	err = system_ioctl(out->calls, heap, HEAP_UAPI_ALLOCATE, &a);
	system_close(out->calls, &heap);
	if (err < 0)
		return system_error(-err, path, "allocate from it");
	dmabuf_adopt(out->calls, (int)a.fd, a.size, out);
	return 0;
}

int dmabuf_of_memfd(const struct system_calls *calls, const char *root, int memfd, uint64_t offset,
		    uint64_t size, struct dmabuf *out)
{
	struct udmabuf_uapi_create c = {
		.memfd = (uint32_t)memfd,
		.flags = UDMABUF_UAPI_CLOEXEC,
		.offset = offset,
		.size = size,
	};
	char path[PATH_MAX];
	int node, fd;

	dmabuf_adopt(calls, -1, 0, out);
	snprintf(path, sizeof(path), "%s/dev/udmabuf", root);
	node = system_open(out->calls, path, O_RDWR);
	if (node < 0)
		return node;
	fd = system_ioctl(out->calls, node, UDMABUF_UAPI_CREATE, &c);
	system_close(out->calls, &node);
	if (fd < 0)
		return system_error(-fd, path, "make a buffer of this memory");
	dmabuf_adopt(out->calls, fd, size, out);
	return 0;
}

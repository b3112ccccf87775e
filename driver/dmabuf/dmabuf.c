/* SPDX-License-Identifier: MIT */
/* Map a dma-buf, bracket accesses of the CPU, and exchange its fences. */
#include "driver/dmabuf/dmabuf.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <tenon/error.h>

#include "driver/dmabuf/dmabuf_uapi.h"
#include "lib/brief_errors.h"

#define NAME_MOST 31 /* DMA_BUF_NAME_LEN with its NUL is 32 */

void dmabuf_adopt(const struct system_calls *calls, int fd, uint64_t size, struct dmabuf *out)
{
	memset(out, 0, sizeof(*out));
	out->calls = system_calls_or_kernel(calls);
	out->fd = fd;
	out->size = size;
}

void dmabuf_close(struct dmabuf *b)
{
	system_unmap(b->calls, &b->base, b->size);
	system_close(b->calls, &b->fd);
}

int dmabuf_map(struct dmabuf *b)
{
	return b->base ? 0 : system_map(b->calls, b->fd, "dma-buf", 0, b->size, &b->base);
}

static int sync(const struct dmabuf *b, uint64_t flags, const char *action)
{
	struct dmabuf_uapi_sync s = { flags };
	int err;

	/* exporters that wait for a lock may be busy for a moment */
	do
		err = system_ioctl(b->calls, b->fd, DMABUF_UAPI_SYNC, &s);
	while (err == -EAGAIN);
	return err < 0 ? system_error(-err, "dma-buf", action) : 0;
}

int dmabuf_begin(const struct dmabuf *b, enum dmabuf_access access)
{
	return sync(b, access, "begin an access");
}

int dmabuf_end(const struct dmabuf *b, enum dmabuf_access access)
{
	return sync(b, access | DMABUF_UAPI_END, "end an access");
}

int dmabuf_set_name(const struct dmabuf *b, const char *name)
{
	int err;

	if (strlen(name) > NAME_MOST)
		return tenon_error(-TENON_E_VALUE, "dma-buf: name \"%s\" has more than %d bytes",
				   name, NAME_MOST);
	err = system_ioctl(b->calls, b->fd, DMABUF_UAPI_NAME, (void *)(uintptr_t)name);
	return err < 0 ? system_error(-err, "dma-buf", "name it") : 0;
}

int dmabuf_wait(const struct dmabuf *b, enum dmabuf_access access, uint64_t deadline)
{
	/* a reader waits for writers; a writer for all */
	short events = access & DMABUF_WRITE ? POLLOUT : POLLIN;
	int ready = system_wait(b->calls, b->fd, "dma-buf", events, deadline);

	if (ready < 0)
		return ready;
	return ready ? 0 : tenon_error(-TENON_E_TIMEOUT, "dma-buf: still in use by a device");
}

/* Before Linux 6.0 these calls are unknown. */
static int fence_error(int err, const char *action)
{
	if (err == -ENOTTY)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "dma-buf: cannot %s: the kernel is older than 6.0", action);
	return system_error(-err, "dma-buf", action);
}

int dmabuf_export_fence(const struct dmabuf *b, enum dmabuf_access access)
{
	struct dmabuf_uapi_fence f = { access, -1 };
	int err = system_ioctl(b->calls, b->fd, DMABUF_UAPI_EXPORT, &f);

	return err < 0 ? fence_error(err, "export its fence") : f.fd;
}

int dmabuf_import_fence(const struct dmabuf *b, enum dmabuf_access access, int fd)
{
	struct dmabuf_uapi_fence f = { access, fd };
	int err = system_ioctl(b->calls, b->fd, DMABUF_UAPI_IMPORT, &f);

	return err < 0 ? fence_error(err, "import a fence") : 0;
}

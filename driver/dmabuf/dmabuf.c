/* SPDX-License-Identifier: MIT */
/* Map a dma-buf, bracket accesses of the CPU, and export its fences. */
#include "driver/dmabuf/dmabuf.h"

#include <errno.h>
#include <string.h>
#include <tenon/error.h>

#include "driver/dmabuf/dmabuf_uapi.h"
#include "lib/brief_errors.h"

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

int dmabuf_export_fence(const struct dmabuf *b, enum dmabuf_access access)
{
	struct dmabuf_uapi_fence f = { access, -1 };
	int err = system_ioctl(b->calls, b->fd, DMABUF_UAPI_EXPORT, &f);

	if (err == -ENOTTY)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"dma-buf: cannot export its fence: the kernel is older than 6.0");
	return err < 0 ? system_error(-err, "dma-buf", "export its fence") : f.fd;
}

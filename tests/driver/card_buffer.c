/* SPDX-License-Identifier: MIT */
/* Buffers of card nodes, by calls that all drivers share; the kernel's wait for the fences of a dma-buf. */
#include "tests/driver/card_buffer.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <tenon/error.h>

/* as in drm/drm_mode.h */
struct card_dumb {
	uint32_t height, width, bits, flags, handle, pitch;
	uint64_t size;
};
struct card_dumb_map {
	uint32_t handle, pad;
	uint64_t offset;
};
#define CARD_DUMB_CREATE _IOWR('d', 0xb2, struct card_dumb)
#define CARD_DUMB_MAP	 _IOWR('d', 0xb3, struct card_dumb_map)

int card_buffer_create(struct drm *card, uint64_t size, struct drm_buffer *out)
{
	/* a picture whose lines are pages */
	struct card_dumb dumb = { .width = 1024, .bits = 32, .height = (uint32_t)(size / 4096) };
	struct card_dumb_map map = { 0 };
	int err;

	drm_adopt(0, 0, out);
	err = drm_call(card, CARD_DUMB_CREATE, &dumb);
	if (err)
		return err;
	drm_adopt(dumb.handle, dumb.size, out);
	map.handle = dumb.handle;
	err = drm_call(card, CARD_DUMB_MAP, &map);
	return err ? err : drm_map(card, out, map.offset);
}

int card_buffer_wait(const struct dmabuf *b, enum dmabuf_access access, uint64_t deadline)
{
	short events = access & DMABUF_WRITE ? POLLOUT : POLLIN;
	int ready = system_wait(b->calls, b->fd, "dma-buf", events, deadline);

	if (ready < 0)
		return ready;
	return ready ? 0 : tenon_error(-TENON_E_TIMEOUT, "dma-buf: a device still uses it");
}

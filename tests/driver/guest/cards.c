/* SPDX-License-Identifier: MIT */
/* Open the guest's devices of DRM, and make and signal fences that stand for their work. */
#include "tests/driver/guest/cards.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <tenon/error.h>

#include "lib/clock.h"

/* calls of vgem, as in drm/vgem_drm.h */
struct vgem_attach {
	uint32_t handle;
	uint32_t flags;
	uint32_t fence;
	uint32_t pad;
};
struct vgem_signal {
	uint32_t fence;
	uint32_t flags;
};
#define VGEM_WRITE  1u
#define VGEM_ATTACH _IOWR('d', 0x41, struct vgem_attach)
#define VGEM_SIGNAL _IOW('d', 0x42, struct vgem_signal)

static uint64_t began;

bool card_open(const char *format, int first, const char *driver, struct drm *out)
{
	char path[32];

	for (int i = first; i < first + 4; i++) {
		snprintf(path, sizeof(path), format, i);
		if (drm_open(NULL, "", path, out))
			continue;
		if (!strcmp(out->driver, driver))
			return true;
		drm_close(out);
	}
	return false;
}

bool card_too_late(void)
{
	return clock_now() > began + UINT64_C(9000000000);
}

bool card_is_held(int err)
{
	return err == -TENON_E_TIMEOUT || card_too_late();
}

int card_begin_work(struct drm *vgem, const struct drm_buffer *b, uint32_t *fence)
{
	struct vgem_attach a = { .handle = b->handle, .flags = VGEM_WRITE };
	int err;

	began = clock_now();
	err = drm_call(vgem, VGEM_ATTACH, &a);
	*fence = a.fence;
	return err;
}

int card_signal(struct drm *vgem, uint32_t fence)
{
	struct vgem_signal s = { .fence = fence };

	return drm_call(vgem, VGEM_SIGNAL, &s);
}

bool card_end_work(struct drm *vgem, uint32_t fence)
{
	return !card_signal(vgem, fence) || card_too_late();
}

/* SPDX-License-Identifier: MIT */
/* Memory objects of a DRM driver: map, export and import them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <tenon/error.h>

#include "driver/drm/drm.h"
#include "driver/drm/drm_uapi.h"
#include "lib/brief_errors.h"

void drm_adopt(uint32_t handle, uint64_t size, struct drm_buffer *out)
{
	*out = (struct drm_buffer){ .handle = handle, .size = size };
}

int drm_map(struct drm *d, struct drm_buffer *b, uint64_t offset)
{
	return b->base ? 0 : system_map(d->calls, d->fd, d->path, offset, b->size, &b->base);
}

void drm_buffer_close(struct drm *d, struct drm_buffer *b)
{
	struct drm_uapi_close c = { .handle = b->handle };

	system_unmap(d->calls, &b->base, b->size);
	/* should it fail, the object ends with the node's descriptor */
	if (b->handle)
		(void)drm_call(d, DRM_UAPI_CLOSE, &c);
	b->handle = 0;
}

int drm_export(struct drm *d, const struct drm_buffer *b)
{
	struct drm_uapi_prime p = { .handle = b->handle, .flags = O_CLOEXEC | O_RDWR, .fd = -1 };
	int err = drm_call(d, DRM_UAPI_HANDLE_TO_FD, &p);

	return err ? system_error(-err, d->path, "export a buffer") : p.fd;
}

int drm_import(struct drm *d, int fd, uint64_t size, struct drm_buffer *out)
{
	struct drm_uapi_prime p = { .fd = fd };
	int err;

	drm_adopt(0, 0, out);
	err = drm_call(d, DRM_UAPI_FD_TO_HANDLE, &p);
	/* drivers without a way to import answer EINVAL or, for buffers of others, ENODEV */
	if (err == -EINVAL || err == -ENODEV || err == -ENOSYS)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: driver \"%s\" cannot import this buffer: %s", d->path,
				   d->driver, strerror(-err));
	if (err)
		return system_error(-err, d->path, "import a buffer");
	drm_adopt(p.handle, size, out);
	return 0;
}

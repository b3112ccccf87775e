/* SPDX-License-Identifier: MIT */
/*
 * Numbers and layouts of the calls that all drivers of the kernel's DRM share: as in drm/drm.h, which
 * some C libraries do not install.
 */
#ifndef DRIVER_DRM_UAPI_H
#define DRIVER_DRM_UAPI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

struct drm_uapi_version {
	int32_t major;
	int32_t minor;
	int32_t patch;
	size_t name_size;
	char *name;
	size_t date_size;
	char *date;
	size_t text_size;
	char *text;
};

struct drm_uapi_cap {
	uint64_t capability;
	uint64_t value;
};

#define DRM_UAPI_CAP_PRIME 0x5

#define DRM_UAPI_PRIME_IMPORT 1u
#define DRM_UAPI_PRIME_EXPORT 2u

struct drm_uapi_close {
	uint32_t handle;
	uint32_t pad;
};

struct drm_uapi_prime {
	uint32_t handle;
	uint32_t flags;
	int32_t fd;
};

#define DRM_UAPI_VERSION      _IOWR('d', 0x00, struct drm_uapi_version)
#define DRM_UAPI_CLOSE	      _IOW('d', 0x09, struct drm_uapi_close)
#define DRM_UAPI_GET_CAP      _IOWR('d', 0x0c, struct drm_uapi_cap)
#define DRM_UAPI_HANDLE_TO_FD _IOWR('d', 0x2d, struct drm_uapi_prime)
#define DRM_UAPI_FD_TO_HANDLE _IOWR('d', 0x2e, struct drm_uapi_prime)

#endif /* DRIVER_DRM_UAPI_H */

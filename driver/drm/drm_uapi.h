/* SPDX-License-Identifier: MIT */
/*
 * Numbers and layouts of the calls that all drivers of the kernel's DRM share: as in drm/drm.h and drm/drm_mode.h,
 * which some C libraries do not install.
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

#define DRM_UAPI_CAP_DUMB  0x1
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

struct drm_uapi_dumb {
	uint32_t height;
	uint32_t width;
	uint32_t bits;
	uint32_t flags;
	uint32_t handle;
	uint32_t pitch;
	uint64_t size;
};

struct drm_uapi_dumb_map {
	uint32_t handle;
	uint32_t pad;
	uint64_t offset;
};

#define DRM_UAPI_VERSION      _IOWR('d', 0x00, struct drm_uapi_version)
#define DRM_UAPI_CLOSE	      _IOW('d', 0x09, struct drm_uapi_close)
#define DRM_UAPI_GET_CAP      _IOWR('d', 0x0c, struct drm_uapi_cap)
#define DRM_UAPI_HANDLE_TO_FD _IOWR('d', 0x2d, struct drm_uapi_prime)
#define DRM_UAPI_FD_TO_HANDLE _IOWR('d', 0x2e, struct drm_uapi_prime)
#define DRM_UAPI_DUMB_CREATE  _IOWR('d', 0xb2, struct drm_uapi_dumb)
#define DRM_UAPI_DUMB_MAP     _IOWR('d', 0xb3, struct drm_uapi_dumb_map)

#endif /* DRIVER_DRM_UAPI_H */

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

#define DRM_UAPI_CAP_DUMB     0x1
#define DRM_UAPI_CAP_PRIME    0x5
#define DRM_UAPI_CAP_SYNCOBJ  0x13
#define DRM_UAPI_CAP_TIMELINE 0x14

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

struct drm_uapi_syncobj {
	uint32_t handle;
	uint32_t flags;
};

#define DRM_UAPI_SYNCOBJ_SIGNALED 1u
#define DRM_UAPI_SYNC_FILE	  1u

struct drm_uapi_syncobj_fd {
	uint32_t handle;
	uint32_t flags;
	int32_t fd;
	uint32_t pad;
};

#define DRM_UAPI_WAIT_ALL	 1u
#define DRM_UAPI_WAIT_FOR_SUBMIT 2u

struct drm_uapi_syncobj_wait {
	uint64_t handles;
	int64_t deadline; /* of CLOCK_MONOTONIC */
	uint32_t count;
	uint32_t flags;
	uint32_t first;
	uint32_t pad;
};

struct drm_uapi_timeline_wait {
	uint64_t handles;
	uint64_t points;
	int64_t deadline;
	uint32_t count;
	uint32_t flags;
	uint32_t first;
	uint32_t pad;
};

struct drm_uapi_syncobj_array {
	uint64_t handles;
	uint32_t count;
	uint32_t pad;
};

struct drm_uapi_timeline_array {
	uint64_t handles;
	uint64_t points;
	uint32_t count;
	uint32_t flags;
};

struct drm_uapi_transfer {
	uint32_t from;
	uint32_t to;
	uint64_t from_point;
	uint64_t to_point;
	uint32_t flags;
	uint32_t pad;
};

#define DRM_UAPI_VERSION	 _IOWR('d', 0x00, struct drm_uapi_version)
#define DRM_UAPI_CLOSE		 _IOW('d', 0x09, struct drm_uapi_close)
#define DRM_UAPI_GET_CAP	 _IOWR('d', 0x0c, struct drm_uapi_cap)
#define DRM_UAPI_HANDLE_TO_FD	 _IOWR('d', 0x2d, struct drm_uapi_prime)
#define DRM_UAPI_FD_TO_HANDLE	 _IOWR('d', 0x2e, struct drm_uapi_prime)
#define DRM_UAPI_DUMB_CREATE	 _IOWR('d', 0xb2, struct drm_uapi_dumb)
#define DRM_UAPI_DUMB_MAP	 _IOWR('d', 0xb3, struct drm_uapi_dumb_map)
#define DRM_UAPI_SYNCOBJ_CREATE	 _IOWR('d', 0xbf, struct drm_uapi_syncobj)
#define DRM_UAPI_SYNCOBJ_DESTROY _IOWR('d', 0xc0, struct drm_uapi_syncobj)
#define DRM_UAPI_SYNCOBJ_TO_FD	 _IOWR('d', 0xc1, struct drm_uapi_syncobj_fd)
#define DRM_UAPI_FD_TO_SYNCOBJ	 _IOWR('d', 0xc2, struct drm_uapi_syncobj_fd)
#define DRM_UAPI_SYNCOBJ_WAIT	 _IOWR('d', 0xc3, struct drm_uapi_syncobj_wait)
#define DRM_UAPI_SYNCOBJ_RESET	 _IOWR('d', 0xc4, struct drm_uapi_syncobj_array)
#define DRM_UAPI_SYNCOBJ_SIGNAL	 _IOWR('d', 0xc5, struct drm_uapi_syncobj_array)
#define DRM_UAPI_TIMELINE_WAIT	 _IOWR('d', 0xca, struct drm_uapi_timeline_wait)
#define DRM_UAPI_TIMELINE_QUERY	 _IOWR('d', 0xcb, struct drm_uapi_timeline_array)
#define DRM_UAPI_TRANSFER	 _IOWR('d', 0xcc, struct drm_uapi_transfer)
#define DRM_UAPI_TIMELINE_SIGNAL _IOWR('d', 0xcd, struct drm_uapi_timeline_array)

#endif /* DRIVER_DRM_UAPI_H */

/* SPDX-License-Identifier: MIT */
/* Syncobjs: wait, signal, query and share points of the kernel's timelines. */
#include <errno.h>
#include <tenon/error.h>

#include "driver/drm/drm.h"
#include "driver/drm/drm_uapi.h"
#include "lib/brief_errors.h"

/* The kernel's deadlines are signed. */
static int64_t deadline_of(uint64_t deadline)
{
	return deadline > INT64_MAX ? INT64_MAX : (int64_t)deadline;
}

static int result(const struct drm *d, int err, const char *action)
{
	return err ? system_error(-err, d->path, action) : 0;
}

int drm_syncobj_create(struct drm *d, uint32_t *handle)
{
	struct drm_uapi_syncobj s = { .handle = 0 };
	int err;

	*handle = 0;
	if (!d->has_syncobj)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s: driver \"%s\" has no syncobjs",
				   d->path, d->driver);
	err = drm_call(d, DRM_UAPI_SYNCOBJ_CREATE, &s);
	*handle = err ? 0 : s.handle;
	return result(d, err, "create a syncobj");
}

void drm_syncobj_destroy(struct drm *d, uint32_t *handle)
{
	struct drm_uapi_syncobj s = { .handle = *handle };

	/* should it fail, the object ends with the node's descriptor */
	if (*handle)
		(void)drm_call(d, DRM_UAPI_SYNCOBJ_DESTROY, &s);
	*handle = 0;
}

static int check_point(const struct drm *d, uint64_t point)
{
	if (!point || d->has_timeline)
		return 0;
	return tenon_error(-TENON_E_UNSUPPORTED, "%s: driver \"%s\" has no timelines", d->path,
			   d->driver);
}

int drm_syncobj_wait(struct drm *d, uint32_t handle, uint64_t point, uint64_t deadline)
{
	struct drm_uapi_timeline_wait t = {
		.handles = (uintptr_t)&handle,
		.points = (uintptr_t)&point,
		.deadline = deadline_of(deadline),
		.count = 1,
		.flags = DRM_UAPI_WAIT_ALL | DRM_UAPI_WAIT_FOR_SUBMIT,
	};
	struct drm_uapi_syncobj_wait s = {
		.handles = t.handles,
		.deadline = t.deadline,
		.count = 1,
		.flags = t.flags,
	};
	int err = check_point(d, point);

	if (err)
		return err;
	err = point ? drm_call(d, DRM_UAPI_TIMELINE_WAIT, &t)
		    : drm_call(d, DRM_UAPI_SYNCOBJ_WAIT, &s);
	return result(d, err, "wait for a fence");
}

int drm_syncobj_signal(struct drm *d, uint32_t handle, uint64_t point)
{
	struct drm_uapi_timeline_array t = {
		.handles = (uintptr_t)&handle,
		.points = (uintptr_t)&point,
		.count = 1,
	};
	struct drm_uapi_syncobj_array s = { .handles = t.handles, .count = 1 };
	int err = check_point(d, point);

	if (err)
		return err;
	err = point ? drm_call(d, DRM_UAPI_TIMELINE_SIGNAL, &t)
		    : drm_call(d, DRM_UAPI_SYNCOBJ_SIGNAL, &s);
	return result(d, err, "signal a fence");
}

int drm_syncobj_reset(struct drm *d, uint32_t handle)
{
	struct drm_uapi_syncobj_array s = { .handles = (uintptr_t)&handle, .count = 1 };

	return result(d, drm_call(d, DRM_UAPI_SYNCOBJ_RESET, &s), "reset a syncobj");
}

int drm_syncobj_query(struct drm *d, uint32_t handle, uint64_t *point)
{
	struct drm_uapi_timeline_array t = {
		.handles = (uintptr_t)&handle,
		.points = (uintptr_t)point,
		.count = 1,
	};
	int err;

	*point = 0;
	err = check_point(d, 1);
	return err ? err : result(d, drm_call(d, DRM_UAPI_TIMELINE_QUERY, &t), "read a timeline");
}

int drm_syncobj_transfer(struct drm *d, uint32_t from, uint64_t from_point, uint32_t to,
			 uint64_t to_point)
{
	struct drm_uapi_transfer t = {
		.from = from,
		.to = to,
		.from_point = from_point,
		.to_point = to_point,
	};
	int err = check_point(d, 1);

	return err ? err : result(d, drm_call(d, DRM_UAPI_TRANSFER, &t), "transfer a fence");
}

int drm_syncobj_export(struct drm *d, uint32_t handle, bool as_sync_file)
{
	struct drm_uapi_syncobj_fd f = {
		.handle = handle,
		.flags = as_sync_file ? DRM_UAPI_SYNC_FILE : 0,
		.fd = -1,
	};
	int err = drm_call(d, DRM_UAPI_SYNCOBJ_TO_FD, &f);

	return err ? result(d, err, "export a syncobj") : f.fd;
}

int drm_syncobj_import(struct drm *d, int fd, bool is_sync_file, uint32_t *handle)
{
	struct drm_uapi_syncobj_fd f = {
		.handle = is_sync_file ? *handle : 0,
		.flags = is_sync_file ? DRM_UAPI_SYNC_FILE : 0,
		.fd = fd,
	};
	int err = drm_call(d, DRM_UAPI_FD_TO_SYNCOBJ, &f);

	if (!is_sync_file)
		*handle = err ? 0 : f.handle;
	return result(d, err, "import a syncobj");
}

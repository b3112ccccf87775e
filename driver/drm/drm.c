/* SPDX-License-Identifier: MIT */
/* Open a node of the kernel's DRM, identify its driver, and make its ioctls. */
#include "driver/drm/drm.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>

#include "driver/drm/drm_uapi.h"
#include "lib/brief_errors.h"

int drm_call(const struct drm *d, unsigned long request, void *argument)
{
	int err;

	do
		err = system_ioctl(d->calls, d->fd, request, argument);
	while (err == -EAGAIN);
	return err < 0 ? err : 0;
}

static int identify(struct drm *d)
{
	struct drm_uapi_version v = { .name = d->driver, .name_size = sizeof(d->driver) - 1 };
	int err = drm_call(d, DRM_UAPI_VERSION, &v);

	if (err == -ENOTTY)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s is no DRM node", d->path);
	if (err)
		return system_error(-err, d->path, "identify its driver");
	/* the kernel reports the length of the whole name, even if it copied only its beginning */
	d->driver[v.name_size < sizeof(d->driver) ? v.name_size : sizeof(d->driver) - 1] = 0;
	d->major = v.major;
	d->minor = v.minor;
	d->patch = v.patch;
	return 0;
}

/* Drivers refuse questions about what they do not have, in different ways. */
static int ask(const struct drm *d, uint64_t capability, uint64_t *value)
{
	struct drm_uapi_cap c = { .capability = capability };
	int err = drm_call(d, DRM_UAPI_GET_CAP, &c);

	*value = 0;
	if (err == -EINVAL || err == -EOPNOTSUPP || err == -ENOTTY)
		return 0;
	if (err)
		return system_error(-err, d->path, "ask what it can do");
	*value = c.value;
	return 0;
}

static int ask_sharing(struct drm *d)
{
	uint64_t prime;
	int err = ask(d, DRM_UAPI_CAP_PRIME, &prime);

	d->can_import = prime & DRM_UAPI_PRIME_IMPORT;
	d->can_export = prime & DRM_UAPI_PRIME_EXPORT;
	return err;
}

int drm_open(const struct system_calls *calls, const char *root, const char *path, struct drm *out)
{
	char full[PATH_MAX];
	int err;

	memset(out, 0, sizeof(*out));
	out->calls = system_calls_or_kernel(calls);
	snprintf(out->path, sizeof(out->path), "%s", path);
	snprintf(full, sizeof(full), "%s%s", root, path);
	out->is_accel = strstr(path, "/accel/") != NULL;
	out->fd = system_open(out->calls, full, O_RDWR);
	if (out->fd < 0)
		return out->fd;
	err = identify(out);
	if (!err)
		err = ask_sharing(out);
	if (err)
		drm_close(out);
	return err;
}

void drm_close(struct drm *d)
{
	system_close(d->calls, &d->fd);
}

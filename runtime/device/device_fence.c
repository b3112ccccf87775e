/* SPDX-License-Identifier: MIT */
/* Export points of timelines as descriptors and import such descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/fence.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/fence_fd.h"
#include "runtime/device/device_core.h"
#include "runtime/device/device_notify.h"

static int duplicate(int fd, int *out)
{
	*out = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return *out < 0 ? tenon_error(errno == EBADF ? -TENON_E_VALUE : -TENON_E_IO,
				      "descriptor %d: %s", fd, strerror(errno))
			: 0;
}

/* an eventfd that a timeline will signal */
struct exported {
	struct point_callback callback;
	int fd;
};

static void signal_exported(struct point_callback *c, int status)
{
	struct exported *e = (struct exported *)c;

	fence_eventfd_signal(e->fd, status);
	close(e->fd);
	free(e);
}

/*
 * Signal an eventfd when the timeline reaches the point. Uses a duplicate of @fd, since the caller
 * may close it earlier. Return: 1; 0 when the point is decided already; negative.
 */
static int export_later(const struct tenon_point *point, int fd)
{
	struct exported *e = malloc(sizeof(*e));
	int state;

	if (!e)
		return tenon_error(-TENON_E_NOMEM, "no memory to export a fence");
	state = duplicate(fd, &e->fd);
	if (!state) {
		e->callback.value = point->value;
		e->callback.notify = signal_exported;
		state = timeline_add_callback(point->timeline, &e->callback);
		if (state == 1)
			return 1;
		close(e->fd);
	}
	free(e);
	return state;
}

static int export_eventfd(const struct tenon_point *point, int *out)
{
	int state, status, fd;
	uint32_t type;

	fd = timeline_foreign(point->timeline, &type);
	if (fd >= 0 && type == TENON_FENCE_EVENTFD && point->value == 1)
		return duplicate(fd, out);
	fd = fence_eventfd_create();
	if (fd < 0)
		return fd;
	state = export_later(point, fd);
	if (state < 0) {
		close(fd);
		return state;
	}
	/* a failure of the timeline goes into the fence, the export succeeds */
	if (!state && timeline_decided(point->timeline, point->value, &status)) {
		fence_eventfd_signal(fd, status);
		tenon_error_clear();
	}
	*out = fd;
	return 0;
}

int tenon_fence_export(const struct tenon_point *point, uint32_t type, int *fd)
{
	*fd = -1;
	if (type == TENON_FENCE_EVENTFD)
		return export_eventfd(point, fd);
	return timeline_export(point->timeline, point->value, type, fd);
}

static int check_import(uint32_t type, int fd)
{
	switch (type) {
	case TENON_FENCE_EVENTFD:
		return fence_eventfd_check(fd);
	case TENON_FENCE_SYNC_FILE:
		return fence_sync_file_check(fd);
	case TENON_FENCE_OPAQUE_FD:
		return 0; /* the driver checks it */
	default:
		return tenon_error(-TENON_E_VALUE, "no type of fences has the number %u", type);
	}
}

int tenon_fence_import(uint32_t type, int fd, struct tenon_timeline **out)
{
	int copy, err;

	*out = NULL;
	err = duplicate(fd, &copy);
	if (err)
		return err;
	err = check_import(type, copy);
	if (!err)
		err = tenon_timeline_create(0, out);
	if (err)
		close(copy);
	else
		timeline_import(*out, type, copy);
	return err;
}

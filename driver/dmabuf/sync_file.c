/* SPDX-License-Identifier: MIT */
/* Wait for a fence in a descriptor. */
#include <poll.h>
#include <string.h>
#include <tenon/error.h>

#include "driver/dmabuf/dmabuf.h"
#include "driver/dmabuf/dmabuf_uapi.h"
#include "lib/brief_errors.h"

/* Work that took the device too long has ended: this is no deadline of the caller. */
static int work_failed(int error)
{
	int status = system_status(error);

	return tenon_error(status == -TENON_E_TIMEOUT ? -TENON_E_DEVICE : status,
			   "the work behind a fence failed: %s", strerror(error));
}

int sync_file_wait(const struct system_calls *calls, int fd, uint64_t deadline)
{
	struct sync_uapi_info info;
	int ready, err;

	calls = system_calls_or_kernel(calls);
	ready = system_wait(calls, fd, "sync_file", POLLIN, deadline);
	if (ready < 0)
		return ready;
	/* the fence became readable with success and with failure alike */
	memset(&info, 0, sizeof(info));
	err = system_ioctl(calls, fd, SYNC_UAPI_INFO, &info);
	if (err < 0)
		return system_error(-err, "sync_file", "read its status");
	if (info.status < 0)
		return work_failed(-info.status);
	return info.status ? 0 : tenon_error(-TENON_E_TIMEOUT, "a fence was not signalled in time");
}

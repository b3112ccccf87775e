/* SPDX-License-Identifier: MIT */
/* The client of RPC is a backend, and often a plug-in: these functions find it. */
#include "runtime/device/device_remote.h"

#include <tenon/backend/backend.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_table.h"

int tenon_remote_connect(const char *address, const struct tenon_remote_options *options,
			 struct tenon_remote **out)
{
	const struct tenon_backend *b = tenon_backend_find(tenon_slice_of("rpc"));
	const struct remote_extension *remote = NULL;

	*out = NULL;
	tenon_error_clear();
	if (b && BACKEND_SLOT(b, extension))
		remote = b->extension(REMOTE_EXTENSION);
	if (remote)
		return remote->connect(address, options, out);
	if (tenon_error_status())
		return tenon_error_status();
	return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_REMOTE_CLIENT is off in this build");
}

struct tenon_remote *tenon_remote_of_device(struct tenon_device *device, DLDevice *there)
{
	const struct remote_extension *remote;

	if (device->backend->device_type != TENON_DL_RPC ||
	    !BACKEND_SLOT(device->backend, extension))
		return NULL;
	remote = device->backend->extension(REMOTE_EXTENSION);
	return remote ? remote->of_device(device, there) : NULL;
}

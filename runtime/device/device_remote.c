/* SPDX-License-Identifier: MIT */
/* Find the RPC client, which is a backend and often a plug-in. */
#include "runtime/device/device_remote.h"

#include <tenon/backend/backend.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_table.h"

static const struct remote_extension *extension_of(const struct tenon_backend *b)
{
	if (!b || backend_open_plugin(b))
		return NULL;
	b = backend_opened(b);
	return BACKEND_SLOT(b, extension) ? b->extension(REMOTE_EXTENSION) : NULL;
}

int tenon_remote_connect(const char *address, const struct tenon_remote_options *options,
			 struct tenon_remote **out)
{
	const struct remote_extension *remote;

	*out = NULL;
	tenon_error_clear();
	remote = extension_of(tenon_backend_find(tenon_slice_of("rpc")));
	if (remote)
		return remote->connect(address, options, out);
	if (tenon_error_status())
		return tenon_error_status();
	return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_REMOTE_CLIENT is off in this build");
}

struct tenon_remote *tenon_remote_of_device(struct tenon_device *device, DLDevice *there)
{
	const struct remote_extension *remote;

	if (device->backend->device_type != TENON_DL_RPC)
		return NULL;
	remote = extension_of(device->backend);
	return remote ? remote->of_device(device, there) : NULL;
}

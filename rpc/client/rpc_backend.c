/* SPDX-License-Identifier: MIT */
/* The client as a backend: its devices have the names of servers. */
#include <string.h>
#include <tenon/backend/backend.h>

#include "lib/brief_errors.h"
#include "rpc/client/rpc.h"
#include "runtime/device/device_remote.h"

/* Devices of other machines are not listed: a program names their machine. */
static int rpc_count(uint32_t *count)
{
	*count = 0;
	return 0;
}

static int rpc_describe(uint32_t index, struct tenon_device_properties *p)
{
	return tenon_error(-TENON_E_DEVICE, "no device rpc:%u", index);
}

static struct tenon_remote *of_device(struct tenon_device *device, DLDevice *there)
{
	const struct rpc_device *d = (const struct rpc_device *)device;

	if (device->backend != &rpc_backend && strcmp(device->backend->name, "rpc") != 0)
		return NULL;
	if (there)
		*there = d->there;
	/* the session of a device that was not opened by name may be over */
	if (!tenon_object_promote(d->rpc))
		return NULL;
	rpc_unref(d->rpc);
	return &d->rpc->base;
}

static const void *rpc_extension(const char *name)
{
	static const struct remote_extension remote = { rpc_connect, of_device };

	return strcmp(name, REMOTE_EXTENSION) == 0 ? &remote : NULL;
}

const struct tenon_backend rpc_backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(rpc_backend),
	.name = "rpc",
	.device_type = TENON_DL_RPC,
	.flags = TENON_BACKEND_FORKS | TENON_BACKEND_PLACES | TENON_BACKEND_CONCURRENT_OPEN,
	.count = rpc_count,
	.describe = rpc_describe,
	.open = rpc_device_open,
	.extension = rpc_extension,
};

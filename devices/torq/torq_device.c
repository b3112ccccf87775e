/* SPDX-License-Identifier: MIT */
/* The backend's table. */
#include <tenon/backend/backend.h>
#include <tenon/uapi/torq.h>

#include "devices/torq/torq_payload.h"
#include "lib/brief_errors.h"

extern const struct tenon_backend torq_backend;

static int backend_count(uint32_t *count)
{
	*count = 0;
	return 0;
}

static int backend_describe(uint32_t index, struct tenon_device_properties *p)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "torq: programs are read, and not run");
}

static int backend_open(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	*out = NULL;
	return tenon_error(-TENON_E_UNSUPPORTED, "torq: programs are read, and not run");
}

const struct tenon_backend torq_backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(torq_backend),
	.name = "torq",
	.device_type = TENON_DL_TORQ,
	.flags = TENON_BACKEND_FORKS,
	.kinds = torq_payload_kinds,
	.count = backend_count,
	.describe = backend_describe,
	.open = backend_open,
	.formats = torq_payload_formats,
};

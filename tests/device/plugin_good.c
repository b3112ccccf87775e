/* SPDX-License-Identifier: MIT */
/* The least that a plug-in can be: a backend that sees no device. */
#include <tenon/backend/backend.h>

static int count(uint32_t *out)
{
	*out = 0;
	return 0;
}

static int describe(uint32_t index, struct tenon_device_properties *properties)
{
	(void)index;
	(void)properties;
	return -TENON_E_DEVICE;
}

static int open_device(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	(void)choice;
	*out = NULL;
	return -TENON_E_DEVICE;
}

static const struct tenon_backend backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(backend),
	.name = "plugged",
	.device_type = 90,
	.count = count,
	.describe = describe,
	.open = open_device,
};

const struct tenon_backend *tenon_backend_entry(uint32_t abi);
const struct tenon_backend *tenon_backend_entry(uint32_t abi)
{
	return abi == TENON_PLUGIN_ABI ? &backend : NULL;
}

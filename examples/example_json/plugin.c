/* SPDX-License-Identifier: MIT */
/* A plug-in that brings a kind of module, and no devices */
#include <stddef.h>
#include <tenon/backend/backend.h>
#include <tenon/error.h>

#include "example_json.h"

static int count(uint32_t *out)
{
	*out = 0;
	return 0;
}

static int describe(uint32_t index, struct tenon_device_properties *properties)
{
	(void)index;
	(void)properties;
	return tenon_error(-TENON_E_DEVICE, "ExampleJSON has no devices");
}

static int open_device(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	(void)choice;
	*out = NULL;
	return tenon_error(-TENON_E_DEVICE, "ExampleJSON has no devices");
}

static const struct tenon_module_loader *const loaders[] = { &example_json_loader, NULL };

static const struct tenon_backend backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(backend),
	.name = "examplejson",
	.device_type = 102,
	.count = count,
	.describe = describe,
	.open = open_device,
	.loaders = loaders,
};

TENON_API const struct tenon_backend *tenon_backend_entry(uint32_t abi);
const struct tenon_backend *tenon_backend_entry(uint32_t abi)
{
	return abi == TENON_PLUGIN_ABI ? &backend : NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * The one function that modules of TVM's old code generator for Ethos-U import. It is in the library, which such modules are
 * linked with; what it does is in the plug-in. Compiled once more for libtenon.a.
 */
#include <tenon/ethosu.h>

#include "devices/ethosu/ethosu_device.h"

#ifdef CONFIG_DEVICE_ETHOSU_SIM_MODULE
#include <tenon/backend/backend.h>

#include "lib/plugin.h"

static const struct ethosu_launcher *launcher(void)
{
	static struct plugin plugin = { "ethosu", "CONFIG_DEVICE_ETHOSU_SIM", NULL };
	const struct tenon_backend *backend;

	if (plugin_open(&plugin, -TENON_E_DEVICE))
		return NULL;
	backend = plugin.offer;
	return backend->extension(ETHOSU_LAUNCHER);
}
#else
static const struct ethosu_launcher *launcher(void)
{
	return &ethosu_launcher;
}
#endif

int32_t TVMEthosULaunch(void *resource, const void *payload, size_t size, const uint64_t *addresses,
			const size_t *sizes, int32_t count)
{
	const struct ethosu_launcher *l = launcher();
	const struct tenon_slice bytes = { payload, size };

	(void)resource;
	return l && !l->launch(bytes, addresses, sizes, count) ? 0 : -1;
}

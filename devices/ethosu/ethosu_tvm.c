/* SPDX-License-Identifier: MIT */
/*
 * The one function that modules of TVM's old code generator for Ethos-U import. It is in the library, which such modules are
 * linked with; what it does is in the plug-in.
 */
#include <tenon/backend/backend.h>
#include <tenon/ethosu.h>

#include "devices/ethosu/ethosu_device.h"
#include "lib/brief_errors.h"
#include "lib/plugin.h"

extern struct plugin plugin_ethosu;

static const struct ethosu_launcher *launcher(void)
{
	if (plugin_open(&plugin_ethosu, -TENON_E_DEVICE))
		return NULL;
	return plugin_ethosu.offer->backend->extension(ETHOSU_LAUNCHER);
}

int32_t TVMEthosULaunch(void *resource, const void *payload, size_t size, const uint64_t *addresses,
			const size_t *sizes, int32_t count)
{
	const struct tenon_slice bytes = { payload, size };
	const struct ethosu_launcher *l;

	if (!payload || !addresses || !sizes || count < 0) {
		tenon_error(
			-TENON_E_VALUE,
			"TVMEthosULaunch: a payload, addresses and sizes of regions are needed, "
			"and no count of %d",
			count);
		return -1;
	}
	l = launcher();
	return l && !l->launch(bytes, addresses, sizes, count) ? 0 : -1;
}

/* SPDX-License-Identifier: MIT */
/* Open the plug-in that describes and writes modules. */
#include "runtime/core/describer.h"

#include <tenon/error.h>

#include "lib/plugin.h"

/* the row of runtime/describe/ in the table of plug-ins */
extern struct plugin plugin_describe;

int describer_open(const struct describer **out, size_t place, const char *function)
{
	int err = plugin_open(&plugin_describe, -TENON_E_UNSUPPORTED);

	*out = NULL;
	if (err)
		return err;
	if (!plugin_slot(plugin_describe.offer->describer, place))
		return plugin_lacks(&plugin_describe, function);
	*out = plugin_describe.offer->describer;
	return 0;
}

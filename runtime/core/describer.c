/* SPDX-License-Identifier: MIT */
/* Open the plug-in that describes and writes modules. */
#include "runtime/core/describer.h"

#include <tenon/error.h>

#include "lib/plugin.h"

/* the row of runtime/describe/ in the table of plug-ins */
extern struct plugin plugin_describe;

int describer_open(const struct describer **out)
{
	int err = plugin_open(&plugin_describe, -TENON_E_UNSUPPORTED);

	*out = err ? NULL : plugin_describe.offer->describer;
	return err;
}

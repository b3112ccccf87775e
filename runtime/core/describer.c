/* SPDX-License-Identifier: MIT */
/* Open the plug-in that describes and writes modules. */
#include "runtime/core/describer.h"

#include <tenon/error.h>

#include "lib/plugin.h"

/* the row of runtime/describe/ in the table of plug-ins */
extern struct plugin plugin_describe;

const struct describer *describer_open(void)
{
	return plugin_open(&plugin_describe, -TENON_E_UNSUPPORTED)
		       ? NULL
		       : plugin_describe.offer->describer;
}

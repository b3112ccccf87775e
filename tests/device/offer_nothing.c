/* SPDX-License-Identifier: MIT */
/* A plug-in of this release, with nothing in it. */
#include <tenon/tenon.h>

#include "lib/plugin.h"

TENON_API const struct plugin_offer tenon_plugin = { .version = TENON_VERSION_TEXT };

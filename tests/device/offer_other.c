/* SPDX-License-Identifier: MIT */
/* A plug-in of another release, which the library has to refuse. */
#include <tenon/tenon.h>

#include "lib/plugin.h"

TENON_API const struct plugin_offer tenon_plugin = { .version = "0.0.0-other" };

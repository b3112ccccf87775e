/* SPDX-License-Identifier: MIT */
/* What a plug-in exports; compiled for each with PLUGIN_TYPE and PLUGIN_OFFER, type and name of what it offers. */
#include "lib/plugin.h"

extern const struct PLUGIN_TYPE PLUGIN_OFFER;
extern const struct plugin_entry tenon_plugin __attribute__((visibility("default")));

const struct plugin_entry tenon_plugin = { TENON_VERSION_TEXT, &PLUGIN_OFFER };

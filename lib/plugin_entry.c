/* SPDX-License-Identifier: MIT */
/* Compiled for each plug-in; PLUGIN_TYPE and PLUGIN_OFFER are type and name of its table entry. */
#include "lib/plugin.h"

extern const struct PLUGIN_TYPE PLUGIN_OFFER;
extern const struct plugin_entry tenon_plugin __attribute__((visibility("default")));

const struct plugin_entry tenon_plugin = { TENON_VERSION_TEXT, &PLUGIN_OFFER };

/* SPDX-License-Identifier: MIT */
/* What a plug-in hands over, by its row. Compiled for each plug-in, with PLUGIN_IS_<name> as 1. */
#include "lib/option.h"
#include "runtime/table/plugin_row.h"

extern const struct plugin_offer tenon_plugin __attribute__((visibility("default")));

/* clang-format off */
#define ENTRY_0(...)
#define ENTRY_1(name, sort, ...) \
	sort##_DECLARE(name, __VA_ARGS__) \
	const struct plugin_offer tenon_plugin = sort##_OFFER(name);
#define PLUGIN(option, name, ...) OPTION_JOIN(ENTRY_, OPTION_IS_1(PLUGIN_IS_##name))(name, __VA_ARGS__)
#include "generated/plugins.h"

/* SPDX-License-Identifier: MIT */
/* The kinds of modules that are parts of their own, built in or plug-ins. */
#include "lib/option.h"
#include "lib/plugin.h"
#include "runtime/kind/loaders.h"

/* one line each: option, name, kind */
#define LOADERS_EACH(macro) macro(DNNL_JSON, dnnl, "dnnl_json")

#define DECLARE_BUILT_IN(option, name, kind) extern const struct tenon_module_loader name##_loader;
#define DECLARE_PLUGIN(option, name, kind)                                                         \
	static struct plugin name##_plugin = { #name, "CONFIG_" #option, NULL };                   \
	static int name##_load(struct tenon_cursor *c, const struct tenon_payload *payload,        \
			       struct tenon_module **out)                                          \
	{                                                                                          \
		const struct tenon_module_loader *loader;                                          \
		int err = plugin_open(&name##_plugin, -TENON_E_UNSUPPORTED);                       \
                                                                                                   \
		loader = name##_plugin.offer;                                                      \
		return err ? err : loader->load(c, payload, out);                                  \
	}                                                                                          \
	static const struct tenon_module_loader name##_loader = { kind, name##_load };
#define DECLARE_OFF(...)
#define DECLARE(option, ...) OPTION_CHOOSE(option, DECLARE_, option, __VA_ARGS__)
LOADERS_EACH(DECLARE)

#define ROW_BUILT_IN(name) &name##_loader,
#define ROW_PLUGIN(name)   &name##_loader,
#define ROW_OFF(...)
#define ROW(option, name, kind) OPTION_CHOOSE(option, ROW_, name)
const struct tenon_module_loader *const loader_table[] = { LOADERS_EACH(ROW) NULL };

#undef ROW_BUILT_IN
#undef ROW_PLUGIN
#undef ROW
#define ROW_BUILT_IN(name, kind)
#define ROW_PLUGIN(name, kind)	{ kind, &name##_plugin },
#define ROW(option, name, kind) OPTION_CHOOSE(option, ROW_, name, kind)
const struct loader_plugin loader_plugins[] = { LOADERS_EACH(ROW){ NULL, NULL } };

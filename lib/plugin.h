/* SPDX-License-Identifier: MIT */
#ifndef LIB_PLUGIN_H
#define LIB_PLUGIN_H

/**
 * DOC: plug-ins of the library's own
 *
 * An option with the value m is a shared object, `<name>.so`, that is opened when it is needed. It is
 * searched in `plugins/` and `tenon/` beside libtenon.so, where the build and the installation put it, and
 * where it was configured to be installed. What the option with the value y would add to a table, the
 * plug-in offers. A plug-in stays open for ever.
 */

/**
 * struct plugin - a plug-in, or what is built in in its place
 * @name: of the file, without ".so"
 * @option: "CONFIG_X", for messages
 * @offer: what it offers; NULL until it is opened
 */
struct plugin {
	const char *name;
	const char *option;
	const void *offer;
};

/**
 * struct plugin_entry - what a plug-in exports as `tenon_plugin`
 * @version: release of the library that it was built with
 * @offer: a struct tenon_backend, or a struct executor
 */
struct plugin_entry {
	const char *version;
	const void *offer;
};

#ifdef CONFIG_PLUGINS
/**
 * plugin_open - open a plug-in, once
 * @plugin: which; @plugin->offer is set
 * @status: what a failure is
 *
 * Return: 0; @status with a message that names the option, the files that were tried and what to do.
 */
int plugin_open(struct plugin *plugin, int status);
#else
static inline int plugin_open(struct plugin *plugin, int status)
{
	(void)plugin;
	(void)status;
	return 0; /* built in */
}
#endif

#endif /* LIB_PLUGIN_H */

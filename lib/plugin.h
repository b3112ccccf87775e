/* SPDX-License-Identifier: MIT */
/* Open a plug-in of this library on first use. */
#ifndef LIB_PLUGIN_H
#define LIB_PLUGIN_H

/*
 * An option with the value m builds a shared object, `<name>.so`, that is opened on first use. It
 * is searched in `plugins/` (build) and `tenon/` (installation) beside libtenon.so, then in the
 * configured installation folder. The plug-in exports the table entry that the option with the
 * value y would build in. It is never closed.
 */

#include <stdbool.h>

/**
 * struct plugin - a plug-in, or the built-in part that replaces it
 * @name: name of the file, without ".so"
 * @option: "CONFIG_X", for messages
 * @offer: the exported table entry; NULL until the plug-in is opened
 */
struct plugin {
	const char *name;
	const char *option;
	const void *offer;
};

/**
 * struct plugin_entry - the symbol `tenon_plugin` of a plug-in
 * @version: release of the library that the plug-in was built with
 * @offer: a struct tenon_backend, or a struct executor
 */
struct plugin_entry {
	const char *version;
	const void *offer;
};

struct tenon_buffer;

#ifdef CONFIG_PLUGINS
/**
 * plugin_missing - test whether the file of a plug-in is in none of the folders
 * @plugin: the plug-in; it is not opened
 * @out: receives the message of plugin_open() if so
 */
bool plugin_missing(const struct plugin *plugin, struct tenon_buffer *out);

/**
 * plugin_open - open a plug-in, once
 * @plugin: the plug-in; @plugin->offer is set
 * @status: status to return on failure
 *
 * Return: 0; @status with a message that names the option, the files that were tried and the
 * package that has the plug-in, where TENON_PLUGIN_PACKAGES names it.
 */
int plugin_open(struct plugin *plugin, int status);
#else
static inline bool plugin_missing(const struct plugin *plugin, struct tenon_buffer *out)
{
	(void)plugin;
	(void)out;
	return false;
}

static inline int plugin_open(struct plugin *plugin, int status)
{
	(void)plugin;
	(void)status;
	return 0; /* built in */
}
#endif

#endif /* LIB_PLUGIN_H */

/* SPDX-License-Identifier: MIT */
/* Open a plug-in of this library on first use. */
#ifndef LIB_PLUGIN_H
#define LIB_PLUGIN_H

/*
 * An option with the value m builds a shared object, `<name>.so`, that is opened on first use. It
 * is searched in `plugins/` (build) and `tenon/` (installation) beside libtenon.so, then in the
 * configured installation folder. It is never closed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <tenon/function.h>

#include "lib/option.h"

struct describer;
struct executor;
struct params_files;
struct prober;
struct self_tester;
struct tenon_backend;
struct tenon_module_loader;
struct tenon_payload_format;
struct tracer;

/**
 * struct global_function - a global function of a plug-in, or of a library that adds some to the runtime
 * @name: as it is looked up; NULL ends a list
 * @call: the function
 */
struct global_function {
	const char *name;
	tenon_call_fn call;
};

/**
 * struct plugin_offer - what a plug-in has; NULL for what it does not have. A plug-in exports one as `tenon_plugin`
 * @version: release of the library that it was built with
 * @backend: a backend
 * @executor: an executor of models
 * @loaders: of the kinds of modules that it loads, ended by one without a kind
 * @functions: global functions, registered when one of them is looked up
 * @tracer: what writes traces
 * @params: files of parameters besides those of TVM
 * @tester: self-tests
 * @prober: what asks drivers in a child process
 * @describer: what describes files and objects, and writes modules
 */
struct plugin_offer {
	const char *version;
	const struct tenon_backend *backend;
	const struct executor *executor;
	const struct tenon_module_loader *loaders;
	const struct global_function *functions;
	const struct tracer *tracer;
	const struct params_files *params;
	const struct self_tester *tester;
	const struct prober *prober;
	const struct describer *describer;
};

/* The part that a plug-in has, for struct plugin: PLUGIN_PART(backend) */
#define PLUGIN_PART(name) .part = offsetof(struct plugin_offer, name)

/**
 * struct plugin - a part that an option builds in or makes a plug-in, and what is known of it before it is opened
 * @name: name of the file, without ".so"; NULL for a backend that is left out, of which only @formats are there
 * @option: "CONFIG_X", for messages
 * @offer: NULL until the plug-in is opened; atomic
 * @backend: a backend without slots until @offer is there
 * @formats: formats of its payloads, ended by NULL
 * @loaders: of the kinds of modules that it loads, ended by one without a kind; they open the plug-in
 * @functions: names of its global functions, one behind the other, ended by an empty one; one that ends in a dot is the
 *	beginning of names. NULL without any
 * @part: place in struct plugin_offer of the part that it must have; 0: no part is looked for
 * @executes: modules of @loaders are models
 * @registered: its functions are registered; atomic
 * @refusal: why they cannot be: the plug-in is not opened again for a function; atomic
 */
struct plugin {
	const char *name;
	const char *option;
	const struct plugin_offer *offer;
	const struct tenon_backend *backend;
	const struct tenon_payload_format *const *formats;
	const struct tenon_module_loader *loaders;
	const char *functions;
	unsigned char part;
	bool executes;
	bool registered;
	char *refusal;
};

/* Test whether the pointer at @place in a table that a plug-in handed over is set. */
static inline bool plugin_slot(const void *table, size_t place)
{
	const void *slot;

	memcpy(&slot, (const char *)table + place, sizeof(slot));
	return slot != NULL;
}

/* runtime/table/plugin_table.c: those of this build that have a backend, loaders or functions, ended by NULL */
extern struct plugin *const plugin_table[];

/* 0 where none of them has loaders or functions: the compiler leaves out what looks for one */
#define PLUGINS_HAVE_FUNCTIONS OPTION_ON(EXECUTORS)
#define PLUGINS_HAVE_LOADERS   (OPTION_ON(EXECUTORS) || OPTION_ON(METADATA))

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

/**
 * plugin_lacks - fail for want of a function that an opened plug-in lacks, as one that was built with other options may
 * @plugin: the plug-in
 * @what: the function
 *
 * Return: -TENON_E_UNSUPPORTED, with a message that names the file, @what and what to do.
 */
int plugin_lacks(const struct plugin *plugin, const char *what);
#else
static inline bool plugin_missing(const struct plugin *plugin, struct tenon_buffer *out)
{
	return false;
}

static inline int plugin_open(struct plugin *plugin, int status)
{
	return 0; /* built in */
}

static inline int plugin_lacks(const struct plugin *plugin, const char *what)
{
	return -TENON_E_UNSUPPORTED; /* what is built in lacks nothing */
}
#endif

#endif /* LIB_PLUGIN_H */

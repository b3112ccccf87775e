/* SPDX-License-Identifier: MIT */
/* Global functions by which TVM loads modules, for code that looks them up by name. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/option.h"
#include "runtime/core/arguments.h"
#include "runtime/core/registry.h"
#include "runtime/kind/loaders.h"
#include "runtime/library/globals.h"
#include "runtime/payload/payload_file.h"

/* `ffi.Module.load_from_bytes.<kind>`: self is the loader */
static PACKED_CALL(load_by_name)
{
	const struct tenon_module_loader *loader = self;
	struct tenon_slice bytes;
	struct tenon_module *m;
	int err;

	if (count != 1)
		return tenon_error(-TENON_E_TYPE, "%s%s takes the bytes alone; %d arguments given",
				   LOADER_OF_BYTES, loader->kind, count);
	err = tenon_value_text(&args[0], &bytes);
	if (!err)
		err = tenon_module_load_bytes(loader->kind, bytes, &m);
	if (!err)
		*ret = tenon_arg_object(m);
	return err;
}

static int set_global(const char *prefix, const char *name, void *self, tenon_call_fn fn)
{
	char full[LOADER_NAME_MOST];
	struct tenon_function *function;
	int err;

	snprintf(full, sizeof(full), "%s%.*s", prefix, LOADER_KIND_MOST, name);
	registry_find(tenon_slice_of(full), &function);
	if (function) {
		tenon_object_unref(function);
		return 0;
	}
	err = tenon_function_create(self, fn, NULL, &function);
	if (err)
		return err;
	err = tenon_function_register(full, function, false);
	tenon_object_unref(function);
	return err;
}

/* for the kinds that a part of the table loads */
static int set_loaders(const struct tenon_module_loader *l)
{
	int err = 0;

	for (; l && l->kind && !err; l++)
		err = set_global(LOADER_OF_BYTES, l->kind, (void *)(uintptr_t)l, load_by_name);
	return err;
}

static int set_suffix(void *context, const char *suffix)
{
	return set_global(LOADER_OF_FILES, suffix, NULL, payload_file_load);
}

int loader_register_globals(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool done;
	struct plugin *const *p;
	int err = 0;

	pthread_mutex_lock(&lock);
	for (p = plugin_table; !done && !err && *p; p++)
		if (!(*p)->executes)
			err = set_loaders((*p)->loaders);
	if (OPTION_ON(DEVICES) && !done && !err)
		err = payload_file_each_suffix(false, set_suffix, NULL);
	done = !err;
	pthread_mutex_unlock(&lock);
	return err;
}

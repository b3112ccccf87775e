/* SPDX-License-Identifier: MIT */
/* Modules whose code is linked into the program, by the prefix of their symbols. */
#include "runtime/library/system_lib.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/fork_gate.h"
#include "lib/string_map.h"
#include "runtime/core/registry.h"
#include "runtime/library/dso.h"

/* One for each requested prefix; never freed, like its symbols. */
struct system_module {
	struct system_module *next;
	struct dso_symbols symbols;
	struct tenon_module *root;
	char prefix[];
};

/* Statically initialised: constructors of compiled code may run before ours. */
static pthread_mutex_t symbol_lock = PTHREAD_MUTEX_INITIALIZER;
static struct string_map symbols = STRING_MAP_INIT;
static pthread_mutex_t module_lock = PTHREAD_MUTEX_INITIALIZER;
static struct system_module *modules;

int tenon_system_lib_register(const char *name, void *address)
{
	void **slot;

	fork_gate_lock(&symbol_lock);
	slot = string_map_slot(&symbols, tenon_slice_of(name));
	if (slot)
		*slot = address;
	fork_gate_unlock(&symbol_lock);
	/* Keep a library that is being opened: it contains the name and the address. */
	registry_changed();
	return slot ? 0 : -TENON_E_NOMEM;
}

void *system_lib_symbol(const char *name)
{
	void *address;

	fork_gate_lock(&symbol_lock);
	address = string_map_get(&symbols, tenon_slice_of(name));
	fork_gate_unlock(&symbol_lock);
	return address;
}

static void *find_symbol(void *context, const char *name)
{
	return system_lib_symbol(name);
}

static bool any_symbol(void)
{
	bool any;

	fork_gate_lock(&symbol_lock);
	any = symbols.used != 0;
	fork_gate_unlock(&symbol_lock);
	return any;
}

static int module_open(const char *prefix, struct system_module **out)
{
	struct system_module *m = calloc(1, sizeof(*m) + strlen(prefix) + 1);
	int err;

	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for the system library");
	strcpy(m->prefix, prefix);
	m->symbols.find = find_symbol;
	m->symbols.prefix = m->prefix;
	err = dso_open_symbols("system library", &m->symbols, &m->root);
	if (err) {
		free(m);
		return *prefix ? tenon_error_in(err, "prefix \"%s\"", prefix) : err;
	}
	*out = m;
	return 0;
}

int tenon_system_lib(const char *prefix, struct tenon_module **out)
{
	struct system_module *m;
	int err = 0;

	*out = NULL;
	if (!any_symbol())
		return tenon_error(-TENON_E_NOT_FOUND,
				   "no compiled code is linked into this program: link the objects "
				   "that were exported with system_lib, whole archives with "
				   "-Wl,--whole-archive");
	fork_gate_lock(&module_lock);
	for (m = modules; m && strcmp(m->prefix, prefix); m = m->next)
		;
	if (!m) {
		err = module_open(prefix, &m);
		if (!err) {
			m->next = modules;
			modules = m;
		}
	}
	if (!err) {
		tenon_object_ref(m->root);
		*out = m->root;
	}
	fork_gate_unlock(&module_lock);
	return err;
}

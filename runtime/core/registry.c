/* SPDX-License-Identifier: MIT */
/*
 * The registry of global functions.
 *
 * Readers search an immutable array of pointers to entries that are never freed, so a lookup takes no lock. Writers
 * copy the array under a lock. If a lookup finds nothing, it asks the sources, which may open a plug-in.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/function.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/fork_gate.h"
#include "lib/plugin.h"
#include "lib/string_map.h"
#include "runtime/core/reference.h"
#include "runtime/core/registry.h"

struct registry_entry {
	uint64_t hash;
	struct tenon_function *function; /* atomic; NULL once removed */
	size_t size;
	char name[];
};

struct registry_table {
	struct registry_table *older; /* kept: readers may still use it, and it is small */
	size_t slots;
	size_t used;
	struct registry_entry *entry[];
};

/* The replaced function of a name: a reader may have its address and no reference yet. */
struct registry_retired {
	struct registry_retired *next;
	struct tenon_function *function;
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct registry_table *registry_table;
static struct registry_retired *registry_retired;
static uint64_t registry_changes;
/* functions of the library are registered, and @plugin_names is complete; atomic */
static bool library_filled;
/* a bit for the first eight characters of each name that plug-ins list: most other names lack theirs */
static uint64_t plugin_names;

uint64_t registry_generation(void)
{
	return __atomic_load_n(&registry_changes, __ATOMIC_ACQUIRE);
}

void registry_changed(void)
{
	__atomic_fetch_add(&registry_changes, 1, __ATOMIC_RELEASE);
}

static struct registry_entry **registry_probe(struct registry_table *t, struct tenon_slice name,
					      uint64_t hash)
{
	size_t at = hash & (t->slots - 1);
	struct registry_entry *e;

	for (;; at = (at + 1) & (t->slots - 1)) {
		e = __atomic_load_n(&t->entry[at], __ATOMIC_ACQUIRE);
		if (!e || (e->hash == hash && e->size == name.size &&
			   !memcmp(e->name, name.data, name.size)))
			return &t->entry[at];
	}
}

void registry_find(struct tenon_slice name, struct tenon_function **out)
{
	const uint64_t hash = string_hash(name);
	struct registry_table *t = __atomic_load_n(&registry_table, __ATOMIC_ACQUIRE);
	struct registry_entry *e;

	*out = NULL;
	if (!t)
		return;
	e = __atomic_load_n(registry_probe(t, name, hash), __ATOMIC_ACQUIRE);
	if (!e)
		return;
	*out = __atomic_load_n(&e->function, __ATOMIC_ACQUIRE);
	if (*out)
		object_ref(&(*out)->object);
}

/* The bit of a name by its first eight characters; all bits for a shorter one. */
static uint64_t bits_of(const char *name, size_t size)
{
	uint64_t first;

	if (size < sizeof(first))
		return ~UINT64_C(0);
	memcpy(&first, name, sizeof(first));
	return UINT64_C(1) << (first * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

static void note_plugin_names(void)
{
	struct plugin *const *p;
	const char *n;

	for (p = plugin_table; PLUGINS_HAVE_FUNCTIONS && *p; p++)
		for (n = (*p)->functions; n && *n; n += strlen(n) + 1)
			__atomic_fetch_or(&plugin_names, bits_of(n, strlen(n)), __ATOMIC_RELAXED);
}

static bool plugins_lack(struct tenon_slice name)
{
	return !PLUGINS_HAVE_FUNCTIONS ||
	       !(__atomic_load_n(&plugin_names, __ATOMIC_RELAXED) & bits_of(name.data, name.size));
}

static int fill_library(void)
{
	int err;

	if (__atomic_load_n(&library_filled, __ATOMIC_ACQUIRE))
		return 0;
	err = registry_fill_library ? registry_fill_library() : 0;
	if (err)
		return err;
	note_plugin_names();
	__atomic_store_n(&library_filled, true, __ATOMIC_RELEASE);
	return 0;
}

/* Test whether a plug-in may have a function: its name is one of the list, or begins with one that ends in a dot. */
static bool plugin_may_have(const struct plugin *p, struct tenon_slice name)
{
	const char *n;
	size_t size;

	for (n = p->functions; *n; n += size + 1) {
		size = strlen(n);
		if (name.size >= size && !memcmp(name.data, n, size) &&
		    (name.size == size || n[size - 1] == '.'))
			return true;
	}
	return false;
}

int registry_add_list(const struct global_function *f)
{
	int err = 0;

	for (; f->name && !err; f++) {
		err = tenon_function_register_c(f->name, f->call, false);
		if (err == -TENON_E_EXISTS) {
			tenon_error_clear();
			err = 0;
		}
	}
	return err;
}

/* Register the functions of a plug-in once, and fail for the same reason every time if it cannot be opened. */
static int fill_from(struct plugin *p)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char *refusal = __atomic_load_n(&p->refusal, __ATOMIC_ACQUIRE), *none = NULL;
	int err;

	if (refusal)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s", refusal);
	err = plugin_open(p, -TENON_E_UNSUPPORTED);
	if (err && err != -TENON_E_UNSUPPORTED)
		return err;
	if (err) {
		refusal = strdup(tenon_error_message());
		if (!__atomic_compare_exchange_n(&p->refusal, &none, refusal, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			free(refusal);
		return err;
	}
	fork_gate_lock(&lock);
	if (!p->registered) {
		err = registry_add_list(p->offer->functions);
		__atomic_store_n(&p->registered, !err, __ATOMIC_RELEASE);
	}
	fork_gate_unlock(&lock);
	return err;
}

static __attribute__((noinline, cold)) int find_unregistered(struct tenon_slice name,
							     struct tenon_function **out)
{
	struct plugin *const *p;
	int err = fill_library();

	for (p = plugin_table; PLUGINS_HAVE_FUNCTIONS && !err && *p; p++)
		if ((*p)->functions && !__atomic_load_n(&(*p)->registered, __ATOMIC_ACQUIRE) &&
		    plugin_may_have(*p, name))
			err = fill_from(*p);
	if (!err)
		registry_find(name, out);
	return err;
}

int tenon_function_find_slice(struct tenon_slice name, struct tenon_function **out)
{
	/* read first: what another thread fills after the look into the table would be missed */
	bool filled = __atomic_load_n(&library_filled, __ATOMIC_ACQUIRE);

	registry_find(name, out);
	return *out || (filled && plugins_lack(name)) ? 0 : find_unregistered(name, out);
}

int tenon_function_find(const char *name, struct tenon_function **out)
{
	return tenon_function_find_slice(tenon_slice_of(name), out);
}

/* Make room for one more name. Caller holds the lock. */
static int registry_grow(void)
{
	struct registry_table *old = registry_table, *t;
	struct tenon_slice name;
	size_t i, slots;

	if (old && old->used < old->slots / 2)
		return 0;
	slots = old ? old->slots * 2 : 64;
	t = calloc(1, sizeof(*t) + slots * sizeof(t->entry[0]));
	if (!t)
		return tenon_error(-TENON_E_NOMEM, "no memory for a registry of %zu names", slots);
	t->slots = slots;
	t->older = old;
	for (i = 0; old && i < old->slots; i++) {
		if (!old->entry[i])
			continue;
		name.data = old->entry[i]->name;
		name.size = old->entry[i]->size;
		*registry_probe(t, name, old->entry[i]->hash) = old->entry[i];
		t->used++;
	}
	__atomic_store_n(&registry_table, t, __ATOMIC_RELEASE);
	return 0;
}

static int registry_replace(struct registry_entry *e, struct tenon_function *function)
{
	struct registry_retired *r;

	if (e->function) {
		r = malloc(sizeof(*r));
		if (!r)
			return tenon_error(-TENON_E_NOMEM, "no memory to replace function \"%s\"",
					   e->name);
		r->function = e->function;
		r->next = registry_retired;
		registry_retired = r;
	}
	tenon_object_ref(function);
	__atomic_store_n(&e->function, function, __ATOMIC_RELEASE);
	__atomic_fetch_add(&registry_changes, 1, __ATOMIC_RELEASE);
	return 0;
}

static int registry_add(struct registry_entry **slot, struct tenon_slice name, uint64_t hash,
			struct tenon_function *function)
{
	struct registry_entry *e = malloc(sizeof(*e) + name.size + 1);

	if (!e)
		return tenon_error(-TENON_E_NOMEM, "no memory to register a function");
	e->hash = hash;
	e->function = NULL;
	e->size = name.size;
	memcpy(e->name, name.data, name.size);
	e->name[name.size] = '\0';
	registry_replace(e, function);
	registry_table->used++;
	__atomic_store_n(slot, e, __ATOMIC_RELEASE);
	return 0;
}

int registry_set(struct tenon_slice name, struct tenon_function *function, bool replace)
{
	const uint64_t hash = string_hash(name);
	struct registry_entry **slot;
	int err;

	fork_gate_lock(&registry_lock);
	err = registry_grow();
	if (err)
		goto unlock;
	slot = registry_probe(registry_table, name, hash);
	if (!*slot)
		err = registry_add(slot, name, hash, function);
	else if ((*slot)->function && !replace)
		err = tenon_error(-TENON_E_EXISTS, "function \"%.*s\" is registered already",
				  (int)name.size, name.data);
	else
		err = registry_replace(*slot, function);
unlock:
	fork_gate_unlock(&registry_lock);
	return err;
}

int tenon_function_register(const char *name, struct tenon_function *function, bool replace)
{
	return registry_set(tenon_slice_of(name), function, replace);
}

int tenon_function_register_c(const char *name, tenon_call_fn fn, bool replace)
{
	struct tenon_function *f;
	int err;

	err = tenon_function_create(NULL, fn, NULL, &f);
	if (err)
		return err;
	err = tenon_function_register(name, f, replace);
	tenon_object_unref(f);
	return err;
}

int tenon_function_remove(const char *name)
{
	struct tenon_slice key = tenon_slice_of(name);
	struct registry_entry *e = NULL;
	int err;

	fork_gate_lock(&registry_lock);
	if (registry_table)
		e = *registry_probe(registry_table, key, string_hash(key));
	if (e && e->function)
		err = registry_replace(e, NULL);
	else
		err = tenon_error(-TENON_E_NOT_FOUND, "no function \"%s\" is registered", name);
	fork_gate_unlock(&registry_lock);
	return err;
}

int registry_each(int (*visit)(void *context, const char *name, struct tenon_function *function),
		  void *context)
{
	struct registry_table *t = __atomic_load_n(&registry_table, __ATOMIC_ACQUIRE);
	struct tenon_function *f;
	struct registry_entry *e;
	int stop = 0;
	size_t i;

	for (i = 0; t && i < t->slots && !stop; i++) {
		e = __atomic_load_n(&t->entry[i], __ATOMIC_ACQUIRE);
		f = e ? __atomic_load_n(&e->function, __ATOMIC_ACQUIRE) : NULL;
		if (f)
			stop = visit(context, e->name, f);
	}
	return stop;
}

int tenon_function_each(int (*visit)(void *context, const char *name,
				     struct tenon_function *function),
			void *context)
{
	struct plugin *const *p;

	/* What cannot be registered is left out: a lookup would not find it either. */
	if (fill_library())
		tenon_error_clear();
	for (p = plugin_table; PLUGINS_HAVE_FUNCTIONS && *p; p++)
		if ((*p)->functions && !__atomic_load_n(&(*p)->registered, __ATOMIC_ACQUIRE) &&
		    fill_from(*p))
			tenon_error_clear();
	return registry_each(visit, context);
}

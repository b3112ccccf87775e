/* SPDX-License-Identifier: MIT */
/* Find the loader of a kind: registered, of the table of plug-ins, of a backend, or a global function. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/backend.h>

#include "lib/brief_errors.h"
#include "lib/plugin.h"
#include "runtime/core/module_object.h"
#include "runtime/device/device_table.h"
#include "runtime/kind/loaders.h"
#include "runtime/kind/name_list.h"

struct registered {
	const struct tenon_module_loader *loader;
	struct registered *next;
};

static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;
static struct registered *registered; /* insertion at the front only: readers take no lock */

static bool loads(const struct tenon_module_loader *loader, struct tenon_slice kind)
{
	return tenon_slice_equal(tenon_slice_of(loader->kind), kind);
}

static const struct tenon_module_loader *find_registered(struct tenon_slice kind)
{
	const struct registered *r;

	for (r = __atomic_load_n(&registered, __ATOMIC_ACQUIRE); r; r = r->next)
		if (loads(r->loader, kind))
			return r->loader;
	return NULL;
}

static bool runs(const struct tenon_backend *b, struct tenon_slice kind)
{
	const char *const *k;

	for (k = b ? b->kinds : NULL; k && *k; k++)
		if (tenon_slice_equal(tenon_slice_of(*k), kind))
			return true;
	return false;
}

struct wanted {
	struct tenon_slice kind;
	const struct tenon_module_loader *found;
};

static int find_of_backend(void *context, const struct tenon_backend *b)
{
	const struct tenon_module_loader *const *l = BACKEND_SLOT(b, loaders);
	struct wanted *w = context;

	for (; l && *l; l++)
		if (loads(*l, w->kind)) {
			w->found = *l;
			return 1;
		}
	/* Kinds that a backend runs directly need no loader, for which plug-ins would be opened. */
	return runs(b, w->kind);
}

static const struct tenon_module_loader *find_of_backends(struct tenon_slice kind)
{
	struct wanted w = { kind, NULL };

	if (OPTION_ON(DEVICES))
		tenon_backend_each(find_of_backend, &w);
	return w.found;
}

/* The loader of a kind in the table of plug-ins, and its plug-in; NULL. */
static const struct tenon_module_loader *find_known(struct tenon_slice kind, struct plugin **plugin)
{
	const struct tenon_module_loader *l;
	struct plugin *const *p;

	for (p = plugin_table; PLUGINS_HAVE_LOADERS && *p; p++)
		for (l = (*p)->loaders; l && l->kind; l++)
			if (loads(l, kind)) {
				*plugin = *p;
				return l;
			}
	*plugin = NULL;
	return NULL;
}

struct plugin *loader_plugin(struct tenon_slice kind)
{
	struct plugin *plugin;

	find_known(kind, &plugin);
	return plugin;
}

int loader_open_plugin(struct tenon_cursor *c, const struct tenon_payload *payload,
		       struct tenon_module **out)
{
	struct plugin *p;
	const struct tenon_module_loader *l = find_known(payload->kind, &p);
	int err = plugin_open(p, -TENON_E_UNSUPPORTED);

	if (err)
		return err;
	if (!OPTION_ON(PLUGINS))
		return p->offer->loaders[l - p->loaders].load(c, payload, out);
	/* the list of another build may have others */
	for (l = p->offer->loaders; l && l->kind; l++)
		if (loads(l, payload->kind))
			return l->load(c, payload, out);
	return plugin_lacks(p, "the loader of this kind of module");
}

const struct tenon_module_loader *loader_find(struct tenon_slice kind)
{
	const struct tenon_module_loader *found = find_registered(kind);
	struct plugin *plugin;

	if (!found)
		found = find_known(kind, &plugin);
	return found ? found : find_of_backends(kind);
}

int tenon_module_loader_register(const struct tenon_module_loader *loader)
{
	struct tenon_slice kind = tenon_slice_of(loader->kind);
	struct registered *r;
	int err = 0;

	r = malloc(sizeof(*r));
	if (!r)
		return tenon_error(-TENON_E_NOMEM, "no memory to register a loader");
	r->loader = loader;
	pthread_mutex_lock(&register_lock);
	if (find_registered(kind)) {
		err = tenon_error(-TENON_E_EXISTS, "kind \"%s\" has a registered loader",
				  loader->kind);
		free(r);
	} else {
		r->next = registered;
		__atomic_store_n(&registered, r, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&register_lock);
	return err;
}

int loader_find_global(const char *prefix, struct tenon_slice name, struct tenon_function **out)
{
	char full[LOADER_NAME_MOST];
	size_t n = strlen(prefix);

	*out = NULL;
	if (name.size > LOADER_KIND_MOST)
		return 0;
	memcpy(full, prefix, n);
	if (name.size)
		memcpy(full + n, name.data, name.size);
	return tenon_function_find_slice((struct tenon_slice){ full, n + name.size }, out);
}

int loader_find_function(struct tenon_slice kind, struct tenon_function **out)
{
	return loader_find_global(LOADER_OF_BYTES, kind, out);
}

bool tenon_module_loader_known(struct tenon_slice kind)
{
	struct tenon_function *function = NULL;

	if (loader_find(kind))
		return true;
	if (OPTION_ON(DEVICES) && tenon_backend_of_kind(kind))
		return true;
	loader_find_function(kind, &function);
	tenon_object_unref(function);
	return function != NULL;
}

static int list_kinds(void *context, const struct tenon_backend *b)
{
	const struct tenon_module_loader *const *l = BACKEND_SLOT(b, loaders);
	size_t i;

	for (; l && *l; l++)
		name_list_add(context, (*l)->kind);
	for (i = 0; b->kinds && b->kinds[i]; i++)
		name_list_add(context, b->kinds[i]);
	return 0;
}

bool loader_plugin_missing(struct tenon_slice kind, struct tenon_buffer *out)
{
	const struct plugin *found = loader_plugin(kind);
	struct plugin *const *p;

	for (p = plugin_table; !found && *p; p++)
		if (runs((*p)->backend, kind))
			found = *p;
	return found && plugin_missing(found, out);
}

int tenon_module_loader_names(struct tenon_buffer *out)
{
	struct name_list list = { out, out->size, "" };
	const struct tenon_module_loader *l;
	const struct registered *r;
	struct plugin *const *p;

	for (r = __atomic_load_n(&registered, __ATOMIC_ACQUIRE); r; r = r->next)
		name_list_add(&list, r->loader->kind);
	for (p = plugin_table; PLUGINS_HAVE_LOADERS && *p; p++)
		for (l = (*p)->loaders; l && l->kind; l++)
			name_list_add(&list, l->kind);
	if (OPTION_ON(DEVICES))
		tenon_backend_each(list_kinds, &list);
	name_list_add_globals(&list, LOADER_OF_BYTES);
	return name_list_end(&list);
}

int loader_call(struct tenon_function *function, const struct tenon_value *args, int32_t count,
		struct tenon_module **out)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_object *object = NULL;
	int err;

	*out = NULL;
	err = tenon_function_call(function, args, count, &ret);
	if (err)
		return err < 0 ? err : -TENON_E_CALL;
	err = tenon_value_object(&ret, TENON_TYPE_MODULE, &object);
	if (!err && !module_is_ours(object))
		err = tenon_error(-TENON_E_TYPE,
				  "the loader returned a module of another runtime, which cannot "
				  "be part of this tree");
	if (err) {
		tenon_value_release(&ret);
		return err;
	}
	*out = (struct tenon_module *)object;
	return 0;
}

int loader_run(const struct tenon_module_loader *loader, struct tenon_cursor *c,
	       const struct tenon_payload *payload, struct tenon_module **out)
{
	int err;

	*out = NULL;
	err = loader->load(c, payload, out);
	if (err || !tenon_cursor_left(c))
		return err;
	err = tenon_cursor_error(c, -TENON_E_FORMAT, "%zu bytes left over", tenon_cursor_left(c));
	tenon_object_unref(*out);
	*out = NULL;
	return err;
}

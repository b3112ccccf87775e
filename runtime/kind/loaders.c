/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "runtime/core/module_object.h"
#include "runtime/kind/const_loader.h"
#include "runtime/kind/example_json.h"
#include "runtime/kind/loaders.h"
#include "runtime/payload/payload_file.h"

#ifdef CONFIG_DEVICES
#include "runtime/device/device_table.h"
#include "runtime/payload/payload_kernel.h"
#endif

#define BYTES_PREFIX "ffi.Module.load_from_bytes."
#define FILE_PREFIX  "ffi.Module.load_from_file."

/* longest kind or extension that has a global name */
#define NAME_MOST 128

/* what this build loads by itself */
static const struct tenon_module_loader *const builtin[] = {
#ifdef CONFIG_METADATA
	&const_loader,
	&const_loader_as_metadata,
	&metadata_module_loader,
#endif
#ifdef CONFIG_EXAMPLE_JSON
	&example_json_loader,
#endif
	NULL,
};

static const struct file_loader {
	const char *extension;
	tenon_call_fn load;
} builtin_files[] = {
#ifdef CONFIG_EXAMPLE_JSON
	{ "examplejson", example_json_load_file },
#endif
	{ NULL, NULL },
};

struct registered {
	const struct tenon_module_loader *loader;
	struct registered *next;
};

static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;
static struct registered *registered; /* only ever grows, at the front */

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

#ifdef CONFIG_DEVICES
struct wanted {
	struct tenon_slice kind;
	const struct tenon_module_loader *found;
};

static int find_of_backend(void *context, const struct tenon_backend *b)
{
	const struct tenon_module_loader *const *l = BACKEND_SLOT(b, loaders);
	struct wanted *w = context;
	size_t i;

	for (; l && *l; l++)
		if (loads(*l, w->kind)) {
			w->found = *l;
			return 1;
		}
	/* what a backend runs as it is needs no loader of another, for which plug-ins were opened */
	for (i = 0; b->kinds && b->kinds[i]; i++)
		if (tenon_slice_equal(tenon_slice_of(b->kinds[i]), w->kind))
			return 1;
	return 0;
}

static const struct tenon_module_loader *find_of_backends(struct tenon_slice kind)
{
	struct wanted w = { kind, NULL };

	tenon_backend_each(find_of_backend, &w);
	return w.found;
}
#else
static const struct tenon_module_loader *find_of_backends(struct tenon_slice kind)
{
	(void)kind;
	return NULL;
}
#endif

const struct tenon_module_loader *loader_find(struct tenon_slice kind)
{
	const struct tenon_module_loader *found = find_registered(kind);
	size_t i;

	for (i = 0; !found && builtin[i]; i++)
		if (loads(builtin[i], kind))
			found = builtin[i];
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

static int find_global(const char *prefix, struct tenon_slice name, struct tenon_function **out)
{
	char full[sizeof(BYTES_PREFIX) + NAME_MOST];
	size_t n = strlen(prefix);

	*out = NULL;
	if (name.size > NAME_MOST)
		return 0;
	memcpy(full, prefix, n);
	if (name.size)
		memcpy(full + n, name.data, name.size);
	return tenon_function_find_slice((struct tenon_slice){ full, n + name.size }, out);
}

int loader_find_function(struct tenon_slice kind, struct tenon_function **out)
{
	return find_global(BYTES_PREFIX, kind, out);
}

int loader_find_file(struct tenon_slice extension, struct tenon_function **out)
{
	size_t i;
	int err;

	err = find_global(FILE_PREFIX, extension, out);
	for (i = 0; !err && !*out && builtin_files[i].extension; i++)
		if (tenon_slice_equal(tenon_slice_of(builtin_files[i].extension), extension))
			err = tenon_function_create(NULL, builtin_files[i].load, NULL, out);
#ifdef CONFIG_DEVICE_FILES
	if (!err && !*out && payload_file_known(extension))
		err = tenon_function_create(NULL, payload_file_load, NULL, out);
#endif
	return err;
}

bool tenon_module_loader_known(struct tenon_slice kind)
{
	struct tenon_function *function = NULL;

	if (loader_find(kind))
		return true;
#ifdef CONFIG_DEVICES
	if (tenon_backend_of_kind(kind))
		return true;
#endif
	loader_find_function(kind, &function);
	tenon_object_unref(function);
	return function != NULL;
}

/* names in a list, each once */
struct name_list {
	struct tenon_buffer *out;
	size_t start;
	const char *prefix;
	const char *mark; /* in front of each name */
};

static bool listed(const struct name_list *list, struct tenon_slice name)
{
	const char *at = list->out->data ? list->out->data + list->start : "";

	for (; (at = strstr(at, name.data)); at++) {
		char before = at == list->out->data + list->start ? ' ' : at[-1];
		char after = at[name.size];

		if ((before == ' ' || before == '.') && (after == ',' || !after))
			return true;
	}
	return false;
}

static void list_name(struct name_list *list, const char *name)
{
	if (listed(list, tenon_slice_of(name)))
		return;
	tenon_buffer_printf(list->out, "%s%s%s", list->out->size > list->start ? ", " : "",
			    list->mark, name);
}

static int list_global(void *context, const char *name, struct tenon_function *function)
{
	struct name_list *list = context;
	size_t n = strlen(list->prefix);

	(void)function;
	if (!strncmp(name, list->prefix, n) && name[n])
		list_name(list, name + n);
	return 0;
}

#ifdef CONFIG_DEVICES
static int list_kinds(void *context, const struct tenon_backend *b)
{
	const struct tenon_module_loader *const *l = BACKEND_SLOT(b, loaders);
	size_t i;

	for (; l && *l; l++)
		list_name(context, (*l)->kind);
	for (i = 0; b->kinds && b->kinds[i]; i++)
		list_name(context, b->kinds[i]);
	return 0;
}
#endif

int tenon_module_loader_names(struct tenon_buffer *out)
{
	struct name_list list = { out, out->size, BYTES_PREFIX, "" };
	const struct registered *r;
	size_t i;

	for (r = __atomic_load_n(&registered, __ATOMIC_ACQUIRE); r; r = r->next)
		list_name(&list, r->loader->kind);
	for (i = 0; builtin[i]; i++)
		list_name(&list, builtin[i]->kind);
#ifdef CONFIG_DEVICES
	tenon_backend_each(list_kinds, &list);
#endif
	tenon_function_each(list_global, &list);
	if (out->size == list.start)
		tenon_buffer_printf(out, "none");
	return out->status;
}

static int list_suffix(void *context, const char *suffix)
{
	list_name(context, suffix);
	return 0;
}

int loader_file_names(struct tenon_buffer *out)
{
	struct name_list list = { out, out->size, FILE_PREFIX, "." };
	size_t i;

#ifdef CONFIG_DSO
	list_name(&list, "so");
#endif
	for (i = 0; builtin_files[i].extension; i++)
		list_name(&list, builtin_files[i].extension);
	payload_file_each_suffix(true, list_suffix, &list);
	tenon_function_each(list_global, &list);
	if (out->size == list.start)
		tenon_buffer_printf(out, "none");
	return out->status;
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
				  "the loader gave a module of another runtime, which cannot be "
				  "part of a tree here");
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

int tenon_module_load_bytes(const char *kind, struct tenon_slice bytes, struct tenon_module **out)
{
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "payload", 0);
	struct tenon_payload payload = { .file = "", .kind = tenon_slice_of(kind) };
	struct tenon_value arg = tenon_arg_bytes(&bytes);
	const struct tenon_module_loader *loader = loader_find(payload.kind);
	struct tenon_buffer names = TENON_BUFFER_INIT;
	struct tenon_function *function;
	int err;

	*out = NULL;
	if (loader)
		return loader_run(loader, &c, &payload, out);
#ifdef CONFIG_DEVICES
	if (tenon_backend_of_kind(payload.kind))
		return payload_module_load(payload.kind, bytes, out);
#endif
	err = loader_find_function(payload.kind, &function);
	if (err)
		return err;
	if (function) {
		err = loader_call(function, &arg, 1, out);
		tenon_object_unref(function);
		return err;
	}
	if (ERROR_MESSAGES)
		tenon_module_loader_names(&names);
	err = tenon_error(-TENON_E_NO_LOADER,
			  "no loader for kind \"%s\". Kinds this build loads: %s", kind,
			  names.data ? names.data : "");
	tenon_buffer_fini(&names);
	return err;
}

/* `ffi.Module.load_from_bytes.<kind>`: self is the loader */
static int load_by_name(void *self, const struct tenon_value *args, int32_t count,
			struct tenon_value *ret)
{
	const struct tenon_module_loader *loader = self;
	struct tenon_slice bytes;
	struct tenon_module *m;
	int err;

	if (count != 1)
		return tenon_error(-TENON_E_TYPE, "%s%s takes the bytes alone; %d arguments given",
				   BYTES_PREFIX, loader->kind, count);
	err = tenon_value_text(&args[0], &bytes);
	if (!err)
		err = tenon_module_load_bytes(loader->kind, bytes, &m);
	if (!err)
		*ret = tenon_arg_object(m);
	return err;
}

static int set_global(const char *prefix, const char *name, void *self, tenon_call_fn fn)
{
	char full[sizeof(BYTES_PREFIX) + NAME_MOST];
	struct tenon_function *function;
	int err;

	strcpy(full, prefix);
	strncat(full, name, NAME_MOST);
	err = tenon_function_find(full, &function);
	if (err || function) {
		tenon_object_unref(function);
		return err;
	}
	err = tenon_function_create(self, fn, NULL, &function);
	if (err)
		return err;
	err = tenon_function_register(full, function, false);
	tenon_object_unref(function);
	return err;
}

#ifdef CONFIG_DEVICE_FILES
static int set_suffix(void *context, const char *suffix)
{
	(void)context;
	return set_global(FILE_PREFIX, suffix, NULL, payload_file_load);
}
#endif

int loader_register_globals(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool done;
	int err = 0;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; !done && !err && builtin[i]; i++)
		err = set_global(BYTES_PREFIX, builtin[i]->kind, (void *)(uintptr_t)builtin[i],
				 load_by_name);
	for (i = 0; !done && !err && builtin_files[i].extension; i++)
		err = set_global(FILE_PREFIX, builtin_files[i].extension, NULL,
				 builtin_files[i].load);
#ifdef CONFIG_DEVICE_FILES
	if (!done && !err)
		err = payload_file_each_suffix(false, set_suffix, NULL);
#endif
	done = !err;
	pthread_mutex_unlock(&lock);
	return err;
}

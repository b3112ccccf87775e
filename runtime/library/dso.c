/* SPDX-License-Identifier: MIT */
/* Open a shared object once for each mapping, and load its tree. */
#include "runtime/library/dso.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "lib/elf.h"
#include "lib/error_slot.h"
#include "lib/fork_gate.h"
#include "lib/library_open.h"
#include "runtime/library/context.h"
#include "runtime/core/module_imports.h"
#include "runtime/core/module_index.h"
#include "runtime/core/reference.h"
#include "runtime/core/registry.h"
#include "runtime/library/compat_library.h"
#include "runtime/library/dso_env.h"
#include "runtime/library/dso_library.h"
#include "runtime/library/import_tree.h"
#include "runtime/library/processor_code.h"

static pthread_mutex_t dso_mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread unsigned int dso_depth; /* recursion depth of this thread's lock */
static struct dso_env *dso_envs;

void dso_lock(void)
{
	if (!dso_depth++)
		fork_gate_lock(&dso_mutex);
}

void dso_unlock(void)
{
	if (!--dso_depth)
		fork_gate_unlock(&dso_mutex);
}

static bool dso_find_name(const struct dso *dso, struct loaded_name name, struct loaded_symbol *out)
{
	if (!dso_is_linked(dso))
		return loaded_object_find(&dso->loaded, name, out);
	out->address = dso->symbols->find(dso->symbols->context, name.text);
	out->size = 0;
	/* A symbol table without types: assume code; callers that look up data use it as data. */
	out->is_code = true;
	return out->address != NULL;
}

bool dso_find(const struct dso *dso, const char *name, struct loaded_symbol *out)
{
	return dso_find_name(dso, loaded_name(name), out);
}

/* Variables of a module built for static linking may have the prefix or not. */
static bool dso_find_variable(const struct dso *dso, struct loaded_name name,
			      struct loaded_symbol *out)
{
	const struct tenon_slice prefix = dso_prefix(dso);
	char prefixed[512];

	if (prefix.size &&
	    snprintf(prefixed, sizeof(prefixed), "%.*s%s", (int)prefix.size, prefix.data,
		     name.text) < (int)sizeof(prefixed) &&
	    dso_find(dso, prefixed, out))
		return true;
	return dso_find_name(dso, name, out);
}

/* ---- lifetime */

/* Test whether @path is still mapped, by other code or because the C library never unmaps. */
static bool still_mapped(const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

	if (handle)
		dlclose(handle);
	return handle != NULL;
}

static void env_unlink(struct dso_env *env)
{
	struct dso_env **at = &dso_envs;

	while (*at != env)
		at = &(*at)->next;
	*at = env->next;
}

/*
 * Drop a user of the env, and free it after the last one. While the code is mapped it may call its
 * stand-ins, so keep them for the next opening. The dynamic linker was queried without the lock, so
 * the answer is valid only if no thread opened or closed the mapping since. Caller holds the lock.
 */
static void env_leave(struct dso_env *env, const struct dso *dso)
{
	unsigned int changes = env->changes++;
	bool keep = dso->pinned;

	while (!dso->pinned && env->functions && changes != env->changes) {
		changes = env->changes;
		dso_unlock();
		keep = still_mapped(dso->path);
		dso_lock();
	}
	if (--env->users || keep)
		return;
	env_unlink(env);
	dso_env_free(env);
}

static void dso_close(struct dso *dso)
{
	struct dso_env *env = dso->env;
	size_t i;

	/* held while the dynamic linker runs */
	fork_gate_enter();
	dso_lock();
	if (env->dso == dso) {
		env->dso = NULL;
		for (i = 0; i < dso->context_count; i++)
			if (*dso->context[i] == dso)
				*dso->context[i] = NULL;
	}
	dso_unlock();
	if (!dso_is_linked(dso) && !dso->pinned)
		dlclose(dso->handle);
	dso_lock();
	env_leave(env, dso);
	dso_unlock();
	fork_gate_leave();
}

static void dso_delete(void *self, int flags)
{
	struct dso *dso = self;

	if (flags & TENON_DELETE_CONTENT) {
		dso_close(dso);
		tenon_object_unref_weak(dso->root);
	}
	if (flags & TENON_DELETE_MEMORY)
		free(dso);
}

static struct dso *dso_new(const char *path)
{
	size_t length = strlen(path) + 1;
	struct dso *dso = calloc(1, sizeof(*dso) + length);

	if (!dso) {
		tenon_error(-TENON_E_NOMEM, "no memory to open a module");
		return NULL;
	}
	tenon_object_init(&dso->object, TENON_TYPE_OBJECT, dso_delete);
	dso->path = memcpy(dso + 1, path, length);
	return dso;
}

static struct dso_env *env_find(const void *handle)
{
	struct dso_env *env = dso_envs;

	while (env && env->handle != handle)
		env = env->next;
	return env;
}

/*
 * Find the env of a handle, which an earlier opening may have left, or create it. Caller holds the
 * lock.
 */
static struct dso_env *env_of(void *handle)
{
	struct dso_env *env = env_find(handle);

	if (env)
		return env;
	env = calloc(1, sizeof(*env));
	if (!env) {
		tenon_error(-TENON_E_NOMEM, "no memory to open a module");
		return NULL;
	}
	env->handle = handle;
	env->next = dso_envs;
	dso_envs = env;
	return env;
}

/* ---- lookups from compiled code */

static int no_function(const struct dso *dso, struct tenon_module *searched,
		       struct tenon_slice name)
{
	struct tenon_buffer buffer = TENON_BUFFER_INIT;
	const char *hint;
	int err;

	module_print_unloaded(searched, &buffer);
	/* NULL without CONFIG_ERROR_MESSAGES, where the buffer then takes no code */
	hint = buffer.data;
	err = tenon_error(
		-TENON_E_NO_FUNCTION,
		"%s calls function \"%.*s\", which is neither in its imports nor "
		"registered; register it with tenon_function_register() before the call.%s",
		dso->path, (int)name.size, name.data, hint ? hint : "");
	if (hint)
		tenon_buffer_fini(&buffer);
	return err;
}

/* Search the library's imports, then the whole tree, then the registry. */
static int look_up(const struct dso *dso, struct tenon_module *library, struct tenon_module *root,
		   struct tenon_slice name, struct tenon_function **out, bool *may_hold)
{
	int err = 0;

	*may_hold = false;
	if (library->import_count)
		err = module_index_find(library, name, out);
	if (err || *out)
		return err;
	if (root && root != library)
		err = tenon_module_find_function(root, name, true, out);
	*may_hold = *out != NULL;
	if (err || *out)
		return err;
	err = tenon_function_find_slice(name, out);
	if (err || *out)
		return err ? tenon_error_in(err, "%s calls function \"%.*s\"", dso->path,
					    (int)name.size, name.data)
			   : 0;
	return no_function(dso, root ? root : library, name);
}

int dso_env_target(struct dso_env_function *f, struct tenon_function **out)
{
	struct tenon_module *library = NULL, *root = NULL;
	struct tenon_slice name = { f->name, f->size };
	struct heap *before;
	struct dso *dso;
	bool may_hold;
	int err;

	dso_lock();
	*out = f->target;
	tenon_object_ref(*out);
	dso = f->env->dso;
	if (!*out && dso && tenon_object_promote(dso->library)) {
		library = dso->library;
		root = tenon_object_promote(dso->root) ? dso->root : NULL;
	}
	dso_unlock();
	if (*out)
		return 0;
	if (!library)
		return tenon_error(-TENON_E_LOST,
				   "function \"%s\" is called by a library whose module was closed",
				   f->name);
	/* The mapping may keep it, longer than a model that runs its code. */
	before = heap_enter(NULL);
	err = look_up(dso, library, root, name, out, &may_hold);
	heap_enter(before);
	if (!err && !may_hold) {
		dso_lock();
		if (!f->target) {
			object_ref(&(*out)->object);
			__atomic_store_n(&f->target, *out, __ATOMIC_RELEASE);
		}
		dso_unlock();
	}
	tenon_object_unref(root);
	tenon_object_unref(library);
	return err;
}

int dso_env_lookup(void *context, struct tenon_slice name, struct tenon_function **borrowed)
{
	struct dso *dso = context;

	*borrowed = NULL;
	if (!dso) {
		int err = tenon_function_find_slice(name, borrowed);

		if (err)
			return err;
		if (!*borrowed)
			return tenon_error(-TENON_E_NO_FUNCTION,
					   "no function \"%.*s\" is registered", (int)name.size,
					   name.data);
		/* the registry never releases its own reference, so the pointer stays valid */
		tenon_object_unref(*borrowed);
		return 0;
	}
	return dso_env_get(dso->env, name, borrowed);
}

/* ---- opening */

static int is_workspace_import(void *context, const char *name, bool is_code)
{
	return !strcmp(name, "TVMBackendAllocWorkspace");
}

static void fill_context(struct dso *dso)
{
	const struct loaded_name workspace = LOADED_NAME("__TVMBackendAllocWorkspace");
	const struct abi_context_symbol *symbol;
	struct loaded_symbol found;
	size_t i;

	for (symbol = abi_context_symbols(); symbol->name.text; symbol++)
		if (dso_find_variable(dso, symbol->name, &found))
			*(void **)found.address = symbol->value;
	for (i = 0; abi_context_modules[i].text; i++) {
		if (!dso_find_variable(dso, abi_context_modules[i], &found))
			continue;
		*(void **)found.address = dso;
		dso->context[dso->context_count++] = found.address;
		if (dso->context_count == DSO_CONTEXTS)
			break;
	}
	dso->uses_workspace = dso_find_name(dso, workspace, &found) ||
			      (!dso_is_linked(dso) &&
			       loaded_object_each(&dso->loaded, false, is_workspace_import, NULL));
}

static void choose_code(struct dso *dso)
{
	const struct loaded_name name = LOADED_NAME(PROCESSOR_KEYS);
	struct loaded_symbol keys;

	if (!OPTION_ON(FAST_CALLS) || dso_is_linked(dso) || !dso_find_name(dso, name, &keys) ||
	    keys.is_code)
		return;
	dso->processors.data = keys.address;
	dso->processors.size = strnlen(keys.address, keys.size);
	dso->processor =
		processor_choose(dso->processors, secure_getenv("TENON_PROCESSOR"), processor_has);
}

/* Where the import tree is. Without CONFIG_TVM_LEGACY the older form is refused, with a message if there are any. */
static const struct blob_name {
	struct loaded_name name;
	enum tenon_generation generation;
} blob_names[] = {
	{ LOADED_NAME("__tvm_ffi__library_bin"), TENON_GENERATION_FFI },
#if defined(CONFIG_TVM_LEGACY) || defined(CONFIG_ERROR_MESSAGES)
	{ LOADED_NAME("__tvm_ffi_library_bin"), TENON_GENERATION_LEGACY },
	{ LOADED_NAME("__tvm_dev_mblob"), TENON_GENERATION_LEGACY },
#endif
};

static int find_prefix(void *context, const char *name, bool is_code)
{
	const size_t size = strlen(name), blob = strlen(blob_names[0].name.text);

	if (is_code || size <= blob || strcmp(name + size - blob, blob_names[0].name.text))
		return 0;
	*(struct tenon_slice *)context = (struct tenon_slice){ name, size - blob };
	return 1;
}

/*
 * A shared object linked from static-link objects (system_lib_prefix): the blob contains the
 * prefix.
 */
static void read_prefix(struct dso *dso)
{
	struct loaded_symbol blob;

	if (!OPTION_ON(SYSTEM_LIB))
		return;
	if (dso_is_linked(dso))
		dso->prefix = tenon_slice_of(dso->symbols->prefix);
	else if (!dso_find_name(dso, blob_names[0].name, &blob))
		loaded_object_each(&dso->loaded, true, find_prefix, &dso->prefix);
}

/* Bound the blob by the symbol's size, the segment, or the size that the blob claims. */
static size_t blob_bound(const struct dso *dso, const struct loaded_symbol *s, uint64_t *offset)
{
	size_t left;
	uint64_t n;

	*offset = 0;
	if (!dso_is_linked(dso) && loaded_object_segment(&dso->loaded, s->address, offset, &left))
		return s->size && s->size < left ? s->size : left;
	if (s->size)
		return s->size;
	memcpy(&n, s->address, sizeof(n));
	return n < SIZE_MAX / 2 ? (size_t)n + sizeof(n) : SIZE_MAX / 2;
}

/* Find the names of the artifacts that became the file. */
static void find_record(const struct dso *dso, struct tenon_slice *out)
{
	const struct loaded_name name = LOADED_NAME("__tenon_artifacts");
	struct loaded_symbol s;
	uint64_t ignored;

	if (!OPTION_ON(DEVICES) || !dso_find_variable(dso, name, &s))
		return;
	out->data = s.address;
	out->size = blob_bound(dso, &s, &ignored);
}

/* Build the tree around a library module of the mapping. Caller holds the lock. */
static int dso_tree(struct dso *dso, struct tenon_module **out)
{
	struct blob_source source = { .file = dso->path, .keep = &dso->object };
	struct tenon_module *library, *root;
	struct loaded_symbol s;
	struct tenon_slice blob;
	int err = 0;
	size_t i;

	library = dso_library_create(dso);
	if (!library)
		return -TENON_E_NOMEM;
	dso->library = library;
	root = library;
	for (i = 0; i < sizeof(blob_names) / sizeof(blob_names[0]); i++) {
		if (!dso_find_variable(dso, blob_names[i].name, &s))
			continue;
		blob.data = s.address;
		blob.size = blob_bound(dso, &s, &source.offset);
		source.generation = blob_names[i].generation;
		find_record(dso, &source.record);
		err = import_tree_read(blob, &source, library, &root);
		/* The tree holds it now. */
		tenon_object_unref(library);
		break;
	}
	if (err)
		return err;
	tenon_object_unref_weak(dso->root);
	dso->root = root;
	tenon_object_ref_weak(root);
	*out = root;
	return 0;
}

/* Return the open tree, or build one from the open mapping. Caller holds the lock. */
static int dso_reopen(struct dso *dso, struct tenon_module **out)
{
	if (tenon_object_promote(dso->root)) {
		*out = dso->root;
		return 0;
	}
	return dso_tree(dso, out);
}

static int dso_open_new(struct dso *dso, struct tenon_module **out)
{
	int err;

	dso->env->dso = dso;
	if (!dso_is_linked(dso)) {
		err = loaded_object_init(&dso->loaded, dso->handle);
		if (err)
			return err;
		compat_library_serve(&dso->loaded);
		/* Destructors of C++ objects are code of this library: it must stay mapped. */
		if (loaded_object_needs(&dso->loaded, "libtvm_ffi") ||
		    loaded_object_needs(&dso->loaded, "libstdc++"))
			dso->pinned = true;
	}
	read_prefix(dso);
	fill_context(dso);
	choose_code(dso);
	return dso_tree(dso, out);
}

static int dso_open(const char *path, void *handle, const struct dso_symbols *symbols, bool pinned,
		    struct tenon_module **out)
{
	void *key = handle ? handle : (void *)symbols;
	struct dso_env *env;
	struct dso *dso;
	int err, open;

	dso_lock();
	env = env_find(key);
	dso = env ? env->dso : NULL;
	open = tenon_object_promote(dso);
	if (!open) {
		dso = dso_new(path);
		/*
		 * Create the env last: without a user it would outlive the handle, and a new handle
		 * at the same address would find it.
		 */
		env = dso ? env_of(key) : NULL;
		if (!env) {
			free(dso);
			dso = NULL;
		}
	}
	if (handle && (open || !dso))
		dlclose(handle);
	err = -TENON_E_NOMEM;
	if (open) {
		/*
		 * Another thread may have opened the library first, after this thread's opening
		 * registered functions.
		 */
		dso->pinned |= pinned;
		err = dso_reopen(dso, out);
	} else if (dso) {
		dso->handle = handle;
		dso->symbols = symbols;
		dso->pinned = pinned;
		dso->env = env;
		env->users++;
		env->changes++;
		err = dso_open_new(dso, out);
	}
	/* The library module holds it now. */
	tenon_object_unref(dso);
	dso_unlock();
	return err;
}

/* Remedy for a dlerror() message; for a missing symbol the message itself names it. */
static const char *remedy(const char *message)
{
	if (!ERROR_MESSAGES)
		return "";
	if (!OPTION_ON(TVM_FFI_COMPAT) && misses_runtime_name(message))
		return "; the compatibility library defines it (CONFIG_TVM_FFI_COMPAT=y)";
	return strstr(message, "symbol")
		       ? "; link the library that defines it, or open that library "
			 "with RTLD_GLOBAL first"
		       : "";
}

/* Explain why the dynamic linker failed: its own messages are hard to understand. */
static int open_refused(const char *path, const char *message)
{
	const struct tenon_slice text[] = { tenon_slice_of(path),
					    { ": ", 2 },
					    tenon_slice_of(message),
					    tenon_slice_of(remedy(message)) };

	if (elf_check_loadable(path))
		return tenon_error_status();
	error_slot_text(-TENON_E_FORMAT, tenon_slice_of(tenon_status_kind(-TENON_E_FORMAT)), text,
			sizeof(text) / sizeof(text[0]));
	return -TENON_E_FORMAT;
}

/*
 * Open a file that runs no code while opening lazily, and check its names afterwards: its slots are
 * bound to the runtime. Open all others with RTLD_NOW: constructors run before dlopen() returns,
 * and a missing lazily bound name would end the process when called.
 */
static int open_file(const char *path, void **handle)
{
	struct tenon_buffer message = TENON_BUFFER_INIT;
	const char *words;
	bool inert;
	int err;

	err = elf_check_opening(path, &inert);
	if (err)
		return err;
	if (inert && !compat_library_open_lazily(path, handle) && *handle)
		return 0;
	tenon_error_clear();
	err = library_open(path, RTLD_NOW | RTLD_LOCAL, handle, &words);
	if (err || *handle)
		return err;
	err = tenon_buffer_slice(&message, tenon_slice_of(words));
	if (!err)
		err = compat_library_dlopen(path, &message, handle);
	if (!err && !*handle)
		err = open_refused(path, message.data);
	tenon_buffer_fini(&message);
	return err;
}

static int load(const char *path, struct tenon_module **out)
{
	uint64_t registered = registry_generation();
	size_t length = strlen(path);
	char below[4096];
	void *handle;
	int err;

	/* Without a slash the dynamic linker would search its own folders. */
	if (!memchr(path, '/', length) && length < sizeof(below) - 2) {
		memcpy(below, "./", 2);
		memcpy(below + 2, path, length + 1);
		path = below;
	}
	err = open_file(path, &handle);
	if (err)
		return err;
	err = dso_open(path, handle, NULL, registry_generation() != registered, out);
	return err ? tenon_error_in(err, "%s", path) : 0;
}

int dso_load(const char *path, struct tenon_module **out)
{
	int err;

	*out = NULL;
	fork_gate_enter();
	err = abi_register_globals();
	if (!err)
		err = load(path, out);
	fork_gate_leave();
	return err;
}

int dso_open_symbols(const char *name, const struct dso_symbols *symbols, struct tenon_module **out)
{
	int err = abi_register_globals();

	*out = NULL;
	return err ? err : dso_open(name, NULL, symbols, true, out);
}

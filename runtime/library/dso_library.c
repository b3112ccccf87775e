/* SPDX-License-Identifier: MIT */
/* Find functions of compiled code by symbol: convention, prefix, processor. */
#include "runtime/library/dso_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/module_kind.h>
#include <tenon/visit.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "lib/slice_text.h"
#include "lib/tvm_versions.h"
#include "runtime/library/call.h"
#include "runtime/core/reference.h"
#include "runtime/library/dso_env.h"
#include "runtime/library/processor_code.h"

#define FFI_PREFIX   "__tvm_ffi_"
#define LEGACY_ENTRY "__tvm_main__"

static const struct tenon_slice ffi_prefix = { FFI_PREFIX, sizeof(FFI_PREFIX) - 1 };
static const struct tenon_slice no_prefix = { "", 0 };

struct library {
	struct tenon_module base;
	struct dso *dso;
};

/* A compiled function that is called directly, without an adapter. */
struct library_function {
	struct tenon_function base;
	struct tenon_module *keep;
};

static void library_function_delete(void *self, int flags)
{
	struct library_function *f = self;

	if (flags & TENON_DELETE_CONTENT)
		object_unref(&f->keep->object);
	if (flags & TENON_DELETE_MEMORY)
		heap_free(f);
}

static int direct_function_create(void *address, struct tenon_module *keep,
				  struct tenon_function **out)
{
	struct library_function *f = heap_alloc(sizeof(*f), "function");

	if (!f)
		return tenon_error(-TENON_E_NOMEM, "no memory for a function");
	tenon_object_init(&f->base.object, TENON_TYPE_FUNCTION, library_function_delete);
	*(void **)&f->base.call = address;
	f->base.cpp_call = NULL;
	f->keep = keep;
	object_ref(&keep->object);
	*out = &f->base;
	return 0;
}

static int ffi_function_create(struct library *l, void *address, struct tenon_function **out)
{
	tenon_call_fn call;

	if (!l->dso->uses_workspace)
		return direct_function_create(address, &l->base, out);
	*(void **)&call = address;
	return workspace_guard_function_create(call, &l->base.object, out);
}

/* ---- listing functions */

static bool has_prefix(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/* names that belong to the format, without the prefix: not functions of the module */
static bool is_reserved(const char *name)
{
	return !strcmp(name, "_library_ctx") || !strcmp(name, "_library_bin") ||
	       has_prefix(name, "_metadata_") || has_prefix(name, "_doc_");
}

static int found_prefixed(void *context, const char *name, bool is_code)
{
	return has_prefix(name, FFI_PREFIX) && strcmp(name, "__tvm_ffi_library_ctx") &&
	       strcmp(name, "__tvm_ffi_library_bin");
}

static enum dso_unprefixed_abi unprefixed_abi(struct dso *dso)
{
	enum dso_unprefixed_abi abi = __atomic_load_n(&dso->unprefixed_abi, __ATOMIC_RELAXED);
	struct loaded_symbol s;

	if (abi != DSO_UNPREFIXED_UNKNOWN)
		return abi;
	if (!dso_is_linked(dso) && loaded_object_each(&dso->loaded, true, found_prefixed, NULL))
		abi = DSO_UNPREFIXED_NONE;
	else if (dso_find(dso, "__tvm_ffi_library_ctx", &s) ||
		 dso_find(dso, "__TVMFFIFunctionCall", &s) ||
		 dso_find(dso, "__TVMFFIErrorSetRaisedFromCStr", &s))
		abi = DSO_UNPREFIXED_021;
	else
		abi = DSO_UNPREFIXED_LEGACY;
	__atomic_store_n(&dso->unprefixed_abi, abi, __ATOMIC_RELAXED);
	return abi;
}

/* Look up the symbol whose name is @count parts joined. */
static bool find_code(const struct dso *dso, const struct tenon_slice *parts, size_t count,
		      struct loaded_symbol *out)
{
	char fixed[256], *symbol = fixed, *at;
	size_t i, room = 1;
	bool found;

	for (i = 0; i < count; i++)
		room += parts[i].size;
	if (room > sizeof(fixed)) {
		symbol = malloc(room);
		if (!symbol)
			return false;
	}
	for (i = 0, at = symbol; i < count; at += parts[i++].size)
		memcpy(at, parts[i].data, parts[i].size);
	*at = '\0';
	found = dso_find(dso, symbol, out) && out->is_code;
	if (symbol != fixed)
		free(symbol);
	return found;
}

/* Look up the code of a function for this processor. */
static bool find_processors_code(const struct dso *dso, struct tenon_slice name,
				 struct loaded_symbol *out)
{
	const struct tenon_slice parts[] = { ffi_prefix, name, { ".", 1 }, dso->processor };

	return OPTION_ON(FAST_CALLS) && dso->processor.size && find_code(dso, parts, 4, out);
}

static bool is_processors_code(const struct dso *dso, const char *name)
{
	return OPTION_ON(FAST_CALLS) && dso->processors.size &&
	       processor_is_variant(dso->processors, name);
}

/* Look up @before, the module's prefix and @name; then the same without the module's prefix. */
static bool find_function(const struct dso *dso, struct tenon_slice before, struct tenon_slice name,
			  struct loaded_symbol *out)
{
	struct tenon_slice parts[3] = { before, dso_prefix(dso), name };

	if (parts[1].size) {
		if (find_code(dso, parts, 3, out))
			return true;
		parts[1].size = 0;
	}
	return find_code(dso, parts, 3, out);
}

static int unprefixed_function_create(struct library *l, void *address, struct tenon_function **out)
{
	if (!OPTION_ON(TVM_LEGACY))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s was made by TVM " TVM_BLOB_LEGACY
				   "; this build has CONFIG_TVM_LEGACY=n",
				   l->dso->path);
	if (unprefixed_abi(l->dso) == DSO_UNPREFIXED_021)
		return tvm_021_function_create(address, &l->base.object, out);
	if (l->dso->uses_workspace)
		return tvm_legacy_guarded_function_create(address, &l->base.object, out);
	return tvm_legacy_function_create(address, &l->base.object, out);
}

/* LLVM hosts name their entry in a string; C hosts have a function with the entry's name. */
static bool find_legacy_entry(const struct dso *dso, struct loaded_symbol *out)
{
	struct tenon_slice name = { LEGACY_ENTRY, sizeof(LEGACY_ENTRY) - 1 };

	if (!dso_find(dso, LEGACY_ENTRY, out))
		return false;
	if (out->is_code)
		return true;
	name = tenon_slice_of(out->address);
	return find_function(dso, no_prefix, name, out);
}

static bool is_legacy_entry(struct tenon_slice name)
{
	return slice_is(name, LEGACY_ENTRY) || slice_is(name, "main");
}

static int library_get_function(struct tenon_module *m, struct tenon_slice name,
				struct tenon_function **out)
{
	struct library *l = (struct library *)m;
	struct loaded_symbol s;

	*out = NULL;
	/* A NUL in the name would truncate it to another name. */
	if (name.size > 65535 || memchr(name.data, '\0', name.size))
		return 0;
	if (find_processors_code(l->dso, name, &s) || find_function(l->dso, ffi_prefix, name, &s))
		return ffi_function_create(l, s.address, out);
	if (unprefixed_abi(l->dso) == DSO_UNPREFIXED_NONE)
		return 0;
	if (OPTION_ON(TVM_LEGACY) && is_legacy_entry(name) && find_legacy_entry(l->dso, &s))
		return unprefixed_function_create(l, s.address, out);
	/* variables and strings of the format */
	if (name.size >= 5 && !memcmp(name.data, "__tvm", 5))
		return 0;
	if (find_function(l->dso, no_prefix, name, &s))
		return unprefixed_function_create(l, s.address, out);
	return 0;
}

struct name_visit {
	struct dso *dso;
	int (*visit)(void *context, struct tenon_slice name);
	void *context;
};

/* symbols that compilers and linkers add to every library */
static bool is_linkers(const char *name)
{
	/* one string, which needs no relocations */
	static const char names[] =
		"_init\0_fini\0_start\0_edata\0_end\0__bss_start\0get_c_metadata\0"
		"_lookup_linked_param\0";
	const char *at;

	for (at = names; *at; at += strlen(at) + 1)
		if (!strcmp(name, at))
			return true;
	return name[0] == '_' && name[1] == '_';
}

static int visit_name(void *context, const char *name, bool is_code)
{
	struct name_visit *v = context;

	if (!is_code)
		return 0;
	if (unprefixed_abi(v->dso) == DSO_UNPREFIXED_NONE) {
		if (!has_prefix(name, FFI_PREFIX))
			return 0;
		name += strlen(FFI_PREFIX);
		if (is_reserved(name) || is_processors_code(v->dso, name))
			return 0;
	} else if (is_linkers(name)) {
		return 0;
	}
	return v->visit(v->context, tenon_slice_of(name));
}

static int library_each_function(struct tenon_module *m,
				 int (*visit)(void *context, struct tenon_slice name),
				 void *context)
{
	struct library *l = (struct library *)m;
	struct name_visit v = { l->dso, visit, context };

	if (dso_is_linked(l->dso))
		return 0;
	return loaded_object_each(&l->dso->loaded, true, visit_name, &v);
}

static const char *generation_name(struct dso *dso)
{
	switch (unprefixed_abi(dso)) {
	case DSO_UNPREFIXED_NONE:
		return "tvm-ffi";
	case DSO_UNPREFIXED_021:
		return "tvm-0.21";
	default:
		return "tvm-legacy";
	}
}

static int library_visit(const struct tenon_module *m, const struct tenon_visitor *v)
{
	struct dso *dso = ((const struct library *)m)->dso;
	struct tenon_value value = tenon_arg_string(dso->path);
	int stop;

	stop = v->field(v->context, "file", &value);
	if (stop)
		return stop;
	value = tenon_arg_string(generation_name(dso));
	return v->field(v->context, "generation", &value);
}

static void library_destroy(struct tenon_module *m)
{
	struct library *l = (struct library *)m;

	dso_lock();
	if (l->dso->library == m) {
		l->dso->library = NULL;
		dso_env_forget(l->dso->env);
	}
	dso_unlock();
	tenon_object_unref(l->dso);
}

static const struct tenon_module_ops library_ops = {
	.get_function = library_get_function,
	.each_function = library_each_function,
	.visit = OPTION_SLOT(INSPECT, library_visit),
	.destroy = library_destroy,
};

struct tenon_module *dso_library_create(struct dso *dso)
{
	static const struct tenon_slice kind = { "library", 7 };
	struct library *l = calloc(1, sizeof(*l));

	if (!l) {
		tenon_error(-TENON_E_NOMEM, "no memory for a module");
		return NULL;
	}
	tenon_module_init(&l->base, &library_ops, kind,
			  TENON_MODULE_RUNNABLE | TENON_MODULE_EXPORTABLE);
	l->base.flags = TENON_MODULE_OPEN_NAMES;
	l->dso = dso;
	tenon_object_ref(dso);
	return &l->base;
}

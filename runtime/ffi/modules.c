/* SPDX-License-Identifier: MIT */
/* What the runtime's functions for modules lack: metadata of functions, modules that stay, the field imports_. */
#include <pthread.h>
#include <stdlib.h>

#include "runtime/ffi/map.h"
#include "runtime/ffi/sequence.h"
#include "runtime/ffi/types.h"

/*
 * A compiled library tells about function f in a function of its own: _metadata_f or _doc_f. @args: the
 * module, a name and whether to search imports.
 */
static int about_function(const char *function, const char *prefix, const struct tenon_value *args,
			  int32_t count, struct tenon_value *ret)
{
	static const struct tenon_slice lookup = { "ffi.ModuleGetFunction", 21 };
	struct tenon_value query[3], found;
	struct tenon_slice name, full;
	void *get;
	char *text;
	int err;

	*ret = tenon_arg_none();
	if (ffi_count(function, count, 2, 3) || ffi_arg_text(function, args, 1, &name))
		return -1;
	text = malloc(strlen(prefix) + name.size + 1);
	if (!text)
		return ffi_nomem("a name");
	full.data = text;
	full.size = (size_t)sprintf(text, "%s", prefix) + name.size;
	memcpy(text + strlen(prefix), name.data, name.size);
	query[0] = args[0];
	query[1] = tenon_arg_bytes(&full);
	query[2] = count == 3 ? args[2] : tenon_arg_bool(false);
	err = ffi->TVMFFIFunctionGetGlobal(&lookup, &get);
	if (!err && get)
		err = ffi_call(get, query, 3, &found);
	free(text);
	ffi_unref(get);
	if (err || !get || found.type != TENON_TYPE_FUNCTION)
		return err;
	err = ffi_call(found.as.object, NULL, 0, ret);
	ffi_release(&found);
	return err;
}

static PACKED_CALL(function_metadata)
{
	return about_function("ffi.ModuleGetFunctionMetadata", "_metadata_", args, count, ret);
}

static PACKED_CALL(function_doc)
{
	return about_function("ffi.ModuleGetFunctionDoc", "_doc_", args, count, ret);
}

/* ---- modules that stay for the life of the process */

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tenon_map *kept;

static PACKED_CALL(keep)
{
	struct tenon_value yes = tenon_arg_bool(true);
	struct tenon_object *m;
	int err;

	*ret = tenon_arg_none();
	if (ffi_count("ffi.ModuleGlobalsAdd", count, 1, 1) ||
	    ffi_arg_object("ffi.ModuleGlobalsAdd", args, 0, TENON_TYPE_MODULE, &m))
		return -1;
	pthread_mutex_lock(&kept_lock);
	err = ffi_map_set(kept, &args[0], &yes);
	pthread_mutex_unlock(&kept_lock);
	return err;
}

static PACKED_CALL(let_go)
{
	struct tenon_object *m;

	*ret = tenon_arg_none();
	if (ffi_count("ffi.ModuleGlobalsRemove", count, 1, 1) ||
	    ffi_arg_object("ffi.ModuleGlobalsRemove", args, 0, TENON_TYPE_MODULE, &m))
		return -1;
	pthread_mutex_lock(&kept_lock);
	ffi_map_erase(kept, &args[0]);
	pthread_mutex_unlock(&kept_lock);
	return 0;
}

/* where C++ has the field imports_, and the size of its objects with their table of functions */
#define IMPORTS_AT  24
#define MODULE_SIZE 48

static int get_imports(void *field, struct tenon_value *out)
{
	void *module = (char *)field - IMPORTS_AT;
	struct tenon_array *imports = ffi_sequence_create(TENON_TYPE_ARRAY, NULL, 0);
	size_t i, count = ffi->module_is_ours(module) ? ffi->module_import_count(module) : 0;
	struct tenon_value import;

	*out = tenon_arg_object(imports);
	if (!imports)
		return -1;
	for (i = 0; i < count; i++) {
		import = tenon_arg_object(ffi->module_import_at(module, i));
		if (ffi_sequence_append(imports, &import)) {
			ffi_release(out);
			return -1;
		}
	}
	return 0;
}

/* tvm-ffi has a loader for .so files by name, too. @args are the path, whose own extension decides here, and "so". */
static PACKED_CALL(load_library)
{
	static const struct tenon_slice load = { "ffi.ModuleLoadFromFile", 22 };
	struct tenon_value path;
	void *function;
	int err;

	*ret = tenon_arg_none();
	if (ffi_count("ffi.Module.load_from_file.so", count, 1, 2))
		return -1;
	path = args[0];
	err = ffi->TVMFFIFunctionGetGlobal(&load, &function);
	if (err || !function)
		return err ? err : ffi_raise("RuntimeError", "this build loads no libraries");
	err = ffi_call(function, &path, 1, ret);
	ffi_unref(function);
	return err;
}

static const struct global_function globals[] = {
	{ "ffi.Module.load_from_file.so", load_library },
	{ "ffi.ModuleGetFunctionDoc", function_doc },
	{ "ffi.ModuleGetFunctionMetadata", function_metadata },
	{ "ffi.ModuleGlobalsAdd", keep },
	{ "ffi.ModuleGlobalsRemove", let_go },
	{ NULL, NULL },
};

int modules_register(void)
{
	static const char schema[] = "{\"type_schema\":\"{\\\"type\\\":\\\"ffi.Array\\\","
				     "\\\"args\\\":[{\\\"type\\\":\\\"Any\\\"}]}\"}";
	struct type_field imports = {
		.name = { "imports_", 8 },
		.metadata = { schema, sizeof(schema) - 1 },
		.size = sizeof(void *),
		.alignment = _Alignof(void *),
		.offset = IMPORTS_AT,
		.getter = get_imports,
		.static_type = TENON_TYPE_ARRAY,
	};
	const struct type_metadata metadata = { .total_size = MODULE_SIZE };

	kept = ffi_map_create(TENON_TYPE_DICT);
	if (!kept || ffi->TVMFFITypeRegisterMetadata(TENON_TYPE_MODULE, &metadata) ||
	    ffi->TVMFFITypeRegisterField(TENON_TYPE_MODULE, &imports))
		return -1;
	return ffi_register_globals(globals);
}

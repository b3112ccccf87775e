/* SPDX-License-Identifier: MIT */
/* Global functions about functions and types. */
#include <stdlib.h>

#include "runtime/ffi/fields.h"
#include "runtime/ffi/map.h"
#include "runtime/ffi/sentinels.h"
#include "runtime/ffi/sequence.h"

static int append_name(void *list, const char *name, struct tenon_function *function)
{
	struct tenon_value v = tenon_arg_string(name);

	return ffi_sequence_append(list, &v);
}

static void list_free(void *self)
{
	ffi_unref(self);
}

/* -1 gives the number of names, another number the name. */
static PACKED_CALL(name_call)
{
	struct tenon_array *names = self;
	int64_t i;

	if (ffi_count("function names", count, 1, 1) || ffi_arg_int("function names", args, 0, &i))
		return -1;
	if (i >= names->size)
		return ffi_raise("IndexError", "there are %lld functions", (long long)names->size);
	*ret = i < 0 ? tenon_arg_int(names->size) : ffi_copy(&names->data[i]);
	return 0;
}

static PACKED_CALL(list_functions)
{
	struct tenon_array *names = ffi_sequence_create(TENON_TYPE_LIST, NULL, 0);

	if (!names)
		return -1;
	if (ffi->function_each(append_name, names) ||
	    ffi_function(names, name_call, list_free, ret)) {
		ffi_unref(names);
		return -1;
	}
	return 0;
}

static PACKED_CALL(remove_function)
{
	struct tenon_slice name;
	char *text;
	int err;

	if (ffi_count("ffi.FunctionRemoveGlobal", count, 1, 1) ||
	    ffi_arg_text("ffi.FunctionRemoveGlobal", args, 0, &name))
		return -1;
	text = strndup(name.data, name.size);
	if (!text)
		return ffi_nomem("a name");
	err = ffi->function_remove(text);
	free(text);
	if (err == -TENON_E_NOT_FOUND)
		ffi_drop_error();
	else if (err)
		return -1;
	*ret = tenon_arg_bool(!err);
	return 0;
}

static PACKED_CALL(from_c)
{
	void (*deleter)(void *self) = NULL;
	void *pointer[3];
	tenon_call_fn call;
	int32_t i;

	if (ffi_count("ffi.FunctionFromExternC", count, 3, 3))
		return -1;
	for (i = 0; i < 3; i++) {
		if (args[i].type != TENON_TYPE_POINTER && args[i].type != TENON_TYPE_NONE)
			return ffi_raise("TypeError",
					 "ffi.FunctionFromExternC: argument %d is no pointer", i);
		pointer[i] = args[i].type == TENON_TYPE_NONE ? NULL : args[i].as.pointer;
	}
	if (!pointer[1])
		return ffi_raise("ValueError", "ffi.FunctionFromExternC: no function");
	*(void **)&call = pointer[1];
	*(void **)&deleter = pointer[2];
	return ffi_function(pointer[0], call, deleter, ret);
}

/* ---- metadata of functions that C++ code registers; the runtime does not keep it */

static struct tenon_map *metadata;
static int (*set_from_method)(const struct type_method *method, int replace);

int functions_set_from_method(const struct type_method *method, int replace)
{
	struct tenon_value text, name;
	int err = set_from_method(method, replace);

	/* there is no map where memory for it was missing */
	if (err || !metadata)
		return err;
	if (ffi_string(method->name.data, method->name.size, &name))
		return -1;
	err = ffi_string(method->metadata.data, method->metadata.size, &text);
	if (!err) {
		err = ffi_map_set(metadata, &name, &text);
		ffi_release(&text);
	}
	ffi_release(&name);
	return err;
}

static PACKED_CALL(get_metadata)
{
	const struct tenon_value *found;
	struct tenon_slice name;
	void *f;

	if (ffi_count("ffi.GetGlobalFuncMetadata", count, 1, 1) ||
	    ffi_arg_text("ffi.GetGlobalFuncMetadata", args, 0, &name) ||
	    ffi->TVMFFIFunctionGetGlobal(&name, &f))
		return -1;
	if (!f)
		return ffi_raise("RuntimeError", "Global Function is not found: %.*s",
				 (int)name.size, name.data);
	ffi_unref(f);
	found = ffi_map_find(metadata, &args[0]);
	*ret = found ? ffi_copy(found) : tenon_arg_none();
	return found ? 0 : ffi_string("", 0, ret);
}

/* ---- types */

static PACKED_CALL(list_types)
{
	struct tenon_array *keys = ffi_sequence_create(TENON_TYPE_ARRAY, NULL, 0);
	int32_t type, end = ffi->type_end();
	const struct type_info *info;
	struct tenon_value key;
	int err = keys ? 0 : -1;

	for (type = 0; !err && type < end; type++) {
		info = ffi->TVMFFIGetTypeInfo(type);
		if (info->index != type)
			continue;
		err = ffi_string(info->key.data, info->key.size, &key);
		if (!err) {
			err = ffi_sequence_append(keys, &key);
			ffi_release(&key);
		}
	}
	*ret = tenon_arg_object(keys);
	if (err)
		ffi_release(ret);
	return err;
}

static PACKED_CALL(missing)
{
	*ret = ffi_sentinel(SENTINEL_MISSING);
	return 0;
}

static PACKED_CALL(keywords)
{
	*ret = ffi_sentinel(SENTINEL_KEYWORDS);
	return 0;
}

/* Set each field of a new object from names and values, or to its default. */
static int fill_fields(int32_t type, void *object, const struct tenon_value *args, int32_t count)
{
	struct ffi_field_at at = ffi_fields_of(type);
	struct tenon_slice key = ffi_type_key(type), name;
	const struct type_field *f;
	int32_t i, used = 0;

	while ((f = ffi_field_next(&at))) {
		for (i = 0; i < count; i += 2)
			if (ffi_text(&args[i], &name) && tenon_slice_equal(name, f->name))
				break;
		if (i < count) {
			if (ffi_field_set(f, object, &args[i + 1]))
				return -1;
			used++;
		} else if (ffi_field_set_absent(type, f, object)) {
			return -1;
		}
	}
	for (i = 0; used < count / 2 && i < count; i += 2) {
		if (!ffi_text(&args[i], &name))
			break;
		if (!ffi_field_find(type, name))
			return ffi_raise("TypeError", "Type `%.*s` does not have field `%.*s`",
					 (int)key.size, key.data, (int)name.size, name.data);
	}
	return 0;
}

static PACKED_CALL(make_object)
{
	const char *function = "ffi.MakeObjectFromPackedArgs";
	struct tenon_slice key;
	int64_t wide;
	int32_t type, i;

	if (count < 1 || count % 2 == 0)
		return ffi_raise("TypeError", "%s: expected a type, names and values", function);
	for (i = 1; i < count; i += 2)
		if (ffi_arg_text(function, args, i, &key))
			return -1;
	if (args[0].type == TENON_TYPE_INT) {
		if (ffi_arg_int(function, args, 0, &wide))
			return -1;
		type = (int32_t)wide;
	} else if (ffi_arg_text(function, args, 0, &key) ||
		   ffi->TVMFFITypeKeyToIndex(&key, &type)) {
		return -1;
	}
	if (ffi_object_create(type, ret))
		return -1;
	if (!fill_fields(type, ret->as.object, args + 1, count - 1))
		return 0;
	ffi_release(ret);
	return -1;
}

static const struct global_function globals[] = {
	{ "ffi.FunctionFromExternC", from_c },
	{ "ffi.FunctionListGlobalNamesFunctor", list_functions },
	{ "ffi.FunctionRemoveGlobal", remove_function },
	{ "ffi.GetGlobalFuncMetadata", get_metadata },
	{ "ffi.GetInvalidObject", missing },
	{ "ffi.GetKwargsObject", keywords },
	{ "ffi.GetRegisteredTypeKeys", list_types },
	{ "ffi.MakeObjectFromPackedArgs", make_object },
	{ NULL, NULL },
};

int functions_register(void)
{
	set_from_method = ffi->TVMFFIFunctionSetGlobalFromMethodInfo;
	metadata = ffi_map_create(TENON_TYPE_DICT);
	if (!metadata)
		return -1;
	return ffi_register_globals(globals);
}

/* SPDX-License-Identifier: MIT */
/* vm.builtin.tensor_cache.* and param_array_from_cache*: weights by name (relax_weights.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/error_slot.h"
#include "lib/json_read.h"
#include "runtime/core/arguments.h"
#include "runtime/relax/relax.h"
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_param_module.h"
#include "runtime/relax/relax_weights.h"

/* tensor_cache.load(folder, device type, device number) */
RELAX_BUILTIN_SAID(tensor_cache_load, "tensor_cache.load", 3, 3)
{
	struct tenon_slice folder;
	int64_t type, id;
	int err;

	err = relax_argument_text(a, 0, &folder);
	if (!err && memchr(folder.data, 0, folder.size))
		err = relax_argument_error(a, 0, -TENON_E_VALUE, "a zero byte");
	if (!err)
		err = relax_argument_range(a, 1, 1, INT32_MAX, &type);
	if (!err)
		err = relax_argument_range(a, 2, 0, INT32_MAX, &id);
	if (err)
		return err;
	err = relax_weights_load(folder, (DLDevice){ (DLDeviceType)type, (int32_t)id });
	return err ? tenon_error_in(err, "%s", a->name) : 0;
}

/* tensor_cache.get(name) -> tensor or None */
RELAX_BUILTIN_SAID(tensor_cache_get, "tensor_cache.get", 1, 1)
{
	struct tenon_slice name;
	int err;

	err = relax_argument_text(a, 0, &name);
	if (!err)
		*ret = tenon_arg_object(relax_weights_find(name));
	return err;
}

/* tensor_cache.update(name, tensor [, override]) */
RELAX_BUILTIN_SAID(tensor_cache_update, "tensor_cache.update", 2, 3)
{
	struct tenon_slice name;
	struct tenon_tensor *t;
	int64_t replace = 0;
	int err;

	err = relax_argument_text(a, 0, &name);
	if (!err)
		err = relax_argument_tensor_object(a, 1, &t);
	if (!err && a->count == 3)
		err = relax_argument_int(a, 2, &replace);
	if (err)
		return err;
	tenon_object_ref(t);
	return relax_weights_insert(name, t, replace);
}

RELAX_BUILTIN_SAID(tensor_cache_remove, "tensor_cache.remove", 1, 1)
{
	struct tenon_slice name;
	int err;

	err = relax_argument_text(a, 0, &name);
	if (!err)
		relax_weights_remove(name);
	return err;
}

RELAX_BUILTIN_SAID(tensor_cache_clear, "tensor_cache.clear", 0, 0)
{
	relax_weights_clear();
	return 0;
}

/* Make an array of owned tensors, which are released. */
static int make_array(struct tenon_value *items, size_t count, struct tenon_value *ret)
{
	struct tenon_array *array;
	size_t i;
	int err = tenon_array_create(items, count, &array);

	for (i = 0; i < count; i++)
		tenon_value_release(&items[i]);
	if (!err)
		*ret = tenon_arg_object(array);
	return err;
}

static int by_names(const struct relax_arguments *a, const struct tenon_value *names, int64_t count,
		    struct tenon_value *ret)
{
	struct tenon_value *items = calloc((size_t)count + 1, sizeof(*items));
	struct tenon_slice name;
	int64_t i;
	int err = items ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for a tuple");

	for (i = 0; !err && i < count; i++) {
		err = tenon_value_text(&names[i], &name);
		if (err)
			break;
		items[i] = tenon_arg_object(relax_weights_find(name));
		if (items[i].type == TENON_TYPE_NONE)
			err = error_of_kind("ValueError", -TENON_E_NOT_FOUND,
					    "no weight \"%.*s\" was loaded; %zu others are",
					    json_shown(name), name.data, relax_weights_count());
	}
	if (!err)
		err = make_array(items, (size_t)count, ret);
	else
		while (items && i-- > 0)
			tenon_value_release(&items[i]);
	free(items);
	return err ? tenon_error_in(err, "%s", a->name) : 0;
}

/* param_array_from_cache_by_name(names) -> array */
RELAX_BUILTIN(param_array_from_cache_by_name, 1, 1)
{
	struct tenon_array *names;
	int err;

	err = relax_argument_array(a, 0, &names);
	return err ? err : by_names(a, names->data, names->size, ret);
}

RELAX_BUILTIN(param_array_from_cache_by_name_unpacked, 0, -1)
{
	return by_names(a, a->args, a->count, ret);
}

/* param_array_from_cache(prefix, n) -> array of prefix_0, prefix_1 …; n -1: up to the first gap */
RELAX_BUILTIN(param_array_from_cache, 2, 2)
{
	struct tenon_value *items = NULL, *more;
	struct tenon_slice prefix;
	struct tenon_tensor *t;
	char name[512];
	int64_t most, i;
	int err;

	err = relax_argument_text(a, 0, &prefix);
	if (!err && prefix.size > sizeof(name) - 32)
		err = relax_argument_error(a, 0, -TENON_E_VALUE, "a long prefix");
	if (!err)
		err = relax_argument_range(a, 1, -1, INT32_MAX, &most);
	for (i = 0; !err && (most < 0 || i < most); i++) {
		snprintf(name, sizeof(name), "%.*s_%" PRIi64, (int)prefix.size, prefix.data, i);
		t = relax_weights_find(tenon_slice_of(name));
		if (!t && most >= 0)
			err = error_of_kind("InternalError", -TENON_E_NOT_FOUND,
					    "%s: no weight \"%s\" was loaded", a->name, name);
		if (!t)
			break;
		more = realloc(items, ((size_t)i + 1) * sizeof(*items));
		if (!more) {
			tenon_object_unref(t);
			err = tenon_error(-TENON_E_NOMEM, "no memory for a tuple");
			break;
		}
		items = more;
		items[i] = tenon_arg_object(t);
	}
	if (!err)
		err = make_array(items, (size_t)i, ret);
	else
		while (items && i-- > 0)
			tenon_value_release(&items[i]);
	free(items);
	return err;
}

/* Make a module of the array that @make returns. */
static int module_of(tenon_call_fn make, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	struct tenon_value array = tenon_arg_none();
	struct tenon_module *m;
	int err = make(NULL, args, count, &array);

	if (!err)
		err = relax_param_module_create(&array, &m);
	tenon_value_release(&array);
	if (!err)
		*ret = tenon_arg_object(m);
	return err;
}

/* param_module_from_cache_by_name(names) -> module whose get_params() returns the weights */
PACKED_CALL(relax_builtin_param_module_from_cache_by_name)
{
	return module_of(relax_builtin_param_array_from_cache_by_name, args, count, ret);
}

/* param_module_from_cache(prefix, n) -> the same of prefix_0, prefix_1 … */
PACKED_CALL(relax_builtin_param_module_from_cache)
{
	return module_of(relax_builtin_param_array_from_cache, args, count, ret);
}

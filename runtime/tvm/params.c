/* SPDX-License-Identifier: MIT */
/* Global functions that save and load named tensors, as bytes or files. */
#include <stdlib.h>
#include <tenon/array.h>
#include <tenon/memory.h>
#include <tenon/params.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "runtime/tvm/tvm.h"

/* ---- save */

/* Parameters to be written: @tensors are what @list refers to, copies of those that are on devices */
struct saved {
	struct tenon_param *list;
	struct tenon_tensor **tensors;
	size_t count;
};

static void saved_fini(struct saved *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		tenon_object_unref(s->tensors[i]);
	free(s->list);
	free(s->tensors);
}

/* A tensor of this process's memory with the same elements, referenced */
static int to_host(struct tenon_tensor *t, struct tenon_tensor **out)
{
	int err;

	*out = t;
	tenon_object_ref(t);
	if (t->dl.device.device_type == kDLCPU)
		return 0;
	err = tenon_tensor_create(t->dl.shape, t->dl.ndim, t->dl.dtype, out);
	if (!err)
		err = tenon_tensor_copy(&t->dl, &(*out)->dl);
	tenon_object_unref(t);
	return err;
}

static int add_param(struct saved *s, const struct tenon_value *key,
		     const struct tenon_value *value)
{
	struct tenon_param *p = &s->list[s->count];
	struct tenon_tensor *t;
	int err;

	err = tenon_value_text(key, &p->name);
	if (!err)
		err = tenon_value_object(value, TENON_TYPE_TENSOR, &t);
	if (!err)
		err = to_host(t, &s->tensors[s->count]);
	if (err)
		return err;
	p->tensor = s->tensors[s->count++]->dl;
	return tenon_tensor_bytes(&p->tensor, &p->bytes);
}

static int read_map(const char *function, const struct tenon_value *args, struct saved *s)
{
	const struct tenon_value *key, *value;
	const void *at = NULL;
	struct tenon_map *map;
	int err = tvm_object(function, args, 0, TENON_TYPE_MAP, &map);

	*s = (struct saved){ 0 };
	if (err)
		return err;
	s->list = calloc((size_t)map->size + 1, sizeof(*s->list));
	s->tensors = calloc((size_t)map->size + 1, sizeof(struct tenon_tensor *));
	if (!s->list || !s->tensors)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for parameters", function);
	while (!err && s->count < map->size && (at = tenon_map_next(map, at, &key, &value)))
		err = add_param(s, key, value);
	return err ? tenon_error_in(err, "%s", function) : 0;
}

static PACKED_CALL(save)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;
	struct saved s = { 0 };
	int err = arguments_check("runtime.SaveParams", count, 1, 1);
	if (!err)
		err = read_map("runtime.SaveParams", args, &s);
	if (!err)
		err = tenon_params_save(s.list, s.count, &out);
	if (!err)
		err = tenon_bytes_value((struct tenon_slice){ out.data, out.size }, ret);
	tenon_buffer_fini(&out);
	saved_fini(&s);
	return err;
}

/* The path of an argument as a string with an end; the caller frees it */
static int read_path(const char *function, const struct tenon_value *args, int32_t i, char **out)
{
	struct tenon_slice text;
	int err = tvm_text(function, args, i, &text);

	*out = NULL;
	if (err)
		return err;
	*out = strndup(text.data, text.size);
	return *out ? 0 : tenon_error(-TENON_E_NOMEM, "%s: no memory for a path", function);
}

static PACKED_CALL(save_to_file)
{
	static const char function[] = "runtime.SaveParamsToFile";
	struct saved s = { 0 };
	char *path = NULL;
	int err = arguments_check(function, count, 2, 2);
	*ret = tenon_arg_none();
	if (!err)
		err = read_map(function, args, &s);
	if (!err)
		err = read_path(function, args, 1, &path);
	if (!err)
		err = tenon_params_write(path, s.list, s.count, 0);
	free(path);
	saved_fini(&s);
	return err;
}

/* ---- load */

/* A key and a value of a map that is being made */
static int load_param(struct tenon_params *params, const struct tenon_param *p,
		      struct tenon_value pair[2])
{
	const DLTensor *dl = &p->tensor;
	struct tenon_tensor *t;
	int err = tenon_string_value(p->name, &pair[0]);

	/* not the file's memory, which must not be written */
	if (!err)
		err = tenon_tensor_create(dl->shape, dl->ndim, dl->dtype, &t);
	if (err)
		return err;
	pair[1] = tenon_arg_object(t);
	return p->bytes ? tenon_params_load(params, p, t->dl.data) : 0;
}

static int make_map(const struct tenon_value *pairs, size_t count, struct tenon_value *ret)
{
	struct tenon_function *map;
	int err = tenon_function_find("ffi.Map", &map);

	if (!err && !map)
		err = tenon_error(-TENON_E_NO_FUNCTION, "ffi.Map is not registered");
	if (!err)
		err = tenon_function_call(map, pairs, (int32_t)(2 * count), ret);
	tenon_object_unref(map);
	return err;
}

/* Return a map of all parameters; takes over the reference. */
static int return_params(struct tenon_params *params, struct tenon_value *ret)
{
	size_t count = tenon_params_count(params), i;
	struct tenon_value *pairs = calloc(2 * count + 1, sizeof(*pairs));
	int err = 0;

	if (!pairs)
		err = tenon_error(-TENON_E_NOMEM, "no memory for %zu parameters", count);
	for (i = 0; i < count && !err; i++)
		err = load_param(params, tenon_params_at(params, i), pairs + 2 * i);
	if (!err && count > INT32_MAX / 2)
		err = tenon_error(-TENON_E_OVERFLOW, "%zu parameters", count);
	if (!err)
		err = make_map(pairs, count, ret);
	for (i = 0; pairs && i < 2 * count; i++)
		tenon_value_release(&pairs[i]);
	free(pairs);
	tenon_object_unref(params);
	return err;
}

static PACKED_CALL(load)
{
	struct tenon_params *params;
	struct tenon_slice bytes;
	int err = arguments_check("runtime.LoadParams", count, 1, 1);
	if (!err)
		err = tvm_text("runtime.LoadParams", args, 0, &bytes);
	if (!err)
		err = tenon_params_read(bytes, NULL, "runtime.LoadParams", &params);
	return err ? err : return_params(params, ret);
}

static PACKED_CALL(load_from_file)
{
	static const char function[] = "runtime.LoadParamsFromFile";
	struct tenon_params *params;
	char *path = NULL;
	int err = arguments_check(function, count, 1, 1);
	if (!err)
		err = read_path(function, args, 0, &path);
	if (!err)
		err = tenon_params_open(path, &params);
	free(path);
	return err ? err : return_params(params, ret);
}

const struct global_function tvm_param_globals[] = {
	{ "runtime.LoadParams", load },
	{ "runtime.LoadParamsFromFile", load_from_file },
	{ "runtime.SaveParams", save },
	{ "runtime.SaveParamsToFile", save_to_file },
	{ NULL, NULL },
};

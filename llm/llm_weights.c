/* SPDX-License-Identifier: MIT */
/* Weights of a model: TVM's tensor cache, or parameters in safetensors or GGUF. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/device.h>
#include <tenon/memory.h>
#include <tenon/params.h>

#include "lib/brief_errors.h"
#include "lib/nearest_name.h"
#include "llm/llm_engine.h"
#include "runtime/model/tensor_place.h"

#define ALIGNMENT 64 /* of tensors that compiled code takes */

/* missing weights that a message lists */
#define LISTED_MOST 8

static int check_weight(const struct llm_weight *w, const DLTensor *t)
{
	char want[TENON_DTYPE_NAME], have[TENON_DTYPE_NAME];
	int32_t i;

	if (!tenon_dtype_equal(t->dtype, w->dtype))
		return tenon_error(-TENON_E_FORMAT, "weight \"%.*s\" is %s, the model wants %s",
				   (int)w->name.size, w->name.data,
				   tenon_dtype_name(t->dtype, have),
				   tenon_dtype_name(w->dtype, want));
	if (t->ndim != w->ndim)
		return tenon_error(-TENON_E_FORMAT,
				   "weight \"%.*s\" has %" PRIi32
				   " dimensions, the model wants %" PRIi32,
				   (int)w->name.size, w->name.data, t->ndim, w->ndim);
	for (i = 0; i < w->ndim; i++)
		if (w->shape[i] >= 0 && t->shape[i] != w->shape[i])
			return tenon_error(-TENON_E_FORMAT,
					   "weight \"%.*s\" has extent %" PRIi64
					   " in dimension %" PRIi32 ", the model wants %" PRIi64,
					   (int)w->name.size, w->name.data, t->shape[i], i,
					   w->shape[i]);
	return 0;
}

/* Check a weight, and count its bytes. */
static int take_weight(struct tenon_llm *llm, const struct llm_weight *w, const DLTensor *t)
{
	size_t bytes;
	int err = check_weight(w, t);

	if (!err)
		err = tenon_tensor_bytes(t, &bytes);
	if (!err)
		llm->info.weight_bytes += bytes;
	return err;
}

/* ---- TVM's tensor cache */

static int call_global(const char *name, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	struct tenon_function *f;
	int err = tenon_function_find(name, &f);

	*ret = tenon_arg_none();
	if (!err && !f)
		err = tenon_error(-TENON_E_UNSUPPORTED, "no function %s", name);
	if (err)
		return err;
	err = tenon_function_call(f, args, count, ret) ? tenon_error_status() : 0;
	tenon_object_unref(f);
	return err;
}

/* Move the weights from the list of the process to the model, in the order of the metadata. */
static int take_cached(struct tenon_llm *llm, struct tenon_value *items)
{
	const struct llm_metadata *m = &llm->metadata;
	struct tenon_value name, ret;
	DLTensor *t;
	size_t i;
	int err = 0;

	for (i = 0; i < m->weight_count && !err; i++) {
		name = tenon_arg_string(m->weights[i].name.data);
		err = call_global("vm.builtin.tensor_cache.get", &name, 1, &items[i]);
		if (!err && items[i].type != TENON_TYPE_TENSOR)
			err = tenon_error(-TENON_E_FORMAT, "there is no weight \"%.*s\"",
					  (int)m->weights[i].name.size, m->weights[i].name.data);
		if (!err)
			err = tenon_value_tensor(&items[i], &t);
		if (!err)
			err = take_weight(llm, &m->weights[i], t);
	}
	/* others may keep weights there too */
	for (i = 0; i < m->weight_count; i++) {
		name = tenon_arg_string(m->weights[i].name.data);
		if (call_global("vm.builtin.tensor_cache.remove", &name, 1, &ret) && !err)
			err = tenon_error_status();
	}
	return err;
}

static int load_cache(struct tenon_llm *llm, struct tenon_value *items)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const struct tenon_value args[] = { tenon_arg_string(llm->folder),
					    tenon_arg_int(llm->device.device_type),
					    tenon_arg_int(llm->device.device_id) };
	struct tenon_value ret;
	int err;

	/* two models may have weights of one name */
	pthread_mutex_lock(&lock);
	err = call_global("vm.builtin.tensor_cache.load", args, 3, &ret);
	if (!err)
		err = take_cached(llm, items);
	pthread_mutex_unlock(&lock);
	return err;
}

/* ---- parameters */

/* All weights that are missing, in one message, with the nearest names. */
static int check_names(const struct llm_metadata *m, const struct tenon_params *params)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	const struct llm_weight *w;
	size_t i, k, missing = 0;
	int err;

	for (i = 0; i < m->weight_count; i++) {
		struct nearest_name nearest = { .wanted = m->weights[i].name };

		w = &m->weights[i];
		if (tenon_params_find(params, w->name) || missing++ >= LISTED_MOST)
			continue;
		for (k = 0; k < tenon_params_count(params); k++)
			nearest_name_offer(&nearest, tenon_params_at(params, k)->name);
		tenon_buffer_printf(&text, "\n  \"%.*s\".", (int)w->name.size, w->name.data);
		nearest_name_print(&nearest, &text);
	}
	if (missing > LISTED_MOST)
		tenon_buffer_printf(&text, "\n  and %zu more", missing - LISTED_MOST);
	if (!missing)
		return 0;
	err = tenon_error(-TENON_E_FORMAT,
			  "%zu of %zu weights of the model are missing; it was compiled for "
			  "other names or types of weights:%s",
			  missing, m->weight_count, text.data ? text.data : "");
	tenon_buffer_fini(&text);
	return err;
}

/* A tensor where the model runs; @t is dropped. */
static int move(DLDevice device, struct tenon_tensor *t, struct tenon_tensor **out)
{
	size_t bytes;
	int err;

	*out = t;
	if (place_is_host(device))
		return 0;
	*out = NULL;
	err = tenon_tensor_bytes(&t->dl, &bytes);
	if (!err)
		err = tenon_tensor_create_on(device, t->dl.shape, t->dl.ndim, t->dl.dtype, out);
	if (!err)
		err = place_copy(&t->dl, &(*out)->dl, bytes);
	if (err) {
		tenon_object_unref(*out);
		*out = NULL;
	}
	tenon_object_unref(t);
	return err;
}

/* Quantised weights become numbers one by one, if these are what the model wants. */
static int make_tensor(struct tenon_params *params, const struct tenon_param *p,
		       const struct llm_weight *w, struct tenon_tensor **out)
{
	if (w->dtype.code == TENON_DTYPE_FLOAT && tenon_params_block_type(params, p))
		return tenon_params_numbers(params, p, w->dtype, out);
	return tenon_params_tensor(params, p, ALIGNMENT, out);
}

static int take_param(struct tenon_llm *llm, struct tenon_params *params,
		      const struct llm_weight *w, struct tenon_value *item)
{
	struct tenon_tensor *t;
	int err = make_tensor(params, tenon_params_find(params, w->name), w, &t);

	if (!err)
		err = move(llm->device, t, &t);
	if (err)
		return tenon_error_in(err, "weight \"%.*s\"", (int)w->name.size, w->name.data);
	*item = tenon_arg_object(t);
	return take_weight(llm, w, &t->dl);
}

static int load_params(struct tenon_llm *llm, const char *path, struct tenon_value *items)
{
	const struct llm_metadata *m = &llm->metadata;
	struct tenon_params *params;
	size_t i;
	int err = tenon_params_open(path, &params);

	if (err)
		return err;
	err = check_names(m, params);
	for (i = 0; i < m->weight_count && !err; i++)
		err = take_param(llm, params, &m->weights[i], &items[i]);
	tenon_object_unref(params);
	return err ? tenon_error_in(err, "%s", path) : 0;
}

/*
 * Where the weights are: a file that the program named; NULL for the tensor cache of the folder; its safetensors; its only
 * file in GGUF. @path is to be freed.
 */
static int find_params(const struct tenon_llm *llm, char **path)
{
	const char *folder = llm->weights_file ? llm->weights_file : llm->folder;

	*path = NULL;
	if (llm->weights_file || llm_has_file(folder, "model.safetensors") ||
	    llm_has_file(folder, "model.safetensors.index.json")) {
		*path = strdup(folder);
		return *path ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for a path");
	}
	return llm_find_only(folder, ".gguf", path);
}

int llm_weights_load(struct tenon_llm *llm)
{
	const bool cached = !llm->weights_file && (llm_has_file(llm->folder, "tensor-cache.json") ||
						   llm_has_file(llm->folder, "ndarray-cache.json"));
	const size_t count = llm->metadata.weight_count;
	struct tenon_value *items = calloc(count + 1, sizeof(*items));
	char *path = NULL;
	size_t i;
	int err = 0;

	if (!items)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu weights", count);
	for (i = 0; i < count; i++)
		items[i] = tenon_arg_none();
	if (!cached)
		err = find_params(llm, &path);
	if (!err)
		err = path ? load_params(llm, path, items) : load_cache(llm, items);
	if (!err)
		err = tenon_array_create(items, count, &llm->weights);
	for (i = 0; i < count; i++)
		tenon_value_release(&items[i]);
	free(items);
	if (err && !path)
		tenon_error_in(err, "%s", llm->folder);
	free(path);
	return err;
}

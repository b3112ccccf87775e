/* SPDX-License-Identifier: MIT */
/* Creation of the paged key-value cache, from the 28 arguments of compiled programs. */
#include "lib/brief_errors.h"
#include "lib/slice_text.h"
#include "runtime/relax/relax_builtin_kv.h"

#define CREATE_ARGUMENTS 28
#define WINDOW_OF_LAYERS 1024 /* where the configuration does not have it */

/* Get the function of a specification: an empty array, or ["tirx" | "tir", function]. */
static int spec_argument(const struct relax_arguments *a, int32_t i, struct tenon_function **out)
{
	struct tenon_array *spec;
	struct tenon_slice word;
	int err = relax_argument_array(a, i, &spec);

	*out = NULL;
	if (err || !spec->size)
		return err;
	if (tenon_value_text(&spec->data[0], &word)) {
		tenon_error_clear();
		return relax_argument_error(a, i, -TENON_E_TYPE,
					    "expected the name of an implementation");
	}
	if (!slice_is(word, "tirx") && !slice_is(word, "tir"))
		return relax_argument_error(a, i, -TENON_E_UNSUPPORTED,
					    "attention by \"%.*s\"; supported is \"tirx\": call "
					    "create_tir_paged_kv_cache of the model instead",
					    slice_shown(word, 32), word.data);
	if (spec->size != 2 || spec->data[1].type != TENON_TYPE_FUNCTION)
		return relax_argument_error(a, i, -TENON_E_TYPE,
					    "expected one function behind \"%.*s\"", (int)word.size,
					    word.data);
	*out = (struct tenon_function *)spec->data[1].as.object;
	return 0;
}

static int read_config(const struct relax_arguments *a, struct kv_config *f)
{
	const struct {
		int64_t *to;
	} order[] = { { &f->sequences }, { &f->tokens }, { &f->chunk }, { &f->page } };
	struct tenon_shape *s, *layers, *kinds;
	size_t i;
	int err = relax_argument_shape(a, 0, &s);

	if (!err && s->size != 5 && s->size != 6)
		err = relax_argument_error(a, 0, -TENON_E_VALUE, "%zu numbers, want 5 or 6",
					   s->size);
	if (!err)
		err = relax_argument_shape(a, 1, &layers);
	if (!err && layers->size != 2)
		err = relax_argument_error(
			a, 1, -TENON_E_UNSUPPORTED,
			"%zu numbers; models on several workers are not supported", layers->size);
	if (!err)
		err = relax_argument_shape(a, 6, &kinds);
	if (err)
		return err;
	for (i = 0; i < 4; i++)
		*order[i].to = s->data[i];
	f->window = s->data[4] != 0;
	f->layer_window = s->size == 6 ? s->data[5] : WINDOW_OF_LAYERS;
	f->first_layer = layers->data[0];
	if (__builtin_sub_overflow(layers->data[1], layers->data[0], &f->layers))
		f->layers = -1;
	f->kinds = kinds->data;
	f->kind_count = kinds->size;
	return 0;
}

static int read_numbers(const struct relax_arguments *a, struct kv_config *f)
{
	int64_t transfer;
	DLTensor *like;
	int err = relax_argument_int(a, 2, &f->q_heads);

	if (!err)
		err = relax_argument_int(a, 3, &f->kv_heads);
	if (!err)
		err = relax_argument_int(a, 4, &f->dim);
	if (!err)
		err = relax_argument_int(a, 5, &f->v_dim);
	if (!err)
		err = relax_argument_int(a, 7, &transfer);
	if (!err && transfer)
		err = relax_argument_error(a, 7, -TENON_E_UNSUPPORTED,
					   "transfer of caches between machines");
	if (!err)
		err = relax_argument_int(a, 8, &f->rope);
	if (!err)
		err = relax_argument_float(a, 9, &f->rope_scale);
	if (!err)
		err = relax_argument_float(a, 10, &f->rope_theta);
	if (!err && a->args[11].type == TENON_TYPE_TENSOR)
		err = relax_argument_tensor_object(a, 11, &f->rope_factors);
	if (!err)
		err = relax_argument_any_tensor(a, 12, &like);
	if (err)
		return err;
	f->dtype = like->dtype;
	f->device = like->device;
	return 0;
}

static struct tenon_function *optional_function(const struct relax_arguments *a, int32_t i)
{
	return a->args[i].type == TENON_TYPE_FUNCTION
		       ? (struct tenon_function *)a->args[i].as.object
		       : NULL;
}

static int read_callbacks(const struct relax_arguments *a, struct kv_config *f)
{
	static const enum kv_callback specs[] = { KV_RAGGED,	     KV_PREFILL,
						  KV_DECODE,	     KV_PREFILL_SLIDING,
						  KV_DECODE_SLIDING, KV_TREE_PAGED,
						  KV_TREE_RAGGED,    KV_PREFILL_MLA };
	static const enum kv_callback functions[] = { KV_SPLIT_ROTARY, KV_COPY_PAGE, KV_DEBUG,
						      KV_COMPACT };
	struct tenon_array *merges;
	int64_t i;
	int err = 0;

	f->callbacks[KV_APPEND] = optional_function(a, 13);
	f->callbacks[KV_APPEND_MLA] = optional_function(a, 14);
	for (i = 0; i < 8 && !err; i++)
		err = spec_argument(a, 15 + (int32_t)i, &f->callbacks[specs[i]]);
	if (!err)
		err = relax_argument_array(a, 23, &merges);
	for (i = 0; !err && (i < merges->size || !i); i++)
		if (i >= merges->size || merges->data[i].type != TENON_TYPE_FUNCTION)
			err = relax_argument_error(a, 23, -TENON_E_TYPE,
						   "expected functions, at least one");
	for (i = 0; !err && i < merges->size && i < 2; i++)
		f->callbacks[i ? KV_MERGE_SECOND : KV_MERGE] =
			(struct tenon_function *)merges->data[i].as.object;
	for (i = 0; i < 4 && !err; i++)
		err = relax_argument_function(a, 24 + (int32_t)i, &f->callbacks[functions[i]]);
	return err;
}

RELAX_BUILTIN(paged_attention_kv_cache_create, CREATE_ARGUMENTS, CREATE_ARGUMENTS + 1)
{
	struct kv_config f = { 0 };
	struct kv_cache *c;
	int err;

	err = read_config(a, &f);
	if (!err)
		err = read_numbers(a, &f);
	if (!err)
		err = read_callbacks(a, &f);
	if (!err)
		err = relax_named(a, kv_cache_create(&f, &c));
	if (!err)
		*ret = tenon_arg_object(c);
	return err;
}

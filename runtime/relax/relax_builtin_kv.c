/* SPDX-License-Identifier: MIT */
/* The paged key-value cache and the recurrent state, as programs call them. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "runtime/kv/kv_cache.h"
#include "runtime/kv/rnn_state.h"
#include "runtime/relax/relax.h"
#include "runtime/relax/relax_builtin.h"

#define CREATE_ARGUMENTS 28
#define WINDOW_OF_LAYERS 1024 /* where the configuration does not have it */

#define ARGUMENTS(builtin)                                                                         \
	const struct relax_arguments a = { builtin, args, count };                                 \
                                                                                                   \
	(void)self;                                                                                \
	*ret = tenon_arg_none()

static int cache_argument(const struct relax_arguments *a, struct kv_cache **out)
{
	return relax_argument_object(a, 0, kv_cache_type(), "a paged key-value cache", out);
}

static int rnn_argument(const struct relax_arguments *a, struct rnn_state **out)
{
	return relax_argument_object(a, 0, rnn_state_type(), "a recurrent state", out);
}

static bool is_rnn(const struct relax_arguments *a)
{
	return a->count > 0 && rnn_state_type() && a->args[0].type == rnn_state_type();
}

static int named(const struct relax_arguments *a, int err)
{
	return err ? tenon_error_in(err, "%s", a->name) : 0;
}

/* ---- creation */

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
		return relax_argument_refuse(
			a, i, tenon_error(-TENON_E_TYPE, "expected the name of an implementation"));
	}
	if (!tenon_slice_equal(word, tenon_slice_of("tirx")) &&
	    !tenon_slice_equal(word, tenon_slice_of("tir")))
		return relax_argument_refuse(
			a, i,
			tenon_error(-TENON_E_UNSUPPORTED,
				    "attention by \"%.*s\"; supported is \"tirx\": call "
				    "create_tir_paged_kv_cache of the model instead",
				    (int)(word.size < 32 ? word.size : 32), word.data));
	if (spec->size != 2 || spec->data[1].type != TENON_TYPE_FUNCTION)
		return relax_argument_refuse(a, i,
					     tenon_error(-TENON_E_TYPE,
							 "expected one function behind \"%.*s\"",
							 (int)word.size, word.data));
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
		err = relax_argument_refuse(
			a, 0, tenon_error(-TENON_E_VALUE, "%zu numbers, want 5 or 6", s->size));
	if (!err)
		err = relax_argument_shape(a, 1, &layers);
	if (!err && layers->size != 2)
		err = relax_argument_refuse(
			a, 1,
			tenon_error(-TENON_E_UNSUPPORTED,
				    "%zu numbers; models on several workers are not supported",
				    layers->size));
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
		err = relax_argument_refuse(
			a, 7,
			tenon_error(-TENON_E_UNSUPPORTED, "transfer of caches between machines"));
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
			err = relax_argument_refuse(
				a, 23,
				tenon_error(-TENON_E_TYPE, "expected functions, at least one"));
	for (i = 0; !err && i < merges->size && i < 2; i++)
		f->callbacks[i ? KV_MERGE_SECOND : KV_MERGE] =
			(struct tenon_function *)merges->data[i].as.object;
	for (i = 0; i < 4 && !err; i++)
		err = relax_argument_function(a, 24 + (int32_t)i, &f->callbacks[functions[i]]);
	return err;
}

int relax_builtin_paged_attention_kv_cache_create(void *self, const struct tenon_value *args,
						  int32_t count, struct tenon_value *ret)
{
	struct kv_config f = { 0 };
	struct kv_cache *c;
	int err;
	ARGUMENTS("paged_attention_kv_cache_create");

	err = relax_arguments_count(&a, CREATE_ARGUMENTS, CREATE_ARGUMENTS + 1);
	if (!err)
		err = read_config(&a, &f);
	if (!err)
		err = read_numbers(&a, &f);
	if (!err)
		err = read_callbacks(&a, &f);
	if (!err)
		err = named(&a, kv_cache_create(&f, &c));
	if (!err)
		*ret = tenon_arg_object(c);
	return err;
}

static int read_items(const struct relax_arguments *a, int32_t i, struct tenon_array **out)
{
	int err = relax_argument_array(a, i, out);

	if (err || (*out)->size)
		return err;
	return relax_argument_refuse(a, i, tenon_error(-TENON_E_VALUE, "the tuple is empty"));
}

int relax_builtin_rnn_state_create(void *self, const struct tenon_value *args, int32_t count,
				   struct tenon_value *ret)
{
	struct rnn_config f = { 0 };
	struct rnn_state *r;
	int err;
	ARGUMENTS("rnn_state_create");

	err = relax_arguments_count(&a, 6, 6);
	if (!err)
		err = relax_argument_int(&a, 0, &f.layers);
	if (!err)
		err = relax_argument_int(&a, 1, &f.sequences);
	if (!err)
		err = relax_argument_int(&a, 2, &f.history);
	if (!err)
		err = read_items(&a, 3, &f.getters);
	if (!err)
		err = read_items(&a, 4, &f.setters);
	if (!err)
		err = read_items(&a, 5, &f.initial);
	if (!err)
		err = named(&a, rnn_state_create(&f, &r));
	if (!err)
		*ret = tenon_arg_object(r);
	return err;
}

/* ---- kv_state_*: a cache or a recurrent state */

/* Read the integer arguments behind the state. */
static int read_integers(const struct relax_arguments *a, int64_t *out, int32_t n)
{
	int32_t i;
	int err = relax_arguments_count(a, n + 1, n + 1);

	for (i = 0; i < n && !err; i++)
		err = relax_argument_int(a, 1 + i, &out[i]);
	return err;
}

int relax_builtin_kv_state_clear(void *self, const struct tenon_value *args, int32_t count,
				 struct tenon_value *ret)
{
	struct rnn_state *r;
	struct kv_cache *c;
	int err;
	ARGUMENTS("kv_state_clear");

	err = read_integers(&a, NULL, 0);
	if (!err && is_rnn(&a)) {
		err = rnn_argument(&a, &r);
		return err ? err : named(&a, rnn_state_clear(r));
	}
	if (!err)
		err = cache_argument(&a, &c);
	return err ? err : named(&a, kv_cache_clear(c));
}

int relax_builtin_kv_state_add_sequence(void *self, const struct tenon_value *args, int32_t count,
					struct tenon_value *ret)
{
	struct rnn_state *r;
	struct kv_cache *c;
	int64_t id;
	int err;
	ARGUMENTS("kv_state_add_sequence");

	err = read_integers(&a, &id, 1);
	if (!err && is_rnn(&a)) {
		err = rnn_argument(&a, &r);
		return err ? err : named(&a, rnn_state_add(r, id));
	}
	if (!err)
		err = cache_argument(&a, &c);
	return err ? err : named(&a, kv_cache_add(c, id));
}

int relax_builtin_kv_state_remove_sequence(void *self, const struct tenon_value *args,
					   int32_t count, struct tenon_value *ret)
{
	struct rnn_state *r;
	struct kv_cache *c;
	int64_t id;
	int err;
	ARGUMENTS("kv_state_remove_sequence");

	err = read_integers(&a, &id, 1);
	if (!err && is_rnn(&a)) {
		err = rnn_argument(&a, &r);
		return err ? err : named(&a, rnn_state_remove(r, id));
	}
	if (!err)
		err = cache_argument(&a, &c);
	return err ? err : named(&a, kv_cache_remove(c, id));
}

int relax_builtin_kv_state_fork_sequence(void *self, const struct tenon_value *args, int32_t count,
					 struct tenon_value *ret)
{
	struct rnn_state *r;
	struct kv_cache *c;
	int64_t n[3]; /* parent, child, position */
	int err;
	ARGUMENTS("kv_state_fork_sequence");

	err = read_integers(&a, n, 3);
	if (!err && is_rnn(&a)) {
		err = rnn_argument(&a, &r);
		return err ? err : named(&a, rnn_state_fork(r, n[0], n[1]));
	}
	if (!err)
		err = cache_argument(&a, &c);
	return err ? err : named(&a, kv_cache_fork(c, n[0], n[1], n[2]));
}

int relax_builtin_kv_state_popn(void *self, const struct tenon_value *args, int32_t count,
				struct tenon_value *ret)
{
	struct rnn_state *r;
	struct kv_cache *c;
	int64_t n[2]; /* id, count */
	int err;
	ARGUMENTS("kv_state_popn");

	err = read_integers(&a, n, 2);
	if (!err && is_rnn(&a)) {
		err = rnn_argument(&a, &r);
		return err ? err : named(&a, rnn_state_pop(r, n[0], n[1]));
	}
	if (!err)
		err = cache_argument(&a, &c);
	return err ? err : named(&a, kv_cache_pop(c, n[0], n[1]));
}

int relax_builtin_kv_state_begin_forward(void *self, const struct tenon_value *args, int32_t count,
					 struct tenon_value *ret)
{
	struct tenon_shape *ids, *lengths, *tree = NULL;
	struct rnn_state *r;
	struct kv_cache *c;
	int err;
	ARGUMENTS("kv_state_begin_forward");

	err = relax_arguments_count(&a, 3, 4);
	if (!err)
		err = relax_argument_shape(&a, 1, &ids);
	if (!err)
		err = relax_argument_shape(&a, 2, &lengths);
	if (!err && count == 4 && args[3].type != TENON_TYPE_NONE)
		err = relax_argument_shape(&a, 3, &tree);
	if (!err && ids->size != lengths->size)
		err = tenon_error(-TENON_E_VALUE,
				  "kv_state_begin_forward: %zu sequences and %zu lengths",
				  ids->size, lengths->size);
	if (!err && is_rnn(&a)) {
		err = rnn_argument(&a, &r);
		return err ? err
			   : named(&a, rnn_state_begin(r, ids->data, lengths->data, ids->size,
						       tree ? tree->data : NULL,
						       tree ? tree->size : 0));
	}
	if (!err)
		err = cache_argument(&a, &c);
	return err ? err
		   : named(&a, kv_cache_begin(c, ids->data, lengths->data, ids->size,
					      tree ? tree->data : NULL, tree ? tree->size : 0));
}

int relax_builtin_kv_state_end_forward(void *self, const struct tenon_value *args, int32_t count,
				       struct tenon_value *ret)
{
	struct rnn_state *r;
	struct kv_cache *c;
	int err;
	ARGUMENTS("kv_state_end_forward");

	err = read_integers(&a, NULL, 0);
	if (!err && is_rnn(&a)) {
		err = rnn_argument(&a, &r);
		return err ? err : named(&a, rnn_state_end(r));
	}
	/* A cache has nothing to do here. */
	return err ? err : cache_argument(&a, &c);
}

/* ---- attention_kv_cache_*: a cache alone */

int relax_builtin_attention_kv_cache_enable_sliding_window_for_seq(void *self,
								   const struct tenon_value *args,
								   int32_t count,
								   struct tenon_value *ret)
{
	struct kv_cache *c;
	int64_t n[3]; /* id, window, sink */
	int err;
	ARGUMENTS("attention_kv_cache_enable_sliding_window_for_seq");

	err = read_integers(&a, n, 3);
	if (!err)
		err = cache_argument(&a, &c);
	return err ? err : named(&a, kv_cache_set_window(c, n[0], n[1], n[2]));
}

int relax_builtin_attention_kv_cache_commit_accepted_token_tree_nodes(
	void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	struct tenon_shape *ids, *leaves;
	struct kv_cache *c;
	int err;
	ARGUMENTS("attention_kv_cache_commit_accepted_token_tree_nodes");

	err = relax_arguments_count(&a, 3, 3);
	if (!err)
		err = cache_argument(&a, &c);
	if (!err)
		err = relax_argument_shape(&a, 1, &ids);
	if (!err)
		err = relax_argument_shape(&a, 2, &leaves);
	if (!err && ids->size != leaves->size)
		err = tenon_error(-TENON_E_VALUE, "%s: %zu sequences and %zu leaves", a.name,
				  ids->size, leaves->size);
	return err ? err : named(&a, kv_cache_commit(c, ids->data, leaves->data, ids->size));
}

int relax_builtin_attention_kv_cache_empty(void *self, const struct tenon_value *args,
					   int32_t count, struct tenon_value *ret)
{
	struct kv_cache *c;
	int err;
	ARGUMENTS("attention_kv_cache_empty");

	err = read_integers(&a, NULL, 0);
	if (!err)
		err = cache_argument(&a, &c);
	if (!err)
		*ret = tenon_arg_bool(kv_cache_is_empty(c));
	return err;
}

int relax_builtin_attention_kv_cache_get_num_available_pages(void *self,
							     const struct tenon_value *args,
							     int32_t count, struct tenon_value *ret)
{
	struct kv_cache *c;
	int err;
	ARGUMENTS("attention_kv_cache_get_num_available_pages");

	err = read_integers(&a, NULL, 0);
	if (!err)
		err = cache_argument(&a, &c);
	if (!err)
		*ret = tenon_arg_int(kv_cache_free_pages(c));
	return err;
}

int relax_builtin_attention_kv_cache_get_total_sequence_length(void *self,
							       const struct tenon_value *args,
							       int32_t count,
							       struct tenon_value *ret)
{
	struct kv_cache *c;
	int err;
	ARGUMENTS("attention_kv_cache_get_total_sequence_length");

	err = read_integers(&a, NULL, 0);
	if (!err)
		err = cache_argument(&a, &c);
	if (!err)
		*ret = tenon_arg_int(kv_cache_total_length(c));
	return err;
}

int relax_builtin_attention_kv_cache_get_query_positions(void *self, const struct tenon_value *args,
							 int32_t count, struct tenon_value *ret)
{
	struct tenon_tensor *buffer, *t;
	struct kv_cache *c;
	uint64_t offset;
	int64_t n;
	int err;
	ARGUMENTS("attention_kv_cache_get_query_positions");

	err = read_integers(&a, NULL, 0);
	if (!err)
		err = cache_argument(&a, &c);
	if (!err)
		err = named(&a, kv_cache_positions(c, &buffer, &offset, &n));
	if (err)
		return err;
	tenon_object_ref(buffer);
	err = relax_tensor_create(relax_current_pool(), &buffer->object, buffer->dl.data, &n, 1,
				  buffer->dl.dtype, &t);
	if (err)
		return err;
	t->dl.device = buffer->dl.device;
	t->dl.byte_offset = buffer->dl.byte_offset + offset;
	*ret = tenon_arg_object(t);
	return 0;
}

/* Read cache, layer and scale. */
static int read_call(const struct relax_arguments *a, int32_t wanted, struct kv_cache **c,
		     int64_t *layer, double *scale)
{
	int err = relax_arguments_count(a, wanted, wanted);

	if (!err)
		err = cache_argument(a, c);
	if (!err)
		err = relax_argument_int(a, 1, layer);
	if (!err)
		err = relax_argument_float(a, 2, scale);
	return err;
}

int relax_builtin_attention_kv_cache_attention_with_fused_qkv(void *self,
							      const struct tenon_value *args,
							      int32_t count,
							      struct tenon_value *ret)
{
	struct kv_cache *c;
	int64_t layer;
	double scale;
	int err;
	ARGUMENTS("attention_kv_cache_attention_with_fused_qkv");

	err = read_call(&a, 5, &c, &layer, &scale);
	return err ? err
		   : named(&a,
			   kv_cache_attend(c, layer, scale,
					   &(struct kv_tensors){ .qkv = args[3], .out = args[4] }));
}

int relax_builtin_attention_kv_cache_attention_with_shared_kv(void *self,
							      const struct tenon_value *args,
							      int32_t count,
							      struct tenon_value *ret)
{
	struct kv_cache *c;
	int64_t layer;
	double scale;
	int err;
	ARGUMENTS("attention_kv_cache_attention_with_shared_kv");

	err = read_call(&a, 7, &c, &layer, &scale);
	return err ? err
		   : named(&a, kv_cache_attend_shared(c, layer, scale,
						      &(struct kv_tensors){ .q = args[3],
									    .k = args[4],
									    .v = args[5],
									    .out = args[6] }));
}

int relax_builtin_attention_kv_cache_self_attention(void *self, const struct tenon_value *args,
						    int32_t count, struct tenon_value *ret)
{
	struct kv_cache *c;
	int64_t layer;
	double scale;
	int err;
	ARGUMENTS("attention_kv_cache_self_attention");

	err = read_call(&a, 8, &c, &layer, &scale);
	return err ? err
		   : named(&a, kv_cache_attend_self(c, layer, scale,
						    &(struct kv_tensors){ .q = args[3],
									  .k = args[4],
									  .v = args[5],
									  .out = args[6],
									  .lse = args[7] }));
}

int relax_builtin_attention_kv_cache_cross_attention(void *self, const struct tenon_value *args,
						     int32_t count, struct tenon_value *ret)
{
	struct kv_cache *c;
	int64_t layer;
	double scale;
	int err;
	ARGUMENTS("attention_kv_cache_cross_attention");

	err = read_call(&a, 6, &c, &layer, &scale);
	return err ? err
		   : named(&a, kv_cache_attend_cross(c, layer, scale,
						     &(struct kv_tensors){ .q = args[3],
									   .out = args[4],
									   .lse = args[5] }));
}

int relax_builtin_attention_kv_cache_append_mla_kv(void *self, const struct tenon_value *args,
						   int32_t count, struct tenon_value *ret)
{
	struct kv_cache *c;
	int64_t layer;
	int err;
	ARGUMENTS("attention_kv_cache_append_mla_kv");

	err = relax_arguments_count(&a, 3, 3);
	if (!err)
		err = cache_argument(&a, &c);
	if (!err)
		err = relax_argument_int(&a, 1, &layer);
	if (!err)
		err = named(&a, kv_cache_append_mla(c, layer, &args[2]));
	return err ? err : tenon_value_own(&args[0], ret);
}

int relax_builtin_attention_kv_cache_merge_attn_output_inplace(void *self,
							       const struct tenon_value *args,
							       int32_t count,
							       struct tenon_value *ret)
{
	struct tenon_array *pair;
	struct tenon_tensor *t;
	struct kv_cache *c;
	int32_t i;
	int err;
	ARGUMENTS("attention_kv_cache_merge_attn_output_inplace");

	err = relax_arguments_count(&a, 5, 5);
	if (!err)
		err = cache_argument(&a, &c);
	for (i = 1; i < 5 && !err; i++)
		err = relax_argument_tensor_object(&a, i, &t);
	if (!err)
		err = named(&a, kv_cache_merge(c, args + 1));
	if (!err)
		err = relax_array_create(relax_current_pool(), args + 1, 2, &pair);
	if (!err)
		*ret = tenon_arg_object(pair);
	return err;
}

/* Read cache, id, start and end, and call for @n tensors. */
static int debug_get(const struct relax_arguments *a, int32_t n)
{
	struct kv_cache *c;
	int64_t at[3];
	DLTensor *t;
	int32_t i;
	int err = relax_arguments_count(a, 4 + n, 4 + n);

	if (!err)
		err = cache_argument(a, &c);
	for (i = 0; i < 3 && !err; i++)
		err = relax_argument_int(a, 1 + i, &at[i]);
	for (i = 4; i < 4 + n && !err; i++)
		err = relax_argument_any_tensor(a, i, &t);
	if (err)
		return err;
	return named(a, kv_cache_debug(c, at[0], at[1], at[2], &a->args[4],
				       n == 2 ? &a->args[5] : NULL));
}

int relax_builtin_attention_kv_cache_debug_get_kv(void *self, const struct tenon_value *args,
						  int32_t count, struct tenon_value *ret)
{
	ARGUMENTS("attention_kv_cache_debug_get_kv");
	return debug_get(&a, 2);
}

int relax_builtin_attention_kv_cache_debug_get_kv_mla(void *self, const struct tenon_value *args,
						      int32_t count, struct tenon_value *ret)
{
	ARGUMENTS("attention_kv_cache_debug_get_kv_mla");
	return debug_get(&a, 1);
}

/* ---- rnn_state_* */

static int read_place(const struct relax_arguments *a, int32_t wanted, struct rnn_state **r,
		      int64_t *layer, int64_t *k)
{
	int err = relax_arguments_count(a, wanted, wanted);

	if (!err)
		err = rnn_argument(a, r);
	if (!err)
		err = relax_argument_int(a, 1, layer);
	if (!err)
		err = relax_argument_int(a, 2, k);
	return err;
}

int relax_builtin_rnn_state_get(void *self, const struct tenon_value *args, int32_t count,
				struct tenon_value *ret)
{
	struct rnn_state *r;
	int64_t layer, k;
	int err;
	ARGUMENTS("rnn_state_get");

	err = read_place(&a, 4, &r, &layer, &k);
	if (!err)
		err = named(&a, rnn_state_get(r, layer, k, &args[3]));
	return err ? err : tenon_value_own(&args[3], ret);
}

int relax_builtin_rnn_state_set(void *self, const struct tenon_value *args, int32_t count,
				struct tenon_value *ret)
{
	struct rnn_state *r;
	int64_t layer, k;
	int err;
	ARGUMENTS("rnn_state_set");

	err = read_place(&a, 4, &r, &layer, &k);
	if (!err)
		err = named(&a, rnn_state_set(r, layer, k, &args[3]));
	return err ? err : tenon_value_own(&args[0], ret);
}

int relax_builtin_rnn_state_debug_get(void *self, const struct tenon_value *args, int32_t count,
				      struct tenon_value *ret)
{
	int64_t layer, k, id;
	struct tenon_tensor *t;
	struct rnn_state *r;
	int err;
	ARGUMENTS("rnn_state_debug_get");

	err = read_place(&a, 4, &r, &layer, &k);
	if (!err)
		err = relax_argument_int(&a, 3, &id);
	if (!err)
		err = named(&a, rnn_state_debug(r, layer, k, id, &t));
	if (!err)
		*ret = tenon_arg_object(t);
	return err;
}

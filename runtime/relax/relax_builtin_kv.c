/* SPDX-License-Identifier: MIT */
/* attention_kv_cache_*: the paged key-value cache, as programs call it. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "runtime/relax/relax_builtin_kv.h"

int relax_builtin_attention_kv_cache_enable_sliding_window_for_seq(void *self,
								   const struct tenon_value *args,
								   int32_t count,
								   struct tenon_value *ret)
{
	struct kv_cache *c;
	int64_t n[3]; /* id, window, sink */
	int err;
	ARGUMENTS("attention_kv_cache_enable_sliding_window_for_seq");

	err = relax_integers(&a, n, 3);
	if (!err)
		err = relax_kv_cache(&a, &c);
	return err ? err : relax_named(&a, kv_cache_set_window(c, n[0], n[1], n[2]));
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
		err = relax_kv_cache(&a, &c);
	if (!err)
		err = relax_argument_shape(&a, 1, &ids);
	if (!err)
		err = relax_argument_shape(&a, 2, &leaves);
	if (!err && ids->size != leaves->size)
		err = tenon_error(-TENON_E_VALUE, "%s: %zu sequences and %zu leaves", a.name,
				  ids->size, leaves->size);
	return err ? err : relax_named(&a, kv_cache_commit(c, ids->data, leaves->data, ids->size));
}

int relax_builtin_attention_kv_cache_empty(void *self, const struct tenon_value *args,
					   int32_t count, struct tenon_value *ret)
{
	struct kv_cache *c;
	int err;
	ARGUMENTS("attention_kv_cache_empty");

	err = relax_integers(&a, NULL, 0);
	if (!err)
		err = relax_kv_cache(&a, &c);
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

	err = relax_integers(&a, NULL, 0);
	if (!err)
		err = relax_kv_cache(&a, &c);
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

	err = relax_integers(&a, NULL, 0);
	if (!err)
		err = relax_kv_cache(&a, &c);
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

	err = relax_integers(&a, NULL, 0);
	if (!err)
		err = relax_kv_cache(&a, &c);
	if (!err)
		err = relax_named(&a, kv_cache_positions(c, &buffer, &offset, &n));
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
		err = relax_kv_cache(a, c);
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
		   : relax_named(&a, kv_cache_attend(c, layer, scale,
						     &(struct kv_tensors){ .qkv = args[3],
									   .out = args[4] }));
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
		   : relax_named(&a,
				 kv_cache_attend_shared(c, layer, scale,
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
		   : relax_named(&a, kv_cache_attend_self(c, layer, scale,
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
		   : relax_named(&a, kv_cache_attend_cross(c, layer, scale,
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
		err = relax_kv_cache(&a, &c);
	if (!err)
		err = relax_argument_int(&a, 1, &layer);
	if (!err)
		err = relax_named(&a, kv_cache_append_mla(c, layer, &args[2]));
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
		err = relax_kv_cache(&a, &c);
	for (i = 1; i < 5 && !err; i++)
		err = relax_argument_tensor_object(&a, i, &t);
	if (!err)
		err = relax_named(&a, kv_cache_merge(c, args + 1));
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
		err = relax_kv_cache(a, &c);
	for (i = 0; i < 3 && !err; i++)
		err = relax_argument_int(a, 1 + i, &at[i]);
	for (i = 4; i < 4 + n && !err; i++)
		err = relax_argument_any_tensor(a, i, &t);
	if (err)
		return err;
	return relax_named(a, kv_cache_debug(c, at[0], at[1], at[2], &a->args[4],
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

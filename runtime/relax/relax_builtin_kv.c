/* SPDX-License-Identifier: MIT */
/* attention_kv_cache_*: the paged key-value cache, as programs call it. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "runtime/relax/relax_builtin_kv.h"

RELAX_KV_BUILTIN(attention_kv_cache_enable_sliding_window_for_seq, 4, 4)
{
	int64_t n[3]; /* id, window, sink */
	int err = relax_integers(a, n, 3);

	return err ? err : relax_named(a, kv_cache_set_window(c, n[0], n[1], n[2]));
}

RELAX_KV_BUILTIN(attention_kv_cache_commit_accepted_token_tree_nodes, 3, 3)
{
	struct tenon_shape *ids, *leaves;
	int err;

	err = relax_argument_shape(a, 1, &ids);
	if (!err)
		err = relax_argument_shape(a, 2, &leaves);
	if (!err && ids->size != leaves->size)
		err = tenon_error(-TENON_E_VALUE, "%s: %zu sequences and %zu leaves", a->name,
				  ids->size, leaves->size);
	return err ? err : relax_named(a, kv_cache_commit(c, ids->data, leaves->data, ids->size));
}

RELAX_KV_BUILTIN(attention_kv_cache_empty, 1, 1)
{
	*ret = tenon_arg_bool(kv_cache_is_empty(c));
	return 0;
}

RELAX_KV_BUILTIN(attention_kv_cache_get_num_available_pages, 1, 1)
{
	*ret = tenon_arg_int(kv_cache_free_pages(c));
	return 0;
}

RELAX_KV_BUILTIN(attention_kv_cache_get_total_sequence_length, 1, 1)
{
	*ret = tenon_arg_int(kv_cache_total_length(c));
	return 0;
}

RELAX_KV_BUILTIN(attention_kv_cache_get_sequence_length, 2, 2)
{
	int64_t id, length;
	int err;

	err = relax_integers(a, &id, 1);
	if (!err)
		err = relax_named(a, kv_cache_length(c, id, &length));
	if (!err)
		*ret = tenon_arg_int(length);
	return err;
}

RELAX_KV_BUILTIN(attention_kv_cache_get_query_positions, 1, 1)
{
	struct tenon_tensor *buffer, *t;
	uint64_t offset;
	int64_t n;
	int err;

	err = relax_named(a, kv_cache_positions(c, &buffer, &offset, &n));
	if (!err)
		err = relax_tensor_view(buffer, offset, &n, 1, buffer->dl.dtype, &t);
	if (!err)
		*ret = tenon_arg_object(t);
	return err;
}

/* most tensors of an attention call */
#define TENSORS 5

/**
 * struct attention - a call of attention
 * @function: of the cache
 * @places: where in struct kv_tensors each tensor goes that follows cache, layer and scale
 */
struct attention {
	int (*function)(struct kv_cache *c, int64_t layer, double scale,
			const struct kv_tensors *t);
	size_t places[TENSORS];
};

#define AT(member) offsetof(struct kv_tensors, member)

static int attend(const struct relax_arguments *a, const struct attention *call)
{
	struct kv_tensors tensors = { .qkv = tenon_arg_none() };
	struct kv_cache *c;
	int64_t layer;
	double scale;
	int32_t i;
	int err = relax_kv_cache(a, &c);

	if (!err)
		err = relax_argument_int(a, 1, &layer);
	if (!err)
		err = relax_argument_float(a, 2, &scale);
	if (err)
		return err;
	for (i = 3; i < a->count; i++)
		memcpy((char *)&tensors + call->places[i - 3], &a->args[i], sizeof(a->args[i]));
	return relax_named(a, call->function(c, layer, scale, &tensors));
}

RELAX_BUILTIN(attention_kv_cache_attention_with_fused_qkv, 5, 5)
{
	static const struct attention call = { kv_cache_attend, { AT(qkv), AT(out) } };

	return attend(a, &call);
}

RELAX_BUILTIN(attention_kv_cache_attention_with_shared_kv, 7, 7)
{
	static const struct attention call = { kv_cache_attend_shared,
					       { AT(q), AT(k), AT(v), AT(out) } };

	return attend(a, &call);
}

RELAX_BUILTIN(attention_kv_cache_self_attention, 8, 8)
{
	static const struct attention call = { kv_cache_attend_self,
					       { AT(q), AT(k), AT(v), AT(out), AT(lse) } };

	return attend(a, &call);
}

RELAX_BUILTIN(attention_kv_cache_cross_attention, 6, 6)
{
	static const struct attention call = { kv_cache_attend_cross, { AT(q), AT(out), AT(lse) } };

	return attend(a, &call);
}

RELAX_KV_BUILTIN(attention_kv_cache_append_mla_kv, 3, 3)
{
	int64_t layer;
	int err;

	err = relax_argument_int(a, 1, &layer);
	if (!err)
		err = relax_named(a, kv_cache_append_mla(c, layer, &a->args[2]));
	return err ? err : tenon_value_own(&a->args[0], ret);
}

RELAX_KV_BUILTIN(attention_kv_cache_merge_attn_output_inplace, 5, 5)
{
	struct tenon_array *pair;
	struct tenon_tensor *t;
	int32_t i;
	int err = 0;

	for (i = 1; i < 5 && !err; i++)
		err = relax_argument_tensor_object(a, i, &t);
	if (!err)
		err = relax_named(a, kv_cache_merge(c, a->args + 1));
	if (!err)
		err = relax_array_create(relax_current_pool(), a->args + 1, 2, &pair);
	if (!err)
		*ret = tenon_arg_object(pair);
	return err;
}

/* Read cache, id, start and end, and call for the tensors that follow. */
static int debug_get(const struct relax_arguments *a)
{
	struct kv_cache *c;
	int64_t at[3];
	DLTensor *t;
	int32_t i;
	int err = relax_kv_cache(a, &c);

	for (i = 0; i < 3 && !err; i++)
		err = relax_argument_int(a, 1 + i, &at[i]);
	for (i = 4; i < a->count && !err; i++)
		err = relax_argument_any_tensor(a, i, &t);
	if (err)
		return err;
	return relax_named(a, kv_cache_debug(c, at[0], at[1], at[2], &a->args[4],
					     a->count > 5 ? &a->args[5] : NULL));
}

RELAX_BUILTIN(attention_kv_cache_debug_get_kv, 6, 6)
{
	return debug_get(a);
}

RELAX_BUILTIN(attention_kv_cache_debug_get_kv_mla, 5, 5)
{
	return debug_get(a);
}

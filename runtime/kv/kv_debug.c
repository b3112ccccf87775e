/* SPDX-License-Identifier: MIT */
/* Copies of a sequence's keys and values, for programs that look into a cache. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "runtime/kv/kv_internal.h"

static int debug_layers(struct kv_cache *c, const struct tenon_value *slots,
			const struct tenon_value *k, const struct tenon_value *v)
{
	struct tenon_value args[5];
	int64_t i;
	int n, err = 0;

	for (i = 0; i < c->config.layers && !err; i++) {
		n = 0;
		args[n++] = tenon_arg_object(c->page_tensors[i]);
		args[n++] = *slots;
		args[n++] = *k;
		if (v)
			args[n++] = *v;
		args[n++] = tenon_arg_int(i);
		err = kv_call(c, KV_DEBUG, args, n);
	}
	return err;
}

static void list_slots(const struct kv_cache *c, const struct kv_sequence *s, int64_t start,
		       int64_t end, int32_t *to)
{
	const struct kv_block *b;
	int64_t first, last, j, index;
	int32_t i, size = c->p.page_size;

	last = s->length;
	for (i = s->block; i != KV_NONE; i = b->parent) {
		b = &c->p.blocks[i];
		first = last - b->length;
		for (j = first > start ? first : start; j < (last < end ? last : end); j++) {
			index = kv_index(b, j - first);
			to[j - start] =
				kv_page_at(&c->p, b, index / size) * size + (int32_t)(index % size);
		}
		last = first;
	}
}

static int debug(struct kv_cache *c, int64_t id, int64_t start, int64_t end,
		 const struct tenon_value *k, const struct tenon_value *v)
{
	int64_t count = end - start;
	struct kv_sequence *s;
	struct tenon_value slots;
	int err = kv_sequence_get(&c->p, id, &s);

	if (!err && (start < 0 || end < start || end > s->length))
		err = tenon_error(-TENON_E_VALUE,
				  "tokens %" PRIi64 " to %" PRIi64 " of sequence %" PRIi64
				  ", which has %" PRIi64,
				  start, end, id, s->length);
	if (err || !count)
		return err;
	err = kv_arrays_reset(c, count + KV_ARRAY_ALIGN);
	if (err)
		return err;
	c->ready = false;
	list_slots(c, s, start, end, kv_array(c, KV_V_APPEND_SLOTS, count));
	err = kv_arrays_sync(c);
	if (!err)
		err = kv_array_view(c, KV_V_APPEND_SLOTS, &count, 1);
	slots = kv_view(c, KV_V_APPEND_SLOTS);
	return err ? err : debug_layers(c, &slots, k, v);
}

int kv_cache_debug(struct kv_cache *c, int64_t id, int64_t start, int64_t end,
		   const struct tenon_value *k, const struct tenon_value *v)
{
	int err = kv_enter(c);

	if (err)
		return err;
	err = debug(c, id, start, end, k, v);
	kv_leave(c);
	return err;
}

/* SPDX-License-Identifier: MIT */
/* kv_state_*: what programs call for a key-value cache or a recurrent state. */
#include "lib/brief_errors.h"
#include "runtime/relax/relax_builtin_kv.h"

/* The first argument of these functions: one of the two. */
struct state {
	struct rnn_state *rnn;
	struct kv_cache *cache;
};

static int get_state(const struct relax_arguments *a, struct state *out)
{
	out->rnn = NULL;
	if (rnn_state_type() && a->args[0].type == rnn_state_type())
		return relax_rnn_state(a, &out->rnn);
	return relax_kv_cache(a, &out->cache);
}

int relax_integers(const struct relax_arguments *a, int64_t *out, int32_t n)
{
	int32_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = relax_argument_int(a, 1 + i, &out[i]);
	return err;
}

/* Read the state, and the @n integers behind it. */
static int get_both(const struct relax_arguments *a, struct state *s, int64_t *out, int32_t n)
{
	int err = relax_integers(a, out, n);

	return err ? err : get_state(a, s);
}

RELAX_BUILTIN(kv_state_clear, 1, 1)
{
	struct state s;
	int err = get_state(a, &s);

	if (!err)
		err = relax_named(a, s.rnn ? rnn_state_clear(s.rnn) : kv_cache_clear(s.cache));
	return err;
}

RELAX_BUILTIN(kv_state_add_sequence, 2, 2)
{
	int64_t id;
	struct state s;
	int err = get_both(a, &s, &id, 1);

	if (!err)
		err = relax_named(a, s.rnn ? rnn_state_add(s.rnn, id) : kv_cache_add(s.cache, id));
	return err;
}

RELAX_BUILTIN(kv_state_remove_sequence, 2, 2)
{
	int64_t id;
	struct state s;
	int err = get_both(a, &s, &id, 1);

	if (!err)
		err = relax_named(a, s.rnn ? rnn_state_remove(s.rnn, id)
					   : kv_cache_remove(s.cache, id));
	return err;
}

RELAX_BUILTIN(kv_state_fork_sequence, 4, 4)
{
	int64_t n[3]; /* parent, child, position */
	struct state s;
	int err = get_both(a, &s, n, 3);

	if (!err)
		err = relax_named(a, s.rnn ? rnn_state_fork(s.rnn, n[0], n[1])
					   : kv_cache_fork(s.cache, n[0], n[1], n[2]));
	return err;
}

RELAX_BUILTIN(kv_state_popn, 3, 3)
{
	int64_t n[2]; /* id, count */
	struct state s;
	int err = get_both(a, &s, n, 2);

	if (!err)
		err = relax_named(a, s.rnn ? rnn_state_pop(s.rnn, n[0], n[1])
					   : kv_cache_pop(s.cache, n[0], n[1]));
	return err;
}

RELAX_BUILTIN(kv_state_begin_forward, 3, 4)
{
	struct tenon_shape *ids, *lengths, *tree = NULL;
	const int64_t *parents;
	struct state s;
	size_t parent_count;
	int err;

	err = relax_argument_shape(a, 1, &ids);
	if (!err)
		err = relax_argument_shape(a, 2, &lengths);
	if (!err && a->count == 4 && a->args[3].type != TENON_TYPE_NONE)
		err = relax_argument_shape(a, 3, &tree);
	if (!err && ids->size != lengths->size)
		err = tenon_error(-TENON_E_VALUE,
				  "kv_state_begin_forward: %zu sequences and %zu lengths",
				  ids->size, lengths->size);
	if (!err)
		err = get_state(a, &s);
	if (err)
		return err;
	parents = tree ? tree->data : NULL;
	parent_count = tree ? tree->size : 0;
	err = s.rnn ? rnn_state_begin(s.rnn, ids->data, lengths->data, ids->size, parents,
				      parent_count)
		    : kv_cache_begin(s.cache, ids->data, lengths->data, ids->size, parents,
				     parent_count);
	return relax_named(a, err);
}

RELAX_BUILTIN(kv_state_end_forward, 1, 1)
{
	struct state s;
	int err = get_state(a, &s);

	if (err)
		return err;
	return relax_named(a, s.rnn ? rnn_state_end(s.rnn) : kv_cache_end(s.cache));
}

/* SPDX-License-Identifier: MIT */
/* kv_state_*: what programs call for a key-value cache or a recurrent state. */
#include "lib/brief_errors.h"
#include "runtime/relax/relax_builtin_kv.h"

static bool relax_is_rnn_state(const struct relax_arguments *a)
{
	return a->count > 0 && rnn_state_type() && a->args[0].type == rnn_state_type();
}

int relax_integers(const struct relax_arguments *a, int64_t *out, int32_t n)
{
	int32_t i;
	int err = relax_arguments_count(a, n + 1, n + 1);

	for (i = 0; i < n && !err; i++)
		err = relax_argument_int(a, 1 + i, &out[i]);
	return err;
}

RELAX_BUILTIN(kv_state_clear, 0, -1)
{
	struct rnn_state *r;
	struct kv_cache *c;
	int err;

	err = relax_integers(a, NULL, 0);
	if (!err && relax_is_rnn_state(a)) {
		err = relax_rnn_state(a, &r);
		return err ? err : relax_named(a, rnn_state_clear(r));
	}
	if (!err)
		err = relax_kv_cache(a, &c);
	return err ? err : relax_named(a, kv_cache_clear(c));
}

RELAX_BUILTIN(kv_state_add_sequence, 0, -1)
{
	struct rnn_state *r;
	struct kv_cache *c;
	int64_t id;
	int err;

	err = relax_integers(a, &id, 1);
	if (!err && relax_is_rnn_state(a)) {
		err = relax_rnn_state(a, &r);
		return err ? err : relax_named(a, rnn_state_add(r, id));
	}
	if (!err)
		err = relax_kv_cache(a, &c);
	return err ? err : relax_named(a, kv_cache_add(c, id));
}

RELAX_BUILTIN(kv_state_remove_sequence, 0, -1)
{
	struct rnn_state *r;
	struct kv_cache *c;
	int64_t id;
	int err;

	err = relax_integers(a, &id, 1);
	if (!err && relax_is_rnn_state(a)) {
		err = relax_rnn_state(a, &r);
		return err ? err : relax_named(a, rnn_state_remove(r, id));
	}
	if (!err)
		err = relax_kv_cache(a, &c);
	return err ? err : relax_named(a, kv_cache_remove(c, id));
}

RELAX_BUILTIN(kv_state_fork_sequence, 0, -1)
{
	struct rnn_state *r;
	struct kv_cache *c;
	int64_t n[3]; /* parent, child, position */
	int err;

	err = relax_integers(a, n, 3);
	if (!err && relax_is_rnn_state(a)) {
		err = relax_rnn_state(a, &r);
		return err ? err : relax_named(a, rnn_state_fork(r, n[0], n[1]));
	}
	if (!err)
		err = relax_kv_cache(a, &c);
	return err ? err : relax_named(a, kv_cache_fork(c, n[0], n[1], n[2]));
}

RELAX_BUILTIN(kv_state_popn, 0, -1)
{
	struct rnn_state *r;
	struct kv_cache *c;
	int64_t n[2]; /* id, count */
	int err;

	err = relax_integers(a, n, 2);
	if (!err && relax_is_rnn_state(a)) {
		err = relax_rnn_state(a, &r);
		return err ? err : relax_named(a, rnn_state_pop(r, n[0], n[1]));
	}
	if (!err)
		err = relax_kv_cache(a, &c);
	return err ? err : relax_named(a, kv_cache_pop(c, n[0], n[1]));
}

RELAX_BUILTIN(kv_state_begin_forward, 3, 4)
{
	struct tenon_shape *ids, *lengths, *tree = NULL;
	struct rnn_state *r;
	struct kv_cache *c;
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
	if (!err && relax_is_rnn_state(a)) {
		err = relax_rnn_state(a, &r);
		return err ? err
			   : relax_named(a, rnn_state_begin(r, ids->data, lengths->data, ids->size,
							    tree ? tree->data : NULL,
							    tree ? tree->size : 0));
	}
	if (!err)
		err = relax_kv_cache(a, &c);
	return err ? err
		   : relax_named(a,
				 kv_cache_begin(c, ids->data, lengths->data, ids->size,
						tree ? tree->data : NULL, tree ? tree->size : 0));
}

RELAX_BUILTIN(kv_state_end_forward, 0, -1)
{
	struct rnn_state *r;
	struct kv_cache *c;
	int err;

	err = relax_integers(a, NULL, 0);
	if (!err && relax_is_rnn_state(a)) {
		err = relax_rnn_state(a, &r);
		return err ? err : relax_named(a, rnn_state_end(r));
	}
	/* A cache has nothing to do here. */
	return err ? err : relax_kv_cache(a, &c);
}

/* SPDX-License-Identifier: MIT */
/* rnn_state_*: the recurrent state, as programs call it. */
#include "lib/brief_errors.h"
#include "runtime/relax/relax_builtin_kv.h"

static int read_items(const struct relax_arguments *a, int32_t i, struct tenon_array **out)
{
	int err = relax_argument_array(a, i, out);

	if (err || (*out)->size)
		return err;
	return relax_argument_error(a, i, -TENON_E_VALUE, "the tuple is empty");
}

RELAX_BUILTIN(rnn_state_create, 6, 6)
{
	struct rnn_config f = { 0 };
	struct rnn_state *r;
	int err;

	err = relax_argument_int(a, 0, &f.layers);
	if (!err)
		err = relax_argument_int(a, 1, &f.sequences);
	if (!err)
		err = relax_argument_int(a, 2, &f.history);
	if (!err)
		err = read_items(a, 3, &f.getters);
	if (!err)
		err = read_items(a, 4, &f.setters);
	if (!err)
		err = read_items(a, 5, &f.initial);
	if (!err)
		err = relax_named(a, rnn_state_create(&f, &r));
	if (!err)
		*ret = tenon_arg_object(r);
	return err;
}

static int read_place(const struct relax_arguments *a, struct rnn_state **r, int64_t *layer,
		      int64_t *k)
{
	int err = relax_rnn_state(a, r);

	if (!err)
		err = relax_argument_int(a, 1, layer);
	if (!err)
		err = relax_argument_int(a, 2, k);
	return err;
}

RELAX_BUILTIN(rnn_state_get, 4, 4)
{
	struct rnn_state *r;
	int64_t layer, k;
	int err;

	err = read_place(a, &r, &layer, &k);
	if (!err)
		err = relax_named(a, rnn_state_get(r, layer, k, &a->args[3]));
	return err ? err : tenon_value_own(&a->args[3], ret);
}

RELAX_BUILTIN(rnn_state_set, 4, 4)
{
	struct rnn_state *r;
	int64_t layer, k;
	int err;

	err = read_place(a, &r, &layer, &k);
	if (!err)
		err = relax_named(a, rnn_state_set(r, layer, k, &a->args[3]));
	return err ? err : tenon_value_own(&a->args[0], ret);
}

RELAX_BUILTIN(rnn_state_debug_get, 4, 4)
{
	int64_t layer, k, id;
	struct tenon_tensor *t;
	struct rnn_state *r;
	int err;

	err = read_place(a, &r, &layer, &k);
	if (!err)
		err = relax_argument_int(a, 3, &id);
	if (!err)
		err = relax_named(a, rnn_state_debug(r, layer, k, id, &t));
	if (!err)
		*ret = tenon_arg_object(t);
	return err;
}

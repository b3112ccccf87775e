/* SPDX-License-Identifier: MIT */
/* rnn_state_*: the recurrent state, as programs call it. */
#include "lib/brief_errors.h"
#include "runtime/relax/relax_builtin_kv.h"

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
		err = relax_named(&a, rnn_state_create(&f, &r));
	if (!err)
		*ret = tenon_arg_object(r);
	return err;
}

static int read_place(const struct relax_arguments *a, int32_t wanted, struct rnn_state **r,
		      int64_t *layer, int64_t *k)
{
	int err = relax_arguments_count(a, wanted, wanted);

	if (!err)
		err = relax_rnn_state(a, r);
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
		err = relax_named(&a, rnn_state_get(r, layer, k, &args[3]));
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
		err = relax_named(&a, rnn_state_set(r, layer, k, &args[3]));
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
		err = relax_named(&a, rnn_state_debug(r, layer, k, id, &t));
	if (!err)
		*ret = tenon_arg_object(t);
	return err;
}

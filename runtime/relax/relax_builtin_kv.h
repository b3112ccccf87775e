/* SPDX-License-Identifier: MIT */
/* What the builtins of key-value caches and of recurrent states share. */
#ifndef RUNTIME_RELAX_RELAX_BUILTIN_KV_H
#define RUNTIME_RELAX_RELAX_BUILTIN_KV_H

#include "lib/error_slot.h"
#include "runtime/kv/kv_cache.h"
#include "runtime/kv/rnn_state.h"
#include "runtime/relax/relax.h"
#include "runtime/relax/relax_builtin.h"

/* Get the first argument, a key-value cache. */
static inline int relax_kv_cache(const struct relax_arguments *a, struct kv_cache **out)
{
	return relax_argument_object(a, 0, kv_cache_type(), "a paged key-value cache", out);
}

/* Define a builtin like RELAX_BUILTIN(); its first argument is a key-value cache, @c in its body. */
#define RELAX_KV_BUILTIN(builtin, least, most)                                                     \
	static int kv_##builtin(const struct relax_arguments *a, struct kv_cache *c,               \
				struct tenon_value *ret);                                          \
	RELAX_BUILTIN(builtin, least, most)                                                        \
	{                                                                                          \
		struct kv_cache *c;                                                                \
		int err = relax_kv_cache(a, &c);                                                   \
                                                                                                   \
		return err ? err : kv_##builtin(a, c, ret);                                        \
	}                                                                                          \
	static int kv_##builtin(const struct relax_arguments *a, struct kv_cache *c,               \
				struct tenon_value *ret)

/* Get the first argument, a recurrent state. */
static inline int relax_rnn_state(const struct relax_arguments *a, struct rnn_state **out)
{
	return relax_argument_object(a, 0, rnn_state_type(), "a recurrent state", out);
}

/*
 * Add the name of the builtin to an error. TVM's runtime raises InternalError for all that does not
 * fit the state of a cache.
 */
static inline int relax_named(const struct relax_arguments *a, int err)
{
	if (err == -TENON_E_VALUE || err == -TENON_E_NOT_FOUND || err == -TENON_E_EXISTS)
		error_slot_set_kind(err, "InternalError");
	return err ? tenon_error_in(err, "%s", a->name) : 0;
}

/* Read the @n integers that follow the first argument. */
int relax_integers(const struct relax_arguments *a, int64_t *out, int32_t n);

#endif /* RUNTIME_RELAX_RELAX_BUILTIN_KV_H */

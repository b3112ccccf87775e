/* SPDX-License-Identifier: MIT */
/* Register the tables of builtins as global functions. */
#include "runtime/relax/relax_builtin.h"

#include <pthread.h>

#include "lib/fork_gate.h"
#include "runtime/relax/relax_builtin_list.h"

#define ROW(name, function) { name, relax_builtin_##function },
const struct relax_builtin relax_builtins[] = { RELAX_BUILTINS_EACH(ROW){ NULL, NULL } };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool registered;

static int register_table(const struct relax_builtin *b)
{
	int err = 0;

	for (; !err && b->name; b++) {
		err = tenon_function_register_c(b->name, b->call, false);
		if (err == -TENON_E_EXISTS) {
			tenon_error_clear();
			err = 0;
		}
	}
	return err;
}

int relax_builtins_register(void)
{
	int err = 0;

	if (__atomic_load_n(&registered, __ATOMIC_ACQUIRE))
		return 0;
	fork_gate_lock(&lock);
	if (!registered)
		err = register_table(relax_builtins);
#ifdef CONFIG_LANGUAGE_MODELS
	if (!registered && !err)
		err = register_table(relax_language_builtins);
#endif
	if (!err)
		__atomic_store_n(&registered, true, __ATOMIC_RELEASE);
	fork_gate_unlock(&lock);
	return err;
}

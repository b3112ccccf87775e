/* SPDX-License-Identifier: MIT */
/* Function objects for compiled functions that need an adapter. */
#ifndef RUNTIME_LIBRARY_CALL_H
#define RUNTIME_LIBRARY_CALL_H

#include <tenon/function.h>

#include "lib/plugin_api.h"

/**
 * tvm_legacy_function_create - wrap a function that TVM 0.8 to 0.20 compiled
 * @symbol: its address
 * @keep: object that keeps the code mapped; referenced until the function is destroyed
 * @out: receives the function with one reference
 *
 * Converts arguments on the stack; up to LEGACY_ARGS_ON_STACK of them need no allocation. Refuses
 * None, NULL tensors and NULL pointers, which code of TVM 0.8 dereferences without a check. Passes
 * bool tensors {6,8} as {1,1}. A failing function yields -TENON_E_CALL with its message.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int tvm_legacy_function_create(void *symbol, struct tenon_object *keep,
			       struct tenon_function **out);

/* Like tvm_legacy_function_create(), for libraries that use workspace: a failed call frees it. */
int tvm_legacy_guarded_function_create(void *symbol, struct tenon_object *keep,
				       struct tenon_function **out);

/**
 * tvm_legacy_function_raw - get the compiled code of a function made by the two above
 * @function: any function
 * @symbol: receives the address of the compiled function
 *
 * A caller of the address must free workspace itself after a failure, and must not pass NULL.
 *
 * Return: false for other functions.
 */
#ifdef CONFIG_TVM_LEGACY
bool tvm_legacy_function_raw(const struct tenon_function *function, void **symbol)
	TO_PLUGINS(tvm_legacy_function_raw);
#else
static inline bool tvm_legacy_function_raw(const struct tenon_function *function, void **symbol)
{
	return false;
}
#endif

/* number of arguments that a legacy call converts without allocating */
#define LEGACY_ARGS_ON_STACK 16

/**
 * tvm_021_function_create - wrap a function that TVM 0.21 compiled
 *
 * Its values have today's layout, its objects do not: tensors are passed as DLTensor, strings as
 * text, and other objects are refused.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int tvm_021_function_create(void *symbol, struct tenon_object *keep, struct tenon_function **out);

/**
 * workspace_guard_function_create - create a function that frees the workspace of failed calls
 * @symbol: the compiled function; called with a NULL self
 * @keep: object that keeps the code mapped; referenced until the function is destroyed
 * @out: receives the function with one reference
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int workspace_guard_function_create(tenon_call_fn symbol, struct tenon_object *keep,
				    struct tenon_function **out);

#endif /* RUNTIME_LIBRARY_CALL_H */

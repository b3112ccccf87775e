/* SPDX-License-Identifier: MIT */
/*
 * State that a machine keeps between calls: inputs and outputs by function, and saved functions.
 * Remote clients use it, since a call cannot carry their values.
 */
#ifndef RUNTIME_RELAX_RELAX_STATE_H
#define RUNTIME_RELAX_RELAX_STATE_H

#include "runtime/core/arguments.h"
#include "runtime/relax/relax.h"

struct relax_closure;

int relax_state_create(struct relax_vm *vm);
void relax_state_free(struct relax_vm *vm);

/* Get a function stored by save_function(), borrowed; NULL if there is none. */
struct relax_closure *relax_state_saved(struct relax_vm *vm, struct tenon_slice name);

/* Functions of the module; @self is the machine. */
PACKED_CALL(relax_state_save_function);
PACKED_CALL(relax_state_set_input);
PACKED_CALL(relax_state_set_input_with_param_module);
PACKED_CALL(relax_state_invoke);
PACKED_CALL(relax_state_get_output);
PACKED_CALL(relax_state_get_output_arity);
PACKED_CALL(relax_state_get_function_arity);
PACKED_CALL(relax_state_get_function_param_name);

#endif /* RUNTIME_RELAX_RELAX_STATE_H */

/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_EXECUTOR_VM_STATE_H
#define RUNTIME_EXECUTOR_VM_STATE_H

/*
 * What a machine keeps between calls: inputs and outputs by function, and saved functions. It is how
 * a machine is used from afar, where values cannot travel with a call.
 */

#include "runtime/executor/vm.h"

struct vm_closure;

int vm_state_create(struct vm *vm);
void vm_state_free(struct vm *vm);

/* A function that save_function() kept, borrowed; NULL when there is none of the name. */
struct vm_closure *vm_state_saved(struct vm *vm, struct tenon_slice name);

/* Functions of the module; self is the machine. */
int vm_state_save_function(void *self, const struct tenon_value *args, int32_t count,
			   struct tenon_value *ret);
int vm_state_set_input(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret);
int vm_state_invoke(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret);
int vm_state_get_output(void *self, const struct tenon_value *args, int32_t count,
			struct tenon_value *ret);
int vm_state_get_output_arity(void *self, const struct tenon_value *args, int32_t count,
			      struct tenon_value *ret);
int vm_state_get_function_arity(void *self, const struct tenon_value *args, int32_t count,
				struct tenon_value *ret);
int vm_state_get_function_param_name(void *self, const struct tenon_value *args, int32_t count,
				     struct tenon_value *ret);

#endif /* RUNTIME_EXECUTOR_VM_STATE_H */

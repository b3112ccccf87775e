/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_REGISTRY_H
#define RUNTIME_CORE_REGISTRY_H

#include <tenon/function.h>

/* tenon_function_register() for a name that is not NUL-terminated. */
int registry_set(struct tenon_slice name, struct tenon_function *function, bool replace);

/* Changes with every registration; shows whether opening a library registered anything. */
uint64_t registry_generation(void);

/* Count a registration made elsewhere, whose library must stay loaded like a function's. */
void registry_changed(void);

#endif /* RUNTIME_CORE_REGISTRY_H */

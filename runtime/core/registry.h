/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_REGISTRY_H
#define RUNTIME_CORE_REGISTRY_H

#include <tenon/function.h>

/* Register under a name that no NUL ends. As tenon_function_register(). */
int registry_set(struct tenon_slice name, struct tenon_function *function, bool replace);

/* Changes with every registration: tells whether opening a library registered anything. */
uint64_t registry_generation(void);

/* Something was registered elsewhere that must live as long as a registered function. */
void registry_changed(void);

#endif /* RUNTIME_CORE_REGISTRY_H */

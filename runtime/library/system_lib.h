/* SPDX-License-Identifier: MIT */
/* Symbols of compiled code that is linked into the program, registered by its constructors. */
#ifndef RUNTIME_LIBRARY_SYSTEM_LIB_H
#define RUNTIME_LIBRARY_SYSTEM_LIB_H

#include <tenon/module.h>

/* Address registered for @name, or NULL. Any thread. */
void *system_lib_symbol(const char *name);

#endif /* RUNTIME_LIBRARY_SYSTEM_LIB_H */

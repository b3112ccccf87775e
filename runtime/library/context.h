/* SPDX-License-Identifier: MIT */
/*
 * Context symbols: pointer variables in compiled libraries, named "__" and a runtime function. The
 * loader sets those that exist before it runs the code.
 */
#ifndef RUNTIME_LIBRARY_CONTEXT_H
#define RUNTIME_LIBRARY_CONTEXT_H

#include "runtime/library/loaded_object.h"

/**
 * struct abi_context_symbol - a context variable of compiled code
 * @name: its name
 * @value: value that it is set to
 */
struct abi_context_symbol {
	struct loaded_name name;
	void *value;
};

/**
 * abi_context_symbols - list the variables of all generations, and registered ones
 *
 * Context: any thread.
 * Return: a static list that ends with a name whose text is NULL; of two entries with one name the last applies.
 */
const struct abi_context_symbol *abi_context_symbols(void);

/* Names of the variables that receive the library's handle; the last has the text NULL. */
extern const struct loaded_name abi_context_modules[];

/*
 * Register the global functions that compiled code and foreign libraries expect. Return: 0;
 * -TENON_E_NOMEM.
 */
int abi_register_globals(void);

#endif /* RUNTIME_LIBRARY_CONTEXT_H */

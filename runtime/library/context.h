/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_CONTEXT_H
#define RUNTIME_LIBRARY_CONTEXT_H

/*
 * What a loader does for compiled code before it runs: compiled libraries define pointer variables,
 * called "__" and the name of a runtime function, which are filled where they exist.
 */

/**
 * struct abi_context_symbol - a variable that compiled code may define
 * @name: its name
 * @value: what goes into it
 */
struct abi_context_symbol {
	const char *name;
	void *value;
};

/**
 * abi_context_symbols - the variables of all generations, and those that foreign code registered
 *
 * Context: any thread.
 * Return: a static list that ends with a NULL name; of two entries with
 *	one name the later counts.
 */
const struct abi_context_symbol *abi_context_symbols(void);

/* Names of the variables that receive the loader's handle of the library; NULL ends the list. */
extern const char *const abi_context_modules[];

/*
 * Register the global functions that compiled code and foreign libraries expect. 0 or
 * -TENON_E_NOMEM.
 */
int abi_register_globals(void);

#endif /* RUNTIME_LIBRARY_CONTEXT_H */

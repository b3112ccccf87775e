/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_ANY_LIST_H
#define RUNTIME_LIBRARY_ANY_LIST_H

/*
 * TVMBackendAnyList…: native functions of a Relax program (`__vmtir__…`) are given arrays of registers,
 * constants and functions, and know them by address only. The machine that calls such functions knows
 * which addresses are lists, and how many values each has.
 */

#include "lib/plugin_api.h"
#include "runtime/library/legacy_value.h"

/* arguments of one call, more than code has */
#define ANY_LIST_ARGUMENTS 256

/**
 * struct any_list_place - a place in a list
 * @value: what is there
 * @legacy: the code passes arguments as TVM 0.20 and older do
 * @scratch: where the machine keeps ANY_LIST_ARGUMENTS of them for legacy code; allocated at the first
 *	use, freed by the machine with free()
 */
struct any_list_place {
	struct tenon_value *value;
	bool legacy;
	struct legacy_scratch **scratch;
};

/**
 * any_list_find_fn - find a place in a list of the machine that runs on the calling thread
 * @list: what native code was given; NULL and wrong addresses are refused
 * @index: number of the place
 * @write: the place is going to change, which constants and functions do not
 * @out: receives the place
 *
 * Return: 0; -TENON_E_VALUE.
 */
typedef int (*any_list_find_fn)(const void *list, int index, bool write,
				struct any_list_place *out);

/* Set by the machine before it calls native code. */
void any_list_set_find(any_list_find_fn find) TO_PLUGINS(any_list_set_find);

#endif /* RUNTIME_LIBRARY_ANY_LIST_H */

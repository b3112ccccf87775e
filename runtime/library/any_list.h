/* SPDX-License-Identifier: MIT */
/*
 * TVMBackendAnyList…: native functions of a Relax program (`__vmtir__…`) receive arrays of
 * registers, constants and functions as opaque addresses. The virtual machine that calls them
 * registers a callback, which maps these addresses to lists and checks indices.
 */
#ifndef RUNTIME_LIBRARY_ANY_LIST_H
#define RUNTIME_LIBRARY_ANY_LIST_H

#include "lib/plugin_api.h"
#include "runtime/library/legacy_value.h"

/* limit on the arguments of one call; compiled code uses fewer */
#define ANY_LIST_ARGUMENTS 256

/**
 * struct any_list_place - an element of a list
 * @value: the element's value
 * @legacy: the code uses the calling convention of TVM 0.20 and older
 * @scratch: ANY_LIST_ARGUMENTS argument slots for legacy code; allocated at the first use, freed by
 * the virtual machine with free()
 */
struct any_list_place {
	struct tenon_value *value;
	bool legacy;
	struct legacy_scratch **scratch;
};

/**
 * any_list_find_fn - find a list element of the virtual machine that runs on the calling thread
 * @list: address that native code passed; NULL and wrong addresses are refused
 * @index: index in the list
 * @write: for writing; refused for constants and functions
 * @out: receives the element
 *
 * Return: 0; -TENON_E_VALUE.
 */
typedef int (*any_list_find_fn)(const void *list, int index, bool write,
				struct any_list_place *out);

/* The virtual machine sets this before it calls native code. */
void any_list_set_find(any_list_find_fn find) TO_PLUGINS(any_list_set_find);

#endif /* RUNTIME_LIBRARY_ANY_LIST_H */

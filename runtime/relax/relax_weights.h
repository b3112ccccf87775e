/* SPDX-License-Identifier: MIT */
/* Weights by name, of the process, as TVM's runtime keeps them. Any thread. */
#ifndef RUNTIME_RELAX_RELAX_WEIGHTS_H
#define RUNTIME_RELAX_RELAX_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <tenon/tensor.h>

/**
 * relax_weights_insert - add a weight
 * @name: copied
 * @t: its reference moves to the list, and is dropped on failure
 * @replace: instead of a weight of that name
 *
 * Return: 0; -TENON_E_EXISTS; -TENON_E_NOMEM.
 */
int relax_weights_insert(struct tenon_slice name, struct tenon_tensor *t, bool replace);

/** relax_weights_find - a weight, referenced; NULL for none, without an error */
struct tenon_tensor *relax_weights_find(struct tenon_slice name);

/** relax_weights_remove - drop a weight, if it is there */
void relax_weights_remove(struct tenon_slice name);

/** relax_weights_clear - drop all */
void relax_weights_clear(void);

/** relax_weights_count - how many there are */
size_t relax_weights_count(void);

/**
 * relax_weights_load - add the weights in the files of a folder (relax_weights_load.c)
 * @folder: has tensor-cache.json, or ndarray-cache.json
 * @device: where the weights are to be; on the host, files stay mapped while a weight is in them
 *
 * The list is not trusted: its sizes are checked against dtype, shape and the files.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT, -TENON_E_TRUNCATED, -TENON_E_OVERFLOW for a list or files
 *	that are malformed; -TENON_E_NOMEM; errors of @device. Weights before the failure stay.
 */
int relax_weights_load(struct tenon_slice folder, DLDevice device);

#endif /* RUNTIME_RELAX_RELAX_WEIGHTS_H */

/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_MODEL_MODEL_TUPLE_H
#define TOOLS_MODEL_MODEL_TUPLE_H

/**
 * DOC: tuples on the command line
 *
 * A function of a Relax executable may take tuples. Those that its instructions take apart are inputs of
 * their own, "t.0" and "t.1". Of others, of compiled functions above all, only the name "t" is known: the
 * arguments named t.0, t.1.0, t.1.1 … are put together to the value of the one input.
 */

#include "tools/model/model.h"

/**
 * model_tuple_input - find the input that an argument is an item of
 * @a: an argument with a name
 * @index: receives the number of the input
 *
 * Return: true when there is no input of the argument's own name, but one of its beginning.
 */
bool model_tuple_input(struct tenon_model *model, const struct argument *a, size_t *index);

/**
 * model_tuple_set - set an input to the tuple of all arguments that are items of it
 * @index: number of the input
 * @list: all arguments
 * @count: how many
 *
 * Return: 0; -TENON_E_USAGE for items that are missing or given twice; else as tenon_model_set_input().
 */
int model_tuple_set(struct tenon_model *model, size_t index, const struct argument *list,
		    size_t count);

#endif /* TOOLS_MODEL_MODEL_TUPLE_H */

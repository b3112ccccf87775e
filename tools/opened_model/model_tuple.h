/* SPDX-License-Identifier: MIT */
/* Arguments that are tuples. */
#ifndef TOOLS_OPENED_MODEL_MODEL_TUPLE_H
#define TOOLS_OPENED_MODEL_MODEL_TUPLE_H

/*
 * A function of a Relax executable may take tuples. If its instructions access the items, these are
 * separate inputs "t.0" and "t.1". Otherwise, mostly for compiled functions, only the name "t" is
 * known, and the arguments t.0, t.1.0, t.1.1 … are combined to the value of that input.
 */

#include "tools/opened_model/model.h"

/**
 * model_tuple_input - find the tuple input of an argument
 * @a: an argument with a name
 * @index: receives the index of the input
 *
 * Return: true when no input has the argument's own name, but one has the name of its tuple.
 */
bool model_tuple_input(struct tenon_model *model, const struct argument *a, size_t *index);

/**
 * model_tuple_set - build a tuple from its items' arguments and set the input
 * @index: index of the input
 * @list: all arguments
 * @count: how many
 *
 * Return: 0; -TENON_E_USAGE for missing or duplicate items; as tenon_model_set_input().
 */
int model_tuple_set(struct tenon_model *model, size_t index, const struct argument *list,
		    size_t count);

#endif /* TOOLS_OPENED_MODEL_MODEL_TUPLE_H */

/* SPDX-License-Identifier: MIT */
/* Values that the words of a command line describe. */
#ifndef TOOLS_TENSOR_ARGUMENT_H
#define TOOLS_TENSOR_ARGUMENT_H

#include "tools/tensor/spec.h"

/**
 * struct argument - one argument, output or expectation
 * @spec: the specification from the command line
 * @tensor: the tensor; NULL for other values
 * @value: a view of it
 * @on_device: copy of the tensor on a device; NULL if there is none
 */
struct argument {
	struct spec spec;
	struct tenon_tensor *tensor;
	struct tenon_value value;
	struct tenon_tensor *on_device;
};

/**
 * argument_make - make the value of a SPEC
 * @a: argument with a parsed spec, zero otherwise; release it with argument_release()
 *
 * Return: 0; otherwise as spec_tensor().
 */
int argument_make(struct argument *a);

/**
 * argument_given_before - test whether an argument of the same role has the same name
 * @list: arguments
 * @a: another one, behind them
 */
bool argument_given_before(const struct argument *list, const struct argument *a);

/** argument_release - release the tensor of an argument */
void argument_release(struct argument *a);

#endif /* TOOLS_TENSOR_ARGUMENT_H */

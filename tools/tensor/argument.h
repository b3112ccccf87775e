/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TENSOR_ARGUMENT_H
#define TOOLS_TENSOR_ARGUMENT_H

/** DOC: from a SPEC to a value */

#include "tools/tensor/spec.h"

/**
 * struct argument - one argument, output or expectation
 * @spec: the specification from the command line
 * @tensor: the tensor, where it is one; NULL elsewhere
 * @value: a view of it
 * @on_device: the tensor's place on another device than the processor; NULL
 */
struct argument {
	struct spec spec;
	struct tenon_tensor *tensor;
	struct tenon_value value;
	struct tenon_tensor *on_device;
};

/**
 * argument_make - make the value that a SPEC asks for
 * @a: argument whose spec was parsed and whose rest is zero; released with argument_release()
 *
 * Return: 0; else as spec_tensor().
 */
int argument_make(struct argument *a);

/** argument_release - drop the tensor of an argument */
void argument_release(struct argument *a);

#endif /* TOOLS_TENSOR_ARGUMENT_H */

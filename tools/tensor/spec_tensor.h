/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TENSOR_SPEC_TENSOR_H
#define TOOLS_TENSOR_SPEC_TENSOR_H

/** DOC: from a SPEC to a tensor */

#include "tools/tensor/spec.h"

/**
 * spec_tensor - make the tensor that a SPEC asks for
 * @spec: a SPEC of the forms SPEC_FILE and SPEC_TENSOR
 * @out: receives it with one reference
 *
 * Return: 0; -TENON_E_USAGE for numbers that do not fit; -TENON_E_VALUE for a file that does not;
 *	-TENON_E_IO, -TENON_E_FORMAT, -TENON_E_TRUNCATED, -TENON_E_UNSUPPORTED for one that cannot be
 *	read; -TENON_E_NOMEM.
 */
int spec_tensor(const struct spec *spec, struct tenon_tensor **out);

/**
 * spec_random - the numbers that random:SEED stands for
 * @data: @count elements, lanes counted one by one
 * @dtype: their type
 *
 * Element i is made from splitmix64 of SEED + i, so it is the same on every machine. Real numbers are
 * uniform in [-1, 1), integers in [-128, 127], unsigned ones in [0, 255], or in the type's own range
 * where that is smaller.
 */
void spec_random(void *data, uint64_t count, DLDataType dtype, uint64_t seed);

#endif /* TOOLS_TENSOR_SPEC_TENSOR_H */

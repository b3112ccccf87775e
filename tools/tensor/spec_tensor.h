/* SPDX-License-Identifier: MIT */
/* Converting a SPEC to a tensor. */
#ifndef TOOLS_TENSOR_SPEC_TENSOR_H
#define TOOLS_TENSOR_SPEC_TENSOR_H

#include "tools/tensor/spec.h"

/**
 * spec_tensor - make the tensor of a SPEC
 * @spec: a SPEC of the forms SPEC_FILE and SPEC_TENSOR
 * @out: receives the tensor with one reference
 *
 * Return: 0; -TENON_E_USAGE for numbers that do not fit; -TENON_E_VALUE for a file that does not;
 *	-TENON_E_IO, -TENON_E_FORMAT, -TENON_E_TRUNCATED, -TENON_E_UNSUPPORTED for one that cannot be
 *	read; -TENON_E_NOMEM.
 */
int spec_tensor(const struct spec *spec, struct tenon_tensor **out);

/**
 * spec_random - generate the numbers of random:SEED
 * @data: @count elements, counting lanes
 * @dtype: element type
 *
 * Element i is derived from splitmix64 of SEED + i, so it is the same on every machine. Real
 * numbers are uniform in [-1, 1), integers in [-128, 127], unsigned ones in [0, 255], or in the
 * dtype's own range where that is smaller.
 */
void spec_random(void *data, uint64_t count, DLDataType dtype, uint64_t seed);

#endif /* TOOLS_TENSOR_SPEC_TENSOR_H */

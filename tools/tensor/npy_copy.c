/* SPDX-License-Identifier: MIT */
/* Copy an array to a tensor, in other orders of bytes and dimensions. */
#include <string.h>

#include "tools/tensor/npy.h"

static void swap_bytes(uint8_t *data, uint64_t count, size_t size)
{
	for (; count; count--, data += size) {
		for (size_t i = 0; i < size / 2; i++) {
			uint8_t byte = data[i];

			data[i] = data[size - 1 - i];
			data[size - 1 - i] = byte;
		}
	}
}

/* Walk the file in its order; each step moves by a known stride in the output. */
static void copy_fortran(const struct npy *npy, uint8_t *to, size_t size)
{
	const uint8_t *from = (const uint8_t *)npy->data.data;
	uint64_t step[NPY_DIMENSIONS], at = 0;
	int64_t index[NPY_DIMENSIONS] = { 0 };

	for (int32_t i = npy->head.ndim - 1; i >= 0; i--)
		step[i] = i == npy->head.ndim - 1 ? 1
						  : step[i + 1] * (uint64_t)npy->head.shape[i + 1];
	for (uint64_t n = 0; n < npy->head.elements; n++, from += size) {
		memcpy(to + at * size, from, size);
		for (int32_t i = 0; i < npy->head.ndim; i++) {
			at += step[i];
			if (++index[i] < npy->head.shape[i])
				break;
			at -= step[i] * (uint64_t)npy->head.shape[i];
			index[i] = 0;
		}
	}
}

void npy_copy(const struct npy *npy, void *to)
{
	size_t size = npy->dtype.bits / 8;
	bool complex = npy->dtype.code == TENON_DTYPE_COMPLEX;

	if (!npy->head.elements)
		return;
	if (npy->head.fortran && npy->head.ndim > 1)
		copy_fortran(npy, to, size);
	else
		memcpy(to, npy->data.data, npy->data.size);
	if (npy->swapped)
		swap_bytes(to, npy->head.elements * (complex ? 2 : 1), complex ? size / 2 : size);
}

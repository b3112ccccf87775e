/* SPDX-License-Identifier: MIT */
/* Read what stands before the elements in array files of numpy, versions 1.0 to 3.0. */
#ifndef LIB_NPY_HEADER_H
#define LIB_NPY_HEADER_H

#include <tenon/backend/cursor.h>

/* largest number of dimensions of a tensor */
#define NPY_DIMENSIONS 64

/* limits: bytes before a header's text, and bytes of a header; numpy itself stops at 10 000 */
#define NPY_LEAST	12
#define NPY_HEADER_MOST (1 << 20)

/**
 * struct npy_header - what an array file says of its elements
 * @type: numpy's name of their type, "<f4": order of bytes, kind, size; a slice of the file
 * @ndim: number of dimensions
 * @shape: extents
 * @elements: product of the extents
 * @fortran: column-major order: the first index changes fastest
 */
struct npy_header {
	struct tenon_slice type;
	int32_t ndim;
	int64_t shape[NPY_DIMENSIONS];
	uint64_t elements;
	bool fortran;
};

/** npy_is - test for the magic number of array files */
bool npy_is(struct tenon_slice bytes);

/**
 * npy_header_size - read what stands before the text of the header
 * @c: the file; moved to the text
 * @size: bytes of the text, NPY_HEADER_MOST at most
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_UNSUPPORTED for another version.
 */
int npy_header_size(struct tenon_cursor *c, uint32_t *size);

/**
 * npy_header_read - read the header
 * @c: the file; moved to the elements
 * @out: receives what it says. Any type is accepted but records.
 *
 * Return: 0; as npy_header_size(); -TENON_E_UNSUPPORTED for records, and more dimensions than NPY_DIMENSIONS;
 *	-TENON_E_OVERFLOW for more elements than 64 bits can count.
 */
int npy_header_read(struct tenon_cursor *c, struct npy_header *out);

#endif /* LIB_NPY_HEADER_H */

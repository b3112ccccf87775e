/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TENSOR_NPY_H
#define TOOLS_TENSOR_NPY_H

/**
 * DOC: .npy files
 *
 * numpy's array files, versions 1.0 to 3.0, in either order of elements and of bytes. numpy has no
 * word for some dtypes: they are kept as unsigned integers of the same size (bfloat16 as uint16),
 * those of fewer than eight bits as one byte each, and what is read says by its type what it is.
 */

#include <tenon/buffer.h>
#include <tenon/tensor.h>

/* as many dimensions as a tensor can have here */
#define NPY_DIMENSIONS 64

/**
 * struct npy - an array file, read
 * @dtype: its elements; {TENON_DTYPE_HANDLE, 8 * bytes} for numpy's raw bytes ("V2"), which say
 *	nothing but their size
 * @raw: they are raw bytes
 * @ndim: number of dimensions
 * @shape: their extents
 * @elements: product of the extents
 * @data: the elements as they lie in the file; part of the bytes the file was read from
 * @fortran: the first index runs fastest
 * @swapped: each number has its highest byte first
 */
struct npy {
	DLDataType dtype;
	bool raw;
	int32_t ndim;
	int64_t shape[NPY_DIMENSIONS];
	uint64_t elements;
	struct tenon_slice data;
	bool fortran;
	bool swapped;
};

/** npy_is - do bytes begin as an array file does */
bool npy_is(struct tenon_slice bytes);

/**
 * npy_read - read an array file
 * @bytes: the file's content; must outlive @out
 * @name: what errors call it
 * @out: receives what it says
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_UNSUPPORTED for a dtype that has no place
 *	in a tensor (strings, dates, records, long double); -TENON_E_OVERFLOW.
 */
int npy_read(struct tenon_slice bytes, const char *name, struct npy *out);

/* bytes in front of a header's text, and bytes of a header; numpy itself stops at 10 000 */
#define NPY_LEAST	12
#define NPY_HEADER_MOST (1 << 20)

/** npy_read_head - npy_read() of shape and type alone: the data need not be there */
int npy_read_head(struct tenon_slice bytes, const char *name, struct npy *out);

/**
 * npy_wanted - how long an array file is, as far as its first bytes tell
 * @have: what was read of it
 *
 * Return: the size to read on to; 0 when npy_read() refuses the head, so that no more need be read.
 */
uint64_t npy_wanted(struct tenon_slice have);

/**
 * npy_copy - copy the elements in row-major order with the lowest byte first
 * @npy: an array
 * @to: room for @npy->elements times the bytes of one
 */
void npy_copy(const struct npy *npy, void *to);

/**
 * npy_write - write a tensor to an array file, whole or not at all
 * @path: the file
 * @dl: a compact tensor in CPU memory
 *
 * Lanes become a last dimension.
 *
 * Return: 0; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM; -TENON_E_IO.
 */
int npy_write(const char *path, const DLTensor *dl);

#endif /* TOOLS_TENSOR_NPY_H */

/* SPDX-License-Identifier: MIT */
/* Arrays of numpy, read and written. */
#ifndef TOOLS_TENSOR_NPY_H
#define TOOLS_TENSOR_NPY_H

/*
 * numpy's array files, versions 1.0 to 3.0, in either order of elements and bytes. numpy lacks some
 * dtypes: these are stored as unsigned integers of the same size (bfloat16 as uint16), and those of
 * fewer than eight bits as one byte each. The reader of the file must know their dtype.
 */

#include <tenon/buffer.h>
#include <tenon/tensor.h>

#include "lib/npy_header.h"

#define NPY_HOST_IS_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/**
 * struct npy - a parsed array file
 * @head: shape, order, and numpy's name of the type
 * @dtype: element type; {TENON_DTYPE_HANDLE, 8 * bytes} for numpy's raw bytes ("V2"), which state
 * only a size
 * @raw: the elements are raw bytes
 * @data: the elements in file order; a slice of the file's bytes
 * @swapped: the bytes of numbers are in the other order than on this machine
 */
struct npy {
	struct npy_header head;
	DLDataType dtype;
	bool raw;
	struct tenon_slice data;
	bool swapped;
};

/**
 * npy_read - read an array file
 * @bytes: the file's bytes; must outlive @out
 * @name: name for messages
 * @out: receives the description
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_UNSUPPORTED for a dtype that tensors
 * lack (strings, dates, records, long double); -TENON_E_OVERFLOW.
 */
int npy_read(struct tenon_slice bytes, const char *name, struct npy *out);

/** npy_read_head - npy_read() of shape and dtype only: the data may be missing */
int npy_read_head(struct tenon_slice bytes, const char *name, struct npy *out);

/**
 * npy_wanted - size of an array file, from its first bytes
 * @have: the bytes read so far
 *
 * Return: the size to read up to; 0 when npy_read() refuses the header, so that reading can stop.
 */
uint64_t npy_wanted(struct tenon_slice have);

/**
 * npy_copy - copy the elements in row-major order, bytes in the order of this machine
 * @npy: an array
 * @to: buffer for @npy->elements elements
 */
void npy_copy(const struct npy *npy, void *to);

/**
 * struct npy_bytes - an array file, before it is written
 * @header: what stands before the data
 * @data: elements in the order of the file: those of the tensor, or @unpacked
 * @unpacked: elements of fewer than eight bits, one byte each; NULL for others
 */
struct npy_bytes {
	struct tenon_buffer header;
	struct tenon_slice data;
	uint8_t *unpacked;
};

/**
 * npy_bytes_make - make the bytes of an array file
 * @dl: a compact tensor in CPU memory; must outlive @out
 * @out: receives them; free it with npy_bytes_fini(), also on failure
 *
 * Return: 0; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM.
 */
int npy_bytes_make(const DLTensor *dl, struct npy_bytes *out);
void npy_bytes_fini(struct npy_bytes *bytes);

/**
 * npy_write - write a tensor to an array file, atomically
 * @path: the file
 * @dl: a compact tensor in CPU memory
 * @in_folder: the name comes from an input: a link with this name is replaced, not followed
 *
 * Lanes become a last dimension.
 *
 * Return: 0; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM; -TENON_E_IO.
 */
int npy_write(const char *path, const DLTensor *dl, bool in_folder);

#endif /* TOOLS_TENSOR_NPY_H */

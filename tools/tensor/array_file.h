/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TENSOR_ARRAY_FILE_H
#define TOOLS_TENSOR_ARRAY_FILE_H

/** DOC: tensors out of files */

#include <tenon/tensor.h>

/**
 * array_file_tensor - make a tensor of an array file
 * @path: a .npy file, that says shape and type
 * @out: receives it with one reference
 *
 * Return: 0; else as spec_tensor().
 */
int array_file_tensor(const char *path, struct tenon_tensor **out);

/**
 * array_file_bytes - make a tensor of an array file's content
 * @bytes: the content; not needed afterwards
 * @name: what errors call it
 * @out: receives it with one reference
 *
 * Return: 0; else as spec_tensor().
 */
int array_file_bytes(struct tenon_slice bytes, const char *name, struct tenon_tensor **out);

/**
 * array_file_load - fill a tensor from a file
 * @path: raw bytes of just the tensor's size; or a .npy file of its shape, whose elements have the
 *	size of the tensor's and are taken for such without conversion. Elements of fewer than eight
 *	bits are one byte each in a .npy file.
 * @dl: a compact tensor in CPU memory
 *
 * Return: 0; else as spec_tensor().
 */
int array_file_load(const char *path, const DLTensor *dl);

#endif /* TOOLS_TENSOR_ARRAY_FILE_H */

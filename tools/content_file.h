/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CONTENT_FILE_H
#define TOOLS_CONTENT_FILE_H

/** DOC: tensors out of files */

#include <tenon/tensor.h>

/**
 * content_array_file - make a tensor of an array file
 * @path: a .npy file, that says shape and type
 * @out: receives it with one reference
 *
 * Return: 0; else as content_tensor().
 */
int content_array_file(const char *path, struct tenon_tensor **out);

/**
 * content_array_bytes - make a tensor of an array file's content
 * @bytes: the content; not needed afterwards
 * @name: what errors call it
 * @out: receives it with one reference
 *
 * Return: 0; else as content_tensor().
 */
int content_array_bytes(struct tenon_slice bytes, const char *name, struct tenon_tensor **out);

/**
 * content_load - fill a tensor from a file
 * @path: raw bytes of just the tensor's size; or a .npy file of its shape, whose elements have the
 *	size of the tensor's and are taken for such without conversion. Elements of fewer than eight
 *	bits are one byte each in a .npy file.
 * @dl: a compact tensor in CPU memory
 *
 * Return: 0; else as content_tensor().
 */
int content_load(const char *path, const DLTensor *dl);

#endif /* TOOLS_CONTENT_FILE_H */

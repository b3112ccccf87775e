/* SPDX-License-Identifier: MIT */
/* Tensors in files: .npy, or raw bytes. */
#ifndef TOOLS_TENSOR_ARRAY_FILE_H
#define TOOLS_TENSOR_ARRAY_FILE_H

#include <tenon/tensor.h>

/**
 * array_file_tensor - make a tensor of an array file
 * @path: a .npy file, which states shape and type
 * @out: receives the tensor with one reference
 *
 * Return: 0; otherwise as spec_tensor().
 */
int array_file_tensor(const char *path, struct tenon_tensor **out);

/**
 * array_file_bytes - make a tensor of the bytes of an array file
 * @bytes: the bytes; not needed afterwards
 * @name: name for messages
 * @out: receives the tensor with one reference
 *
 * Return: 0; otherwise as spec_tensor().
 */
int array_file_bytes(struct tenon_slice bytes, const char *name, struct tenon_tensor **out);

/**
 * array_file_load - fill a tensor from a file
 * @path: a file of raw bytes with exactly the tensor's size; or a .npy file of its shape, whose
 * elements have the same size and are used without conversion. Elements of fewer than eight bits
 * take one byte each in a .npy file.
 * @dl: a compact tensor in CPU memory
 *
 * Return: 0; else as spec_tensor().
 */
int array_file_load(const char *path, const DLTensor *dl);

/**
 * array_file_write - write a tensor, atomically
 * @path: the file: .npy for an array file, otherwise raw bytes
 * @dl: a compact tensor in CPU memory
 *
 * Return: 0; -TENON_E_IO; -TENON_E_NOMEM; -TENON_E_UNSUPPORTED.
 */
int array_file_write(const char *path, const DLTensor *dl);

#endif /* TOOLS_TENSOR_ARRAY_FILE_H */

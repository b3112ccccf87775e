/* SPDX-License-Identifier: MIT */
/* Files of several arrays. */
#ifndef TOOLS_TENSOR_NPZ_H
#define TOOLS_TENSOR_NPZ_H

/*
 * numpy's files of several arrays: a zip of .npy files, stored or deflated. The name of an array is
 * that of its entry without ".npy"; names may contain slashes.
 */

#include <tenon/params.h>

/* what the arrays may have together: so many bytes, or so many for each of the file */
#define NPZ_BYTES_MOST (UINT64_C(64) << 20)
#define NPZ_RATIO_MOST 32

/**
 * struct npz - the arrays of a file
 * @params: names and data for tenon_params_write(); borrowed from the fields below
 * @tensors: one tensor each, referenced
 * @names: one name each
 * @count: how many
 */
struct npz {
	struct tenon_param *params;
	struct tenon_tensor **tensors;
	char **names;
	size_t count;
};

/**
 * npz_read - read all arrays of a file
 * @path: the file
 * @out: receives the arrays in the file's order; free it with npz_fini(), also on failure
 *
 * Memory is twice what the arrays have, which is limited by the size of the file.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT for a file that is not a zip, is damaged, or contains
 * anything but arrays; -TENON_E_EXISTS for a duplicate name; -TENON_E_UNSUPPORTED for entries that
 * are encrypted or use another compression; -TENON_E_OVERFLOW for more bytes than NPZ_BYTES_MOST
 * and NPZ_RATIO_MOST times the file's; -TENON_E_NOMEM; as npy_read().
 */
int npz_read(const char *path, struct npz *out);
void npz_fini(struct npz *npz);

/**
 * npz_write - write arrays to a file, atomically
 * @path: the file
 * @params: names, and compact tensors in CPU memory
 * @count: how many
 *
 * Elements are stored as npy_write() does. Memory is that of the file once more.
 *
 * Return: 0; -TENON_E_UNSUPPORTED for a dtype; -TENON_E_VALUE; -TENON_E_NOMEM; -TENON_E_IO.
 */
int npz_write(const char *path, const struct tenon_param *params, size_t count);

#endif /* TOOLS_TENSOR_NPZ_H */

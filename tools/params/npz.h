/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_PARAMS_NPZ_H
#define TOOLS_PARAMS_NPZ_H

/**
 * DOC: .npz files
 *
 * numpy's files of several arrays: a zip of .npy files, stored or deflated. An array is called what
 * its entry is called, without ".npy"; names may have slashes.
 */

#include <tenon/params.h>

/**
 * struct npz - the arrays of a file
 * @params: their names and contents, as tenon_params_write() wants them; borrowed from the rest
 * @tensors: of each, referenced
 * @names: of each
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
 * @out: receives them in the file's order; free it with npz_fini(), also on failure
 *
 * Memory is bounded by what the file's bytes can hold when unpacked, not by what it promises.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT for what is no zip, is damaged, or holds anything but
 *	arrays; -TENON_E_EXISTS for a name that comes twice; -TENON_E_UNSUPPORTED for entries that
 *	are encrypted or packed otherwise; -TENON_E_NOMEM; as npy_read().
 */
int npz_read(const char *path, struct npz *out);
void npz_fini(struct npz *npz);

#endif /* TOOLS_PARAMS_NPZ_H */

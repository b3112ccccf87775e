/* SPDX-License-Identifier: MIT */
/* Files of parameters in all formats that the command reads. */
#ifndef TOOLS_TENSOR_PARAMS_FILE_H
#define TOOLS_TENSOR_PARAMS_FILE_H

#include <tenon/params.h>

/**
 * params_file_open - open a file of parameters, or the files of a folder
 * @path: as tenon_params_open() takes it, or numpy's .npz, whose arrays are read into memory
 * @out: receives the parameters with one reference
 *
 * Return: as tenon_params_open(), but -TENON_E_FORMAT for types of elements that no tensor has; as
 * npz_read().
 */
int params_file_open(const char *path, struct tenon_params **out);

#endif /* TOOLS_TENSOR_PARAMS_FILE_H */

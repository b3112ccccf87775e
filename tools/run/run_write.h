/* SPDX-License-Identifier: MIT */
/* Write one output to a file */
#ifndef TOOLS_RUN_RUN_WRITE_H
#define TOOLS_RUN_RUN_WRITE_H

#include <tenon/tensor.h>

/**
 * run_write - write an output, atomically
 * @path: output file: .npy for an array file, otherwise raw bytes
 * @dl: a compact tensor in CPU memory
 *
 * Return: 0; -TENON_E_IO; -TENON_E_NOMEM; -TENON_E_UNSUPPORTED.
 */
int run_write(const char *path, const DLTensor *dl);

#endif /* TOOLS_RUN_RUN_WRITE_H */

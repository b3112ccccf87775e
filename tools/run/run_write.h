/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_RUN_RUN_WRITE_H
#define TOOLS_RUN_RUN_WRITE_H

#include <tenon/tensor.h>

/**
 * run_write - write an output, whole or not at all
 * @path: an array file when it ends in .npy, else the tensor's bytes
 * @dl: a compact tensor in CPU memory
 *
 * Return: 0; -TENON_E_IO; -TENON_E_NOMEM; -TENON_E_UNSUPPORTED.
 */
int run_write(const char *path, const DLTensor *dl);

#endif /* TOOLS_RUN_RUN_WRITE_H */

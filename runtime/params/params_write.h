/* SPDX-License-Identifier: MIT */
/* What the writers of parameter files share. */
#ifndef RUNTIME_PARAMS_PARAMS_WRITE_H
#define RUNTIME_PARAMS_PARAMS_WRITE_H

#include "runtime/model/params.h"

/** params_check_data - check that a tensor is compact, in CPU memory, with elements of one lane */
int params_check_data(const struct tenon_param *p);

/** params_check_bytes - check that a parameter has as many bytes as its shape wants */
int params_check_bytes(const struct tenon_param *p, uint64_t want);

/**
 * params_swap_parts - let parts of a file be copies in the byte order of files
 * @path: for messages
 * @params: @count parameters
 * @parts: their data, each @stride parts behind the one before
 * @swapped: receives the copies, for file_map_close(); unchanged on little-endian machines
 *
 * Return: 0; -TENON_E_OVERFLOW; -TENON_E_NOMEM.
 */
int params_swap_parts(const char *path, const struct tenon_param *params, size_t count,
		      struct tenon_slice *parts, size_t stride, struct tenon_slice *swapped);

#endif /* RUNTIME_PARAMS_PARAMS_WRITE_H */

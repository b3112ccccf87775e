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
 * params_check_each - check the alignment that is asked for, and each parameter by the rules of a format
 * @params: @count parameters
 * @count: how many
 * @align: a power of two, or 0
 * @check: the rules; the name of the parameter is put before its message
 *
 * Return: 0; -TENON_E_VALUE for the alignment; the first status of @check that is not 0.
 */
int params_check_each(const struct tenon_param *params, size_t count, size_t align,
		      int (*check)(const struct tenon_param *p));

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

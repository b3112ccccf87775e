/* SPDX-License-Identifier: MIT */
#ifndef TENON_PARAMS_H
#define TENON_PARAMS_H

/**
 * DOC: parameters
 *
 * A `.params` file holds named tensors. Opening it reads names and headers and maps the data: each
 * parameter is a slice of the mapping. A tensor is copied only when its data is not aligned for
 * compiled code; tenon_params_write() can align a file so that no copies are needed. Numbers in the
 * file are little-endian; on a big-endian machine opening it copies the data.
 *
 * The format has no padding, so an aligned file has small filler tensors between the others. TVM
 * reads them as parameters that no graph uses; Tenon does not list them.
 */

#include <tenon/export.h>
#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_param - one parameter
 * @name: its name
 * @tensor: compact CPU tensor; data, shape and name are valid as long as the struct tenon_params.
 *	The data may be unaligned and is read-only.
 * @bytes: size of the data
 * @offset: offset of the data in the file
 *
 * The data has the byte order of this machine.
 */
struct tenon_param {
	struct tenon_slice name;
	DLTensor tensor;
	size_t bytes;
	uint64_t offset;
};

/** struct tenon_params - named tensors; a counted object, released with tenon_object_unref() */
struct tenon_params;

/**
 * tenon_params_open - map a file of parameters
 * @path: a `.params` file; or a file with one tensor, which gets the name ""
 * @out: receives the parameters with one reference
 *
 * If the file is truncated while it is being opened, this fails. If it is truncated later, access
 * to the missing data through the mapping (data of a parameter, a tensor in place) raises SIGBUS;
 * tenon_params_load() returns an error instead. So replace such files by renaming.
 *
 * Context: any thread.
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_OVERFLOW; -TENON_E_NOMEM.
 */
TENON_API int tenon_params_open(const char *path, struct tenon_params **out);

/**
 * tenon_params_read - read parameters from memory
 * @bytes: bytes of a `.params` file, or of a file with one tensor
 * @keep: object that keeps the bytes alive; referenced; NULL when they outlive the parameters
 * @name: name of the bytes in messages
 * @out: receives the parameters with one reference
 *
 * Return: as tenon_params_open(), without -TENON_E_IO.
 */
TENON_API int tenon_params_read(struct tenon_slice bytes, struct tenon_object *keep,
				const char *name, struct tenon_params **out);

/** tenon_params_count - number of parameters, without padding */
TENON_API size_t tenon_params_count(const struct tenon_params *params);

/**
 * tenon_params_at - get a parameter by number
 * @params: parameters
 * @index: below tenon_params_count()
 *
 * Return: the parameter, valid as long as @params; NULL for an index out of range.
 */
TENON_API const struct tenon_param *tenon_params_at(const struct tenon_params *params,
						    size_t index);

/**
 * tenon_params_find - find a parameter by name; of equal names the last one
 * @params: parameters
 * @name: name of the parameter
 *
 * Return: the parameter, valid as long as @params; NULL for none.
 */
TENON_API const struct tenon_param *tenon_params_find(const struct tenon_params *params,
						      struct tenon_slice name);

/**
 * tenon_params_load - copy a parameter's data
 * @params: parameters
 * @param: one of them
 * @to: buffer of @param->bytes bytes
 *
 * Data of a file is read with pread() instead of through the mapping, so that it is not in memory
 * twice.
 *
 * Return: 0; -TENON_E_IO.
 */
TENON_API int tenon_params_load(struct tenon_params *params, const struct tenon_param *param,
				void *to);

/**
 * tenon_params_tensor - create a tensor from a parameter
 * @params: parameters
 * @param: one of them
 * @align: required alignment of the data in bytes; 0 for any
 * @out: receives the tensor with one reference; it uses the data in place if aligned, else a copy
 *
 * Return: 0; -TENON_E_IO; -TENON_E_NOMEM.
 */
TENON_API int tenon_params_tensor(struct tenon_params *params, const struct tenon_param *param,
				  size_t align, struct tenon_tensor **out);

/**
 * tenon_params_write - write a file of parameters atomically
 * @path: the file
 * @params: @count parameters; only name, dtype, shape and data are used
 * @count: number of parameters
 * @align: alignment of the data in bytes, a power of two; 0 or 1 for the unaligned layout
 *
 * Return: 0; -TENON_E_VALUE for a tensor that the format cannot hold (not compact, vector elements,
 *	not in CPU memory) or an alignment that is not a power of two; -TENON_E_IO;
 *	-TENON_E_OVERFLOW for more data than memory can hold twice, which only big-endian machines
 *	need; -TENON_E_NOMEM.
 */
TENON_API int tenon_params_write(const char *path, const struct tenon_param *params, size_t count,
				 size_t align);

#ifdef __cplusplus
}
#endif

#endif /* TENON_PARAMS_H */

/* SPDX-License-Identifier: MIT */
#ifndef TENON_PARAMS_H
#define TENON_PARAMS_H

/**
 * DOC: parameters
 *
 * A `.params` file holds named tensors. Its names and headers are read, and its data is mapped: each parameter
 * is a slice of the mapping, and opening the file costs what its headers cost. A tensor is copied only when its data does not lie
 * where compiled code needs it; tenon_params_write() lays a file out so that none has to be.
 *
 * The format has no room for padding, so the aligned layout puts small tensors of its own between
 * the others. TVM reads them as parameters that no graph asks for; here they are not listed.
 */

#include <tenon/export.h>
#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_param - one parameter
 * @name: its name
 * @tensor: compact CPU tensor; data, shape and name live as long as the struct tenon_params. The
 *	data may be anywhere, and must not be written to.
 * @bytes: size of the data
 * @offset: of the data in the file
 */
struct tenon_param {
	struct tenon_slice name;
	DLTensor tensor;
	size_t bytes;
	uint64_t offset;
};

/** struct tenon_params - named tensors; a counted object, given back with tenon_object_unref() */
struct tenon_params;

/**
 * tenon_params_open - map a file of parameters
 * @path: a `.params` file; or a file of one tensor, which gets the name ""
 * @out: receives the parameters with one reference
 *
 * A file that becomes shorter while it is read is an error. One that becomes shorter later ends the process by
 * SIGBUS when data that was cut off is touched through the mapping (@data of a parameter, a tensor in place);
 * tenon_params_load() gives an error then. So replace files by renaming.
 *
 * Context: any thread.
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_OVERFLOW; -TENON_E_NOMEM.
 */
TENON_API int tenon_params_open(const char *path, struct tenon_params **out);

/**
 * tenon_params_read - read parameters out of memory
 * @bytes: content of a `.params` file, or of a file of one tensor
 * @keep: object that keeps the bytes alive; referenced; NULL when they outlive the parameters
 * @name: what the bytes are, for messages
 * @out: receives the parameters with one reference
 *
 * Return: as tenon_params_open(), without -TENON_E_IO.
 */
TENON_API int tenon_params_read(struct tenon_slice bytes, struct tenon_object *keep,
				const char *name, struct tenon_params **out);

/** tenon_params_count - how many parameters there are; padding does not count */
TENON_API size_t tenon_params_count(const struct tenon_params *params);

/**
 * tenon_params_at - look at a parameter
 * @params: parameters
 * @index: below tenon_params_count()
 *
 * Return: the parameter, which lives as long as @params; NULL for an index out of range.
 */
TENON_API const struct tenon_param *tenon_params_at(const struct tenon_params *params,
						    size_t index);

/**
 * tenon_params_find - look a parameter up by name; of several with one name the last counts
 *
 * Return: as tenon_params_at().
 */
TENON_API const struct tenon_param *tenon_params_find(const struct tenon_params *params,
						      struct tenon_slice name);

/**
 * tenon_params_load - copy a parameter's data
 * @params: parameters
 * @param: one of them
 * @to: @param->bytes bytes
 *
 * Of a file, the data is read and not touched through the mapping, so that it is in memory once.
 *
 * Return: 0; -TENON_E_IO.
 */
TENON_API int tenon_params_load(struct tenon_params *params, const struct tenon_param *param,
				void *to);

/**
 * tenon_params_tensor - make a tensor of a parameter
 * @params: parameters
 * @param: one of them
 * @align: alignment in bytes that the data must have; 0 for any
 * @out: receives the tensor with one reference: the data in place where it is aligned, else a copy
 *
 * Return: 0; -TENON_E_IO; -TENON_E_NOMEM.
 */
TENON_API int tenon_params_tensor(struct tenon_params *params, const struct tenon_param *param,
				  size_t align, struct tenon_tensor **out);

/**
 * tenon_params_write - write a file of parameters, whole or not at all
 * @path: the file
 * @params: @count parameters; names, dtypes, shapes and data are looked at
 * @count: how many
 * @align: a power of two: data is put at multiples of it; 0 or 1 for the plain layout
 *
 * Return: 0; -TENON_E_VALUE for a tensor the format has no room for (not compact, lanes, not in CPU
 *	memory) or for an alignment that is no power of two; -TENON_E_IO; -TENON_E_NOMEM.
 */
TENON_API int tenon_params_write(const char *path, const struct tenon_param *params, size_t count,
				 size_t align);

#ifdef __cplusplus
}
#endif

#endif /* TENON_PARAMS_H */

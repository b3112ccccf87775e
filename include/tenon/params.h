/* SPDX-License-Identifier: MIT */
#ifndef TENON_PARAMS_H
#define TENON_PARAMS_H

/**
 * DOC: parameters
 *
 * A file of parameters holds named tensors: TVM's `.params`, and safetensors or GGUF (an option of the build).
 * Its first bytes tell which. Opening it reads names and headers and maps the data: each parameter is
 * a slice of the mapping. A tensor is copied only when its data is not aligned for compiled code;
 * tenon_params_write() can align a file so that no copies are needed. Numbers in the file are
 * little-endian; on a big-endian machine opening it copies the data.
 *
 * Neither format has padding, so an aligned file may have small filler tensors between the others.
 * Others read them as parameters that no model uses; Tenon does not list them.
 */

#include <tenon/buffer.h>
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
 * tenon_params_open - map a file of parameters, or the files of a folder
 * @path: a `.params` file; a file with one tensor, which gets the name ""; a file in GGUF or safetensors;
 *	`model.safetensors.index.json`, which lists several; or a folder with such an index, or with
 *	`model.safetensors`
 * @out: receives the parameters with one reference
 *
 * If the file is truncated while it is being opened, this fails. If it is truncated later, access
 * to the missing data through the mapping (data of a parameter, a tensor in place) raises SIGBUS;
 * tenon_params_load() returns an error instead. So replace such files by renaming.
 *
 * Context: any thread.
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_OVERFLOW; -TENON_E_NOMEM;
 *	-TENON_E_UNSUPPORTED for a type of elements that no tensor has here; -TENON_E_EXISTS for a name
 *	that two files of a folder have.
 */
TENON_API int tenon_params_open(const char *path, struct tenon_params **out);

/**
 * tenon_params_read - read parameters from memory
 * @bytes: bytes of one file, as tenon_params_open() takes it
 * @keep: object that keeps the bytes alive; referenced; NULL when they outlive the parameters
 * @name: name of the bytes in messages
 * @out: receives the parameters with one reference
 *
 * Return: as tenon_params_open(), without -TENON_E_IO.
 */
TENON_API int tenon_params_read(struct tenon_slice bytes, struct tenon_object *keep,
				const char *name, struct tenon_params **out);

/**
 * tenon_params_create - make a list of parameters in memory
 * @list: @count parameters; names and shapes are copied, data is not
 * @count: number of parameters
 * @keep: object that keeps the data alive; referenced; NULL when it outlives the parameters
 * @out: receives the parameters with one reference
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_params_create(const struct tenon_param *list, size_t count,
				  struct tenon_object *keep, struct tenon_params **out);

/**
 * struct tenon_params_part - parameters, and the scope of their names
 * @scope: the names get "SCOPE." in front; empty for none
 * @params: the parameters
 */
struct tenon_params_part {
	struct tenon_slice scope;
	struct tenon_params *params;
};

/**
 * struct tenon_params_rename - another name for a parameter
 * @old_name: its name, with the scope; "model.*" stands for all names that begin with "model."
 * @new_name: what it is to be called; behind an @old_name with "*", what the names are to begin with
 *
 * A parameter that several renames name is there several times, once under each new name.
 */
struct tenon_params_rename {
	struct tenon_slice old_name;
	struct tenon_slice new_name;
};

/**
 * tenon_params_join - make one list of several, with other names
 * @parts: @part_count lists; referenced
 * @part_count: number of lists
 * @renames: @rename_count renames; NULL for none
 * @rename_count: number of renames
 * @out: receives the parameters with one reference; their data is that of the parts
 *
 * Return: 0; -TENON_E_EXISTS for a name that two parts have; -TENON_E_NOT_FOUND for a rename of a
 *	parameter that is not there, with the nearest names; -TENON_E_NOMEM.
 */
TENON_API int tenon_params_join(const struct tenon_params_part *parts, size_t part_count,
				const struct tenon_params_rename *renames, size_t rename_count,
				struct tenon_params **out);

/**
 * tenon_params_block_type - the type of a quantised parameter
 * @params: parameters
 * @param: one of them
 *
 * A quantised parameter of GGUF is a tensor of uint8, whose last dimension is the bytes of the blocks.
 *
 * Return: a static string, such as "Q4_K"; NULL for one whose elements are numbers.
 */
TENON_API const char *tenon_params_block_type(const struct tenon_params *params,
					      const struct tenon_param *param);

/**
 * tenon_params_dequantize - compute the numbers of quantised parameters
 * @params: parameters; referenced
 * @dtype: float32, or float16, which is rounded from that
 * @out: receives a list with one reference, in which the quantised ones are tensors of @dtype in memory
 *	of the list, and all others those of @params
 *
 * Return: 0; -TENON_E_VALUE for another dtype; -TENON_E_IO; -TENON_E_OVERFLOW; -TENON_E_NOMEM;
 *	-TENON_E_NO_LOADER if files of parameters are off in this build, or their plug-in is missing.
 */
TENON_API int tenon_params_dequantize(struct tenon_params *params, DLDataType dtype,
				      struct tenon_params **out);

/**
 * tenon_params_numbers - compute the numbers of one quantised parameter
 * @params: parameters
 * @param: one of them, which is quantised: tenon_params_block_type()
 * @dtype: float32, or float16, which is rounded from that
 * @out: receives a tensor with one reference, in memory of its own
 *
 * For a program that makes one tensor after the other: tenon_params_dequantize() has all numbers in memory at once.
 *
 * Return: 0; -TENON_E_VALUE for another dtype or parameter; -TENON_E_IO; -TENON_E_OVERFLOW; -TENON_E_NOMEM;
 *	-TENON_E_NO_LOADER if files of parameters are off in this build, or their plug-in is missing.
 */
TENON_API int tenon_params_numbers(struct tenon_params *params, const struct tenon_param *param,
				   DLDataType dtype, struct tenon_tensor **out);

/**
 * struct tenon_params_entry - an entry of the metadata of a file in GGUF
 * @key: its name
 * @type: number that the format has for the type; of an array, of its elements
 * @array: the value is an array
 * @count: elements of an array; else 1
 * @bytes: the elements, as they are in the file: little-endian numbers, or strings, each behind its size in 8 bytes
 *
 * Types: 0 uint8, 1 int8, 2 uint16, 3 int16, 4 uint32, 5 int32, 6 float32, 7 bool, 8 string, 10 uint64, 11 int64,
 * 12 float64. A bool is a byte, which may be any.
 */
struct tenon_params_entry {
	struct tenon_slice key;
	uint32_t type;
	bool array;
	uint64_t count;
	struct tenon_slice bytes;
};

/** tenon_params_visit - take an entry, which is valid until it returns; 0 to go on, the status of a raised error to stop */
typedef int tenon_params_visit(void *context, const struct tenon_params_entry *entry);

/**
 * tenon_params_metadata - visit the metadata of a file in GGUF
 * @params: parameters
 * @visit: called with each entry, in the order of the file
 * @context: passed to @visit
 *
 * The entries are read from the file again. Other formats, and lists that were joined or made in memory, have none.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT or -TENON_E_TRUNCATED if the file was changed; -TENON_E_NOMEM;
 *	-TENON_E_NO_LOADER if files of parameters are off in this build, or their plug-in is missing; what @visit returned.
 */
TENON_API int tenon_params_metadata(struct tenon_params *params, tenon_params_visit *visit,
				    void *context);

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
 *	need; -TENON_E_NOMEM; -TENON_E_NO_LOADER if this build writes no parameters, or the plug-in
 *	of files of parameters is missing.
 */
TENON_API int tenon_params_write(const char *path, const struct tenon_param *params, size_t count,
				 size_t align);

/**
 * tenon_params_write_safetensors - write a file in safetensors atomically
 * @path: the file
 * @params: @count parameters; only name, dtype, shape and data are used
 * @count: number of parameters
 * @align: alignment of the data in bytes, a power of two; 0 or 1 for a file without filler tensors,
 *	in which only tensors whose size is a multiple of TENON_TENSOR_ALIGN are aligned so
 *
 * Return: as tenon_params_write(); -TENON_E_VALUE also for a name that is not in UTF-8;
 *	-TENON_E_EXISTS for two parameters of one name.
 */
TENON_API int tenon_params_write_safetensors(const char *path, const struct tenon_param *params,
					     size_t count, size_t align);

/**
 * tenon_params_save - append the bytes of a file of parameters to a buffer
 * @params: as for tenon_params_write()
 * @count: number of parameters
 * @out: buffer
 *
 * Return: as tenon_params_write() with the unaligned layout, without -TENON_E_IO.
 */
TENON_API int tenon_params_save(const struct tenon_param *params, size_t count,
				struct tenon_buffer *out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_PARAMS_H */

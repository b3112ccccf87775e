/* SPDX-License-Identifier: MIT */
/* The steps of this part, by the names of the public functions that call them (tenon/params.h). */
#ifndef RUNTIME_PARAMS_PARAMS_INTERFACE_H
#define RUNTIME_PARAMS_PARAMS_INTERFACE_H

#include <string.h>

#include "runtime/model/params_files.h"

/* bytes of a header of safetensors, the format's own limit */
#define SAFETENSORS_HEADER_MOST 100000000

/* of tensors in GGUF */
#define GGUF_DIMENSIONS_MOST 4

extern const struct params_format params_safetensors, params_gguf;

/* as the public functions tenon_params_*() */
extern __typeof__(tenon_params_join) params_files_join;
extern __typeof__(tenon_params_block_type) params_files_block_type;
extern __typeof__(tenon_params_numbers) params_files_numbers;
extern __typeof__(tenon_params_dequantize) params_files_dequantize;
extern __typeof__(tenon_params_metadata) params_files_metadata;
extern __typeof__(tenon_params_write) params_files_write;
extern __typeof__(tenon_params_save) params_files_save;
extern __typeof__(tenon_params_write_safetensors) params_files_write_safetensors;

/** params_open_folder - open the files of a folder, or of an index; as tenon_params_open() */
int params_open_folder(const char *path, struct tenon_params **out);

/**
 * params_check_layout - check that parameters of a file have names and data of their own
 * @p: the parameters, their places known
 * @name: of the file, for messages
 * @start: where the data begins
 * @end: where it ends
 * @holes: bytes may belong to no parameter
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_NOMEM.
 */
int params_check_layout(const struct tenon_params *p, const char *name, uint64_t start,
			uint64_t end, bool holes);

/** params_name_order - compare two names by their bytes, as memcmp() does */
static inline int params_name_order(struct tenon_slice a, struct tenon_slice b)
{
	const size_t common = a.size < b.size ? a.size : b.size;
	const int order = common ? memcmp(a.data, b.data, common) : 0;

	return order ? order : (a.size > b.size) - (a.size < b.size);
}

/** params_safetensors_type - the name that safetensors has for a dtype; NULL for none */
const char *params_safetensors_type(DLDataType dtype);

#endif /* RUNTIME_PARAMS_PARAMS_INTERFACE_H */

/* SPDX-License-Identifier: MIT */
/* What this part does for the public functions of the library: formats of files, and operations on their parameters. */
#include "runtime/params/params_interface.h"

#include <stddef.h>

#include "lib/switched_off.h"

/* clang-format off */

/* ---- what this build leaves out */

#ifndef CONFIG_INSPECT
#define OFF_REASON tenon_error(-TENON_E_NO_LOADER, "CONFIG_INSPECT is off in this build")
OFF(params_files_write, (const char *path, const struct tenon_param *params, size_t count, size_t align))
OFF(params_files_save, (const struct tenon_param *params, size_t count, struct tenon_buffer *out))
OFF(params_files_write_safetensors, (const char *path, const struct tenon_param *params, size_t count, size_t align))
#endif

/* clang-format on */

/* ---- what the library calls */

static const struct params_format *const formats[] = {
	&params_safetensors,
	&params_gguf,
	NULL,
};

extern const struct params_files params_files;

const struct params_files params_files = {
	.formats = formats,
	.open_folder = params_open_folder,
	.join = params_files_join,
	.block_type = params_files_block_type,
	.numbers = params_files_numbers,
	.dequantize = params_files_dequantize,
	.metadata = params_files_metadata,
	.write = params_files_write,
	.save = params_files_save,
	.write_safetensors = params_files_write_safetensors,
};

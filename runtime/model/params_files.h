/* SPDX-License-Identifier: MIT */
/*
 * What runtime/params/, usually a plug-in, does for the public functions of parameters: it reads the formats that are not
 * TVM's, joins and writes parameters, and turns quantised ones into numbers.
 */
#ifndef RUNTIME_MODEL_PARAMS_FILES_H
#define RUNTIME_MODEL_PARAMS_FILES_H

#include <tenon/model.h>

#include "lib/option.h"
#include "lib/plugin.h"
#include "runtime/model/params_list.h"

/**
 * struct params_files - what is called by the public functions tenon_params_*() of these names
 * @formats: of files, ended by NULL
 * @open_folder: as tenon_params_open(), for a folder or an index of files
 */
struct params_files {
	const struct params_format *const *formats;
	int (*open_folder)(const char *path, struct tenon_params **out);
	__typeof__(tenon_params_join) *join;
	__typeof__(tenon_params_block_type) *block_type;
	__typeof__(tenon_params_numbers) *numbers;
	__typeof__(tenon_params_dequantize) *dequantize;
	__typeof__(tenon_params_metadata) *metadata;
	__typeof__(tenon_params_write) *write;
	__typeof__(tenon_params_save) *save;
	__typeof__(tenon_params_write_safetensors) *write_safetensors;
};

#if OPTION_ON(PARAMS_FILES)
/* what has them */
extern struct plugin plugin_params;
#endif

/**
 * params_format_of - choose the format of a file
 * @head: its first bytes, 24 if it has them
 * @out: receives the format; that of TVM for bytes of no format, which its reader refuses
 *
 * Return: 0; -TENON_E_UNSUPPORTED when it is not TVM's, and the plug-in that has the others is not there.
 */
int params_format_of(struct tenon_slice head, const struct params_format **out);

#endif /* RUNTIME_MODEL_PARAMS_FILES_H */

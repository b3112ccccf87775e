/* SPDX-License-Identifier: MIT */
/* The parameters of a model on the command line: --params, --rename, --params-partial, --dequantize. */
#ifndef TOOLS_OPENED_MODEL_MODEL_PARAMS_H
#define TOOLS_OPENED_MODEL_MODEL_PARAMS_H

#include <tenon/model.h>

#include "tools/cli/cli.h"

#define MODEL_PARAMS_MOST  16
#define MODEL_RENAMES_MOST 64

/* rows of a command's table of options, for a struct model_params */
#define MODEL_PARAMS_OPTIONS(p)                                                                    \
	{ "params", .take = model_params_add, .context = (p) },                                    \
		{ "params-partial", .flag = &(p)->partial }, MODEL_NAMES_OPTIONS(p)

#define MODEL_NAMES_OPTIONS(p)                                                                     \
	{ "rename", .take = model_params_rename, .context = (p) },                                 \
	{                                                                                          \
		"dequantize", .take = model_params_dequantize, .context = (p)                      \
	}

/**
 * struct model_params - where a model's parameters are, and what they are called
 * @paths: files and folders
 * @scopes: the scope of each; empty for none
 * @count: number of files
 * @renames: new names
 * @rename_count: number of new names
 * @partial: parameters that the model has not are left out
 * @dequantize: what quantised parameters become; all zeros if they stay as they are
 *
 * All zeros: no parameters. The words are those of the command line.
 */
struct model_params {
	const char *paths[MODEL_PARAMS_MOST];
	struct tenon_slice scopes[MODEL_PARAMS_MOST];
	size_t count;
	struct tenon_params_rename renames[MODEL_RENAMES_MOST];
	size_t rename_count;
	bool partial;
	DLDataType dequantize;
};

/* cli_option.take of the options, for a struct model_params */
int model_params_add(struct cli *cli, void *params);
int model_params_rename(struct cli *cli, void *params);
int model_params_dequantize(struct cli *cli, void *params);

/** model_params_check - refuse options without --params; 0, or CLI_USAGE, its message printed */
int model_params_check(struct cli *cli, const struct model_params *p);

/**
 * model_params_open - open all files as one list
 * @out: receives the list with one reference
 *
 * Return: as params_file_open(), tenon_params_join() and tenon_params_dequantize().
 */
int model_params_open(const struct model_params *p, struct tenon_params **out);

/**
 * model_params_note_copies - say once how much is copied since it is not aligned, and the remedy
 * @path: the file, if it is one
 */
void model_params_note_copies(const char *path, struct tenon_params *list, FILE *out);

/** model_params_advise - append which parameters an input that was not set may be meant for */
void model_params_advise(struct tenon_params *list, const struct tenon_port *input,
			 struct tenon_buffer *out);

#endif /* TOOLS_OPENED_MODEL_MODEL_PARAMS_H */

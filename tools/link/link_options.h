/* SPDX-License-Identifier: MIT */
/* The command line of tenon link. */
#ifndef TOOLS_LINK_LINK_OPTIONS_H
#define TOOLS_LINK_LINK_OPTIONS_H

#include <tenon/link.h>

#include "tools/cli/cli.h"

/**
 * struct link_words - the command line as lists for tenon_link()
 * @options: has these lists
 * @output: file to write; NULL without --output
 * @texts: @text_count words that were split, allocated
 */
struct link_words {
	struct tenon_link_options options;
	const char *output;
	struct tenon_link_file *files;
	struct tenon_target *targets;
	struct tenon_link_import *imports;
	const char **includes;
	size_t include_count;
	char **texts;
	size_t text_count;
};

/**
 * link_read_options - read the command line
 * @w: receives it; freed with link_words_fini(), also on failure
 *
 * Return: 0, CLI_OPTIONS_DONE, or an exit code.
 */
int link_read_options(struct cli *cli, int argc, char **argv, struct link_words *w);

void link_words_fini(struct link_words *w);

/**
 * link_params_read - read the parameters of a .npz file as tenon_link() takes them
 * @o: @params names the file; receives @params_bytes, to be freed with link_params_close(). Other files are not read.
 *
 * Return: 0; -TENON_E_UNSUPPORTED in a build without CONFIG_NPZ; errors of npz_read().
 */
int link_params_read(struct tenon_link_options *o);

void link_params_close(struct tenon_link_options *o);

#endif /* TOOLS_LINK_LINK_OPTIONS_H */

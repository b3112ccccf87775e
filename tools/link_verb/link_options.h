/* SPDX-License-Identifier: MIT */
/* The command line of tenon link. */
#ifndef TOOLS_LINK_VERB_LINK_OPTIONS_H
#define TOOLS_LINK_VERB_LINK_OPTIONS_H

#include <tenon/link.h>

#include "tools/cli/cli.h"

/**
 * struct link_words - the command line as lists for tenon_link()
 * @options: has these lists
 * @output: file to write; NULL without --output
 * @texts: @text_count words that were split, allocated
 * @case_words: @case_count arguments of --case
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
	const char **case_words;
	size_t case_count;
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

struct link_cases;

/**
 * link_cases_read - read the arrays that --case names
 * @w: receives the cases in its options
 * @out: receives what they point to; freed with link_cases_close(), also on failure
 *
 * Return: 0; -TENON_E_USAGE for an argument of another form; -TENON_E_UNSUPPORTED in a build without CONFIG_NPZ; errors of
 *	npz_read(); -TENON_E_NOMEM.
 */
int link_cases_read(struct link_words *w, struct link_cases **out);

void link_cases_close(struct link_cases *cases);

#endif /* TOOLS_LINK_VERB_LINK_OPTIONS_H */

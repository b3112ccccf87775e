/* SPDX-License-Identifier: MIT */
/* Parse the words of tenon link into options of the library. */
#include "tools/link_verb/link_options.h"

#include <stdlib.h>
#include <string.h>

#include "tools/link_verb/link_load.h"

static int no_memory(struct cli *cli)
{
	tenon_error(-TENON_E_NOMEM, "no memory for the command line");
	return cli_error(cli, CLI_FAILED);
}

/* Keep a part of a word until link_words_fini(); NULL when memory runs out. There is room for it. */
static const char *part(struct link_words *w, const char *text, size_t size)
{
	char *copy = strndup(text, size);

	if (copy)
		w->texts[w->text_count++] = copy;
	return copy;
}

/* Split the argument of an option at @separator. */
static int split(struct cli *cli, struct link_words *w, const char *option, char separator,
		 const char *form, const char *out[2])
{
	const char *at = strchr(optarg, separator);

	if (!at || at == optarg || !at[1])
		return cli_usage(cli, "%s %s: want %s", option, optarg, form);
	out[0] = part(w, optarg, (size_t)(at - optarg));
	out[1] = at + 1;
	return out[0] ? 0 : no_memory(cli);
}

static int add_target(struct cli *cli, void *words)
{
	struct link_words *w = words;
	const char *two[2];
	int code = split(cli, w, "--target-key", '=', "KEY=URI", two);

	if (!code)
		w->targets[w->options.target_count++] = (struct tenon_target){ two[0], two[1] };
	return code;
}

static int add_import(struct cli *cli, void *words)
{
	struct link_words *w = words;
	const char *two[2];
	int code = split(cli, w, "--import", ':', "PARENT:CHILD, each the name of a file or _lib",
			 two);

	if (!code)
		w->imports[w->options.import_count++] =
			(struct tenon_link_import){ two[0], two[1] };
	return code;
}

static int set_abi(struct cli *cli, void *options)
{
	struct tenon_link_options *o = options;

	if (!strcmp(optarg, "modern"))
		o->generation = TENON_GENERATION_FFI;
	else if (!strcmp(optarg, "legacy"))
		o->generation = TENON_GENERATION_LEGACY;
	else
		return cli_usage(cli, "--abi %s: want modern (TVM 0.22 and later) or legacy",
				 optarg);
	return 0;
}

static int set_allow(struct cli *cli, void *options)
{
	struct tenon_link_options *o = options;

	if (!strcmp(optarg, "weak"))
		o->allow_weak = true;
	else if (!strcmp(optarg, "unknown"))
		o->allow_unknown = true;
	else
		return cli_usage(cli, "--allow %s: want weak or unknown", optarg);
	return 0;
}

static int set_format(struct cli *cli, void *options)
{
	struct tenon_link_options *o = options;

	if (!strcmp(optarg, "so"))
		o->form = TENON_LINK_SHARED;
	else if (!strcmp(optarg, "system-lib"))
		o->form = TENON_LINK_SYSTEM_LIB;
	else if (!strcmp(optarg, "mlf"))
		o->form = TENON_LINK_ARCHIVE;
	else
		return cli_usage(cli, "--format %s: want so, mlf or system-lib", optarg);
	return 0;
}

/* Take an operand: FILE, FILE=KIND or FILE=KIND@KEY. */
static int take_file(struct cli *cli, struct link_words *w, const char *word)
{
	struct tenon_link_file *file = &w->files[w->options.file_count++];
	const char *equal = strrchr(word, '='), *at = equal ? strchr(equal, '@') : NULL;

	file->path = word;
	if (!equal)
		return 0;
	file->path = part(w, word, (size_t)(equal - word));
	file->kind = at ? part(w, equal + 1, (size_t)(at - equal - 1)) : equal + 1;
	file->key = at ? at + 1 : NULL;
	if (!file->path || !file->kind)
		return no_memory(cli);
	if (!*file->path || !*file->kind || (at && !*file->key))
		return cli_usage(cli, "%s: want FILE=KIND or FILE=KIND@KEY", word);
	return 0;
}

/* Make room for what @argc words can be. */
static int allocate_words(struct cli *cli, int argc, struct link_words *w)
{
	const size_t room = (size_t)argc + 1;

	w->files = calloc(room, sizeof(*w->files));
	w->targets = calloc(room, sizeof(*w->targets));
	w->imports = calloc(room, sizeof(*w->imports));
	w->includes = calloc(room, sizeof(*w->includes));
	w->texts = calloc(2 * room, sizeof(*w->texts));
	w->case_words = calloc(room, sizeof(*w->case_words));
	w->options.files = w->files;
	w->options.targets = w->targets;
	w->options.imports = w->imports;
	w->options.includes = w->includes;
	return w->files && w->targets && w->imports && w->includes && w->texts && w->case_words
		       ? 0
		       : no_memory(cli);
}

int link_read_options(struct cli *cli, int argc, char **argv, struct link_words *w)
{
	struct tenon_link_options *o = &w->options;
	struct cli_words includes, cases;
	const struct cli_option options[] = {
		{ "output", .letter = 'o', .text = &w->output },
		{ "include", .letter = 'I', .words = &includes },
		{ "abi", .take = set_abi, .context = o },
		{ "target-key", .take = add_target, .context = w },
		{ "import", .take = add_import, .context = w },
		{ "allow", .take = set_allow, .context = o },
		{ "graph", .text = &o->graph },
		{ "params", .text = &o->params },
		{ "model", .text = &o->model },
		{ "format", .take = set_format, .context = o },
		{ "prefix", .text = &o->prefix },
		{ "case", .words = &cases },
		{ 0 },
	};
	int code;

	*w = (struct link_words){ .options = link_options() };
	code = allocate_words(cli, argc, w);
	includes = (struct cli_words){ w->includes, .most = (size_t)argc };
	cases = (struct cli_words){ w->case_words, .most = (size_t)argc };
	if (!code)
		code = cli_options(cli, argc, argv, options);
	w->include_count = includes.count;
	w->case_count = cases.count;
	for (; optind < argc && !code; optind++)
		code = take_file(cli, w, argv[optind]);
	return code;
}

void link_words_fini(struct link_words *w)
{
	size_t i;

	for (i = 0; i < w->text_count; i++)
		free(w->texts[i]);
	free(w->texts);
	free(w->case_words);
	free(w->files);
	free(w->targets);
	free(w->imports);
	free(w->includes);
}

/* SPDX-License-Identifier: MIT */
/* Parse the words of tenon link into options of the library. */
#include "tools/link/link_options.h"

#include <stdlib.h>
#include <string.h>

#include "tools/link/link_load.h"

enum { ABI = 1, KEY, IMPORT, ALLOW, GRAPH, PARAMS, MODEL, FORMAT, PREFIX, CASE };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "include", required_argument, NULL, 'I' },
	{ "abi", required_argument, NULL, ABI },
	{ "target-key", required_argument, NULL, KEY },
	{ "import", required_argument, NULL, IMPORT },
	{ "allow", required_argument, NULL, ALLOW },
	{ "graph", required_argument, NULL, GRAPH },
	{ "params", required_argument, NULL, PARAMS },
	{ "model", required_argument, NULL, MODEL },
	{ "format", required_argument, NULL, FORMAT },
	{ "prefix", required_argument, NULL, PREFIX },
	{ "case", required_argument, NULL, CASE },
	{ 0 },
};

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

static int add_target(struct cli *cli, struct link_words *w)
{
	const char *two[2];
	int code = split(cli, w, "--target-key", '=', "KEY=URI", two);

	if (!code)
		w->targets[w->options.target_count++] = (struct tenon_target){ two[0], two[1] };
	return code;
}

static int add_import(struct cli *cli, struct link_words *w)
{
	const char *two[2];
	int code = split(cli, w, "--import", ':', "PARENT:CHILD, each the name of a file or _lib",
			 two);

	if (!code)
		w->imports[w->options.import_count++] =
			(struct tenon_link_import){ two[0], two[1] };
	return code;
}

static int set_abi(struct cli *cli, struct tenon_link_options *o)
{
	if (!strcmp(optarg, "modern"))
		o->generation = TENON_GENERATION_FFI;
	else if (!strcmp(optarg, "legacy"))
		o->generation = TENON_GENERATION_LEGACY;
	else
		return cli_usage(cli, "--abi %s: want modern (TVM 0.22 and later) or legacy",
				 optarg);
	return 0;
}

static int set_allow(struct cli *cli, struct tenon_link_options *o)
{
	if (!strcmp(optarg, "weak"))
		o->allow_weak = true;
	else if (!strcmp(optarg, "unknown"))
		o->allow_unknown = true;
	else
		return cli_usage(cli, "--allow %s: want weak or unknown", optarg);
	return 0;
}

static int set_format(struct cli *cli, struct tenon_link_options *o)
{
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

static int take_option(struct cli *cli, struct link_words *w, int found)
{
	struct tenon_link_options *o = &w->options;

	switch (found) {
	case 'o':
		w->output = optarg;
		return 0;
	case 'I':
		w->includes[w->include_count++] = optarg;
		return 0;
	case ABI:
		return set_abi(cli, o);
	case KEY:
		return add_target(cli, w);
	case IMPORT:
		return add_import(cli, w);
	case GRAPH:
		o->graph = optarg;
		return 0;
	case PARAMS:
		o->params = optarg;
		return 0;
	case MODEL:
		o->model = optarg;
		return 0;
	case FORMAT:
		return set_format(cli, o);
	case PREFIX:
		o->prefix = optarg;
		return 0;
	case CASE:
		w->case_words[w->case_count++] = optarg;
		return 0;
	default:
		return set_allow(cli, o);
	}
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
static int make_room(struct cli *cli, int argc, struct link_words *w)
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
	int found, code;

	*w = (struct link_words){ .options = link_options() };
	code = make_room(cli, argc, w);
	while (!code && (found = cli_option(cli, argc, argv, options)) >= 0)
		code = take_option(cli, w, found);
	if (code)
		return code;
	if (found < CLI_OPTIONS_END)
		return found;
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

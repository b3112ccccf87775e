/* SPDX-License-Identifier: MIT */
/* Parse the options of tenon link and sort inputs by what they are. */
#include <stdlib.h>
#include <string.h>

#include "lib/file_kind.h"
#include "link/link_graph.h"
#include "link/link_payload.h"
#include "tools/link/link.h"

#ifdef CONFIG_MODEL_LIBRARY_FORMAT
#include "link/mlf/mlf.h"
#endif

enum { ABI = 1, KEY, IMPORT, ALLOW, GRAPH, PARAMS, MODEL, FORMAT, PREFIX };

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
	{ 0 },
};

static int no_memory(struct cli *cli)
{
	tenon_error(-TENON_E_NOMEM, "no memory for the command line");
	return cli_error(cli, CLI_FAILED);
}

/* Split @word at its last or first @separator; the parts are allocated. */
static bool split(const char *word, const char *at, struct link_pair *out)
{
	out->left = strndup(word, (size_t)(at - word));
	out->right = strdup(at + 1);
	return out->left && out->right;
}

static int add_pair(struct cli *cli, struct link_pair **list, size_t *count, const char *option,
		    char separator, const char *form)
{
	const char *at = strchr(optarg, separator);
	struct link_pair *bigger;

	if (!at || at == optarg || !at[1])
		return cli_usage(cli, "%s %s: want %s", option, optarg, form);
	bigger = reallocarray(*list, *count + 1, sizeof(*bigger));
	if (!bigger)
		return no_memory(cli);
	*list = bigger;
	bigger[*count] = (struct link_pair){ NULL, NULL };
	return split(optarg, at, &bigger[(*count)++]) ? 0 : no_memory(cli);
}

static int add_include(struct cli *cli, struct link_request *r)
{
	const char **bigger = reallocarray(r->includes, r->include_count + 1, sizeof(*bigger));

	if (!bigger)
		return no_memory(cli);
	r->includes = bigger;
	r->includes[r->include_count++] = optarg;
	return 0;
}

static int set_abi(struct cli *cli, struct link_request *r)
{
	if (!strcmp(optarg, "modern"))
		r->generation = TENON_GENERATION_FFI;
	else if (!strcmp(optarg, "legacy"))
		r->generation = TENON_GENERATION_LEGACY;
	else
		return cli_usage(cli, "--abi %s: want modern (TVM 0.22 and later) or legacy",
				 optarg);
	return 0;
}

static int set_allow(struct cli *cli, struct link_request *r)
{
	if (!strcmp(optarg, "weak"))
		r->allow_weak = true;
	else if (!strcmp(optarg, "unknown"))
		r->allow_unknown = true;
	else
		return cli_usage(cli, "--allow %s: want weak or unknown", optarg);
	return 0;
}

static int set_format(struct cli *cli, struct link_request *r)
{
	r->archive = !strcmp(optarg, "mlf");
	r->system = !strcmp(optarg, "system-lib");
	if (!r->archive && !r->system && strcmp(optarg, "so"))
		return cli_usage(cli, "--format %s: want so, mlf or system-lib", optarg);
#ifndef CONFIG_MODEL_LIBRARY_FORMAT
	if (r->archive)
		return cli_usage(cli, "--format mlf: this build has CONFIG_MODEL_LIBRARY_FORMAT=n");
#endif
	return 0;
}

/* A prefix becomes part of names of functions. */
static int set_prefix(struct cli *cli, struct link_request *r)
{
	const char *at;

	r->prefix = optarg;
	for (at = optarg; *at; at++)
		if (!(*at == '_' || (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
		      (*at >= 'A' && *at <= 'Z')))
			return cli_usage(cli, "--prefix %s: want letters, digits and \"_\"",
					 optarg);
	return 0;
}

/* The name of a model becomes part of names of files and functions. */
static int set_model(struct cli *cli, struct link_request *r)
{
	r->model = optarg;
	if (!*optarg || *optarg == '.' || strchr(optarg, '/') || strlen(optarg) > 128)
		return cli_usage(cli, "--model %s: want a name, without \"/\"", optarg);
	return 0;
}

static int take_option(struct cli *cli, struct link_request *r, int found)
{
	switch (found) {
	case 'o':
		r->output = optarg;
		return 0;
	case 'I':
		return add_include(cli, r);
	case ABI:
		return set_abi(cli, r);
	case KEY:
		return add_pair(cli, &r->keys, &r->key_count, "--target-key", '=', "KEY=URI");
	case IMPORT:
		return add_pair(cli, &r->imports, &r->import_count, "--import", ':',
				"PARENT:CHILD, each the name of a file or _lib");
	case GRAPH:
		r->graph = optarg;
		return 0;
	case PARAMS:
		r->params = optarg;
		return 0;
	case MODEL:
		return set_model(cli, r);
	case FORMAT:
		return set_format(cli, r);
	case PREFIX:
		return set_prefix(cli, r);
	default:
		return set_allow(cli, r);
	}
}

static bool is_host_code(const char *path)
{
	static const char *const suffixes[] = { ".c", ".o", ".a", ".s", ".S", ".cc", ".cpp" };
	const char *dot = strrchr(path, '.');
	size_t i;

	for (i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (!strcmp(dot, suffixes[i]))
			return true;
	return false;
}

static bool ends_in(const char *word, const char *suffix)
{
	size_t n = strlen(word), m = strlen(suffix);

	return n >= m && !strcmp(word + n - m, suffix);
}

static bool is_elf(const char *path)
{
	char head[4];
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(head, 1, sizeof(head), f) : 0;

	if (f)
		fclose(f);
	return file_is_elf((struct tenon_slice){ head, n });
}

/* Refuse a file that is no code for the host. */
static int not_host_code(struct cli *cli, const char *word)
{
	if (link_is_manifest(word))
		return cli_usage(cli,
				 "%s: a manifest is linked alone, without other files; a graph is "
				 "given by --graph",
				 word);
	if (ends_in(word, ".tar") || ends_in(word, ".tgz") || ends_in(word, ".tar.gz"))
		return cli_usage(cli, "%s: an archive is linked alone, without other files", word);
	if (ends_in(word, ".so") && is_elf(word))
		return cli_usage(cli,
				 "%s: is linked already; give its sources or objects, or the "
				 "manifest.json that tenon unpack makes of it",
				 word);
	return cli_usage(cli,
			 "%s: not a source, object or archive of the host; for the program of a "
			 "device give its kind, as in %s=opencl",
			 word, word);
}

/* Take an operand: FILE, FILE=KIND or FILE=KIND@KEY. */
static int take_input(struct cli *cli, const char *word, struct link_input *in)
{
	const char *equal = strrchr(word, '='), *at = equal ? strchr(equal, '@') : NULL;

	if (!equal) {
		in->path = strdup(word);
		if (!is_host_code(word))
			return not_host_code(cli, word);
		return in->path ? 0 : no_memory(cli);
	}
	in->path = strndup(word, (size_t)(equal - word));
	in->kind = at ? strndup(equal + 1, (size_t)(at - equal - 1)) : strdup(equal + 1);
	in->key = at ? strdup(at + 1) : NULL;
	if (!in->path || !in->kind || (at && !in->key))
		return no_memory(cli);
	if (!*in->path || !*in->kind || (at && !*in->key))
		return cli_usage(cli, "%s: want FILE=KIND or FILE=KIND@KEY", word);
	return 0;
}

/* The graph is a program without a device. There is room for it behind the other files. */
static int take_graph(struct cli *cli, struct link_request *r)
{
	struct link_input *in = &r->inputs[r->input_count++];

	in->path = strdup(r->graph);
	in->kind = strdup(LINK_GRAPH_KIND);
	in->is_graph = true;
	return in->path && in->kind ? 0 : no_memory(cli);
}

bool link_add_constants(struct link_request *r)
{
	struct link_input *in = &r->inputs[r->input_count++];

	in->path = link_table_path(link_name_of(r->params), LINK_PAYLOAD_SUFFIX);
	in->kind = strdup(r->generation == TENON_GENERATION_LEGACY ? LINK_LEGACY_CONSTANTS_KIND
								   : LINK_CONSTANTS_KIND);
	in->is_constants = true;
	return in->path && in->kind;
}

static int take_inputs(struct cli *cli, char **words, size_t count, struct link_request *r)
{
	size_t i;
	int code = 0;

	r->inputs = calloc(count + 1, sizeof(*r->inputs));
	if (!r->inputs)
		return no_memory(cli);
	r->input_count = count;
	for (i = 0; i < count && !code; i++)
		code = take_input(cli, words[i], &r->inputs[i]);
	if (!code && r->graph)
		code = take_graph(cli, r);
	else if (!code && r->params && !link_add_constants(r))
		code = no_memory(cli);
	return code;
}

static int take_only(struct cli *cli, const char *word, struct link_request *r)
{
	r->inputs = calloc(1, sizeof(*r->inputs));
	if (!r->inputs)
		return no_memory(cli);
	r->input_count = 1;
	r->inputs[0].path = strdup(word);
	r->inputs[0].kind = strdup("");
	return r->inputs[0].path && r->inputs[0].kind ? 0 : no_memory(cli);
}

/* A manifest is alone, and says what all other options say. */
static int take_manifest(struct cli *cli, char *word, struct link_request *r)
{
	if (r->generation || r->key_count || r->import_count || r->include_count || r->allow_weak ||
	    r->allow_unknown || r->graph || r->params || r->model || r->archive || r->system)
		return cli_usage(cli, "%s: with a manifest the only option is --output", word);
	return take_only(cli, word, r);
}

#ifdef CONFIG_MODEL_LIBRARY_FORMAT
/* An archive is alone. What it holds has the older form, unless it says otherwise. */
static int take_archive(struct cli *cli, char *word, struct link_request *r)
{
	if (r->generation || r->key_count || r->import_count || r->allow_unknown || r->graph ||
	    r->params || r->archive)
		return cli_usage(cli,
				 "%s: with an archive the only options are --output, --model, "
				 "--format system-lib, --prefix, --allow weak and --include",
				 word);
	r->generation = TENON_GENERATION_LEGACY;
	return take_only(cli, word, r);
}
#endif

int link_read_options(struct cli *cli, int argc, char **argv, struct link_request *r)
{
	int found, code = 0;

	while (!code && (found = cli_option(cli, argc, argv, options)) >= 0)
		code = take_option(cli, r, found);
	if (code)
		return code;
	if (found == CLI_OPTIONS_DONE)
		return CLI_OPTIONS_DONE;
	if (found == CLI_OPTIONS_BAD)
		return CLI_USAGE;
	if (!r->output)
		return cli_usage(cli, "which file to write? -o FILE");
	if (r->prefix && !r->system)
		return cli_usage(cli, "--prefix without --format system-lib");
	if (optind == argc)
		return cli_usage(cli, "no files to link");
	if (argc - optind == 1 && link_is_manifest(argv[optind]))
		return take_manifest(cli, argv[optind], r);
#ifdef CONFIG_MODEL_LIBRARY_FORMAT
	if (argc - optind == 1 && mlf_is_archive(argv[optind]))
		return take_archive(cli, argv[optind], r);
#endif
	if (!r->generation)
		r->generation = TENON_GENERATION_FFI;
	return take_inputs(cli, argv + optind, (size_t)(argc - optind), r);
}

static void free_pairs(struct link_pair *pairs, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		free(pairs[i].left);
		free(pairs[i].right);
	}
	free(pairs);
}

void link_request_fini(struct link_request *r)
{
	size_t i;

	for (i = 0; i < r->input_count; i++) {
		free(r->inputs[i].path);
		free(r->inputs[i].kind);
		free(r->inputs[i].key);
	}
	free(r->inputs);
	free_pairs(r->keys, r->key_count);
	free_pairs(r->imports, r->import_count);
	free(r->includes);
}

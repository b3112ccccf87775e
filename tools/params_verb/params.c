/* SPDX-License-Identifier: MIT */
/* tenon params: list, extract, align and create parameter files. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/params.h>
#include <unistd.h>

#include "tools/cli/cli.h"
#include "tools/file/file.h"
#include "tools/file/output.h"
#include "tools/json/json_value.h"
#include "tools/params_verb/params.h"
#include "tools/tensor/array_file.h"
#include "tools/tensor/spec.h"
#include "tools/text/text.h"

/* alignment for compiled models; see TENON_TENSOR_ALIGN */
#define ALIGN_USUAL 128

/* Another status is about a file, also "unsupported": a version of its format that is not read. */
int params_failed(struct cli *cli)
{
	return cli_error(cli, tenon_error_status() == -TENON_E_NO_LOADER ? CLI_UNAVAILABLE
									 : CLI_NO_FILE);
}

int params_open(const struct words *w, struct tenon_params **out)
{
	const struct model_params from = { .paths = { w->word[0] },
					   .count = 1,
					   .dequantize = w->names.dequantize };

	return model_params_open(&from, out);
}

int params_write(struct cli *cli, const struct words *w, const struct tenon_param *params, size_t n)
{
	const char *to = params_target(w);
	int err;

	err = output_check(to);
	if (!err)
		err = params_in_safetensors(to)
			      ? tenon_params_write_safetensors(to, params, n, w->align)
			      : tenon_params_write(to, params, n, w->align);
	if (err)
		return err;
	printable_format(cli->out, "%s: %zu parameters", to, n);
	if (w->align > 1)
		fprintf(cli->out, ", aligned to %zu bytes", w->align);
	fprintf(cli->out, "\n");
	return 0;
}

/* ---- list */

static const char *place_text(const struct tenon_param *p, char text[24])
{
	uint64_t align = p->offset & -p->offset;

	if (align > 4096 || !align)
		align = 4096;
	snprintf(text, 24, "%" PRIu64, align);
	return text;
}

static void list_text(struct cli *cli, const struct tenon_params *params)
{
	const struct tenon_param *p;
	char type[TYPE_TEXT], place[24];
	const char *block;
	uint64_t bytes = 0;
	int width = 4;
	size_t i;

	for (i = 0; (p = tenon_params_at(params, i)); i++)
		if (p->name.size < 60 && (int)p->name.size > width)
			width = (int)p->name.size;
	fprintf(cli->out, "%-*s  %-24s %12s %12s %9s\n", width, "name", "type", "bytes", "offset",
		"aligned");
	for (i = 0; (p = tenon_params_at(params, i)); i++) {
		printable_cell(p->name, width, cli->out);
		fprintf(cli->out, "  %-24s %12zu %12" PRIu64 " %9s",
			type_text(p->tensor.shape, p->tensor.ndim, p->tensor.dtype, type), p->bytes,
			p->offset, place_text(p, place));
		block = tenon_params_block_type(params, p);
		fprintf(cli->out, "%s%s\n", block ? "  " : "", block ? block : "");
		bytes += p->bytes;
	}
	fprintf(cli->out, "%zu parameters, %" PRIu64 " bytes\n", i, bytes);
}

#ifdef CONFIG_JSON
static int list_json(struct cli *cli, const struct tenon_params *params)
{
	cJSON *root = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(root, "parameters");
	const struct tenon_param *p;
	char dtype[TENON_DTYPE_NAME];
	size_t i;
	int32_t k;

	for (i = 0; (p = tenon_params_at(params, i)); i++) {
		cJSON *item = cJSON_CreateObject(), *shape;

		json_set(item, "name", json_of_text(p->name));
		cJSON_AddStringToObject(item, "dtype", tenon_dtype_name(p->tensor.dtype, dtype));
		shape = cJSON_AddArrayToObject(item, "shape");
		for (k = 0; k < p->tensor.ndim; k++)
			json_append(shape, json_of_int(p->tensor.shape[k]));
		json_set(item, "bytes", json_of_int((int64_t)p->bytes));
		json_set(item, "offset", json_of_int((int64_t)p->offset));
		if (tenon_params_block_type(params, p))
			cJSON_AddStringToObject(item, "blocks", tenon_params_block_type(params, p));
		json_append(list, item);
	}
	return json_print(root, cli->out);
}
#else
static int list_json(struct cli *cli, const struct tenon_params *params)
{
	return -TENON_E_UNSUPPORTED;
}
#endif

static int list(struct cli *cli, const struct words *w)
{
	struct tenon_params *params;
	int err;

	err = params_open(w, &params);
	if (err)
		return params_failed(cli);
	if (!w->json)
		list_text(cli, params);
	else
		err = list_json(cli, params);
	tenon_object_unref(params);
	return err ? params_failed(cli) : CLI_OK;
}

/* ---- align */

static int align(struct cli *cli, const struct words *w)
{
	bool in_place = w->count == 1 && !w->output;
	struct tenon_params *params;
	int err;

	/* When aligning in place, opening the file checks that it is a parameter file. */
	if (!in_place && params_check_target(cli, params_target(w)))
		return CLI_USAGE;
	err = params_open(w, &params);
	if (err)
		return params_failed(cli);
	err = params_write(cli, w, tenon_params_at(params, 0), tenon_params_count(params));
	tenon_object_unref(params);
	if (err)
		return err == -TENON_E_VALUE ? cli_error(cli, CLI_USAGE) : params_failed(cli);
	return CLI_OK;
}

/* ---- from-npy */

/* Split NAME=FILE.npy; for FILE.npy the name is that of the file. */
static struct tenon_slice name_of(const char *word, const char **path)
{
	const char *equal = strchr(word, '='), *slash, *dot;

	if (equal) {
		*path = equal + 1;
		return (struct tenon_slice){ word, (size_t)(equal - word) };
	}
	*path = word;
	slash = strrchr(word, '/');
	word = slash ? slash + 1 : word;
	dot = strrchr(word, '.');
	return (struct tenon_slice){ word, dot ? (size_t)(dot - word) : strlen(word) };
}

static int by_name(const void *a, const void *b)
{
	struct tenon_slice x = ((const struct tenon_param *)a)->name;
	struct tenon_slice y = ((const struct tenon_param *)b)->name;
	int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);

	return order ? order : (x.size > y.size) - (x.size < y.size);
}

/* Name the parameters and refuse duplicates; sorts @params. */
static int check_names(struct cli *cli, const struct words *w, struct tenon_param *params, size_t n)
{
	const char *path;
	size_t i;

	for (i = 0; i < n; i++)
		params[i].name = name_of(w->word[i], &path);
	qsort(params, n, sizeof(*params), by_name);
	for (i = 1; i < n; i++)
		if (!by_name(&params[i - 1], &params[i]))
			return cli_usage(cli,
					 "two arrays are called \"%.*s\": rename one of them with "
					 "NAME=FILE.npy",
					 (int)params[i].name.size, params[i].name.data);
	return 0;
}

static int read_array(const char *word, struct tenon_param *p, struct tenon_tensor **tensor)
{
	const char *path;
	int err;

	p->name = name_of(word, &path);
	err = array_file_tensor(path, tensor);
	if (err)
		return err;
	p->tensor = (*tensor)->dl;
	return tenon_tensor_bytes(&p->tensor, &p->bytes);
}

static int make_of_arrays(struct cli *cli, const struct words *w, struct tenon_param *params,
			  struct tenon_tensor **tensors, size_t n)
{
	size_t i;
	int err = 0;

	if (check_names(cli, w, params, n) || params_check_target(cli, params_target(w)))
		return CLI_USAGE;
	for (i = 0; i < n && !err; i++)
		err = read_array(w->word[i], &params[i], &tensors[i]);
	if (!err)
		err = params_write(cli, w, params, n);
	return err ? params_failed(cli) : CLI_OK;
}

static int from_npy(struct cli *cli, const struct words *w)
{
	size_t n = (size_t)w->count - !w->output, i;
	struct tenon_param *params;
	struct tenon_tensor **tensors;
	int code;

	if (!n)
		return cli_usage(cli,
				 "params from-npy: [NAME=]FILE.npy…, and what to make of them");
	params = calloc(n, sizeof(*params));
	tensors = calloc(n, sizeof(struct tenon_tensor *));
	if (params && tensors) {
		code = make_of_arrays(cli, w, params, tensors, n);
	} else {
		tenon_error(-TENON_E_NOMEM, "no memory for %zu parameters", n);
		code = params_failed(cli);
	}
	for (i = 0; tensors && i < n; i++)
		tenon_object_unref(tensors[i]);
	free(tensors);
	free(params);
	return code;
}

#ifndef CONFIG_NPZ
int params_from_npz(struct cli *cli, const struct words *w)
{
	printable_format(cli->err, "tenon: %s: this build reads no .npz files: CONFIG_NPZ is off\n",
			 w->word[0]);
	return CLI_UNAVAILABLE;
}
#endif

/* ---- the command */

enum { TAKES_ALIGN = 1, TAKES_JSON = 2, TAKES_OUTPUT = 4, TAKES_RENAME = 8, TAKES_DTYPE = 16 };

static const struct action {
	const char *name;
	int (*run)(struct cli *cli, const struct words *w);
	int least, most; /* number of operands; one less if --output replaces the last */
	unsigned int takes;
} actions[] = {
	{ "list", list, 1, 1, TAKES_JSON | TAKES_DTYPE },
	{ "extract", params_extract, 1, 1 << 20, TAKES_OUTPUT | TAKES_DTYPE },
	{ "align", align, 1, 2, TAKES_ALIGN | TAKES_OUTPUT },
	{ "convert", params_convert, 1, 1 << 20,
	  TAKES_ALIGN | TAKES_OUTPUT | TAKES_RENAME | TAKES_DTYPE },
	{ "from-npy", from_npy, 1, 1 << 20, TAKES_ALIGN | TAKES_OUTPUT },
	{ "from-npz", params_from_npz, 1, 2, TAKES_ALIGN | TAKES_OUTPUT },
};

#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

static int check_options(struct cli *cli, const struct words *w, const struct action *a)
{
	unsigned int given = (w->align ? TAKES_ALIGN : 0u) | (w->json ? TAKES_JSON : 0u) |
			     (w->output ? TAKES_OUTPUT : 0u) |
			     (w->names.rename_count ? TAKES_RENAME : 0u) |
			     (w->names.dequantize.bits ? TAKES_DTYPE : 0u);

	given &= ~a->takes;
	if (!given)
		return 0;
	return cli_usage(cli, "params %s takes no --%s", a->name,
			 given & TAKES_ALIGN	? "align"
			 : given & TAKES_JSON	? "json"
			 : given & TAKES_RENAME ? "rename"
			 : given & TAKES_DTYPE	? "dequantize"
						: "output");
}

static int choose(struct cli *cli, struct words *w)
{
	const struct action *a;
	size_t i;

	if (!w->count)
		return cli_usage(cli,
				 "what to do? list, extract, align, convert, from-npy or from-npz");
	for (i = 0; i < ACTIONS && strcmp(actions[i].name, w->word[0]); i++)
		;
	if (i == ACTIONS)
		return cli_usage(
			cli, "\"%s\" is none of list, extract, align, convert, from-npy, from-npz",
			w->word[0]);
	a = &actions[i];
	w->word++;
	w->count--;
	if (!w->count)
		return cli_usage(cli, "which file? tenon params %s FILE", a->name);
	if (w->count < a->least || w->count > a->most - (a->most == 2 && w->output))
		return cli_usage(cli, "params %s: %d file%s given, see the help", a->name, w->count,
				 w->count == 1 ? "" : "s");
	if (check_options(cli, w, a))
		return CLI_USAGE;
	/*
	 * Other readers of safetensors list the padding tensors, so only --align adds them to such a file; NumPy's have no
	 * alignment.
	 */
	if (!w->align && !(a->run == params_convert && (params_in_npz(params_target(w)) ||
							params_in_safetensors(params_target(w)))))
		w->align = ALIGN_USUAL;
	return a->run(cli, w);
}

static int set_align(struct cli *cli, void *words)
{
	struct words *w = words;
	char *end;

	w->align = strtoul(optarg, &end, 10);
	if (*end || end == optarg || !w->align || w->align > 1 << 20 || (w->align & (w->align - 1)))
		return cli_usage(cli, "--align %s: a power of two up to 1048576 is wanted", optarg);
	return 0;
}

static int params_main(struct cli *cli, int argc, char **argv)
{
	struct words w = { 0 };
	const struct cli_option options[] = { { "align", .take = set_align, .context = &w },
					      { "json", .flag = &w.json },
					      { "output", .letter = 'o', .text = &w.output },
					      MODEL_NAMES_OPTIONS(&w.names),
					      { 0 } };
	int code = cli_options(cli, argc, argv, options);

	if (code)
		return code;
	if (w.json && cli_needs_json(cli))
		return CLI_UNAVAILABLE;
	w.word = argv + optind;
	w.count = argc - optind;
	return choose(cli, &w);
}

const struct cli_command params_command = {
	"params",
	"List, extract, align or make files of parameters",
	"Usage: tenon params list FILE [--json]\n"
	"       tenon params extract FILE [NAME]… [-o FOLDER]\n"
	"       tenon params align FILE [TO]\n"
	"       tenon params convert [SCOPE=]FILE… TO [--rename OLD=NEW]…\n"
	"       tenon params from-npy [NAME=]FILE.npy… TO\n"
	"       tenon params from-npz FILE.npz TO\n"
	"\n"
	"  list      print name, type, size and place of each parameter\n"
	"  extract   write parameters, or those named, as .npy files to the current folder or to\n"
	"            FOLDER, which is made where it is missing\n"
	"  align     rewrite the file, to TO or in place, so that models use it without a copy\n"
	"  convert   make one file of parameters of all: TVM's, safetensors, a folder of them, "
	".npz;\n"
	"            TO is TVM's, or by its name .safetensors or NumPy's .npz\n"
	"  from-npy  make a file of arrays; a name is the file's, unless one is given\n"
	"  from-npz  make a file of the arrays that numpy.savez or savez_compressed wrote\n"
	"\n"
	"  -o, --output TO  the file to write, instead of the last word; the folder of extract\n"
	"  --align N        alignment in bytes (128); convert to safetensors: none\n"
	"  --rename OLD=NEW  call a parameter so; model.*=* for all that begin so\n"
	"  --dequantize float16|float32  make numbers of quantised parameters (GGUF)\n"
	"  --json           print JSON\n"
	"\n"
	"TO is in safetensors if it is called .safetensors, otherwise as TVM writes parameters. It "
	"may\n"
	"be a file of parameters that is there already; another file is never replaced.\n"
	"Files that were aligned can be read by TVM: what fills the gaps looks like parameters "
	"that\n"
	"no model asks for.\n",
	params_main,
};

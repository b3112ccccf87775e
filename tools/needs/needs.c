/* SPDX-License-Identifier: MIT */
/* Parse options, read the files, print what they need as text, JSON or Kconfig. */
#include "tools/needs/needs.h"

#include <string.h>
#include <tenon/tenon.h>

#include "tools/json/json_value.h"
#include "tools/program/program_file.h"
#include "tools/text/text.h"

/* columns of the longest title and a gap */
#define TITLE_WIDTH 13
#define LINE_WIDTH  100

/* titles of the text, and keys of JSON; options have a form of their own */
static const char *const sorts[NEEDS_OPTION] = {
	[NEEDS_EXECUTOR] = "executors", [NEEDS_BUILTIN] = "builtins",
	[NEEDS_BACKEND] = "backends",	[NEEDS_FORMAT] = "payloads",
	[NEEDS_DTYPE] = "dtypes",	[NEEDS_FUNCTION] = "functions",
	[NEEDS_RUNTIME] = "runtime",	[NEEDS_UNSUPPORTED] = "unsupported",
};

/* Test whether this build has an option: "DSO TVM_LEGACY RELAX_VM=m". */
static bool is_here(const char *option)
{
	const size_t size = strlen(option);
	const char *at = tenon_configuration();

	for (; *at; at += strcspn(at, " "), at += strspn(at, " "))
		if (!strncmp(at, option, size) && (!at[size] || strchr(" =", at[size])))
			return true;
	return false;
}

/* ---- text */

static void print_list(const struct needs_list *l, const char *title, FILE *out)
{
	size_t i, column = TITLE_WIDTH;

	if (!l->count)
		return;
	fprintf(out, "%-*s", TITLE_WIDTH, title);
	for (i = 0; i < l->count; i++) {
		const size_t width = strlen(l->items[i].name) + 2;

		if (i && column + width > LINE_WIDTH) {
			fprintf(out, ",\n%*s", TITLE_WIDTH, "");
			column = TITLE_WIDTH;
		} else if (i) {
			fputs(", ", out);
		}
		printable_cell(tenon_slice_of(l->items[i].name), 0, out);
		column += width;
	}
	fputc('\n', out);
}

static void print_options(const struct needs_list *l, FILE *out)
{
	size_t i;

	for (i = 0; i < l->count; i++) {
		fprintf(out, "%-*sCONFIG_%-20s ", TITLE_WIDTH, i ? "" : "options",
			l->items[i].name);
		printable_cell(tenon_slice_of(l->items[i].why), 0, out);
		fprintf(out, "%s\n", is_here(l->items[i].name) ? "" : "   (not in this build)");
	}
}

static void print_text(const struct needs *n, FILE *out)
{
	size_t i;

	for (i = 0; i < NEEDS_OPTION; i++)
		print_list(&n->lists[i], sorts[i], out);
	print_options(&n->lists[NEEDS_OPTION], out);
}

/* ---- Kconfig */

static void print_kconfig(const struct needs *n, FILE *out)
{
	const struct needs_list *l = &n->lists[NEEDS_OPTION];
	size_t i;

	fputs("# Written by tenon needs. In Tenon's source: make KCONFIG_ALLCONFIG=THIS-FILE "
	      "allnoconfig all\n"
	      "CONFIG_OPTIMIZE_SIZE=y\n"
	      "# messages name what is missing; without them the library is smaller\n"
	      "CONFIG_ERROR_MESSAGES=y\n",
	      out);
	for (i = 0; i < l->count; i++) {
		fputs("# ", out);
		printable_cell(tenon_slice_of(l->items[i].why), 0, out);
		fprintf(out, "\nCONFIG_%s=y\n", l->items[i].name);
	}
}

/* ---- JSON */

static cJSON *json_of_names(const struct needs_list *l)
{
	cJSON *list = cJSON_CreateArray();
	size_t i;

	for (i = 0; i < l->count; i++)
		json_append(list, json_of_text(tenon_slice_of(l->items[i].name)));
	return list;
}

static cJSON *json_of_options(const struct needs_list *l)
{
	cJSON *list = cJSON_CreateArray(), *item;
	size_t i;

	for (i = 0; i < l->count; i++) {
		item = cJSON_CreateObject();
		json_set(item, "name", json_of_text(tenon_slice_of(l->items[i].name)));
		json_set(item, "why", json_of_text(tenon_slice_of(l->items[i].why)));
		json_set(item, "here", cJSON_CreateBool(is_here(l->items[i].name)));
		json_append(list, item);
	}
	return list;
}

static int print_json(const struct needs *n, FILE *out)
{
	cJSON *root = cJSON_CreateObject();
	size_t i;

	for (i = 0; i < NEEDS_OPTION; i++)
		json_set(root, sorts[i], json_of_names(&n->lists[i]));
	json_set(root, "options", json_of_options(&n->lists[NEEDS_OPTION]));
	return json_print(root, out);
}

static int read_files(struct cli *cli, struct needs *n, int count, char **files)
{
	int i, err = 0;

	for (i = 0; i < count && !err; i++)
		err = needs_read(n, files[i]);
	if (!err)
		err = needs_settle(n);
	return err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : CLI_OK;
}

static int needs_main(struct cli *cli, int argc, char **argv)
{
	bool json = false, kconfig = false;
	struct needs n = { 0 };
	const struct cli_option options[] = { { "json", .flag = &json },
					      { "kconfig", .flag = &kconfig },
					      { 0 } };
	int code = cli_options(cli, argc, argv, options);

	if (code)
		return code;
	if (optind == argc)
		return cli_usage(cli, "which files? tenon needs FILE…");
	if (json && kconfig)
		return cli_usage(cli, "--json and --kconfig are two forms of the same");
	if (json && cli_needs_json(cli))
		return CLI_UNAVAILABLE;
	code = read_files(cli, &n, argc - optind, argv + optind);
	if (!code && json)
		code = print_json(&n, cli->out) ? cli_error(cli, CLI_FAILED) : CLI_OK;
	else if (!code)
		(kconfig ? print_kconfig : print_text)(&n, cli->out);
	needs_fini(&n);
	return code;
}

const struct cli_command needs_command = {
	"needs",
	"List what files use of the library, and the options of a build for them",
	"Usage: tenon needs FILE… [--kconfig] [--json]\n"
	"\n"
	"  --kconfig         write the configuration of a build that runs these files and no "
	"more:\n"
	"                    make KCONFIG_ALLCONFIG=FILE allnoconfig all\n"
	"  --json            print JSON\n"
	"\n"
	"FILE is a module, a model for an NPU or a file of parameters, for any machine; none of "
	"its\n"
	"code runs. Lists executors, functions of the Relax machine, backends, payloads, dtypes, "
	"functions\n"
	"that the program registers, functions of TVM's runtime that compiled code imports, and "
	"the\n"
	"options of the build with the file and the part that need each. Names that compiled code\n"
	"makes while it runs are not found.\n",
	needs_main,
};

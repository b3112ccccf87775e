/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>

#include "tools/cli/cli.h"
#include "tools/inspect/inspect.h"
#include "tools/inspect/inspect_model.h"
#include "tools/model/model.h"

enum { JSON = 1, DOT, FUNCTIONS, MODEL, FUNCTION, GRAPH, PARAMS };

static const struct option options[] = {
	{ "json", no_argument, NULL, JSON },
	{ "dot", no_argument, NULL, DOT },
	{ "functions", no_argument, NULL, FUNCTIONS },
	{ "model", no_argument, NULL, MODEL },
	{ "function", required_argument, NULL, FUNCTION },
	{ "graph", required_argument, NULL, GRAPH },
	{ "params", required_argument, NULL, PARAMS },
	{ 0 },
};

struct request {
	bool json, dot, functions, model;
	const char *file, *function, *graph, *params;
	bool wants_choice; /* several models and no default */
};

static int read_options(struct cli *cli, int argc, char **argv, struct request *r)
{
	int found;

	while ((found = cli_option(cli, argc, argv, options)) >= 0) {
		r->json |= found == JSON;
		r->dot |= found == DOT;
		r->functions |= found == FUNCTIONS;
		r->model |= found == MODEL;
		if (found == FUNCTION)
			r->function = optarg;
		if (found == GRAPH)
			r->graph = optarg;
		if (found == PARAMS)
			r->params = optarg;
	}
	if (found == CLI_OPTIONS_DONE)
		return CLI_OPTIONS_DONE;
	if (found == CLI_OPTIONS_BAD)
		return CLI_USAGE;
	if (r->json && r->dot)
		return cli_usage(cli, "--json or --dot, not both");
	if (r->function && r->graph)
		return cli_usage(cli, "--function and --graph: a graph is one model, and has no "
				      "function to choose");
	if (r->params && !r->graph)
		return cli_usage(cli, "--params without --graph: the parameters are those of a "
				      "graph.json kept apart");
	if (cli_file(cli, argc, argv, &r->file))
		return CLI_USAGE;
	return r->json ? cli_needs_json(cli) : CLI_OK;
}

/* A model that cannot be described does not prevent printing the tree. */
static int look_at_model(struct cli *cli, struct request *r, struct module_list *l)
{
#ifdef CONFIG_EXECUTORS
	struct model_source source = { r->file, r->graph, r->params, r->function, NULL };
	struct tenon_model_options o = { .describe = true };

	if (r->graph || r->function)
		return model_open(cli, &source, l->root, true, &l->model);
	if (model_is_root(l->root) && tenon_model_open(l->root, &o, &l->model)) {
		r->wants_choice = tenon_error_status() == -TENON_E_NOT_FOUND;
		if (r->wants_choice && r->model)
			return model_open(cli, &source, l->root, true, &l->model);
		if (!r->wants_choice && tenon_error_status() != -TENON_E_UNSUPPORTED) {
			tenon_error_in(tenon_error_status(), "the model cannot be described");
			cli_error(cli, CLI_OK);
		}
		tenon_error_clear();
	}
#endif
	if ((r->model || r->function || r->graph) && !l->model)
		return cli_usage(cli, "--%s: there is none in %s that could be described",
				 r->function ? "function"
				 : r->graph  ? "graph"
					     : "model",
				 r->file);
	return 0;
}

static int answer(struct cli *cli, struct request *r, struct module_list *l)
{
	int code = look_at_model(cli, r, l);

	if (code)
		return code;
	if (r->json)
		return inspect_json(l, cli->out) ? cli_error(cli, CLI_FAILED) : CLI_OK;
	if (r->dot && (r->model || r->function || r->graph)) {
		inspect_model_dot(l->model, r->file, cli->out);
	} else if (r->dot) {
		inspect_dot(l, cli->out);
	} else {
		inspect_text(l, r->functions, cli->out);
		if (l->model)
			inspect_model_text(l->model, r->model, cli->out);
		else if (r->wants_choice)
			inspect_model_choice(l->root, cli->out);
	}
	return CLI_OK;
}

static int inspect_main(struct cli *cli, int argc, char **argv)
{
	struct request r = { 0 };
	struct tenon_module *root;
	struct module_list list;
	struct stat st;
	int code, err;

	code = read_options(cli, argc, argv, &r);
	if (code)
		return code == CLI_OPTIONS_DONE ? CLI_OK : code;
	err = tenon_module_inspect(r.file, &root);
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	if (module_list_make(root, &list)) {
		tenon_object_unref(root);
		return cli_error(cli, CLI_FAILED);
	}
	list.file = r.file;
	list.size = stat(r.file, &st) ? 0 : (uint64_t)st.st_size;
	list.model = NULL;
	code = answer(cli, &r, &list);
	tenon_model_close(list.model);
	module_list_drop(&list);
	tenon_object_unref(root);
	return code;
}

const struct cli_command inspect_command = {
	"inspect",
	"Show what is in a module, without running any of it",
	"Usage: tenon inspect FILE [OPTION]…\n"
	"\n"
	"  --functions      name the functions, with the argument types of kernels\n"
	"  --model          of a whole model, list operators and parameters too\n"
	"  --function NAME  which model, where FILE has several\n"
	"  --graph FILE     look at this graph.json, FILE being its library\n"
	"  --params FILE    and these parameters with it\n"
	"  --json           print JSON\n"
	"  --dot            print a graph for Graphviz; with --model, of the operators\n"
	"\n"
	"Shows the tree of imports: kinds, formats, functions, sizes, where payloads lie in the\n"
	"file, and whether this build has a loader for them. Files for other machines are read\n"
	"as well.\n",
	inspect_main,
};

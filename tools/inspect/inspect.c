/* SPDX-License-Identifier: MIT */
/* Parse options, recognise the file, choose the form of the answer. */
#include "lib/file_map.h"
#include "lib/option.h"
#include "link/link_request.h"
#include "link/mlf/mlf.h"
#include "tools/cli/cli.h"
#include "tools/inspect/inspect.h"
#include "tools/inspect/inspect_svg.h"
#include "tools/link_verb/link_load.h"
#include "tools/opened_model/model.h"
#include "tools/program/program_file.h"

struct request {
	bool json, dot, svg, functions, model, disassemble;
	const char *file, *function, *graph, *show;
	struct model_params params;
	const char *module; /* the file that is read; @file, or the module made of a manifest */
	bool wants_choice;  /* several models and no default */
};

static int read_options(struct cli *cli, int argc, char **argv, struct request *r)
{
	const struct cli_option options[] = {
		{ "json", .flag = &r->json },
		{ "dot", .flag = &r->dot },
		{ "svg", .flag = &r->svg },
		{ "functions", .flag = &r->functions },
		{ "model", .flag = &r->model },
		{ "function", .text = &r->function },
		{ "graph", .text = &r->graph },
		MODEL_PARAMS_OPTIONS(&r->params),
		{ "show", .text = &r->show },
		{ "disassemble", .flag = &r->disassemble },
		{ 0 },
	};
	int code = cli_options(cli, argc, argv, options);

	if (code)
		return code;
	if (r->json + r->dot + r->svg > 1)
		return cli_usage(cli, "--json, --dot or --svg: one form at a time");
	if (r->function && r->graph)
		return cli_usage(cli, "--function and --graph: a graph is one model, and has no "
				      "function to choose");
	if (model_params_check(cli, &r->params) || cli_file(cli, argc, argv, &r->file))
		return CLI_USAGE;
	if (!OPTION_ON(LINK) && r->show)
		return cli_usage(cli, "--show: this build has CONFIG_LINK=n");
	if (!OPTION_ON(LINK) && r->disassemble)
		return cli_usage(cli, "--disassemble: this build has CONFIG_LINK=n");
	if (!OPTION_ON(PICTURES) && r->svg)
		return cli_usage(cli, "--svg: this build has CONFIG_PICTURES=n");
	if (r->show &&
	    (r->json || r->dot || r->svg || r->functions || r->model || r->function || r->graph))
		return cli_usage(cli, "--show prints one artifact, and goes with no other option");
	return r->json ? cli_needs_json(cli) : CLI_OK;
}

/* A model that cannot be described does not prevent printing the tree. */
static int look_at_model(struct cli *cli, struct request *r, struct tenon_module *root,
			 struct tenon_model **model)
{
	struct model_source source = {
		.file = r->file, .graph = r->graph, .params = r->params, .function = r->function
	};
	struct tenon_model_options o = { .size = sizeof(o), .describe = true };

	if (OPTION_ON(EXECUTORS) && (r->graph || r->function || r->params.count))
		return model_open(cli, &source, root, true, model);
	if (OPTION_ON(EXECUTORS) && model_is_root(root) && tenon_model_open(root, &o, model)) {
		r->wants_choice = tenon_error_status() == -TENON_E_NOT_FOUND;
		if (r->wants_choice && r->model)
			return model_open(cli, &source, root, true, model);
		if (!r->wants_choice && tenon_error_status() != -TENON_E_UNSUPPORTED) {
			tenon_error_in(tenon_error_status(), "the model cannot be described");
			cli_error(cli, CLI_OK);
		}
		tenon_error_clear();
	}
	if ((r->model || r->function || r->graph) && !*model)
		return cli_usage(cli, "--%s: there is none in %s that could be described",
				 r->function ? "function"
				 : r->graph  ? "graph"
					     : "model",
				 r->file);
	return 0;
}

static int print_picture(struct cli *cli, const struct request *r,
			 const struct tenon_link_inspection *n, struct tenon_model *model)
{
	struct tenon_buffer picture = TENON_BUFFER_INIT;
	struct inspect_drawn drawn;
	int err;

	err = OPTION_ON(EXECUTORS) && (r->model || r->function || r->graph)
		      ? inspect_svg_model(model, r->file, true, &drawn, &picture)
		      : inspect_svg_tree(n, r->file, true, &picture);
	if (!err && !picture.size)
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "%s: the model has no list of operators to draw", r->file);
	if (!err)
		fwrite(picture.data, 1, picture.size, cli->out);
	tenon_buffer_fini(&picture);
	return err ? cli_error(cli, cli_exit_of(err, CLI_FAILED)) : CLI_OK;
}

static int print(struct cli *cli, const struct request *r, const struct tenon_link_inspection *n,
		 struct tenon_model *model)
{
	if (OPTION_ON(JSON) && r->json)
		return inspect_json(n, r->file, model, cli->out) ? cli_error(cli, CLI_FAILED)
								 : CLI_OK;
	if (OPTION_ON(PICTURES) && r->svg)
		return print_picture(cli, r, n, model);
	if (OPTION_ON(EXECUTORS) && r->dot && (r->model || r->function || r->graph)) {
		inspect_model_dot(model, r->file, cli->out);
	} else if (r->dot) {
		inspect_dot(n, r->file, cli->out);
	} else {
		inspect_text(n, r->file, r->functions, cli->out);
		if (OPTION_ON(LINK))
			inspect_code_text(n, r->file, cli->out);
		if (OPTION_ON(EXECUTORS) && model)
			inspect_model_text(model, r->model, cli->out);
		else if (OPTION_ON(EXECUTORS) && r->wants_choice)
			inspect_model_choice(n->root, cli->out);
	}
	return CLI_OK;
}

static int answer_archive(struct cli *cli, const struct request *r)
{
	if (r->dot || r->svg || r->functions || r->model || r->function || r->graph)
		return cli_usage(
			cli,
			"%s: an archive is listed as it is, and --json is the only option; "
			"tenon link -o FILE.so makes a module of it",
			r->file);
	return r->show ? inspect_archive_show(cli, r->file, r->show)
		       : inspect_archive(cli, r->file, r->json);
}

static int answer_program(struct cli *cli, const struct request *r)
{
	if (r->dot || r->svg || r->functions || r->model || r->function || r->graph || r->show)
		return cli_usage(
			cli,
			"%s is no module, but a program of a device, or a model: only --json "
			"and --disassemble apply to it",
			r->file);
	return inspect_program(cli, r->file, r->json, r->disassemble);
}

/* --disassemble, for a file whose programs no format describes. */
static int disassemble_other(struct cli *cli, const struct request *r)
{
	struct tenon_slice head;
	int err;

	err = file_map_head(r->file, 0, &head);
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	file_map_close(&head);
	return cli_usage(cli,
			 "--disassemble: %s is no program whose commands a backend of this build "
			 "lists; --show prints those of modules",
			 r->file);
}

static int inspect_module(struct cli *cli, struct request *r)
{
	const struct tenon_link_inspection *n;
	struct tenon_model *model = NULL;
	int code;

	if (OPTION_ON(LINK) && r->show)
		return inspect_show(cli, r->module, r->show);
	if (tenon_link_inspect(r->module, &n))
		return cli_error(cli, cli_exit_of(tenon_error_status(), CLI_NO_FILE));
	code = look_at_model(cli, r, n->root, &model);
	if (!code)
		code = print(cli, r, n, model);
	tenon_model_close(model);
	tenon_link_inspection_free(n);
	return code;
}

/* Inspect the module that tenon link makes of a manifest. */
static int inspect_manifest(struct cli *cli, struct request *r)
{
	const struct tenon_link_options o = link_options();
	struct link_made made;
	int code, err;

	err = link_make(r->file, &o, &made);
	r->module = made.path.data;
	code = err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : inspect_module(cli, r);
	link_made_fini(&made);
	return code;
}

/* Look at a file that may be a program of a device, an archive or a manifest. */
static int inspect_file_of_link(struct cli *cli, struct request *r)
{
	bool is_program;
	int err;

	err = program_file_is(r->file, &is_program);
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	if (is_program)
		return answer_program(cli, r);
	if (r->disassemble)
		return disassemble_other(cli, r);
	if (mlf_is_archive(r->file))
		return answer_archive(cli, r);
	return link_is_manifest(r->file) ? inspect_manifest(cli, r) : inspect_module(cli, r);
}

static int inspect_main(struct cli *cli, int argc, char **argv)
{
	struct request r = { 0 };
	int code;

	code = read_options(cli, argc, argv, &r);
	if (code)
		return code;
	r.module = r.file;
	return OPTION_ON(LINK) ? inspect_file_of_link(cli, &r) : inspect_module(cli, &r);
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
	"  --params [SCOPE=]FILE, --rename OLD=NEW, --params-partial, --dequantize TYPE\n"
	"                   and these parameters with it, as in tenon run\n"
	"  --show NAME      print a program, or a file of an archive, as text; NAME is that of a\n"
	"                   file, or the number of a module\n"
	"  --disassemble    of a device's program or of a model with some, print the commands too\n"
	"  --json           print JSON\n"
	"  --dot            print a graph for Graphviz; with --model, of the operators\n"
	"  --svg            print a picture; with --model, of the operators\n"
	"\n"
	"Shows the tree of imports: kinds, formats, functions, sizes, where payloads lie in the\n"
	"file, and whether this build has a loader for them. Files for other machines are read\n"
	"as well. Of an archive in Model Library Format it lists models, memory and files. Of a\n"
	"model for an NPU it lists operators, tensors, and programs of NPUs. A\n"
	"manifest.json, which tenon unpack wrote, is shown as the module that its files make.\n",
	inspect_main,
};

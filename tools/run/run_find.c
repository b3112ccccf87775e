/* SPDX-License-Identifier: MIT */
/* Find the function to run: the one that was named, or the module's only one. */
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/visit.h>

#include "lib/slice_text.h"
#include "link/inspection.h"
#include "tools/opened_model/module_text.h"
#include "tools/run/run.h"
#include "tools/text/text.h"

#define NAMES_SHOWN 32

/* functions of a module, except those with compiler-generated names */
struct names {
	struct tenon_buffer list;
	struct tenon_slice only;
	size_t count;
};

static int add_name(void *context, struct tenon_slice name)
{
	struct names *names = context;

	if (name.size >= 2 && name.data[0] == '_' && name.data[1] == '_')
		return 0;
	names->only = name;
	if (names->count < NAMES_SHOWN)
		tenon_buffer_printf(&names->list, "%s%.*s", names->count ? ", " : "",
				    (int)name.size, name.data);
	names->count++;
	return 0;
}

static int ignore_field(void *context, const char *name, const struct tenon_value *value)
{
	return 0;
}

/* code of the host is its own loader, and nothing has to be opened to describe it */
static bool loads_itself(const struct run *run)
{
	return slice_is(tenon_module_kind(run->module), "library");
}

/* Only a plug-in can tell that a root without functions has no loader: if it is missing, say so. */
static int nothing_to_run(struct cli *cli, const struct run *run)
{
	const struct tenon_visitor v = { .size = sizeof(v), .field = ignore_field };
	const struct tenon_object *root = (const struct tenon_object *)run->module;

	if (!loads_itself(run) && tenon_object_visit(root, &v) == -TENON_E_UNSUPPORTED) {
		tenon_error_in(-TENON_E_UNSUPPORTED, "%s: no function is found, and why is unknown",
			       run->options.file);
		return cli_error(cli, CLI_UNAVAILABLE);
	}
	tenon_error_clear();
	return cli_usage(cli, "%s has no function called main, and lists no other",
			 run->options.file);
}

static int choose(struct cli *cli, struct run *run, const struct names *names)
{
	const char *file = run->options.file;
	int err;

	if (!names->count)
		return nothing_to_run(cli, run);
	if (names->count > 1)
		return cli_usage(cli,
				 "%s has %zu functions and none is called main; choose with "
				 "--function: %s%s",
				 file, names->count, names->list.data ? names->list.data : "",
				 names->count > NAMES_SHOWN ? ", …" : "");
	err = tenon_module_find_function(run->module, names->only, false, &run->function);
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	/* the name is valid as long as the module */
	run->name = names->only.data;
	return 0;
}

/* Report a root without a loader: its kind and the remedy, as tenon inspect does. */
static int refuse_without_loader(struct cli *cli, const struct run *run)
{
	struct tenon_buffer kind = TENON_BUFFER_INIT;
	const struct tenon_link_module *root;
	struct inspection *n;
	int code = 0;

	if (loads_itself(run))
		return 0;
	if (inspection_make(run->module, &n)) {
		tenon_error_clear();
		return 0;
	}
	root = n->result.modules[0];
	if (!strcmp(root->loader, "missing")) {
		module_text_kind(root, &kind);
		tenon_error(-TENON_E_NO_LOADER, "%s: no loader for %s: %s", run->options.file,
			    kind.data ? kind.data : "", root->remedy);
		code = cli_error(cli, CLI_UNAVAILABLE);
	}
	tenon_buffer_fini(&kind);
	tenon_link_inspection_free(&n->result);
	return code;
}

static bool is_of_root(struct tenon_module *module, const char *name)
{
	struct tenon_function *f = NULL;

	if (tenon_module_find_function(module, tenon_slice_of(name), false, &f))
		tenon_error_clear();
	tenon_object_unref(f);
	return f;
}

static void list_functions(struct cli *cli, const struct run *run)
{
	struct names names = { .list = TENON_BUFFER_INIT };

	if (tenon_module_each_function(run->module, add_name, &names))
		tenon_error_clear();
	if (names.list.data) {
		printable_format(cli->err, "tenon: functions of %s: ", run->options.file);
		printable_print(names.list.data, cli->err);
		fputs(names.count > NAMES_SHOWN ? ", …\n" : "\n", cli->err);
	}
	tenon_buffer_fini(&names.list);
}

/* ---- options for models, of which a function takes none */

/* Functions take arguments by position only. */
static int refuse_names(struct cli *cli, const struct arguments *a)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct spec *spec = &a->at[i].spec;

		if (spec->name.size)
			return cli_usage(
				cli,
				"--%s %s: a function takes its arguments by their order, not by "
				"a name such as \"%.*s\"; named inputs are those of models",
				spec->role == SPEC_INPUT ? "input" : "output", spec->text,
				(int)spec->name.size, spec->name.data);
	}
	return 0;
}

static int refuse_model_options(struct cli *cli, const struct run *run)
{
	const struct run_options *o = &run->options;
	size_t expected = run->expectations.count, outputs = run->arguments.output_count;
	int code = refuse_names(cli, &run->arguments);

	if (code)
		return code;
	if (run->targets.count > 1)
		return cli_usage(cli, "%zu --device: a function runs on one", run->targets.count);
	if (o->graph || o->params.count || o->profile || o->stream)
		return cli_usage(cli,
				 "--graph, --params, --profile and --stream are for models, which "
				 "%s is not",
				 o->file);
	if (expected > outputs + 1)
		return cli_usage(cli, "%zu --expect for %zu --output and a returned value",
				 expected, outputs);
	return 0;
}

/* ---- by name, or the only one */

static int find_named(struct cli *cli, struct run *run)
{
	const char *name = run->options.function;
	int err, code;

	err = tenon_module_find_function(run->module, tenon_slice_of(name), true, &run->function);
	/* A missing function may be one that only the missing loader would provide. */
	if (!err && (!run->function || is_of_root(run->module, name))) {
		code = refuse_without_loader(cli, run);
		if (code)
			return code;
	}
	/* for its message, which names the nearest function */
	if (!err && !run->function)
		err = tenon_module_get_function(run->module, name, &run->function);
	run->name = name;
	if (!err)
		return 0;
	code = cli_error(cli,
			 cli_exit_of(err, err == -TENON_E_NOT_FOUND ? CLI_USAGE : CLI_NO_FILE));
	if (err == -TENON_E_NOT_FOUND)
		list_functions(cli, run);
	return code;
}

static int find_default(struct cli *cli, struct run *run)
{
	struct names names = { .list = TENON_BUFFER_INIT };
	int err, code;

	err = tenon_module_find_function(run->module, tenon_slice_of("main"), true, &run->function);
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	if (run->function) {
		run->name = "main";
		return 0;
	}
	if (tenon_module_each_function(run->module, add_name, &names))
		tenon_error_clear(); /* it cannot list its functions */
	code = choose(cli, run, &names);
	tenon_buffer_fini(&names.list);
	return code;
}

int run_find_function(struct cli *cli, struct run *run)
{
	int code = run->options.function ? find_named(cli, run) : refuse_without_loader(cli, run);

	if (!code)
		code = refuse_model_options(cli, run);
	if (!code && !run->function)
		code = find_default(cli, run);
	return code;
}

/* SPDX-License-Identifier: MIT */
/* Find the function by name, or the only one of the module */
#include <string.h>

#include "link/inspection.h"
#include "tools/model/module_text.h"
#include "tools/run/run_function.h"
#include "tools/text/printable.h"

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

static int choose(struct cli *cli, const char *file, struct tenon_module *module,
		  const struct names *names, struct function_run *f)
{
	int err;

	if (!names->count)
		return cli_usage(cli, "%s has no function called main, and lists no other", file);
	if (names->count > 1)
		return cli_usage(cli,
				 "%s has %zu functions and none is called main; choose with "
				 "--function: %s%s",
				 file, names->count, names->list.data ? names->list.data : "",
				 names->count > NAMES_SHOWN ? ", …" : "");
	err = tenon_module_find_function(module, names->only, false, &f->function);
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	/* the name is valid as long as the module */
	f->name = names->only.data;
	return 0;
}

/* Report a root without a loader: its kind and the remedy, as tenon inspect does. */
static int refuse_without_loader(struct cli *cli, const char *file, struct tenon_module *module)
{
	struct tenon_buffer kind = TENON_BUFFER_INIT;
	const struct tenon_link_module *root;
	struct inspection *n;
	int code = 0;

	if (inspection_make(module, &n)) {
		tenon_error_clear();
		return 0;
	}
	root = n->result.modules[0];
	if (!strcmp(root->loader, "missing")) {
		module_text_kind(root, &kind);
		tenon_error(-TENON_E_NO_LOADER, "%s: no loader for %s: %s", file,
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

static void list_functions(struct cli *cli, const char *file, struct tenon_module *module)
{
	struct names names = { .list = TENON_BUFFER_INIT };

	if (tenon_module_each_function(module, add_name, &names))
		tenon_error_clear();
	if (names.list.data) {
		fprintf(cli->err, "tenon: functions of %s: ", file);
		printable_print(names.list.data, cli->err);
		fputs(names.count > NAMES_SHOWN ? ", …\n" : "\n", cli->err);
	}
	tenon_buffer_fini(&names.list);
}

int run_find_named(struct cli *cli, const struct run_options *o, struct tenon_module *module,
		   struct function_run *f)
{
	int err, code;

	if (!o->function)
		return refuse_without_loader(cli, o->file, module);
	f->name = o->function;
	err = tenon_module_find_function(module, tenon_slice_of(f->name), true, &f->function);
	/* A missing function may be one that only the missing loader would provide. */
	if (!err && (!f->function || is_of_root(module, f->name))) {
		code = refuse_without_loader(cli, o->file, module);
		if (code)
			return code;
	}
	/* for its message, which names the nearest function */
	if (!err && !f->function)
		err = tenon_module_get_function(module, f->name, &f->function);
	if (!err)
		return 0;
	code = cli_error(cli,
			 cli_exit_of(err, err == -TENON_E_NOT_FOUND ? CLI_USAGE : CLI_NO_FILE));
	if (err == -TENON_E_NOT_FOUND)
		list_functions(cli, o->file, module);
	return code;
}

int run_find_default(struct cli *cli, const struct run_options *o, struct tenon_module *module,
		     struct function_run *f)
{
	struct names names = { .list = TENON_BUFFER_INIT };
	int err, code;

	err = tenon_module_find_function(module, tenon_slice_of("main"), true, &f->function);
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	if (f->function) {
		f->name = "main";
		return 0;
	}
	if (tenon_module_each_function(module, add_name, &names))
		tenon_error_clear(); /* it cannot list its functions */
	code = choose(cli, o->file, module, &names, f);
	tenon_buffer_fini(&names.list);
	return code;
}

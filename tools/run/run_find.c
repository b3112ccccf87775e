/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tools/model/module_list.h"
#include "tools/run/run.h"

#define NAMES_SHOWN 32

/* the functions of a module, those with a name of the compiler's own left out */
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

static int choose(struct cli *cli, struct run *run, const struct names *names)
{
	int err;

	if (!names->count)
		return cli_usage(cli, "%s has no function called main, and lists no other",
				 run->file);
	if (names->count > 1)
		return cli_usage(cli,
				 "%s has %zu functions and none is called main; choose with "
				 "--function: %s%s",
				 run->file, names->count, names->list.data ? names->list.data : "",
				 names->count > NAMES_SHOWN ? ", …" : "");
	err = tenon_module_find_function(run->module, names->only, false, &run->called);
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	/* the name lives as long as the module */
	run->function = names->only.data;
	return 0;
}

/* A root that is only listed: what it is of, and what helps, as tenon inspect says it. */
static int refuse_without_loader(struct cli *cli, const struct run *run)
{
	struct tenon_buffer kind = TENON_BUFFER_INIT;
	struct module_list l;
	int code = 0;

	if (module_list_make(run->module, &l)) {
		tenon_error_clear();
		return 0;
	}
	if (!strcmp(l.items->loader, "missing")) {
		module_list_kind(l.items, &kind);
		tenon_error(-TENON_E_NO_LOADER, "%s: no loader for %s: %s", run->file,
			    kind.data ? kind.data : "", l.items->remedy);
		code = cli_error(cli, CLI_UNAVAILABLE);
	}
	tenon_buffer_fini(&kind);
	module_list_drop(&l);
	return code;
}

static bool is_of_root(const struct run *run)
{
	struct tenon_function *f = NULL;

	if (tenon_module_find_function(run->module, tenon_slice_of(run->function), false, &f))
		tenon_error_clear();
	tenon_object_unref(f);
	return f;
}

int run_find_named(struct cli *cli, struct run *run)
{
	int err, code;

	if (!run->function)
		return refuse_without_loader(cli, run);
	err = tenon_module_find_function(run->module, tenon_slice_of(run->function), true,
					 &run->called);
	/* one that is not there may be one that only the loader could tell */
	if (!err && (!run->called || is_of_root(run))) {
		code = refuse_without_loader(cli, run);
		if (code)
			return code;
	}
	/* for its message, which names the nearest */
	if (!err && !run->called)
		err = tenon_module_get_function(run->module, run->function, &run->called);
	if (!err)
		return 0;
	return cli_error(cli,
			 cli_exit_of(err, err == -TENON_E_NOT_FOUND ? CLI_USAGE : CLI_NO_FILE));
}

int run_find_default(struct cli *cli, struct run *run)
{
	struct names names = { .list = TENON_BUFFER_INIT };
	int err, code;

	err = tenon_module_find_function(run->module, tenon_slice_of("main"), true, &run->called);
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	if (run->called) {
		run->function = "main";
		return 0;
	}
	if (tenon_module_each_function(run->module, add_name, &names))
		tenon_error_clear(); /* it cannot list them */
	code = choose(cli, run, &names);
	tenon_buffer_fini(&names.list);
	return code;
}

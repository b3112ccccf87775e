/* SPDX-License-Identifier: MIT */
#include "tools/run.h"

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

static int find_default(struct cli *cli, struct run *run)
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

int run_find(struct cli *cli, struct run *run)
{
	int err;

	if (!run->function)
		return find_default(cli, run);
	err = tenon_module_get_function(run->module, run->function, &run->called);
	if (!err)
		return 0;
	return cli_error(cli,
			 cli_exit_of(err, err == -TENON_E_NOT_FOUND ? CLI_USAGE : CLI_NO_FILE));
}

/* SPDX-License-Identifier: MIT */
/* Open the device, load the module, and find functions for that device in it. */
#include "tools/replay/replay_target.h"

#include <stdlib.h>
#include <tenon/backend/backend.h>

#include "runtime/device/kernel_call.h"
#include "tools/cli/progress.h"
#include "tools/device_option/target_list.h"
#include "tools/link_verb/link_load.h"

/* import trees are less deep; modules of foreign code may be cyclic */
#define DEEPEST 300

static int load_kept(const struct replay_manifest *m, size_t index, struct tenon_module **out)
{
	char *path;
	int err = replay_module_path(m, index, &path);

	if (err)
		return err;
	err = link_load(path, NULL, 0, out);
	free(path);
	return err;
}

/* The module of the record, with what was imported into it. */
static int load_recorded(const struct replay_manifest *m, struct tenon_module **out)
{
	struct tenon_module *other;
	size_t i;
	int err;

	if (!m->module_count)
		return tenon_error(-TENON_E_NOT_FOUND,
				   "%s: the record names no module; give one: --module FILE",
				   m->folder);
	err = load_kept(m, 0, out);
	for (i = 1; i < m->module_count && !err; i++) {
		err = load_kept(m, i, &other);
		if (!err) {
			err = tenon_module_import(*out, other);
			tenon_object_unref(other);
		}
	}
	return err;
}

int replay_target_open(struct cli *cli, const struct replay_manifest *m, struct replay_target *t)
{
	int code = target_open(cli, t->name, &t->on), err;

	if (code)
		return code;
	t->id = t->on ? t->on->id : (DLDevice){ kDLCPU, 0 };
	progress_say("loading the module for %s", t->name);
	err = t->file ? link_load(t->file, NULL, 0, &t->module) : load_recorded(m, &t->module);
	return err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : 0;
}

void replay_target_close(struct replay_target *t)
{
	tenon_object_unref(t->module);
	tenon_object_unref(t->on);
}

/* Find a kernel in the payloads for devices of this type. */
static int find_kernel(const struct replay_target *t, struct tenon_module *m,
		       struct tenon_slice name, unsigned int depth, struct tenon_function **out)
{
	const struct tenon_backend *b = tenon_backend_of_kind(tenon_module_kind(m));
	size_t i;
	int err = 0;

	if (b && tenon_backend_device_type(b) == (int32_t)t->id.device_type)
		err = tenon_module_find_function(m, name, false, out);
	for (i = 0; !err && !*out && depth < DEEPEST && i < tenon_module_import_count(m); i++)
		err = find_kernel(t, tenon_module_import_at(m, i), name, depth + 1, out);
	return err;
}

int replay_target_function(const struct replay_target *t, const struct replay_operation *op,
			   struct tenon_function **out)
{
	int err;

	*out = NULL;
	if (op->kind == REPLAY_OPERATOR)
		return tenon_module_find_function(t->module, tenon_slice_of(op->function), true,
						  out);
	if (!t->on)
		return 0;
	err = find_kernel(t, t->module, tenon_slice_of(op->name), 0, out);
	if (!err && *out && !kernel_function_info(*out)) {
		tenon_object_unref(*out);
		*out = NULL;
	}
	return err;
}

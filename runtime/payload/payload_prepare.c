/* SPDX-License-Identifier: MIT */
/* The programs of a module and its imports, to be built for a device. */
#include <stdlib.h>

#include "lib/array_room.h"
#include "lib/brief_errors.h"
#include "runtime/core/reference.h"
#include "runtime/device/device_prepare.h"
#include "runtime/payload/payload_module.h"

/* modules in the order of their discovery, each once; then their executables */
struct found {
	struct tenon_module **modules;
	size_t module_count;
	size_t room;
	struct tenon_executable **executables;
	size_t executable_count;
};

static int add_module(struct found *f, struct tenon_module *m)
{
	size_t i;

	for (i = 0; i < f->module_count; i++)
		if (f->modules[i] == m)
			return 0;
	if (!array_reserve(f->modules, f->room, f->module_count + 1))
		return tenon_error(-TENON_E_NOMEM, "no memory for a list of modules");
	f->modules[f->module_count++] = m;
	return 0;
}

static int find_modules(struct found *f, struct tenon_module *root)
{
	size_t i, j;
	int err = add_module(f, root);

	for (i = 0; i < f->module_count && !err; i++) {
		struct tenon_module *m = f->modules[i];

		for (j = 0; j < tenon_module_import_count(m) && !err; j++)
			err = add_module(f, tenon_module_import_at(m, j));
	}
	return err;
}

static int find_executables(struct found *f, struct tenon_device *device)
{
	struct tenon_executable *e;
	size_t i;
	int err = 0;

	f->executables = malloc(f->module_count * sizeof(struct tenon_executable *));
	if (!f->executables)
		return tenon_error(-TENON_E_NOMEM, "no memory for a list of programs");
	for (i = 0; i < f->module_count && !err; i++) {
		err = payload_module_executable(f->modules[i], device, &e);
		if (e)
			f->executables[f->executable_count++] = e;
	}
	return err;
}

static int prepare_create(struct tenon_module *m, struct tenon_device *device,
			  const struct tenon_prepare *how, struct tenon_preparation **out)
{
	struct found f = { NULL, 0, 0, NULL, 0 };
	size_t i;
	int err;

	*out = NULL;
	err = find_modules(&f, m);
	if (!err)
		err = find_executables(&f, device);
	if (!err)
		err = preparation_create(f.executables, f.executable_count, how, out);
	for (i = 0; i < f.executable_count; i++)
		tenon_object_unref(f.executables[i]);
	free(f.executables);
	free(f.modules);
	return err;
}

int tenon_module_prepare_start(struct tenon_module *m, struct tenon_device *device,
			       const struct tenon_prepare *how, struct tenon_preparation **out)
{
	int err;

	err = prepare_create(m, device, how, out);
	if (err)
		return err;
	err = preparation_start(*out, false);
	return object_made(err, out);
}

int tenon_module_prepare(struct tenon_module *m, struct tenon_device *device,
			 const struct tenon_prepare *how)
{
	struct tenon_preparation *p;
	int err;

	err = prepare_create(m, device, how, &p);
	if (err)
		return err;
	/* without threads of its own this one builds all */
	preparation_start(p, true);
	preparation_help(p);
	err = tenon_preparation_wait(p);
	tenon_object_unref(p);
	return err;
}

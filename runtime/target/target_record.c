/* SPDX-License-Identifier: MIT */
/* Targets that a file names, and those that a program gives instead. */
#include "runtime/target/target_module.h"

#include <tenon/backend/cursor.h>
#include <tenon/backend/module_kind.h>

#include "lib/brief_errors.h"

#define VERSION	    1
#define NAMES	    5
#define NAMES_LEAST ((NAMES + 1) * 8)

/* texts of an artifact, in the order of the record */
enum { CODEGEN_ID, LOADER, TARGET_KEY, FILE_NAME, DEVICE };

static __thread struct target_choice *thread_choice;

struct target_choice *target_choice_set(struct target_choice *choice)
{
	struct target_choice *before = thread_choice;

	thread_choice = choice;
	return before;
}

const char *target_choice_find(struct target_choice *choice, struct tenon_slice key)
{
	size_t i;

	for (i = 0; choice && i < choice->count; i++)
		if (tenon_slice_equal(tenon_slice_of(choice->targets[i].key), key)) {
			choice->used |= UINT64_C(1) << i;
			return choice->targets[i].device;
		}
	return NULL;
}

int target_choice_check(const struct target_choice *choice, const char *what)
{
	size_t i;

	for (i = 0; i < choice->count; i++)
		if (!(choice->used >> i & 1))
			return tenon_error(-TENON_E_NOT_FOUND,
					   "%s: no program has the target key \"%s\"; tenon link "
					   "gives it one, as in FILE=KIND@%s",
					   what, choice->targets[i].key, choice->targets[i].key);
	return 0;
}

static int read_artifact(struct tenon_cursor *c, uint64_t *module, struct tenon_slice names[NAMES])
{
	int i, err = tenon_cursor_u64(c, module);

	for (i = 0; i < NAMES && !err; i++)
		err = tenon_cursor_string(c, &names[i]);
	return err;
}

/* Put the module of an artifact behind one with its target, unless it has none. */
static int bind(struct target_set *list, const struct tenon_slice names[NAMES],
		struct tenon_module **m)
{
	const char *chosen = target_choice_find(thread_choice, names[TARGET_KEY]);
	struct tenon_slice device = chosen ? tenon_slice_of(chosen) : names[DEVICE];

	if (!device.size && tenon_slice_equal(names[LOADER], names[TARGET_KEY]))
		return 0;
	return target_set_add(list, names[TARGET_KEY], device, m);
}

static int bind_all(struct tenon_cursor *c, struct tenon_module **modules, size_t count)
{
	struct tenon_slice names[NAMES];
	struct target_set *list;
	uint64_t artifacts, i, module, programs = 0;
	int err;

	err = tenon_cursor_count(c, NAMES_LEAST, &artifacts);
	if (!err)
		err = target_set_create(count, &list);
	if (err)
		return err;
	for (i = 0; i < artifacts && !err; i++) {
		const struct tenon_cursor at = *c;

		err = read_artifact(c, &module, names);
		if (err || tenon_slice_equal(names[LOADER], tenon_slice_of("native")))
			continue;
		/* the set has room for each module once */
		if (module >= count || programs++ == count ||
		    !tenon_slice_equal(modules[module]->kind, names[LOADER]))
			err = tenon_cursor_error(&at, -TENON_E_FORMAT,
						 "an artifact whose module is not in the tree");
		else
			err = bind(list, names, &modules[module]);
	}
	target_set_close(list);
	return err;
}

int target_record_bind(struct tenon_slice record, const char *file, struct tenon_module **modules,
		       size_t count)
{
	struct tenon_cursor c = tenon_cursor_of(record.data, record.size, "names of artifacts", 0);
	uint64_t size;
	uint32_t version;
	int err;

	if (!record.size)
		return 0;
	err = tenon_cursor_u64(&c, &size);
	if (!err && size < tenon_cursor_left(&c))
		c.end = c.at + size;
	if (!err)
		err = tenon_cursor_u32(&c, &version);
	/* a later version has other names: they are not needed to run */
	if (!err && version != VERSION)
		return 0;
	if (!err)
		err = bind_all(&c, modules, count);
	if (thread_choice)
		thread_choice->bound = true;
	return err ? tenon_error_in(err, "%s", file) : 0;
}

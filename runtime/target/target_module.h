/* SPDX-License-Identifier: MIT */
/* Modules that run on the device of their target key. */
#ifndef RUNTIME_TARGET_TARGET_MODULE_H
#define RUNTIME_TARGET_TARGET_MODULE_H

/*
 * A module that has a target key is put behind another one of the same kind, which calls its
 * functions on the target's device. All such modules of a tree are in one list, so that each knows
 * which others have a function of the same name.
 */

#include <tenon/artifact.h>

#include "lib/plugin_api.h"

struct target_set;

/** target_set_create - make an empty list with room for @room targets; 0 or -TENON_E_NOMEM */
int target_set_create(size_t room, struct target_set **out) TO_PLUGINS(target_set_create);

/**
 * target_set_add - put a module behind one that has a target
 * @list: there is room
 * @key: target key, copied
 * @device: URI, copied; empty for the thread's current device
 * @m: the module; its reference is moved to the list, and *@m receives the other one
 *
 * Return: 0; -TENON_E_NOMEM, with *@m as it was.
 */
int target_set_add(struct target_set *list, struct tenon_slice key, struct tenon_slice device,
		   struct tenon_module **m) TO_PLUGINS(target_set_add);

/** target_set_close - drop the creator's reference; the modules keep the list */
void target_set_close(struct target_set *list) TO_PLUGINS(target_set_close);

/**
 * target_record_bind - give the modules of a tree the targets of a file's record
 * @record: from the symbol `__tenon_artifacts` to the end of the symbol or segment; empty for none
 * @file: for messages
 * @modules: @count modules by their numbers; those with a target are replaced
 * @count: how many
 *
 * Uses the devices that tenon_module_load_for() was given in this thread.
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NOMEM.
 */
#if defined(CONFIG_DEVICES) && defined(CONFIG_DSO)
int target_record_bind(struct tenon_slice record, const char *file, struct tenon_module **modules,
		       size_t count);
#else
static inline int target_record_bind(struct tenon_slice record, const char *file,
				     struct tenon_module **modules, size_t count)
{
	return 0;
}
#endif

/** struct target_choice - the devices that a caller gives for keys */
struct target_choice {
	const struct tenon_target *targets;
	size_t count;
	uint64_t used; /* bit of each target whose key was found */
	bool bound;    /* a record was read */
};

/* most targets of a choice */
#define TARGETS_MOST 64

/** target_choice_find - the device that a choice gives a key; NULL for none. @choice may be NULL. */
const char *target_choice_find(struct target_choice *choice, struct tenon_slice key)
	TO_PLUGINS(target_choice_find);

/** target_choice_check - fail with the first key of a choice that was not found; 0; -TENON_E_NOT_FOUND */
int target_choice_check(const struct target_choice *choice, const char *what)
	TO_PLUGINS(target_choice_check);

/** target_choice_set - let records that this thread reads use a choice; returns the one before */
struct target_choice *target_choice_set(struct target_choice *choice);

#endif /* RUNTIME_TARGET_TARGET_MODULE_H */

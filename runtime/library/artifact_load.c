/* SPDX-License-Identifier: MIT */
/* Load files with other devices for their target keys; a plug-in loads sets of artifacts (artifact_set.c). */
#include "lib/brief_errors.h"
#include "runtime/core/describer.h"
#include "runtime/core/reference.h"
#include "runtime/target/target_module.h"

int tenon_artifacts_load(const struct tenon_artifact *items, size_t count,
			 const struct tenon_target *targets, size_t target_count,
			 struct tenon_module **out)
{
	*out = NULL;
	return DESCRIBER(artifacts, items, count, targets, target_count, out);
}

int tenon_module_load_for(const char *path, const struct tenon_target *targets, size_t count,
			  struct tenon_module **out)
{
	struct target_choice choice = { .targets = targets, .count = count }, *before;
	int err;

	*out = NULL;
	if (count > TARGETS_MOST)
		return tenon_error(-TENON_E_VALUE, "%zu targets, %d at most", count, TARGETS_MOST);
	before = target_choice_set(&choice);
	err = tenon_module_load(path, out);
	target_choice_set(before);
	if (!err && count && !choice.bound)
		err = tenon_error(-TENON_E_NOT_FOUND,
				  "%s: names no target keys, or is open already and has its "
				  "devices; tenon link --target-key gives names",
				  path);
	if (!err)
		err = target_choice_check(&choice, path);
	return object_made(err, out);
}

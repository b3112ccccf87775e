/* SPDX-License-Identifier: MIT */
/* Loading of modules, and of manifests and archives that become one. */
#ifndef TOOLS_LINK_VERB_LINK_LOAD_H
#define TOOLS_LINK_VERB_LINK_LOAD_H

#include <tenon/artifact.h>
#include <tenon/link.h>

/** link_options - options for the library that show its steps as those of the command */
struct tenon_link_options link_options(void);

#ifdef CONFIG_LINK
/**
 * link_load - tenon_link_load(), with progress shown
 * @path: the file
 * @targets: @count devices of target keys
 * @count: how many
 * @out: receives the module with one reference
 *
 * Return: as tenon_link_load().
 */
int link_load(const char *path, const struct tenon_target *targets, size_t count,
	      struct tenon_module **out);
#else
static inline int link_load(const char *path, const struct tenon_target *targets, size_t count,
			    struct tenon_module **out)
{
	return tenon_module_load_for(path, targets, count, out);
}
#endif

#endif /* TOOLS_LINK_VERB_LINK_LOAD_H */

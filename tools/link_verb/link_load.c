/* SPDX-License-Identifier: MIT */
/* Load by the library, with its steps shown as the command's progress. */
#include "tools/link_verb/link_load.h"

#include "tools/cli/progress.h"

static void show_step(void *context, const char *step)
{
	progress_say("%s", step);
}

struct tenon_link_options link_options(void)
{
	struct tenon_link_options o;

	tenon_link_options_init(&o, sizeof(o));
	o.progress = show_step;
	return o;
}

int link_load(const char *path, const struct tenon_target *targets, size_t count,
	      struct tenon_module **out)
{
	struct tenon_link_options o = link_options();

	o.targets = targets;
	o.target_count = count;
	return tenon_link_load(path, &o, out);
}

/* SPDX-License-Identifier: MIT */
/* Link a manifest or archive to a temporary module and load it. */
#include "tools/link/link_load.h"

#include <string.h>

#include "tools/cli/progress.h"
#include "tools/link/link.h"

#ifdef CONFIG_MODEL_LIBRARY_FORMAT
#include "link/mlf/mlf.h"
#endif

bool link_is_manifest(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && !strcmp(dot, ".json");
}

/* Make the module that a manifest or an archive stands for. */
static int write_module(const char *path, struct link_made *made)
{
#ifdef CONFIG_MODEL_LIBRARY_FORMAT
	if (mlf_is_archive(path))
		return link_cached_archive(path, made->folder, made->path.data);
#endif
	progress_say("linking %s", path);
	return link_of_manifest(path, made->path.data);
}

int link_make(const char *path, struct link_made *made)
{
	int err;

	memset(made, 0, sizeof(*made));
	err = link_folder_make(made->folder);
	if (err)
		return err;
	if (tenon_buffer_printf(&made->path, "%s/" LINK_MADE_NAME, made->folder))
		return tenon_error(-TENON_E_NOMEM, "no memory for a path");
	return write_module(path, made);
}

void link_made_fini(struct link_made *made)
{
	link_folder_remove(made->folder);
	tenon_buffer_fini(&made->path);
}

static bool is_made(const char *path)
{
#ifdef CONFIG_MODEL_LIBRARY_FORMAT
	if (mlf_is_archive(path))
		return true;
#endif
	return link_is_manifest(path);
}

int link_load(const char *path, const struct tenon_target *targets, size_t count,
	      struct tenon_module **out)
{
	struct link_made made;
	int err;

	*out = NULL;
	if (!is_made(path))
		return tenon_module_load_for(path, targets, count, out);
	err = link_make(path, &made);
	if (!err)
		err = tenon_module_load_for(made.path.data, targets, count, out);
	/* the mapping stays */
	link_made_fini(&made);
	return err;
}

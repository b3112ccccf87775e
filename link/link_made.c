/* SPDX-License-Identifier: MIT */
/* tenon_link_load(): files that become a module when they are used: manifests, archives. */
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/options.h"
#include "link/link_request.h"

/* Make the module that a manifest or an archive stands for. */
static int write_module(const char *path, const struct tenon_link_options *options,
			struct link_made *made)
{
	const struct link_request r = {
		.output = made->path.data,
		.generation = TENON_GENERATION_LEGACY,
		.inputs = &(struct link_input){ .path = (char *)(uintptr_t)path },
		.input_count = 1,
		.progress = options ? options->progress : NULL,
		.context = options ? options->context : NULL
	};

	if (!link_is_manifest(path))
		return link_cached_archive(&r, made->folder);
	link_say(&r, "linking", path);
	return link_of_manifest(&r);
}

int link_make(const char *path, const struct tenon_link_options *options, struct link_made *made)
{
	int err;

	memset(made, 0, sizeof(*made));
	err = link_folder_make(made->folder);
	if (err)
		return err;
	if (tenon_buffer_printf(&made->path, "%s/" LINK_MADE_NAME, made->folder))
		return tenon_error(-TENON_E_NOMEM, "no memory for a path");
	return write_module(path, options, made);
}

void link_made_fini(struct link_made *made)
{
	link_folder_remove(made->folder);
	tenon_buffer_fini(&made->path);
}

int tenon_link_load(const char *file, const struct tenon_link_options *options,
		    struct tenon_module **out)
{
	struct tenon_link_options o;
	struct link_made made;
	int err = options_read(options, &o, sizeof(o));

	*out = NULL;
	if (err)
		return err;
	if (!link_is_alone(file))
		return tenon_module_load_for(file, o.targets, o.target_count, out);
	err = link_make(file, &o, &made);
	if (!err)
		err = tenon_module_load_for(made.path.data, o.targets, o.target_count, out);
	/* the mapping stays */
	link_made_fini(&made);
	return err;
}

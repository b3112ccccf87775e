/* SPDX-License-Identifier: MIT */
/* Opening a file for inspection only: the public function. A plug-in does it (inspect.c). */
#include "runtime/core/describer.h"
#include "runtime/library/inspect.h"

int inspect_file(const char *path, struct tenon_object **keep, struct tenon_slice *bytes,
		 struct tenon_module **out)
{
	*keep = NULL;
	*out = NULL;
	return DESCRIBER(module, path, keep, bytes, out);
}

int tenon_module_inspect(const char *path, struct tenon_module **out)
{
	struct tenon_object *keep;
	struct tenon_slice bytes;
	int err = inspect_file(path, &keep, &bytes, out);

	tenon_object_unref(keep);
	return err;
}

int inspect_stand_in(const char *file, struct tenon_module **out)
{
	*out = NULL;
	return DESCRIBER(stand_in, file, out);
}

/* SPDX-License-Identifier: MIT */
/* Find the loader of an extension among built-in, backend and registered ones. */
#include "runtime/library/file_loader.h"

#include "lib/option.h"
#include "runtime/kind/loaders.h"
#include "runtime/kind/name_list.h"
#include "runtime/library/file_extension.h"
#include "runtime/payload/payload_file.h"

int file_loader_find(struct tenon_slice extension, struct tenon_function **out)
{
	int err;

	err = loader_find_global(LOADER_OF_FILES, extension, out);
	if (OPTION_ON(DEVICES) && !err && !*out && payload_file_known(extension))
		err = tenon_function_create(NULL, payload_file_load, NULL, out);
	return err;
}

#ifdef CONFIG_INSPECT
int file_load(const char *path, struct tenon_module **out)
{
	struct tenon_function *function;
	int err;

	*out = NULL;
	err = file_loader_find(file_extension(path), &function);
	if (!err && function)
		err = file_load_by(function, path, out);
	tenon_object_unref(function);
	return err;
}
#endif

static int add_suffix(void *context, const char *suffix)
{
	name_list_add(context, suffix);
	return 0;
}

int file_loader_names(struct tenon_buffer *out)
{
	struct name_list list = { out, out->size, "." };

	if (OPTION_ON(DSO))
		name_list_add(&list, "so");
	payload_file_each_suffix(true, add_suffix, &list);
	name_list_add_globals(&list, LOADER_OF_FILES);
	return name_list_end(&list);
}

/* SPDX-License-Identifier: MIT */
/* Find the extension in a path and load a file by it. */
#include <string.h>

#include "runtime/library/file_extension.h"
#include "runtime/kind/loaders.h"

static bool is_number(struct tenon_slice s)
{
	size_t i;

	for (i = 0; i < s.size; i++)
		if (s.data[i] < '0' || s.data[i] > '9')
			return false;
	return s.size > 0;
}

struct tenon_slice file_extension(const char *path)
{
	struct tenon_slice name = tenon_slice_of(path), extension = { "", 0 };
	const char *slash = memrchr(path, '/', name.size), *dot;

	if (slash)
		name = tenon_slice_of(slash + 1);

	/* "libm.so.6.1": skip the version at the end. */
	while ((dot = memrchr(name.data, '.', name.size))) {
		extension.data = dot + 1;
		extension.size = name.size - (size_t)(dot + 1 - name.data);
		if (!is_number(extension))
			break;
		name.size = (size_t)(dot - name.data);
		extension.size = 0;
	}
	return extension;
}

bool file_extension_is_library(struct tenon_slice extension)
{
	static const char words[][6] = { "", "so", "dylib", "dll", "dso" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (tenon_slice_equal(extension, tenon_slice_of(words[i])))
			return true;
	return false;
}

int file_load_by(struct tenon_function *function, const char *path, struct tenon_module **out)
{
	struct tenon_slice extension = file_extension(path);
	struct tenon_value args[2] = { tenon_arg_string(path), tenon_arg_none() };
	int err;

	/* "model.examplejson.1" does not end in its extension, so copy the extension. */
	err = tenon_string_value(extension, &args[1]);
	if (err)
		return err;
	err = loader_call(function, args, 2, out);
	tenon_value_release(&args[1]);
	return err;
}

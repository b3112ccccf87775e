/* SPDX-License-Identifier: MIT */
/* Without the compatibility library: names of the runtime must be there already, or are refused. */
#include <dlfcn.h>
#include <tenon/error.h>

#include "runtime/loader/compat_library.h"

static int find_unserved(void *context, const char *name, bool is_code)
{
	(void)is_code;
	if (!is_runtime_name(name) || dlsym(RTLD_DEFAULT, name))
		return 0;
	*(const char **)context = name;
	return 1;
}

int compat_library_serve(const struct loaded_object *o, void *handle)
{
	const char *name = NULL;

	(void)handle;
	if (!loaded_object_each(o, false, find_unserved, &name))
		return 0;
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"it imports %s, which neither this build of Tenon nor the program offers; the "
		"compatibility library does (CONFIG_TVM_FFI_COMPAT=y)",
		name);
}

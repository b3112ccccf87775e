/* SPDX-License-Identifier: MIT */
#include "lib/vendor_library.h"

#include <dlfcn.h>
#include <string.h>
#include <tenon/buffer.h>
#include <tenon/error.h>

static void *open_first(const char *const *names, struct tenon_buffer *tried)
{
	const char *words;
	void *handle;
	size_t i;

	for (i = 0; names[i]; i++) {
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		if (handle)
			return handle;
		words = dlerror();
		tenon_buffer_printf(tried, "%s%s", tried->size ? "; " : "",
				    words ? words : names[i]);
	}
	return NULL;
}

int vendor_library_open(const char *const *names, const char *remedy,
			const struct vendor_symbol *symbols, size_t count, void *table,
			void **handle)
{
	struct tenon_buffer tried = TENON_BUFFER_INIT;
	size_t i;
	int err = 0;

	*handle = open_first(names, &tried);
	if (!*handle) {
		err = tenon_error(-TENON_E_DEVICE, "%s. %s", tried.data ? tried.data : names[0],
				  remedy);
		tenon_buffer_fini(&tried);
		return err;
	}
	tenon_buffer_fini(&tried);
	/* first look, then fill: the table stays as it was on failure */
	for (i = 0; i < count && !err; i++)
		if (!symbols[i].optional && !dlsym(*handle, symbols[i].name))
			err = tenon_error(-TENON_E_DEVICE,
					  "%s has no function %s: it is too old. %s", names[0],
					  symbols[i].name, remedy);
	for (i = 0; i < count && !err; i++) {
		void *address = dlsym(*handle, symbols[i].name);

		memcpy((char *)table + symbols[i].offset, &address, sizeof(address));
	}
	if (err) {
		dlclose(*handle);
		*handle = NULL;
	}
	return err;
}

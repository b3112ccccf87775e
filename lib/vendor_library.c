/* SPDX-License-Identifier: MIT */
/* Open a vendor's library by its names, and fill a table of its functions. */
#include "lib/vendor_library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/fork_gate.h"
#include "lib/library_open.h"

const char *vendor_library_named(const char *variable)
{
	const char *path = secure_getenv(variable);

	/* dlopen() takes "" for the program itself */
	return path && *path ? path : NULL;
}

static int open_first(const char *const *names, struct tenon_buffer *tried, void **handle)
{
	const char *words;
	size_t i;
	int err = 0;

	*handle = NULL;
	for (i = 0; names[i] && !err && !*handle; i++) {
		err = library_open(names[i], RTLD_NOW | RTLD_LOCAL, handle, &words);
		if (!err && !*handle)
			err = tenon_buffer_printf(tried, "%s%s", tried->size ? "; " : "", words);
	}
	return err;
}

static int open_and_fill(const char *const *names, const char *remedy,
			 const struct vendor_symbol *symbols, size_t count, void *table,
			 void **handle)
{
	struct tenon_buffer tried = TENON_BUFFER_INIT;
	size_t i;
	int err;

	err = open_first(names, &tried, handle);
	if (!err && !*handle)
		err = tenon_error(-TENON_E_DEVICE, "%s. %s", tried.data, remedy);
	tenon_buffer_fini(&tried);
	if (err)
		return err;
	/* look up all symbols before filling the table: it stays unchanged on failure */
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

int vendor_library_open(const char *const *names, const char *remedy,
			const struct vendor_symbol *symbols, size_t count, void *table,
			void **handle)
{
	int err;

	fork_gate_enter();
	err = open_and_fill(names, remedy, symbols, count, table, handle);
	fork_gate_leave();
	return err;
}

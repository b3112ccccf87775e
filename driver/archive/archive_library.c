/* SPDX-License-Identifier: MIT */
/* Open libarchive on first use and look its functions up. */
#include "driver/archive/archive_api.h"

#include "lib/vendor_library.h"

struct archive_api archive_api;

static const struct vendor_symbol symbols[] = {
#define SYMBOL(result, name, parameters)                                                           \
	{ "archive_" #name, offsetof(struct archive_api, name), false },
	ARCHIVE_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

int archive_library(void)
{
	static void *handle;
	const char *own = vendor_library_named("TENON_ARCHIVE_LIBRARY");
	const char *const names[] = { own ? own : "libarchive.so.13", own ? NULL : "libarchive.so",
				      NULL };

	if (handle)
		return 0;
	return vendor_library_open(names,
				   "Archives are read and written by libarchive: install it "
				   "(Debian: apt install libarchive13 or libarchive13t64)",
				   symbols, sizeof(symbols) / sizeof(*symbols), &archive_api,
				   &handle);
}

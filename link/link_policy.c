/* SPDX-License-Identifier: MIT */
/* tenon_link_verified(): files are loaded only if their payloads are those that were linked. */
#include <tenon/error.h>
#include <tenon/link.h>

#include "link/module/link_host.h"

static void refuse(void *context, size_t module)
{
	*(bool *)context = true;
}

int tenon_link_verified(void *context, const char *path)
{
	struct link_host h = { 0 };
	bool refused = false;
	int err;

	err = link_host_open(path, &h);
	if (!err && h.symbols.has_blob)
		err = link_host_check_hashes(&h, refuse, &refused);
	link_host_fini(&h);
	return err ? err : refused ? -TENON_E_VALUE : 0;
}

/* SPDX-License-Identifier: MIT */
/* The device of a plug-in whose tables are shorter than today's (tests/device/plugin_old.c): the core never reads past their ends. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/cts/cts.h"
#include "tests/cts/host_kernels.h"

static const char *setup(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/device", getenv("TENON_BUILD"));
	setenv("TENON_BACKEND_PATH", path, 1);
	/* it is built with this program: not to find it is no reason to skip */
	if (!tenon_backend_find(tenon_slice_of("old"))) {
		fprintf(stderr, "%s/plugin_old.so is not used; see tenon doctor\n", path);
		exit(1);
	}
	return NULL;
}

const struct cts_backend cts_backend = {
	.uri = "old:0",
	.format = "functions",
	.code = host_kernels_code,
	.setup = setup,
};

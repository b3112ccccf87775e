/* SPDX-License-Identifier: MIT */
/* The model of Ethos-U: its payloads are networks, with one kernel "main", so the suite's kernels cannot be had. */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "tests/cts/cts.h"

#define NETWORK "a payload is a network, whose one kernel computes it"

static int network(struct tenon_buffer *out)
{
	const char *source = getenv("TENON_SOURCE");
	char path[512], bytes[4096];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "%s/tests/ethosu/data/u65_conv1x1/u65.npz",
		 source ? source : ".");
	file = fopen(path, "rb");
	if (!file)
		return -1;
	while ((size = fread(bytes, 1, sizeof(bytes), file)))
		tenon_buffer_append(out, bytes, size);
	fclose(file);
	return out->status;
}

static const struct cts_note unsupported[] = {
	{ "a_module_of_the_kind_is_loaded_and_called", NETWORK },
	{ NULL, NULL },
};

const struct cts_backend cts_backend = {
	.uri = "ethosu://sim",
	.kind = "ethos-u",
	.payload = network,
	.modern = true,
	.no_kernels = NETWORK,
	.unsupported = unsupported,
};

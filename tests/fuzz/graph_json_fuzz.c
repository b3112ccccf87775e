/* SPDX-License-Identifier: MIT */
/* The bytes are a graph.json. */
#include "runtime/graph/graph.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct graph g;
	int err;

	err = graph_read((struct tenon_slice){ (const char *)data, size }, "graph.json", &g);
	fuzz_check(err);
	if (!err)
		graph_fini(&g);
	return 0;
}

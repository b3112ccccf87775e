/* SPDX-License-Identifier: MIT */
/* The bytes are a graph.json, which all code generators get. */
#include "link/partition/partition.h"
#include "tests/fuzz/fuzz.h"

static void give(const struct op_graph *g, const struct generator *const *wanted)
{
	struct partition p;
	int err = partition_make(g, NULL, wanted, &p);

	if (!err)
		err = partition_generate(&p);
	fuzz_check(err);
	partition_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct generator *alone[2] = { NULL, NULL };
	struct op_graph g;
	size_t i;
	int err;

	err = op_graph_read((struct tenon_slice){ (const char *)data, size }, "graph.json", NULL,
			    &g);
	fuzz_check(err);
	for (i = 0; !err && generators[i]; i++) {
		alone[0] = generators[i];
		give(&g, alone);
	}
	op_graph_fini(&g);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* The bytes are the graph of a JSON runtime; all attributes that operators read are read. */
#include "runtime/byoc/json_attributes.h"
#include "tests/fuzz/fuzz.h"

static void read_attributes(const struct byoc_graph *g, const struct byoc_node *n)
{
	static const char *const keys[] = { "strides",	 "padding",	"dilation",  "groups",
					    "axis",	 "data_layout", "epsilon",   "a_min",
					    "pool_size", "scales",	"zero_point" };
	struct byoc_reader r = { .g = g, .n = n };
	int64_t numbers[4], after[2];
	int to[GRAPH_DIMS_MOST];
	size_t i, k;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		for (k = 0; k < 7; k++) {
			r.err = 0;
			if (k == 0)
				byoc_list(&r, keys[i], 4, 1, numbers);
			else if (k == 1)
				byoc_integer(&r, keys[i], 0);
			else if (k == 2)
				byoc_real(&r, keys[i], 0);
			else if (k == 3)
				byoc_text(&r, keys[i]);
			else if (k == 4)
				byoc_axis(&r, 0, 4);
			else if (k == 5)
				byoc_padding(&r, 2, numbers, after);
			else
				byoc_data_axes(&r, keys[i], NULL, 4, to);
			fuzz_check(r.err);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byoc_graph g;
	uint32_t i;
	int err;

	err = byoc_graph_read((struct tenon_slice){ (const char *)data, size }, "dnnl.json", &g);
	fuzz_check(err);
	for (i = 0; i < g.node_count && !err; i++)
		read_attributes(&g, &g.nodes[i]);
	byoc_graph_fini(&g);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Read a network that Vela compiled, with its inputs and outputs, and where they belong. */
#include "tests/npu/networks.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/suite.h"

#define U55_128 0x00001807
#define U65_256 0x10003008

const struct network networks[NETWORKS] = {
	[AVGPOOL] = { "u55_avgpool",
		      "payload.bin",
		      NULL,
		      U55_128,
		      { 0, 2144 },
		      { { "in0.bin", 1, 512 } },
		      { { "ref0.bin", 1, 0 } } },
	[CONVOLUTION] = { "u65_conv1x1",
			  "payload.bin",
			  "constants.bin",
			  U65_256,
			  { 496, 2048 },
			  { { "in0.bin", 1, 1024 } },
			  { { "ref0.bin", 1, 0 } } },
	[ADDITION] = { "u65_add2_cop2",
		       "payload.bin",
		       NULL,
		       U65_256,
		       { 0, 0, 0, 1152, 576 },
		       { { "in0.bin", 3, 0 }, { "in1.bin", 3, 576 } },
		       { { "ref0.bin", 4, 0 } } },
	[FALLBACK_0] = { "u65_cpu_fallback",
			 "payload0.bin",
			 "constants.bin",
			 U65_256,
			 { 1776, 8192 },
			 { { "op0_input0.bin", 1, 0 } },
			 { { "op0_output0.bin", 1, 4096 } } },
	[FALLBACK_1] = { "u65_cpu_fallback",
			 "payload1.bin",
			 "constants.bin",
			 U65_256,
			 { 1776, 8192 },
			 { { "op1_input0.bin", 1, 0 } },
			 { { "op1_output0.bin", 1, 1024 }, { "op1_output1.bin", 1, 0 } } },
	[SOFTMAX] = { "u65_softmax_mix",
		      "payload.bin",
		      "constants.bin",
		      U65_256,
		      { 6496, 768, 4992 },
		      { { "in0.bin", 1, 0 } },
		      { { "ref0.bin", 1, 0 } } },
};

size_t network_file(const char *folder, const char *name, uint8_t *to)
{
	const char *source = getenv("TENON_SOURCE");
	char path[512];
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/ethosu/data/%s/%s", source ? source : ".", folder,
		 name);
	f = fopen(path, "rb");
	assert_non_null(f);
	size = fread(to, 1, FILE_MOST, f);
	fclose(f);
	return size;
}

static size_t read_places(const struct network *n, const struct place *places,
			  struct ethosu_range *out)
{
	static uint8_t bytes[FILE_MOST];
	size_t i;

	for (i = 0; i < IO_MOST && places[i].file; i++)
		out[i] = (struct ethosu_range){ places[i].region, places[i].offset,
						network_file(n->folder, places[i].file, bytes) };
	return i;
}

void network_read(enum network_id id, struct rig *r)
{
	const struct network *n = &networks[id];
	struct tenon_cursor c;

	memset(r, 0, sizeof(*r));
	r->network = n;
	c = tenon_cursor_of(r->payload, network_file(n->folder, n->payload, r->payload), n->payload,
			    0);
	assert_int_equal(ethosu_payload_read(&c, &r->p), 0);
	r->plan.payload = &r->p;
	r->plan.name = n->payload;
	if (n->constants)
		r->plan.constants =
			(struct tenon_slice){ (const char *)r->constants,
					      network_file(n->folder, n->constants, r->constants) };
	memcpy(r->plan.sizes, n->sizes, sizeof(n->sizes));
	r->plan.inputs = r->inputs;
	r->plan.input_count = read_places(n, n->inputs, r->inputs);
	r->plan.outputs = r->outputs;
	r->plan.output_count = read_places(n, n->outputs, r->outputs);
}

void network_put(const struct rig *r, const struct ethosu_network *n)
{
	size_t i;

	for (i = 0; i < r->plan.output_count; i++)
		memset(n->bound[r->outputs[i].region] + r->outputs[i].offset, 0x5a,
		       (size_t)r->outputs[i].size);
	for (i = 0; i < r->plan.input_count; i++)
		(void)network_file(r->network->folder, r->network->inputs[i].file,
				   n->bound[r->inputs[i].region] + r->inputs[i].offset);
}

bool network_is_right(const struct rig *r, const struct ethosu_network *n)
{
	static uint8_t want[FILE_MOST];
	size_t i;

	for (i = 0; i < r->plan.output_count; i++) {
		(void)network_file(r->network->folder, r->network->outputs[i].file, want);
		if (memcmp(n->bound[r->outputs[i].region] + r->outputs[i].offset, want,
			   (size_t)r->outputs[i].size))
			return false;
	}
	return true;
}

/* SPDX-License-Identifier: MIT */
/* the first byte chooses a kind of payload and a generation, the others are one */
#include <stdlib.h>

#include "runtime/payload/payload_format.h"
#include "tests/fuzz/fuzz.h"

const char *const fuzz_kinds[] = {
	"opencl",
	"cuda",
	"vulkan",
	"metal",
	"webgpu",
	"const_loader",
	"metadata_module",
	"GraphExecutorFactory",
	"AotExecutorFactory",
	"relax.VMExecutable",
	"VMExecutable",
	"dnnl_json",
	"mrvl_hw",
	"torch",
	"VitisAIRuntime",
	"ethos-n",
	"c",
	"static_library",
	"examplejson",
	"no_such_kind",
	NULL,
};

static int look(void *context, const struct payload_function *f)
{
	struct tenon_cursor tags = f->tags;
	struct tenon_slice tag;
	uint64_t i;

	(void)context;
	for (i = 0; i < f->tag_count; i++)
		fuzz_check(tenon_cursor_string(&tags, &tag));
	return 0;
}

static int look_at_name(void *context, struct tenon_slice name)
{
	uint32_t *sum = context;

	while (name.size)
		*sum += (uint8_t)name.data[--name.size];
	return 0;
}

static void use(const struct payload_facts *facts)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;

	payload_each_function(facts, look, NULL);
	payload_source(facts, &text);
	tenon_buffer_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct payload_facts facts = { .dialect = PAYLOAD_PLAIN };
	const struct payload_format *format;
	enum tenon_generation generation;
	struct tenon_cursor c;
	uint32_t sum = 0;
	int err;

	if (!size || data[0] / 2 >= 20)
		return 0;
	generation = data[0] & 1 ? TENON_GENERATION_FFI : TENON_GENERATION_LEGACY;
	facts.dialect = data[0] & 1 ? PAYLOAD_EXTRA : PAYLOAD_PLAIN;
	format = payload_format_of(tenon_slice_of(fuzz_kinds[data[0] / 2]));
	c = tenon_cursor_of(data + 1, size - 1, "payload", 0);
	err = payload_read(format, generation, &c, &facts);
	fuzz_check(err);
	if (!err)
		use(&facts);
	if (!format)
		return 0;
	if (payload_each_kernel(format, &c, facts.dialect, look_at_name, &sum, &err) && err)
		abort();
	fuzz_check(payload_measure(format, &c, facts.dialect));
	return 0;
}

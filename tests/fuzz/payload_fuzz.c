/* SPDX-License-Identifier: MIT */
/* The first byte chooses a kind of payload and a generation, the others are one. */
#include <stdlib.h>

#include "runtime/payload/payload_program.h"
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

static void look(const struct tenon_payload_function *f)
{
	struct tenon_cursor tags = tenon_cursor_of(f->tags.data, f->tags.size, "tags", 0);
	struct tenon_slice tag;
	uint64_t i;

	for (i = 0; i < f->tag_count; i++)
		fuzz_check(tenon_cursor_string(&tags, &tag));
}

static int look_at_name(void *context, struct tenon_slice name)
{
	uint32_t *sum = context;

	while (name.size)
		*sum += (uint8_t)name.data[--name.size];
	return 0;
}

static void use(const struct tenon_payload_format *format, const struct tenon_payload_info *info)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct tenon_program *program = NULL;
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < info->function_count; i++)
		look(&info->functions[i]);
	for (i = 0; i < info->part_count; i++) {
		look_at_name(&sum, info->parts[i].name);
		look_at_name(&sum, info->parts[i].code);
	}
	payload_source(info, &text);
	tenon_buffer_fini(&text);
#ifdef CONFIG_DEVICES
	fuzz_check(payload_program_make(format, info, "fuzz", &program));
	for (i = 0; program && i < program->kernel_count; i++)
		look_at_name(&sum, program->kernels[i].code);
	tenon_program_free(program);
#endif
	(void)format;
	(void)program;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_payload_info info = { .size = 0 };
	const struct tenon_payload_format *format;
	enum payload_dialect dialect;
	struct tenon_cursor c;
	uint32_t sum = 0;
	int err, names, visited;

	if (!size || data[0] / 2 >= 20)
		return 0;
	info.kind = tenon_slice_of(fuzz_kinds[data[0] / 2]);
	info.generation = data[0] & 1 ? TENON_GENERATION_FFI : TENON_GENERATION_LEGACY;
	info.extra_tags = data[0] & 1;
	dialect = info.extra_tags ? PAYLOAD_EXTRA_TAGS : PAYLOAD_NO_EXTRA_TAGS;
	format = payload_format_of(info.kind);
	c = tenon_cursor_of(data + 1, size - 1, "payload", 0);
	err = payload_read(format, &c, &info);
	fuzz_check(err);
	if (!err)
		use(format, &info);
	payload_info_fini(&info);
	/* names are read as all else is */
	names = payload_names(format, &c, &info, look_at_name, &sum, &visited);
	if (names != err || visited)
		abort();
	fuzz_check(names);
	if (!format)
		return 0;
	fuzz_check(payload_measure(format, &c, dialect));
	return 0;
}

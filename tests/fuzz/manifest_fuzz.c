/* SPDX-License-Identifier: MIT */
/* The bytes are the manifest.json of a module that was taken apart. */
#include <stdlib.h>
#include <string.h>

#include "link/module/manifest.h"
#include "tests/fuzz/fuzz.h"

/* jsmn's tokens, and an entry for each module */
const size_t fuzz_memory_per_byte = 256;

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	static const char text[] =
		"{\"tenon_manifest\": 1, \"abi\": \"modern\", \"kernel_tables\": \"tagged\", "
		"\"host\": "
		"{\"file\": \"host.so\", \"machine\": \"x86-64\", \"artifacts\": [{\"loader\": "
		"\"native\", \"codegen_id\": \"c\", \"target_key\": \"host\", \"file_name\": "
		"\"v.c\"}]},\n\"modules\": [{\"loader\": \"native\", \"imports\": [1, 2]}, "
		"{\"loader\": \"opencl\", \"codegen_id\": \"opencl\", \"target_key\": \"east\", "
		"\"file_name\": \"v.cl\", \"device\": \"opencl:0\", \"file\": \"v.cl\", \"table\": "
		"\"v.tvm_meta.json\", \"imports\": [2]}, {\"loader\": \"npu\", \"file\": "
		"\"\\u0061.payload\", \"later\": [{}]}]}";

	visit(context, "manifest", (struct tenon_slice){ text, sizeof(text) - 1 });
}

void fuzz_mutate(struct mutant *m)
{
	mutate_json(m);
}

/* Files are in the folder of the manifest, whatever it says. */
static void check_file(const char *name)
{
	if (*name == '.' || strchr(name, '/'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct manifest m = { 0 };
	int err = manifest_read((struct tenon_slice){ (const char *)data, size }, "manifest.json",
				&m);

	fuzz_check(err);
	if (!err)
		check_file(m.host);
	for (size_t i = 0; !err && i < m.tree.count; i++) {
		check_file(m.names[i].file);
		check_file(m.names[i].table);
		for (size_t j = 0; j < m.tree.modules[i].import_count; j++)
			if (m.tree.modules[i].imports[j] <= i ||
			    m.tree.modules[i].imports[j] >= m.tree.count)
				abort();
	}
	manifest_fini(&m);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* The bytes are a file that is inspected. */
#include "runtime/library/inspect.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tenon_slice file = { (const char *)data, size };
	struct tenon_module *m;
	int err;

	err = inspect_elf("fuzz.so", file, fuzz_keep(), &m);
	fuzz_check(err);
	if (!err)
		fuzz_use_module(m);
	return 0;
}

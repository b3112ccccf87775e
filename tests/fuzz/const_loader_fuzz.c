/* SPDX-License-Identifier: MIT */
/* The bytes are the payload of a module of constants. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tenon_slice bytes = { (const char *)data, size };
	struct tenon_module *m;
	int err;

	err = tenon_module_load_bytes("const_loader", bytes, &m);
	fuzz_check(err);
	if (!err)
		fuzz_use_module(m);
	return 0;
}

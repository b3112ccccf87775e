/* SPDX-License-Identifier: MIT */
/* the bytes are the symbol of an import tree, of TVM 0.22 and later */
#include "runtime/loader/import_tree.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_tree_source src = { .file = "fuzz.so",
					  .generation = TENON_GENERATION_FFI,
					  .keep = fuzz_keep() };
	const struct tenon_slice blob = { (const char *)data, size };
	struct tenon_module *m;
	int err, pass;

	/* as it is loaded, and as it is looked at */
	for (pass = 0; pass < 2; pass++) {
		src.inspect = pass;
		err = import_tree_read(blob, &src, &m);
		fuzz_check(err);
		if (!err)
			fuzz_use_module(m);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Read bytes as the symbol of an import tree, for the targets of both generations. */
#ifndef TESTS_FUZZ_BLOB_H
#define TESTS_FUZZ_BLOB_H

#include "runtime/library/import_tree.h"
#include "tests/fuzz/example_kind.h"
#include "tests/fuzz/fuzz.h"

/* The bytes are the symbol of an import tree, as one generation wrote it. */
static inline int fuzz_blob(const uint8_t *data, size_t size, enum tenon_generation generation)
{
	struct blob_source src = { .file = "fuzz.so",
				   .generation = generation,
				   .keep = fuzz_keep() };
	const struct tenon_slice blob = { (const char *)data, size };
	struct tenon_module *m;
	int err, pass;

	example_kind_register();
	/* as it is loaded, and as it is looked at */
	for (pass = 0; pass < 2; pass++) {
		src.inspect = pass;
		err = import_tree_read(blob, &src, NULL, &m);
		fuzz_check(err);
		if (!err)
			fuzz_use_module(m);
	}
	return 0;
}

#endif /* TESTS_FUZZ_BLOB_H */

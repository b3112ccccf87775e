/* SPDX-License-Identifier: MIT */
/* Find the import tree in a library that a real compiler made. */
#ifndef TESTS_FUZZ_REAL_TREE_H
#define TESTS_FUZZ_REAL_TREE_H

#include <tenon/backend/module_kind.h>

/* the import tree of a library */
struct real_tree {
	struct tenon_slice bytes; /* of the library */
	enum tenon_generation generation;
};

/* Find the import tree in the bytes of a library; false when it has none. */
bool real_tree_find(struct tenon_slice file, struct real_tree *out);

#endif /* TESTS_FUZZ_REAL_TREE_H */

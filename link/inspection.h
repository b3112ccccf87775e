/* SPDX-License-Identifier: MIT */
/* A tree of modules as a list, with the facts that each module reports to a visitor (tenon/visit.h). */
#ifndef LINK_INSPECTION_H
#define LINK_INSPECTION_H

#include <tenon/link.h>

#include "link/module/artifact.h"

/* room for the texts of a module */
struct inspection_texts {
	char format[32];
	char name[96];
	char machine[32];
	char generation[16];
	char tvm[48];
	char loader[16];
	char remedy[512];
	char fault[256];
	char sha256[65];
};

/**
 * struct inspection_row - a module of the list, as it is built
 * @module: what programs read
 * @texts: what its texts point to, unless these are static or in the names of artifacts
 */
struct inspection_row {
	struct tenon_link_module module;
	struct inspection_texts texts;
};

/**
 * struct inspection - a list, as it is built
 * @result: what programs read
 * @rows: @result.module_count rows, each allocated
 * @names: what file_name and the like of rows point to
 * @bytes: contents of the file; empty for a tree that is of none
 * @keep: keeps them; NULL for none
 */
struct inspection {
	struct tenon_link_inspection result;
	struct inspection_row **rows;
	struct artifact_set names;
	struct tenon_slice bytes;
	struct tenon_object *keep;
};

/** inspection_bytes - contents of the file that was inspected, for readers of its other parts; they last as long as @n */
static inline struct tenon_slice inspection_bytes(const struct tenon_link_inspection *n)
{
	/* the list begins with what programs read */
	return ((const struct inspection *)n)->bytes;
}

/**
 * inspection_make - list a tree
 * @root: its root; referenced by the list
 * @out: receives the list; end it with tenon_link_inspection_free() of its @result. NULL on failure
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int inspection_make(struct tenon_module *root, struct inspection **out);

#endif /* LINK_INSPECTION_H */

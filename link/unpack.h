/* SPDX-License-Identifier: MIT */
/* The state of tenon_link_unpack(): the module, and the files that are written of it. */
#ifndef LINK_UNPACK_H
#define LINK_UNPACK_H

#include <tenon/link.h>

#include "link/module/link_host.h"

/* room for the name of a file */
#define UNPACK_NAME_ROOM 320

/**
 * struct unpack_part - a module of the import tree, as files
 * @part: what programs read; its texts are below
 * @names: texts of its artifact; those of an unnamed one are made up
 * @file: the program, or the payload as it is; "" for the library
 * @table: the table of its kernels; "" for none
 */
struct unpack_part {
	struct tenon_link_part part;
	struct artifact names;
	char file[UNPACK_NAME_ROOM];
	char table[UNPACK_NAME_ROOM];
};

/**
 * struct unpack - a module that is taken apart
 * @result: what programs read
 * @host: the file
 * @folder: where to
 * @parts: a part for each module of the tree; one, the library, when there is no tree
 * @count: how many
 */
struct unpack {
	struct tenon_link_unpacked result;
	struct link_host host;
	const char *folder;
	struct unpack_part *parts;
	size_t count;
};

/** unpack_is_library - test whether a part is the shared object itself */
bool unpack_is_library(const struct unpack *u, size_t part);

/** unpack_write - write a file into the folder; 0, or negative */
int unpack_write(const struct unpack *u, const char *name, struct tenon_slice bytes);

/** unpack_files - name the parts and write their files; 0, or negative */
int unpack_files(struct unpack *u);

/** unpack_manifest - write the manifest; 0, or negative */
int unpack_manifest(const struct unpack *u);

/* file of the host code */
#define UNPACK_HOST	"host.so"
#define UNPACK_MANIFEST "manifest.json"

#endif /* LINK_UNPACK_H */

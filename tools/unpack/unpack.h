/* SPDX-License-Identifier: MIT */
/* tenon unpack: each part of a module becomes a file with a name, and a manifest tells how they fit. */
#ifndef TOOLS_UNPACK_UNPACK_H
#define TOOLS_UNPACK_UNPACK_H

#include "link/link_host.h"
#include "tools/cli/cli.h"

extern const struct cli_command unpack_command;

/* room for the name of a file */
#define UNPACK_NAME_ROOM 320

/**
 * struct unpack_part - a module of the import tree, as files
 * @names: texts of its artifact; those of an unnamed one are made up
 * @file: the program, or the payload as it is; "" for the library
 * @table: the table of its kernels; "" for none
 */
struct unpack_part {
	struct artifact names;
	char file[UNPACK_NAME_ROOM];
	char table[UNPACK_NAME_ROOM];
};

/**
 * struct unpack - a module that is taken apart
 * @host: the file
 * @folder: where to
 * @parts: a part for each module of the tree; one, the library, when there is no tree
 * @count: how many
 */
struct unpack {
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

#endif /* TOOLS_UNPACK_UNPACK_H */

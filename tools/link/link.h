/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_LINK_LINK_H
#define TOOLS_LINK_LINK_H

/** DOC: tenon link: host code and programs of devices become one shared object */

#include "runtime/link/artifact.h"
#include "runtime/link/link_tree.h"
#include "tools/cli/cli.h"

extern const struct cli_command link_command;

/**
 * struct link_input - a file on the command line
 * @path: the file
 * @kind: kind of the payload; NULL for code of the host
 * @key: target key; NULL for the default
 */
struct link_input {
	char *path;
	char *kind;
	char *key;
};

/**
 * struct link_pair - the two parts of --target-key and --import
 */
struct link_pair {
	char *left;
	char *right;
};

/**
 * struct link_request - the command line
 * @output: file to write
 * @generation: form of the import tree and of launchers
 * @inputs: @input_count files
 * @keys: @key_count target keys and their devices
 * @imports: @import_count modules and what they import
 * @includes: @include_count folders with headers, for launchers
 * @allow_weak: let weak symbols of several objects be merged
 * @allow_unknown: take payloads of kinds that this build does not know
 */
struct link_request {
	const char *output;
	enum tenon_generation generation;
	struct link_input *inputs;
	size_t input_count;
	struct link_pair *keys;
	size_t key_count;
	struct link_pair *imports;
	size_t import_count;
	const char **includes;
	size_t include_count;
	bool allow_weak;
	bool allow_unknown;
};

/** link_read_options - read the command line; 0, CLI_OPTIONS_DONE, or an exit code */
int link_read_options(struct cli *cli, int argc, char **argv, struct link_request *r);

void link_request_fini(struct link_request *r);

/**
 * struct link_work - what is linked
 * @request: the command line
 * @set: artifacts in the order of loading, with payloads
 * @blob: the import tree; empty when nothing is imported
 * @folder: for temporary files; "" until there is one
 */
struct link_work {
	const struct link_request *request;
	struct artifact_set set;
	struct tenon_buffer blob;
	char folder[4096];
};

/**
 * link_payloads - make artifacts of all files, and check them
 *
 * Return: 0; negative, with a message that names the file.
 */
int link_payloads(struct link_work *w);

/** link_imports - build the import tree, number it and write the blob; 0, or negative */
int link_imports(struct link_work *w);

/** link_path_of - the path of an artifact's file */
const char *link_path_of(const struct link_work *w, const struct artifact *a);

/**
 * link_compile - compile the host code, and link it with the import tree
 * @out: receives the shared object; free it with file_map_close()
 *
 * The compiler is $CC, with $CFLAGS and $LDFLAGS.
 *
 * Return: 0; -TENON_E_CALL when the compiler fails; -TENON_E_UNSUPPORTED when there is none;
 *	-TENON_E_IO; -TENON_E_NOMEM; errors of link_check_objects().
 */
int link_compile(struct link_work *w, struct tenon_slice *out);

/**
 * struct link_object - an object file of the host
 * @path: the file, as the linker gets it
 * @source: the file that the user gave
 */
struct link_object {
	char *path;
	const char *source;
};

/**
 * link_check_objects - find symbols that the linker would merge or refuse
 * @objects: @count files; those that are not relocatable ELF files are not checked
 * @count: how many
 * @machine: an object that the compiler made: all must be for the same machine
 * @allow_weak: accept weak symbols that several define
 *
 * Return: 0; -TENON_E_EXISTS for a symbol that two define; -TENON_E_VALUE for an object for another
 *	machine; -TENON_E_FORMAT; -TENON_E_IO; -TENON_E_NOMEM.
 */
int link_check_objects(const struct link_object *objects, size_t count, const char *machine,
		       bool allow_weak);

/** link_of_manifest - link what `tenon unpack` wrote; 0, or negative */
int link_of_manifest(const char *manifest, const char *output);

#endif /* TOOLS_LINK_LINK_H */

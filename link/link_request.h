/* SPDX-License-Identifier: MIT */
/* The steps of tenon_link(), which makes one shared object of host code and programs of devices. */
#ifndef LINK_LINK_REQUEST_H
#define LINK_LINK_REQUEST_H

#include <tenon/link.h>

#include "lib/elf.h"
#include "link/module/artifact.h"
#include "link/module/link_tree.h"

/* room for the path of a temporary folder */
#define LINK_FOLDER_ROOM 4096

/**
 * struct link_input - a file to link
 * @path: the file
 * @kind: kind of the payload; NULL for code of the host
 * @key: target key; NULL for the default
 * @is_graph: a graph.json, whose payload also has the parameters; or the parameters of ahead-of-time
 *	code
 * @is_constants: parameters that belong to no graph; @path is the name of their payload
 */
struct link_input {
	char *path;
	char *kind;
	char *key;
	bool is_graph;
	bool is_constants;
};

/**
 * struct link_pair - a target key and its device, or a module and its import
 */
struct link_pair {
	char *left;
	char *right;
};

/**
 * struct link_request - what to link
 * @output: file to write
 * @generation: form of the import tree and of launchers
 * @inputs: @input_count files
 * @keys: @key_count target keys and their devices
 * @imports: @import_count modules and what they import
 * @includes: @include_count folders with headers, for launchers
 * @allow_weak: let weak symbols of several objects be merged
 * @allow_unknown: take payloads of kinds that this build does not know
 * @graph: graph.json of a model; NULL for none
 * @params: its parameters, or those of launchers; NULL for none
 * @params_bytes: contents of @params; empty: the file is read
 * @model: name of the model; NULL for the default, or the only one of an archive
 * @archive: write Model Library Format
 * @system: write an object that registers itself when the program starts
 * @prefix: of the names that it registers; NULL for none
 * @shared: the only input is a shared object, which gets @cases
 * @cases: @case_count cases for self-tests; borrowed
 * @case_count: how many
 * @progress: called before each step; NULL for none
 * @context: passed to @progress
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
	const char *graph;
	const char *params;
	struct tenon_slice params_bytes;
	const char *model;
	bool archive;
	bool system;
	const char *prefix;
	bool shared;
	const struct tenon_link_case *cases;
	size_t case_count;
	void (*progress)(void *context, const char *step);
	void *context;
};

/* name of a model without --model, as in TVM */
#define LINK_MODEL "default"

/**
 * link_request_make - read what a program asks for
 * @options: borrowed; @r keeps its texts
 * @output: the same
 * @r: zeroed by the caller; freed with link_request_fini(), also on failure
 *
 * Return: 0; -TENON_E_USAGE; -TENON_E_NOMEM.
 */
int link_request_make(const struct tenon_link_options *options, const char *output,
		      struct link_request *r);

/** link_say - tell the program which step begins: "compiling", "host.c" */
void link_say(const struct link_request *r, const char *doing, const char *what);

/**
 * link_add_constants - add link_request.params as a payload of its own, such as "w.payload" of w.npz
 *
 * The caller has allocated room for one more input. Return: false when memory runs out.
 */
bool link_add_constants(struct link_request *r);

void link_request_fini(struct link_request *r);

/**
 * struct link_object - an object file of the host
 * @path: the file, as the linker gets it; allocated
 * @source: the file that the user gave
 */
struct link_object {
	char *path;
	const char *source;
};

/**
 * struct link_work - what is linked
 * @request: what to link
 * @set: artifacts in the order of loading, with payloads
 * @objects: @object_count object files, after link_compile()
 * @object_count: how many
 * @params: the parameters, as a .params file has them; empty without any
 * @params_file: what @params is a part of, if it was read
 * @blob: the import tree; empty when nothing is imported
 * @cuts: @cut_count large payloads, which are not copied to @blob
 * @cut_count: how many
 * @blob_size: bytes of the import tree, with these
 * @folder: for temporary files; "" until there is one
 */
struct link_work {
	const struct link_request *request;
	struct artifact_set set;
	struct link_object *objects;
	size_t object_count;
	struct tenon_slice params;
	struct tenon_slice params_file;
	struct tenon_buffer blob;
	struct link_cut *cuts;
	size_t cut_count;
	uint64_t blob_size;
	char folder[LINK_FOLDER_ROOM];
};

/*
 * Payloads from this size on are written directly into the linked file: the assembler and the linker would each copy
 * them.
 */
#define LINK_CUT_LEAST (1u << 20)

/**
 * link_payloads - make artifacts of all files, and check them
 *
 * Return: 0; negative, with a message that names the file.
 */
int link_payloads(struct link_work *w);

/** link_name_of - the name of a file without its folders */
const char *link_name_of(const char *path);

/** link_input_of - the file that an artifact is made of; NULL if there is none */
const struct link_input *link_input_of(const struct link_work *w, const struct artifact *a);

/**
 * link_table_path - path of the kernel table of a program: the same stem
 * @suffix: of the table
 *
 * Return: allocated; NULL when memory runs out.
 */
char *link_table_path(const char *path, const char *suffix);

/** link_imports - build the import tree, number it and write the blob; 0, or negative */
int link_imports(struct link_work *w);

/** link_path_of - the path of an artifact's file */
const char *link_path_of(const struct link_work *w, const struct artifact *a);

/**
 * struct link_output - what was linked
 * @linked: the file as the linker wrote it
 * @moved: that file with room for an import tree that is apart; else empty
 * @parts: @count slices to write: of @linked or @moved, of link_work.blob and payloads
 * @count: how many
 */
struct link_output {
	struct tenon_slice linked;
	struct tenon_buffer moved;
	struct tenon_slice *parts;
	size_t count;
};

void link_output_fini(struct link_output *out);

/**
 * link_output_check - refuse an output that is the same file as an input
 *
 * Return: 0; -TENON_E_VALUE.
 */
int link_output_check(const char *output, const char *input);

/** link_output_check_all - the same for all files of a request; tables and parts of a folder are not in it */
int link_output_check_all(const struct link_request *r);

/**
 * link_compile - compile the host code to object files in a temporary folder
 *
 * The compiler is $CC, with $CFLAGS. Call link_compile_fini() also on failure.
 *
 * Return: 0; -TENON_E_CALL when the compiler fails; -TENON_E_UNSUPPORTED when there is none;
 *	-TENON_E_IO; -TENON_E_NOMEM.
 */
int link_compile(struct link_work *w);

/** link_compile_fini - remove the temporary folder, and free the list of objects */
void link_compile_fini(struct link_work *w);

/**
 * link_wanted - let the module of constants pass launchers the parameters that they want
 *
 * Return: 0; -TENON_E_NOT_FOUND for a parameter that the file lacks; -TENON_E_VALUE for a launcher
 *	with parameters where no file was given; errors of link_object_open(); -TENON_E_NOMEM.
 */
int link_wanted(struct link_work *w);

/**
 * link_join - link the objects with the import tree, by $CC with $CFLAGS and $LDFLAGS
 * @out: receives the shared object; zeroed by the caller, freed with link_output_fini() also on failure
 *
 * Return: as link_compile(); errors of link_check_objects().
 */
int link_join(struct link_work *w, struct link_output *out);

/* ---- the import tree in an object file */

/* the assembler source that link_embed_write() makes */
#define LINK_EMBED_SOURCE "embed.s"

/**
 * link_embed_is_apart - test whether the import tree is put into the linked file by link_embed_put()
 *
 * True for a large tree: the assembler and the linker would each copy it.
 */
bool link_embed_is_apart(const struct link_work *w);

/**
 * link_embed_write - write assembler source with the import tree and the names of artifacts
 *
 * A tree that is apart has a stand-in there.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_NOMEM.
 */
int link_embed_write(const struct link_work *w);

/**
 * link_embed_put - list the parts of a linked file whose import tree is apart
 * @out: has what was linked; receives its parts
 *
 * Return: 0; errors of elf_replace(); -TENON_E_NOMEM.
 */
int link_embed_put(const struct link_work *w, struct link_output *out);

/**
 * struct link_object_file - an object file in memory
 * @bytes: the file; empty for an archive, whose members are not read
 * @elf: its headers
 */
struct link_object_file {
	struct tenon_slice bytes;
	struct elf_file elf;
};

/**
 * link_object_open - map an object file
 * @out: zeroed by the caller; close its bytes with file_map_close(), also on failure
 *
 * Return: 0, also for an archive; -TENON_E_FORMAT when it is no object file; -TENON_E_IO;
 *	-TENON_E_TRUNCATED.
 */
int link_object_open(const struct link_object *object, struct link_object_file *out);

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

/* ---- temporary files */

/** link_folder_make - make a temporary folder below $TMPDIR; 0 or -TENON_E_IO */
int link_folder_make(char folder[LINK_FOLDER_ROOM]);

/** link_folder_remove - remove a folder and all that is in it; "" is none */
void link_folder_remove(const char *folder);

/**
 * link_folder_write_parts - write a file in a folder, without waiting for the disk
 * @name: its path in the folder, in folders that exist
 * @parts: @count parts of its contents
 *
 * Return: 0; -TENON_E_IO; -TENON_E_NOMEM.
 */
int link_folder_write_parts(const char *folder, const char *name, const struct tenon_slice *parts,
			    size_t count);

/** link_folder_write - as link_folder_write_parts(), with one part */
int link_folder_write(const char *folder, const char *name, struct tenon_slice bytes);

/* ---- archives */

/**
 * link_of_archive - link the module of a model in an archive
 * @r: its only input names the archive
 * @bytes: of the archive
 *
 * Return: 0, or negative.
 */
int link_of_archive(const struct link_request *r, struct tenon_slice bytes);

/** link_archive - write an archive of what is linked otherwise; 0, or negative */
int link_archive(struct link_work *w);

/** link_files - link what a request lists; 0, or negative */
int link_files(const struct link_request *r);

/** link_is_manifest - test whether the name of a file ends as that of a manifest does */
bool link_is_manifest(const char *path);

/** link_is_alone - test whether a file is a manifest or an archive, which are linked without other files */
bool link_is_alone(const char *path);

/** link_of_manifest - link what tenon_link_unpack() wrote, the only input of a request; 0, or negative */
int link_of_manifest(const struct link_request *r);

/* ---- cases for self-tests */

/**
 * link_cases_write - append what the section of the cases holds
 *
 * Return: 0; -TENON_E_VALUE for a value that is not compact, or has a device's memory; -TENON_E_USAGE for too many of
 *	them; -TENON_E_NOMEM.
 */
int link_cases_write(const struct link_request *r, struct tenon_buffer *out);

/**
 * link_cases_put - put the cases of a request into a shared object
 * @path: of @file, for messages
 * @file: replaced by one with the cases; stays as it is without any
 *
 * Return: 0; as link_cases_write() and elf_put_section().
 */
int link_cases_put(const struct link_request *r, const char *path, struct tenon_buffer *file);

/** link_of_shared - write a copy of a shared object, the only input of a request, with the cases; 0, or negative */
int link_of_shared(const struct link_request *r);

/* ---- files that become a module when they are used: manifests, archives */

/* name of a module in its temporary folder */
#define LINK_MADE_NAME "module.so"

/**
 * struct link_made - a module in a temporary folder
 * @folder: the folder; "" for none
 * @path: of the module
 */
struct link_made {
	char folder[LINK_FOLDER_ROOM];
	struct tenon_buffer path;
};

/**
 * link_make - write the module that a manifest or an archive stands for to a temporary folder
 * @path: the manifest or archive
 * @options: @progress and @context of it; NULL for none
 * @made: freed with link_made_fini(), also on failure
 *
 * The host code of an archive is compiled and linked once: the module is kept in the cache of
 * compiled kernels, under a hash of the archive, the compiler and its flags.
 *
 * Return: 0; errors of linking.
 */
int link_make(const char *path, const struct tenon_link_options *options, struct link_made *made);

void link_made_fini(struct link_made *made);

/**
 * link_cached_archive - write the module of an archive to a folder, from the cache if it is there
 * @r: its only input names the archive, its output the file
 * @folder: has that file
 *
 * Return: 0, or negative.
 */
int link_cached_archive(const struct link_request *r, const char *folder);

#endif /* LINK_LINK_REQUEST_H */

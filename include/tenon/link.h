/* SPDX-License-Identifier: MIT */
#ifndef TENON_LINK_H
#define TENON_LINK_H

/**
 * DOC: linking modules, and what is in their files
 *
 * What "tenon link", "tenon unpack", "tenon verify", "tenon inspect" and "tenon sign" do, for programs.
 * docs/modules.md has the form of a module.
 *
 *	const struct tenon_link_file files[] = {
 *		{ .path = "host.c" },
 *		{ .path = "vecadd.cl", .kind = "opencl" },
 *	};
 *	struct tenon_link_options o;
 *
 *	tenon_link_options_init(&o, sizeof(o));
 *	o.files = files;
 *	o.file_count = 2;
 *	err = tenon_link(&o, "vecadd.so");
 *
 * Except for tenon_link_load(), these functions run no code of a module, and the files that they read may be
 * anybody's. They print nothing; a compiler that they start writes its messages to standard error. Messages of
 * tenon_error_message() name the options of the commands.
 *
 * Results are structs that the library allocates and the program frees. Each begins with its size: members behind
 * it are of a later release and not there. Lists are arrays of pointers to such structs, texts are never NULL
 * unless it says so, and all of it belongs to the result.
 *
 * Any thread may call any function, and read a result that no other thread frees. These functions are in
 * libtenon-link, a library beside libtenon (pkg-config: tenon-link), which needs libcjson.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/array.h>
#include <tenon/artifact.h>
#include <tenon/buffer.h>
#include <tenon/export.h>
#include <tenon/module.h>
#include <tenon/params.h>
#include <tenon/string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- linking */

/**
 * struct tenon_link_file - a file to link
 * @path: the file
 * @kind: kind of the module that it becomes, "opencl"; NULL for a source, an object file or an archive of objects
 *	for the host, a manifest that tenon_link_unpack() wrote, or an archive in Model Library Format
 * @key: target key of that module; NULL stands for @kind
 */
struct tenon_link_file {
	const char *path;
	const char *kind;
	const char *key;
};

/**
 * struct tenon_link_import - a module that imports another
 * @parent: name of the importing file, or "_lib" for the code of the host
 * @child: name of the imported file
 */
struct tenon_link_import {
	const char *parent;
	const char *child;
};

/**
 * struct tenon_link_case - inputs of a model, and the outputs that are right for them (tenon/self_test.h)
 * @name: name of the case
 * @inputs: @input_count inputs: name and tensor. An empty name stands for the place in the list.
 * @input_count: how many
 * @outputs: @output_count outputs, likewise
 * @output_count: how many
 * @rtol: real numbers may differ by so much, relative to the expected one
 * @atol: and by so much besides
 * @steps: integers may differ by so much
 * @hash: keep the hash of each output in place of its elements; nothing may differ then
 */
struct tenon_link_case {
	const char *name;
	const struct tenon_param *inputs;
	size_t input_count;
	const struct tenon_param *outputs;
	size_t output_count;
	double rtol;
	double atol;
	uint64_t steps;
	bool hash;
};

/** enum tenon_link_form - what is written */
enum tenon_link_form {
	TENON_LINK_SHARED = 0, /* a shared object */
	TENON_LINK_SYSTEM_LIB =
		1, /* an object file to be linked into a program (tenon_system_lib()) */
	TENON_LINK_ARCHIVE =
		2, /* an archive in Model Library Format, with sources and objects as they are */
};

/**
 * struct tenon_link_options - what to link
 * @size: size of this struct in the program, which tenon_link_options_init() writes
 * @files: @file_count files. A manifest or an archive in Model Library Format is alone, with @model, @form, @prefix,
 *	@allow_weak and @includes for the latter; what its files are is written there. So is a shared object, which gets
 *	@cases and stays as it is otherwise.
 * @file_count: how many
 * @targets: @target_count devices that target keys stand for
 * @target_count: how many
 * @imports: @import_count imports; the code of the host imports all other modules, except those that are a child
 *	here
 * @import_count: how many
 * @includes: folders with headers for sources, ending with NULL; or NULL
 * @graph: graph.json of a model; NULL for none
 * @params: file with the parameters of the model, or without @graph those that launchers name, as tenon_params_write()
 *	writes it; NULL for none
 * @params_bytes: the contents of @params, which is not read then; empty: it is read
 * @model: name of the model, NULL for "default"; of an archive with several the one to link
 * @prefix: of the names by which a program finds a TENON_LINK_SYSTEM_LIB; NULL for none
 * @generation: form of the import tree and of launchers; TENON_GENERATION_NONE selects TENON_GENERATION_FFI
 * @form: what is written
 * @allow_weak: let weak symbols that several objects define be merged
 * @allow_unknown: take payloads of kinds that this build does not know
 * @cases: @case_count cases, which take the place of those in the file; a TENON_LINK_SHARED keeps them
 * @case_count: how many
 * @progress: called before each step that may take long, with a few words: "compiling host.c"; NULL for none. It
 *	returns before the step begins.
 * @context: passed to @progress
 */
struct tenon_link_options {
	size_t size;
	const struct tenon_link_file *files;
	size_t file_count;
	const struct tenon_target *targets;
	size_t target_count;
	const struct tenon_link_import *imports;
	size_t import_count;
	const char *const *includes;
	const char *graph;
	const char *params;
	struct tenon_slice params_bytes;
	const char *model;
	const char *prefix;
	enum tenon_generation generation;
	enum tenon_link_form form;
	bool allow_weak;
	bool allow_unknown;
	void (*progress)(void *context, const char *step);
	void *context;
	const struct tenon_link_case *cases;
	size_t case_count;
};

/**
 * tenon_link_options_init - write the defaults of "tenon link"
 * @options: receives them
 * @size: sizeof(*options)
 */
TENON_API void tenon_link_options_init(struct tenon_link_options *options, size_t size);

/**
 * tenon_link - link files to a module
 * @options: what to link; borrowed for the call
 * @output: file to write: under a temporary name, synced and renamed. A device or pipe is written in place.
 *
 * Sources are compiled by $CC with $CFLAGS, and all is linked with $LDFLAGS, in a folder below $TMPDIR that is removed
 * afterwards. Payloads, tables of kernels, symbols and the import tree are checked before.
 *
 * Context: any thread, also of a program with several; starts processes and waits for them, so SIGCHLD may not be
 *	ignored.
 * Return: 0; -TENON_E_USAGE for options that exclude each other, and for files that cannot be linked so;
 *	-TENON_E_CALL when the compiler or the linker fails; -TENON_E_UNSUPPORTED when there is none, and for a part
 *	that this build lacks; -TENON_E_NO_LOADER for an unknown kind; -TENON_E_EXISTS for two symbols, kernels or
 *	files of one name; -TENON_E_NOT_FOUND for a name that no file has; -TENON_E_VALUE for an object for
 *	another machine, and for an output that is an input; -TENON_E_FORMAT and -TENON_E_TRUNCATED with the place;
 *	-TENON_E_IO; -TENON_E_NOMEM.
 */
TENON_API int tenon_link(const struct tenon_link_options *options, const char *output);

/**
 * tenon_link_load - load a module, a manifest, or an archive in Model Library Format
 * @file: as for tenon_module_load(); a manifest is linked at each call, an archive once: its module is kept in the
 *	cache of compiled kernels
 * @options: NULL, or those of which @targets and @progress are used: devices that replace those that the file names
 * @out: receives the root of the import tree with one reference
 *
 * Return: 0; as tenon_link() and tenon_module_load_for().
 */
TENON_API int tenon_link_load(const char *file, const struct tenon_link_options *options,
			      struct tenon_module **out);

/**
 * tenon_link_verified - a policy (tenon_load_policy_set()): load files whose payloads are those that were linked
 * @context: unused
 * @path: the file
 *
 * tenon_link() writes a hash of each payload. A file without an import tree has none, and may be loaded.
 *
 * Return: 0; -TENON_E_NOT_FOUND for a module without hashes; -TENON_E_VALUE for a payload with another one;
 *	-TENON_E_IO; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NOMEM.
 */
TENON_API int tenon_link_verified(void *context, const char *path);

/* ---- taking apart */

/**
 * struct tenon_link_part - a module of an import tree, as files
 * @size: size of this struct in the library
 * @module: its number in the import tree
 * @kind: its kind; "native" for the code of the host
 * @file: name of its file in the folder
 * @table: name of the file with the table of its kernels; "" for none
 * @bytes: size of its payload; 0 for the code of the host
 */
struct tenon_link_part {
	size_t size;
	size_t module;
	struct tenon_slice kind;
	const char *file;
	const char *table;
	uint64_t bytes;
};

/**
 * struct tenon_link_unpacked - what tenon_link_unpack() wrote
 * @size: size of this struct in the library
 * @machine: processor of the host's code, "x86-64"
 * @manifest: name of the manifest in the folder
 * @host: name of the file with the host's code, which is there also without a part for it
 * @same: linked again, the file will have the same bytes; otherwise its import tree was in an unusual form, and the
 *	file works alike
 * @parts: @part_count modules
 * @part_count: how many
 */
struct tenon_link_unpacked {
	size_t size;
	const char *machine;
	const char *manifest;
	const char *host;
	bool same;
	const struct tenon_link_part *const *parts;
	size_t part_count;
};

/**
 * tenon_link_unpack - write each part of a module to a file of its own, and a manifest
 * @file: the module
 * @folder: where to; made when it is missing. Files there that have the names of parts are replaced.
 * @out: receives what was written; end it with tenon_link_unpacked_free(). NULL on failure
 *
 * tenon_link() of the manifest puts the module together again.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM.
 */
TENON_API int tenon_link_unpack(const char *file, const char *folder,
				const struct tenon_link_unpacked **out);

/** tenon_link_unpacked_free - free the result of tenon_link_unpack(). NULL is allowed. */
TENON_API void tenon_link_unpacked_free(const struct tenon_link_unpacked *unpacked);

/* ---- checking */

/**
 * struct tenon_link_finding - something that was found in a file
 * @size: size of this struct in the library
 * @fault: the file is wrong; otherwise something to know
 * @module: number of the module in the import tree; SIZE_MAX for the file
 * @kind: kind of this module; empty for the file
 * @text: what it is. It may quote bytes of the file.
 */
struct tenon_link_finding {
	size_t size;
	bool fault;
	size_t module;
	struct tenon_slice kind;
	const char *text;
};

/**
 * struct tenon_link_report - what was found in a file
 * @size: size of this struct in the library
 * @faults: how many findings are faults; 0 for a file that is in order
 * @readable: the file could be read; otherwise there is one fault, and the three below are empty
 * @machine: processor of the host's code
 * @tvm: versions of TVM that write such files; "" for a file that is none of theirs
 * @modules: number of modules
 * @findings: @finding_count findings
 * @finding_count: how many
 */
struct tenon_link_report {
	size_t size;
	size_t faults;
	bool readable;
	const char *machine;
	const char *tvm;
	size_t modules;
	const struct tenon_link_finding *const *findings;
	size_t finding_count;
};

/* what is appended to the name of a file for that of its signature */
#define TENON_LINK_SIGNATURE_SUFFIX ".sig"

/**
 * struct tenon_link_verify_options - what else to check
 * @size: size of this struct in the program
 * @key: file of a public key: the file must be signed by its owner; NULL: signatures are not checked
 * @signature: file of the signature; NULL for the file with TENON_LINK_SIGNATURE_SUFFIX
 */
struct tenon_link_verify_options {
	size_t size;
	const char *key;
	const char *signature;
};

/**
 * tenon_link_verify - check all of a module's file
 * @file: the file, for any machine
 * @options: NULL for all defaults
 * @out: receives what was found; end it with tenon_link_report_free(). NULL on failure
 *
 * Checks the ELF file, the import tree, every payload, the tables of kernels and their programs, graphs, bytecode and
 * constants, the names of artifacts, and the hashes of payloads. What is wrong with the file is a finding and no error.
 *
 * Return: 0, also for a file with faults or that cannot be read; -TENON_E_VALUE and -TENON_E_IO for a key or
 *	signature that is none; -TENON_E_UNSUPPORTED with @key in a build without signatures; -TENON_E_NOMEM.
 */
TENON_API int tenon_link_verify(const char *file, const struct tenon_link_verify_options *options,
				const struct tenon_link_report **out);

/** tenon_link_report_free - free the result of tenon_link_verify(). NULL is allowed. */
TENON_API void tenon_link_report_free(const struct tenon_link_report *report);

/**
 * tenon_link_sign - sign a file
 * @file: the file, which stays as it is
 * @key: file of a private key without a passphrase: RSA of 2048 bits or more, or ECDSA
 * @out: the signature over the file's SHA-256 is appended, as "openssl dgst -sha256 -sign" writes it
 *
 * Return: 0; -TENON_E_VALUE for a file that is no such key; -TENON_E_UNSUPPORTED in a build without signatures;
 *	-TENON_E_IO; -TENON_E_NOMEM.
 */
TENON_API int tenon_link_sign(const char *file, const char *key, struct tenon_buffer *out);

/* ---- the processor that host code needs */

/**
 * struct tenon_link_extension - an extension of the processor that host code uses
 * @size: size of this struct in the library
 * @name: as compilers have it: "avx512f", "amx-tile", "dotprod", "sve"
 * @level: of code that the loader takes only on processors of a level, that level: "x86-64-v3"; else ""
 * @function: the first function that uses it; "" if that has no name. It may quote bytes of the file.
 * @functions: how many functions use it
 * @missing: this machine would run the code, and does not have the extension
 */
struct tenon_link_extension {
	size_t size;
	const char *name;
	const char *level;
	const char *function;
	uint64_t functions;
	bool missing;
};

/**
 * struct tenon_link_processor - what host code needs of the processor
 * @size: size of this struct in the library
 * @machine: processor of the file: "x86-64", "aarch64", "riscv64"
 * @known: the instructions of this processor are known here; otherwise nothing below is known
 * @needs: the least processor that runs the code for all processors, in the form that -march of compilers takes:
 *	"x86-64-v2", "armv8-a+dotprod"
 * @has: what this machine has, in the same form; "" if it is of another kind
 * @extensions: @extension_count extensions, those of code for all processors first
 * @extension_count: how many
 * @missing: how many of them are missing here
 * @chooses: the code asks what the processor has, so it may itself avoid what is missing
 * @code: bytes of instructions that were read
 * @unknown: bytes among them that are no known instruction: data, or an extension that is not known here
 */
struct tenon_link_processor {
	size_t size;
	const char *machine;
	bool known;
	const char *needs;
	const char *has;
	const struct tenon_link_extension *const *extensions;
	size_t extension_count;
	size_t missing;
	bool chooses;
	uint64_t code;
	uint64_t unknown;
};

/**
 * tenon_link_processor - read host code for the extensions of the processor that it uses
 * @file: a shared object, an object file or a program, for any machine
 * @out: receives what was found; end it with tenon_link_processor_free(). NULL on failure
 *
 * Reads all instructions, whether they are ever executed or not, so code needs no more than what is found, unless
 * @unknown tells of bytes that were not understood.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT for a file that is not ELF; -TENON_E_TRUNCATED; -TENON_E_NOMEM.
 */
TENON_API int tenon_link_processor(const char *file, const struct tenon_link_processor **out);

/** tenon_link_processor_free - free the result of tenon_link_processor(). NULL is allowed. */
TENON_API void tenon_link_processor_free(const struct tenon_link_processor *processor);

/* ---- describing */

/**
 * struct tenon_link_module - a module at its place in a tree
 * @size: size of this struct in the library
 * @module: the module; not counted
 * @kind: "library", "opencl", …
 * @parent: index of the importing module; SIZE_MAX for the root
 * @depth: 0 for the root
 * @last: last import of its parent
 * @format: "cl", "ptx", …; "" if unknown, as in all texts here
 * @name: symbol or model name
 * @machine: of a library: its processor
 * @generation: of a library: "legacy" or "ffi"
 * @tvm: of a library: versions of TVM that write such files
 * @loader: "ready" or "missing"
 * @remedy: what to do about a missing loader
 * @fault: what is wrong with the payload
 * @functions: names of the functions; NULL if the module lists none
 * @launch: for kernels, a map of "args" and "tags" for each of @functions; NULL for others
 * @regions: for command streams, a text for each region; NULL for others
 * @function_count: how many functions
 * @nodes: of a graph; -1 if unknown, as in all numbers here
 * @parameters: number of parameters
 * @parameter_bytes: their size
 * @payload_size: bytes of the payload
 * @payload_offset: its offset in the file
 * @number: number in the import tree; SIZE_MAX if unknown
 * @codegen_id: which code generator made it, of a file that has names, as the three below
 * @target_key: names its target among several of one kind
 * @file_name: of its artifact
 * @device: URI of the device that the target key stands for; "" for any
 * @sha256: hash of the payload as it was linked, in hexadecimal digits
 *
 * What else a module of an unknown kind tells is read by tenon_object_visit().
 */
struct tenon_link_module {
	size_t size;
	struct tenon_module *module;
	struct tenon_slice kind;
	size_t parent;
	unsigned int depth;
	bool last;
	const char *format;
	const char *name;
	const char *machine;
	const char *generation;
	const char *tvm;
	const char *loader;
	const char *remedy;
	const char *fault;
	const struct tenon_array *functions;
	const struct tenon_array *launch;
	const struct tenon_array *regions;
	int64_t function_count;
	int64_t nodes;
	int64_t parameters;
	int64_t parameter_bytes;
	int64_t payload_size;
	int64_t payload_offset;
	size_t number;
	const char *codegen_id;
	const char *target_key;
	const char *file_name;
	const char *device;
	const char *sha256;
};

/**
 * struct tenon_link_inspection - what is in a module's file
 * @size: size of this struct in the library
 * @file_size: bytes of the file
 * @root: root of the tree; not counted. tenon_model_open() with @describe describes a model in it.
 * @modules: @module_count modules, a parent before its imports. One that several import is there for each of them.
 * @module_count: how many
 * @library: the shared object itself; NULL when the tree has none
 */
struct tenon_link_inspection {
	size_t size;
	uint64_t file_size;
	struct tenon_module *root;
	const struct tenon_link_module *const *modules;
	size_t module_count;
	const struct tenon_link_module *library;
};

/**
 * tenon_link_inspect - describe the modules in a file
 * @file: a shared object for any machine
 * @out: receives the description; end it with tenon_link_inspection_free(). NULL on failure
 *
 * Return: 0; as tenon_module_inspect().
 */
TENON_API int tenon_link_inspect(const char *file, const struct tenon_link_inspection **out);

/** tenon_link_inspection_free - free the result of tenon_link_inspect(). NULL is allowed. */
TENON_API void tenon_link_inspection_free(const struct tenon_link_inspection *inspection);

#ifdef __cplusplus
}
#endif

#endif /* TENON_LINK_H */

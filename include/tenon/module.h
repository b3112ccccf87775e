/* SPDX-License-Identifier: MIT */
#ifndef TENON_MODULE_H
#define TENON_MODULE_H

/**
 * DOC: modules
 *
 * A module has functions and imports other modules. A lookup searches the module, then its imports
 * depth-first, each before its own imports. The names that modules list are hashed, so a lookup
 * does not slow down with the number of imports.
 *
 * A function references its module, and a module references its imports: a root may be released
 * while its functions are in use.
 *
 * To write a kind of module, include tenon/backend/module_kind.h.
 */

#include <tenon/buffer.h>
#include <tenon/export.h>
#include <tenon/function.h>
#include <tenon/string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_module;

/** enum tenon_module_property - what a module can do; a mask with tvm-ffi's values */
enum tenon_module_property {
	TENON_MODULE_SERIALIZABLE = 1, /* implements save */
	TENON_MODULE_RUNNABLE = 2,     /* its functions can be called */
	TENON_MODULE_EXPORTABLE = 4,   /* is compiled into the shared object */
};

/** enum tenon_generation - which TVM wrote a blob */
enum tenon_generation {
	TENON_GENERATION_NONE = 0,   /* no blob: a library without one, or bytes from the caller */
	TENON_GENERATION_LEGACY = 1, /* 0.8 to 0.21: payloads without a length */
	TENON_GENERATION_FFI = 2,    /* 0.22 and later: payloads with a length */
};

/**
 * tenon_module_load - open a file and all its imports
 * @path: a shared object that TVM or Tenon exported, or a file whose extension has a loader
 *	(`load_from_file.<extension>`)
 * @out: receives the root of the import tree with one reference
 *
 * A host shared object is native code: opening it runs its constructors. Before that, all symbols
 * that it and the libraries it needs import are bound; a missing symbol is an error with its name.
 * Opening the same file twice gives the same tree. A policy may refuse a file (tenon_load_policy_set()).
 *
 * Context: any thread. fork() waits up to half a second until no other thread is in this function,
 *	so that the child can open modules too.
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NO_LOADER;
 *	-TENON_E_UNSUPPORTED, also for a device's program in a file of its own where the plug-in describe.so is missing;
 *	-TENON_E_NOMEM; the status of a policy that refuses the file.
 */
TENON_API int tenon_module_load(const char *path, struct tenon_module **out);

/**
 * tenon_module_load_fd - open the file of a descriptor and all its imports
 * @fd: a descriptor of a shared object, which the caller may close afterwards: for programs that may
 *	open no files, and for files in memory (memfd_create(2))
 * @out: receives the root of the import tree with one reference
 *
 * As tenon_module_load(), by a path below /proc/self/fd, which must be there; a policy is asked with that
 * path. Artifacts that lie beside a file are not found by its descriptor.
 *
 * Return: as tenon_module_load(); -TENON_E_VALUE for a descriptor that is not open, or of no regular file.
 */
TENON_API int tenon_module_load_fd(int fd, struct tenon_module **out);

/**
 * tenon_load_policy - decide whether tenon_module_load() may load a file
 * @context: from tenon_load_policy_set()
 * @path: the file, as tenon_module_load() got it
 *
 * Return: 0 to load it. Any other status refuses it; the message, which tenon_error() sets, says why.
 */
typedef int (*tenon_load_policy)(void *context, const char *path);

/**
 * tenon_load_policy_set - set a function that is asked before any file is loaded
 * @policy: called before a file is opened, so before any of its code runs; NULL: all files are loaded
 * @context: passed to @policy
 *
 * The function is asked for each call of tenon_module_load(), also for a file that is open already;
 * tenon_module_inspect() runs no code and does not ask. It may verify a signature (tenon sign) or
 * compare a hash. The file is opened by its path afterwards: it and its folder must be writable only
 * by those whom the policy trusts. Libraries that a shared object needs are opened by the dynamic
 * linker, which does not ask. For host code in memory (tenon_artifacts_load()) @path is that of a
 * descriptor, below /proc/self/fd.
 *
 * Context: no other thread may be in tenon_module_load(); intended for startup.
 * Return: 0; -TENON_E_UNSUPPORTED if the library was built without policies.
 */
TENON_API int tenon_load_policy_set(tenon_load_policy policy, void *context);

/**
 * tenon_module_load_bytes - load a module from the bytes that tenon_module_save() wrote
 * @kind: kind of the module, which selects the loader (`load_from_bytes.<kind>`)
 * @bytes: the bytes; borrowed for the call
 * @out: receives the module with one reference
 *
 * Return: 0; -TENON_E_NO_LOADER; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_load_bytes(const char *kind, struct tenon_slice bytes,
				      struct tenon_module **out);

/**
 * tenon_module_inspect - read a shared object's import tree without running any of its code
 * @path: an ELF file of any machine
 * @out: receives the root of a tree that can be listed, visited and saved, but not called
 *
 * Safe for untrusted files: none of their code runs, and memory use is bounded by the file's size.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_UNSUPPORTED, also when the
 *	plug-in describe.so is missing; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_inspect(const char *path, struct tenon_module **out);

/**
 * tenon_module_get_function - look up a function in a module and all its imports
 * @m: module
 * @name: the function's name, without any symbol prefix; "main" is the default entry
 * @out: receives the function with one reference
 *
 * Context: any thread.
 * Return: 0; -TENON_E_NOT_FOUND, with similar names in the message.
 */
TENON_API int tenon_module_get_function(struct tenon_module *m, const char *name,
					struct tenon_function **out);

/**
 * tenon_module_find_function - look up a function that need not exist
 * @m: module
 * @name: name
 * @imports: search the imports too
 * @out: receives the function with one reference; NULL when there is none
 *
 * Context: any thread.
 * Return: 0, also when there is none; the error of the kind's get_function.
 */
TENON_API int tenon_module_find_function(struct tenon_module *m, struct tenon_slice name,
					 bool imports, struct tenon_function **out);

/**
 * tenon_module_each_function - visit the function names of one module
 * @m: module; its imports are not visited
 * @visit: called with each name; stops when it returns non-zero
 * @context: passed to @visit
 *
 * Return: the result of the last @visit; -TENON_E_UNSUPPORTED when the kind cannot list names.
 */
TENON_API int tenon_module_each_function(struct tenon_module *m,
					 int (*visit)(void *context, struct tenon_slice name),
					 void *context);

/** tenon_module_kind - "library", "opencl", "const_loader", …; valid as long as the module */
TENON_API struct tenon_slice tenon_module_kind(const struct tenon_module *m);

/** tenon_module_properties - properties of a module: a mask of enum tenon_module_property */
TENON_API uint32_t tenon_module_properties(const struct tenon_module *m);

/** tenon_module_import_count - number of modules that a module imports directly */
TENON_API size_t tenon_module_import_count(const struct tenon_module *m);

/** tenon_module_import_at - get an import, borrowed from @m; NULL for @index out of range */
TENON_API struct tenon_module *tenon_module_import_at(const struct tenon_module *m, size_t index);

/**
 * tenon_module_import - add an import to a module
 * @m: the importing module
 * @child: the imported one; referenced
 *
 * Context: no other thread may look up functions in @m or in a module that imports it.
 * Return: 0; -TENON_E_CYCLE when @child is @m or imports it, directly or not; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_import(struct tenon_module *m, struct tenon_module *child);

/** tenon_module_clear_imports - remove all imports; context as tenon_module_import() */
TENON_API void tenon_module_clear_imports(struct tenon_module *m);

/**
 * tenon_module_save - write the bytes from which the kind's loader recreates the module
 * @m: module; its imports are not written
 * @out: the bytes are appended
 *
 * Return: 0; -TENON_E_UNSUPPORTED when the kind cannot be saved; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_save(struct tenon_module *m, struct tenon_buffer *out);

/**
 * tenon_module_write - write a module to a file atomically
 * @m: module
 * @path: the file; written under a temporary name, synced and renamed
 * @format: a format of the kind; "" for the default
 *
 * Return: 0; -TENON_E_UNSUPPORTED; -TENON_E_IO; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_write(struct tenon_module *m, const char *path, const char *format);

/**
 * tenon_module_source - get a module's source text
 * @m: module
 * @format: a format of the kind; "" for the default
 * @out: receives an owned string
 *
 * Return: 0; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_source(struct tenon_module *m, const char *format,
				  struct tenon_value *out);

/**
 * tenon_system_lib_register - register a statically linked symbol
 * @name: symbol name, with its prefix; must live as long as the process
 * @address: function or object
 *
 * Constructors of compiled code call this before main(), or while tenon_module_load() opens their
 * library, which is then never unmapped.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_system_lib_register(const char *name, void *address);

/**
 * tenon_system_lib - get the module of statically linked symbols
 * @prefix: prefix the code was compiled with; "" for none
 * @out: receives the module with one reference; the same one for the same prefix
 *
 * Return: 0; -TENON_E_NOT_FOUND when no symbol was registered; errors of tenon_module_load() for an
 *	invalid import tree.
 */
TENON_API int tenon_system_lib(const char *prefix, struct tenon_module **out);

/**
 * tenon_module_write_blob - write a module's import tree as the bytes of a blob symbol
 * @root: root of the tree; modules with TENON_MODULE_EXPORTABLE become part of `_lib`
 * @generation: TENON_GENERATION_FFI for `__tvm_ffi__library_bin`, TENON_GENERATION_LEGACY for
 *	`__tvm_dev_mblob`; modules are numbered as TVM does
 * @out: the bytes are appended, including the leading size
 *
 * Return: 0; -TENON_E_UNSUPPORTED, naming the module that cannot be saved, or when the plug-in
 *	describe.so is missing; -TENON_E_CYCLE when merging the exportable modules would create a cycle;
 *	-TENON_E_NOMEM.
 */
TENON_API int tenon_module_write_blob(struct tenon_module *root, enum tenon_generation generation,
				      struct tenon_buffer *out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_MODULE_H */

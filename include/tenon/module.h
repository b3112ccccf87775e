/* SPDX-License-Identifier: MIT */
#ifndef TENON_MODULE_H
#define TENON_MODULE_H

/**
 * DOC: modules
 *
 * A module has functions, and imports other modules. A lookup asks the module itself, then its
 * imports depth-first, each before its own imports. The names that modules can list are hashed, so
 * the thousandth import answers as fast as the first.
 *
 * A function holds its module, and a module holds its imports: a root may be dropped while functions
 * taken from it are in use.
 *
 * Those who write a kind of module include tenon/backend/module_kind.h.
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
	TENON_MODULE_SERIALIZABLE = 1, /* has save */
	TENON_MODULE_RUNNABLE = 2,     /* its functions can be called */
	TENON_MODULE_EXPORTABLE = 4,   /* is compiled into the shared object itself */
};

/** enum tenon_generation - which TVM wrote a blob */
enum tenon_generation {
	TENON_GENERATION_NONE = 0,   /* no blob: a plain library, or bytes handed in */
	TENON_GENERATION_LEGACY = 1, /* 0.8 to 0.21: payloads without a length */
	TENON_GENERATION_FFI = 2,    /* 0.22 and later: payloads with one */
};

/**
 * tenon_module_load - open a file and all it imports
 * @path: a shared object that TVM or Tenon exported, or a file whose extension has a loader
 *	(`load_from_file.<extension>`)
 * @out: receives the root of the import tree with one reference
 *
 * A host shared object is native code: opening it runs its constructors. All names that it
 * and the libraries it needs import are bound before that: a missing one is an error that names it. The
 * same file opened twice gives the same tree.
 *
 * Context: any thread. fork() waits for half a second at most until no other thread is in here, so that the
 *	child can open modules too.
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NO_LOADER;
 *	-TENON_E_UNSUPPORTED; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_load(const char *path, struct tenon_module **out);

/**
 * tenon_module_load_bytes - make a module from the bytes its kind was saved as
 * @kind: kind; its loader is looked up by this name (`load_from_bytes.<kind>`)
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
 * Any bytes may be inspected: no code of the file runs, memory is bounded by the file's size.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_inspect(const char *path, struct tenon_module **out);

/**
 * tenon_module_get_function - look a function up in a module and all it imports
 * @m: module
 * @name: the function's name, without any symbol prefix; "main" is the default entry
 * @out: receives the function with one reference
 *
 * Context: any thread.
 * Return: 0; -TENON_E_NOT_FOUND, with the nearest names in the message.
 */
TENON_API int tenon_module_get_function(struct tenon_module *m, const char *name,
					struct tenon_function **out);

/**
 * tenon_module_find_function - look a function up, absence being no error
 * @m: module
 * @name: name
 * @imports: look in the imports too
 * @out: receives the function with one reference; NULL when there is none
 *
 * Return: 0 also when there is none; else what the kind's get_function failed with.
 */
TENON_API int tenon_module_find_function(struct tenon_module *m, struct tenon_slice name,
					 bool imports, struct tenon_function **out);

/**
 * tenon_module_each_function - visit the names of the functions of one module
 * @m: module; its imports are not visited
 * @visit: called with each name; stops when it returns non-zero
 * @context: handed to @visit
 *
 * Return: what the last @visit returned; -TENON_E_UNSUPPORTED when the kind cannot list names.
 */
TENON_API int tenon_module_each_function(struct tenon_module *m,
					 int (*visit)(void *context, struct tenon_slice name),
					 void *context);

/** tenon_module_kind - "library", "opencl", "const_loader", …; lives as long as the module */
TENON_API struct tenon_slice tenon_module_kind(const struct tenon_module *m);

/** tenon_module_properties - what a module can do: a mask of enum tenon_module_property */
TENON_API uint32_t tenon_module_properties(const struct tenon_module *m);

/** tenon_module_import_count - how many modules a module imports itself */
TENON_API size_t tenon_module_import_count(const struct tenon_module *m);

/** tenon_module_import_at - an import, borrowed from @m; NULL for @index out of range */
TENON_API struct tenon_module *tenon_module_import_at(const struct tenon_module *m, size_t index);

/**
 * tenon_module_import - add a module to the imports of another
 * @m: the importing module
 * @child: the imported one; referenced
 *
 * Context: not while another thread looks functions up in @m or in what imports it.
 * Return: 0; -TENON_E_CYCLE when @child is @m or imports it, directly or not; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_import(struct tenon_module *m, struct tenon_module *child);

/** tenon_module_clear_imports - drop all imports; context as tenon_module_import() */
TENON_API void tenon_module_clear_imports(struct tenon_module *m);

/**
 * tenon_module_save - write the bytes from which the kind's loader makes the module again
 * @m: module; its imports are not written
 * @out: the bytes are appended
 *
 * Return: 0; -TENON_E_UNSUPPORTED when the kind cannot; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_save(struct tenon_module *m, struct tenon_buffer *out);

/**
 * tenon_module_write - write a module to a file, whole or not at all
 * @m: module
 * @path: the file; made under a temporary name, synced and renamed
 * @format: a format of the kind; "" for its own
 *
 * Return: 0; -TENON_E_UNSUPPORTED; -TENON_E_IO; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_write(struct tenon_module *m, const char *path, const char *format);

/**
 * tenon_module_source - get a module's source text
 * @m: module
 * @format: a format of the kind; "" for its own
 * @out: receives an owned string
 *
 * Return: 0; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_source(struct tenon_module *m, const char *format,
				  struct tenon_value *out);

/**
 * tenon_system_lib_register - add a statically linked symbol
 * @name: symbol name, with its prefix; must live as long as the process
 * @address: function or object
 *
 * Called by constructors of compiled code before main(), or of a library that tenon_module_load()
 * opens, which is never unmapped then.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_system_lib_register(const char *name, void *address);

/**
 * tenon_system_lib - the module made of statically linked symbols
 * @prefix: prefix the code was compiled with; "" for none
 * @out: receives the module with one reference; the same one for the same prefix
 *
 * Return: 0; as tenon_module_load() for an import tree that cannot be read; -TENON_E_NOT_FOUND when
 *	no symbol was registered.
 */
TENON_API int tenon_system_lib(const char *prefix, struct tenon_module **out);

/**
 * tenon_module_write_blob - write a module's import tree as the bytes of a blob symbol
 * @root: root of the tree; a module with TENON_MODULE_EXPORTABLE is part of `_lib`
 * @generation: TENON_GENERATION_FFI for `__tvm_ffi__library_bin`, TENON_GENERATION_LEGACY for
 *	`__tvm_dev_mblob`; the numbering is TVM's in both
 * @out: the bytes are appended, the leading size included
 *
 * Return: 0; -TENON_E_UNSUPPORTED, naming the module that cannot be saved; -TENON_E_CYCLE when
 *	folding the exportable modules together would make one; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_write_blob(struct tenon_module *root, enum tenon_generation generation,
				      struct tenon_buffer *out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_MODULE_H */

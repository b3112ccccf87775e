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
 * A new kind of module is a struct that begins with struct tenon_module, and an ops table;
 * runtime/kind/example_json.c is a worked example.
 */

#include <tenon/buffer.h>
#include <tenon/function.h>
#include <tenon/string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_module;
struct tenon_module_index;
struct tenon_visitor;

/** enum tenon_module_property - what a module can do; a mask with tvm-ffi's values */
enum tenon_module_property {
	TENON_MODULE_SERIALIZABLE = 1, /* has save */
	TENON_MODULE_RUNNABLE = 2,     /* its functions can be called */
	TENON_MODULE_EXPORTABLE = 4,   /* is compiled into the shared object itself */
};

/** struct tenon_module_ops - what a kind of module does; any slot may be NULL */
struct tenon_module_ops {
	/**
	 * @get_function: make a function of the module itself, not of its imports
	 *
	 * The function must hold a reference of the module as long as it lives. Returns 0 with *@out
	 * NULL, and no error raised, when the module has no such function. May be called from any
	 * thread, by several at a time.
	 */
	int (*get_function)(struct tenon_module *m, struct tenon_slice name,
			    struct tenon_function **out);
	/**
	 * @each_function: visit the names of all functions get_function would find
	 *
	 * The names must live as long as the module. Stops and returns what @visit returned when that
	 * is not 0. A negative status of its own, with a message, says that the names cannot be read: a
	 * lookup below an importing module that finds its name nowhere else then asks @get_function,
	 * which raises the reason. A module without this slot, or with TENON_MODULE_OPEN_NAMES set, is asked anew at
	 * every lookup that passes it.
	 */
	int (*each_function)(struct tenon_module *m,
			     int (*visit)(void *context, struct tenon_slice name), void *context);
	/** @save: append the bytes that the kind's loader reads; needs TENON_MODULE_SERIALIZABLE */
	int (*save)(struct tenon_module *m, struct tenon_buffer *out);
	/** @write_file: write the module to a file of a format; "" is the kind's own format */
	int (*write_file)(struct tenon_module *m, const char *path, const char *format);
	/** @source: give the module's source in a format as an owned string; "" is the kind's own */
	int (*source)(struct tenon_module *m, const char *format, struct tenon_value *out);
	/** @visit: visit the fields that are the kind's own (tenon/visit.h) */
	int (*visit)(const struct tenon_module *m, const struct tenon_visitor *v);
	/** @destroy: release the content that is the kind's own; imports are already gone */
	void (*destroy)(struct tenon_module *m);
	/** @free: give the memory back; NULL for free() */
	void (*free)(struct tenon_module *m);
};

/* tenon_module.flags */
#define TENON_MODULE_OPEN_NAMES 1u /* get_function knows more names than each_function lists */

/**
 * struct tenon_module - the start of every module
 * @object: header; type TENON_TYPE_MODULE
 * @ops: what the kind does
 * @kind: "library", "opencl", "const_loader", …; lives as long as the module
 * @properties: enum tenon_module_property
 * @flags: TENON_MODULE_OPEN_NAMES
 * @imports: imported modules, each referenced; changed by tenon_module_import() alone
 * @import_count: how many
 * @index: names to modules, made at the first lookup that needs it
 */
struct tenon_module {
	struct tenon_object object;
	const struct tenon_module_ops *ops;
	struct tenon_slice kind;
	uint32_t properties;
	uint32_t flags;
	struct tenon_module **imports;
	size_t import_count;
	struct tenon_module_index *index;
};

/**
 * tenon_module_init - make the start of a module, with one reference
 * @m: memory of the caller's, given back by @ops->free
 * @ops: a table that lives as long as the module
 * @kind: lives as long as the module
 * @properties: mask
 */
void tenon_module_init(struct tenon_module *m, const struct tenon_module_ops *ops,
		       struct tenon_slice kind, uint32_t properties);

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
int tenon_module_load(const char *path, struct tenon_module **out);

/**
 * tenon_module_load_bytes - make a module from the bytes its kind was saved as
 * @kind: kind; its loader is looked up by this name (`load_from_bytes.<kind>`)
 * @bytes: the bytes; borrowed for the call
 * @out: receives the module with one reference
 *
 * Return: 0; -TENON_E_NO_LOADER; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NOMEM.
 */
int tenon_module_load_bytes(const char *kind, struct tenon_slice bytes, struct tenon_module **out);

/**
 * tenon_module_inspect - read a shared object's import tree without running any of its code
 * @path: an ELF file of any machine
 * @out: receives the root of a tree that can be listed, visited and saved, but not called
 *
 * Any bytes may be inspected: no code of the file runs, memory is bounded by the file's size.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM.
 */
int tenon_module_inspect(const char *path, struct tenon_module **out);

/**
 * tenon_module_get_function - look a function up in a module and all it imports
 * @m: module
 * @name: the function's name, without any symbol prefix; "main" is the default entry
 * @out: receives the function with one reference
 *
 * Context: any thread.
 * Return: 0; -TENON_E_NOT_FOUND, with the nearest names in the message.
 */
int tenon_module_get_function(struct tenon_module *m, const char *name,
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
int tenon_module_find_function(struct tenon_module *m, struct tenon_slice name, bool imports,
			       struct tenon_function **out);

/**
 * tenon_module_each_function - visit the names of the functions of one module
 * @m: module; its imports are not visited
 * @visit: called with each name; stops when it returns non-zero
 * @context: handed to @visit
 *
 * Return: what the last @visit returned; -TENON_E_UNSUPPORTED when the kind cannot list names.
 */
int tenon_module_each_function(struct tenon_module *m,
			       int (*visit)(void *context, struct tenon_slice name), void *context);

/**
 * tenon_module_import - add a module to the imports of another
 * @m: the importing module
 * @child: the imported one; referenced
 *
 * Context: not while another thread looks functions up in @m or in what imports it.
 * Return: 0; -TENON_E_CYCLE when @child is @m or imports it, directly or not; -TENON_E_NOMEM.
 */
int tenon_module_import(struct tenon_module *m, struct tenon_module *child);

/** tenon_module_clear_imports - drop all imports; context as tenon_module_import() */
void tenon_module_clear_imports(struct tenon_module *m);

/**
 * tenon_module_save - write the bytes from which the kind's loader makes the module again
 * @m: module; its imports are not written
 * @out: the bytes are appended
 *
 * Return: 0; -TENON_E_UNSUPPORTED when the kind cannot; -TENON_E_NOMEM.
 */
int tenon_module_save(struct tenon_module *m, struct tenon_buffer *out);

/**
 * tenon_module_write - write a module to a file, whole or not at all
 * @m: module
 * @path: the file; made under a temporary name, synced and renamed
 * @format: a format of the kind; "" for its own
 *
 * Return: 0; -TENON_E_UNSUPPORTED; -TENON_E_IO; -TENON_E_NOMEM.
 */
int tenon_module_write(struct tenon_module *m, const char *path, const char *format);

/**
 * tenon_module_source - get a module's source text
 * @m: module
 * @format: a format of the kind; "" for its own
 * @out: receives an owned string
 *
 * Return: 0; -TENON_E_UNSUPPORTED; -TENON_E_NOMEM.
 */
int tenon_module_source(struct tenon_module *m, const char *format, struct tenon_value *out);

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
int tenon_system_lib_register(const char *name, void *address);

/**
 * tenon_system_lib - the module made of statically linked symbols
 * @prefix: prefix the code was compiled with; "" for none
 * @out: receives the module with one reference; the same one for the same prefix
 *
 * Return: 0; as tenon_module_load() for an import tree that cannot be read; -TENON_E_NOT_FOUND when
 *	no symbol was registered.
 */
int tenon_system_lib(const char *prefix, struct tenon_module **out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_MODULE_H */

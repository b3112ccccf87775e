/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_MODULE_KIND_H
#define TENON_BACKEND_MODULE_KIND_H

/**
 * DOC: kinds of modules
 *
 * A kind of module is a struct that begins with struct tenon_module, an ops table, and a loader that makes
 * one of the bytes of a blob entry; examples/module_kind.c is all of it. Such loaders serve both generations
 * of blobs. Loaders may also be packed functions in the registry, called "ffi.Module.load_from_bytes.<kind>"
 * with one bytes argument; those serve blobs whose entries have a length, that is TVM 0.22 and later.
 *
 * Loaders of files are packed functions called "ffi.Module.load_from_file.<extension>", with the
 * path and the extension as arguments.
 */

#include <tenon/backend/cursor.h>
#include <tenon/export.h>
#include <tenon/module.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_module_index;
struct tenon_visitor;

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
TENON_API void tenon_module_init(struct tenon_module *m, const struct tenon_module_ops *ops,
				 struct tenon_slice kind, uint32_t properties);

/**
 * struct tenon_payload - where a blob entry stands
 * @file: path of the file, for messages; "" for bytes handed in
 * @index: number of the module in the blob
 * @count: how many modules the blob has; 0 when that is not known yet
 * @generation: the blob's
 * @kind: the entry's kind
 * @keep: object that keeps the bytes mapped; referenced by a module that keeps slices of them; NULL
 *	when the bytes are the caller's and must be copied
 */
struct tenon_payload {
	const char *file;
	uint64_t index;
	uint64_t count;
	enum tenon_generation generation;
	struct tenon_slice kind;
	struct tenon_object *keep;
};

/**
 * struct tenon_module_loader - a loader
 * @kind: the kind it loads
 * @load: make a module of the bytes at @c, and leave the cursor behind the last byte used. For blobs
 *	whose entries have a length the cursor holds just the entry, and bytes left over are refused
 *	by the caller. Works without any device: a payload is loaded on its device at first use.
 *	Returns 0, or a negative status with a message that says what is wrong where.
 */
struct tenon_module_loader {
	const char *kind;
	int (*load)(struct tenon_cursor *c, const struct tenon_payload *payload,
		    struct tenon_module **out);
};

/**
 * tenon_module_loader_register - add a loader
 * @loader: must live as long as the process
 *
 * Context: any thread; takes a lock. For starting up.
 * Return: 0; -TENON_E_EXISTS; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_loader_register(const struct tenon_module_loader *loader);

/**
 * tenon_module_loader_known - does this build load a kind
 * @kind: kind
 *
 * Return: true for loaders of either sort.
 */
TENON_API bool tenon_module_loader_known(struct tenon_slice kind);

/**
 * tenon_module_loader_names - write the kinds that this build loads, for a message
 * @out: receives "const_loader, examplejson, …"
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_loader_names(struct tenon_buffer *out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_MODULE_KIND_H */

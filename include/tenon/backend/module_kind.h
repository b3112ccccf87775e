/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_MODULE_KIND_H
#define TENON_BACKEND_MODULE_KIND_H

/**
 * DOC: kinds of modules
 *
 * A kind of module consists of a struct that begins with struct tenon_module, an ops table, and a
 * loader that creates a module from the bytes of a blob entry; see examples/module_kind.c. Such
 * loaders read both generations of blobs. A loader may also be a packed function
 * "ffi.Module.load_from_bytes.<kind>" in the registry, with one bytes argument; it reads only blobs
 * whose entries have a length, that is TVM 0.22 and later.
 *
 * Loaders of files are packed functions "ffi.Module.load_from_file.<extension>" with the path and
 * the extension as arguments.
 */

#include <tenon/backend/cursor.h>
#include <tenon/export.h>
#include <tenon/module.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_module_index;
struct tenon_visitor;

/** struct tenon_module_ops - operations of a kind of module; any slot may be NULL */
struct tenon_module_ops {
	/**
	 * @get_function: get a function of the module itself, not of its imports
	 *
	 * The function must hold a reference to the module. Returns 0 with *@out NULL and without
	 * raising an error when the module has no such function. Any thread may call this, several
	 * at a time.
	 */
	int (*get_function)(struct tenon_module *m, struct tenon_slice name,
			    struct tenon_function **out);
	/**
	 * @each_function: visit the names of all functions that @get_function finds
	 *
	 * The names must be valid as long as the module. Stops when @visit returns non-zero, and
	 * returns that. Returns a negative status with a message when the names cannot be read; a
	 * lookup in an importing module that finds the name in no other import then calls
	 * @get_function, which raises the reason. Lookups call @get_function every time for a
	 *	module
	 * without this slot or with TENON_MODULE_OPEN_NAMES.
	 */
	int (*each_function)(struct tenon_module *m,
			     int (*visit)(void *context, struct tenon_slice name), void *context);
	/** @save: append the bytes for the kind's loader; requires TENON_MODULE_SERIALIZABLE */
	int (*save)(struct tenon_module *m, struct tenon_buffer *out);
	/** @write_file: write the module to a file in a format; "" is the default format */
	int (*write_file)(struct tenon_module *m, const char *path, const char *format);
	/** @source: get the source in a format as an owned string; "" is the default format */
	int (*source)(struct tenon_module *m, const char *format, struct tenon_value *out);
	/** @visit: visit the fields of the kind (tenon/visit.h) */
	int (*visit)(const struct tenon_module *m, const struct tenon_visitor *v);
	/** @destroy: release the resources of the kind; imports are released before */
	void (*destroy)(struct tenon_module *m);
	/** @free: free the struct; NULL for free() */
	void (*free)(struct tenon_module *m);
};

/* tenon_module.flags */
#define TENON_MODULE_OPEN_NAMES 1u /* get_function finds names that each_function does not list */

/**
 * struct tenon_module - base of every module
 * @object: header; type TENON_TYPE_MODULE
 * @ops: operations of the kind
 * @kind: "library", "opencl", "const_loader", …; valid as long as the module
 * @properties: enum tenon_module_property
 * @flags: TENON_MODULE_OPEN_NAMES
 * @imports: imported modules, each referenced; only changed by tenon_module_import()
 * @import_count: number of imports
 * @index: map from names to modules, created at the first lookup that needs it
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
 * tenon_module_init - initialise the base of a module with one reference
 * @m: allocated by the caller and freed by @ops->free
 * @ops: valid as long as the module
 * @kind: valid as long as the module
 * @properties: mask of enum tenon_module_property
 */
TENON_API void tenon_module_init(struct tenon_module *m, const struct tenon_module_ops *ops,
				 struct tenon_slice kind, uint32_t properties);

/**
 * struct tenon_payload - description of a blob entry
 * @file: path of the file, for messages; "" for bytes from the caller
 * @index: number of the module in the blob
 * @count: number of modules in the blob; 0 when not yet known
 * @generation: the blob's
 * @kind: the entry's kind
 * @keep: object that keeps the bytes mapped; a module that keeps slices of them references it. NULL
 *	when the bytes are valid only during the call and must be copied.
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
 * struct tenon_module_loader - loader of a module kind
 * @kind: the kind it loads
 * @load: create a module from the bytes at @c, and move the cursor past the last byte used. For
 *	blobs whose entries have a length the cursor covers only the entry, and the caller rejects
 *	bytes left over. Must work without a device: a payload is loaded on its device at first use.
 *	Returns 0, or a negative status with the offset and the defect in the message.
 */
struct tenon_module_loader {
	const char *kind;
	int (*load)(struct tenon_cursor *c, const struct tenon_payload *payload,
		    struct tenon_module **out);
};

/**
 * tenon_module_loader_register - register a loader
 * @loader: valid for the life of the process
 *
 * Context: any thread; takes a lock. Intended for startup.
 * Return: 0; -TENON_E_EXISTS; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_loader_register(const struct tenon_module_loader *loader);

/**
 * tenon_module_loader_known - test whether a kind has a loader
 * @kind: kind
 *
 * Return: true if it has a struct tenon_module_loader or a packed function.
 */
TENON_API bool tenon_module_loader_known(struct tenon_slice kind);

/**
 * tenon_module_loader_names - list the kinds that have a loader, for a message
 * @out: "const_loader, static_library, …" is appended
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_loader_names(struct tenon_buffer *out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_MODULE_KIND_H */

/* SPDX-License-Identifier: MIT */
#ifndef TENON_LOADER_H
#define TENON_LOADER_H

/**
 * DOC: module loaders
 *
 * A loader makes a module of one kind from the bytes of a blob entry. Loaders written against this
 * header serve both generations of blobs. Loaders may also be packed functions in the registry,
 * called "ffi.Module.load_from_bytes.<kind>" with one bytes argument; those serve blobs whose entries
 * have a length, that is TVM 0.22 and later.
 *
 * Loaders of files are packed functions called "ffi.Module.load_from_file.<extension>", with the
 * path and the extension as arguments.
 */

#include <tenon/cursor.h>
#include <tenon/module.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum tenon_generation - which TVM wrote a blob */
enum tenon_generation {
	TENON_GENERATION_NONE = 0,   /* no blob: a plain library, or bytes handed in */
	TENON_GENERATION_LEGACY = 1, /* 0.8 to 0.21: payloads without a length */
	TENON_GENERATION_FFI = 2,    /* 0.22 and later: payloads with one */
};

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
int tenon_module_loader_register(const struct tenon_module_loader *loader);

/**
 * tenon_module_loader_known - does this build load a kind
 * @kind: kind
 *
 * Return: true for loaders of either sort.
 */
bool tenon_module_loader_known(struct tenon_slice kind);

/**
 * tenon_module_loader_names - write the kinds that this build loads, for a message
 * @out: receives "const_loader, examplejson, …"
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int tenon_module_loader_names(struct tenon_buffer *out);

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
int tenon_module_write_blob(struct tenon_module *root, enum tenon_generation generation,
			    struct tenon_buffer *out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_LOADER_H */

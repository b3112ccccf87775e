/* SPDX-License-Identifier: MIT */
/* Modules that hold a payload, whether or not this build can run it. */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_MODULE_H
#define RUNTIME_PAYLOAD_PAYLOAD_MODULE_H

/*
 * A payload that no loader accepts, or that is only inspected, still becomes a module: its
 * functions have names, and it can be saved again. Calling a function of it fails with the name of
 * the missing loader. The modules of one tree share a block of memory, since a blob may have a
 * thousand. Each has its own reference count; the last release frees the block.
 */

#include "lib/plugin_api.h"
#include "runtime/payload/payload_format.h"

struct payload_block;

/**
 * struct payload_tree - what all payloads of a blob share
 * @file: path, copied
 * @base: an address in the blob
 * @offset: the offset of @base in the file
 * @keep: keeps the bytes alive; referenced by the block; NULL for static storage
 * @count: modules of the tree
 * @generation: generation of the blob
 * @dialect: form of its function tables
 * @inspected: use no loaders: the tree is for inspection only
 */
struct payload_tree {
	const char *file;
	const uint8_t *base;
	uint64_t offset;
	struct tenon_object *keep;
	size_t count;
	enum tenon_generation generation;
	enum payload_dialect dialect;
	bool inspected;
};

/**
 * payload_block_create - allocate a block for the modules of a tree
 * @tree: description
 * @room: number of modules that will be added
 * @out: receives the block; holds one reference of its own until payload_block_close()
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int payload_block_create(const struct payload_tree *tree, size_t room, struct payload_block **out);

/**
 * payload_block_add - make a module; there must be room
 * @block: block
 * @index: index of the module in the blob
 * @kind: its kind, in the blob
 * @format: format of the kind; NULL if unknown
 * @bytes: the payload, in the blob
 *
 * Return: the module with one reference.
 */
struct tenon_module *payload_block_add(struct payload_block *block, size_t index,
				       struct tenon_slice kind,
				       const struct tenon_payload_format *format,
				       struct tenon_slice bytes);

/**
 * payload_module_made - make the program of a payload that was read to find its form
 * @m: a module just made by payload_block_add()
 * @info: contents of the payload
 *
 * If that fails, the first lookup of a function fails with the reason.
 */
void payload_module_made(struct tenon_module *m, const struct tenon_payload_info *info);

/** payload_block_close - end adding: the block lives as long as its modules */
void payload_block_close(struct payload_block *block);

/**
 * payload_module_check_form - check a payload against a blob generation
 * @m: any module
 * @generation: generation of the blob to be written
 *
 * Function tables changed their form in TVM 0.20: payloads that have one are not converted.
 *
 * Return: 0, also for modules that are not payloads; -TENON_E_UNSUPPORTED.
 */
int payload_module_check_form(const struct tenon_module *m, enum tenon_generation generation)
	TO_PLUGINS(payload_module_check_form);

struct tenon_device;
struct tenon_executable;

/**
 * payload_module_executable - get the program of a module on a device
 * @m: any module
 * @device: the device
 * @out: receives the executable with one reference; NULL for a module without kernels for @device
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_UNSUPPORTED; -TENON_E_NO_LOADER; -TENON_E_NOMEM.
 */
int payload_module_executable(struct tenon_module *m, struct tenon_device *device,
			      struct tenon_executable **out);

/* buffer size for payload_size_text() */
#define PAYLOAD_SIZE_TEXT 32

/** payload_size_text - format a size: "494 bytes", "48 KiB", "1.2 MiB"; returns @text */
const char *payload_size_text(uint64_t size, char text[PAYLOAD_SIZE_TEXT]);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_MODULE_H */

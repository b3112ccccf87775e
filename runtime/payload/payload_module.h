/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_MODULE_H
#define RUNTIME_PAYLOAD_PAYLOAD_MODULE_H

/**
 * DOC: payloads without a loader
 *
 * A payload that nothing here can load, or that is only looked at, is a module all the same: it is
 * listed, its functions are known by name, it can be saved again, and calling a function of it says
 * which loader is missing. The modules of one tree lie in one block of memory, since a blob may
 * have a thousand; each has its own references, and the block goes with the last.
 */

#include "runtime/payload/payload_format.h"

struct payload_block;

/**
 * struct payload_tree - what the payloads of a blob have in common
 * @file: path, copied
 * @base: a byte of the blob, and
 * @offset: its offset in the file
 * @keep: keeps the bytes alive; referenced by the block; may be NULL when they live for ever
 * @count: modules of the tree
 * @generation: the blob's
 * @dialect: form of its function tables
 * @inspected: the tree is only looked at, whatever loaders there are
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
 * payload_block_create - make room for the modules of a tree
 * @tree: description
 * @room: how many modules will be added
 * @out: receives the block; holds one reference of its own until payload_block_close()
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int payload_block_create(const struct payload_tree *tree, size_t room, struct payload_block **out);

/**
 * payload_block_add - make a module; there must be room
 * @block: block
 * @index: the module's number in the blob
 * @kind: its kind, in the blob
 * @format: what payloads of the kind look like; NULL when that is not known
 * @bytes: the payload, in the blob
 *
 * Return: the module with one reference.
 */
struct tenon_module *payload_block_add(struct payload_block *block, size_t index,
				       struct tenon_slice kind,
				       const struct tenon_payload_format *format,
				       struct tenon_slice bytes);

/**
 * payload_module_keep_info - keep what was read of a payload, so that it is not read again
 * @m: a module just made by payload_block_add()
 * @info: taken over and emptied; without memory it stays as it is
 */
void payload_module_keep_info(struct tenon_module *m, struct tenon_payload_info *info);

/** payload_block_close - end adding: from now on the modules alone hold the block */
void payload_block_close(struct payload_block *block);

/**
 * payload_module_check_form - can a module's payload stand in a blob of a generation
 * @m: any module
 * @generation: of the blob to be written
 *
 * Function tables changed their form in TVM 0.20: payloads that have one are not carried over.
 *
 * Return: 0, also for modules that are no payloads; -TENON_E_UNSUPPORTED.
 */
int payload_module_check_form(const struct tenon_module *m, enum tenon_generation generation);

/* room for what payload_size_text() writes */
#define PAYLOAD_SIZE_TEXT 32

/** payload_size_text - write a size for people: "494 bytes", "48 KiB", "1.2 MiB"; returns @text */
const char *payload_size_text(uint64_t size, char text[PAYLOAD_SIZE_TEXT]);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_MODULE_H */

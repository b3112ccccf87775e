/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_KERNEL_H
#define RUNTIME_PAYLOAD_PAYLOAD_KERNEL_H

#include "runtime/device/kernel_call.h"
#include "runtime/payload/payload_module.h"

/**
 * struct payload_place - which payload it is
 * @tree: the module's tree
 * @index: its number in the blob
 * @format: of its kind; may be NULL
 */
struct payload_place {
	const struct payload_tree *tree;
	size_t index;
	const struct tenon_payload_format *format;
};

/**
 * payload_kernel - make a function of a payload's kernel
 * @set: the module's kernels, made by the first call; atomic
 * @place: which payload it is
 * @m: the module; referenced by the function
 * @info: what was found in the payload
 * @name: the kernel's
 * @out: receives the function with one reference
 *
 * Return: 0; -TENON_E_UNSUPPORTED for a table that cannot be used; -TENON_E_NOMEM.
 */
int payload_kernel(struct kernel_set **set, const struct payload_place *place,
		   struct tenon_module *m, const struct tenon_payload_info *info,
		   struct tenon_slice name, struct tenon_function **out);

/**
 * payload_module_take - make a module of a payload that a backend takes
 * @kind: its kind; copied
 * @bytes: the payload; taken over, and empty afterwards, unless that fails
 * @file: where it comes from, for messages; "" for nowhere; copied
 * @out: receives the module with one reference
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NOMEM.
 */
int payload_module_take(struct tenon_slice kind, struct tenon_buffer *bytes, const char *file,
			struct tenon_module **out);

/**
 * payload_module_load - make a module of the bytes of a device's payload
 * @kind: a kind that a backend takes
 * @bytes: copied
 * @out: receives the module with one reference
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NOMEM.
 */
int payload_module_load(struct tenon_slice kind, struct tenon_slice bytes,
			struct tenon_module **out);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_KERNEL_H */

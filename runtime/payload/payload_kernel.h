/* SPDX-License-Identifier: MIT */
/* From a payload to kernels on a device, in builds with and without devices. */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_KERNEL_H
#define RUNTIME_PAYLOAD_PAYLOAD_KERNEL_H

#include "lib/plugin_api.h"
#include "runtime/device/kernel_call.h"
#include "runtime/payload/payload_module.h"

/**
 * struct payload_place - identifies a payload
 * @tree: the module's tree
 * @index: index of the module in the blob
 * @format: format of its kind; may be NULL
 */
struct payload_place {
	const struct payload_tree *tree;
	size_t index;
	const struct tenon_payload_format *format;
};

/**
 * payload_kernels - get the kernels of a payload; the first call makes its program
 * @set: kernels of the module, NULL before the first call; atomic
 * @place: the payload
 * @info: contents of the payload
 * @out: receives what @set has
 *
 * Return: 0; -TENON_E_UNSUPPORTED for a table that cannot be used; -TENON_E_NO_LOADER; -TENON_E_NOMEM.
 */
int payload_kernels(struct kernel_set **set, const struct payload_place *place,
		    const struct tenon_payload_info *info, struct kernel_set **out);

/**
 * payload_module_take - make a module from a buffer for a backend
 * @kind: its kind; copied
 * @bytes: the payload; moved into the module and left empty, except on failure
 * @file: path for messages, "" if there is none; copied
 * @out: receives the module with one reference
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NOMEM.
 */
int payload_module_take(struct tenon_slice kind, struct tenon_buffer *bytes, const char *file,
			struct tenon_module **out) TO_PLUGINS(payload_module_take);

/**
 * payload_module_load - make a module from a copy of a device's payload
 * @kind: a kind that a backend accepts
 * @bytes: copied
 * @out: receives the module with one reference
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NOMEM.
 */
int payload_module_load(struct tenon_slice kind, struct tenon_slice bytes,
			struct tenon_module **out);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_KERNEL_H */

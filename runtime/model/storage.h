/* SPDX-License-Identifier: MIT */
/* Zeroed and aligned memory for tensors, which uses physical memory only after it is touched. */
#ifndef RUNTIME_MODEL_STORAGE_H
#define RUNTIME_MODEL_STORAGE_H

#include <tenon/object.h>
#include <tenon/tensor.h>

#include "lib/plugin_api.h"

#include "lib/heap.h"

/**
 * struct storage - a counted block
 * @object: header; type TENON_TYPE_OBJECT
 * @data: aligned to TENON_TENSOR_ALIGN at least
 * @size: bytes
 * @mapping: address to unmap; NULL for heap memory
 * @mapped: bytes to unmap
 * @heap: heap that @data is from; NULL for others
 */
struct storage {
	struct tenon_object object;
	char *data;
	size_t size;
	void *mapping;
	size_t mapped;
	struct heap *heap;
};

/**
 * storage_create - allocate a block
 * @size: bytes; large blocks are mapped, in huge pages where the system has them
 * @out: receives the block with one reference
 *
 * From a heap it is planned memory, and not zeroed: two models may share that.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int storage_create(uint64_t size, struct storage **out) TO_PLUGINS(storage_create);

/* The same for contents that last as long as the model: from a heap it is persistent memory. */
int storage_create_lasting(uint64_t size, struct storage **out) TO_PLUGINS(storage_create_lasting);

#endif /* RUNTIME_MODEL_STORAGE_H */

/* SPDX-License-Identifier: MIT */
/*
 * Metadata of an ahead-of-time model: structs in the library's memory, in the layout of TVM 0.9 to
 * 0.19.
 */
#ifndef RUNTIME_AOT_AOT_METADATA_H
#define RUNTIME_AOT_AOT_METADATA_H

#include <stddef.h>
#include <tenon/tensor.h>

/* TVMTensorInfo */
struct aot_tensor_info {
	const char *name;
	const int64_t *shape;
	int64_t ndim;
	DLDataType dtype;
};

/* TVMConstantInfo: @data is a saved tensor of @size bytes */
struct aot_constant_info {
	const char *name;
	int64_t offset;
	int64_t size;
	const void *data;
};

/* TVMMetadata */
struct aot_metadata {
	int64_t version;
	const struct aot_tensor_info *inputs;
	int64_t input_count;
	const struct aot_tensor_info *outputs;
	int64_t output_count;
	const struct aot_tensor_info *workspaces;
	int64_t workspace_count;
	const struct aot_constant_info *constants;
	int64_t constant_count;
	const char *name;
};

#if UINTPTR_MAX > 0xffffffffu
_Static_assert(sizeof(struct aot_tensor_info) == 32, "TVMTensorInfo");
_Static_assert(sizeof(struct aot_constant_info) == 32, "TVMConstantInfo");
_Static_assert(sizeof(struct aot_metadata) == 80, "TVMMetadata");
_Static_assert(offsetof(struct aot_metadata, name) == 72, "TVMMetadata.mod_name");
#endif

/**
 * aot_metadata_check - check the metadata of a model
 * @m: metadata; its pointers belong to the library and cannot be checked
 * @constants: receives the size of the constant pool
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_UNSUPPORTED for another version; -TENON_E_OVERFLOW.
 */
int aot_metadata_check(const struct aot_metadata *m, uint64_t *constants);

/* Copy the checked constants to their offsets in the pool. */
void aot_metadata_fill(const struct aot_metadata *m, char *pool);

/* Size of a checked tensor. */
uint64_t aot_tensor_bytes(const struct aot_tensor_info *t);

#endif /* RUNTIME_AOT_AOT_METADATA_H */

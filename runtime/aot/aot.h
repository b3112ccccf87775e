/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_AOT_AOT_H
#define RUNTIME_AOT_AOT_H

/*
 * Models that were compiled ahead of time: one function runs all, the memory around it is here.
 * aot_create.c makes them, aot.c runs them.
 */

#include "runtime/library/tvm_types.h"
#include "runtime/aot/aot_metadata.h"
#include "runtime/model/model.h"
#include "runtime/model/storage.h"

/* a tensor that the code is called with */
struct aot_slot {
	const struct aot_tensor_info *info;
	uint64_t offset; /* in the arena */
	uint64_t bytes;
	struct tenon_object *keep;  /* the bound tensor; NULL: in the arena */
	struct tenon_tensor *given; /* out, as long as it does not move */
	bool set;
};

struct aot_model {
	struct tenon_model base;
	const struct aot_metadata *meta;
	struct tenon_function *main;
	void *symbol; /* of @main, when it can be entered by the address */
	struct storage *arena;
	/* inputs, outputs; constants and workspaces where there are workspaces */
	struct aot_slot *slots;
	size_t count;
	DLTensor *tensors; /* of each slot */
	union legacy_value *values;
	int *codes;
	struct tenon_value *views;
	int64_t constants; /* shape of the pool of constants */
	size_t unset;
};

extern const struct model_ops aot_ops;

/* executor.create */
int aot_model_create(struct tenon_module *root, const struct tenon_model_options *o,
		     struct tenon_model **out);

/* model_ops.destroy, also of a model that is half made */
void aot_destroy(struct tenon_model *m);

/* Address of a tensor in the arena. */
static inline void *aot_own_place(const struct aot_model *a, size_t slot)
{
	return a->arena->data + a->slots[slot].offset;
}

#endif /* RUNTIME_AOT_AOT_H */

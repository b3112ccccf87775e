/* SPDX-License-Identifier: MIT */
/*
 * Models compiled ahead of time: one function runs the whole model in memory provided here.
 * aot_create.c creates them, aot.c runs them.
 */
#ifndef RUNTIME_AOT_AOT_H
#define RUNTIME_AOT_AOT_H

#include <tenon/backend/module_kind.h>

#include "runtime/library/tvm_types.h"
#include "runtime/aot/aot_metadata.h"
#include "runtime/model/model.h"
#include "runtime/model/storage.h"

/* a tensor argument of the compiled function */
struct aot_slot {
	const struct aot_tensor_info *info;
	char *home; /* its memory in the arena; NULL for a parameter that is used in place alone */
	uint64_t bytes;
	struct tenon_object *keep;  /* bound tensor; NULL: data is in the arena */
	struct tenon_tensor *given; /* tensor handed out; dropped when the data moves */
	bool set;
};

struct aot_model {
	struct tenon_model base;
	const struct aot_metadata *meta;
	struct tenon_function *main;
	void *symbol; /* address of @main, if it can be called directly */
	struct storage *arena;
	struct storage *lasting; /* of what must not be shared; NULL: in @arena, too */
	/* inputs, outputs; with workspaces also constants and workspaces */
	struct aot_slot *slots;
	size_t count;
	DLTensor *tensors; /* one per slot */
	union legacy_value *values;
	int *codes;
	struct tenon_value *views;
	int64_t constants; /* shape of the constant pool */
	size_t unset;
};

extern const struct model_ops aot_ops;

/* executor.create */
int aot_model_create(struct tenon_module *root, const struct tenon_model_options *o,
		     struct tenon_model **out);

/* loader of the factories */
int aot_factory_load(struct tenon_cursor *c, const struct tenon_payload *payload,
		     struct tenon_module **out);

/* model_ops.destroy; also for a partly created model */
void aot_destroy(struct tenon_model *m);

/* Address of a slot's own memory; NULL where it has none. */
static inline void *aot_own_place(const struct aot_model *a, size_t slot)
{
	return a->slots[slot].home;
}

#endif /* RUNTIME_AOT_AOT_H */

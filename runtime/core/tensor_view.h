/* SPDX-License-Identifier: MIT */
/* Make tensor objects in the heap of a model, or with contents that the caller sets. */
#ifndef RUNTIME_CORE_TENSOR_VIEW_H
#define RUNTIME_CORE_TENSOR_VIEW_H

#include <tenon/tensor.h>

#include "lib/plugin_api.h"

/* tenon_tensor_view() with an object from the heap that the thread entered (lib/heap.h). */
int tensor_view_of_model(const DLTensor *dl, struct tenon_object *keep, struct tenon_tensor **out)
	TO_PLUGINS(tensor_view_of_model);

/* tenon_tensor_create() with memory that is not zeroed; of @dl, shape and dtype are used. */
int tensor_create_unset(const DLTensor *dl, struct tenon_tensor **out);

#endif /* RUNTIME_CORE_TENSOR_VIEW_H */

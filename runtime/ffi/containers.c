/* SPDX-License-Identifier: MIT */
/* A global function for containers of any kind: the device of what is in them. */
#include <tenon/tensor.h>

#include "runtime/ffi/walk.h"

/* Find the first tensor outside the processor's memory. Return: false if there is none. */
static bool first_device(const struct tenon_value *v, DLDevice *device, int nested)
{
	const struct tenon_value *key, *value;
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_array *s;
	int64_t i;

	if (nested > FFI_NESTED_MOST)
		return false;
	if (v->type == TENON_TYPE_TENSOR) {
		*device = ((const struct tenon_tensor *)v->as.object)->dl.device;
		return device->device_type != kDLCPU;
	}
	if (ffi_is_sequence(v->type)) {
		s = (const struct tenon_array *)v->as.object;
		for (i = 0; i < s->size; i++)
			if (first_device(&s->data[i], device, nested + 1))
				return true;
	}
	if (ffi_is_map(v->type))
		while (ffi_map_next((const struct tenon_map *)v->as.object, &at, &key, &value))
			if (first_device(value, device, nested + 1))
				return true;
	return false;
}

static PACKED_CALL(find_device)
{
	DLDevice found, processor = { kDLCPU, 0 };
	if (ffi_count("ffi.ContainerFindFirstNonCPUDevice", count, 1, 1))
		return -1;
	*ret = tenon_arg_device(first_device(&args[0], &found, 0) ? found : processor);
	return 0;
}

const struct global_function containers_globals[] = {
	{ "ffi.ContainerFindFirstNonCPUDevice", find_device },
	{ NULL, NULL },
};

/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_MODEL_TENSOR_PLACE_H
#define RUNTIME_MODEL_TENSOR_PLACE_H

/* Where tensors of models lie: in memory of the process, or on a device. */

#include <tenon/device.h>
#include <tenon/tensor.h>

#include "lib/plugin_api.h"

/* DLPack's numbers of page-locked memory of the process */
enum { PLACE_CUDA_HOST = 3, PLACE_ROCM_HOST = 11 };

/* memory that the processor reads and writes as its own */
static inline bool place_is_host(DLDevice d)
{
	return d.device_type == kDLCPU || (int)d.device_type == PLACE_CUDA_HOST ||
	       (int)d.device_type == PLACE_ROCM_HOST;
}

/* one device, or both the process's memory */
static inline bool place_same(DLDevice a, DLDevice b)
{
	return (a.device_type == b.device_type && a.device_id == b.device_id) ||
	       (place_is_host(a) && place_is_host(b));
}

/**
 * place_copy - copy the content of a compact tensor, between any two places
 * @from: source; dtype and shape are not looked at
 * @to: target, likewise
 * @bytes: how much
 *
 * In memory of the process the two may overlap, or be the same.
 *
 * Return: 0; as tenon_tensor_copy(), which waits for what was submitted to the devices before.
 */
int place_copy(const DLTensor *from, const DLTensor *to, uint64_t bytes) TO_PLUGINS(place_copy);

/* Wait for all that was submitted to a device; nothing to do for the process's memory. */
int place_wait(DLDevice device) TO_PLUGINS(place_wait);

/* What the calling thread submits to a device from now on comes behind what all threads did so far. */
int place_follow(struct tenon_device *device) TO_PLUGINS(place_follow);

#endif /* RUNTIME_MODEL_TENSOR_PLACE_H */

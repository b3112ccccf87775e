/* SPDX-License-Identifier: MIT */
/* Locations of model tensors: host memory or a device. */
#ifndef RUNTIME_MODEL_TENSOR_PLACE_H
#define RUNTIME_MODEL_TENSOR_PLACE_H

#include <tenon/device.h>
#include <tenon/tensor.h>

#include "lib/option.h"
#include "lib/plugin_api.h"
#include "runtime/core/tensor_settle.h"

/* Without the device layer all tensors are in host memory, and the code for others is left out. */
#define PLACE_HAS_DEVICES OPTION_ON(DEVICES)

/* DLPack device types of page-locked host memory */
enum { PLACE_CUDA_HOST = 3, PLACE_ROCM_HOST = 11 };

/* Test for memory that the processor accesses directly. */
static inline bool place_is_host(DLDevice d)
{
	return d.device_type == kDLCPU || (int)d.device_type == PLACE_CUDA_HOST ||
	       (int)d.device_type == PLACE_ROCM_HOST;
}

/**
 * place_can_bind - test whether a model's compiled code can use a tensor where it is
 *
 * Return: 0; -TENON_E_DEVICE for one that is not in host memory; -TENON_E_VALUE for one that is not aligned.
 */
int place_can_bind(const DLTensor *t) TO_PLUGINS(place_can_bind);

/* Test for one device, or host memory of any kind. */
static inline bool place_same(DLDevice a, DLDevice b)
{
	return (a.device_type == b.device_type && a.device_id == b.device_id) ||
	       (place_is_host(a) && place_is_host(b));
}

/**
 * place_copy - copy the data of a compact tensor between any two devices
 * @from: source; dtype and shape are ignored
 * @to: target, dtype and shape are ignored
 * @bytes: size of the data
 *
 * In host memory the two may overlap or be equal.
 *
 * Return: 0; as tenon_tensor_copy(), which waits for earlier work of both devices.
 */
int place_copy(const DLTensor *from, const DLTensor *to, uint64_t bytes) TO_PLUGINS(place_copy);

/* Test whether tensor data on a device is an address, to which offsets can be added. */
bool place_has_addresses(DLDevice device) TO_PLUGINS(place_has_addresses);

/* tensor_settle() for any device; costs nothing when there is no byte_offset. */
static inline void place_settle(DLTensor *t)
{
	if (t->byte_offset)
		tensor_settle(t, place_has_addresses(t->device));
}

/* Wait for all work submitted to a device; a no-op for host memory. */
int place_wait(DLDevice device) TO_PLUGINS(place_wait);

/* Order the calling thread's later work on a device after all threads' earlier work. */
int place_follow(struct tenon_device *device) TO_PLUGINS(place_follow);

#endif /* RUNTIME_MODEL_TENSOR_PLACE_H */

/* SPDX-License-Identifier: MIT */
/* Refuse tensors and bytes of a program that have a size but no data. */
#ifndef RUNTIME_CORE_TENSOR_DATA_H
#define RUNTIME_CORE_TENSOR_DATA_H

#include <tenon/error.h>
#include <tenon/tensor.h>

/**
 * tensor_check_data - refuse a tensor of a program that has a size and no data
 * @t: tensor. Those on a device have its addresses, of which 0 may be one.
 *
 * Return: 0; -TENON_E_VALUE; as tenon_tensor_bytes().
 */
static inline int tensor_check_data(const DLTensor *t)
{
	size_t bytes = 0;
	int err;

	if (t->data || t->device.device_type != kDLCPU)
		return 0;
	err = tenon_tensor_bytes(t, &bytes);
	if (!err && bytes)
		err = tenon_error(-TENON_E_VALUE,
				  "a tensor of %zu bytes has no data: its pointer is NULL", bytes);
	return err;
}

/** bytes_check_data - refuse bytes of a program that have a size and no data; 0 or -TENON_E_VALUE */
static inline int bytes_check_data(const void *data, uint64_t size)
{
	return data || !size
		       ? 0
		       : tenon_error(-TENON_E_VALUE, "%llu bytes without data: the pointer is NULL",
				     (unsigned long long)size);
}

#endif /* RUNTIME_CORE_TENSOR_DATA_H */

/* SPDX-License-Identifier: MIT */
/* Convert scalar arguments for kernels, each to the first bytes of an 8-byte slot. */
#include <string.h>

#include "lib/half.h"
#include "runtime/device/kernel_call.h"

/* the bfloat16 nearest to a float32, ties to even */
static uint16_t bfloat_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static bool put(uint64_t *slot, const void *value, size_t size)
{
	*slot = 0;
	memcpy(slot, value, size);
	return true;
}

bool kernel_scalar_integer(DLDataType type, int64_t value, uint64_t *slot)
{
	uint8_t byte = (uint8_t)value;
	uint16_t two = (uint16_t)value;
	uint32_t four = (uint32_t)value;

	if (type.code == TENON_DTYPE_BOOL || (type.code == TENON_DTYPE_UINT && type.bits == 1)) {
		byte = value != 0;
		return put(slot, &byte, 1);
	}
	if (type.code != TENON_DTYPE_INT && type.code != TENON_DTYPE_UINT)
		return kernel_scalar_real(type, (double)value, slot);
	switch (type.bits) {
	case 8:
		return put(slot, &byte, 1);
	case 16:
		return put(slot, &two, 2);
	case 32:
		return put(slot, &four, 4);
	case 64:
		return put(slot, &value, 8);
	default:
		return false;
	}
}

bool kernel_scalar_real(DLDataType type, double value, uint64_t *slot)
{
	float single = (float)value;
	uint16_t two;

	if (type.code == TENON_DTYPE_BFLOAT && type.bits == 16) {
		two = bfloat_of(single);
		return put(slot, &two, 2);
	}
	if (type.code != TENON_DTYPE_FLOAT)
		return false;
	switch (type.bits) {
	case 16:
		two = half_of(value);
		return put(slot, &two, 2);
	case 32:
		return put(slot, &single, 4);
	case 64:
		return put(slot, &value, 8);
	default:
		return false;
	}
}

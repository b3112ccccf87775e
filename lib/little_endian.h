/* SPDX-License-Identifier: MIT */
/* Read an integer of any number of bytes. */
#ifndef LIB_LITTLE_ENDIAN_H
#define LIB_LITTLE_ENDIAN_H

#include <stddef.h>
#include <stdint.h>

/** little_endian - the integer of @size bytes, 8 at most, the lowest first */
static inline uint64_t little_endian(const void *bytes, size_t size)
{
	const uint8_t *at = (const uint8_t *)bytes;
	uint64_t value = 0;

	while (size--)
		value = value << 8 | at[size];
	return value;
}

#endif /* LIB_LITTLE_ENDIAN_H */

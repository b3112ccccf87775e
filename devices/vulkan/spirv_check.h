/* SPDX-License-Identifier: MIT */
/* Check SPIR-V before a driver compiles it. */
#ifndef DEVICES_VULKAN_SPIRV_CHECK_H
#define DEVICES_VULKAN_SPIRV_CHECK_H

#include <tenon/value.h>

/**
 * struct spirv_limits - limits of a kernel
 * @bindings: number of descriptors of set 0
 * @max_block: threads of a block in each dimension
 * @max_threads: threads of a block
 * @version: newest version of SPIR-V, 0x00010300 for 1.3
 * @capabilities: @capability_count capabilities that a kernel may use
 */
struct spirv_limits {
	uint32_t bindings;
	uint32_t max_block[3];
	uint32_t max_threads;
	uint32_t version;
	const uint16_t *capabilities;
	size_t capability_count;
};

/**
 * spirv_check - validate a program before it is passed to a driver
 * @words: @count words, in host byte order
 * @name: required entry point
 *
 * Drivers do not validate programs. So check the header, that instructions end where the program
 * ends, that the entry point exists and is a compute shader, and that descriptors, block sizes and
 * capabilities are within the limits.
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NOT_FOUND for the entry point;
 *	-TENON_E_UNSUPPORTED for a version, a capability or a block that the device does not have.
 */
int spirv_check(const uint32_t *words, size_t count, struct tenon_slice name,
		const struct spirv_limits *limits);

#endif /* DEVICES_VULKAN_SPIRV_CHECK_H */

/* SPDX-License-Identifier: MIT */
#ifndef DEVICES_VULKAN_SPIRV_CHECK_H
#define DEVICES_VULKAN_SPIRV_CHECK_H

#include <tenon/value.h>

/**
 * struct spirv_limits - what a kernel may take
 * @bindings: descriptors of set 0 that there will be
 * @max_block: threads of a block, by dimension
 * @max_threads: of a block in all
 * @version: newest version of SPIR-V, 0x00010300 for 1.3
 * @capabilities: those that a kernel may name, @capability_count of them
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
 * spirv_check - look a program over before a driver sees it
 * @words: @count words, in the machine's order
 * @name: entry point that has to be there
 *
 * Drivers trust what they are given. So: the header is one, instructions fill the program exactly,
 * the entry point is there and computes, descriptors, block sizes and capabilities are within what
 * there is.
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NOT_FOUND for the entry point;
 *	-TENON_E_UNSUPPORTED for a version, a capability or a block that the device does not have.
 */
int spirv_check(const uint32_t *words, size_t count, struct tenon_slice name,
		const struct spirv_limits *limits);

#endif /* DEVICES_VULKAN_SPIRV_CHECK_H */

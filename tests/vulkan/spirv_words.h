/* SPDX-License-Identifier: MIT */
/*
 * Write SPIR-V word by word, so that the tests need no shader compiler.
 *
 * It makes one kernel with any number of buffers and scalars, all of 32-bit integers:
 *
 *	if (x < scalar[0])	(without scalars: always)
 *		buffer[0][x] = buffer[1][x] + buffer[2][x] + … + scalar[1] + scalar[2] + …
 */
#ifndef TESTS_VULKAN_SPIRV_WORDS_H
#define TESTS_VULKAN_SPIRV_WORDS_H

#include <stddef.h>
#include <stdint.h>

#define SPIRV_ROOM 4096

struct spirv_sum {
	const char *name;
	uint32_t buffers;
	uint32_t scalars;
	uint32_t block;	  /* scalars are in a uniform block, else push constants */
	uint32_t threads; /* of a block; 0 is 64 */
};

/* Write the kernel; returns how many words. */
size_t spirv_sum_write(const struct spirv_sum *sum, uint32_t words[SPIRV_ROOM]);

#endif /* TESTS_VULKAN_SPIRV_WORDS_H */

/* SPDX-License-Identifier: MIT */
/* Memory for constants that a library keeps in a layout of its own. */
#ifndef RUNTIME_BYOC_JSON_CONSTANTS_H
#define RUNTIME_BYOC_JSON_CONSTANTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * struct byoc_constants - blocks of memory; zeroed where there are none yet
 * @expected: bytes that all constants will take, about: the least that a block has
 */
struct byoc_constants {
	size_t expected;
	void **blocks;
	uint32_t count;
	char *at; /* what is left of the last block */
	size_t left;
};

/**
 * byoc_constant_take - memory for one more constant, aligned to BYOC_ALIGNMENT
 * @size: bytes
 *
 * Constants lie behind each other in few blocks, which have large pages: a page fault for each
 * 4 KiB takes longer than writing them.
 *
 * Return: memory; NULL with a message.
 */
void *byoc_constant_take(struct byoc_constants *c, size_t size);

void byoc_constants_free(struct byoc_constants *c);

#endif /* RUNTIME_BYOC_JSON_CONSTANTS_H */

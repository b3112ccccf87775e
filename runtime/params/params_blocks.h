/* SPDX-License-Identifier: MIT */
/* Types of GGUF: numbers, and blocks of codes with scales. */
#ifndef RUNTIME_PARAMS_PARAMS_BLOCKS_H
#define RUNTIME_PARAMS_PARAMS_BLOCKS_H

#include <stdint.h>
#include <tenon/tensor.h>

/* the most that a block has */
#define BLOCK_ELEMENTS_MOST 256
#define BLOCK_BYTES_MOST    256

/**
 * struct block_type - a type of tensors in GGUF
 * @name: as GGUF calls it
 * @number: in files
 * @elements: of a block; 1 for a type of numbers
 * @bytes: of a block
 * @dtype: of the elements; of blocks uint8, since they are given as bytes
 * @dequantize: compute the elements of a block as float32; NULL for numbers
 */
struct block_type {
	const char *name;
	uint32_t number;
	uint16_t elements;
	uint16_t bytes;
	DLDataType dtype;
	void (*dequantize)(const uint8_t *block, float *to);
};

/** block_type_find - the type of a number in a file; NULL for one that is not supported */
const struct block_type *block_type_find(uint32_t number);

#endif /* RUNTIME_PARAMS_PARAMS_BLOCKS_H */

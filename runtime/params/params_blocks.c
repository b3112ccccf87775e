/* SPDX-License-Identifier: MIT */
/* Compute the numbers of quantised blocks of GGUF. */
#include "runtime/params/params_blocks.h"

#include <stddef.h>

#include "lib/cursor_fast.h"
#include "lib/half.h"

/*
 * Each function multiplies and adds in float32, in the order of the reference, the package gguf of
 * PyPI: results are equal bit for bit. Codes are unsigned and are moved to their signed range first.
 */

static float half_at(const uint8_t *at)
{
	return half_to_float(load_u16(at));
}

/* the code of four bits at an index: low halves of bytes first, then the high ones */
static int nibble(const uint8_t *codes, int index, int half)
{
	return index < half ? codes[index] & 15 : codes[index - half] >> 4;
}

static void q4_0(const uint8_t *b, float *to)
{
	const float d = half_at(b);
	int i;

	for (i = 0; i < 32; i++)
		to[i] = d * (float)(nibble(b + 2, i, 16) - 8);
}

static void q4_1(const uint8_t *b, float *to)
{
	const float d = half_at(b), m = half_at(b + 2);
	int i;

	for (i = 0; i < 32; i++)
		to[i] = d * (float)nibble(b + 4, i, 16) + m;
}

static int fifth_bit(const uint8_t *bits, int index)
{
	return (int)(load_u32(bits) >> index & 1) << 4;
}

static void q5_0(const uint8_t *b, float *to)
{
	const float d = half_at(b);
	int i;

	for (i = 0; i < 32; i++)
		to[i] = d * (float)((nibble(b + 6, i, 16) | fifth_bit(b + 2, i)) - 16);
}

static void q5_1(const uint8_t *b, float *to)
{
	const float d = half_at(b), m = half_at(b + 2);
	int i;

	for (i = 0; i < 32; i++)
		to[i] = d * (float)(nibble(b + 8, i, 16) | fifth_bit(b + 4, i)) + m;
}

static void q8_0(const uint8_t *b, float *to)
{
	const float d = half_at(b);
	int i;

	for (i = 0; i < 32; i++)
		to[i] = (float)(int8_t)b[2 + i] * d;
}

/* Scale and minimum of a part of Q4_K and Q5_K: six bits each, the later four parts in two pieces. */
static void part_scales(const uint8_t *scales, int part, int *scale, int *least)
{
	const int i = part & 3;

	if (part < 4) {
		*scale = scales[i] & 63;
		*least = scales[4 + i] & 63;
	} else {
		*scale = (scales[8 + i] & 15) | (scales[i] >> 2 & 48);
		*least = scales[8 + i] >> 4 | (scales[4 + i] >> 2 & 48);
	}
}

/* @fifth: a byte for each place in a part, with a bit for each part; NULL for four bits */
static void k_parts(const uint8_t *b, const uint8_t *fifth, const uint8_t *codes, float *to)
{
	const float d = half_at(b), m = half_at(b + 2);
	int part, i, scale, least, code;

	for (part = 0; part < 8; part++) {
		float dp, mp;

		part_scales(b + 4, part, &scale, &least);
		dp = d * (float)scale;
		mp = m * (float)least;
		for (i = 0; i < 32; i++) {
			code = codes[part / 2 * 32 + i] >> 4 * (part & 1) & 15;
			if (fifth)
				code |= (fifth[i] >> part & 1) << 4;
			*to++ = dp * (float)code - mp;
		}
	}
}

static void q4_k(const uint8_t *b, float *to)
{
	k_parts(b, NULL, b + 16, to);
}

static void q5_k(const uint8_t *b, float *to)
{
	k_parts(b, b + 16, b + 48, to);
}

static void q6_k(const uint8_t *b, float *to)
{
	const uint8_t *low = b, *high = b + 128, *scales = b + 192;
	const float d = half_at(b + 208);
	int part, i, half, code;

	for (part = 0; part < 8; part++) {
		half = part / 4;
		for (i = 0; i < 32; i++) {
			code = low[half * 64 + (part & 1) * 32 + i] >> 4 * (part / 2 & 1) & 15;
			code |= (high[half * 32 + i] >> 2 * (part & 3) & 3) << 4;
			*to++ = d * (float)(int8_t)scales[2 * part + i / 16] * (float)(code - 32);
		}
	}
}

#define NUMBERS(name, number, code, bits)                                                          \
	{                                                                                          \
		name, number, 1, (bits) / 8, { TENON_DTYPE_##code, bits, 1 }, NULL                 \
	}
#define BLOCKS(name, number, elements, bytes, function)                                            \
	{                                                                                          \
		name, number, elements, bytes, { TENON_DTYPE_UINT, 8, 1 }, function                \
	}

static const struct block_type types[] = {
	NUMBERS("F32", 0, FLOAT, 32),	    NUMBERS("F16", 1, FLOAT, 16),
	BLOCKS("Q4_0", 2, 32, 18, q4_0),    BLOCKS("Q4_1", 3, 32, 20, q4_1),
	BLOCKS("Q5_0", 6, 32, 22, q5_0),    BLOCKS("Q5_1", 7, 32, 24, q5_1),
	BLOCKS("Q8_0", 8, 32, 34, q8_0),    BLOCKS("Q4_K", 12, 256, 144, q4_k),
	BLOCKS("Q5_K", 13, 256, 176, q5_k), BLOCKS("Q6_K", 14, 256, 210, q6_k),
	NUMBERS("I8", 24, INT, 8),	    NUMBERS("I16", 25, INT, 16),
	NUMBERS("I32", 26, INT, 32),	    NUMBERS("I64", 27, INT, 64),
	NUMBERS("F64", 28, FLOAT, 64),	    NUMBERS("BF16", 30, BFLOAT, 16),
};

const struct block_type *block_type_find(uint32_t number)
{
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].number == number)
			return &types[i];
	return NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * The suite's kernels as C functions, in the order of cts_kernels. Nothing of the suite is needed here, so that
 * a backend whose processor is this one can have them built in.
 */
#include "tests/cts/host_kernels.h"

#include <string.h>
#include <tenon/error.h>

/* the i-th argument as a pointer or as a value of a type */
#define POINTER(type, i) ((type *)(uintptr_t)b->arguments[i])

#define VALUE(type, i)                                                                             \
	__extension__({                                                                            \
		type value_;                                                                       \
		memcpy(&value_, &b->arguments[i], sizeof(value_));                                 \
		value_;                                                                            \
	})

static int add(const struct tenon_host_block *b)
{
	const int32_t *x = POINTER(int32_t, 0), *y = POINTER(int32_t, 1);
	int32_t *out = POINTER(int32_t, 2), n = VALUE(int32_t, 3), i;
	uint32_t t;

	for (t = 0; t < b->block[0]; t++) {
		i = (int32_t)(b->index[0] * 32 + t);
		if (i < n)
			out[i] = x[i] + y[i];
	}
	return 0;
}

static int scale(const struct tenon_host_block *b)
{
	float *data = POINTER(float, 0), factor = VALUE(float, 1);
	int32_t n = VALUE(int32_t, 2), i;
	uint32_t t;

	for (t = 0; t < b->block[0]; t++) {
		i = (int32_t)(b->index[0] * 32 + t);
		if (i < n)
			data[i] *= factor;
	}
	return 0;
}

static int bump(const struct tenon_host_block *b)
{
	POINTER(int32_t, 0)[b->index[0]]++;
	return 0;
}

#define SCALAR(name, type)                                                                         \
	static int scalar_##name(const struct tenon_host_block *b)                                 \
	{                                                                                          \
		*POINTER(type, 0) = VALUE(type, 1);                                                \
		return 0;                                                                          \
	}                                                                                          \
	static int scalar_##name##_first(const struct tenon_host_block *b)                         \
	{                                                                                          \
		*POINTER(type, 1) = VALUE(type, 0);                                                \
		return 0;                                                                          \
	}

SCALAR(int8, int8_t)
SCALAR(uint8, uint8_t)
SCALAR(int16, int16_t)
SCALAR(uint16, uint16_t)
SCALAR(int32, int32_t)
SCALAR(uint32, uint32_t)
SCALAR(int64, int64_t)
SCALAR(uint64, uint64_t)
SCALAR(float16, uint16_t)
SCALAR(bfloat16, uint16_t)
SCALAR(float32, float)
SCALAR(float64, double)
SCALAR(bool, uint8_t)

static int order(const struct tenon_host_block *b)
{
	int32_t *out = POINTER(int32_t, 1);

	out[0] = VALUE(int32_t, 0);
	out[1] = (int32_t)(VALUE(float, 2) * 4);
	out[2] = (int32_t)VALUE(uint32_t, 3);
	out[3] = POINTER(int32_t, 4)[0];
	out[4] = VALUE(int32_t, 5);
	return 0;
}

static int order_wide(const struct tenon_host_block *b)
{
	int64_t *out = POINTER(int64_t, 1);

	out[0] = VALUE(int8_t, 0);
	out[1] = (int64_t)(VALUE(double, 2) * 4);
	out[2] = VALUE(int32_t, 3);
	out[3] = VALUE(int64_t, 4);
	out[4] = POINTER(int64_t, 5)[0];
	out[5] = VALUE(int16_t, 6);
	return 0;
}

static int many(const struct tenon_host_block *b)
{
	int i;

	for (i = 0; i < 10; i++)
		POINTER(int32_t, 0)[i] = VALUE(int32_t, i + 1);
	return 0;
}

static int where(const struct tenon_host_block *b)
{
	const uint32_t *at = b->index, *grid = b->grid;

	POINTER(int32_t, 0)
	[(at[2] * grid[1] + at[1]) * grid[0] + at[0]] = (int32_t)(at[0] + 10 * at[1] + 100 * at[2]);
	return 0;
}

static int threads(const struct tenon_host_block *b)
{
	uint32_t x, y;

	for (y = 0; y < b->block[1]; y++)
		for (x = 0; x < b->block[0]; x++)
			POINTER(int32_t, 0)
	[b->index[0] * 8 + y * 4 + x] = (int32_t)(1000 * b->index[0] + 10 * y + x);
	return 0;
}

static int reverse(const struct tenon_host_block *b)
{
	int32_t *data = POINTER(int32_t, 0) + 16 * b->index[0], *shared = b->shared;
	uint32_t t;

	if (b->shared_size < 64)
		return tenon_error(-TENON_E_VALUE, "reverse: %u bytes of shared memory",
				   b->shared_size);
	for (t = 0; t < b->block[0]; t++)
		shared[t] = data[t];
	for (t = 0; t < b->block[0]; t++)
		data[t] = shared[b->block[0] - 1 - t];
	return 0;
}

#define BOTH(name) scalar_##name, scalar_##name##_first

const tenon_host_kernel host_kernels[] = {
	add,	      scale,	     bump,	     BOTH(int8),    BOTH(uint8),
	BOTH(int16),  BOTH(uint16),  BOTH(int32),    BOTH(uint32),  BOTH(int64),
	BOTH(uint64), BOTH(float16), BOTH(bfloat16), BOTH(float32), BOTH(float64),
	BOTH(bool),   order,	     order_wide,     many,	    where,
	threads,      reverse,
};

const size_t host_kernel_count = sizeof(host_kernels) / sizeof(host_kernels[0]);

/* SPDX-License-Identifier: MIT */
/* The suite's kernels as device code, in the order of cts_kernels. */
#include <tenon/uapi/mortise_kernel.h>

typedef const uint64_t *arguments;
typedef const struct mortise_group *group;

#define POINTER(type, i) MORTISE_POINTER(type, a, i)
#define VALUE(type, i)	 MORTISE_SCALAR(type, a, i)

static int32_t add(arguments a, group g)
{
	const int32_t *x = POINTER(int32_t, 0), *y = POINTER(int32_t, 1);
	int32_t *out = POINTER(int32_t, 2), n = VALUE(int32_t, 3), i;
	uint32_t t;

	for (t = 0; t < g->threads[0]; t++) {
		i = (int32_t)(g->group[0] * 32 + t);
		if (i < n)
			out[i] = x[i] + y[i];
	}
	return 0;
}
MORTISE_KERNEL(add, "handle handle handle int32", "blockIdx.x threadIdx.x");

static int32_t scale(arguments a, group g)
{
	float *data = POINTER(float, 0), factor = VALUE(float, 1);
	int32_t n = VALUE(int32_t, 2), i;
	uint32_t t;

	for (t = 0; t < g->threads[0]; t++) {
		i = (int32_t)(g->group[0] * 32 + t);
		if (i < n)
			data[i] *= factor;
	}
	return 0;
}
MORTISE_KERNEL(scale, "handle float32 int32", "threadIdx.x blockIdx.x");

static int32_t bump(arguments a, group g)
{
	POINTER(int32_t, 0)[g->group[0]]++;
	return 0;
}
MORTISE_KERNEL(bump, "handle", "blockIdx.x");

#define SCALAR(name, type)                                                                         \
	static int32_t scalar_##name(arguments a, group g)                                         \
	{                                                                                          \
		(void)g;                                                                           \
		*POINTER(type, 0) = VALUE(type, 1);                                                \
		return 0;                                                                          \
	}                                                                                          \
	MORTISE_KERNEL(scalar_##name, "handle " #name, "");                                        \
	static int32_t scalar_##name##_first(arguments a, group g)                                 \
	{                                                                                          \
		(void)g;                                                                           \
		*POINTER(type, 1) = VALUE(type, 0);                                                \
		return 0;                                                                          \
	}                                                                                          \
	MORTISE_KERNEL(scalar_##name##_first, #name " handle", "")

SCALAR(int8, int8_t);
SCALAR(uint8, uint8_t);
SCALAR(int16, int16_t);
SCALAR(uint16, uint16_t);
SCALAR(int32, int32_t);
SCALAR(uint32, uint32_t);
SCALAR(int64, int64_t);
SCALAR(uint64, uint64_t);
SCALAR(float16, uint16_t);
SCALAR(bfloat16, uint16_t);
SCALAR(float32, float);
SCALAR(float64, double);
SCALAR(bool, uint8_t);

static int32_t order(arguments a, group g)
{
	int32_t *out = POINTER(int32_t, 1);

	(void)g;
	out[0] = VALUE(int32_t, 0);
	out[1] = (int32_t)(VALUE(float, 2) * 4);
	out[2] = (int32_t)VALUE(uint32_t, 3);
	out[3] = POINTER(int32_t, 4)[0];
	out[4] = VALUE(int32_t, 5);
	return 0;
}
MORTISE_KERNEL(order, "int32 handle float32 uint32 handle int32", "");

static int32_t order_wide(arguments a, group g)
{
	int64_t *out = POINTER(int64_t, 1);

	(void)g;
	out[0] = VALUE(int8_t, 0);
	out[1] = (int64_t)(VALUE(double, 2) * 4);
	out[2] = VALUE(int32_t, 3);
	out[3] = VALUE(int64_t, 4);
	out[4] = POINTER(int64_t, 5)[0];
	out[5] = VALUE(int16_t, 6);
	return 0;
}
MORTISE_KERNEL(order_wide, "int8 handle float64 int32 int64 handle int16", "");

static int32_t many(arguments a, group g)
{
	int i;

	(void)g;
	for (i = 0; i < 10; i++)
		POINTER(int32_t, 0)[i] = VALUE(int32_t, i + 1);
	return 0;
}
MORTISE_KERNEL(many, "handle int32 int32 int32 int32 int32 int32 int32 int32 int32 int32", "");

static int32_t where(arguments a, group g)
{
	const uint32_t *at = g->group, *grid = g->groups;

	POINTER(int32_t, 0)
	[(at[2] * grid[1] + at[1]) * grid[0] + at[0]] = (int32_t)(at[0] + 10 * at[1] + 100 * at[2]);
	return 0;
}
MORTISE_KERNEL(where, "handle", "blockIdx.z blockIdx.x blockIdx.y");

static int32_t threads(arguments a, group g)
{
	uint32_t x, y, b = g->group[0];

	for (y = 0; y < g->threads[1]; y++)
		for (x = 0; x < g->threads[0]; x++)
			POINTER(int32_t, 0)
	[b * 8 + y * 4 + x] = (int32_t)(1000 * b + 10 * y + x);
	return 0;
}
MORTISE_KERNEL(threads, "handle", "threadIdx.y blockIdx.x threadIdx.x");

static int32_t reverse(arguments a, group g)
{
	int32_t *data = POINTER(int32_t, 0) + 16 * g->group[0], *shared = POINTER(int32_t, 1);
	uint32_t t, n = g->threads[0];

	for (t = 0; t < n; t++)
		shared[t] = data[t];
	for (t = 0; t < n; t++)
		data[t] = shared[n - 1 - t];
	return 0;
}
MORTISE_KERNEL(reverse, "handle", "blockIdx.x threadIdx.x tir.use_dyn_shared_memory");

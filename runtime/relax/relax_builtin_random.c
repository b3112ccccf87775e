/* SPDX-License-Identifier: MIT */
/* tvm.contrib.random: the numbers of C++'s std::mt19937, and what libstdc++ makes of them. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "lib/error_slot.h"
#include "lib/fork_gate.h"
#include "lib/half.h"
#include "runtime/model/tensor_place.h"
#include "runtime/relax/relax_builtin.h"

#define WORDS 624
#define SHIFT 397

struct mersenne_twister {
	uint32_t words[WORDS];
	uint32_t at; /* 0: not seeded */
};

static void twister_seed(struct mersenne_twister *t, uint32_t seed)
{
	uint32_t i;

	t->words[0] = seed;
	for (i = 1; i < WORDS; i++)
		t->words[i] = UINT32_C(1812433253) * (t->words[i - 1] ^ t->words[i - 1] >> 30) + i;
	t->at = WORDS;
}

static void twister_refill(struct mersenne_twister *t)
{
	uint32_t i, y;

	for (i = 0; i < WORDS; i++) {
		y = (t->words[i] & UINT32_C(0x80000000)) |
		    (t->words[(i + 1) % WORDS] & UINT32_C(0x7fffffff));
		t->words[i] =
			t->words[(i + SHIFT) % WORDS] ^ y >> 1 ^ (y & 1 ? UINT32_C(0x9908b0df) : 0);
	}
	t->at = 0;
}

static uint32_t twister_next(struct mersenne_twister *t)
{
	uint32_t y;

	if (t->at >= WORDS)
		twister_refill(t);
	y = t->words[t->at++];
	y ^= y >> 11;
	y ^= y << 7 & UINT32_C(0x9d2c5680);
	y ^= y << 15 & UINT32_C(0xefc60000);
	return y ^ y >> 18;
}

static uint64_t mix(uint64_t v)
{
	v += UINT64_C(0x9e3779b97f4a7c15);
	v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return v ^ v >> 31;
}

/* Combine two seeds as TVM does. */
static uint32_t combined_seed(uint64_t a, uint64_t b)
{
	uint64_t c = mix(a);

	c ^= mix(b) + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2);
	return (uint32_t)(c >> 32 ^ c);
}

/* The engine for calls without a seed, which is seeded by time at the first use. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mersenne_twister unseeded;

static struct mersenne_twister *unseeded_begin(void)
{
	fork_gate_lock(&lock);
	if (!unseeded.at)
		twister_seed(&unseeded, (uint32_t)clock_now());
	return &unseeded;
}

static void unseeded_end(void)
{
	fork_gate_unlock(&lock);
}

typedef void (*filler)(struct mersenne_twister *t, const DLTensor *out, uint64_t elements, double a,
		       double b);

static void fill_uniform(struct mersenne_twister *t, const DLTensor *out, uint64_t elements,
			 double low, double high)
{
	char *to = relax_tensor_data(out);
	uint64_t i;
	float v;

	for (i = 0; i < elements; i++, to += sizeof(v)) {
		v = (float)(twister_next(t) * 0x1p-32 * (high - low) + low);
		memcpy(to, &v, sizeof(v));
	}
}

/* A number in [0, 1) of an engine's word. */
static float canonical(struct mersenne_twister *t)
{
	const float v = (float)twister_next(t) / 0x1p32f;

	return v < 1 ? v : 0x1.fffffep-1f;
}

/* Marsaglia's polar method: two numbers of a point in the circle, the second one first. */
static void fill_normal(struct mersenne_twister *t, const DLTensor *out, uint64_t elements,
			double loc, double scale)
{
	char *to = relax_tensor_data(out);
	float x = 0, y, r, v;
	uint64_t i;

	for (i = 0; i < elements; i++, to += sizeof(v)) {
		if (i % 2) {
			v = x;
		} else {
			do {
				x = 2 * canonical(t) - 1;
				y = 2 * canonical(t) - 1;
				r = x * x + y * y;
			} while (r > 1 || r == 0);
			v = sqrtf(-2 * logf(r) / r);
			x *= v;
			v *= y;
		}
		v = v * (float)scale + (float)loc;
		memcpy(to, &v, sizeof(v));
	}
}

/* sample([seed, seed2,] a, b, out) */
static int sample(const struct relax_arguments *of, filler fill)
{
	const struct relax_arguments a = *of;
	const int32_t count = a.count;
	int64_t seed[2] = { 0, 0 };
	struct mersenne_twister engine;
	uint64_t elements;
	double low, high;
	char name[TENON_DTYPE_NAME];
	DLTensor *out;
	int err;

	if (count != 3 && count != 5)
		return tenon_error(-TENON_E_TYPE,
				   "%s takes 3 arguments, or 5 with two seeds; %" PRIi32 " given",
				   a.name, count);
	err = count == 5 ? relax_argument_int(&a, 0, &seed[0]) : 0;
	if (!err && count == 5)
		err = relax_argument_int(&a, 1, &seed[1]);
	if (!err)
		err = relax_argument_float(&a, count - 3, &low);
	if (!err)
		err = relax_argument_float(&a, count - 2, &high);
	if (!err)
		err = relax_argument_host_tensor(&a, count - 1, &out);
	if (!err)
		err = tenon_tensor_elements(out, &elements);
	if (err)
		return err;
	if (!tenon_dtype_equal(out->dtype, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1)))
		return relax_argument_error(&a, count - 1, -TENON_E_TYPE,
					    "expected float32, found %s",
					    tenon_dtype_name(out->dtype, name));
	if (seed[0] || seed[1]) {
		twister_seed(&engine, combined_seed((uint64_t)seed[0], (uint64_t)seed[1]));
		fill(&engine, out, elements, low, high);
		return 0;
	}
	fill(unseeded_begin(), out, elements, low, high);
	unseeded_end();
	return 0;
}

/* uniform([seed, seed2,] low, high, out) */
RELAX_BUILTIN_SAID(random_uniform, "random.uniform", 0, -1)
{
	return sample(a, fill_uniform);
}

/* normal([seed, seed2,] loc, scale, out) */
RELAX_BUILTIN_SAID(random_normal, "random.normal", 0, -1)
{
	double scale = 1;

	if ((a->count == 3 || a->count == 5) && !relax_argument_float(a, a->count - 2, &scale) &&
	    !(scale > 0))
		return tenon_error(-TENON_E_VALUE,
				   "random.normal: the standard deviation is %g, want more than 0",
				   scale);
	return sample(a, fill_normal);
}

/* Store the low bytes of an integer as one of @width bytes. */
static void put_bits(char *to, uint64_t bits, size_t width)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	bits <<= 64 - 8 * width;
#endif
	memcpy(to, &bits, width);
}

/* Clip a range of integers to what a dtype holds; 1 when nothing is left. */
static int clip_range(DLDataType dtype, int64_t *low, int64_t *high)
{
	bool is_signed = dtype.code == TENON_DTYPE_INT;
	int64_t least = is_signed ? -(INT64_C(1) << (dtype.bits - 1)) : 0;
	int64_t end = INT64_C(1) << (dtype.bits - is_signed);

	if (*low < least)
		*low = least;
	if (*high > end)
		*high = end;
	return *high <= *low;
}

static bool holds_randint(DLDataType d)
{
	return (d.code == TENON_DTYPE_INT || d.code == TENON_DTYPE_UINT) && d.lanes == 1 &&
	       (d.bits == 8 || d.bits == 16 || d.bits == 32);
}

/* randint(low, high, out): integers from low to high - 1 */
RELAX_BUILTIN_SAID(random_randint, "random.randint", 3, 3)
{
	struct mersenne_twister *t;
	char name[TENON_DTYPE_NAME], *to;
	uint64_t elements, i;
	int64_t low, high;
	DLTensor *out;
	int err;

	err = relax_argument_int(a, 0, &low);
	if (!err)
		err = relax_argument_int(a, 1, &high);
	if (!err)
		err = relax_argument_host_tensor(a, 2, &out);
	if (!err)
		err = tenon_tensor_elements(out, &elements);
	if (err)
		return err;
	if (!holds_randint(out->dtype))
		return relax_argument_error(a, 2, -TENON_E_TYPE,
					    "expected int or uint of 8, 16 or 32 bits, found %s",
					    tenon_dtype_name(out->dtype, name));
	if (high <= low || clip_range(out->dtype, &low, &high))
		return error_of_kind("InternalError", -TENON_E_VALUE,
				     "random.randint: high must be bigger than low, and %s must "
				     "hold a number between them",
				     tenon_dtype_name(out->dtype, name));
	to = relax_tensor_data(out);
	t = unseeded_begin();
	for (i = 0; i < elements; i++, to += out->dtype.bits / 8)
		put_bits(to, (uint64_t)low + twister_next(t) % (uint64_t)(high - low),
			 out->dtype.bits / 8);
	unseeded_end();
	return 0;
}

/* A number in [1, 10), of two words of the engine. */
static double one_to_ten(struct mersenne_twister *t)
{
	const double low = twister_next(t);
	double v = (low + twister_next(t) * 0x1p32) / 0x1p64;

	if (v >= 1)
		v = 1 - 0x1p-53;
	return v * 9.0 + 1.0;
}

/*
 * Numbers in [1, 10), which have a use as any dtype: as floating-point numbers of the element's
 * size, and as integers in elements of a byte.
 */
static void fill_any(struct mersenne_twister *t, const DLTensor *out, uint64_t elements)
{
	char *to = relax_tensor_data(out);
	double v;
	float f;

	for (; elements > 0; elements--, to += out->dtype.bits / 8) {
		v = one_to_ten(t);
		f = (float)v;
		if (out->dtype.bits == 64)
			memcpy(to, &v, sizeof(v));
		else if (out->dtype.bits == 32)
			memcpy(to, &f, sizeof(f));
		else
			put_bits(to, out->dtype.bits == 16 ? half_of(f) : (uint64_t)v,
				 out->dtype.bits / 8);
	}
}

/* Fill a compact tensor on any device. */
static int fill_tensor(const struct relax_arguments *a)
{
	char name[TENON_DTYPE_NAME];
	struct tenon_tensor *local = NULL;
	DLTensor *out, *to;
	uint64_t elements;
	size_t bytes;
	int err;

	err = relax_argument_any_tensor(a, 0, &out);
	if (err)
		return err;
	to = out;
	err = tenon_tensor_elements(out, &elements);
	if (!err)
		err = tenon_tensor_bytes(out, &bytes);
	/* of whole bytes there are no other sizes, but for a complex number of 128 bits */
	if (!err && (out->dtype.lanes != 1 || out->dtype.bits % 8 || out->dtype.bits > 64))
		err = error_of_kind("InternalError", -TENON_E_TYPE,
				    "expected elements of 8, 16, 32 or 64 bits, found %s",
				    tenon_dtype_name(out->dtype, name));
	if (!err && !tenon_tensor_compact(out))
		err = tenon_error(-TENON_E_VALUE, "the tensor has gaps between its elements");
	if (!err && !place_is_host(out->device)) {
		err = tenon_tensor_create(out->shape, out->ndim, out->dtype, &local);
		if (!err)
			to = &local->dl;
	}
	if (err)
		return relax_argument_refuse(a, 0, err);
	fill_any(unseeded_begin(), to, elements);
	unseeded_end();
	if (local)
		err = place_copy(to, out, bytes);
	tenon_object_unref(local);
	return err ? relax_argument_refuse(a, 0, err) : 0;
}

/* random_fill(out) */
RELAX_BUILTIN_SAID(random_fill, "random.random_fill", 1, 1)
{
	return fill_tensor(a);
}

/* random_fill_for_measure(out): what clients that measure kernels fill arguments with */
RELAX_BUILTIN_SAID(random_fill_for_measure, "random.random_fill_for_measure", 1, 1)
{
	return fill_tensor(a);
}

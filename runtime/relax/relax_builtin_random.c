/* SPDX-License-Identifier: MIT */
/* tvm.contrib.random: the numbers of C++'s std::mt19937, and what libstdc++ makes of them */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "lib/fork_gate.h"
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
		return relax_argument_refuse(&a, count - 1,
					     tenon_error(-TENON_E_TYPE,
							 "expected float32, found %s",
							 tenon_dtype_name(out->dtype, name)));
	if (seed[0] || seed[1]) {
		twister_seed(&engine, combined_seed((uint64_t)seed[0], (uint64_t)seed[1]));
		fill(&engine, out, elements, low, high);
		return 0;
	}
	fork_gate_lock(&lock);
	if (!unseeded.at)
		twister_seed(&unseeded, (uint32_t)clock_now());
	fill(&unseeded, out, elements, low, high);
	fork_gate_unlock(&lock);
	return 0;
}

/* uniform([seed, seed2,] low, high, out) */
int relax_builtin_random_uniform(void *self, const struct tenon_value *args, int32_t count,
				 struct tenon_value *ret)
{
	const struct relax_arguments a = { "random.uniform", args, count };

	(void)self;
	*ret = tenon_arg_none();
	return sample(&a, fill_uniform);
}

/* normal([seed, seed2,] loc, scale, out) */
int relax_builtin_random_normal(void *self, const struct tenon_value *args, int32_t count,
				struct tenon_value *ret)
{
	const struct relax_arguments a = { "random.normal", args, count };
	double scale = 1;

	(void)self;
	*ret = tenon_arg_none();
	if ((count == 3 || count == 5) && !relax_argument_float(&a, count - 2, &scale) &&
	    !(scale > 0))
		return tenon_error(-TENON_E_VALUE,
				   "random.normal: the standard deviation is %g, want more than 0",
				   scale);
	return sample(&a, fill_normal);
}

/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic that clang calls as functions on Hexagon: Debian has no compiler-rt for this core. Results are rounded to
 * nearest, ties to even, as those of the core's own instructions are. Small code comes before speed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t __hexagon_udivdi3(uint64_t a, uint64_t b);
uint64_t __hexagon_umoddi3(uint64_t a, uint64_t b);
int64_t __hexagon_divdi3(int64_t a, int64_t b);
int64_t __hexagon_moddi3(int64_t a, int64_t b);
uint32_t __hexagon_udivsi3(uint32_t a, uint32_t b);
uint32_t __hexagon_umodsi3(uint32_t a, uint32_t b);
int32_t __hexagon_divsi3(int32_t a, int32_t b);
int32_t __hexagon_modsi3(int32_t a, int32_t b);
float __hexagon_divsf3(float a, float b);
double __hexagon_divdf3(double a, double b);
double __hexagon_muldf3(double a, double b);
float __hexagon_sqrtf(float a);
void *__hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *to, const void *from,
							    size_t size);

/*
 * At least 32 bytes, a multiple of 8; the addresses may be any. volatile, because clang makes calls of this function of
 * loops that copy.
 */
void *__hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *to, const void *from, size_t size)
{
	bool aligned = !(((uintptr_t)to | (uintptr_t)from) & 7);
	size_t i;

	for (i = 0; i < size; i += aligned ? 8 : 1) {
		if (aligned)
			*(volatile uint64_t *)((char *)to + i) =
				*(const uint64_t *)((const char *)from + i);
		else
			*(volatile char *)((char *)to + i) = *((const char *)from + i);
	}
	return to;
}

/* ---- integers; the quotient of a division by 0 has all bits set, that of a negative number is 1 */

static uint64_t divide(uint64_t a, uint64_t b, uint64_t *rest)
{
	uint64_t q = 0;
	int i;

	if (a < b) {
		*rest = a;
		return 0;
	}
	*rest = 0;
	if (!b)
		return UINT64_MAX;
	for (i = __builtin_clzll(b) - __builtin_clzll(a); i >= 0; i--) {
		q <<= 1;
		if (a >= b << i) {
			a -= b << i;
			q |= 1;
		}
	}
	*rest = a;
	return q;
}

uint64_t __hexagon_udivdi3(uint64_t a, uint64_t b)
{
	uint64_t rest;

	return divide(a, b, &rest);
}

uint64_t __hexagon_umoddi3(uint64_t a, uint64_t b)
{
	uint64_t rest;

	divide(a, b, &rest);
	return rest;
}

static uint64_t size_of(int64_t a)
{
	return a < 0 ? -(uint64_t)a : (uint64_t)a;
}

int64_t __hexagon_divdi3(int64_t a, int64_t b)
{
	uint64_t q = __hexagon_udivdi3(size_of(a), size_of(b));

	return (int64_t)((a < 0) != (b < 0) ? -q : q);
}

int64_t __hexagon_moddi3(int64_t a, int64_t b)
{
	uint64_t rest = __hexagon_umoddi3(size_of(a), size_of(b));

	return (int64_t)(a < 0 ? -rest : rest);
}

uint32_t __hexagon_udivsi3(uint32_t a, uint32_t b)
{
	return (uint32_t)__hexagon_udivdi3(a, b);
}

uint32_t __hexagon_umodsi3(uint32_t a, uint32_t b)
{
	return (uint32_t)__hexagon_umoddi3(a, b);
}

int32_t __hexagon_divsi3(int32_t a, int32_t b)
{
	return (int32_t)__hexagon_divdi3(a, b);
}

int32_t __hexagon_modsi3(int32_t a, int32_t b)
{
	return (int32_t)__hexagon_moddi3(a, b);
}

/* ---- floats */

/* bits of the fraction and of the exponent */
struct format {
	int fraction, exponent;
};

static const struct format single = { 23, 8 }, twice = { 52, 11 };

/* struct number - a float taken apart: @fraction * 2^(@exponent - 62), its highest bit 62 unless it is 0 */
struct number {
	bool negative, nan, infinite;
	int exponent;
	uint64_t fraction;
};

static int bias_of(const struct format *f)
{
	return (1 << (f->exponent - 1)) - 1;
}

static struct number unpack(const struct format *f, uint64_t bits)
{
	int most = (1 << f->exponent) - 1, exponent = (int)(bits >> f->fraction) & most, shift;
	uint64_t fraction = bits & (((uint64_t)1 << f->fraction) - 1);
	struct number n = { .negative = bits >> (f->fraction + f->exponent) & 1 };

	n.nan = exponent == most && fraction;
	n.infinite = exponent == most && !fraction;
	if (exponent)
		fraction |= (uint64_t)1 << f->fraction;
	else
		exponent = 1;
	if (!fraction)
		return n;
	shift = __builtin_clzll(fraction) - 1;
	n.fraction = fraction << shift;
	n.exponent = exponent - bias_of(f) + 62 - f->fraction - shift;
	return n;
}

/* Bit 0 of the fraction says whether anything is behind it. */
static uint64_t pack(const struct format *f, struct number n)
{
	uint64_t sign = (uint64_t)n.negative << (f->fraction + f->exponent);
	uint64_t infinity = (uint64_t)((1 << f->exponent) - 1) << f->fraction;
	int exponent = n.exponent + bias_of(f), drop = 62 - f->fraction;
	uint64_t bits, rest, half;

	if (n.nan)
		return infinity | (uint64_t)1 << (f->fraction - 1);
	if (n.infinite || (n.fraction && exponent >= (1 << f->exponent) - 1))
		return sign | infinity;
	/* a number that is too small for a leading 1 */
	if (exponent <= 0) {
		drop += 1 - exponent;
		exponent = 0;
	}
	if (!n.fraction || drop > 63)
		return sign;
	bits = n.fraction >> drop;
	rest = n.fraction & (((uint64_t)1 << drop) - 1);
	half = (uint64_t)1 << (drop - 1);
	/* the leading 1 adds to the exponent, and so does a carry out of the fraction */
	if (exponent)
		bits += (uint64_t)(exponent - 1) << f->fraction;
	bits += rest > half || (rest == half && (bits & 1));
	return sign | bits;
}

/* Move the highest bit to bit 62. */
static void normalize(struct number *n)
{
	int shift = __builtin_clzll(n->fraction) - 1;

	if (shift < 0)
		n->fraction = n->fraction >> 1 | (n->fraction & 1);
	else
		n->fraction <<= shift;
	n->exponent -= shift;
}

static struct number quotient(struct number a, struct number b)
{
	struct number q = { .negative = a.negative != b.negative };
	uint64_t rest = a.fraction;
	int i;

	q.nan = a.nan || b.nan || (a.infinite && b.infinite) || (!a.fraction && !b.fraction);
	q.infinite = a.infinite || !b.fraction;
	if (q.nan || q.infinite || !a.fraction || b.infinite)
		return q;
	for (i = 0; i < 63; i++) {
		q.fraction <<= 1;
		if (rest >= b.fraction) {
			rest -= b.fraction;
			q.fraction |= 1;
		}
		rest <<= 1;
	}
	q.fraction |= rest != 0;
	q.exponent = a.exponent - b.exponent;
	normalize(&q);
	return q;
}

static struct number product(struct number a, struct number b)
{
	struct number p = { .negative = a.negative != b.negative };
	uint64_t ah = a.fraction >> 32, al = (uint32_t)a.fraction;
	uint64_t bh = b.fraction >> 32, bl = (uint32_t)b.fraction;
	uint64_t low = al * bl, middle = ah * bl + (low >> 32), other = al * bh + (uint32_t)middle;

	p.nan = a.nan || b.nan || (a.infinite && !b.fraction && !b.infinite) ||
		(b.infinite && !a.fraction && !a.infinite);
	p.infinite = a.infinite || b.infinite;
	if (p.nan || p.infinite || !a.fraction || !b.fraction)
		return p;
	/* the upper half of 128 bits, whose highest bit is 124 or 125 */
	p.fraction = ah * bh + (middle >> 32) + (other >> 32);
	p.exponent = a.exponent + b.exponent + 2;
	normalize(&p);
	p.fraction |= ((uint32_t)low | (uint32_t)other) != 0;
	return p;
}

union real {
	float single;
	double twice;
	uint32_t bits_of_single;
	uint64_t bits_of_twice;
};

static struct number of_float(float a)
{
	return unpack(&single, (union real){ .single = a }.bits_of_single);
}

static float to_float(struct number n)
{
	return (union real){ .bits_of_single = (uint32_t)pack(&single, n) }.single;
}

static struct number of_double(double a)
{
	return unpack(&twice, (union real){ .twice = a }.bits_of_twice);
}

static double to_double(struct number n)
{
	return (union real){ .bits_of_twice = pack(&twice, n) }.twice;
}

float __hexagon_divsf3(float a, float b)
{
	return to_float(quotient(of_float(a), of_float(b)));
}

double __hexagon_divdf3(double a, double b)
{
	return to_double(quotient(of_double(a), of_double(b)));
}

double __hexagon_muldf3(double a, double b)
{
	return to_double(product(of_double(a), of_double(b)));
}

float __hexagon_sqrtf(float a)
{
	struct number n = of_float(a);
	uint64_t root = 0, bit = (uint64_t)1 << 62, left;

	if (n.nan || !n.fraction || (n.infinite && !n.negative))
		return a;
	n.nan = n.negative;
	/* half an exponent has to be whole */
	left = n.exponent & 1 ? n.fraction << 1 : n.fraction;
	n.exponent = (n.exponent - (n.exponent & 1) - 62) / 2 + 61;
	for (; bit; bit >>= 2) {
		if (left >= root + bit) {
			left -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	n.fraction = root << 1 | (left != 0);
	normalize(&n);
	return to_float(n);
}

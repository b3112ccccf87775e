/* SPDX-License-Identifier: MIT */
/* Functions of a C library that compiled operators call: of memory, and of float32 within two units in the last place. */
#include <stddef.h>
#include <stdint.h>

float expf(float x);
float roundf(float x);
float rintf(float x);
float nearbyintf(float x);
float floorf(float x);
float ceilf(float x);
float truncf(float x);
float fmaxf(float a, float b);
float fminf(float a, float b);

union real {
	float number;
	uint32_t bits;
};

static uint32_t bits_of(float x)
{
	return (union real){ .number = x }.bits;
}

static float float_of(uint32_t bits)
{
	return (union real){ .bits = bits }.number;
}

/* 2^n, for n of normal numbers */
static float power_of_two(int32_t n)
{
	return float_of((uint32_t)(n + 127) << 23);
}

/* e^x = 2^n * e^r with |r| <= ln 2 / 2 */
float expf(float x)
{
	static const float factors[] = { 1.0F / 5040, 1.0F / 720, 1.0F / 120, 1.0F / 24,
					 1.0F / 6,    1.0F / 2,	  1.0F,	      1.0F };
	float r, sum = 0;
	int32_t n, half;
	size_t i;

	if (x != x)
		return x;
	if (x > 88.73F)
		return float_of(0x7f800000);
	if (x < -103.98F)
		return 0;
	n = (int32_t)(x * 1.44269504F + (x < 0 ? -0.5F : 0.5F));
	/* ln 2 in two parts: the first has few bits, so that its product is exact */
	r = x - (float)n * 0.693359375F;
	r += (float)n * 2.12194440e-4F;
	for (i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
		sum = sum * r + factors[i];
	/* in two steps, which reach the numbers next to 0 and the largest */
	half = n / 2;
	return sum * power_of_two(half) * power_of_two(n - half);
}

/* numbers from here on are whole */
#define WHOLE 8388608.0F

static int is_whole(float x)
{
	return !(x < WHOLE && x > -WHOLE);
}

/* The sign of a zero stays. */
static float with_sign_of(float x, float sign)
{
	return float_of((bits_of(x) & 0x7fffffff) | (bits_of(sign) & 0x80000000));
}

float truncf(float x)
{
	return is_whole(x) ? x : with_sign_of((float)(int32_t)x, x);
}

float floorf(float x)
{
	float t = truncf(x);

	return t > x ? t - 1 : t;
}

float ceilf(float x)
{
	float t = truncf(x);

	return t < x ? with_sign_of(t + 1, x) : t;
}

/* halves away from zero */
float roundf(float x)
{
	float t = truncf(x), rest = x - t;

	if (rest >= 0.5F)
		t += 1;
	else if (rest <= -0.5F)
		t -= 1;
	return with_sign_of(t, x);
}

/* halves to even */
float rintf(float x)
{
	float t = truncf(x), rest = x - t;
	int odd = !is_whole(x) && ((int32_t)t & 1);

	if (rest > 0.5F || (rest == 0.5F && odd))
		t += 1;
	else if (rest < -0.5F || (rest == -0.5F && odd))
		t -= 1;
	return with_sign_of(t, x);
}

float nearbyintf(float x)
{
	return rintf(x);
}

float fmaxf(float a, float b)
{
	return b != b || a > b ? a : b;
}

float fminf(float a, float b)
{
	return b != b || a < b ? a : b;
}

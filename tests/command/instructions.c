/* SPDX-License-Identifier: MIT */
/* A module whose functions use extensions of the processor that the script's compiler options give it. */
#include <signal.h>
#include <tenon/value.h>

#define FUNCTION(name)                                                                             \
	int name(void *self, const struct tenon_value *args, int32_t nargs,                        \
		 struct tenon_value *ret) __asm__("__tvm_ffi_" #name);                             \
	int name(void *self, const struct tenon_value *args, int32_t nargs, struct tenon_value *ret)

/* sums and products that compilers make vectors of */
float a[256], b[256];

FUNCTION(vectors)
{
	int i;

	(void)self;
	(void)args;
	for (i = 0; i < 256; i++)
		a[i] = b[i] * a[i] + (float)nargs;
	ret->type = TENON_TYPE_FLOAT;
	ret->as.real = a[nargs & 255];
	return 0;
}

FUNCTION(trap)
{
	(void)self;
	(void)args;
	(void)nargs;
	(void)ret;
	__builtin_trap();
}

FUNCTION(sent)
{
	(void)self;
	(void)args;
	(void)nargs;
	(void)ret;
	return raise(SIGILL);
}

/* gcc and clang name the extension differently */
#if defined(__AMX_TILE__) || defined(__AMXTILE__)
#include <immintrin.h>

FUNCTION(tiles)
{
	(void)self;
	(void)args;
	(void)nargs;
	(void)ret;
	_tile_zero(1);
	_tile_dpbssd(0, 1, 2);
	return 0;
}
#endif

#ifdef __ARM_FEATURE_DOTPROD
#include <arm_neon.h>

FUNCTION(dot)
{
	(void)self;
	(void)nargs;
	vst1q_s32((int32_t *)ret,
		  vdotq_s32(vdupq_n_s32(0), vld1q_s8((const int8_t *)args), vdupq_n_s8(1)));
	return 0;
}
#endif

#ifdef KEYS
#include <immintrin.h>

/* code that the loader takes on processors of a level only, and what belongs to it */
int better(float *a) __asm__("__tvm_ffi_better.x86_64_v3");
__attribute__((target("avx2,fma"))) int better(float *a)
{
	int i;

	for (i = 0; i < 256; i++)
		a[i] = a[i] * a[i] + 1;
	return 0;
}

__attribute__((target("avx512vnni"))) __m512i
best(__m512i a) __asm__("__tvm_ffi_best.x86_64_v4_avx512vnni");
__attribute__((target("avx512vnni"))) __m512i best(__m512i a)
{
	return _mm512_dpbusd_epi32(a, a, a);
}

extern const char keys[] __asm__("__tenon_processors");
const char keys[] = KEYS;
#endif

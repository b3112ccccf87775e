/* SPDX-License-Identifier: MIT */
/* Ask an x86-64 processor by CPUID for its extensions. */
#include "link/code/code_x86_64.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <stddef.h>

/* registers of CPUID: ECX of leaf 1; EBX, ECX, EDX of leaf 7; EAX, EDX of leaf 7.1; ECX of leaf 80000001 */
enum { BASIC, B7, C7, D7, A71, D71, AMD, REGISTERS };

/* what the system must save for programs that use an extension: bits of XCR0 */
enum { NOTHING = 0, YMM = 0x6, ZMM = 0xe6, TILES = 0x60000 };

static const struct {
	uint8_t extension, place, bit;
	uint32_t saved;
} flags[] = {
	{ SSE3, BASIC, 0, NOTHING },
	{ PCLMUL, BASIC, 1, NOTHING },
	{ SSSE3, BASIC, 9, NOTHING },
	{ FMA, BASIC, 12, YMM },
	{ SSE41, BASIC, 19, NOTHING },
	{ SSE42, BASIC, 20, NOTHING },
	{ MOVBE, BASIC, 22, NOTHING },
	{ POPCNT, BASIC, 23, NOTHING },
	{ AES, BASIC, 25, NOTHING },
	{ AVX, BASIC, 28, YMM },
	{ F16C, BASIC, 29, YMM },
	{ BMI, B7, 3, NOTHING },
	{ AVX2, B7, 5, YMM },
	{ BMI2, B7, 8, NOTHING },
	{ AVX512F, B7, 16, ZMM },
	{ AVX512DQ, B7, 17, ZMM },
	{ ADX, B7, 19, NOTHING },
	{ AVX512IFMA, B7, 21, ZMM },
	{ AVX512CD, B7, 28, ZMM },
	{ SHA, B7, 29, NOTHING },
	{ AVX512BW, B7, 30, ZMM },
	{ AVX512VL, B7, 31, ZMM },
	{ AVX512VBMI, C7, 1, ZMM },
	{ AVX512VBMI2, C7, 6, ZMM },
	{ GFNI, C7, 8, NOTHING },
	{ VAES, C7, 9, YMM },
	{ VPCLMULQDQ, C7, 10, YMM },
	{ AVX512VNNI, C7, 11, ZMM },
	{ AVX512BITALG, C7, 12, ZMM },
	{ AVX512VPOPCNTDQ, C7, 14, ZMM },
	{ AVX512VP2INTERSECT, D7, 8, ZMM },
	{ AMX_BF16, D7, 22, TILES },
	{ AVX512FP16, D7, 23, ZMM },
	{ AMX_TILE, D7, 24, TILES },
	{ AMX_INT8, D7, 25, TILES },
	{ SHA512, A71, 0, YMM },
	{ SM, A71, 1, YMM },
	{ AVXVNNI, A71, 4, YMM },
	{ AVX512BF16, A71, 5, ZMM },
	{ AMX_FP16, A71, 21, TILES },
	{ AVXIFMA, A71, 23, YMM },
	{ AVXVNNIINT8, D71, 4, YMM },
	{ AVXNECONVERT, D71, 5, YMM },
	{ AMX_COMPLEX, D71, 8, TILES },
	{ AVXVNNIINT16, D71, 10, YMM },
	{ LZCNT, AMD, 5, NOTHING },
	{ XOP, AMD, 11, YMM },
};

static uint32_t saved_registers(void)
{
	uint32_t low, high;

	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

uint64_t x86_64_here(void)
{
	uint32_t has[REGISTERS] = { 0 }, a, b, c, d, saved = 0;
	uint64_t here = 0;
	size_t i;

	if (__get_cpuid(1, &a, &b, &c, &d))
		has[BASIC] = c;
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
		has[B7] = b;
		has[C7] = c;
		has[D7] = d;
		if (a && __get_cpuid_count(7, 1, &a, &b, &c, &d)) {
			has[A71] = a;
			has[D71] = d;
		}
	}
	if (__get_cpuid(0x80000001u, &a, &b, &c, &d))
		has[AMD] = c;
	if (has[BASIC] & 1u << 27)
		saved = saved_registers();
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (has[flags[i].place] >> flags[i].bit & 1 &&
		    (saved & flags[i].saved) == flags[i].saved)
			here |= BIT(flags[i].extension);
	return here;
}
#endif

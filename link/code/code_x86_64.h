/* SPDX-License-Identifier: MIT */
/* Extensions of x86-64 by number. */
#ifndef LINK_CODE_CODE_X86_64_H
#define LINK_CODE_CODE_X86_64_H

#include <stdint.h>

enum x86_64_extension {
	SSE3,
	SSSE3,
	SSE41,
	SSE42,
	POPCNT,
	MOVBE,
	AES,
	PCLMUL,
	SHA,
	LZCNT,
	BMI,
	BMI2,
	ADX,
	XOP,
	AVX,
	F16C,
	FMA,
	AVX2,
	GFNI,
	VAES,
	VPCLMULQDQ,
	AVXVNNI,
	AVXIFMA,
	AVXVNNIINT8,
	AVXVNNIINT16,
	AVXNECONVERT,
	SHA512,
	SM,
	AVX512F,
	AVX512CD,
	AVX512BW,
	AVX512DQ,
	AVX512VL,
	AVX512IFMA,
	AVX512VBMI,
	AVX512VBMI2,
	AVX512VNNI,
	AVX512BITALG,
	AVX512VPOPCNTDQ,
	AVX512BF16,
	AVX512FP16,
	AVX512VP2INTERSECT,
	AMX_TILE,
	AMX_INT8,
	AMX_BF16,
	AMX_FP16,
	AMX_COMPLEX,
	X86_64_EXTENSIONS
};

#define BIT(extension) (UINT64_C(1) << (extension))

/** x86_64_of_vex - extensions of an instruction behind a VEX prefix; see struct encoding */
struct encoding;
uint64_t x86_64_of_vex(const struct encoding *e);

/** x86_64_of_evex - the same behind an EVEX prefix */
uint64_t x86_64_of_evex(const struct encoding *e);

/** x86_64_of_legacy - the same with neither */
uint64_t x86_64_of_legacy(const struct encoding *e);

/** x86_64_here - extensions of this machine that the system lets programs use; 0 on other machines */
uint64_t x86_64_here(void);

/**
 * struct encoding - what tells an instruction
 * @map: 0 for opcodes of one byte, 1 behind 0F, 2 behind 0F 38, 3 behind 0F 3A, 5 and 6 of EVEX
 * @prefix: 0, 1 for 66, 2 for F3, 3 for F2
 * @opcode: its byte
 * @modrm: the byte behind it; 0 if there is none
 * @length: of vectors: 0 for 128 bits, 1 for 256, 2 for 512
 * @w: W of REX, VEX or EVEX
 * @broadcast: bit b of EVEX: @length may be the rounding instead
 */
struct encoding {
	unsigned int map, prefix, opcode, modrm, length;
	uint8_t w, broadcast;
};

#endif /* LINK_CODE_CODE_X86_64_H */

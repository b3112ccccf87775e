/* SPDX-License-Identifier: MIT */
/* Tell the extension of an x86-64 instruction by its map, prefix and opcode. */
#include <stdbool.h>
#include <stddef.h>

#include "link/code/code_x86_64.h"

enum { NONE, P66, F3, F2 };

/* opcodes FIRST to LAST of a map belong to an extension */
struct row {
	uint8_t first, last;
	uint8_t extension;
};

#define ROWS(list) list, sizeof(list) / sizeof((list)[0])

/* The extension in a list; X86_64_EXTENSIONS for none. */
static unsigned int find(const struct row *rows, size_t count, unsigned int opcode)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (opcode >= rows[i].first && opcode <= rows[i].last)
			return rows[i].extension;
	return X86_64_EXTENSIONS;
}

static uint64_t bit_of(unsigned int extension)
{
	return extension == X86_64_EXTENSIONS ? 0 : BIT(extension);
}

/* ---- neither VEX nor EVEX */

static const struct row legacy_38[] = {
	{ 0x00, 0x0b, SSSE3 }, { 0x10, 0x17, SSE41 }, { 0x1c, 0x1e, SSSE3 },
	{ 0x20, 0x35, SSE41 }, { 0x37, 0x37, SSE42 }, { 0x38, 0x41, SSE41 },
	{ 0xc8, 0xcd, SHA },   { 0xcf, 0xcf, GFNI },  { 0xdb, 0xdf, AES },
};
static const struct row legacy_3a[] = {
	{ 0x08, 0x0e, SSE41 }, { 0x0f, 0x0f, SSSE3 },  { 0x14, 0x22, SSE41 },
	{ 0x40, 0x42, SSE41 }, { 0x44, 0x44, PCLMUL }, { 0x60, 0x63, SSE42 },
	{ 0xcc, 0xcc, SHA },   { 0xce, 0xcf, GFNI },   { 0xdf, 0xdf, AES },
};

static uint64_t of_0f(const struct encoding *e)
{
	const unsigned int o = e->opcode, p = e->prefix;

	/* TZCNT is BSF to older processors, and compilers use it so */
	if (p == F3 && o == 0xb8)
		return BIT(POPCNT);
	if (p == F3 && o == 0xbd)
		return BIT(LZCNT);
	if (((p == F3 || p == F2) && o == 0x12) || (p == F3 && o == 0x16) ||
	    ((p == P66 || p == F2) && (o == 0x7c || o == 0x7d || o == 0xd0)) ||
	    (p == F2 && o == 0xf0))
		return BIT(SSE3);
	return 0;
}

uint64_t x86_64_of_legacy(const struct encoding *e)
{
	const unsigned int o = e->opcode, p = e->prefix;

	if (e->map == 1)
		return of_0f(e);
	if (e->map == 2 && (o == 0xf0 || o == 0xf1))
		return p == F2 ? BIT(SSE42) : BIT(MOVBE);
	if (e->map == 2 && o == 0xf6 && (p == P66 || p == F3))
		return BIT(ADX);
	if (e->map == 2)
		return bit_of(find(ROWS(legacy_38), o));
	return e->map == 3 ? bit_of(find(ROWS(legacy_3a), o)) : 0;
}

/* ---- VEX */

/* operations on integers, which are of AVX in 128 bits and of AVX2 in 256; all behind 66 */
static const struct row vex_0f_integers[] = {
	{ 0x60, 0x6d, AVX2 }, { 0x70, 0x76, AVX2 }, { 0xd1, 0xd5, AVX2 }, { 0xd7, 0xe5, AVX2 },
	{ 0xe8, 0xef, AVX2 }, { 0xf1, 0xf6, AVX2 }, { 0xf8, 0xfe, AVX2 },
};
static const struct row vex_38_integers[] = {
	{ 0x00, 0x0b, AVX2 }, { 0x1c, 0x1e, AVX2 }, { 0x20, 0x2b, AVX2 },
	{ 0x30, 0x35, AVX2 }, { 0x37, 0x41, AVX2 },
};
static const struct row vex_38[] = {
	{ 0x13, 0x13, F16C },	 { 0x16, 0x16, AVX2 },	       { 0x36, 0x36, AVX2 },
	{ 0x45, 0x47, AVX2 },	 { 0x58, 0x5a, AVX2 },	       { 0x72, 0x72, AVXNECONVERT },
	{ 0x78, 0x79, AVX2 },	 { 0x8c, 0x8e, AVX2 },	       { 0x90, 0x93, AVX2 },
	{ 0x96, 0x9f, FMA },	 { 0xa6, 0xaf, FMA },	       { 0xb0, 0xb1, AVXNECONVERT },
	{ 0xb4, 0xb5, AVXIFMA }, { 0xb6, 0xbf, FMA },	       { 0xcb, 0xcd, SHA512 },
	{ 0xcf, 0xcf, GFNI },	 { 0xd2, 0xd3, AVXVNNIINT16 }, { 0xda, 0xda, SM },
	{ 0xdb, 0xdb, AES },	 { 0xf2, 0xf3, BMI },	       { 0xf6, 0xf6, BMI2 },
};
static const struct row vex_3a[] = {
	{ 0x00, 0x02, AVX2 }, { 0x1d, 0x1d, F16C }, { 0x30, 0x33, AVX512F },
	{ 0x38, 0x39, AVX2 }, { 0x46, 0x46, AVX2 }, { 0xce, 0xcf, GFNI },
	{ 0xde, 0xde, SM },   { 0xdf, 0xdf, AES },  { 0xf0, 0xf0, BMI2 },
};

/* Operations on masks of AVX-512 have VEX, too. */
static bool is_mask(const struct encoding *e)
{
	const unsigned int o = e->opcode;

	return (o >= 0x41 && o <= 0x4b) || (o >= 0x90 && o <= 0x93) || o == 0x98 || o == 0x99;
}

static uint64_t of_mask(const struct encoding *e)
{
	if (e->w || (e->prefix == F2 && e->opcode >= 0x92))
		return BIT(AVX512BW) | BIT(AVX512F);
	return BIT(AVX512F) | (e->prefix == P66 || e->opcode == 0x99 ? BIT(AVX512DQ) : 0);
}

static uint64_t of_vex_0f(const struct encoding *e)
{
	if (is_mask(e))
		return of_mask(e);
	if (e->length && (e->prefix == P66 || e->opcode == 0x70) && e->opcode != 0x6e &&
	    find(ROWS(vex_0f_integers), e->opcode) == AVX2)
		return BIT(AVX2);
	return BIT(AVX);
}

static uint64_t of_matrix(const struct encoding *e)
{
	const unsigned int o = e->opcode, p = e->prefix;

	if (o == 0x49 || o == 0x4b)
		return BIT(AMX_TILE);
	if (o == 0x5e)
		return BIT(AMX_TILE) | BIT(AMX_INT8);
	if (o == 0x5c)
		return BIT(AMX_TILE) | (p == F2 ? BIT(AMX_FP16) : BIT(AMX_BF16));
	return BIT(AMX_TILE) | BIT(AMX_COMPLEX);
}

static uint64_t of_vex_38(const struct encoding *e)
{
	const unsigned int o = e->opcode, p = e->prefix;
	unsigned int found;

	if (o == 0x49 || o == 0x4b || o == 0x5c || o == 0x5e || o == 0x6c)
		return of_matrix(e);
	if (o >= 0x50 && o <= 0x53)
		return p == P66 ? BIT(AVXVNNI) : BIT(AVXVNNIINT8);
	if (o == 0xf5)
		return BIT(BMI2);
	if (o == 0xf7)
		return p == NONE ? BIT(BMI) : BIT(BMI2);
	if (o >= 0xdc && o <= 0xdf)
		return e->length ? BIT(VAES) : BIT(AES) | BIT(AVX);
	/* from a register instead of memory */
	if (o >= 0x18 && o <= 0x19)
		return e->modrm >> 6 == 3 ? BIT(AVX2) : BIT(AVX);
	/* comparisons of CMPccXADD, which touch no vector */
	if (o >= 0xe0 && o <= 0xef)
		return 0;
	found = find(ROWS(vex_38), o);
	if (found != X86_64_EXTENSIONS)
		return BIT(found);
	return e->length && find(ROWS(vex_38_integers), o) == AVX2 ? BIT(AVX2) : BIT(AVX);
}

static uint64_t of_vex_3a(const struct encoding *e)
{
	const unsigned int o = e->opcode;
	unsigned int found;

	if (o == 0x44)
		return e->length ? BIT(VPCLMULQDQ) : BIT(PCLMUL) | BIT(AVX);
	if (o == 0x30 || o == 0x31 || o == 0x32 || o == 0x33)
		return BIT(AVX512F) | (o & 1 ? BIT(AVX512BW) : e->w ? 0 : BIT(AVX512DQ));
	found = find(ROWS(vex_3a), o);
	if (found != X86_64_EXTENSIONS)
		return BIT(found);
	return e->length && (o == 0x0e || o == 0x0f || o == 0x42 || o == 0x4c) ? BIT(AVX2)
									       : BIT(AVX);
}

uint64_t x86_64_of_vex(const struct encoding *e)
{
	switch (e->map) {
	case 1:
		return of_vex_0f(e);
	case 2:
		return of_vex_38(e);
	case 3:
		return of_vex_3a(e);
	case 7:
		return 0;
	default:
		return BIT(XOP);
	}
}

/* ---- EVEX */

/* of the map 0F, behind 66 */
static const struct row evex_0f[] = {
	{ 0x54, 0x57, AVX512DQ }, { 0x60, 0x61, AVX512BW }, { 0x63, 0x65, AVX512BW },
	{ 0x67, 0x69, AVX512BW }, { 0x6b, 0x6b, AVX512BW }, { 0x71, 0x71, AVX512BW },
	{ 0x74, 0x75, AVX512BW }, { 0x7a, 0x7b, AVX512DQ }, { 0xc4, 0xc5, AVX512BW },
	{ 0xd1, 0xd1, AVX512BW }, { 0xd5, 0xd5, AVX512BW }, { 0xd8, 0xda, AVX512BW },
	{ 0xdc, 0xde, AVX512BW }, { 0xe0, 0xe1, AVX512BW }, { 0xe3, 0xe5, AVX512BW },
	{ 0xe8, 0xea, AVX512BW }, { 0xec, 0xee, AVX512BW }, { 0xf1, 0xf1, AVX512BW },
	{ 0xf5, 0xf6, AVX512BW }, { 0xf8, 0xf9, AVX512BW }, { 0xfc, 0xfd, AVX512BW },
};
/* of 0F 38, behind 66 */
static const struct row evex_38[] = {
	{ 0x00, 0x00, AVX512BW },
	{ 0x04, 0x04, AVX512BW },
	{ 0x0b, 0x0b, AVX512BW },
	{ 0x10, 0x12, AVX512BW },
	{ 0x1c, 0x1d, AVX512BW },
	{ 0x20, 0x20, AVX512BW },
	{ 0x26, 0x26, AVX512BW },
	{ 0x2b, 0x2b, AVX512BW },
	{ 0x30, 0x30, AVX512BW },
	{ 0x38, 0x38, AVX512BW },
	{ 0x3a, 0x3a, AVX512BW },
	{ 0x3c, 0x3c, AVX512BW },
	{ 0x3e, 0x3e, AVX512BW },
	{ 0x44, 0x44, AVX512CD },
	{ 0x50, 0x53, AVX512VNNI },
	{ 0x54, 0x54, AVX512BITALG },
	{ 0x55, 0x55, AVX512VPOPCNTDQ },
	{ 0x62, 0x63, AVX512VBMI2 },
	{ 0x66, 0x66, AVX512BW },
	{ 0x70, 0x73, AVX512VBMI2 },
	{ 0x78, 0x7b, AVX512BW },
	{ 0x83, 0x83, AVX512VBMI },
	{ 0x8f, 0x8f, AVX512BITALG },
	{ 0xb4, 0xb5, AVX512IFMA },
	{ 0xc4, 0xc4, AVX512CD },
	{ 0xcf, 0xcf, GFNI },
	{ 0xdc, 0xdf, VAES },
};
static const struct row evex_3a[] = {
	{ 0x0f, 0x0f, AVX512BW }, { 0x14, 0x15, AVX512BW },   { 0x16, 0x16, AVX512DQ },
	{ 0x20, 0x20, AVX512BW }, { 0x22, 0x22, AVX512DQ },   { 0x3e, 0x3f, AVX512BW },
	{ 0x42, 0x42, AVX512BW }, { 0x44, 0x44, VPCLMULQDQ }, { 0x50, 0x51, AVX512DQ },
	{ 0x56, 0x57, AVX512DQ }, { 0x66, 0x67, AVX512DQ },   { 0x70, 0x73, AVX512VBMI2 },
	{ 0xce, 0xcf, GFNI },
};

static unsigned int of_evex_0f(const struct encoding *e)
{
	const unsigned int o = e->opcode, p = e->prefix;
	const unsigned int shift = e->modrm >> 3 & 7;

	/* with other prefixes: halves of words, bytes that are moved, conversions of 64 bits */
	if ((o == 0x70 && p != P66) || ((o == 0x6f || o == 0x7f) && p == F2))
		return AVX512BW;
	if (o == 0x73 && (shift == 3 || shift == 7))
		return AVX512BW;
	if (o == 0x5b && e->w && p == NONE)
		return AVX512DQ;
	if ((o == 0x7a && p != P66 && e->w) || (o == 0xe6 && p == F3 && e->w))
		return AVX512DQ;
	if ((o == 0x78 || o == 0x79) && p == P66)
		return AVX512DQ;
	if (o >= 0x54 && o <= 0x57)
		return AVX512DQ;
	return p == P66 ? find(ROWS(evex_0f), o) : X86_64_EXTENSIONS;
}

/* Conversions between masks and vectors, and those that narrow, are behind F3. */
static unsigned int of_evex_38_f3(const struct encoding *e)
{
	const unsigned int o = e->opcode;

	if (o == 0x52 || o == 0x72)
		return AVX512BF16;
	if (o == 0x28 || o == 0x29 || o == 0x26 || o == 0x10 || o == 0x20 || o == 0x30)
		return AVX512BW;
	if (o == 0x38 || o == 0x39)
		return AVX512DQ;
	return o == 0x2a || o == 0x3a ? AVX512CD : X86_64_EXTENSIONS;
}

static unsigned int of_evex_38(const struct encoding *e)
{
	const unsigned int o = e->opcode, p = e->prefix;

	if (p == F3)
		return of_evex_38_f3(e);
	if (p == F2)
		return o == 0x72 ? AVX512BF16 : o == 0x68 ? AVX512VP2INTERSECT : X86_64_EXTENSIONS;
	/* words or bytes by W; parts of two or eight elements by W */
	if (o == 0x75 || o == 0x7d || o == 0x8d)
		return e->w ? AVX512BW : AVX512VBMI;
	if (o == 0x40)
		return e->w ? AVX512DQ : X86_64_EXTENSIONS;
	if (o == 0x19 || o == 0x1b || o == 0x59 || o == 0x5b)
		return e->w ? X86_64_EXTENSIONS : AVX512DQ;
	if (o == 0x1a || o == 0x5a)
		return e->w ? AVX512DQ : X86_64_EXTENSIONS;
	return find(ROWS(evex_38), o);
}

static unsigned int of_evex_3a(const struct encoding *e)
{
	const unsigned int o = e->opcode;

	if (e->prefix != P66)
		return AVX512FP16;
	if (o == 0x18 || o == 0x19 || o == 0x38 || o == 0x39)
		return e->w ? AVX512DQ : X86_64_EXTENSIONS;
	if (o == 0x1a || o == 0x1b || o == 0x3a || o == 0x3b)
		return e->w ? X86_64_EXTENSIONS : AVX512DQ;
	return find(ROWS(evex_3a), o);
}

/* Test for an instruction on one element, to which the length of vectors does not matter. */
static bool is_scalar(const struct encoding *e)
{
	const unsigned int o = e->opcode, p = e->prefix;

	switch (e->map) {
	case 1:
		if (p == F3 || p == F2)
			return o != 0x6f && o != 0x7f && o != 0x70 && o != 0x12 && o != 0x16 &&
			       o != 0xe6 && o != 0x7a && o != 0x5b;
		return o == 0x2e || o == 0x2f || o == 0x6e || o == 0x7e || o == 0xc4 || o == 0xc5 ||
		       o == 0xd6 || (o >= 0x12 && o <= 0x17);
	case 2:
		return o == 0x2d || o == 0x43 || o == 0x4d || o == 0x4f || o == 0xcb || o == 0xcd ||
		       (o >= 0x99 && o <= 0xbf && (o & 1) && (o & 0xf) > 8);
	case 3:
		return o == 0x0a || o == 0x0b || (o >= 0x14 && o <= 0x17) ||
		       (o >= 0x20 && o <= 0x22) || o == 0x27 || o == 0x51 || o == 0x55 ||
		       o == 0x57 || o == 0x67;
	default:
		/* of half precision: what is packed has no prefix or 66; VMOVW */
		return p == F3 || p == F2 || o == 0x6e || o == 0x7e;
	}
}

uint64_t x86_64_of_evex(const struct encoding *e)
{
	unsigned int found = AVX512FP16;
	uint64_t uses = BIT(AVX512F);

	if (e->map == 1)
		found = of_evex_0f(e);
	else if (e->map == 2)
		found = of_evex_38(e);
	else if (e->map == 3)
		found = of_evex_3a(e);
	/* between registers, b means that @length is the rounding of 512 bits */
	if (e->length < 2 && !is_scalar(e) && !(e->broadcast && e->modrm >> 6 == 3))
		uses |= BIT(AVX512VL);
	return uses | bit_of(found);
}

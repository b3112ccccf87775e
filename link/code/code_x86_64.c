/* SPDX-License-Identifier: MIT */
/* Read the length of x86-64's instructions: prefixes, opcode, ModRM, displacement, immediate. */
#include "link/code/code_machine.h"
#include "link/code/code_x86_64.h"

#define LONGEST 15

/* what follows an opcode: ModRM; an immediate of one byte; one of 2 or 4 bytes; there is no such opcode; see operands() */
enum { M = 1, B = 2, Z = 4, X = 8, S = 16 };

static const uint8_t one_byte[256] = {
	[0x00] = M,	     [0x01] = M,	  [0x02] = M,	       [0x03] = M,
	[0x04] = B,	     [0x05] = Z,	  [0x06] = X,	       [0x07] = X,
	[0x08] = M,	     [0x09] = M,	  [0x0a] = M,	       [0x0b] = M,
	[0x0c] = B,	     [0x0d] = Z,	  [0x0e] = X,	       [0x0f] = X,
	[0x10] = M,	     [0x11] = M,	  [0x12] = M,	       [0x13] = M,
	[0x14] = B,	     [0x15] = Z,	  [0x16] = X,	       [0x17] = X,
	[0x18] = M,	     [0x19] = M,	  [0x1a] = M,	       [0x1b] = M,
	[0x1c] = B,	     [0x1d] = Z,	  [0x1e] = X,	       [0x1f] = X,
	[0x20] = M,	     [0x21] = M,	  [0x22] = M,	       [0x23] = M,
	[0x24] = B,	     [0x25] = Z,	  [0x26] = X,	       [0x27] = X,
	[0x28] = M,	     [0x29] = M,	  [0x2a] = M,	       [0x2b] = M,
	[0x2c] = B,	     [0x2d] = Z,	  [0x2e] = X,	       [0x2f] = X,
	[0x30] = M,	     [0x31] = M,	  [0x32] = M,	       [0x33] = M,
	[0x34] = B,	     [0x35] = Z,	  [0x36] = X,	       [0x37] = X,
	[0x38] = M,	     [0x39] = M,	  [0x3a] = M,	       [0x3b] = M,
	[0x3c] = B,	     [0x3d] = Z,	  [0x3e] = X,	       [0x3f] = X,
	[0x60] = X,	     [0x61] = X,	  [0x62] = X,	       [0x63] = M,
	[0x64] = X,	     [0x65] = X,	  [0x66] = X,	       [0x67] = X,
	[0x68] = Z,	     [0x69] = M | Z,	  [0x6a] = B,	       [0x6b] = M | B,
	[0x70 ... 0x7f] = B, [0x80] = M | B,	  [0x81] = M | Z,      [0x82] = X,
	[0x83] = M | B,	     [0x84 ... 0x8f] = M, [0x9a] = X,	       [0xa0 ... 0xa3] = S,
	[0xa8] = B,	     [0xa9] = Z,	  [0xb0 ... 0xb7] = B, [0xb8 ... 0xbf] = S,
	[0xc0] = M | B,	     [0xc1] = M | B,	  [0xc2] = S,	       [0xc4] = X,
	[0xc5] = X,	     [0xc6] = M | B,	  [0xc7] = M | Z,      [0xc8] = S,
	[0xca] = S,	     [0xcd] = B,	  [0xce] = X,	       [0xd0 ... 0xd3] = M,
	[0xd4] = X,	     [0xd5] = X,	  [0xd6] = X,	       [0xd8 ... 0xdf] = M,
	[0xe0 ... 0xe7] = B, [0xe8] = S,	  [0xe9] = S,	       [0xea] = X,
	[0xeb] = B,	     [0xf6] = M | S,	  [0xf7] = M | S,      [0xfe] = M,
	[0xff] = M,
};

/* the opcodes behind 0F that have no ModRM, and those that are none; all others have it */
static const uint32_t without_modrm[8] = {
	0x00004be0,		/* 05-09, 0b, 0e */
	0x00ff0000,		/* 30-37 */
	0,	    0x00800000, /* 77 */
	0x0000ffff,		/* 80-8f */
	0x00000707,		/* a0-a2, a8-aa */
	0x0000ff00,		/* c8-cf */
	0,
};
static const uint32_t no_opcode[8] = {
	0x00001410, /* 04, 0a, 0c */
	0xfe4000f0, /* 24-27, 36, 39, 3b-3f; 38 and 3a are read before */
	0,	    0, 0, 0, 0, 0,
};

static bool listed(const uint32_t list[8], unsigned int opcode)
{
	return list[opcode >> 5] >> (opcode & 31) & 1;
}

/**
 * struct reading - an instruction while it is read
 * @at: its first byte
 * @size: bytes that are there, LONGEST at most
 * @next: how many were read; more than @size when they did not suffice
 * @e: what was read
 * @form: legacy, VEX or EVEX
 * @wide_operand: 66 was a prefix
 * @wide_address: 67 was none
 */
struct reading {
	const uint8_t *at;
	size_t size;
	size_t next;
	struct encoding e;
	enum { LEGACY, VEX, EVEX } form;
	bool wide_operand, wide_address;
};

/* The next byte; 0 behind the end. */
static unsigned int take(struct reading *r)
{
	return r->next < r->size ? r->at[r->next++] : (r->next = LONGEST + 1, 0u);
}

static unsigned int peek(const struct reading *r)
{
	return r->next < r->size ? r->at[r->next] : 0u;
}

/* Legacy prefixes and REX. Return: the byte behind them. */
static unsigned int take_prefixes(struct reading *r)
{
	unsigned int byte;

	for (;;) {
		byte = take(r);
		if (byte == 0x66) {
			r->wide_operand = true;
			r->e.prefix = r->e.prefix ? r->e.prefix : 1;
		} else if (byte == 0xf3 || byte == 0xf2) {
			r->e.prefix = byte == 0xf3 ? 2 : 3;
		} else if (byte == 0x67) {
			r->wide_address = false;
		} else if (byte != 0xf0 && byte != 0x2e && byte != 0x36 && byte != 0x3e &&
			   byte != 0x26 && byte != 0x64 && byte != 0x65) {
			break;
		}
	}
	if ((byte & 0xf0) == 0x40) {
		r->e.w = byte >> 3 & 1;
		byte = take(r);
	}
	return byte;
}

/* VEX of two and three bytes. */
static void take_vex(struct reading *r, unsigned int first)
{
	unsigned int byte = take(r);

	r->form = VEX;
	r->e.map = 1;
	r->e.w = 0;
	if (first == 0xc4) {
		r->e.map = byte & 31;
		byte = take(r);
		r->e.w = byte >> 7;
	}
	r->e.length = byte >> 2 & 1;
	r->e.prefix = byte & 3;
	r->e.opcode = take(r);
}

static void take_evex(struct reading *r)
{
	unsigned int byte = take(r);

	r->form = EVEX;
	r->e.map = byte & 7;
	byte = take(r);
	r->e.w = byte >> 7;
	r->e.prefix = byte & 3;
	byte = take(r);
	r->e.length = byte >> 5 & 3;
	r->e.broadcast = byte >> 4 & 1;
	r->e.opcode = take(r);
}

/* AMD's prefix XOP. Its first byte is also the opcode of POP, whose next byte has no map of 8 or more. */
static void take_xop(struct reading *r)
{
	r->form = VEX;
	r->e.map = take(r) & 31;
	r->e.w = take(r) >> 7;
	r->e.opcode = take(r);
}

/* Opcode and map. Legacy opcodes of one byte have the map 0. */
static void take_opcode(struct reading *r)
{
	unsigned int byte = take_prefixes(r);

	r->e.opcode = byte;
	if (byte == 0xc4 || byte == 0xc5) {
		take_vex(r, byte);
	} else if (byte == 0x62) {
		take_evex(r);
	} else if (byte == 0x8f && (peek(r) & 31) >= 8) {
		take_xop(r);
	} else if (byte == 0x0f) {
		r->e.map = 1;
		r->e.opcode = take(r);
		if (r->e.opcode == 0x38 || r->e.opcode == 0x3a) {
			r->e.map = r->e.opcode == 0x38 ? 2 : 3;
			r->e.opcode = take(r);
		}
	}
}

/* ModRM, SIB and displacement. */
static void take_modrm(struct reading *r)
{
	const unsigned int modrm = take(r), mod = modrm >> 6;
	unsigned int base = modrm & 7;

	r->e.modrm = modrm;
	if (mod == 3)
		return;
	if (base == 4)
		base = take(r) & 7;
	if (mod == 1)
		r->next += 1;
	else if (mod == 2 || base == 5)
		r->next += 4;
}

/* Bytes behind an opcode of one byte that follow no rule. */
static size_t irregular(const struct reading *r)
{
	const unsigned int opcode = r->e.opcode, z = r->wide_operand && !r->e.w ? 2 : 4;

	if (opcode >= 0xa0 && opcode <= 0xa3)
		return r->wide_address ? 8 : 4;
	if (opcode >= 0xb8 && opcode <= 0xbf)
		return r->e.w ? 8 : z;
	if (opcode == 0xf6 || opcode == 0xf7)
		return r->e.modrm >> 3 & 6 ? 0 : opcode == 0xf6 ? 1 : z;
	if (opcode == 0xc8)
		return 3;
	return opcode == 0xc2 || opcode == 0xca ? 2 : 4;
}

static bool has_byte(const struct encoding *e)
{
	const unsigned int o = e->opcode;

	return e->map == 3 ||
	       (e->map == 1 && ((o >= 0x70 && o <= 0x73) || o == 0xc2 || (o >= 0xc4 && o <= 0xc6)));
}

/* Operands of opcodes of one byte. */
static bool take_operands(struct reading *r)
{
	const unsigned int what = one_byte[r->e.opcode];

	if (what & X)
		return false;
	if (what & M)
		take_modrm(r);
	if (what & B)
		r->next += 1;
	if (what & Z)
		r->next += r->wide_operand && !r->e.w ? 2 : 4;
	if (what & S)
		r->next += irregular(r);
	return true;
}

/* Operands of opcodes behind 0F, VEX and EVEX; false where there is no such opcode. */
static bool take_rest(struct reading *r)
{
	const struct encoding *e = &r->e;

	if (r->form == LEGACY && e->map == 1) {
		if (listed(no_opcode, e->opcode))
			return false;
		if (e->opcode >= 0x80 && e->opcode <= 0x8f)
			r->next += 4;
		if (listed(without_modrm, e->opcode))
			return true;
		take_modrm(r);
		if (has_byte(e) || e->opcode == 0x0f || e->opcode == 0xa4 || e->opcode == 0xac ||
		    e->opcode == 0xba)
			r->next += 1;
		return true;
	}
	if (r->form == VEX &&
	    (e->map == 0 || (e->map > 3 && e->map != 7 && (e->map < 8 || e->map > 10))))
		return false;
	if (r->form == EVEX &&
	    (e->map == 0 || e->map == 4 || e->map == 7 || (e->length == 3 && !e->broadcast)))
		return false;
	if (e->map == 1 && e->opcode == 0x77)
		return r->form == VEX;
	take_modrm(r);
	if (r->form == VEX && (e->map == 7 || e->map == 10))
		r->next += 4;
	else if (has_byte(e) || e->map == 8)
		r->next += 1;
	return true;
}

static struct code_instruction read_instruction(const uint8_t *at, size_t size)
{
	struct reading r = { .at = at,
			     .size = size < LONGEST ? size : LONGEST,
			     .wide_address = true };
	struct code_instruction i = { 0 };
	bool known;

	take_opcode(&r);
	known = r.form == LEGACY && !r.e.map ? take_operands(&r) : take_rest(&r);
	if (!known || r.next > r.size)
		return i;
	i.size = (unsigned int)r.next;
	if (r.form == EVEX)
		i.uses = x86_64_of_evex(&r.e);
	else
		i.uses = r.form == VEX ? x86_64_of_vex(&r.e) : x86_64_of_legacy(&r.e);
	i.asks = r.form == LEGACY && r.e.map == 1 && r.e.opcode == 0xa2;
	i.stops = r.form == LEGACY && r.e.map == 1 && (r.e.opcode == 0x0b || r.e.opcode == 0xb9);
	return i;
}

static const char *const names[X86_64_EXTENSIONS] = {
	"sse3",		"ssse3",	"sse4.1",
	"sse4.2",	"popcnt",	"movbe",
	"aes",		"pclmul",	"sha",
	"lzcnt",	"bmi",		"bmi2",
	"adx",		"xop",		"avx",
	"f16c",		"fma",		"avx2",
	"gfni",		"vaes",		"vpclmulqdq",
	"avxvnni",	"avxifma",	"avxvnniint8",
	"avxvnniint16", "avxneconvert", "sha512",
	"sm3 or sm4",	"avx512f",	"avx512cd",
	"avx512bw",	"avx512dq",	"avx512vl",
	"avx512ifma",	"avx512vbmi",	"avx512vbmi2",
	"avx512vnni",	"avx512bitalg", "avx512vpopcntdq",
	"avx512bf16",	"avx512fp16",	"avx512vp2intersect",
	"amx-tile",	"amx-int8",	"amx-bf16",
	"amx-fp16",	"amx-complex",
};

#define V2 (BIT(SSE3) | BIT(SSSE3) | BIT(SSE41) | BIT(SSE42) | BIT(POPCNT))
#define V3                                                                                         \
	(V2 | BIT(MOVBE) | BIT(LZCNT) | BIT(BMI) | BIT(BMI2) | BIT(AVX) | BIT(F16C) | BIT(FMA) |   \
	 BIT(AVX2))
#define V4 (V3 | BIT(AVX512F) | BIT(AVX512CD) | BIT(AVX512BW) | BIT(AVX512DQ) | BIT(AVX512VL))

static const struct code_level levels[] = {
	{ "x86-64", "x86_64", 0 },
	{ "x86-64-v2", "x86_64_v2", V2 },
	{ "x86-64-v3", "x86_64_v3", V3 },
	{ "x86-64-v4", "x86_64_v4", V4 },
	/* no level of the psABI: what tenon-compile calls so */
	{ "x86-64-v4+avx512vnni", "x86_64_v4_avx512vnni", V4 | BIT(AVX512VNNI) },
};

const struct code_machine code_x86_64 = {
	.names = names,
	.count = X86_64_EXTENSIONS,
	.levels = levels,
	.level_count = sizeof(levels) / sizeof(levels[0]),
	.align = 16,
	.read = read_instruction,
#ifdef __x86_64__
	.here = x86_64_here,
#endif
};

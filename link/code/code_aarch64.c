/* SPDX-License-Identifier: MIT */
/* Instructions of aarch64: words of 32 bits, told by masks. */
#include "link/code/code_machine.h"

#ifdef __aarch64__
#include <sys/auxv.h>
#endif

enum { FP16, FP16FML, RDM, DOTPROD, I8MM, BF16, SVE, SVE2, SME, EXTENSIONS };

#define BIT(extension) (UINT64_C(1) << (extension))

static const struct {
	uint32_t mask, value;
	uint8_t extension;
} words[] = {
	/* SDOT and UDOT, of vectors and by an element */
	{ 0xbfe0fc00, 0x0e809400, DOTPROD },
	{ 0xbfe0fc00, 0x2e809400, DOTPROD },
	{ 0xbfc0f400, 0x0f80e000, DOTPROD },
	{ 0xbfc0f400, 0x2f80e000, DOTPROD },
	/* SMMLA, UMMLA, USMMLA; USDOT and SUDOT */
	{ 0xffe0fc00, 0x4e80a400, I8MM },
	{ 0xffe0fc00, 0x6e80a400, I8MM },
	{ 0xffe0fc00, 0x4e80ac00, I8MM },
	{ 0xbfe0fc00, 0x0e809c00, I8MM },
	{ 0xbfc0f400, 0x0f80f000, I8MM },
	{ 0xbfc0f400, 0x0f00f000, I8MM },
	/* BFDOT, BFMMLA, BFMLALB and BFMLALT, BFCVT, BFCVTN */
	{ 0xbfe0fc00, 0x2e40fc00, BF16 },
	{ 0xffe0fc00, 0x6e40ec00, BF16 },
	{ 0xbfc0f400, 0x0f40f000, BF16 },
	{ 0xbfe0fc00, 0x2ec0fc00, BF16 },
	{ 0xbfc0f400, 0x0fc0f000, BF16 },
	{ 0xfffffc00, 0x1e634000, BF16 },
	{ 0xbffffc00, 0x0ea16800, BF16 },
	/* half precision: three vectors, by an element, two scalars, FMADD and its kin, FCMP */
	{ 0x9f60c400, 0x0e400400, FP16 },
	{ 0xbfc0b400, 0x0f001000, FP16 },
	{ 0x9fc0f400, 0x0f009000, FP16 },
	{ 0xffe00c00, 0x1ee00800, FP16 },
	{ 0xffc00000, 0x1fc00000, FP16 },
	{ 0xffe0fc07, 0x1ee02000, FP16 },
	/* FMLAL and FMLSL */
	{ 0xbf60fc00, 0x0e20ec00, FP16FML },
	{ 0xbf60fc00, 0x2e20cc00, FP16FML },
	/* SQRDMLAH and SQRDMLSH */
	{ 0xbf20f400, 0x2e008400, RDM },
	{ 0xbf00d400, 0x2f00d000, RDM },
	/* MSR SVCR, which SMSTART and SMSTOP are; ADDSVL, ADDSPL, RDSVL */
	{ 0xfffff0ff, 0xd503407f, SME },
	{ 0xffa0f800, 0x04205800, SME },
	{ 0xfffff800, 0x04bf5800, SME },
};

/* what SVE2 added to the encodings of SVE, besides what is read before */
static const struct {
	uint32_t mask, value;
} sve2[] = {
	/* narrow and wide elements, permutations, complex numbers */
	{ 0xfe000000, 0x44000000 },
	/* MUL, SMULH, UMULH and PMUL; SQDMULH; EOR3 to NBSL and XAR, without predicates */
	{ 0xff20e000, 0x04206000 },
	{ 0xff20f800, 0x04207000 },
	{ 0xff20f800, 0x04203800 },
	{ 0xff20fc00, 0x04203400 },
	/* TBL of two registers, TBX */
	{ 0xff20f800, 0x05202800 },
	/* FMLALB and its kin, also by an element; FADDP and its kin; FCVTLT and FCVTNT */
	{ 0xffe0c000, 0x64a08000 },
	{ 0xffe0c000, 0x64a04000 },
	{ 0xff38e000, 0x64108000 },
	{ 0xff3ce000, 0x6408a000 },
};

static bool is_dot_of_sve(uint32_t word)
{
	return (word & 0xff20f800) == 0x44000000 || (word & 0xffa0f800) == 0x44a00000;
}

/* SMMLA, UMMLA and USMMLA; USDOT; USDOT and SUDOT by an element. */
static bool is_i8mm_of_sve(uint32_t word)
{
	return (word & 0xff20fc00) == 0x45009800 || (word & 0xffe0fc00) == 0x44807800 ||
	       (word & 0xffe0f800) == 0x44a01800;
}

/* BFDOT and BFMMLA; BFCVT and BFCVTNT; BFMLALB and BFMLALT. */
static bool is_bf16_of_sve(uint32_t word)
{
	return (word & 0xffe0fc00) == 0x64608000 || (word & 0xffe0fc00) == 0x64604000 ||
	       (word & 0xffe0fc00) == 0x6460e400 || (word & 0xffffe000) == 0x658aa000 ||
	       (word & 0xffffe000) == 0x648aa000 || (word & 0xffe0f800) == 0x64e08000 ||
	       (word & 0xffe0f000) == 0x64e04000;
}

static uint64_t of_sve(uint32_t word)
{
	size_t i;

	if (is_dot_of_sve(word))
		return BIT(SVE);
	if (is_i8mm_of_sve(word))
		return BIT(SVE) | BIT(I8MM);
	if (is_bf16_of_sve(word))
		return BIT(SVE) | BIT(BF16);
	for (i = 0; i < sizeof(sve2) / sizeof(sve2[0]); i++)
		if ((word & sve2[i].mask) == sve2[i].value)
			return BIT(SVE) | BIT(SVE2);
	return BIT(SVE);
}

static uint64_t uses_of(uint32_t word)
{
	const uint32_t group = word >> 25 & 15;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if ((word & words[i].mask) == words[i].value)
			return BIT(words[i].extension);
	if (group == 2)
		return of_sve(word);
	/* the encodings that the architecture keeps for SME have the highest bit */
	return !group && word >> 31 ? BIT(SME) : 0;
}

static struct code_instruction read_instruction(const uint8_t *at, size_t size)
{
	struct code_instruction i = { 0 };
	uint32_t word;

	if (size < 4)
		return i;
	word = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
	i.size = 4;
	i.uses = uses_of(word);
	/* UDF; BRK of __builtin_trap() is no illegal instruction */
	i.stops = word < 0x10000;
	return i;
}

static const char *const names[EXTENSIONS] = {
	"fp16", "fp16fml", "rdm", "dotprod", "i8mm", "bf16", "sve", "sve2", "sme",
};

/* compilers take extensions one by one */
static const struct code_level levels[] = { { "armv8-a", "armv8_a", 0 } };

#ifdef __aarch64__
static uint64_t here(void)
{
	/* of asm/hwcap.h, which older systems have without the newer ones */
	static const struct {
		unsigned long type, bit;
		uint8_t extension;
	} flags[] = {
		{ AT_HWCAP, 10, FP16 },	 { AT_HWCAP, 12, RDM },	    { AT_HWCAP, 20, DOTPROD },
		{ AT_HWCAP, 22, SVE },	 { AT_HWCAP, 23, FP16FML }, { AT_HWCAP2, 1, SVE2 },
		{ AT_HWCAP2, 13, I8MM }, { AT_HWCAP2, 14, BF16 },   { AT_HWCAP2, 23, SME },
	};
	uint64_t found = 0;
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (getauxval(flags[i].type) >> flags[i].bit & 1)
			found |= BIT(flags[i].extension);
	return found;
}
#endif

const struct code_machine code_aarch64 = {
	.names = names,
	.count = EXTENSIONS,
	.levels = levels,
	.level_count = 1,
	.align = 4,
	.read = read_instruction,
#ifdef __aarch64__
	.here = here,
#endif
};

/* SPDX-License-Identifier: MIT */
/* Instructions of each kind of processor: their length, and the extensions that they need. */
#include "link/code/code_machine.h"

#include <stdio.h>

#include "tests/unit/suite.h"

#define READ(machine, ...)                                                                         \
	(machine).read((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* the names of what an instruction uses, with a blank between */
static const char *names_of(const struct code_machine *m, uint64_t uses)
{
	static char text[256];
	unsigned int i;

	*text = '\0';
	for (i = 0; i < m->count; i++)
		if (uses >> i & 1)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 *text ? " " : "", m->names[i]);
	return text;
}

/* The instruction has all of its bytes, the length, and uses these extensions; cut anywhere, it is none. */
static void check(const struct code_machine *m, const char *uses, const uint8_t *bytes, size_t size)
{
	struct code_instruction i = m->read(bytes, size);
	size_t cut;

	assert_int_equal(i.size, size);
	assert_string_equal(names_of(m, i.uses), uses);
	for (cut = 1; cut < size; cut++)
		assert_int_equal(m->read(bytes, cut).size, 0);
}

#define assert_reads(machine, uses, ...)                                                           \
	check(&(machine), uses, (const uint8_t[]){ __VA_ARGS__ },                                  \
	      sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void lengths_of_x86_64_are_right(void **state)
{
	(void)state;
	assert_reads(code_x86_64, "", 0xc3);
	assert_reads(code_x86_64, "", 0x48, 0x89, 0xe5);		   /* mov %rsp,%rbp */
	assert_reads(code_x86_64, "", 0x48, 0x8d, 0x05, 1, 2, 3, 4);	   /* lea 4(%rip),%rax */
	assert_reads(code_x86_64, "", 0x8b, 0x44, 0x24, 8);		   /* mov 8(%rsp),%eax */
	assert_reads(code_x86_64, "", 0x8b, 0x04, 0x25, 1, 2, 3, 4);	   /* mov 0x4030201,%eax */
	assert_reads(code_x86_64, "", 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8); /* movabs */
	assert_reads(code_x86_64, "", 0x66, 0xb8, 1, 2);		   /* mov $,%ax */
	assert_reads(code_x86_64, "", 0xf6, 0xc1, 1);			   /* test $1,%cl */
	assert_reads(code_x86_64, "", 0xf7, 0xd8);			   /* neg %eax */
	assert_reads(code_x86_64, "", 0xf7, 0xc0, 1, 2, 3, 4);		   /* test $,%eax */
	assert_reads(code_x86_64, "", 0x0f, 0x84, 1, 2, 3, 4);		   /* je */
	assert_reads(code_x86_64, "", 0xe8, 1, 2, 3, 4);		   /* call */
	assert_reads(code_x86_64, "", 0xc8, 1, 2, 3);			   /* enter */
	assert_reads(code_x86_64, "", 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0); /* nopw */
	assert_reads(code_x86_64, "", 0xf3, 0x0f, 0x1e, 0xfa);			    /* endbr64 */
	assert_reads(code_x86_64, "", 0x0f, 0x05);				    /* syscall */
	assert_reads(code_x86_64, "", 0x0f, 0xba, 0xe0, 3);			    /* bt $3,%eax */
	assert_int_equal(READ(code_x86_64, 0x06, 0, 0, 0).size, 0);
	assert_int_equal(READ(code_x86_64, 0x0f, 0x04, 0, 0).size, 0);
	/* no instruction is longer than 15 bytes */
	assert_int_equal(READ(code_x86_64, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
			      0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90)
				 .size,
			 0);
}

static void extensions_of_x86_64_are_told(void **state)
{
	(void)state;
	assert_reads(code_x86_64, "", 0x0f, 0x58, 0xc1);		      /* addps */
	assert_reads(code_x86_64, "sse3", 0xf2, 0x0f, 0x7c, 0xc1);	      /* haddps */
	assert_reads(code_x86_64, "ssse3", 0x66, 0x0f, 0x38, 0x00, 0xc1);     /* pshufb */
	assert_reads(code_x86_64, "sse4.1", 0x66, 0x0f, 0x3a, 0x0d, 0xc1, 1); /* blendpd */
	assert_reads(code_x86_64, "sse4.2", 0x66, 0x0f, 0x38, 0x37, 0xc1);    /* pcmpgtq */
	assert_reads(code_x86_64, "popcnt", 0xf3, 0x48, 0x0f, 0xb8, 0xc1);
	assert_reads(code_x86_64, "", 0xf3, 0x0f, 0xbc, 0xc1);		    /* tzcnt, or bsf */
	assert_reads(code_x86_64, "bmi", 0xc4, 0xe2, 0x70, 0xf2, 0xc2);	    /* andn */
	assert_reads(code_x86_64, "bmi2", 0xc4, 0xe2, 0x71, 0xf7, 0xc2);    /* shlx */
	assert_reads(code_x86_64, "avx", 0xc5, 0xf4, 0x58, 0xc2);	    /* vaddps %ymm */
	assert_reads(code_x86_64, "avx", 0xc5, 0xf8, 0x77);		    /* vzeroupper */
	assert_reads(code_x86_64, "avx", 0xc5, 0xf1, 0xfe, 0xc2);	    /* vpaddd %xmm */
	assert_reads(code_x86_64, "avx2", 0xc5, 0xf5, 0xfe, 0xc2);	    /* vpaddd %ymm */
	assert_reads(code_x86_64, "avx2", 0xc4, 0xe2, 0x7d, 0x58, 0xc1);    /* vpbroadcastd */
	assert_reads(code_x86_64, "fma", 0xc4, 0xe2, 0x75, 0xb8, 0xc2);	    /* vfmadd231ps */
	assert_reads(code_x86_64, "f16c", 0xc4, 0xe2, 0x7d, 0x13, 0xc1);    /* vcvtph2ps */
	assert_reads(code_x86_64, "avxvnni", 0xc4, 0xe2, 0x75, 0x50, 0xc2); /* {vex} vpdpbusd */
	assert_reads(code_x86_64, "avx512f", 0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2); /* vaddps %zmm */
	assert_reads(code_x86_64, "avx512f avx512vl", 0x62, 0xf1, 0x74, 0x28, 0x58, 0xc2);
	assert_reads(code_x86_64, "avx512f", 0x62, 0xf1, 0x74, 0x78, 0x58, 0xc2); /* {rz-sae} */
	assert_reads(code_x86_64, "avx512f", 0xc5, 0xf8, 0x92, 0xc8);		  /* kmovw */
	assert_reads(code_x86_64, "avx512f avx512bw", 0x62, 0xf1, 0x75, 0x48, 0xfd, 0xc2);
	assert_reads(code_x86_64, "avx512f avx512dq", 0x62, 0xf2, 0xf5, 0x48, 0x40, 0xc2);
	assert_reads(code_x86_64, "avx512f avx512vnni", 0x62, 0xf2, 0x75, 0x48, 0x50, 0xc2);
	assert_reads(code_x86_64, "avx512f avx512bf16", 0x62, 0xf2, 0x76, 0x48, 0x52, 0xc2);
	assert_reads(code_x86_64, "avx512f avx512fp16", 0x62, 0xf5, 0x74, 0x48, 0x58, 0xc2);
	assert_reads(code_x86_64, "amx-tile", 0xc4, 0xe2, 0x7b, 0x49, 0xc0); /* tilezero */
	assert_reads(code_x86_64, "amx-tile amx-int8", 0xc4, 0xe2, 0x6b, 0x5e, 0xc1);
	assert_reads(code_x86_64, "amx-tile amx-bf16", 0xc4, 0xe2, 0x6a, 0x5c, 0xc1);
}

#define WORD(w) (uint8_t)(w), (uint8_t)((w) >> 8), (uint8_t)((w) >> 16), (uint8_t)((w) >> 24)

static void extensions_of_aarch64_are_told(void **state)
{
	(void)state;
	assert_reads(code_aarch64, "", WORD(0x4e22d420u));	  /* fadd v0.4s, v1.4s, v2.4s */
	assert_reads(code_aarch64, "", WORD(0x1e22c000u));	  /* fcvt d0, s0 */
	assert_reads(code_aarch64, "", WORD(0x2f300420u));	  /* ushr v0.2s, v1.2s, #16 */
	assert_reads(code_aarch64, "fp16", WORD(0x4e421420u));	  /* fadd v0.8h, v1.8h, v2.8h */
	assert_reads(code_aarch64, "dotprod", WORD(0x4e829420u)); /* sdot v0.4s, v1.16b, v2.16b */
	assert_reads(code_aarch64, "dotprod", WORD(0x6f82e020u)); /* udot v0.4s, v1.16b, v2.4b[0] */
	assert_reads(code_aarch64, "i8mm", WORD(0x4e82a420u));	  /* smmla */
	assert_reads(code_aarch64, "bf16", WORD(0x6e42ec20u));	  /* bfmmla */
	assert_reads(code_aarch64, "sve", WORD(0x2598e3e0u));	  /* ptrue p0.s */
	assert_reads(code_aarch64, "sve", WORD(0x44820020u));	  /* sdot z0.s, z1.b, z2.b */
	assert_reads(code_aarch64, "sve sve2", WORD(0x04a26020u)); /* mul z0.s, z1.s, z2.s */
	assert_reads(code_aarch64, "i8mm sve", WORD(0x45029820u)); /* smmla z0.s, z1.b, z2.b */
	assert_reads(code_aarch64, "sme", WORD(0xd503477fu));	   /* smstart */
	assert_reads(code_aarch64, "sme", WORD(0x80822020u));	   /* fmopa */
	assert_true(READ(code_aarch64, 0, 0, 0, 0).stops);
}

static void vectors_of_riscv_are_told(void **state)
{
	(void)state;
	assert_reads(code_riscv64, "", 0x82, 0x80);		     /* ret */
	assert_reads(code_riscv64, "", WORD(0x00052507u));	     /* flw fa0, 0(a0) */
	assert_reads(code_riscv64, "v", WORD(0x0d057057u));	     /* vsetvli */
	assert_reads(code_riscv64, "v", WORD(0x02056007u));	     /* vle32.v v0, (a0) */
	assert_int_equal(READ(code_riscv64, 0x1f, 0, 0, 0).size, 0); /* 48 bits */
}

static void a_level_is_the_least_that_suffices(void **state)
{
	const struct code_machine *m = &code_x86_64;
	uint64_t fma = READ(*m, 0xc4, 0xe2, 0x75, 0xb8, 0xc2).uses;
	uint64_t matrix = READ(*m, 0xc4, 0xe2, 0x6b, 0x5e, 0xc1).uses;
	/* vpdpbusd zmm0, zmm1, zmm2 */
	uint64_t products = READ(*m, 0x62, 0xf2, 0x75, 0x48, 0x50, 0xc2).uses;
	uint64_t more;

	(void)state;
	assert_string_equal(code_machine_needed(m, 0, &more)->name, "x86-64");
	assert_int_equal(more, 0);
	assert_string_equal(code_machine_needed(m, fma, &more)->name, "x86-64-v3");
	assert_string_equal(code_machine_needed(m, fma | matrix, &more)->name, "x86-64-v3");
	assert_string_equal(names_of(m, more), "amx-tile amx-int8");
	assert_string_equal(code_machine_best(m, fma)->name, "x86-64");
	assert_string_equal(code_machine_best(m, m->levels[2].has | matrix)->name, "x86-64-v3");
	assert_string_equal(code_machine_needed(m, products, &more)->name, "x86-64-v4+avx512vnni");
	assert_string_equal(code_machine_best(m, m->levels[3].has)->name, "x86-64-v4");
	assert_string_equal(code_machine_best(m, m->levels[3].has | products)->name,
			    "x86-64-v4+avx512vnni");
}

#ifdef __x86_64__
/* the compiler's library reads the processor by itself */
static void the_machine_has_what_the_compiler_sees(void **state)
{
	static const uint8_t add_512[] = { 0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2 };
	static const uint8_t multiply_add[] = { 0xc4, 0xe2, 0x75, 0xb8, 0xc2 };
	const uint64_t here = code_x86_64.here();

	(void)state;
	__builtin_cpu_init();
	assert_int_equal(!(code_x86_64.read(add_512, sizeof(add_512)).uses & ~here),
			 __builtin_cpu_supports("avx512f") != 0);
	assert_int_equal(!(code_x86_64.read(multiply_add, sizeof(multiply_add)).uses & ~here),
			 __builtin_cpu_supports("fma") != 0);
	assert_ptr_equal(code_machine_here(), &code_x86_64);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_of_x86_64_are_right),
		cmocka_unit_test(extensions_of_x86_64_are_told),
		cmocka_unit_test(extensions_of_aarch64_are_told),
		cmocka_unit_test(vectors_of_riscv_are_told),
		cmocka_unit_test(a_level_is_the_least_that_suffices),
#ifdef __x86_64__
		cmocka_unit_test(the_machine_has_what_the_compiler_sees),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

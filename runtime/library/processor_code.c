/* SPDX-License-Identifier: MIT */
/* Code for several processors in one module: what the machine has, and which code is for it. */
#include "runtime/library/processor_code.h"

#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>

/*
 * The levels of the x86-64 psABI, and one above them, by the bits of CPUID, without those of the levels before: leaf 1 (ECX),
 * leaf 7 (EBX and ECX), leaf 0x80000001 (ECX), and the registers that the system has to save (XCR0). The compiler's builtin
 * for them adds 6 KiB.
 */
static const struct level {
	const char *key;
	uint32_t basic, extended, vectors, amd, saved;
} levels[] = {
	/* SSE3, SSSE3, CX16, SSE4.1, SSE4.2, POPCNT; LAHF */
	{ "x86_64_v2", 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23, 0, 0, 1u << 0,
	  0 },
	/* FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT */
	{ "x86_64_v3", 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29,
	  1u << 3 | 1u << 5 | 1u << 8, 0, 1u << 5, 0x6 },
	/* AVX512F, AVX512DQ, AVX512CD, AVX512BW, AVX512VL */
	{ "x86_64_v4", 0, 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31, 0, 0, 0xe6 },
	/* AVX512_VNNI: products of bytes. Processors had AVX-512 without it from 2017 to 2019. */
	{ "x86_64_v4_avx512vnni", 0, 0, 1u << 11, 0, 0 },
};

static uint32_t saved_registers(void)
{
	uint32_t low, high;

	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

static struct level machine(void)
{
	struct level m = { 0 };
	uint32_t a, b, c, d;

	if (__get_cpuid(1, &a, &b, &c, &d))
		m.basic = c;
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
		m.extended = b;
		m.vectors = c;
	}
	if (__get_cpuid(0x80000001u, &a, &b, &c, &d))
		m.amd = c;
	if (m.basic & 1u << 27)
		m.saved = saved_registers();
	return m;
}

bool processor_has(struct tenon_slice key)
{
	const struct level m = machine();
	size_t i;

	for (i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		const struct level *l = &levels[i];

		if ((m.basic & l->basic) != l->basic || (m.extended & l->extended) != l->extended ||
		    (m.vectors & l->vectors) != l->vectors || (m.amd & l->amd) != l->amd ||
		    (m.saved & l->saved) != l->saved)
			return false;
		if (tenon_slice_equal(key, tenon_slice_of(l->key)))
			return true;
	}
	return false;
}
#else
bool processor_has(struct tenon_slice key)
{
	return false;
}
#endif

/* The next key behind @at; an empty one at the end. */
static struct tenon_slice next_key(struct tenon_slice keys, size_t *at)
{
	struct tenon_slice key;

	while (*at < keys.size && keys.data[*at] == ' ')
		++*at;
	key.data = keys.data + *at;
	while (*at < keys.size && keys.data[*at] != ' ')
		++*at;
	key.size = (size_t)(keys.data + *at - key.data);
	return key;
}

struct tenon_slice processor_choose(struct tenon_slice keys, const char *wanted,
				    bool (*has)(struct tenon_slice key))
{
	struct tenon_slice key;
	size_t at = 0;

	do {
		key = next_key(keys, &at);
		if (!key.size ||
		    ((!wanted || tenon_slice_equal(key, tenon_slice_of(wanted))) && has(key)))
			return key;
	} while (true);
}

bool processor_is_variant(struct tenon_slice keys, const char *symbol)
{
	const size_t size = strlen(symbol);
	struct tenon_slice key;
	size_t at = 0;

	while ((key = next_key(keys, &at)).size)
		if (size > key.size + 1 && symbol[size - key.size - 1] == '.' &&
		    !memcmp(symbol + size - key.size, key.data, key.size))
			return true;
	return false;
}

/* SPDX-License-Identifier: MIT */
#include "runtime/library/processor_code.h"

#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>

static bool has_v2(void)
{
	return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") &&
	       __builtin_cpu_supports("popcnt");
}

/* the builtin knows whether the system saves the registers; older compilers lack names of the rest */
static bool has_v3(void)
{
	const unsigned int movbe_f16c = 1u << 22 | 1u << 29, lzcnt = 1u << 5;
	unsigned int a, b, c, d;

	if (!has_v2() || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
	    !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2"))
		return false;
	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & movbe_f16c) != movbe_f16c)
		return false;
	return __get_cpuid(0x80000001u, &a, &b, &c, &d) && c & lzcnt;
}

static bool has_v4(void)
{
	return has_v3() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

bool processor_has(struct tenon_slice key)
{
	static const struct {
		const char *key;
		bool (*has)(void);
	} levels[] = { { "x86_64_v2", has_v2 }, { "x86_64_v3", has_v3 }, { "x86_64_v4", has_v4 } };
	size_t i;

	__builtin_cpu_init();
	for (i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (tenon_slice_equal(key, tenon_slice_of(levels[i].key)))
			return levels[i].has();
	return false;
}
#else
bool processor_has(struct tenon_slice key)
{
	(void)key;
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

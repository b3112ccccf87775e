/* SPDX-License-Identifier: MIT */
/* Which of several builds of host code a processor can run. */
#include "runtime/library/processor_code.h"

#include "tests/unit/suite.h"

#define KEYS "x86_64_v4 x86_64_v3"

static const char *fake_features; /* keys of a machine that is not this one */

static bool fake_has(struct tenon_slice key)
{
	return memmem(fake_features, strlen(fake_features), key.data, key.size) != NULL;
}

static struct tenon_slice choice(const char *features, const char *wanted)
{
	fake_features = features;
	return processor_choose(tenon_slice_of(KEYS), wanted, fake_has);
}

#define assert_choice(features, wanted, key)                                                       \
	assert_true(tenon_slice_equal(choice(features, wanted), tenon_slice_of(key)))

static void the_best_that_a_machine_has_is_chosen(void **state)
{
	(void)state;
	assert_choice("x86_64_v2 x86_64_v3 x86_64_v4", NULL, "x86_64_v4");
	assert_choice("x86_64_v2 x86_64_v3", NULL, "x86_64_v3");
	assert_choice("x86_64_v2", NULL, "");
	assert_choice("", NULL, "");
}

static void a_wanted_key_is_chosen_only_if_the_machine_has_it(void **state)
{
	(void)state;
	assert_choice("x86_64_v2 x86_64_v3 x86_64_v4", "x86_64_v3", "x86_64_v3");
	assert_choice("x86_64_v2 x86_64_v3", "x86_64_v4", "");
	assert_choice("x86_64_v2 x86_64_v3", "x86_64_v2", "");
	assert_choice("x86_64_v2 x86_64_v3", "", "");
}

static void a_key_that_is_not_known_is_of_no_machine(void **state)
{
	(void)state;
	assert_false(processor_has(tenon_slice_of("x86_64_v9")));
	assert_false(processor_has(tenon_slice_of("")));
	assert_int_equal(processor_choose(tenon_slice_of("  one  two "), NULL, processor_has).size,
			 0);
}

static void levels_contain_each_other(void **state)
{
	bool v2 = processor_has(tenon_slice_of("x86_64_v2"));
	bool v3 = processor_has(tenon_slice_of("x86_64_v3"));
	bool v4 = processor_has(tenon_slice_of("x86_64_v4"));
	bool bytes = processor_has(tenon_slice_of("x86_64_v4_avx512vnni"));

	(void)state;
	assert_true(v4 || !bytes);
	assert_true(v3 || !v4);
	assert_true(v2 || !v3);
}

static void symbols_with_a_key_are_no_functions_of_their_own(void **state)
{
	const struct tenon_slice keys = { KEYS, sizeof(KEYS) - 1 };

	(void)state;
	assert_true(processor_is_variant(keys, "__tvm_ffi_add.x86_64_v3"));
	assert_true(processor_is_variant(keys, "__tvm_ffi_add.x86_64_v4"));
	assert_false(processor_is_variant(keys, "__tvm_ffi_add.x86_64_v2"));
	assert_false(processor_is_variant(keys, "__tvm_ffi_addx86_64_v3"));
	assert_false(processor_is_variant(keys, ".x86_64_v3"));
	assert_false(processor_is_variant(keys, "add"));
}

#ifdef __x86_64__
/* the compiler's library reads the processor by itself */
static void levels_are_what_the_compiler_sees(void **state)
{
	const struct tenon_slice v2 = tenon_slice_of("x86_64_v2"), v3 = tenon_slice_of("x86_64_v3");
	const struct tenon_slice v4 = tenon_slice_of("x86_64_v4");

	(void)state;
	__builtin_cpu_init();
	assert_int_equal(processor_has(v2),
			 __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"));
	assert_int_equal(processor_has(v3), processor_has(v2) && __builtin_cpu_supports("avx2") &&
						    __builtin_cpu_supports("fma") &&
						    __builtin_cpu_supports("bmi2"));
	assert_int_equal(processor_has(v4), processor_has(v3) &&
						    __builtin_cpu_supports("avx512bw") &&
						    __builtin_cpu_supports("avx512vl") &&
						    __builtin_cpu_supports("avx512dq"));
	assert_int_equal(processor_has(tenon_slice_of("x86_64_v4_avx512vnni")),
			 processor_has(v4) && __builtin_cpu_supports("avx512vnni"));
	assert_false(processor_has(tenon_slice_of("x86_64_v5")));
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_that_a_machine_has_is_chosen),
		cmocka_unit_test(a_wanted_key_is_chosen_only_if_the_machine_has_it),
		cmocka_unit_test(a_key_that_is_not_known_is_of_no_machine),
		cmocka_unit_test(levels_contain_each_other),
#ifdef __x86_64__
		cmocka_unit_test(levels_are_what_the_compiler_sees),
#endif
		cmocka_unit_test(symbols_with_a_key_are_no_functions_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

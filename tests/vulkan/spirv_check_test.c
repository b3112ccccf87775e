/* SPDX-License-Identifier: MIT */
/* Kernels in SPIR-V that the check passes, and those that it refuses. */
#include "tests/unit/suite.h"

#include <stdlib.h>

#include "devices/vulkan/spirv_check.h"
#include "tests/vulkan/spirv_words.h"

static const uint16_t capabilities[] = { 0, 1, 11 };
static const struct spirv_limits limits = { 3, { 1024, 1024, 64 }, 1024, 0x10300, capabilities, 3 };
static const struct tenon_slice name = { "sum", 3 };
static uint32_t words[SPIRV_ROOM];

static size_t good(void)
{
	const struct spirv_sum sum = { "sum", 3, 2, 0, 0 };

	return spirv_sum_write(&sum, words);
}

static int check(size_t count)
{
	/* in a block of its own size, so that a sanitizer sees a read behind the end */
	uint32_t *copy = malloc(count * 4 + 1);
	int err;

	assert_non_null(copy);
	memcpy(copy, words, count * 4);
	err = spirv_check(copy, count, name, &limits);
	free(copy);
	return err;
}

/* word of the first instruction with this code */
static size_t find(size_t count, uint32_t code)
{
	size_t at = 5;

	while (at < count && (words[at] & 0xffff) != code)
		at += words[at] >> 16;
	assert_true(at < count);
	return at;
}

static void a_kernel_that_is_right_passes(void **state)
{
	(void)state;
	assert_int_equal(check(good()), 0);
}

static void a_header_that_is_none_is_refused(void **state)
{
	size_t n = good();

	(void)state;
	assert_int_equal(check(0), -TENON_E_TRUNCATED);
	assert_error("SPIR-V of 0 words; its header alone has 5");
	assert_int_equal(check(4), -TENON_E_TRUNCATED);
	words[0] = 0x464c457f;
	assert_int_equal(check(n), -TENON_E_FORMAT);
	assert_error("no SPIR-V: it begins with 0x464c457f, want 0x7230203");
	words[0] = 0x03022307;
	assert_int_equal(check(n), -TENON_E_FORMAT);
	assert_error_has("other byte order");
	n = good();
	words[1] = 0x00020000;
	assert_int_equal(check(n), -TENON_E_FORMAT);
	assert_error_has("version 0x20000");
	n = good();
	words[3] = 0;
	assert_int_equal(check(n), -TENON_E_FORMAT);
	words[3] = 0xffffffff;
	assert_int_equal(check(n), -TENON_E_FORMAT);
	assert_error_has("promises 4294967295 ids");
}

static void instructions_have_to_fill_the_program(void **state)
{
	size_t n = good(), at;

	(void)state;
	/* cut anywhere: nothing behind the end is read, and mostly it is told */
	for (at = 0; at < n; at++) {
		if (check(at))
			tenon_error_clear();
	}
	at = find(n, 17);
	words[at] &= 0xffff;
	assert_int_equal(check(n), -TENON_E_TRUNCATED);
	assert_error_has("instruction at word 5 has 0 words");
	words[at] |= 0xffff0000;
	assert_int_equal(check(n), -TENON_E_TRUNCATED);
	assert_error_has("has 65535 words");
}

static void the_entry_point_has_to_be_there(void **state)
{
	struct tenon_slice other = { "sum2", 4 }, shorter = { "su", 2 };
	size_t n = good(), at;

	(void)state;
	assert_int_equal(spirv_check(words, n, other, &limits), -TENON_E_NOT_FOUND);
	assert_error("SPIR-V has no compute entry point \"sum2\"");
	assert_int_equal(spirv_check(words, n, shorter, &limits), -TENON_E_NOT_FOUND);
	at = find(n, 15);
	words[at + 1] = 4; /* a fragment shader */
	assert_int_equal(check(n), -TENON_E_NOT_FOUND);
	/* a name without an end */
	n = good();
	words[find(n, 15) + 3] = 0x41414141;
	assert_int_equal(check(n), -TENON_E_NOT_FOUND);
	tenon_error_clear();
}

static void bindings_have_to_be_given_by_arguments(void **state)
{
	struct spirv_limits fewer = limits;
	size_t n = good(), at;

	(void)state;
	fewer.bindings = 2;
	assert_int_equal(spirv_check(words, n, name, &fewer), -TENON_E_FORMAT);
	assert_error("SPIR-V uses binding 2; its arguments give it 2");
	for (at = 5; at < n; at += words[at] >> 16) {
		if ((words[at] & 0xffff) == 71 && words[at + 2] == 34)
			words[at + 3] = 1;
	}
	assert_int_equal(check(n), -TENON_E_FORMAT);
	assert_error_has("descriptor set 1");
}

static void blocks_have_to_fit_the_device(void **state)
{
	size_t n = good(), at = find(n, 16);

	(void)state;
	words[at + 3] = 1025;
	assert_int_equal(check(n), -TENON_E_UNSUPPORTED);
	assert_error_has(
		"blocks of 1025 x 1 x 1 threads; the device runs 1024 x 1024 x 64, 1024 in all");
	words[at + 3] = words[at + 4] = 64;
	assert_int_equal(check(n), -TENON_E_UNSUPPORTED);
	words[at + 3] = words[at + 4] = words[at + 5] = 0xffffffff;
	assert_int_equal(check(n), -TENON_E_UNSUPPORTED);
	words[at + 3] = 1024;
	words[at + 4] = words[at + 5] = 1;
	tenon_error_clear();
	assert_int_equal(check(n), 0);
}

static void capabilities_have_to_be_the_devices(void **state)
{
	size_t n = good(), at = find(n, 17);

	(void)state;
	words[at + 1] = 11;
	assert_int_equal(check(n), 0);
	words[at + 1] = 10;
	assert_int_equal(check(n), -TENON_E_UNSUPPORTED);
	assert_error("made for devices with capability 10 of SPIR-V, which this one does not have. "
		     "Compile it with a target of this device");
	words[at + 1] = 0x1000b;
	assert_int_equal(check(n), -TENON_E_UNSUPPORTED);
	tenon_error_clear();
}

static void a_version_has_to_be_the_devices(void **state)
{
	size_t n = good();

	(void)state;
	words[1] = 0x10300;
	assert_int_equal(check(n), 0);
	words[1] = 0x10400;
	assert_int_equal(check(n), -TENON_E_UNSUPPORTED);
	assert_error_has("SPIR-V 1.4; the device takes 1.3 at most");
}

static void no_word_that_changes_leads_astray(void **state)
{
	static const uint32_t values[] = { 0, 1, 0xffffffff, 0x7fffffff, 0x00010047, 0x00040010 };
	size_t n = good(), i, k;
	uint32_t kept;

	(void)state;
	for (i = 0; i < n; i++) {
		for (k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
			kept = words[i];
			words[i] = values[k];
			if (check(n))
				tenon_error_clear();
			words[i] = kept;
		}
	}
	assert_int_equal(check(n), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_that_is_right_passes),
		cmocka_unit_test(a_header_that_is_none_is_refused),
		cmocka_unit_test(instructions_have_to_fill_the_program),
		cmocka_unit_test(the_entry_point_has_to_be_there),
		cmocka_unit_test(bindings_have_to_be_given_by_arguments),
		cmocka_unit_test(blocks_have_to_fit_the_device),
		cmocka_unit_test(capabilities_have_to_be_the_devices),
		cmocka_unit_test(a_version_has_to_be_the_devices),
		cmocka_unit_test(no_word_that_changes_leads_astray),
	};

	return cmocka_run_group_tests_name("SPIR-V", tests, NULL, NULL);
}

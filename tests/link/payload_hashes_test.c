/* SPDX-License-Identifier: MIT */
/* The hashes of payloads in a file. */
#include "tests/unit/suite.h"

#include <stdlib.h>

#include "link/module/payload_hashes.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static struct tenon_slice bytes_of(const struct tenon_buffer *b)
{
	return (struct tenon_slice){ b->data, b->size };
}

static void a_hash_is_that_of_its_payload(void **state)
{
	const struct tenon_slice payloads[] = { { NULL, 0 }, { "abc", 3 }, { "abd", 3 } };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	char found[SHA256_TEXT], wanted[SHA256_TEXT];
	struct payload_hashes h;

	(void)state;
	assert_int_equal(payload_hashes_begin(3, &b), 0);
	payload_hashes_set(&b, 1, payloads[1]);
	payload_hashes_set(&b, 2, payloads[2]);
	assert_int_equal(b.size, 8 + 4 + 8 + 3 * 32);
	assert_int_equal(payload_hashes_read(bytes_of(&b), "x.so", &h), 0);
	assert_int_equal(h.count, 3);
	sha256_digits(h.at, wanted);
	assert_string_equal(wanted,
			    "0000000000000000000000000000000000000000000000000000000000000000");
	assert_true(payload_hashes_match(&h, 1, payloads[1], found, wanted));
	assert_string_equal(wanted, ABC);
	assert_false(payload_hashes_match(&h, 2, payloads[1], found, wanted));
	assert_string_equal(found, ABC);
	assert_string_not_equal(wanted, ABC);
	tenon_buffer_fini(&b);
}

/* A processor may have instructions for SHA-256, which many blocks at once are given to. */
static void many_blocks_at_once_have_the_hash_of_single_ones(void **state)
{
	const size_t size = 100003;
	char *bytes = malloc(size), at_once[SHA256_TEXT], singly[SHA256_TEXT];
	struct sha256 h;
	size_t i, n;

	(void)state;
	assert_non_null(bytes);
	for (i = 0; i < size; i++)
		bytes[i] = (char)(i * i >> 7);
	sha256_init(&h);
	sha256_add(&h, bytes, 17);
	sha256_add(&h, bytes + 17, size - 17);
	sha256_text(&h, at_once);
	sha256_init(&h);
	for (i = 0; i < size; i += n) {
		n = size - i < 100 ? size - i : 100;
		sha256_add(&h, bytes + i, n);
	}
	sha256_text(&h, singly);
	assert_string_equal(at_once, singly);
	free(bytes);
}

static void hashes_that_are_cut_or_changed_are_refused(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct payload_hashes h;
	char *copy;
	size_t i;

	(void)state;
	assert_int_equal(payload_hashes_begin(2, &b), 0);
	payload_hashes_set(&b, 1, tenon_slice_of("abc"));
	for (i = 0; i < b.size; i++) {
		/* a copy of just this size, so that a sanitizer sees a read behind it */
		copy = malloc(i + 1);
		memcpy(copy, b.data, i);
		assert_int_equal(payload_hashes_read((struct tenon_slice){ copy, i }, "x.so", &h),
				 -TENON_E_TRUNCATED);
		free(copy);
	}
	b.data[12]--;
	assert_int_equal(payload_hashes_read(bytes_of(&b), "x.so", &h), -TENON_E_FORMAT);
	assert_error_has("x.so: hashes of payloads");
	b.data[12] += 2;
	assert_int_equal(payload_hashes_read(bytes_of(&b), "x.so", &h), -TENON_E_TRUNCATED);
	b.data[8] = 2;
	assert_int_equal(payload_hashes_read(bytes_of(&b), "x.so", &h), -TENON_E_UNSUPPORTED);
	assert_error_has("version 2; this release reads version 1");
	tenon_buffer_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hash_is_that_of_its_payload),
		cmocka_unit_test(many_blocks_at_once_have_the_hash_of_single_ones),
		cmocka_unit_test(hashes_that_are_cut_or_changed_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

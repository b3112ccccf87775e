/* SPDX-License-Identifier: MIT */
/* Pieces of memory that a device reaches: where they lie, what is free, sizes that overflow. */
#include "driver/shm/first_fit.h"
#include "tests/unit/suite.h"

static void pieces_lie_one_behind_the_other_at_multiples_of_the_grain(void **state)
{
	struct first_fit f = { 4096, 1024, 64, NULL };
	struct first_fit_piece *a = first_fit_take(&f, 1, 0), *b = first_fit_take(&f, 65, 8),
			       *c = first_fit_take(&f, 64, 256);

	(void)state;
	assert_int_equal(a->offset, 4096);
	assert_int_equal(a->size, 64);
	assert_int_equal(b->offset, 4160);
	assert_int_equal(b->size, 128);
	assert_int_equal(c->offset, 4352);
	assert_int_equal(first_fit_free(&f).all, 1024 - 64 - 128 - 64);
	assert_int_equal(first_fit_free(&f).largest, 4096 + 1024 - 4416);
	first_fit_give(&f, b);
	first_fit_give(&f, a);
	first_fit_give(&f, c);
	first_fit_give(&f, NULL);
	assert_null(f.pieces);
	assert_int_equal(first_fit_free(&f).largest, 1024);
}

static void what_was_given_back_is_the_first_that_fits(void **state)
{
	struct first_fit f = { 0, 512, 64, NULL };
	struct first_fit_piece *p[8];
	int i;

	(void)state;
	for (i = 0; i < 8; i++)
		p[i] = first_fit_take(&f, 64, 64);
	assert_null(first_fit_take(&f, 1, 1));
	first_fit_give(&f, p[2]);
	first_fit_give(&f, p[5]);
	first_fit_give(&f, p[6]);
	assert_int_equal(first_fit_free(&f).all, 192);
	p[5] = first_fit_take(&f, 128, 64);
	assert_int_equal(p[5]->offset, 320);
	p[2] = first_fit_take(&f, 64, 64);
	assert_int_equal(p[2]->offset, 128);
	while (f.pieces)
		first_fit_give(&f, f.pieces);
}

static void sizes_and_alignments_that_overflow_find_no_piece(void **state)
{
	struct first_fit f = { 64, 100, 64, NULL };

	(void)state;
	assert_null(first_fit_take(&f, UINT64_MAX, 1));
	assert_null(first_fit_take(&f, UINT64_MAX - 62, 1));
	assert_null(first_fit_take(&f, 65, 1));
	assert_null(first_fit_take(&f, 1, UINT64_C(1) << 63));
	first_fit_give(&f, first_fit_take(&f, 64, 1));
	assert_int_equal(first_fit_free(&f).all, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_lie_one_behind_the_other_at_multiples_of_the_grain),
		cmocka_unit_test(what_was_given_back_is_the_first_that_fits),
		cmocka_unit_test(sizes_and_alignments_that_overflow_find_no_piece),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* How long a thread spins before it sleeps, and what it learns from waits that were short or long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "tests/unit/suite.h"

#include "runtime/core/spin.h"

static void a_wait_that_ends_while_it_spins_lengthens_the_next_one(void **state)
{
	struct spin spin = { SPIN_LEAST_NS, 0 };
	const uint32_t word = 1;

	assert_true(spin_until(&spin, &word, ~0u, 1, true));
	assert_true(spin.budget_ns > SPIN_LEAST_NS);
}

/* Else threads whose wait is once long would sleep in all short ones behind it. */
static void a_wait_that_ends_soon_after_it_sleeps_lengthens_the_next_one(void **state)
{
	struct spin spin = { SPIN_LEAST_NS, 0 };
	const uint32_t word = 0;

	assert_false(spin_until(&spin, &word, ~0u, 1, true));
	assert_true(spin.end);
	spin.end = INT64_MAX / 2; /* however late this thread is */
	spin_learn(&spin);
	assert_true(spin.budget_ns > SPIN_LEAST_NS);
}

static void a_long_wait_shortens_the_next_one(void **state)
{
	struct spin spin = { SPIN_MOST_NS, 0 };

	spin.end = (int64_t)clock_now() - 2 * SPIN_MOST_NS;
	spin_learn(&spin);
	assert_true(spin.budget_ns < SPIN_MOST_NS);
	while (spin.budget_ns > SPIN_LEAST_NS)
		spin_learn(&spin);
	assert_true(spin.budget_ns > 0);
}

static void no_wait_spins_longer_than_the_most(void **state)
{
	struct spin spin = { SPIN_MOST_NS, 0 };
	const uint32_t word = 1;
	int i;

	for (i = 0; i < 10; i++)
		spin_learn(&spin);
	for (i = 0; i < 20; i++)
		assert_true(spin_until(&spin, &word, ~0u, 1, true));
	assert_int_equal(spin.budget_ns, SPIN_MOST_NS);
}

static void a_thread_that_must_not_spin_never_does(void **state)
{
	struct spin spin = { 0, 0 };
	const uint32_t word = 1;

	assert_false(spin_until(&spin, &word, ~0u, 1, true));
	spin_learn(&spin);
	spin.end = (int64_t)clock_now();
	spin_learn(&spin);
	assert_int_equal(spin.budget_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_that_ends_while_it_spins_lengthens_the_next_one),
		cmocka_unit_test(a_wait_that_ends_soon_after_it_sleeps_lengthens_the_next_one),
		cmocka_unit_test(a_long_wait_shortens_the_next_one),
		cmocka_unit_test(no_wait_spins_longer_than_the_most),
		cmocka_unit_test(a_thread_that_must_not_spin_never_does),
	};

	return cmocka_run_group_tests_name("spin", tests, NULL, NULL);
}

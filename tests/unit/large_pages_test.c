/* SPDX-License-Identifier: MIT */
/* Memory that the kernel may give as large pages. */
#include "suite.h"

#include <stdlib.h>

#include "lib/large_pages.h"
#include "tests/unit/too_much_memory.h"

static void memory_of_any_size_is_aligned(void **state)
{
	static const size_t sizes[] = { 0, 1, 4096, 3 << 20 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *data = large_pages_take(sizes[i]);

		assert_non_null(data);
		assert_int_equal((uintptr_t)data % 128, 0);
		memset(data, 1, sizes[i]);
		large_pages_use(data, sizes[i]);
		free(data);
	}
}

static void what_no_memory_can_have_is_refused(void **state)
{
	static volatile size_t too_much = SIZE_MAX - 4096;

	(void)state;
	assert_null(large_pages_take(too_much));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_of_any_size_is_aligned),
		cmocka_unit_test(what_no_memory_can_have_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

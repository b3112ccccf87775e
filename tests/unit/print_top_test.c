/* SPDX-License-Identifier: MIT */
/* The largest elements of a tensor, printed with their places and labels. */
#include "tests/unit/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/string.h>

#include "tools/tensor/print.h"

static void assert_top(void *data, int64_t count, DLDataType dtype, size_t most, const char *want)
{
	DLTensor dl = tenon_dltensor(data, &count, 1, dtype);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print_top(&dl, most, (struct tenon_slice){ "", 0 }, out);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void the_largest_come_first_with_their_places(void **state)
{
	float data[] = { 0.5f, -1, 3.25f, 2, 3 };

	(void)state;
	assert_top(data, 5, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), 3,
		   "   1.  element 2      3.25\n"
		   "   2.  element 4      3\n"
		   "   3.  element 3      2\n");
}

static void of_equal_ones_the_first_is_in_front(void **state)
{
	int8_t data[] = { 7, -128, 7, 7 };

	(void)state;
	assert_top(data, 4, tenon_dtype(TENON_DTYPE_INT, 8, 1), 2,
		   "   1.  element 0      7\n"
		   "   2.  element 2      7\n");
}

static void fewer_elements_than_asked_for_are_listed_once(void **state)
{
	uint8_t data[] = { 200, 3 };

	(void)state;
	assert_top(data, 2, tenon_dtype(TENON_DTYPE_UINT, 8, 1), 5,
		   "   1.  element 0      200\n"
		   "   2.  element 1      3\n");
}

static void what_is_no_number_has_no_place(void **state)
{
	double data[] = { NAN, -INFINITY, NAN, 1 };

	(void)state;
	assert_top(data, 4, tenon_dtype(TENON_DTYPE_FLOAT, 64, 1), 4,
		   "   1.  element 3      1\n"
		   "   2.  element 1      -inf\n");
	assert_top(data, 4, tenon_dtype(TENON_DTYPE_FLOAT, 64, 1), 0, "");
}

static void what_is_of_no_known_type_has_no_place(void **state)
{
	uint8_t data[64] = { 0x41 };

	(void)state;
	assert_top(data, 2, tenon_dtype(TENON_DTYPE_UINT, 248, 1), 2, "");
	assert_top(data, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 0), 2, "");
	/* an extent alone says nothing of how much there is to read */
	assert_top(data, INT64_C(1) << 40, tenon_dtype(TENON_DTYPE_UINT, 0, 1), 2, "");
}

static void every_lane_is_an_element(void **state)
{
	uint8_t data[] = { 1, 2, 3, 9 };

	(void)state;
	assert_top(data, 2, tenon_dtype(TENON_DTYPE_UINT, 8, 2), 1, "   1.  element 3      9\n");
}

static void names_are_those_of_the_last_dimension(void **state)
{
	float data[] = { 1, 5, 4, 2, 3, 6 };
	int64_t shape[] = { 2, 3 };
	DLTensor dl = tenon_dltensor(data, shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	/* the third name is missing */
	print_top(&dl, 3, tenon_slice_of("cat\nd\x1bg\n"), out);
	fclose(out);
	assert_string_equal(text, "   1.  element 5      6\n"
				  "   2.  element 1      5            d?g\n"
				  "   3.  element 2      4\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_come_first_with_their_places),
		cmocka_unit_test(of_equal_ones_the_first_is_in_front),
		cmocka_unit_test(fewer_elements_than_asked_for_are_listed_once),
		cmocka_unit_test(what_is_no_number_has_no_place),
		cmocka_unit_test(what_is_of_no_known_type_has_no_place),
		cmocka_unit_test(every_lane_is_an_element),
		cmocka_unit_test(names_are_those_of_the_last_dimension),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Public functions that a program gives a size without data: an error, not a fault. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/buffer.h>
#include <tenon/memory.h>
#include <tenon/params.h>

#define NO_DATA "NULL"

static int64_t extent = 4;

static DLTensor without_data(void)
{
	return tenon_dltensor(NULL, &extent, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
}

static void a_buffer_keeps_the_error(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	assert_int_equal(tenon_buffer_append(&b, NULL, 0), 0);
	assert_int_equal(tenon_buffer_append(&b, NULL, 4), -TENON_E_VALUE);
	assert_error_has(NO_DATA);
	assert_int_equal(b.status, -TENON_E_VALUE);
	tenon_buffer_fini(&b);
}

static void bytes_of_a_module_are_refused(void **state)
{
	struct tenon_module *m;

	(void)state;
	assert_int_equal(tenon_module_load_bytes("metadata", (struct tenon_slice){ NULL, 16 }, &m),
			 -TENON_E_VALUE);
	assert_null(m);
	assert_error_has(NO_DATA);
}

#ifdef CONFIG_EXECUTORS
static void parameters_are_refused(void **state)
{
	struct tenon_param p = { .name = tenon_slice_of("w"), .bytes = 16 };
	struct tenon_params *params;

	(void)state;
	assert_int_equal(tenon_params_read((struct tenon_slice){ NULL, 64 }, NULL, "w", &params),
			 -TENON_E_VALUE);
	assert_null(params);
	assert_error_has(NO_DATA);
	p.tensor = without_data();
	assert_int_equal(tenon_params_write("/nonexistent/w.params", &p, 1, 0), -TENON_E_VALUE);
	assert_error_has(NO_DATA);
}
#endif

#ifdef CONFIG_DEVICES
static void a_tensor_is_not_copied_from_or_to_nothing(void **state)
{
	float data[4] = { 1, 2, 3, 4 };
	DLTensor none = without_data(), some = without_data();

	(void)state;
	some.data = data;
	assert_int_equal(tenon_tensor_copy(&none, &some), -TENON_E_VALUE);
	assert_error_has(NO_DATA);
	assert_int_equal(tenon_tensor_copy(&some, &none), -TENON_E_VALUE);
	assert_error_has(NO_DATA);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_buffer_keeps_the_error),
		cmocka_unit_test(bytes_of_a_module_are_refused),
#ifdef CONFIG_EXECUTORS
		cmocka_unit_test(parameters_are_refused),
#endif
#ifdef CONFIG_DEVICES
		cmocka_unit_test(a_tensor_is_not_copied_from_or_to_nothing),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Names of devices as texts: number, path, keys and values. */
#include <stdio.h>

#include "runtime/device/device_table.h"
#include "tests/unit/suite.h"

static void a_name_alone_means_the_first_device(void **state)
{
	struct device_uri u;

	(void)state;
	assert_int_equal(device_uri_read("opencl", &u), 0);
	assert_slice(u.driver, "opencl");
	assert_int_equal(u.path.size, 0);
	assert_int_equal(u.query.size, 0);
	assert_int_equal(u.option_count, 0);
	device_uri_fini(&u);
	assert_int_equal(device_uri_read("opencl:", &u), 0);
	assert_int_equal(u.path.size, 0);
	device_uri_fini(&u);
	assert_int_equal(device_uri_read("opencl://", &u), 0);
	assert_int_equal(u.path.size, 0);
	device_uri_fini(&u);
}

static void a_number_follows_one_colon(void **state)
{
	struct device_uri u;

	(void)state;
	assert_int_equal(device_uri_read("cuda:12", &u), 0);
	assert_slice(u.driver, "cuda");
	assert_slice(u.path, "12");
	device_uri_fini(&u);
}

static void keys_and_values_come_in_their_order(void **state)
{
	struct device_uri u;

	(void)state;
	assert_int_equal(device_uri_read("vulkan://lava pipe?a=1&bc=&a=x=y", &u), 0);
	assert_slice(u.driver, "vulkan");
	assert_slice(u.path, "lava pipe");
	assert_slice(u.query, "a=1&bc=&a=x=y");
	assert_int_equal(u.option_count, 3);
	assert_slice(u.options[0].key, "a");
	assert_slice(u.options[0].value, "1");
	assert_slice(u.options[1].key, "bc");
	assert_int_equal(u.options[1].value.size, 0);
	assert_slice(u.options[2].value, "x=y");
	device_uri_fini(&u);
}

static void keys_need_no_path(void **state)
{
	struct device_uri u;

	(void)state;
	assert_int_equal(device_uri_read("cpu?queue=worker", &u), 0);
	assert_slice(u.driver, "cpu");
	assert_int_equal(u.path.size, 0);
	assert_slice(u.options[0].value, "worker");
	device_uri_fini(&u);
}

static void percent_signs_are_decoded(void **state)
{
	struct device_uri u;

	(void)state;
	assert_int_equal(device_uri_read("vulkan://a%3Fb%2fc?k%26=%3d%25", &u), 0);
	assert_slice(u.path, "a?b/c");
	assert_slice(u.options[0].key, "k&");
	assert_slice(u.options[0].value, "=%");
	/* as it was written: it is compared, not read */
	assert_slice(u.query, "k%26=%3d%25");
	device_uri_fini(&u);
}

static void what_cannot_be_read_is_quoted(void **state)
{
	static const char *const wrong[] = {
		"",	      ":0",    "://0",	 "?a=b",    "x?a",  "x?=b",    "x?a=b&",
		"x?a=b&&c=d", "x?a=%", "x?a=%4", "x?%zz=1", "x:%4", "x://%g0",
	};
	char quoted[64];
	struct device_uri u;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (device_uri_read(wrong[i], &u) != -TENON_E_VALUE) {
			/* "&" at the end is no key */
			assert_string_equal(wrong[i], "x?a=b&");
			device_uri_fini(&u);
			continue;
		}
		snprintf(quoted, sizeof(quoted), "device \"%s\": ", wrong[i]);
		assert_error_has(quoted);
		device_uri_fini(&u);
	}
}

static void more_keys_than_there_is_room_for_are_refused(void **state)
{
	char text[256] = "x?";
	struct device_uri u;
	int i;

	(void)state;
	for (i = 0; i < URI_OPTIONS_MOST; i++)
		strcat(text, "a=b&");
	assert_int_equal(device_uri_read(text, &u), 0);
	assert_int_equal(u.option_count, URI_OPTIONS_MOST);
	device_uri_fini(&u);
	strcat(text, "a=b");
	assert_int_equal(device_uri_read(text, &u), -TENON_E_VALUE);
	assert_error_has("more than 16 keys");
	device_uri_fini(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_alone_means_the_first_device),
		cmocka_unit_test(a_number_follows_one_colon),
		cmocka_unit_test(keys_and_values_come_in_their_order),
		cmocka_unit_test(keys_need_no_path),
		cmocka_unit_test(percent_signs_are_decoded),
		cmocka_unit_test(what_cannot_be_read_is_quoted),
		cmocka_unit_test(more_keys_than_there_is_room_for_are_refused),
	};

	return cmocka_run_group_tests_name("the names of devices", tests, NULL, NULL);
}

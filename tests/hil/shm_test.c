/* SPDX-License-Identifier: MIT */
/* Memory that a device shares: its files, their sizes, and who else uses them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/shm/shm.h"
#include "tests/unit/suite.h"

static char path[512];

static int name_file(void **state)
{
	const char *folder = getenv("TMPDIR");

	(void)state;
	snprintf(path, sizeof(path), "%s/shm_test.%d", folder ? folder : "/tmp", (int)getpid());
	unlink(path);
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static void memory_is_zeroed_and_cannot_be_cut(void **state)
{
	struct shm shm;

	(void)state;
	assert_int_equal(shm_create("test", 5000, &shm), 0);
	assert_true(shm.size >= 5000);
	assert_int_equal(shm.base[shm.size - 1], 0);
	assert_int_equal(ftruncate(shm.fd, 0), -1);
	shm_close(&shm);
	assert_null(shm.base);
	shm_close(&shm);
}

static void sizes_out_of_range_are_refused(void **state)
{
	struct shm shm;

	(void)state;
	assert_int_equal(shm_create("test", 0, &shm), -TENON_E_OVERFLOW);
	assert_int_equal(shm_create("test", SIZE_MAX - 10, &shm), -TENON_E_OVERFLOW);
	tenon_error_clear();
}

static void a_fresh_file_holds_nothing_of_an_older_session(void **state)
{
	struct shm shm;

	(void)state;
	assert_int_equal(shm_open_file(path, 8192, true, &shm), 0);
	shm.base[0] = 7;
	shm_close(&shm);
	assert_int_equal(shm_open_file(path, 8192, false, &shm), 0);
	assert_int_equal(shm.base[0], 7);
	shm_close(&shm);
	assert_int_equal(shm_open_file(path, 8192, true, &shm), 0);
	assert_int_equal(shm.base[0], 0);
	shm_close(&shm);
}

static void a_file_that_is_too_short_is_refused(void **state)
{
	struct shm shm;

	(void)state;
	assert_int_equal(shm_open_file(path, 8192, false, &shm), -TENON_E_IO);
	assert_int_equal(close(open(path, O_CREAT | O_RDWR, 0600)), 0);
	assert_int_equal(truncate(path, 4096), 0);
	assert_int_equal(shm_open_file(path, 8192, false, &shm), -TENON_E_TRUNCATED);
	assert_error_has("device memory of 8192 bytes expected, the file has 4096");
	assert_null(shm.base);
	assert_int_equal(shm.fd, -1);
}

static void a_file_in_use_is_refused(void **state)
{
	struct shm first, second;

	(void)state;
	assert_int_equal(shm_open_file(path, 4096, true, &first), 0);
	assert_int_equal(shm_open_file(path, 4096, true, &second), -TENON_E_DEVICE);
	assert_error_has("another process uses this device memory");
	shm_close(&first);
	assert_int_equal(shm_open_file(path, 4096, false, &second), 0);
	shm_close(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_and_cannot_be_cut),
		cmocka_unit_test(sizes_out_of_range_are_refused),
		cmocka_unit_test_setup_teardown(a_fresh_file_holds_nothing_of_an_older_session,
						name_file, remove_file),
		cmocka_unit_test_setup_teardown(a_file_that_is_too_short_is_refused, name_file,
						remove_file),
		cmocka_unit_test_setup_teardown(a_file_in_use_is_refused, name_file, remove_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Files that are read whole, sparse, shortened or empty. */
#include "tests/unit/blob.h"

#include <fcntl.h>
#include <sys/stat.h>

static void a_file_is_read_whole(void **state)
{
	const char *path = scratch_file("map");
	struct tenon_slice bytes;

	(void)state;
	write_scratch(path, tenon_slice_of("some bytes"));
	assert_int_equal(file_map_open(path, &bytes), 0);
	assert_slice(bytes, "some bytes");
	file_map_close(&bytes);
	assert_int_equal(bytes.size, 0);
	unlink(path);
}

static void what_was_read_outlives_the_file(void **state)
{
	const char *path = scratch_file("cut");
	struct tenon_slice bytes;

	(void)state;
	write_scratch(path, tenon_slice_of("some bytes"));
	assert_int_equal(file_map_open(path, &bytes), 0);
	assert_int_equal(truncate(path, 0), 0);
	assert_slice(bytes, "some bytes");
	file_map_close(&bytes);
	unlink(path);
}

static void the_holes_of_a_file_take_no_memory(void **state)
{
	const char *path = scratch_file("sparse");
	const off_t size = (off_t)1 << 36;
	struct tenon_slice bytes;
	char last;
	int fd;

	(void)state;
	if (sizeof(void *) < 8) {
		print_message("# needs 64 bits of addresses\n");
		skip();
	}
	write_scratch(path, tenon_slice_of("some bytes"));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (ftruncate(fd, size) || pwrite(fd, "x", 1, size - 1) != 1) {
		close(fd);
		unlink(path);
		print_message("# no sparse files here\n");
		skip();
	}
	close(fd);
	assert_int_equal(file_map_open(path, &bytes), 0);
	assert_int_equal(bytes.size, size);
	last = bytes.data[size - 1];
	assert_int_equal(memcmp(bytes.data, "some bytes", 11), 0);
	assert_int_equal(last, 'x');
	file_map_close(&bytes);
	unlink(path);
}

static void a_file_that_became_shorter_is_refused(void **state)
{
	const char *path = scratch_file("shorter");
	struct tenon_slice bytes;
	char head[10];
	size_t size;
	int fd;

	(void)state;
	write_scratch(path, tenon_slice_of("some bytes"));
	assert_int_equal(file_open(path, &fd, &size), 0);
	assert_int_equal(truncate(path, 4), 0);
	assert_int_equal(file_map(fd, path, size, &bytes), -TENON_E_IO);
	assert_error_has("became shorter");
	assert_int_equal(bytes.size, 0);
	assert_int_equal(file_read_at(fd, path, head, sizeof(head), 0), -TENON_E_IO);
	assert_error_has("became shorter");
	close(fd);
	unlink(path);
}

static void the_head_of_a_file_may_be_a_hole(void **state)
{
	const char *path = scratch_file("hole");
	struct tenon_slice bytes;
	int fd;

	(void)state;
	write_scratch(path, tenon_slice_of(""));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "x", 1, 1 << 20), 1);
	close(fd);
	assert_int_equal(file_map_head(path, 4096, &bytes), 0);
	assert_int_equal(bytes.size, 4096);
	assert_int_equal(bytes.data[4095], 0);
	file_map_close(&bytes);
	unlink(path);
}

static void an_empty_file_is_an_empty_slice(void **state)
{
	const char *path = scratch_file("empty");
	struct tenon_slice bytes;

	(void)state;
	write_scratch(path, tenon_slice_of(""));
	assert_int_equal(file_map_open(path, &bytes), 0);
	assert_int_equal(bytes.size, 0);
	file_map_close(&bytes);
	unlink(path);
}

static void what_is_no_file_is_refused_by_name(void **state)
{
	const char *path = scratch_file("pipe");
	struct tenon_slice bytes;
	char want[2000];

	(void)state;
	assert_int_equal(file_map_open("/no/such/file.so", &bytes), -TENON_E_IO);
	assert_error("/no/such/file.so: No such file or directory");
	assert_int_equal(file_map_open("/", &bytes), -TENON_E_IO);
	assert_error("/: is a directory, want a file");
	/* a pipe without a writer must not be waited for */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(file_map_open(path, &bytes), -TENON_E_IO);
	snprintf(want, sizeof(want), "%s: is not a regular file", path);
	assert_error(want);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_whole),
		cmocka_unit_test(what_was_read_outlives_the_file),
		cmocka_unit_test(the_holes_of_a_file_take_no_memory),
		cmocka_unit_test(a_file_that_became_shorter_is_refused),
		cmocka_unit_test(the_head_of_a_file_may_be_a_hole),
		cmocka_unit_test(an_empty_file_is_an_empty_slice),
		cmocka_unit_test(what_is_no_file_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

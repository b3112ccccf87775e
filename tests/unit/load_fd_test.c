/* SPDX-License-Identifier: MIT */
/* Modules are loaded by a descriptor, so that a program needs no file with a name. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/suite.h"

#define DATA "tests/interop/data/tvm-0.27.0.post1/"

/* a copy of a file that has no name; the test is skipped where the file is for another machine */
static int in_memory(const char *name)
{
	const int from = open(name, O_RDONLY | O_CLOEXEC);
	const int fd = memfd_create("module", MFD_CLOEXEC);
	struct tenon_module *m;
	struct stat s;
	char *bytes;

	if (tenon_module_load(name, &m))
		skip();
	tenon_object_unref(m);
	assert_true(from >= 0 && fd >= 0);
	assert_int_equal(fstat(from, &s), 0);
	bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, from, 0);
	assert_true(bytes != MAP_FAILED);
	assert_int_equal(write(fd, bytes, (size_t)s.st_size), s.st_size);
	munmap(bytes, (size_t)s.st_size);
	close(from);
	return fd;
}

static bool has(struct tenon_module *m, const char *name)
{
	struct tenon_function *f = NULL;
	const bool found = !tenon_module_get_function(m, name, &f) && f;

	tenon_error_clear();
	tenon_object_unref(f);
	return found;
}

static void a_file_without_a_name_is_loaded(void **state)
{
	const int fd = in_memory(DATA "host_vecadd_symbolic/lib.so");
	struct tenon_module *m;

	(void)state;
	assert_int_equal(tenon_module_load_fd(fd, &m), 0);
	close(fd);
	assert_true(has(m, "vecadd_n"));
	tenon_object_unref(m);
}

/* The dynamic linker knows libraries by their names, and this one has the name of the one before. */
static void another_file_of_the_same_number_is_another_module(void **state)
{
	const int fd = in_memory(DATA "host_vecadd_symbolic/lib.so");
	const int other = in_memory(DATA "model_mlp/model.so");
	struct tenon_module *m, *n;

	(void)state;
	assert_int_equal(tenon_module_load_fd(fd, &m), 0);
	assert_int_equal(dup2(other, fd), fd);
	assert_int_equal(tenon_module_load_fd(fd, &n), 0);
	close(fd);
	close(other);
	assert_true(has(m, "vecadd_n"));
	assert_false(has(n, "vecadd_n"));
	tenon_object_unref(m);
	tenon_object_unref(n);
}

static void what_is_no_open_file_is_refused(void **state)
{
	struct tenon_module *m;
	int ends[2];

	(void)state;
	assert_int_equal(tenon_module_load_fd(-1, &m), -TENON_E_VALUE);
	assert_null(m);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(tenon_module_load_fd(ends[0], &m), -TENON_E_VALUE);
	close(ends[0]);
	close(ends[1]);
}

static void a_file_that_is_no_module_is_refused(void **state)
{
	const int fd = memfd_create("text", MFD_CLOEXEC);
	struct tenon_module *m;

	(void)state;
	assert_int_equal(write(fd, "text", 4), 4);
	assert_true(tenon_module_load_fd(fd, &m) < 0);
	assert_null(m);
	assert_error_has("descriptor");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_without_a_name_is_loaded),
		cmocka_unit_test(another_file_of_the_same_number_is_another_module),
		cmocka_unit_test(what_is_no_open_file_is_refused),
		cmocka_unit_test(a_file_that_is_no_module_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Libraries of vendors: the first name that opens, functions that an old one has not, and what is said where none opens. */
#include "suite.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "lib/vendor_library.h"

/* an allocator without memory, by the linker's --wrap (Kbuild) */
static bool no_memory;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
	return no_memory ? NULL : __real_realloc(old, size);
}

/* the dynamic linker has no memory for its words either */
static bool no_words;

char *__real_dlerror(void);
char *__wrap_dlerror(void);
char *__wrap_dlerror(void)
{
	return no_words ? NULL : __real_dlerror();
}

struct table {
	double (*cos)(double x);
	void (*newer)(void);
};

static const struct vendor_symbol symbols[] = {
	{ "cos", offsetof(struct table, cos), false },
	{ "cos_of_a_newer_release", offsetof(struct table, newer), true },
	{ "cos_of_a_newer_release", offsetof(struct table, newer), false },
	{ "sin", offsetof(struct table, newer), false },
};

/* Open the first that there is, with functions up to the @count-th. */
static int open_with(const char *const *names, size_t count, struct table *t, void **handle)
{
	return vendor_library_open(names, "Install it.", symbols, count, t, handle);
}

static void the_first_name_that_opens_is_used(void **state)
{
	static const char *const names[] = { "libno-such-thing.so.7", "libm.so.6", "libalso-not.so",
					     NULL };
	struct table t = { NULL, NULL };
	void *handle;

	(void)state;
	if (open_with(names, 2, &t, &handle)) {
		/* another C library */
		tenon_error_clear();
		skip();
	}
	assert_true(t.cos(0) == 1);
	assert_null(t.newer);
	dlclose(handle);
	/* a function that it has not */
	t.cos = NULL;
	assert_int_equal(open_with(names, 4, &t, &handle), -TENON_E_DEVICE);
	assert_error_has("has no function cos_of_a_newer_release: it is too old. Install it.");
	assert_null(handle);
	assert_null(t.cos);
}

static void where_none_opens_each_is_named(void **state)
{
	static const char *const names[] = { "libno-such-thing.so.7", "libnor-this.so", NULL };
	struct table t;
	void *handle;
	int err;

	(void)state;
	assert_int_equal(open_with(names, 1, &t, &handle), -TENON_E_DEVICE);
	assert_non_null(strstr(tenon_error_message(), "libno-such-thing.so.7"));
	assert_error_has("; libnor-this.so");
	no_memory = true;
	err = open_with(names, 1, &t, &handle);
	no_memory = false;
	assert_int_equal(err, -TENON_E_NOMEM);
	assert_null(handle);
	tenon_error_clear();
	no_words = true;
	err = open_with(names, 1, &t, &handle);
	no_words = false;
	assert_int_equal(err, -TENON_E_NOMEM);
	assert_null(handle);
	assert_error_has("no memory to open it");
}

static void a_variable_without_a_value_names_none(void **state)
{
	(void)state;
	setenv("TENON_TEST_LIBRARY", "", 1);
	assert_null(vendor_library_named("TENON_TEST_LIBRARY"));
	unsetenv("TENON_TEST_LIBRARY");
	assert_null(vendor_library_named("TENON_TEST_LIBRARY"));
	setenv("TENON_TEST_LIBRARY", "/a.so", 1);
	assert_string_equal(vendor_library_named("TENON_TEST_LIBRARY"), "/a.so");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_name_that_opens_is_used),
		cmocka_unit_test(where_none_opens_each_is_named),
		cmocka_unit_test(a_variable_without_a_value_names_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

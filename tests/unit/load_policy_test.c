/* SPDX-License-Identifier: MIT */
/* A program's policy is asked before a file is loaded. */
#include <dlfcn.h>

#include "tests/unit/suite.h"

#define MODULE "tests/interop/data/tvm-0.27.0.post1/host_vecadd_symbolic/lib.so"

/* what the policy was asked, and what it answers */
struct answer {
	const char *path;
	int asked;
	int status;
	const char *reason;
};

static int ask(void *context, const char *path)
{
	struct answer *a = context;

	a->path = path;
	a->asked++;
	return a->status && a->reason ? tenon_error(a->status, "%s", a->reason) : a->status;
}

static int allow_all(void **state)
{
	(void)state;
	return tenon_load_policy_set(NULL, NULL);
}

static bool is_open(const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

	if (handle)
		dlclose(handle);
	return handle;
}

static void a_refused_file_is_not_opened_and_the_reason_is_named(void **state)
{
	struct answer a = { .status = -TENON_E_VALUE, .reason = "it is not signed" };
	struct tenon_module *m;

	(void)state;
	assert_int_equal(tenon_load_policy_set(ask, &a), 0);
	assert_int_equal(tenon_module_load(MODULE, &m), -TENON_E_VALUE);
	assert_null(m);
	assert_error(MODULE ": refused by the program's policy: it is not signed");
	assert_string_equal(a.path, MODULE);
	assert_false(is_open(MODULE));
}

static void a_file_that_is_open_is_asked_about_again(void **state)
{
	struct answer a = { 0 };
	struct tenon_module *m, *again;

	(void)state;
	assert_int_equal(tenon_load_policy_set(ask, &a), 0);
	if (tenon_module_load(MODULE, &m)) /* of another machine */
		skip();
	a.status = -TENON_E_USAGE;
	a.reason = "withdrawn";
	assert_int_equal(tenon_module_load(MODULE, &again), -TENON_E_USAGE);
	assert_error_has("withdrawn");
	assert_int_equal(a.asked, 2);
	tenon_object_unref(m);
}

static void files_of_other_loaders_are_asked_about(void **state)
{
	struct answer a = { .status = -TENON_E_VALUE, .reason = "no" };
	struct tenon_module *m;

	(void)state;
	assert_int_equal(tenon_load_policy_set(ask, &a), 0);
	assert_int_equal(tenon_module_load("kernel.ptx", &m), -TENON_E_VALUE);
	assert_string_equal(a.path, "kernel.ptx");
}

static void an_older_error_is_no_reason(void **state)
{
	struct answer a = { .status = -TENON_E_VALUE };
	struct tenon_module *m;

	(void)state;
	assert_int_equal(tenon_load_policy_set(ask, &a), 0);
	tenon_error(-TENON_E_IO, "something else");
	assert_int_equal(tenon_module_load(MODULE, &m), -TENON_E_VALUE);
	assert_error(MODULE ": refused by the program's policy, without a reason");
}

static void without_a_policy_nothing_is_asked(void **state)
{
	struct answer a = { .status = -TENON_E_VALUE };
	struct tenon_module *m;

	(void)state;
	assert_int_equal(tenon_load_policy_set(ask, &a), 0);
	assert_int_equal(tenon_load_policy_set(NULL, NULL), 0);
	/* without CONFIG_INSPECT the dynamic linker says that the file is missing */
#ifdef CONFIG_INSPECT
	assert_int_equal(tenon_module_load("/no/such.so", &m), -TENON_E_IO);
#else
	assert_int_equal(tenon_module_load("/no/such.so", &m), -TENON_E_FORMAT);
#endif
	assert_int_equal(a.asked, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_refused_file_is_not_opened_and_the_reason_is_named,
					  allow_all),
		cmocka_unit_test_teardown(a_file_that_is_open_is_asked_about_again, allow_all),
		cmocka_unit_test_teardown(files_of_other_loaders_are_asked_about, allow_all),
		cmocka_unit_test_teardown(an_older_error_is_no_reason, allow_all),
		cmocka_unit_test_teardown(without_a_policy_nothing_is_asked, allow_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

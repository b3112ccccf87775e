/* SPDX-License-Identifier: MIT */
/* Functions of the library and of its plug-ins are found by name before anything was loaded. */
#include "tests/unit/ffi_suite.h"

#include "lib/plugin.h"

static int nothing(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	return 0;
}

static bool found(const char *name)
{
	struct tenon_function *f;
	int err = tenon_function_find(name, &f);

	if (err)
		fail_msg("%s: %s", name, tenon_error_message());
	tenon_object_unref(f);
	return f != NULL;
}

/* First of all: a program's own function, before the library's was looked up. */
static void a_function_of_the_program_is_kept(void **state)
{
	struct tenon_function *f;

	(void)state;
	assert_int_equal(tenon_function_register_c("vm.builtin.make_tuple", nothing, false), 0);
	assert_true(found("vm.builtin.copy"));
	assert_int_equal(tenon_function_find("vm.builtin.make_tuple", &f), 0);
	assert_ptr_equal(f->call, nothing);
	tenon_object_unref(f);
}

static void what_foreign_code_asks_for_first_is_found(void **state)
{
	struct tenon_slice name = s("ffi.ArraySize");
	void *f = NULL;

	(void)state;
	assert_int_equal(abi_ffi_function_get_global(&name, &f), 0);
	assert_non_null(f);
	tenon_object_unref(f);
	name = s("tvm.contrib.sort.argsort");
	assert_int_equal(abi_ffi_function_get_global(&name, &f), 0);
	assert_non_null(f);
	tenon_object_unref(f);
}

static void every_name_in_the_table_of_plug_ins_is_a_function(void **state)
{
	struct plugin *const *p;
	const struct tenon_slice *name;

	(void)state;
	for (p = plugin_table; *p; p++)
		for (name = (*p)->functions; name && name->data; name++)
			if (!found(name->data))
				fail_msg("%s is not found", name->data);
}

static void a_beginning_of_a_name_is_none(void **state)
{
	(void)state;
	assert_false(found("vm.builtin.cop"));
	assert_false(found("vm.builtin.copyx"));
	assert_false(found(""));
}

static void a_removed_function_does_not_come_back(void **state)
{
	(void)state;
	assert_true(found("vm.builtin.reshape"));
	assert_int_equal(tenon_function_remove("vm.builtin.reshape"), 0);
	assert_false(found("vm.builtin.reshape"));
}

static int count_builtins(void *context, const char *name, struct tenon_function *f)
{
	(void)f;
	*(int *)context += !strncmp(name, "vm.builtin.", 11);
	return 0;
}

static void a_list_of_all_functions_has_them(void **state)
{
	int n = 0;

	(void)state;
	assert_int_equal(tenon_function_each(count_builtins, &n), 0);
	assert_true(n > 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_of_the_program_is_kept),
		cmocka_unit_test_setup(what_foreign_code_asks_for_first_is_found, afresh),
		cmocka_unit_test(every_name_in_the_table_of_plug_ins_is_a_function),
		cmocka_unit_test(a_beginning_of_a_name_is_none),
		cmocka_unit_test(a_removed_function_does_not_come_back),
		cmocka_unit_test(a_list_of_all_functions_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

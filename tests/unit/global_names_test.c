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

/* as registry.c reads the list: one that ends in a dot is a beginning */
static bool is_named(const char *listed, const char *name)
{
	const size_t size = strlen(listed);

	return listed[size - 1] == '.' ? !strncmp(name, listed, size) : !strcmp(name, listed);
}

static void each_function_of_a_plug_in_is_named_by_the_table(void **state)
{
	const struct global_function *f;
	struct plugin *const *p;
	const char *n;
	int count = 0;

	(void)state;
	for (p = plugin_table; *p; p++) {
		for (f = (*p)->functions ? (*p)->offer->functions : NULL; f && f->name; f++) {
			for (n = (*p)->functions; *n && !is_named(n, f->name); n += strlen(n) + 1)
				;
			if (!*n)
				fail_msg("no name in the list of %s is that of %s", (*p)->name,
					 f->name);
			assert_true(found(f->name));
			count++;
		}
	}
	assert_true(count > 30);
}

static void each_name_in_the_table_of_plug_ins_is_of_a_function(void **state)
{
	const struct global_function *f;
	struct plugin *const *p;
	const char *n;

	(void)state;
	for (p = plugin_table; *p; p++)
		for (n = (*p)->functions; n && *n; n += strlen(n) + 1) {
			for (f = (*p)->offer->functions; f->name && !is_named(n, f->name); f++)
				;
			if (!f->name)
				fail_msg("%s has no function for %s", (*p)->name, n);
		}
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
		cmocka_unit_test(each_function_of_a_plug_in_is_named_by_the_table),
		cmocka_unit_test(each_name_in_the_table_of_plug_ins_is_of_a_function),
		cmocka_unit_test(a_beginning_of_a_name_is_none),
		cmocka_unit_test(a_removed_function_does_not_come_back),
		cmocka_unit_test(a_list_of_all_functions_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

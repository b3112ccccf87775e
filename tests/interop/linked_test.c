/* SPDX-License-Identifier: MIT */
/* Modules linked into this program: objects that TVM 0.18, 0.25 and 0.27 made with a prefix each. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include <tenon/backend/module_kind.h>

static struct tenon_function *linked(const char *prefix, const char *name)
{
	struct tenon_module *m = NULL;
	struct tenon_function *f = NULL;

	fixture_ok(tenon_system_lib(prefix, &m), prefix);
	fixture_ok(tenon_module_get_function(m, name, &f), name);
	tenon_object_unref(m);
	return f;
}

static void linked_add(const char *suite, const char *prefix)
{
	struct tenon_function *f = linked(prefix, "add");
	struct tenon_tensor *a = fixture_tensor(fixture_in(suite, "syslib/a.npy"));
	struct tenon_tensor *b = fixture_tensor(fixture_in(suite, "syslib/b.npy"));
	struct tenon_tensor *want = fixture_tensor(fixture_in(suite, "syslib/sum.npy"));
	struct tenon_tensor *out = fixture_zeros(want->dl.shape[0], want->dl.dtype);
	struct tenon_value ret = tenon_arg_none();

	fixture_ok(tenon_call(f, &ret, tenon_arg_tensor(&a->dl), tenon_arg_tensor(&b->dl),
			      tenon_arg_tensor(&out->dl)),
		   prefix);
	fixture_equal(out, want);
	assert_int_not_equal(tenon_call(f, &ret, tenon_arg_int(1)), 0);
	fixture_says("xpected");
	tenon_object_unref(out);
	tenon_object_unref(want);
	tenon_object_unref(b);
	tenon_object_unref(a);
	tenon_object_unref(f);
}

static void modern_objects_linked_in_are_found_by_prefix(void **state)
{
	(void)state;
	linked_add("tvm-0.25.0.post1", "one_");
	linked_add("tvm-0.27.0.post1", "two_");
}

static void legacy_objects_linked_in_are_found_by_prefix(void **state)
{
	struct tenon_function *f = linked("sys_", "add_one");
	struct tenon_tensor *a = fixture_zeros(64, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_tensor *b = fixture_zeros(64, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_value ret = tenon_arg_none();
	int i;

	(void)state;
	for (i = 0; i < 64; i++)
		((float *)a->dl.data)[i] = (float)i;
	fixture_ok(tenon_call(f, &ret, tenon_arg_tensor(&a->dl), tenon_arg_tensor(&b->dl)),
		   "add_one");
	for (i = 0; i < 64; i++)
		assert_true(((const float *)b->dl.data)[i] == (float)i + 1);
	tenon_object_unref(b);
	tenon_object_unref(a);
	tenon_object_unref(f);
}

static void a_linked_library_has_its_import_tree(void **state)
{
	struct tenon_module *m = NULL;

	(void)state;
	fixture_ok(tenon_system_lib("cl_", &m), "cl_");
	assert_int_equal(m->import_count, 1);
	assert_true(tenon_slice_equal(m->imports[0]->kind, tenon_slice_of("opencl")));
	tenon_object_unref(m);
}

static void the_same_prefix_gives_the_same_module(void **state)
{
	struct tenon_module *a = NULL, *b = NULL;

	(void)state;
	fixture_ok(tenon_system_lib("one_", &a), "one_");
	fixture_ok(tenon_system_lib("one_", &b), "one_");
	assert_ptr_equal(a, b);
	tenon_object_unref(a);
	tenon_object_unref(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modern_objects_linked_in_are_found_by_prefix),
		cmocka_unit_test(legacy_objects_linked_in_are_found_by_prefix),
		cmocka_unit_test(a_linked_library_has_its_import_tree),
		cmocka_unit_test(the_same_prefix_gives_the_same_module),
	};

#ifndef __x86_64__
	puts("the modules are for x86-64");
	return 77;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}

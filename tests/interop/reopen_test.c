/* SPDX-License-Identifier: MIT */
/*
 * The same file opened twice, closed in any order and opened again; libraries that cache the handles they were
 * given; two generations in one process that call each other. TVM's own runtime crashes on some of these.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include <tenon/backend/module_kind.h>

static const char *const scales[] = { "tvm-0.18/host_call_packed/scale.so",
				      "tvm-0.25.0.post1/host_call_packed/scale.so",
				      "tvm-0.27.0.post1/host_call_packed/scale.so" };
static const char *const vecadds[] = { "tvm-0.8/host_vecadd/lib.so", "tvm-0.18/host_vecadd/lib.so",
				       "tvm-0.25.0.post1/host_vecadd/lib.so",
				       "tvm-0.27.0.post1/host_vecadd/lib.so" };
static const char *const devices[] = {
	"tvm-0.8/opencl_vecadd/lib.so",	      "tvm-0.18/opencl_vecadd/lib.so",
	"tvm-0.18/opencl_multi/lib.so",	      "tvm-0.18/vulkan_multi/lib.so",
	"tvm-0.18/dev_opencl_cuda/lib.so",    "tvm-0.25.0.post1/tree_children/lib.so",
	"tvm-0.27.0.post1/tree_nested/lib.so"
};

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static struct tenon_function *function_of(struct tenon_module *m, const char *name)
{
	struct tenon_function *f = NULL;

	fixture_ok(tenon_module_get_function(m, name, &f), name);
	return f;
}

/* 2 * x for the first elements, by c = a + b */
static void add_works(struct tenon_function *f, int64_t n)
{
	struct tenon_tensor *a = fixture_zeros(n, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_tensor *c = fixture_zeros(n, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_value ret = tenon_arg_none();
	int64_t i;

	for (i = 0; i < n; i++)
		((float *)a->dl.data)[i] = (float)i;
	fixture_ok(tenon_call(f, &ret, tenon_arg_tensor(&a->dl), tenon_arg_tensor(&a->dl),
			      tenon_arg_tensor(&c->dl)),
		   "vecadd");
	for (i = 0; i < n; i++)
		assert_true(((const float *)c->dl.data)[i] == (float)(2 * i));
	tenon_object_unref(c);
	tenon_object_unref(a);
}

static int64_t length_of(size_t which)
{
	return which < 2 ? 1024 : 128;
}

static void a_file_opened_twice_is_closed_in_either_order(void **state)
{
	size_t i;
	int first;

	(void)state;
	for (i = 0; i < COUNT(vecadds); i++)
		for (first = 0; first < 2; first++) {
			struct tenon_module *m[2] = { fixture_load(vecadds[i]),
						      fixture_load(vecadds[i]) };
			struct tenon_function *f[2] = { function_of(m[0], "vecadd"),
							function_of(m[1], "vecadd") };

			add_works(f[0], length_of(i));
			add_works(f[1], length_of(i));
			tenon_object_unref(f[first]);
			tenon_object_unref(m[first]);
			add_works(f[!first], length_of(i));
			tenon_object_unref(m[!first]);
			add_works(f[!first], length_of(i)); /* a function holds its module */
			tenon_object_unref(f[!first]);
		}
}

static void a_file_is_opened_again_and_again(void **state)
{
	size_t i;
	int round;

	(void)state;
	for (round = 0; round < 5; round++)
		for (i = 0; i < COUNT(vecadds); i++) {
			struct tenon_module *m = fixture_load(vecadds[i]);
			struct tenon_function *f = function_of(m, "vecadd");

			tenon_object_unref(m);
			add_works(f, length_of(i));
			tenon_object_unref(f);
		}
}

static void a_file_with_device_imports_is_opened_again_and_again(void **state)
{
	size_t i;
	int round;

	(void)state;
	for (round = 0; round < 3; round++)
		for (i = 0; i < COUNT(devices); i++) {
			struct tenon_module *a = NULL, *b = NULL;
			int status = tenon_module_load(fixture_path(devices[i]), &a);

			if (status ==
			    -TENON_E_NO_LOADER) { /* a legacy blob of a kind without a loader */
				tenon_error_clear();
				continue;
			}
			fixture_ok(status, devices[i]);
			b = fixture_load(devices[i]);
			assert_true(a->import_count >= 1);
			assert_int_equal(a->import_count, b->import_count);
			assert_true(tenon_slice_equal(a->imports[0]->kind, b->imports[0]->kind));
			tenon_object_unref(round & 1 ? a : b);
			tenon_object_unref(round & 1 ? b : a);
		}
}

/* ---- handles that a library keeps */

static struct tenon_tensor *ramp(void)
{
	struct tenon_tensor *t = fixture_zeros(16, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	int i;

	for (i = 0; i < 16; i++)
		((float *)t->dl.data)[i] = (float)i;
	return t;
}

/* call_scale: out = in * 3 + 2.5 by fixture.scale; returns what was added besides */
static float added_by(struct tenon_function *f)
{
	struct tenon_tensor *a = ramp(), *out = fixture_zeros(16, a->dl.dtype);
	struct tenon_value ret = tenon_arg_none();
	float added;
	int i;

	fixture_ok(tenon_call(f, &ret, tenon_arg_tensor(&a->dl), tenon_arg_tensor(&out->dl)),
		   "call_scale");
	added = ((const float *)out->dl.data)[0] - 2.5f;
	for (i = 0; i < 16; i++)
		assert_true(((const float *)out->dl.data)[i] == 3 * (float)i + 2.5f + added);
	tenon_object_unref(out);
	tenon_object_unref(a);
	return added;
}

static int scale_and_one(void *self, const struct tenon_value *args, int32_t count,
			 struct tenon_value *ret)
{
	DLTensor *out;
	int64_t i;
	int err = fixture_scale(self, args, count, ret);

	if (err || tenon_value_tensor(&args[1], &out))
		return -1;
	for (i = 0; i < out->shape[0]; i++)
		((float *)out->data)[i] += 1;
	return 0;
}

static void a_cached_handle_stays_good_when_its_name_is_taken_over(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(scales); i++) {
		struct tenon_function *f, *again;

		fixture_ok(tenon_function_register_c("fixture.scale", fixture_scale, true),
			   "scale");
		f = fixture_function(scales[i], "call_scale");
		assert_true(added_by(f) == 0);
		fixture_ok(tenon_function_register_c("fixture.scale", scale_and_one, true),
			   "scale + 1");
		assert_true(added_by(f) == 0); /* the library keeps what it was given */
		again = fixture_function(scales[i], "call_scale");
		assert_true(added_by(again) == 0 || added_by(again) == 1);
		tenon_object_unref(f);
		assert_true(added_by(again) == 0 || added_by(again) == 1);
		tenon_object_unref(again);
	}
}

static void a_removed_function_stays_good_for_the_library_that_has_it(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(scales); i++) {
		struct tenon_function *f;

		fixture_ok(tenon_function_register_c("fixture.scale", fixture_scale, true),
			   "scale");
		f = fixture_function(scales[i], "call_scale");
		assert_true(added_by(f) == 0);
		fixture_ok(tenon_function_remove("fixture.scale"), "remove");
		assert_true(added_by(f) == 0);
		tenon_object_unref(f);
	}
}

/* ---- two generations */

static void register_from(const char *file, const char *name)
{
	struct tenon_module *m = NULL;
	struct tenon_function *f;

	fixture_ok(tenon_module_load(fixture_module_path(file), &m), file);
	f = function_of(m, name);
	tenon_object_unref(m);
	fixture_ok(tenon_function_register("fixture.scale", f, true), name);
	tenon_object_unref(f);
}

static void legacy_code_calls_a_modern_function(void **state)
{
	struct tenon_function *f;

	(void)state;
	register_from("scale_modern.so", "scale");
	f = fixture_function("tvm-0.18/host_call_packed/scale.so", "call_scale");
	assert_true(added_by(f) == 1000);
	tenon_object_unref(f);
}

static void modern_code_calls_a_legacy_function(void **state)
{
	size_t i;

	(void)state;
	for (i = 1; i < COUNT(scales); i++) {
		struct tenon_function *f;

		register_from("scale_legacy.so", "scale");
		f = fixture_function(scales[i], "call_scale");
		assert_true(added_by(f) == 2000);
		tenon_object_unref(f);
	}
}

/* fixture.scale that is itself code of the other generation calling on */
static int through_other(void *self, const struct tenon_value *args, int32_t count,
			 struct tenon_value *ret)
{
	struct tenon_value none = tenon_arg_none();
	int err;

	if (count != 5)
		return -1;
	err = tenon_call((struct tenon_function *)self, &none, args[0], args[1]);
	*ret = tenon_arg_int(4);
	return err;
}

static void drop(void *self)
{
	tenon_object_unref(self);
}

static void generations_call_each_other_in_a_chain(void **state)
{
	struct tenon_function *innermost, *between, *outermost;

	(void)state;
	/* 0.27 → program → 0.18 → legacy .so: each through the handle the other generation understands */
	register_from("scale_legacy.so", "scale");
	innermost = fixture_function("tvm-0.18/host_call_packed/scale.so", "call_scale");
	assert_true(added_by(innermost) == 2000);
	fixture_ok(tenon_function_create(innermost, through_other, drop, &between), "between");
	fixture_ok(tenon_function_register("fixture.scale", between, true), "between");
	tenon_object_unref(between);
	outermost = fixture_function("tvm-0.27.0.post1/host_call_packed/scale.so", "call_scale");
	assert_true(added_by(outermost) == 2000);
	tenon_object_unref(outermost);
}

static void an_error_of_one_generation_is_told_by_the_other(void **state)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_tensor *x = fixture_zeros(16, tenon_dtype(TENON_DTYPE_FLOAT, 64, 1));
	struct tenon_function *old =
		fixture_function("tvm-0.18/host_call_packed/scale.so", "call_scale");
	struct tenon_function *between, *outer;
	struct tenon_tensor *a = ramp();

	(void)state;
	/* the legacy code refuses float64, and what it says comes out of the modern one */
	fixture_ok(tenon_function_create(old, through_other, drop, &between), "between");
	fixture_ok(tenon_function_register("fixture.scale", between, true), "between");
	tenon_object_unref(between);
	assert_int_not_equal(
		tenon_call(old, &ret, tenon_arg_tensor(&x->dl), tenon_arg_tensor(&a->dl)), 0);
	fixture_says("dtype is expected to be float32");
	outer = fixture_function("tvm-0.25.0.post1/host_call_packed/scale.so", "call_scale");
	assert_int_not_equal(
		tenon_call(outer, &ret, tenon_arg_tensor(&x->dl), tenon_arg_tensor(&a->dl)), 0);
	fixture_says("float32");
	tenon_object_unref(outer);
	tenon_object_unref(a);
	tenon_object_unref(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_opened_twice_is_closed_in_either_order),
		cmocka_unit_test(a_file_is_opened_again_and_again),
		cmocka_unit_test(a_file_with_device_imports_is_opened_again_and_again),
		cmocka_unit_test(a_cached_handle_stays_good_when_its_name_is_taken_over),
		cmocka_unit_test(a_removed_function_stays_good_for_the_library_that_has_it),
		cmocka_unit_test(legacy_code_calls_a_modern_function),
		cmocka_unit_test(modern_code_calls_a_legacy_function),
		cmocka_unit_test(generations_call_each_other_in_a_chain),
		cmocka_unit_test(an_error_of_one_generation_is_told_by_the_other),
	};

#ifndef __x86_64__
	puts("the modules are for x86-64");
	return 77;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* vm.builtin.param_module_from_cache and _by_name: weights that were loaded, and the errors for those that were not. */
#include "tests/unit/one_builtin.h"

#include "runtime/relax/relax_builtin.h"

/* Give a weight of one element a name. */
static void keep(const char *name, float value)
{
	struct tenon_tensor *t = vector(1, f32, &value, sizeof(value));
	const struct tenon_value args[] = { tenon_arg_string(name), tenon_arg_object(t),
					    tenon_arg_int(1) };
	struct tenon_value ret;

	assert_int_equal(relax_builtin_tensor_cache_update(NULL, args, 3, &ret), 0);
	tenon_object_unref(t);
}

static int two_weights(void **state)
{
	(void)state;
	keep("w_0", 1);
	keep("w_1", 2);
	return 0;
}

static int no_weights(void **state)
{
	struct tenon_value ret;

	(void)state;
	return relax_builtin_tensor_cache_clear(NULL, NULL, 0, &ret);
}

/* The module's get_params() gives these weights; the module is dropped. */
static void gives(struct tenon_value module, const float *values, size_t count)
{
	struct tenon_function *get;
	const struct tenon_array *array;
	const struct tenon_tensor *t;
	struct tenon_value ret;
	size_t i;

	assert_int_equal(module.type, TENON_TYPE_MODULE);
	assert_int_equal(tenon_module_get_function((struct tenon_module *)module.as.object,
						   "get_params", &get),
			 0);
	tenon_value_release(&module);
	assert_int_equal(tenon_function_call(get, NULL, 0, &ret), 0);
	array = (const struct tenon_array *)ret.as.object;
	assert_int_equal(array->size, count);
	for (i = 0; i < count; i++) {
		t = (const struct tenon_tensor *)array->data[i].as.object;
		assert_true(*(const float *)t->dl.data == values[i]);
	}
	tenon_value_release(&ret);
	tenon_object_unref(get);
}

static struct tenon_value of_prefix(const char *prefix, int64_t count)
{
	struct one o = begin("vm.builtin.param_module_from_cache");
	uint32_t name = constant_string(&o.a, prefix);

	CALL(&o, 1, CONST(name), REG(0));
	return given(end(&o), tenon_arg_int(count));
}

static void a_module_of_a_prefix_gives_its_weights(void **state)
{
	(void)state;
	gives(of_prefix("w", 2), (float[]){ 1, 2 }, 2);
	gives(of_prefix("w", 1), (float[]){ 1 }, 1);
	gives(of_prefix("w", -1), (float[]){ 1, 2 }, 2);
	gives(of_prefix("v", -1), NULL, 0);
}

static void a_module_of_names_gives_them_in_their_order(void **state)
{
	struct one o = begin("vm.builtin.param_module_from_cache_by_name");
	struct tenon_value names[] = { tenon_arg_string("w_1"), tenon_arg_string("w_0") };
	struct tenon_array *array;

	(void)state;
	assert_int_equal(tenon_array_create(names, 2, &array), 0);
	CALL(&o, 1, REG(0));
	gives(given(end(&o), tenon_arg_object(array)), (float[]){ 2, 1 }, 2);
	tenon_object_unref(array);
}

/* The machine refuses the argument by an error of TVM's kind; it is dropped. */
static void refused_as(struct relax_vm *vm, struct tenon_value argument, const char *kind,
		       const char *words)
{
	struct tenon_value ret;

	assert_int_equal(RUN(vm, &ret, argument), -TENON_E_NOT_FOUND);
	assert_string_equal(tenon_error_kind(), kind);
	assert_error_has(words);
	tenon_object_unref(vm);
}

static void a_weight_that_was_not_loaded_is_refused_as_tvm_does(void **state)
{
	struct one o = begin("vm.builtin.param_module_from_cache");
	uint32_t name = constant_string(&o.a, "w");
	struct tenon_value absent = tenon_arg_string("absent");
	struct tenon_array *array;

	(void)state;
	CALL(&o, 1, CONST(name), REG(0));
	refused_as(end(&o), tenon_arg_int(3), "InternalError", "\"w_2\"");
	assert_int_equal(tenon_array_create(&absent, 1, &array), 0);
	o = begin("vm.builtin.param_module_from_cache_by_name");
	CALL(&o, 1, REG(0));
	refused_as(end(&o), tenon_arg_object(array), "ValueError", "\"absent\"");
	tenon_object_unref(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_module_of_a_prefix_gives_its_weights),
		cmocka_unit_test(a_module_of_names_gives_them_in_their_order),
		cmocka_unit_test(a_weight_that_was_not_loaded_is_refused_as_tvm_does),
	};

	return cmocka_run_group_tests(tests, two_weights, no_weights);
}

/* SPDX-License-Identifier: MIT */
/* Global functions that TVM's compiled code and packages look up. */
#include "ffi_suite.h"

#include <stdlib.h>

#include <tenon/backend/module_kind.h>

#include "lib/option.h"
#include "runtime/library/call.h"

/* ---- global functions */

static int call_global(const char *name, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	struct tenon_function *f;
	int err;

	assert_int_equal(tenon_function_find(name, &f), 0);
	assert_non_null(f);
	*ret = tenon_arg_none();
	err = tenon_function_call(f, args, count, ret);
	tenon_object_unref(f);
	return err;
}

static void containers_are_read_by_functions(void **state)
{
	struct tenon_value pairs[4] = { tenon_arg_string("a"), tenon_arg_int(1),
					tenon_arg_string("longer key"), tenon_arg_int(2) };
	struct tenon_value args[2], ret, asked;
	struct tenon_array *array;
	struct tenon_map *map;
	struct tenon_slice text;
	struct tenon_value walk;

	(void)state;
	assert_int_equal(tenon_map_create(pairs, 2, &map), 0);
	args[0] = tenon_arg_object(map);
	assert_int_equal(call_global("ffi.MapSize", args, 1, &ret), 0);
	assert_int_equal(ret.as.integer, 2);
	args[1] = tenon_arg_string("longer key");
	assert_int_equal(call_global("ffi.MapGetItem", args, 2, &ret), 0);
	assert_int_equal(ret.as.integer, 2);
	args[1] = tenon_arg_string("b");
	assert_int_not_equal(call_global("ffi.MapGetItem", args, 2, &ret), 0);
	assert_string_equal(tenon_error_kind(), "KeyError");
	assert_int_equal(call_global("ffi.MapForwardIterFunctor", args, 1, &walk), 0);
	tenon_object_unref(map);
	asked = tenon_arg_int(0);
	assert_int_equal(tenon_function_call((void *)walk.as.object, &asked, 1, &ret), 0);
	assert_int_equal(tenon_value_text(&ret, &text), 0);
	assert_slice(text, "a");
	asked = tenon_arg_int(2);
	assert_int_equal(tenon_function_call((void *)walk.as.object, &asked, 1, &ret), 0);
	assert_true(ret.type == TENON_TYPE_BOOL && ret.as.integer == 1);
	asked = tenon_arg_int(1);
	assert_int_equal(tenon_function_call((void *)walk.as.object, &asked, 1, &ret), 0);
	assert_int_equal(ret.as.integer, 2);
	asked = tenon_arg_int(2);
	assert_int_equal(tenon_function_call((void *)walk.as.object, &asked, 1, &ret), 0);
	assert_int_equal(ret.as.integer, 0);
	asked = tenon_arg_int(0);
	assert_int_not_equal(tenon_function_call((void *)walk.as.object, &asked, 1, &ret), 0);
	assert_error("the map iterator is at the end");
	tenon_value_release(&walk);

	assert_int_equal(tenon_array_create(pairs, 4, &array), 0);
	args[0] = tenon_arg_object(array);
	assert_int_equal(call_global("ffi.ArraySize", args, 1, &ret), 0);
	assert_int_equal(ret.as.integer, 4);
	args[1] = tenon_arg_int(3);
	assert_int_equal(call_global("ffi.ArrayGetItem", args, 2, &ret), 0);
	assert_int_equal(ret.as.integer, 2);
	args[1] = tenon_arg_int(4);
	assert_int_not_equal(call_global("ffi.ArrayGetItem", args, 2, &ret), 0);
	assert_string_equal(tenon_error_kind(), "IndexError");
	tenon_error_clear();
	args[0] = tenon_arg_int(1);
	assert_int_equal(call_global("ffi.ArraySize", args, 1, &ret), -TENON_E_TYPE);
	assert_error("ffi.ArraySize: expected ffi.Array, found int");
	tenon_object_unref(array);
}

static int nothing(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	return 0;
}

static int get_answer(struct tenon_module *m, struct tenon_slice name, struct tenon_function **out)
{
	(void)m;
	if (!tenon_slice_equal(name, s("answer")))
		return 0;
	return tenon_function_create(NULL, nothing, NULL, out);
}

static const struct tenon_module_ops answer_ops = { .get_function = get_answer };

static struct tenon_module *answer_module(void)
{
	static const struct tenon_slice kind = { "test_kind", 9 };
	struct tenon_module *m = calloc(1, sizeof(*m));

	tenon_module_init(m, &answer_ops, kind, TENON_MODULE_RUNNABLE);
	return m;
}

static void modules_are_reached_by_functions(void **state)
{
	struct tenon_module *m = answer_module(), *child = answer_module();
	struct tenon_value args[3] = { tenon_arg_object(m), tenon_arg_string("answer"),
				       tenon_arg_bool(true) };
	struct tenon_value ret;
	struct tenon_slice text;
	void *foreign;

	(void)state;
	assert_int_equal(call_global("ffi.ModuleGetKind", args, 1, &ret), 0);
	assert_int_equal(tenon_value_text(&ret, &text), 0);
	assert_slice(text, "test_kind");
	tenon_value_release(&ret);
	assert_int_equal(call_global("ffi.ModuleGetPropertyMask", args, 1, &ret), 0);
	assert_int_equal(ret.as.integer, TENON_MODULE_RUNNABLE);
	assert_int_equal(call_global("ffi.ModuleImplementsFunction", args, 3, &ret), 0);
	assert_true(ret.type == TENON_TYPE_BOOL && ret.as.integer);
	assert_int_equal(call_global("ffi.ModuleGetFunction", args, 3, &ret), 0);
	assert_int_equal(ret.type, TENON_TYPE_FUNCTION);
	tenon_value_release(&ret);
	args[1] = tenon_arg_string("question");
	assert_int_equal(call_global("ffi.ModuleGetFunction", args, 3, &ret), 0);
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	args[1] = tenon_arg_object(child);
	assert_int_equal(call_global("ffi.ModuleImportModule", args, 2, &ret), 0);
	assert_int_equal(m->import_count, 1);
	assert_int_equal(call_global("ffi.ModuleClearImports", args, 1, &ret), 0);
	assert_int_equal(m->import_count, 0);
	assert_int_equal(call_global("ffi.ModuleGetWriteFormats", args, 1, &ret), 0);
	assert_int_equal(((struct tenon_array *)ret.as.object)->size, 0);
	tenon_value_release(&ret);
	assert_int_equal(call_global("ffi.ModuleInspectSource", args, 1, &ret),
			 -TENON_E_UNSUPPORTED);
	tenon_error_clear();
	/* a module of a C++ runtime has another layout */
	foreign = calloc(1, sizeof(struct tenon_module));
	tenon_object_init(foreign, TENON_TYPE_MODULE, NULL);
	args[0] = tenon_arg_object(foreign);
	assert_int_equal(call_global("ffi.ModuleGetKind", args, 1, &ret), -TENON_E_TYPE);
	assert_error_has("the module belongs to another runtime in this process");
	free(foreign);
	tenon_object_unref(m);
	tenon_object_unref(child);
}

static void loaders_of_the_build_are_found_by_their_names(void **state)
{
	const struct tenon_value bytes = tenon_arg_bytes(&(struct tenon_slice){ "", 0 });
	struct tenon_function *f;
	struct tenon_value ret;

	(void)state;
#if OPTION_ON(METADATA)
	assert_int_equal(call_global("ffi.Module.load_from_bytes.metadata_module", &bytes, 1, &ret),
			 0);
	assert_int_equal(ret.type, TENON_TYPE_MODULE);
	tenon_value_release(&ret);
#endif
	assert_int_equal(tenon_function_find("ffi.Module.load_from_bytes.no_such", &f), 0);
	assert_null(f);
	(void)bytes;
	(void)ret;
}

static void a_device_that_is_not_there_cannot_be_set(void **state)
{
	struct tenon_value args[3] = { tenon_arg_int(1), tenon_arg_int(0), tenon_arg_int(0) }, ret;

	(void)state;
	assert_int_equal(call_global("__tvm_set_device", args, 2, &ret), 0);
	assert_int_equal(call_global("runtime.GetDeviceAttr", args, 3, &ret), 0);
	assert_int_equal(ret.as.integer, 1);
	args[0] = tenon_arg_int(kDLMetal);
	assert_int_equal(call_global("__tvm_set_device", args, 2, &ret), -TENON_E_DEVICE);
	assert_error_has("the function runs on metal:0");
	assert_int_equal(call_global("runtime.GetDeviceAttr", args, 3, &ret), 0);
	assert_int_equal(ret.as.integer, 0);
	assert_int_equal(call_global("__tvm_set_device", args, 1, &ret), -TENON_E_TYPE);
	assert_error("__tvm_set_device: expected 2 arguments, found 1");
}

/* ---- code of 0.21, and guarded code */

static int echo_021(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	assert_null(self);
	if (!count)
		return -1;
	*ret = args[count - 1];
	return 0;
}

static int type_021(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	(void)self;
	*ret = tenon_arg_int(args[0].type);
	if (args[0].type == TENON_TYPE_DLTENSOR)
		*ret = tenon_arg_int(100 + args[0].as.tensor->dtype.bits);
	(void)count;
	return 0;
}

static void code_of_0_21_gets_tensors_and_strings_in_its_own_words(void **state)
{
	int64_t shape[1] = { 3 };
	struct tenon_function *echo, *type;
	struct tenon_value args[20], ret = tenon_arg_none(), text;
	struct tenon_slice out;
	struct tenon_tensor *t;
	struct tenon_array *array;
	int i;

	(void)state;
	assert_int_equal(tvm_021_function_create((void *)echo_021, NULL, &echo), 0);
	assert_int_equal(tvm_021_function_create((void *)type_021, NULL, &type), 0);
	assert_int_equal(tenon_tensor_create(shape, 1, tenon_dtype(TENON_DTYPE_BOOL, 8, 1), &t), 0);
	args[0] = tenon_arg_object(t);
	assert_int_equal(tenon_function_call(type, args, 1, &ret), 0);
	assert_int_equal(ret.as.integer, 101);
	tenon_object_unref(t);
	assert_int_equal(tenon_string_value(s("longer than seven"), &text), 0);
	assert_int_equal(tenon_function_call(type, &text, 1, &ret), 0);
	assert_int_equal(ret.as.integer, TENON_TYPE_RAW_STRING);
	assert_int_equal(tenon_function_call(echo, &text, 1, &ret), 0);
	assert_int_equal(ret.type, TENON_TYPE_STRING);
	assert_int_equal(tenon_value_text(&ret, &out), 0);
	assert_slice(out, "longer than seven");
	tenon_value_release(&ret);
	tenon_value_release(&text);
	for (i = 0; i < 20; i++)
		args[i] = tenon_arg_float(i);
	assert_int_equal(tenon_function_call(echo, args, 20, &ret), 0);
	assert_true(ret.as.real == 19);
	assert_int_equal(tenon_array_create(args, 2, &array), 0);
	args[1] = tenon_arg_object(array);
	assert_int_equal(tenon_function_call(echo, args, 2, &ret), -TENON_E_TYPE);
	assert_error("argument 1 is of type ffi.Array: code of TVM 0.21 takes numbers, tensors and "
		     "strings from outside");
	tenon_object_unref(array);
	args[0] = tenon_arg_none();
	args[0].type = TENON_TYPE_DLTENSOR;
	assert_int_equal(tenon_function_call(echo, args, 1, &ret), -TENON_E_TYPE);
	tenon_error_clear();
	assert_int_equal(tenon_function_call(echo, args, 0, &ret), -TENON_E_CALL);
	tenon_object_unref(echo);
	tenon_object_unref(type);
}

static int take_and_maybe_fail(void *self, const struct tenon_value *args, int32_t count,
			       struct tenon_value *ret)
{
	void *memory = abi_backend_alloc(kDLCPU, 0, 1000, 2, 32);

	(void)self;
	(void)count;
	(void)ret;
	assert_non_null(memory);
	if (args[0].as.integer)
		return tenon_error(-TENON_E_VALUE, "midway");
	return abi_backend_free(kDLCPU, 0, memory);
}

static void a_guarded_call_gives_back_what_a_failure_left_out(void **state)
{
	struct tenon_value arg = tenon_arg_int(1), ret = tenon_arg_none();
	struct tenon_function *f;
	struct tenon_module *keep = answer_module();

	(void)state;
	assert_int_equal(workspace_guard_function_create(take_and_maybe_fail, &keep->object, &f),
			 0);
	assert_int_equal(strong_count(keep), 2);
	assert_int_equal(tenon_function_call(f, &arg, 1, &ret), -TENON_E_VALUE);
	assert_error("midway");
	assert_int_equal(tenon_workspace_mark(), 0);
	arg = tenon_arg_int(0);
	assert_int_equal(tenon_function_call(f, &arg, 1, &ret), 0);
	assert_int_equal(tenon_workspace_mark(), 0);
	tenon_object_unref(f);
	assert_int_equal(strong_count(keep), 1);
	tenon_object_unref(keep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(containers_are_read_by_functions, with_globals),
		cmocka_unit_test_setup(modules_are_reached_by_functions, with_globals),
		cmocka_unit_test_setup(loaders_of_the_build_are_found_by_their_names, with_globals),
		cmocka_unit_test_setup(a_device_that_is_not_there_cannot_be_set, with_globals),
		cmocka_unit_test_setup(code_of_0_21_gets_tensors_and_strings_in_its_own_words,
				       with_globals),
		cmocka_unit_test_setup(a_guarded_call_gives_back_what_a_failure_left_out,
				       with_globals),
	};

	return cmocka_run_group_tests_name("tvm_globals", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* tvm-ffi's C interface: functions, values, errors, globals. */
#include "ffi_suite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/library/system_lib.h"

/* ---- the table */

static void the_table_has_every_function(void **state)
{
	const struct tenon_tvm_table *t = tenon_tvm_table();
	void *const *member = (void *const *)(t + 0);
	size_t i;

	(void)state;
	assert_int_equal(t->version, TVM_TABLE_VERSION);
	assert_int_equal(t->size, sizeof(*t));
	for (i = 8 / sizeof(void *); i < sizeof(*t) / sizeof(void *); i++)
		assert_non_null(member[i]);
	assert_ptr_equal(t->TVMFFIFunctionCall, abi_ffi_function_call);
}

static void the_compatibility_library_works_once_it_is_bound(void **state)
{
	int (*bind)(const struct tenon_tvm_table *table);
	void (*version)(uint32_t out[3]);
	int (*get)(const struct tenon_slice *name, void **out);
	const struct type_info *(*info)(int32_t index);
	float (*to_float)(uint16_t half);
	const struct tenon_slice name = s("__tvm_set_device");
	struct tenon_tvm_table newer = *tenon_tvm_table();
	const char *folder = getenv("TENON_BUILD");
	uint32_t number[3];
	char path[4096];
	void *library, *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/compat/libtvm_ffi.so", folder ? folder : "build");
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		print_message("%s\n", dlerror());
		skip();
	}
	*(void **)&bind = dlsym(library, "tenon_tvm_bind");
	*(void **)&version = dlsym(library, "TVMFFIGetVersion");
	*(void **)&get = dlsym(library, "TVMFFIFunctionGetGlobal");
	*(void **)&info = dlsym(library, "TVMFFIGetTypeInfo");
	*(void **)&to_float = dlsym(library, "__gnu_h2f_ieee");
	assert_non_null(bind);
	newer.version++;
	assert_int_equal(bind(&newer), -1);
	newer = *tenon_tvm_table();
	newer.size--;
	assert_int_equal(bind(&newer), -1);
	assert_int_equal(bind(tenon_tvm_table()), 0);
	version(number);
	assert_int_equal(number[0], 0);
	assert_int_equal(number[1], 1);
	assert_int_equal(get(&name, &f), 0);
	assert_non_null(f);
	tenon_object_unref(f);
	assert_int_equal(info(TENON_TYPE_TENSOR)->index, TENON_TYPE_TENSOR);
	assert_true(to_float(0x3e00) == 1.5f);
	dlclose(library);
}

/* ---- functions and values */

static int sum(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	int64_t total = *(int *)self;
	int32_t i;

	for (i = 0; i < count; i++)
		total += args[i].as.integer;
	*ret = tenon_arg_int(total);
	return 0;
}

static int released;

static void release_self(void *self)
{
	(void)self;
	released++;
}

static void a_function_is_made_called_and_registered(void **state)
{
	struct tenon_value args[2] = { tenon_arg_int(3), tenon_arg_int(4) }, ret = tenon_arg_none();
	const struct tenon_slice name = { "test.abi.sum and more", 12 }, other = s("test.abi.none");
	void *f, *found;
	int base = 100;

	(void)state;
	released = 0;
	assert_int_equal(abi_ffi_function_create(&base, sum, release_self, &f), 0);
	assert_int_equal(abi_ffi_function_call(f, args, 2, &ret), 0);
	assert_int_equal(ret.as.integer, 107);
	assert_int_equal(abi_ffi_function_set_global(&name, f, 0), 0);
	assert_int_equal(abi_ffi_function_set_global(&name, f, 0), -1);
	assert_int_equal(tenon_error_status(), -TENON_E_EXISTS);
	assert_int_equal(abi_ffi_function_set_global(&name, f, 1), 0);
	assert_int_equal(abi_ffi_function_get_global(&name, &found), 0);
	assert_ptr_equal(found, f);
	abi_ffi_object_unref(found);
	assert_int_equal(abi_ffi_function_get_global(&other, &found), 0);
	assert_null(found);
	abi_ffi_object_unref(f);
	assert_int_equal(released, 0); /* the registry holds it */
}

static void a_method_becomes_a_global_function(void **state)
{
	struct type_method method = { .name = s("test.abi.method") };
	struct tenon_function *found;
	int base = 1;
	void *f;

	(void)state;
	assert_int_equal(abi_ffi_function_create(&base, sum, NULL, &f), 0);
	method.method = tenon_arg_object(f);
	assert_int_equal(abi_ffi_function_set_global_method(&method, 0), 0);
	assert_int_equal(tenon_function_find("test.abi.method", &found), 0);
	assert_ptr_equal(found, f);
	tenon_object_unref(found);
	tenon_object_unref(f);
	method.method = tenon_arg_int(1);
	assert_int_equal(abi_ffi_function_set_global_method(&method, 1), -1);
	assert_error("global function \"test.abi.method\": expected a function, found int");
}

static void views_become_owned_values(void **state)
{
	struct tenon_value view = tenon_arg_string("short"), owned, rvalue = tenon_arg_none();
	void *object, *slot;

	(void)state;
	assert_int_equal(abi_ffi_value_own(&view, &owned), 0);
	assert_int_equal(owned.type, TENON_TYPE_SMALL_STRING);
	view = tenon_arg_string("longer than seven");
	assert_int_equal(abi_ffi_value_own(&view, &owned), 0);
	assert_int_equal(owned.type, TENON_TYPE_STRING);
	object = slot = owned.as.object;
	rvalue.type = TENON_TYPE_RVALUE_REF;
	rvalue.as.pointer = &slot;
	assert_int_equal(abi_ffi_value_own(&rvalue, &owned), 0);
	assert_ptr_equal(owned.as.object, object);
	assert_null(slot);
	assert_int_equal(strong_count(object), 1);
	tenon_value_release(&owned);
}

/* ---- errors */

static void an_error_is_put_together_from_parts(void **state)
{
	const char *parts[] = { "argument ", NULL, "3", " is ", "late", NULL };
	const char *many[200];
	struct tenon_error *e;
	void *out;
	int i;

	(void)state;
	abi_ffi_error_raise_parts("ValueError", parts, 6);
	abi_ffi_error_take(&out);
	e = out;
	assert_slice(e->kind, "ValueError");
	assert_slice(e->message, "argument 3 is late");
	abi_ffi_object_unref(e);
	abi_ffi_error_take(&out);
	assert_null(out);
	for (i = 0; i < 200; i++)
		many[i] = i % 2 ? "b" : "a";
	abi_ffi_error_raise_parts("ValueError", many, 200);
	assert_int_equal(strlen(tenon_error_message()), 200);
	assert_memory_equal(tenon_error_message(), "ababab", 6);
	abi_ffi_error_raise_text("TypeError", "as it is: 100%");
	assert_string_equal(tenon_error_kind(), "TypeError");
	assert_error("as it is: 100%");
}

static void an_error_object_carries_cause_and_context(void **state)
{
	const struct tenon_slice kind = s("KeyError"), message = s("no x"), none = s("");
	const struct tenon_slice more = s("  File \"b\", line 2, in g\n");
	struct tenon_error *e;
	void *cause, *error, *taken;

	(void)state;
	assert_int_equal(abi_ffi_error_create(&kind, &message, &none, &cause), 0);
	assert_int_equal(abi_ffi_error_create_caused(&kind, &message, &more, cause, cause, &error),
			 0);
	assert_int_equal(tenon_error_status(), 0);
	assert_int_equal(strong_count(cause), 3);
	e = error;
	assert_ptr_equal(tenon_error_cause(e), cause);
	e->update_backtrace(e, &more, 1);
	assert_int_equal(e->backtrace.size, 2 * more.size);
	abi_ffi_error_raise(e);
	assert_int_equal(strong_count(e), 2);
	abi_ffi_error_take(&taken);
	assert_ptr_equal(taken, e);
	tenon_object_unref(taken);
	tenon_object_unref(e);
	assert_int_equal(strong_count(cause), 1);
	abi_ffi_error_raise(tenon_arg_object(cause).as.object);
	tenon_error_clear();
	tenon_object_unref(cause);
}

static void what_is_no_error_cannot_be_raised(void **state)
{
	void *o;

	(void)state;
	assert_int_equal(abi_ffi_object_opaque(NULL, TENON_TYPE_OPAQUE_PYTHON, NULL, &o), 0);
	abi_ffi_error_raise(o);
	assert_error("an object that is no error was raised");
	abi_ffi_error_raise(NULL);
	assert_error("an object that is no error was raised");
	tenon_object_unref(o);
}

static void a_backtrace_is_one_line_and_never_null(void **state)
{
	const struct tenon_slice *text = abi_ffi_backtrace("kernel.cc", 12, "int f(int)", 0);

	(void)state;
	assert_slice(*text, "  File \"kernel.cc\", line 12, in int f(int)\n");
	text = abi_ffi_backtrace(NULL, 0, NULL, 1);
	assert_non_null(text);
	assert_int_equal(text->size, 0);
}

/* ---- environment */

static void *no_stream_here(void *context)
{
	(void)context;
	return abi_ffi_env_get_stream(2, 0);
}

static void streams_belong_to_threads(void **state)
{
	pthread_t thread;
	void *old, *there;
	int a, b;

	(void)state;
	assert_null(abi_ffi_env_get_stream(2, 0));
	assert_int_equal(abi_ffi_env_set_stream(2, 0, &a, &old), 0);
	assert_null(old);
	assert_int_equal(abi_ffi_env_set_stream(2, 1, &b, NULL), 0);
	assert_ptr_equal(abi_ffi_env_get_stream(2, 0), &a);
	assert_ptr_equal(abi_ffi_env_get_stream(2, 1), &b);
	assert_int_equal(pthread_create(&thread, NULL, no_stream_here, NULL), 0);
	pthread_join(thread, &there);
	assert_null(there);
	assert_int_equal(abi_ffi_env_set_stream(2, 0, NULL, &old), 0);
	assert_ptr_equal(old, &a);
}

static int signalled(void)
{
	return -1;
}

static void an_interpreter_may_stop_a_call(void **state)
{
	(void)state;
	assert_int_equal(abi_ffi_env_check_signals(), 0);
	assert_int_equal(abi_ffi_env_register_c_api("PyErr_CheckSignals", (void *)signalled), 0);
	assert_int_equal(abi_ffi_env_register_c_api("PyGILState_Ensure", (void *)signalled), 0);
	assert_int_equal(abi_ffi_env_check_signals(), -1);
	assert_string_equal(tenon_error_kind(), "EnvErrorAlreadySet");
	assert_int_equal(abi_ffi_env_register_c_api("PyErr_CheckSignals", NULL), 0);
	assert_int_equal(abi_ffi_env_register_c_api("Py_Initialize", NULL), -1);
	assert_error_has("\"Py_Initialize\" is not a function");
}

static void *once_handle;
static int once_runs;

static int once_init(void **result)
{
	__atomic_add_fetch(&once_runs, 1, __ATOMIC_RELAXED);
	*result = &once_runs;
	return 0;
}

static void *init_many_times(void *context)
{
	int i;

	for (i = 0; i < 1000; i++)
		if (abi_ffi_init_once(context, once_init))
			return NULL;
	return context;
}

static int once_deinit(void *handle)
{
	return handle == &once_runs ? 0 : -1;
}

static int once_nothing(void **result)
{
	*result = NULL;
	return 0;
}

static void a_handle_is_made_once_by_all_threads(void **state)
{
	pthread_t thread[4];
	void *result;
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, init_many_times, &once_handle);
	for (i = 0; i < 4; i++) {
		pthread_join(thread[i], &result);
		assert_non_null(result);
	}
	assert_int_equal(once_runs, 1);
	assert_ptr_equal(once_handle, &once_runs);
	assert_int_equal(abi_ffi_deinit_once(&once_handle, once_deinit), 0);
	assert_null(once_handle);
	assert_int_equal(abi_ffi_deinit_once(&once_handle, once_deinit), 0);
	assert_int_equal(abi_ffi_init_once(&once_handle, once_nothing), -1);
	assert_error("a handle's initialiser succeeded without a handle");
}

static void *context_value(const char *name)
{
	const struct abi_context_symbol *symbol;
	void *value = NULL;

	for (symbol = abi_context_symbols(); symbol->name.text; symbol++)
		if (!strcmp(symbol->name.text, name))
			value = symbol->value;
	return value;
}

static void context_symbols_can_be_added_and_replaced(void **state)
{
	int mine;

	(void)state;
	assert_ptr_equal(context_value("__TVMFFIFunctionCall"), (void *)abi_ffi_function_call);
	assert_non_null(context_value("__TVMBackendParallelLaunch"));
	assert_null(context_value("__TestContext"));
	assert_int_equal(abi_ffi_env_register_context("__TestContext", &mine), 0);
	assert_ptr_equal(context_value("__TestContext"), &mine);
	assert_int_equal(abi_ffi_env_register_context("__TestContext", NULL), 0);
	assert_null(context_value("__TestContext"));
	assert_ptr_equal(context_value("__TVMFFIFunctionCall"), (void *)abi_ffi_function_call);
	assert_string_equal(abi_context_modules[0].text, "__tvm_ffi__library_ctx");
}

#ifdef CONFIG_FAST_CALLS
/* The compiler computes the hashes of names that each opening looks for. */
static void names_have_the_hash_of_their_text(void **state)
{
	static const struct loaded_name names[] = {
		LOADED_NAME(""), LOADED_NAME("a"),
		LOADED_NAME("0123456789012345678901234567890123456789")
	};
	const struct abi_context_symbol *symbol;
	size_t i;

	(void)state;
	assert_int_equal(names[0].hash, 5381);
	assert_int_equal(names[1].hash, 5381 * 33 + 'a');
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(names[i].hash, loaded_name(names[i].text).hash);
	for (symbol = abi_context_symbols(); symbol->name.text; symbol++)
		assert_int_equal(symbol->name.hash, loaded_name(symbol->name.text).hash);
	for (i = 0; abi_context_modules[i].text; i++)
		assert_int_equal(abi_context_modules[i].hash,
				 loaded_name(abi_context_modules[i].text).hash);
}
#endif

static void static_symbols_are_found_by_name(void **state)
{
	int symbol;

	(void)state;
	assert_null(system_lib_symbol("test_prefix___tvm_ffi_f"));
	assert_int_equal(abi_ffi_env_register_system("test_prefix___tvm_ffi_f", &symbol), 0);
	assert_ptr_equal(system_lib_symbol("test_prefix___tvm_ffi_f"), &symbol);
	assert_null(system_lib_symbol("test_prefix___tvm_ffi_"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_table_has_every_function, with_globals),
		cmocka_unit_test_setup(the_compatibility_library_works_once_it_is_bound,
				       with_globals),
		cmocka_unit_test_setup(a_function_is_made_called_and_registered, with_globals),
		cmocka_unit_test_setup(a_method_becomes_a_global_function, with_globals),
		cmocka_unit_test_setup(views_become_owned_values, with_globals),
		cmocka_unit_test_setup(an_error_is_put_together_from_parts, with_globals),
		cmocka_unit_test_setup(an_error_object_carries_cause_and_context, with_globals),
		cmocka_unit_test_setup(what_is_no_error_cannot_be_raised, with_globals),
		cmocka_unit_test_setup(a_backtrace_is_one_line_and_never_null, with_globals),
		cmocka_unit_test_setup(streams_belong_to_threads, with_globals),
		cmocka_unit_test_setup(an_interpreter_may_stop_a_call, with_globals),
		cmocka_unit_test_setup(a_handle_is_made_once_by_all_threads, with_globals),
		cmocka_unit_test_setup(context_symbols_can_be_added_and_replaced, with_globals),
#ifdef CONFIG_FAST_CALLS
		cmocka_unit_test(names_have_the_hash_of_their_text),
#endif
		cmocka_unit_test_setup(static_symbols_are_found_by_name, with_globals),
	};

	return cmocka_run_group_tests_name("tvm_ffi", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Functions that code of others looks up by name take arguments of any number and type: they do their work or say what is wrong. */
#include "tests/unit/suite.h"
#include "tests/unit/too_much_memory.h"

#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/module_kind.h>

#define NAMES_MOST     1024
#define ARGUMENTS_MOST 6

#define D18 "tests/interop/data/tvm-0.18/"
#define D27 "tests/interop/data/tvm-0.27.0.post1/"

static void skip_elsewhere(void)
{
#ifndef __x86_64__
	print_message("these modules are for x86-64\n");
	skip();
#endif
}

/* a value of each sort that programs pass */
#define SORTS 9

static struct tenon_value values[SORTS];

static void make_values(void)
{
	static const int64_t shape[] = { 2 };
	const struct tenon_value one = tenon_arg_int(1);
	struct tenon_tensor *tensor;
	struct tenon_array *array;
	struct tenon_map *map;

	assert_int_equal(
		tenon_tensor_create(shape, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &tensor), 0);
	memset(tensor->dl.data, 0, 8);
	assert_int_equal(tenon_array_create(&one, 1, &array), 0);
	assert_int_equal(tenon_map_create(NULL, 0, &map), 0);
	values[0] = tenon_arg_none();
	values[1] = tenon_arg_int(-1);
	values[2] = tenon_arg_int(1);
	values[3] = tenon_arg_int(INT64_MAX);
	values[4] = tenon_arg_float(0.5);
	values[5] = tenon_arg_string("no such thing");
	values[6] = tenon_arg_object(tensor);
	values[7] = tenon_arg_object(array);
	values[8] = tenon_arg_object(map);
}

/* What ends or changes the process, or takes integers as addresses. */
static bool is_left_out(const char *name)
{
	static const char *const parts[] = { "stream", "Stream", "threadpool", "System", "print" };
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

/* Return: 1 if it was an error, which has a message */
static size_t try(const char *name, struct tenon_function *f, const struct tenon_value *args,
		  int32_t count)
{
	struct tenon_value ret = tenon_arg_none();
	int err = tenon_function_call(f, args, count, &ret);

	if (!err)
		tenon_value_release(&ret);
	else if (!*tenon_error_message())
		fail_msg("%s: %d without a message", name, err);
	tenon_error_clear();
	return err != 0;
}

/* Every number of arguments, of one sort and with another one first. Return: how many calls failed */
static size_t try_all(const char *name, struct tenon_function *f, struct tenon_value *first)
{
	struct tenon_value args[ARGUMENTS_MOST];
	size_t failed = 0, i, k;
	int32_t count;

	for (i = 0; i < SORTS; i++)
		for (k = 0; k < (first ? 1 : SORTS); k++) {
			for (count = 0; count < ARGUMENTS_MOST; count++)
				args[count] = values[i];
			args[0] = first ? *first : values[k];
			for (count = 0; count <= ARGUMENTS_MOST; count++)
				failed += try(name, f, args, count);
		}
	return failed;
}

/* ---- global functions */

static char *names[NAMES_MOST];
static size_t name_count;

static int add_name(void *context, const char *name, struct tenon_function *f)
{
	(void)context;
	(void)f;
	assert_true(name_count < NAMES_MOST);
	names[name_count] = strdup(name);
	assert_non_null(names[name_count++]);
	return 0;
}

static void global_functions_do_their_work_or_say_what_is_wrong(void **state)
{
	struct tenon_module *m;
	struct tenon_value module;
	struct tenon_function *f;
	size_t i, failed = 0;

	(void)state;
	skip_elsewhere();
	assert_int_equal(tenon_module_load(D27 "host_vecadd/lib.so", &m), 0);
	module = tenon_arg_object(m);
	assert_int_equal(tenon_function_each(add_name, NULL), 0);
	assert_true(name_count > 50);
	for (i = 0; i < name_count; i++) {
		assert_int_equal(tenon_function_find(names[i], &f), 0);
		if (f && !is_left_out(names[i])) {
			failed += try_all(names[i], f, NULL);
			failed += try_all(names[i], f, &module);
		}
		tenon_object_unref(f);
		free(names[i]);
	}
	assert_true(failed > 1000);
	tenon_object_unref(m);
}

/* ---- functions of modules */

static int try_function(void *context, struct tenon_slice name)
{
	struct tenon_module *m = context;
	struct tenon_function *f;
	char text[128];

	snprintf(text, sizeof(text), "%.*s", (int)name.size, name.data);
	assert_int_equal(tenon_module_find_function(m, name, false, &f), 0);
	if (f)
		try_all(text, f, NULL);
	tenon_object_unref(f);
	return 0;
}

static void try_module(struct tenon_module *m)
{
	assert_int_equal(tenon_module_each_function(m, try_function, m), 0);
}

/* A module of a file, and what a function of it makes: of a name, a device, both or none */
static void try_file(const char *file, const char *maker, bool named, bool placed)
{
	struct tenon_value args[2], made = tenon_arg_none();
	struct tenon_function *f;
	struct tenon_module *m;
	int32_t count = 0;

	assert_int_equal(tenon_module_load(file, &m), 0);
	assert_int_equal(tenon_module_get_function(m, maker, &f), 0);
	if (named)
		args[count++] = tenon_arg_string("default");
	if (placed)
		args[count++] = tenon_arg_device((DLDevice){ kDLCPU, 0 });
	if (tenon_function_call(f, args, count, &made))
		fail_msg("%s: %s: %s", file, maker, tenon_error_message());
	assert_int_equal(made.type, TENON_TYPE_MODULE);
	try_module(m);
	try_module((struct tenon_module *)made.as.object);
	tenon_value_release(&made);
	tenon_object_unref(f);
	tenon_object_unref(m);
}

static void functions_of_models_do_their_work_or_say_what_is_wrong(void **state)
{
	(void)state;
	skip_elsewhere();
	try_file(D18 "graph_mlp/graph.so", "default", false, true);
	try_file(D18 "graph_mlp/graph.so", "debug_create", true, true);
	try_file(D18 "aot_mlp/aot_packed.so", "default", false, true);
	try_file(D18 "relax_mlp/vm.so", "vm_load_executable", false, false);
	try_file(D27 "model_mlp/model.so", "vm_load_executable", false, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(global_functions_do_their_work_or_say_what_is_wrong),
		cmocka_unit_test(functions_of_models_do_their_work_or_say_what_is_wrong),
	};

	make_values();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

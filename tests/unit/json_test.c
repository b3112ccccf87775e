/* SPDX-License-Identifier: MIT */
/* What the command answers with --json, parsed again. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <tenon/backend/module_kind.h>
#include <tenon/tenon.h>
#include <tenon/threads.h>
#include <unistd.h>

#include "tests/unit/cli_run.h"
#include "tools/json/json_value.h"
#include "tools/tensor/argument.h"

#ifndef CONFIG_JSON

static void without_json_the_option_is_refused_by_name(void **state)
{
	(void)state;
	assert_refused(RUN("devices", "--json"), CLI_UNAVAILABLE, "CONFIG_JSON");
	assert_refused(RUN("doctor", "--json"), CLI_UNAVAILABLE, "CONFIG_JSON");
	assert_refused(RUN("inspect", "x.so", "--json"), CLI_UNAVAILABLE, "CONFIG_JSON");
	assert_refused(RUN("run", "x.so", "--json"), CLI_UNAVAILABLE, "CONFIG_JSON");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_json_the_option_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

/* the value as JSON without spaces */
static void assert_value(const struct tenon_value *value, const char *text)
{
	cJSON *json = json_of_value(value);
	char *printed = cJSON_PrintUnformatted(json);

	assert_string_equal(printed, text);
	free(printed);
	cJSON_Delete(json);
}

static void assert_spec(const char *text, const char *json)
{
	struct argument a = { 0 };

	assert_int_equal(spec_parse(SPEC_INPUT, text, &a.spec), 0);
	assert_int_equal(argument_make(&a), 0);
	assert_value(&a.value, json);
	argument_release(&a);
}

static void numbers_keep_all_their_bits(void **state)
{
	(void)state;
	assert_spec("9223372036854775807", "9223372036854775807");
	assert_spec("-9223372036854775808", "-9223372036854775808");
	assert_spec("0.1", "0.1");
	assert_spec("1e300", "1e+300");
	assert_spec("nan", "\"nan\"");
	assert_spec("-inf", "\"-inf\"");
	assert_spec("true", "true");
	assert_spec("null", "null");
}

static void tensors_have_shape_dtype_and_values(void **state)
{
	(void)state;
	assert_spec("2x2xuint64=1,2,3,18446744073709551615",
		    "{\"shape\":[2,2],\"dtype\":\"uint64\",\"values\":[1,2,3,"
		    "18446744073709551615]}");
	assert_spec("3xfloat16=0.5,nan,65504",
		    "{\"shape\":[3],\"dtype\":\"float16\",\"values\":[0.5,\"nan\",65504]}");
	assert_spec("bool=true", "{\"shape\":[],\"dtype\":\"bool\",\"values\":[true]}");
	assert_spec("0x3xint8=", "{\"shape\":[0,3],\"dtype\":\"int8\",\"values\":[]}");
	assert_spec("1xcomplex64=1-2j",
		    "{\"shape\":[1],\"dtype\":\"complex64\",\"values\":[\"1-2j\"]}");
}

static void a_large_tensor_is_cut_and_says_so(void **state)
{
	struct argument a = { 0 };
	cJSON *json, *values;

	(void)state;
	assert_int_equal(spec_parse(SPEC_INPUT, "4097xint32=arange", &a.spec), 0);
	assert_int_equal(argument_make(&a), 0);
	json = json_of_value(&a.value);
	values = cJSON_GetObjectItem(json, "values");
	assert_int_equal(cJSON_GetArraySize(values), 4096);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(json, "truncated")));
	cJSON_Delete(json);
	argument_release(&a);
}

static void texts_are_always_valid(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *json;
	} texts[] = {
		{ "a \"b\" µ\n", 9, "\"a \\\"b\\\" µ\\n\"" },
		{ "\xff", 1, "\"\xef\xbf\xbd\"" },
		{ "\xc3", 1, "\"\xef\xbf\xbd\"" },
		{ "\xc0\x80", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xf0\x9f\x98\x80", 4, "\"\xf0\x9f\x98\x80\"" },
		{ "a\0b", 3,
		  "\"a\xef\xbf\xbd"
		  "b\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct tenon_slice text = { texts[i].bytes, texts[i].size };
		struct tenon_value value;

		assert_int_equal(tenon_string_value(text, &value), 0);
		assert_value(&value, texts[i].json);
		tenon_value_release(&value);
	}
}

static void containers_and_objects_are_walked(void **state)
{
	struct tenon_value items[4] = { tenon_arg_string("k"), tenon_arg_int(1), tenon_arg_int(7),
					tenon_arg_bool(true) };
	struct tenon_slice bytes = { "\x01\xfe", 2 };
	struct tenon_value value = tenon_arg_bytes(&bytes);
	const int64_t extents[] = { 2, -1 };
	struct tenon_array *array, *outer;
	struct tenon_error *error;
	struct tenon_shape *shape;
	struct tenon_map *map;

	(void)state;
	assert_value(&value, "{\"bytes\":2,\"hex\":\"01fe\"}");
	assert_int_equal(tenon_map_create(items, 2, &map), 0);
	value = tenon_arg_object(map);
	assert_value(&value, "{\"k\":1,\"7\":true}");
	assert_int_equal(tenon_array_create(&value, 1, &array), 0);
	value = tenon_arg_object(array);
	assert_int_equal(tenon_array_create(&value, 1, &outer), 0);
	value = tenon_arg_object(outer);
	assert_value(&value, "[[{\"k\":1,\"7\":true}]]");
	assert_int_equal(tenon_shape_create(extents, 2, &shape), 0);
	value = tenon_arg_object(shape);
	assert_value(&value, "[2,-1]");
	error = tenon_error_create(tenon_slice_of("ValueError"), tenon_slice_of("bad"),
				   tenon_slice_of(""), NULL);
	value = tenon_arg_object(error);
	assert_value(&value,
		     "{\"type\":\"ffi.Error\",\"kind\":\"ValueError\",\"message\":\"bad\"}");
	tenon_object_unref(map);
	tenon_object_unref(array);
	tenon_object_unref(outer);
	tenon_object_unref(shape);
	tenon_object_unref(error);
}

static cJSON *answer(struct cli_run r)
{
	cJSON *json;

	assert_string_equal(r.err, "");
	assert_int_equal(r.code, CLI_OK);
	json = cJSON_Parse(r.out);
	assert_non_null(json);
	cli_run_free(&r);
	return json;
}

static const char *text_at(const cJSON *json, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItem(json, key));
}

static void devices_and_doctor_answer_with_their_keys(void **state)
{
	cJSON *json = answer(RUN("devices", "--json")), *item;

	(void)state;
	item = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "devices"), 0);
	assert_string_equal(text_at(item, "device"), "cpu:0");
	assert_int_equal(cJSON_GetObjectItem(item, "threads")->valueint, tenon_parallel_workers());
	assert_true(cJSON_GetObjectItem(item, "memory")->valuedouble > 1e6);
#ifndef CONFIG_DEVICE_MORTISE
	item = cJSON_GetObjectItem(json, "absent");
	item = cJSON_GetArrayItem(item, cJSON_GetArraySize(item) - 1);
	assert_string_equal(text_at(item, "kind"), "mortise");
	assert_string_equal(text_at(item, "reason"), "not in this build");
#endif
	assert_true(cJSON_IsArray(cJSON_GetObjectItem(json, "nodes")));
	cJSON_Delete(json);

	json = answer(RUN("doctor", "--json"));
	item = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "checks"), 0);
	assert_string_equal(text_at(item, "name"), "version");
	assert_string_equal(text_at(item, "level"), "ok");
	assert_non_null(text_at(item, "finding"));
	cJSON_Delete(json);
}

static void a_module_tree_answers_with_what_its_modules_show(void **state)
{
	cJSON *json =
		answer(RUN("inspect", "--json", "tests/interop/data/tvm-0.18/opencl_multi/lib.so"));
	cJSON *root = cJSON_GetObjectItem(json, "root"), *cl;

	(void)state;
	assert_string_equal(text_at(json, "machine"), "x86-64");
	assert_string_equal(text_at(json, "generation"), "legacy");
	assert_int_equal(cJSON_GetObjectItem(json, "modules")->valueint, 2);
	assert_string_equal(text_at(root, "type"), "ffi.Module");
	assert_string_equal(text_at(root, "kind"), "library");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "functions")), 3);
	cl = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "imports"), 0);
	assert_string_equal(text_at(cl, "kind"), "opencl");
	assert_string_equal(text_at(cl, "format"), "cl");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(cl, "functions")), 4);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(cl, "launch")), 4);
	cJSON_Delete(json);
}

/* ---- run, on a module of one function */

static int add(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	DLTensor *out;

	(void)self;
	if (count != 2 || tenon_value_tensor(&args[1], &out))
		return tenon_error(-TENON_E_TYPE, "an integer and a tensor wanted");
	((float *)out->data)[0] = (float)args[0].as.integer;
	*ret = tenon_arg_int(args[0].as.integer + 1);
	return 0;
}

static int get_add(struct tenon_module *m, struct tenon_slice name, struct tenon_function **out)
{
	(void)m;
	*out = NULL;
	if (!tenon_slice_equal(name, tenon_slice_of("main")))
		return 0;
	return tenon_function_create(NULL, add, NULL, out);
}

static const struct tenon_module_ops ops = { .get_function = get_add };

static int load(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	struct tenon_module *m = calloc(1, sizeof(*m));

	(void)self;
	(void)args;
	(void)count;
	assert_non_null(m);
	tenon_module_init(m, &ops, tenon_slice_of("jsontest"), TENON_MODULE_RUNNABLE);
	*ret = tenon_arg_object(m);
	return 0;
}

static void a_run_answers_with_outputs_results_and_times(void **state)
{
	const char *parent = getenv("TMPDIR");
	cJSON *json, *item;
	char path[640];
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/json-XXXXXX.jsontest", parent ? parent : P_tmpdir);
	fd = mkstemps(path, 9);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(
		tenon_function_register_c("ffi.Module.load_from_file.jsontest", load, true), 0);
	json = answer(RUN("run", path, "--input", "3", "--output", "1xfloat32", "--expect",
			  "1xfloat32=3", "--expect", "4", "--repeat", "5", "--json"));
	remove(path);
	assert_string_equal(text_at(json, "file"), path);
	assert_string_equal(text_at(json, "function"), "main");
	assert_string_equal(text_at(json, "device"), "cpu:0");
	item = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "outputs"), 0);
	assert_int_equal(cJSON_GetObjectItem(item, "argument")->valueint, 1);
	assert_true(cJSON_GetArrayItem(cJSON_GetObjectItem(item, "values"), 0)->valuedouble == 3);
	assert_int_equal(cJSON_GetObjectItem(json, "returned")->valueint, 4);
	item = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "expected"), 1);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(item, "equal")));
	assert_true(cJSON_GetObjectItem(item, "largest_absolute")->valuedouble == 0);
	item = cJSON_GetObjectItem(json, "nanoseconds");
	assert_int_equal(cJSON_GetObjectItem(item, "calls")->valueint, 5);
	assert_true(cJSON_GetObjectItem(item, "min")->valuedouble <=
		    cJSON_GetObjectItem(item, "max")->valuedouble);
	cJSON_Delete(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_keep_all_their_bits),
		cmocka_unit_test(tensors_have_shape_dtype_and_values),
		cmocka_unit_test(a_large_tensor_is_cut_and_says_so),
		cmocka_unit_test(texts_are_always_valid),
		cmocka_unit_test(containers_and_objects_are_walked),
		cmocka_unit_test(devices_and_doctor_answer_with_their_keys),
		cmocka_unit_test(a_module_tree_answers_with_what_its_modules_show),
		cmocka_unit_test(a_run_answers_with_outputs_results_and_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif

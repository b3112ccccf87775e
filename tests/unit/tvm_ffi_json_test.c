/* SPDX-License-Identifier: MIT */
/* The drop-in's JSON: texts that are read and written, and graphs of values in JSON that are right and wrong. */
#include "dropin_types.h"

#include <math.h>
#include <tenon/array.h>

static int parse(const char *text, size_t size, struct tenon_value *out)
{
	struct tenon_slice bytes = { text, size };
	struct tenon_value string;
	int err;

	assert_int_equal(tenon_string_value(bytes, &string), 0);
	err = CALL("ffi.json.Parse", out, string);
	tenon_value_release(&string);
	return err;
}

static void texts_come_back_as_they_are_written(void **state)
{
	static const char *const rows[][2] = {
		{ "null", "null" },
		{ " \t\r\ntrue\n", "true" },
		{ "false", "false" },
		{ "-0", "0" },
		{ "-7", "-7" },
		{ "9223372036854775807", "9223372036854775807" },
		{ "NaN", "NaN" },
		{ "Infinity", "Infinity" },
		{ "-Infinity", "-Infinity" },
		{ "1.0", "1.0" },
		{ "-3.0", "-3.0" },
		{ "-0.0", "-0.0" },
		{ "0.5", "0.5" },
		{ "1E2", "100.0" },
		{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"" },
		{ "\"\\u0041\\u00Fe\\u20ac\\ud83d\\ude00\"",
		  "\"A\303\276\342\202\254\360\237\230\200\"" },
		{ "\"\\u0000\\u001f\\u007f\"", "\"\\u0000\\u001f\\u007f\"" },
		{ "\"\\ue000\"", "\"\356\200\200\"" },
		{ "[ ]", "[]" },
		{ "[ 1 , [2,\"a\"] ]", "[1,[2,\"a\"]]" },
		{ "{ }", "{}" },
		{ "{ \"a\" : { \"b\" : null } , \"c\" : true }",
		  "{\"a\":{\"b\":null},\"c\":true}" },
	};
	struct tenon_value v, text;
	struct tenon_slice written;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (parse(rows[i][0], strlen(rows[i][0]), &v))
			fail_msg("%s: %s", rows[i][0], tenon_error_message());
		assert_int_equal(CALL("ffi.json.Stringify", &text, v), 0);
		assert_int_equal(tenon_value_text(&text, &written), 0);
		if (written.size != strlen(rows[i][1]) ||
		    memcmp(written.data, rows[i][1], written.size))
			fail_msg("%s: %.*s", rows[i][0], (int)written.size, written.data);
		tenon_value_release(&text);
		assert_int_equal(CALL("ffi.json.Stringify", &text, v, tenon_arg_int(2)), 0);
		tenon_value_release(&text);
		tenon_value_release(&v);
	}
	assert_int_equal(parse("99999999999999999999", 20, &v), 0);
	assert_true(v.as.real == 99999999999999999999.0);
	assert_int_equal(parse("1e300", 5, &v), 0);
	assert_int_equal(CALL("ffi.json.Stringify", &text, v), 0);
	tenon_value_release(&text);
}

static void texts_that_are_no_json_are_refused(void **state)
{
	static const struct {
		const char *text;
		const char *message;
	} rows[] = {
		{ "\"\\u12", "Invalid \\uXXXX escape" },
		{ "\"\\u12/4\"", "Invalid \\uXXXX escape" },
		{ "\"\\u12g4\"", "Invalid \\uXXXX escape" },
		{ "\"\\u12:4\"", "Invalid \\uXXXX escape" },
		{ "\"\\u@234\"", "Invalid \\uXXXX escape" },
		{ "\"\\udc00\\udc00\"", "surrogate" },
		{ "\"\\ud800x\"", "surrogate" },
		{ "\"\\ud800\\u12\"", "Invalid \\uXXXX escape" },
		{ "\"\\ud800\\u0041\"", "surrogate" },
		{ "\"\\ud800\\ue000\"", "surrogate" },
		{ "\"\\", "Invalid \\escape" },
		{ "\"\\q\"", "Invalid \\escape" },
		{ "\"\n\"", "control character" },
		{ "\"a", "Unterminated string" },
		{ "tru", "Expecting value" },
		{ "+", "Expecting value" },
		{ "-", "Expecting value" },
		{ "1-2", "Expecting value" },
		{ "1.5.5", "Expecting value" },
		{ "1e999", "Expecting value" },
		{ "[1\n, 2", "line 2 column" },
		{ "[1}", "Expecting ',' delimiter" },
		{ "{\"a\": 1]", "Expecting ',' delimiter" },
		{ "{\"a\": 1, }", "property name" },
		{ "{\"a\": 1,", "property name" },
		{ "{\"a\" 1}", "Expecting ':' delimiter" },
		{ "{\"\\q\": 1}", "Invalid \\escape" },
		{ "{\"a\": nul}", "Expecting value" },
		{ "[", "Expecting value" },
		{ "1 2", "Extra data" },
		{ "[] \t]", "Extra data" },
	};
	struct tenon_value v;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!parse(rows[i].text, strlen(rows[i].text), &v))
			fail_msg("accepted: %s", rows[i].text);
		assert_error_has(rows[i].message);
	}
	/* NUL is no letter of anything */
	assert_int_not_equal(parse("\"\\\0\"", 4, &v), 0);
	tenon_error_clear();
	assert_int_not_equal(parse("1\0", 2, &v), 0);
	tenon_error_clear();
}

static int stringify(struct tenon_value v, struct tenon_value indent)
{
	struct tenon_value ret;
	int err = CALL("ffi.json.Stringify", &ret, v, indent);

	tenon_value_release(&ret);
	return err;
}

static void values_without_a_form_in_json_are_refused(void **state)
{
	struct tenon_value v, list, ret;

	(void)state;
	assert_int_not_equal(stringify(tenon_arg_none(), tenon_arg_int(-1)), 0);
	assert_error_has("indent of -1");
	assert_int_not_equal(stringify(tenon_arg_none(), tenon_arg_int(65)), 0);
	assert_error_has("indent of 65");
	assert_int_not_equal(stringify(tenon_arg_none(), tenon_arg_string("a")), 0);
	tenon_error_clear();
	assert_int_equal(stringify(tenon_arg_none(), tenon_arg_none()), 0);
	assert_int_not_equal(
		stringify(tenon_arg_dtype(tenon_dtype(TENON_DTYPE_INT, 8, 1)), tenon_arg_none()),
		0);
	assert_error_has("Unsupported type");
	assert_int_equal(call("ffi.Dict", &v, NULL, 0), 0);
	assert_int_not_equal(stringify(v, tenon_arg_none()), 0);
	assert_error_has("Unsupported type: `ffi.Dict`");
	assert_int_equal(CALL("ffi.List", &list, v, tenon_arg_int(1)), 0);
	assert_int_not_equal(stringify(list, tenon_arg_int(1)), 0);
	tenon_error_clear();
	tenon_value_release(&v);
	assert_int_equal(CALL("ffi.ListAppend", &ret, list, list), 0);
	assert_int_equal(CALL("ffi.ListErase", &ret, list, tenon_arg_int(0)), 0);
	assert_int_not_equal(stringify(list, tenon_arg_int(1)), 0);
	assert_error_has("Cycle");
	assert_int_equal(CALL("ffi.ListClear", &ret, list), 0);
	tenon_value_release(&list);
	assert_int_equal(CALL("ffi.Map", &v, tenon_arg_string("a"), tenon_arg_int(1),
			      tenon_arg_int(1), tenon_arg_int(2)),
			 0);
	assert_int_not_equal(stringify(v, tenon_arg_int(1)), 0);
	assert_error_has("key to be string");
	tenon_value_release(&v);
}

/* ---- graphs */

#define GRAPH(nodes)	 "{\"root_index\": 0, \"nodes\": [" nodes "]}"
#define NODE(type, data) GRAPH("{\"type\": \"" type "\", \"data\": " data "}")
#define STEP(fields)	 NODE("ffi.reflection.AccessStep", fields)

static void graphs_that_are_wrong_are_refused(void **state)
{
	static const char *const bad[] = {
		"[]",
		"{\"root_index\": \"a\", \"nodes\": []}",
		"{\"root_index\": 0}",
		"{\"root_index\": 0, \"nodes\": {}}",
		"{\"root_index\": 7, \"nodes\": [{\"type\": \"None\"}]}",
		GRAPH("{}"),
		GRAPH("{\"type\": 3}"),
		GRAPH("{\"type\": \"test.no.such.type\"}"),
		NODE("ffi.Array", "3"),
		NODE("ffi.Array", "[\"a\"]"),
		NODE("ffi.Array", "[7]"),
		NODE("ffi.Map", "null"),
		NODE("ffi.Map", "[7, 7]"),
		GRAPH("{\"type\": \"ffi.Map\", \"data\": [1, 7]}, {\"type\": \"None\"}"),
		GRAPH("{\"type\": \"ffi.Dict\", \"data\": [1, 1, 1, 7]}, {\"type\": \"None\"}"),
		NODE("ffi.Shape", "3"),
		NODE("ffi.String", "3"),
		NODE("ffi.String", "[]"),
		NODE("ffi.Bytes", "3"),
		NODE("ffi.Bytes", "\"AAA\""),
		NODE("ffi.Bytes", "\"A===\""),
		NODE("ffi.Bytes", "\"====\""),
		NODE("ffi.Bytes", "\"AA\\u0000A\""),
		NODE("ffi.Bytes", "\"AA A\""),
		NODE("int", "\"a\""),
		NODE("int", "0.5"),
		NODE("bool", "\"a\""),
		NODE("float", "\"a\""),
		NODE("DataType", "3"),
		NODE("DataType", "\"nonsense\""),
		NODE("Device", "3"),
		NODE("Device", "[1]"),
		NODE("Device", "[\"a\", 0]"),
		NODE("Device", "[1, \"a\"]"),
		NODE("ffi.BigInt", "3"),
		NODE("ffi.BigInt", "\"\""),
		NODE("ffi.BigInt", "\"-\""),
		NODE("ffi.BigInt", "\"1 2\""),
		NODE("ffi.Enum", "\"a\""),
		NODE("ffi.IntEnum", "1"),
		STEP("[]"),
		STEP("{\"kind\": \"a\", \"key\": 0}"),
		STEP("{\"kind\": 1, \"key\": 7}"),
		STEP("{\"kind\": 1}"),
		NODE("ffi.Tensor", "{}"),
	};
	struct tenon_value ret;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!CALL("ffi.FromJSONGraphString", &ret, tenon_arg_string(bad[i])))
			fail_msg("accepted: %s", bad[i]);
		assert_true(*tenon_error_message());
		tenon_error_clear();
	}
	assert_int_not_equal(CALL("ffi.FromJSONGraph", &ret, tenon_arg_int(1)), 0);
	assert_error_has("expected an object");
}

static void numbers_of_graphs_become_what_the_node_says(void **state)
{
	static const char *const rows[][2] = {
		{ NODE("int", "true"), "1" },
		{ NODE("int", "7"), "7" },
		{ NODE("bool", "7"), "True" },
		{ NODE("bool", "false"), "False" },
		{ NODE("float", "7"), "7" },
		{ NODE("float", "true"), "1" },
		{ NODE("float", "0.5"), "0.5" },
		{ NODE("DataType", "\"float16x4\""), "float16x4" },
		{ NODE("Device", "[1, 3]"), "cpu:3" },
		{ NODE("None", "7"), "None" },
		{ NODE("ffi.Shape", "[1, 2]"), "Shape(1, 2)" },
		{ NODE("ffi.Bytes", "\"AAE=\""), "b\"\\x00\\x01\"" },
		{ NODE("ffi.Bytes", "\"AA==\""), "b\"\\x00\"" },
		{ NODE("ffi.BigInt", "\"+18446744073709551616\""), "18446744073709551616" },
		{ NODE("ffi.BigInt", "\"-18446744073709551616\""), "-18446744073709551616" },
		{ NODE("ffi.BigInt", "\"-5\""), "-5" },
	};
	struct tenon_value v, text, again;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (CALL("ffi.FromJSONGraphString", &v, tenon_arg_string(rows[i][0])))
			fail_msg("%s: %s", rows[i][0], tenon_error_message());
		assert_shown(v, rows[i][1]);
		assert_int_equal(CALL("ffi.ToJSONGraphString", &text, v), 0);
		assert_int_equal(CALL("ffi.FromJSONGraphString", &again, text), 0);
		assert_int_equal(integer("ffi.RecursiveEq", v, again), 1);
		tenon_value_release(&again);
		tenon_value_release(&text);
		tenon_value_release(&v);
	}
}

static void a_graph_may_not_be_too_deep(void **state)
{
	struct tenon_value text, ret;
	struct tenon_slice slice;
	char *graph = NULL;
	size_t size;
	FILE *out = open_memstream(&graph, &size);
	int i;

	(void)state;
	assert_non_null(out);
	fputs("{\"root_index\": 0, \"nodes\": [", out);
	for (i = 1; i <= 2000; i++)
		fprintf(out, "{\"type\": \"ffi.Array\", \"data\": [%d]}, ", i);
	fputs("{\"type\": \"None\"}]}", out);
	assert_int_equal(fclose(out), 0);
	slice = (struct tenon_slice){ graph, size };
	assert_int_equal(tenon_string_value(slice, &text), 0);
	free(graph);
	assert_int_not_equal(CALL("ffi.FromJSONGraphString", &ret, text), 0);
	assert_error_has("nesting depth");
	tenon_value_release(&text);
}

static void what_has_no_graph_is_refused(void **state)
{
	struct tenon_value list, f, ret, dict;
	int32_t type;

	(void)state;
	assert_int_not_equal(CALL("ffi.ToJSONGraph", &ret, tenon_arg_pointer(&f)), 0);
	assert_error_has("Cannot serialize");
	assert_int_equal(call("ffi.List", &list, NULL, 0), 0);
	assert_int_equal(CALL("ffi.ListAppend", &ret, list, list), 0);
	assert_int_not_equal(CALL("ffi.ToJSONGraph", &ret, list), 0);
	assert_error_has("a List contains itself");
	assert_int_equal(CALL("ffi.ListClear", &ret, list), 0);
	tenon_value_release(&list);
	assert_int_equal(call("ffi.Dict", &dict, NULL, 0), 0);
	assert_int_equal(CALL("ffi.DictSetItem", &ret, dict, tenon_arg_int(1), dict), 0);
	assert_int_not_equal(CALL("ffi.ToJSONGraph", &ret, dict), 0);
	assert_error_has("a Dict contains itself");
	assert_int_equal(CALL("ffi.DictClear", &ret, dict), 0);
	tenon_value_release(&dict);
	type = holder_type("test.json.Holder", COMPARED_TREE, holder_create);
	list = holder_make(type, tenon_arg_int(1));
	holder_set(&((struct holder *)list.as.pointer)->inner, &list);
	assert_int_not_equal(CALL("ffi.ToJSONGraph", &ret, list), 0);
	assert_error_has("contains itself");
	holder_set(&((struct holder *)list.as.pointer)->inner, &(struct tenon_value){ 0 });
	tenon_value_release(&list);
	assert_int_equal(call("ffi.GetInvalidObject", &f, NULL, 0), 0);
	assert_int_not_equal(CALL("ffi.ToJSONGraph", &ret, f), 0);
	assert_error_has("does not support ToJSONGraph");
	tenon_value_release(&f);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(texts_come_back_as_they_are_written),
		cmocka_unit_test(texts_that_are_no_json_are_refused),
		cmocka_unit_test(values_without_a_form_in_json_are_refused),
		cmocka_unit_test(graphs_that_are_wrong_are_refused),
		cmocka_unit_test(numbers_of_graphs_become_what_the_node_says),
		cmocka_unit_test(a_graph_may_not_be_too_deep),
		cmocka_unit_test(what_has_no_graph_is_refused),
	};

	return cmocka_run_group_tests(cases, open_library, NULL);
}

/* SPDX-License-Identifier: MIT */
/* What the compatibility library adds as a drop-in for tvm-ffi; called as foreign code would, by name. */
#include "dropin_calls.h"

#include <tenon/array.h>

static struct tenon_value key_of(char *text, int i)
{
	sprintf(text, "key %d", i);
	return tenon_arg_string(text);
}

#define KEYS 1000

static void a_dict_keeps_a_thousand_keys_in_order_while_others_leave(void **state)
{
	struct tenon_value dict, ret, walk, n;
	char text[32];
	int i;

	(void)state;
	assert_int_equal(call("ffi.Dict", &dict, NULL, 0), 0);
	for (i = 0; i < KEYS; i++) {
		assert_int_equal(
			CALL("ffi.DictSetItem", &ret, dict, key_of(text, i), tenon_arg_int(i)), 0);
		assert_int_equal(
			CALL("ffi.DictSetItem", &ret, dict, tenon_arg_int(i), tenon_arg_int(-i)),
			0);
	}
	for (i = 0; i < KEYS; i++)
		if (i % 3)
			assert_int_equal(CALL("ffi.DictErase", &ret, dict, key_of(text, i)), 0);
	for (i = 0; i < KEYS; i++) {
		assert_int_equal(integer("ffi.DictCount", dict, key_of(text, i)), i % 3 == 0);
		assert_int_equal(integer("ffi.DictGetItem", dict, tenon_arg_int(i)), -i);
	}
	assert_int_equal(CALL("ffi.DictSize", &n, dict), 0);
	assert_int_equal(n.as.integer, KEYS + (KEYS + 2) / 3);
	/* the keys that are left, in the order in which they came */
	assert_int_equal(CALL("ffi.DictForwardIterFunctor", &walk, dict), 0);
	for (i = 0; i < KEYS; i++) {
		n = tenon_arg_int(1);
		if (i % 3 == 0) {
			assert_int_equal(tenon_function_call(walk.as.pointer, &n, 1, &ret), 0);
			assert_int_equal(ret.as.integer, i);
			n = tenon_arg_int(2);
			assert_int_equal(tenon_function_call(walk.as.pointer, &n, 1, &ret), 0);
			n = tenon_arg_int(1);
		}
		assert_int_equal(tenon_function_call(walk.as.pointer, &n, 1, &ret), 0);
		assert_int_equal(ret.as.integer, -i);
		n = tenon_arg_int(2);
		assert_int_equal(tenon_function_call(walk.as.pointer, &n, 1, &ret), 0);
		assert_int_equal(ret.as.integer, i < KEYS - 1);
	}
	tenon_value_release(&walk);
	assert_int_equal(CALL("ffi.DictClear", &ret, dict), 0);
	assert_int_equal(integer("ffi.DictCount", dict, tenon_arg_int(1)), 0);
	tenon_value_release(&dict);
}

static void strings_and_bytes_are_keys_by_their_bytes(void **state)
{
	struct tenon_slice bytes = { "eight or more", 13 };
	struct tenon_value map, owned, ret;

	(void)state;
	assert_int_equal(CALL("ffi.Map", &map, tenon_arg_string("eight or more"), tenon_arg_int(1),
			      tenon_arg_string("small"), tenon_arg_int(2), tenon_arg_bytes(&bytes),
			      tenon_arg_int(3)),
			 0);
	assert_int_equal(tenon_string_value(bytes, &owned), 0);
	assert_int_equal(integer("ffi.MapGetItem", map, owned), 1);
	tenon_value_release(&owned);
	assert_int_equal(integer("ffi.MapGetItem", map, tenon_arg_string("small")), 2);
	assert_int_equal(integer("ffi.MapGetItem", map, tenon_arg_bytes(&bytes)), 3);
	assert_int_not_equal(CALL("ffi.MapGetItem", &ret, map, tenon_arg_string("none")), 0);
	tenon_error_clear();
	tenon_value_release(&map);
}

static void a_list_is_edited_in_place(void **state)
{
	struct tenon_value list, ret;

	(void)state;
	assert_int_equal(
		CALL("ffi.List", &list, tenon_arg_int(1), tenon_arg_int(2), tenon_arg_int(3)), 0);
	assert_int_equal(CALL("ffi.ListAppend", &ret, list, tenon_arg_string("a longer string")),
			 0);
	assert_int_equal(CALL("ffi.ListInsert", &ret, list, tenon_arg_int(0), tenon_arg_float(0.5)),
			 0);
	assert_shown(list, "[0.5, 1, 2, 3, \"a longer string\"]");
	/* what replaces a part may be the list itself */
	assert_int_equal(
		CALL("ffi.ListReplaceSlice", &ret, list, tenon_arg_int(1), tenon_arg_int(5), list),
		0);
	assert_shown(list, "[0.5, 0.5, 1, 2, 3, \"a longer string\"]");
	assert_int_equal(CALL("ffi.ListEraseRange", &ret, list, tenon_arg_int(0), tenon_arg_int(5)),
			 0);
	assert_int_equal(CALL("ffi.ListPop", &ret, list, tenon_arg_int(0)), 0);
	tenon_value_release(&ret);
	assert_int_not_equal(CALL("ffi.ListGetItem", &ret, list, tenon_arg_int(0)), 0);
	tenon_error_clear();
	assert_int_not_equal(
		CALL("ffi.ListEraseRange", &ret, list, tenon_arg_int(0), tenon_arg_int(1)), 0);
	tenon_error_clear();
	assert_int_not_equal(CALL("ffi.ListGetItem", &ret, tenon_arg_int(1), tenon_arg_int(0)), 0);
	tenon_error_clear();
	tenon_value_release(&list);
}

static void integers_of_many_words_come_back_as_they_went(void **state)
{
	int (*from)(const struct tenon_slice *input, struct tenon_value *out);
	struct tenon_slice (*content)(const struct tenon_value *value);
	const int64_t wide[3] = { 0, 1, 0 }, narrow[3] = { -5, -1, -1 };
	struct tenon_slice bytes = { (const char *)wide, sizeof(wide) };
	struct tenon_value v, w;

	(void)state;
	*(void **)&from = dlsym(library, "TVMFFIBigIntFromByteArray");
	*(void **)&content = dlsym(library, "TVMFFIBigIntGetContentByteArray");
	assert_int_equal(from(&bytes, &v), 0);
	assert_shown(v, "18446744073709551616");
	/* words that only repeat the sign are dropped */
	assert_int_equal(content(&v).size, 16);
	assert_memory_equal(content(&v).data, wide, 16);
	assert_int_equal(from(&bytes, &w), 0);
	assert_int_equal(integer("ffi.RecursiveEq", v, w), 1);
	tenon_value_release(&w);
	assert_int_equal(integer("ffi.RecursiveLt", tenon_arg_int(INT64_MAX), v), 1);
	tenon_value_release(&v);
	bytes.data = (const char *)narrow;
	assert_int_equal(from(&bytes, &v), 0);
	assert_int_equal(v.type, TENON_TYPE_INT);
	assert_int_equal(v.as.integer, -5);
	bytes.size = 0;
	assert_int_equal(from(&bytes, &v), 0);
	assert_int_equal(v.type, TENON_TYPE_INT);
	assert_int_equal(v.as.integer, 0);
	bytes.size = 7;
	assert_int_not_equal(from(&bytes, &v), 0);
	tenon_error_clear();
}

static void values_are_compared_by_what_is_in_them(void **state)
{
	struct tenon_value a, b, c, ret;

	(void)state;
	assert_int_equal(
		CALL("ffi.Array", &a, tenon_arg_int(1), tenon_arg_string("text of a string")), 0);
	assert_int_equal(
		CALL("ffi.Array", &b, tenon_arg_int(1), tenon_arg_string("text of a string")), 0);
	assert_int_equal(CALL("ffi.Array", &c, tenon_arg_int(1), tenon_arg_string("text")), 0);
	assert_int_equal(integer("ffi.RecursiveEq", a, b), 1);
	assert_int_equal(integer("ffi.RecursiveEq", a, c), 0);
	assert_int_equal(integer("ffi.RecursiveLt", c, a), 1);
	assert_int_equal(integer("ffi.RecursiveGe", c, a), 0);
	tenon_value_release(&c);
	assert_int_equal(CALL("ffi.RecursiveHash", &ret, a), 0);
	assert_int_equal(CALL("ffi.RecursiveHash", &c, b), 0);
	assert_int_equal(ret.as.integer, c.as.integer);
	assert_int_not_equal(CALL("ffi.RecursiveLt", &ret, a, tenon_arg_int(1)), 0);
	tenon_error_clear();
	tenon_value_release(&a);
	tenon_value_release(&b);
}

static void a_list_in_itself_is_shown_and_copied(void **state)
{
	struct tenon_value list, copy, ret;
	struct tenon_array *items;

	(void)state;
	assert_int_equal(CALL("ffi.List", &list, tenon_arg_int(1)), 0);
	assert_int_equal(CALL("ffi.ListAppend", &ret, list, list), 0);
	assert_shown(list, "[1, ...]");
	assert_int_equal(CALL("ffi.DeepCopy", &copy, list), 0);
	items = copy.as.pointer;
	assert_ptr_not_equal(items, list.as.pointer);
	assert_ptr_equal(items->data[1].as.pointer, items);
	assert_int_equal(integer("ffi.RecursiveEq", list, copy), 1);
	/* break both cycles */
	assert_int_equal(CALL("ffi.ListClear", &ret, list), 0);
	assert_int_equal(CALL("ffi.ListClear", &ret, copy), 0);
	tenon_value_release(&list);
	tenon_value_release(&copy);
}

static void a_value_too_deep_is_an_error(void **state)
{
	struct tenon_value v, outer, ret;
	int i;

	(void)state;
	assert_int_equal(call("ffi.List", &v, NULL, 0), 0);
	for (i = 0; i < 1000000; i++) {
		assert_int_equal(CALL("ffi.List", &outer, v), 0);
		tenon_value_release(&v);
		v = outer;
	}
	assert_int_not_equal(CALL("ffi.ReprPrint", &ret, v), 0);
	tenon_error_clear();
	assert_int_not_equal(CALL("ffi.DeepCopy", &ret, v), 0);
	tenon_error_clear();
	assert_int_not_equal(CALL("ffi.RecursiveHash", &ret, v), 0);
	tenon_error_clear();
	tenon_value_release(&v);
}

static void structures_are_compared_and_the_first_difference_is_named(void **state)
{
	struct tenon_value a, b, paths, ret;

	(void)state;
	assert_int_equal(
		CALL("ffi.Array", &a, tenon_arg_int(1), tenon_arg_string("a longer string")), 0);
	assert_int_equal(
		CALL("ffi.Array", &b, tenon_arg_int(1), tenon_arg_string("another string")), 0);
	assert_int_equal(integer("ffi.StructuralEqual", a, a), 1);
	assert_int_equal(integer("ffi.StructuralEqual", a, b), 0);
	assert_int_equal(CALL("ffi.GetFirstStructuralMismatch", &paths, a, b, tenon_arg_bool(false),
			      tenon_arg_bool(false)),
			 0);
	assert_shown(paths, "(<root>[1], <root>[1])");
	tenon_value_release(&paths);
	assert_int_equal(CALL("ffi.StructuralHash", &ret, a), 0);
	assert_int_equal(CALL("ffi.StructuralHash", &paths, b), 0);
	assert_int_not_equal(ret.as.integer, paths.as.integer);
	/* objects whose type does not say how they are compared */
	assert_int_equal(call("ffi.GetInvalidObject", &ret, NULL, 0), 0);
	assert_int_not_equal(CALL("ffi.StructuralHash", &paths, ret), 0);
	tenon_error_clear();
	tenon_value_release(&ret);
	tenon_value_release(&a);
	tenon_value_release(&b);
}

static void a_graph_in_json_brings_back_what_was_written(void **state)
{
	struct tenon_slice bytes = { "\0\1\2\377", 4 };
	struct tenon_value inner, v, text, back;

	(void)state;
	assert_int_equal(CALL("ffi.Array", &inner, tenon_arg_float(0.5), tenon_arg_none()), 0);
	assert_int_equal(CALL("ffi.Dict", &v, tenon_arg_string("twice"), inner, tenon_arg_int(-7),
			      inner, tenon_arg_bytes(&bytes), tenon_arg_bool(true)),
			 0);
	assert_int_equal(CALL("ffi.ToJSONGraphString", &text, v, tenon_arg_none()), 0);
	assert_int_equal(CALL("ffi.FromJSONGraphString", &back, text), 0);
	assert_int_equal(integer("ffi.RecursiveEq", v, back), 1);
	tenon_value_release(&inner);
	assert_int_equal(CALL("ffi.DictGetItem", &inner, back, tenon_arg_int(-7)), 0);
	tenon_value_release(&v);
	assert_int_equal(CALL("ffi.DictGetItem", &v, back, tenon_arg_string("twice")), 0);
	/* what was one object is one again */
	assert_ptr_equal(v.as.pointer, inner.as.pointer);
	tenon_value_release(&v);
	tenon_value_release(&inner);
	tenon_value_release(&text);
	tenon_value_release(&back);
}

/* a graph of one node */
#define NODE(type, data)                                                                           \
	"{\"root_index\": 0, \"nodes\": [{\"type\": \"" type "\", \"data\": " data "}]}"

static void json_that_is_wrong_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"{",
		"[1,",
		"[1 2]",
		"{\"a\" 1}",
		"{1: 2}",
		"\"\\ud800\"",
		"\"\\u12\"",
		"\"open",
		"-",
		"1e",
		"nul",
		"{} x",
		"{}",
		"{\"root_index\": 0, \"nodes\": []}",
		"{\"root_index\": -1, \"nodes\": [{\"type\": \"None\"}]}",
		"{\"root_index\": 0, \"nodes\": [1]}",
		NODE("ffi.Array", "[0]"),
		NODE("ffi.Map", "[0]"),
		NODE("ffi.Shape", "[\"a\"]"),
		NODE("ffi.Bytes", "\"!!!!\""),
		NODE("ffi.BigInt", "\"12x\""),
		NODE("ffi.Function", "{}"),
		NODE("ffi.Enum", "3"),
		NODE("ffi.reflection.AccessStep", "{}"),
	};
	struct tenon_value ret;
	size_t i;
	char *deep;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!CALL("ffi.FromJSONGraphString", &ret, tenon_arg_string(bad[i])))
			fail_msg("accepted: %s", bad[i]);
		tenon_error_clear();
	}
	deep = malloc(100001);
	memset(deep, '[', 100000);
	deep[100000] = '\0';
	assert_int_not_equal(CALL("ffi.json.Parse", &ret, tenon_arg_string(deep)), 0);
	tenon_error_clear();
	free(deep);
}

struct point {
	struct tenon_object object;
	int64_t x;
};

/* Define a type as Python's dataclasses do. */
static int32_t define_point(void)
{
	struct type_field field = { .size = 8, .alignment = 8 };
	struct tenon_value getter;
	int32_t type;

	assert_int_equal(tenon_type_register("test.dropin.Point", TENON_TYPE_OBJECT, &type), 0);
	field.name = tenon_slice_of("x");
	field.static_type = TENON_TYPE_INT;
	field.offset = offsetof(struct point, x);
	assert_int_equal(CALL("ffi.MakeFieldGetter", &getter, tenon_arg_int(TENON_TYPE_INT)), 0);
	*(void **)&field.getter = (void *)(intptr_t)getter.as.integer;
	assert_int_equal(abi_ffi_type_add_field(type, &field), 0);
	return type;
}

static void a_type_of_python_makes_objects_and_their_text(void **state)
{
	int32_t type = define_point();
	struct tenon_slice name = tenon_slice_of("__ffi_new__");
	const struct ffi_column *column;
	struct tenon_value ret;
	struct point *p;

	(void)state;
	assert_int_equal(CALL("ffi._PyClassRegisterTypeAttrColumns", &ret, tenon_arg_int(type),
			      tenon_arg_int(sizeof(struct point))),
			 0);
	column = abi_ffi_type_column(&name);
	assert_true(type < column->size);
	assert_int_equal(tenon_function_call(column->data[type].as.pointer, NULL, 0, &ret), 0);
	p = ret.as.pointer;
	assert_int_equal(p->object.type, type);
	p->x = 7;
	assert_shown(ret, "test.dropin.Point(x=7)");
	tenon_value_release(&ret);
	assert_int_not_equal(
		CALL("ffi.MakeFieldGetter", &ret, tenon_arg_int(TENON_TYPE_RVALUE_REF)), 0);
	tenon_error_clear();
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(a_dict_keeps_a_thousand_keys_in_order_while_others_leave),
		cmocka_unit_test(strings_and_bytes_are_keys_by_their_bytes),
		cmocka_unit_test(a_list_is_edited_in_place),
		cmocka_unit_test(integers_of_many_words_come_back_as_they_went),
		cmocka_unit_test(values_are_compared_by_what_is_in_them),
		cmocka_unit_test(a_list_in_itself_is_shown_and_copied),
		cmocka_unit_test(a_value_too_deep_is_an_error),
		cmocka_unit_test(structures_are_compared_and_the_first_difference_is_named),
		cmocka_unit_test(a_graph_in_json_brings_back_what_was_written),
		cmocka_unit_test(json_that_is_wrong_is_refused),
		cmocka_unit_test(a_type_of_python_makes_objects_and_their_text),
	};

	return cmocka_run_group_tests(cases, open_library, NULL);
}

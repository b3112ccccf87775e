/* SPDX-License-Identifier: MIT */
/* The drop-in's values: as text, in order, copied, converted, integers of any size, keys of maps, and paths. */
#include "dropin_types.h"

#include <math.h>
#include <tenon/array.h>
#include <tenon/tensor.h>

static struct tenon_value of_json(const char *text)
{
	struct tenon_value v;

	assert_int_equal(CALL("ffi.json.Parse", &v, tenon_arg_string(text)), 0);
	return v;
}

/* ---- as text */

static void strings_are_shown_with_escapes(void **state)
{
	static const char *const rows[][2] = {
		{ "\n\t\r\\\"", "\"\\n\\t\\r\\\\\\\"\"" },
		{ "a\001\177", "\"a\\x01\\x7f\"" },
		{ "\303\244", "\"\\u00e4\"" },
		{ "\342\202\254", "\"\\u20ac\"" },
		{ "\360\237\230\200", "\"\\U0001f600\"" },
		{ "\303", "\"\\xc3\"" },
		{ "\303a", "\"\\xc3a\"" },
		{ "\370\200", "\"\\xf8\\x80\"" },
	};
	struct tenon_slice bytes = { "a\"\\\0\377", 5 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_shown(tenon_arg_string(rows[i][0]), rows[i][1]);
	assert_shown(tenon_arg_bytes(&bytes), "b\"a\\x22\\x5c\\x00\\xff\"");
}

static void plain_values_are_shown(void **state)
{
	struct tenon_value v, ret;
	const int64_t shape[] = { 2, 3 };
	struct tenon_tensor *t;

	(void)state;
	assert_shown(tenon_arg_float((double)NAN), "nan");
	assert_shown(tenon_arg_float(-(double)NAN), "-nan");
	assert_shown(tenon_arg_bool(true), "True");
	assert_shown(tenon_arg_bool(false), "False");
	assert_shown(tenon_arg_device((DLDevice){ kDLCPU, 1 }), "cpu:1");
	assert_shown(tenon_arg_device((DLDevice){ (DLDeviceType)0, 1 }), "unknown:1");
	assert_shown(tenon_arg_device((DLDevice){ (DLDeviceType)99, 1 }), "unknown:1");
	assert_int_equal(CALL("ffi.ReprPrint", &ret,
			      tenon_arg_dtype((DLDataType){ .code = 99, .bits = 0, .lanes = 0 })),
			 0);
	tenon_value_release(&ret);
	assert_int_equal(call("ffi.GetKwargsObject", &v, NULL, 0), 0);
	assert_shown(v, "<KWARGS>");
	tenon_value_release(&v);
	assert_int_equal(call("ffi.GetInvalidObject", &v, NULL, 0), 0);
	assert_shown(v, "<MISSING>");
	tenon_value_release(&v);
	assert_int_equal(tenon_tensor_create(shape, 2, tenon_dtype(TENON_DTYPE_INT, 8, 1), &t), 0);
	assert_shown(tenon_arg_object(t), "int8[2, 3]@cpu:0");
	tenon_object_unref(t);
	v = of_json("[1]");
	assert_int_equal(setenv("TVM_FFI_REPR_WITH_ADDR", "1", 1), 0);
	assert_int_equal(CALL("ffi.ReprPrint", &ret, v), 0);
	assert_non_null(memmem(((struct tenon_string *)ret.as.pointer)->data,
			       ((struct tenon_string *)ret.as.pointer)->size, "@0x", 3));
	tenon_value_release(&ret);
	assert_int_equal(setenv("TVM_FFI_REPR_WITH_ADDR", "0", 1), 0);
	assert_shown(v, "(1,)");
	assert_int_equal(unsetenv("TVM_FFI_REPR_WITH_ADDR"), 0);
	tenon_value_release(&v);
}

/* ---- in order */

static struct tenon_value array_of(struct tenon_value a)
{
	struct tenon_value v;

	assert_int_equal(CALL("ffi.Array", &v, a), 0);
	return v;
}

#define NO_ORDER 7

static void orders_are(struct tenon_value a, struct tenon_value b, int order)
{
	static const struct {
		const char *function;
		bool less, equal, greater;
	} rows[] = { { "ffi.RecursiveLt", true, false, false },
		     { "ffi.RecursiveLe", true, true, false },
		     { "ffi.RecursiveGt", false, false, true },
		     { "ffi.RecursiveGe", false, true, true } };
	struct tenon_value ret, h[2];
	size_t i;

	assert_int_equal(integer("ffi.RecursiveEq", a, b), order == 0);
	if (!order) {
		assert_int_equal(CALL("ffi.RecursiveHash", &h[0], a), 0);
		assert_int_equal(CALL("ffi.RecursiveHash", &h[1], b), 0);
		assert_int_equal(h[0].as.integer, h[1].as.integer);
	}
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (order == NO_ORDER) {
			assert_int_not_equal(CALL(rows[i].function, &ret, a, b), 0);
			assert_true(*tenon_error_message());
			tenon_error_clear();
			continue;
		}
		assert_int_equal(integer(rows[i].function, a, b), order < 0   ? rows[i].less
								  : order > 0 ? rows[i].greater
									      : rows[i].equal);
	}
}

static void plain_values_have_an_order(void **state)
{
	const struct tenon_value f32 = tenon_arg_dtype(tenon_dtype(TENON_DTYPE_FLOAT, 32, 1)),
				 i32 = tenon_arg_dtype(tenon_dtype(TENON_DTYPE_INT, 32, 1)),
				 f16 = tenon_arg_dtype(tenon_dtype(TENON_DTYPE_FLOAT, 16, 1)),
				 f32x2 = tenon_arg_dtype(tenon_dtype(TENON_DTYPE_FLOAT, 32, 2)),
				 cpu = tenon_arg_device((DLDevice){ kDLCPU, 0 }),
				 cpu1 = tenon_arg_device((DLDevice){ kDLCPU, 1 }),
				 cuda = tenon_arg_device((DLDevice){ kDLCUDA, 0 }),
				 nan = tenon_arg_float((double)NAN), none = tenon_arg_none();

	(void)state;
	orders_are(none, none, 0);
	orders_are(none, tenon_arg_int(0), -1);
	orders_are(tenon_arg_int(0), none, 1);
	orders_are(tenon_arg_bool(false), tenon_arg_bool(true), -1);
	orders_are(tenon_arg_bool(true), tenon_arg_bool(true), 0);
	orders_are(tenon_arg_float(0.5), tenon_arg_float(-0.5), 1);
	orders_are(tenon_arg_float(0.0), tenon_arg_float(-0.0), 0);
	orders_are(nan, tenon_arg_float(0.5), NO_ORDER);
	orders_are(tenon_arg_float(0.5), nan, NO_ORDER);
	assert_int_equal(integer("ffi.RecursiveEq", nan, nan), 1);
	orders_are(f32, f32, 0);
	orders_are(i32, f32, -1);
	orders_are(f16, f32, -1);
	orders_are(f32x2, f32, 1);
	orders_are(cpu, cpu, 0);
	orders_are(cpu, cuda, -1);
	orders_are(cpu1, cpu, 1);
	orders_are(tenon_arg_pointer(NULL), tenon_arg_pointer(&state), NO_ORDER);
	orders_are(tenon_arg_pointer(&state), tenon_arg_pointer(&state), 0);
	orders_are(tenon_arg_string(""), tenon_arg_string(""), 0);
	orders_are(tenon_arg_string("a"), tenon_arg_string("ab"), -1);
	orders_are(tenon_arg_string("b"), tenon_arg_string("ab"), 1);
	orders_are(tenon_arg_int(1), tenon_arg_string("a"), NO_ORDER);
}

static void containers_have_an_order_where_their_items_have(void **state)
{
	static const struct {
		const char *a, *b;
		int order;
	} rows[] = {
		{ "[]", "[]", 0 },
		{ "[1]", "[1, 2]", -1 },
		{ "[1, 3]", "[1, 2]", 1 },
		{ "[1, \"a\"]", "[1, 2]", NO_ORDER },
		{ "{}", "{}", 0 },
		{ "{\"a\": 1}", "{\"a\": 1}", 0 },
		{ "{\"a\": 1}", "{\"a\": 2}", NO_ORDER },
		{ "{\"a\": 1}", "{\"b\": 1}", NO_ORDER },
		{ "{\"a\": 1}", "{}", NO_ORDER },
		{ "{\"a\": [1, 2], \"b\": {\"c\": 1}}", "{\"b\": {\"c\": 1}, \"a\": [1, 2]}", 0 },
	};
	struct tenon_value a, b, ret;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		a = of_json(rows[i].a);
		b = of_json(rows[i].b);
		orders_are(a, b, rows[i].order);
		tenon_value_release(&a);
		tenon_value_release(&b);
	}
	/* lists that contain themselves are equal, and have no order */
	assert_int_equal(call("ffi.List", &a, NULL, 0), 0);
	assert_int_equal(call("ffi.List", &b, NULL, 0), 0);
	assert_int_equal(CALL("ffi.ListAppend", &ret, a, a), 0);
	assert_int_equal(CALL("ffi.ListAppend", &ret, b, b), 0);
	assert_int_equal(integer("ffi.RecursiveEq", a, b), 1);
	assert_int_not_equal(CALL("ffi.RecursiveLt", &ret, a, b), 0);
	assert_error_has("cyclic");
	assert_int_equal(CALL("ffi.RecursiveHash", &ret, a), 0);
	assert_int_equal(CALL("ffi.ListClear", &ret, a), 0);
	assert_int_equal(CALL("ffi.ListClear", &ret, b), 0);
	tenon_value_release(&a);
	tenon_value_release(&b);
	assert_int_equal(CALL("ffi.Shape", &a, tenon_arg_int(1), tenon_arg_int(2)), 0);
	assert_int_equal(CALL("ffi.Shape", &b, tenon_arg_int(1), tenon_arg_int(3)), 0);
	orders_are(a, b, -1);
	orders_are(b, a, 1);
	tenon_value_release(&b);
	assert_int_equal(CALL("ffi.Shape", &b, tenon_arg_int(1)), 0);
	orders_are(a, b, 1);
	orders_are(b, a, -1);
	tenon_value_release(&b);
	assert_int_equal(CALL("ffi.Shape", &b, tenon_arg_int(1), tenon_arg_int(2)), 0);
	orders_are(a, b, 0);
	tenon_value_release(&a);
	tenon_value_release(&b);
}

/* ---- integers of any size */

static struct tenon_value big(const char *digits)
{
	struct tenon_value v;
	char json[256];

	snprintf(json, sizeof(json),
		 "{\"root_index\": 0, \"nodes\": [{\"type\": \"ffi.BigInt\", \"data\": \"%s\"}]}",
		 digits);
	assert_int_equal(CALL("ffi.FromJSONGraphString", &v, tenon_arg_string(json)), 0);
	return v;
}

static void integers_of_any_size_have_an_order(void **state)
{
	/* rising */
	static const char *const digits[] = {
		"-340282366920938463463374607431768211457",
		"-18446744073709551617",
		"-18446744073709551616",
		"-9223372036854775809",
		"-5",
		"0",
		"5",
		"9223372036854775808",
		"18446744073709551616",
		"18446744073709551617",
		"340282366920938463463374607431768211457",
	};
	struct tenon_value v[11], w, map;
	int i, k;

	(void)state;
	for (i = 0; i < 11; i++) {
		v[i] = big(digits[i]);
		assert_shown(v[i], digits[i]);
	}
	for (i = 0; i < 11; i++)
		for (k = 0; k < 11; k++)
			orders_are(v[i], v[k], (i > k) - (i < k));
	for (i = 0; i < 11; i++) {
		w = big(digits[i]);
		orders_are(v[i], w, 0);
		assert_int_equal(integer("ffi.StructuralEqual", v[i], w), 1);
		assert_int_equal(CALL("ffi.Map", &map, v[i], tenon_arg_int(7)), 0);
		assert_int_equal(integer("ffi.MapGetItem", map, w), 7);
		assert_int_equal(integer("ffi.MapCount", map, v[10 - i]), i == 5);
		tenon_value_release(&map);
		tenon_value_release(&w);
		assert_int_equal(CALL("ffi.DeepCopy", &w, v[i]), 0);
		assert_int_equal(w.as.bits, v[i].as.bits);
		tenon_value_release(&w);
		assert_int_equal(CALL("ffi.StructuralHash", &w, v[i]), 0);
	}
	for (i = 0; i < 11; i++)
		tenon_value_release(&v[i]);
}

static void functions_of_integers_take_integers(void **state)
{
	static const char *const names[] = { "__ffi_eq__", "__ffi_compare__", "__ffi_hash__",
					     "__data_to_json__", "__data_from_json__" };
	struct tenon_value b = big("18446744073709551616"), ret, args[2];
	struct tenon_function *f;
	struct tenon_slice name;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		name = s(names[i]);
		f = abi_ffi_type_column(&name)->data[b.type].as.pointer;
		ret = tenon_arg_none();
		assert_int_not_equal(tenon_function_call(f, NULL, 0, &ret), 0);
		tenon_error_clear();
		args[0] = args[1] = tenon_arg_pointer(NULL);
		assert_int_not_equal(tenon_function_call(f, args, 2, &ret), 0);
		tenon_error_clear();
		args[0] = b;
		if (i < 2) {
			assert_int_not_equal(tenon_function_call(f, args, 2, &ret), 0);
			tenon_error_clear();
		}
		args[0] = i == 4 ? tenon_arg_string("7") : b;
		args[1] = tenon_arg_int(5);
		assert_int_equal(tenon_function_call(f, args, i < 2 ? 2 : 1, &ret), 0);
		tenon_value_release(&ret);
	}
	tenon_value_release(&b);
}

/* ---- copies, where a value refers back to what is being copied */

static void a_copy_refers_back_to_itself(void **state)
{
	int32_t type = holder_type("test.values.Holder", COMPARED_TREE, holder_create);
	static const char *const makers[] = { "ffi.List", "ffi.Dict" };
	struct tenon_value inner, outer, copy, item, ret;
	int kind;

	(void)state;
	type_add_class(type);
	/* an array that holds what holds the array: a list, a dict as a key and a value, or an object */
	for (kind = 0; kind < 3; kind++) {
		if (kind < 2)
			assert_int_equal(call(makers[kind], &inner, NULL, 0), 0);
		else
			inner = holder_make(type, tenon_arg_int(1));
		outer = array_of(inner);
		if (kind == 0) {
			assert_int_equal(CALL("ffi.ListAppend", &ret, inner, tenon_arg_int(7)), 0);
			assert_int_equal(CALL("ffi.ListAppend", &ret, inner, outer), 0);
		} else if (kind == 1) {
			assert_int_equal(
				CALL("ffi.DictSetItem", &ret, inner, outer, tenon_arg_int(7)), 0);
			assert_int_equal(
				CALL("ffi.DictSetItem", &ret, inner, tenon_arg_int(7), outer), 0);
		} else {
			holder_set(&((struct holder *)inner.as.pointer)->inner, &outer);
		}
		assert_int_equal(CALL("ffi.DeepCopy", &copy, outer), 0);
		item = ((struct tenon_array *)copy.as.pointer)->data[0];
		assert_ptr_not_equal(item.as.pointer, inner.as.pointer);
		if (kind == 0) {
			assert_ptr_equal(
				((struct tenon_array *)item.as.pointer)->data[1].as.pointer,
				copy.as.pointer);
			assert_int_equal(CALL("ffi.ListClear", &ret, item), 0);
			assert_int_equal(CALL("ffi.ListClear", &ret, inner), 0);
		} else if (kind == 1) {
			assert_int_equal(integer("ffi.DictGetItem", item, copy), 7);
			assert_int_equal(CALL("ffi.DictClear", &ret, item), 0);
			assert_int_equal(CALL("ffi.DictClear", &ret, inner), 0);
		} else {
			assert_ptr_equal(holder_inner(&item).as.pointer, copy.as.pointer);
			holder_set(&((struct holder *)item.as.pointer)->inner,
				   &(struct tenon_value){ 0 });
			holder_set(&((struct holder *)inner.as.pointer)->inner,
				   &(struct tenon_value){ 0 });
		}
		tenon_value_release(&copy);
		tenon_value_release(&outer);
		tenon_value_release(&inner);
	}
}

static void what_cannot_change_is_not_copied(void **state)
{
	struct tenon_slice bytes = { "eight or more", 13 };
	struct tenon_value shape, list, outer, copy, *items;
	int i;

	(void)state;
	assert_int_equal(CALL("ffi.Shape", &shape, tenon_arg_int(1)), 0);
	assert_int_equal(call("ffi.List", &list, NULL, 0), 0);
	assert_int_equal(CALL("ffi.Array", &outer, tenon_arg_string("a text of many letters"),
			      tenon_arg_bytes(&bytes), shape, list, list),
			 0);
	assert_int_equal(CALL("ffi.DeepCopy", &copy, outer), 0);
	items = ((struct tenon_array *)copy.as.pointer)->data;
	for (i = 0; i < 3; i++)
		assert_ptr_equal(items[i].as.pointer,
				 ((struct tenon_array *)outer.as.pointer)->data[i].as.pointer);
	/* what occurs twice is copied once */
	assert_ptr_not_equal(items[3].as.pointer, list.as.pointer);
	assert_ptr_equal(items[3].as.pointer, items[4].as.pointer);
	tenon_value_release(&copy);
	tenon_value_release(&outer);
	tenon_value_release(&list);
	tenon_value_release(&shape);
}

/* ---- keys of maps by functions of their types */

static int64_t key_result;
static bool key_fails, key_is_text;

static int key_call(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	struct tenon_value text = tenon_arg_string("a text of many letters");

	(void)self;
	(void)args;
	(void)count;
	if (key_fails)
		return tenon_error(-TENON_E_VALUE, "said by a key");
	if (key_is_text)
		return tenon_value_own(&text, ret);
	*ret = tenon_arg_int(key_result);
	return 0;
}

static void keys_are_found_by_functions_of_their_type(void **state)
{
	int32_t type = holder_type("test.values.Key", COMPARED_TREE, holder_create),
		strange = holder_type("test.values.StrangeKey", COMPARED_TREE, holder_create);
	struct tenon_value a, b, map;

	(void)state;
	type_set_function(type, "__any_hash__", NULL, key_call);
	type_set_function(type, "__any_equal__", NULL, key_call);
	type_set_attribute(strange, "__any_hash__", tenon_arg_int(1));
	type_set_attribute(strange, "__any_equal__", tenon_arg_int(1));
	a = holder_make(type, tenon_arg_int(1));
	b = holder_make(type, tenon_arg_int(2));
	key_result = 1;
	assert_int_equal(CALL("ffi.Map", &map, a, tenon_arg_int(7)), 0);
	assert_int_equal(integer("ffi.MapCount", map, b), 1);
	key_result = 0;
	assert_int_equal(integer("ffi.MapCount", map, b), 0);
	/* what fails, or gives no number, is no key that is there */
	key_result = 1;
	key_fails = true;
	assert_int_equal(integer("ffi.MapCount", map, b), 0);
	key_fails = false;
	key_is_text = true;
	assert_int_equal(integer("ffi.MapCount", map, b), 0);
	key_is_text = false;
	tenon_value_release(&a);
	tenon_value_release(&b);
	tenon_value_release(&map);
	a = holder_make(strange, tenon_arg_int(1));
	b = holder_make(strange, tenon_arg_int(1));
	assert_int_equal(CALL("ffi.Map", &map, a, tenon_arg_int(7)), 0);
	assert_int_equal(integer("ffi.MapCount", map, a), 1);
	assert_int_equal(integer("ffi.MapCount", map, b), 0);
	tenon_value_release(&a);
	tenon_value_release(&b);
	tenon_value_release(&map);
}

/* ---- where devices, and objects of a visit, are in a value */

static void the_first_device_is_found_within_containers(void **state)
{
	const int64_t shape[] = { 1 };
	struct tenon_value v, outer, ret;
	struct tenon_tensor *t;
	int i;

	(void)state;
	assert_int_equal(tenon_tensor_create(shape, 1, tenon_dtype(TENON_DTYPE_INT, 8, 1), &t), 0);
	t->dl.device = (DLDevice){ kDLCUDA, 3 };
	assert_int_equal(CALL("ffi.Map", &v, tenon_arg_string("a"), tenon_arg_int(1),
			      tenon_arg_string("b"), tenon_arg_object(t)),
			 0);
	outer = array_of(v);
	assert_int_equal(CALL("ffi.ContainerFindFirstNonCPUDevice", &ret, outer), 0);
	assert_int_equal(ret.as.device.device_id, 3);
	t->dl.device = (DLDevice){ kDLCPU, 0 };
	assert_int_equal(CALL("ffi.ContainerFindFirstNonCPUDevice", &ret, outer), 0);
	assert_int_equal(ret.as.device.device_type, kDLCPU);
	tenon_value_release(&outer);
	for (i = 0; i < 2000; i++) {
		outer = array_of(v);
		tenon_value_release(&v);
		v = outer;
	}
	assert_int_equal(CALL("ffi.ContainerFindFirstNonCPUDevice", &ret, v), 0);
	assert_int_equal(ret.as.device.device_type, kDLCPU);
	tenon_value_release(&v);
	tenon_object_unref(t);
}

/* The paths to what was visited; the last value is the innermost. */
static void assert_paths(struct tenon_value root, const struct tenon_value *visited, int32_t count,
			 bool prefix, const char *shown)
{
	struct tenon_value list, context, ret;

	assert_int_equal(call("ffi.List", &list, visited, count), 0);
	assert_int_equal(CALL("ffi.MakeObjectFromPackedArgs", &context,
			      tenon_arg_string("ffi.VisitErrorContext"),
			      tenon_arg_string("reverse_visit_pattern"), list,
			      tenon_arg_string("prev_error_context"), tenon_arg_none()),
			 0);
	assert_int_equal(CALL("ffi.VisitErrorContext.FindAccessPaths", &ret, root, context,
			      tenon_arg_bool(prefix)),
			 0);
	assert_shown(ret, shown);
	tenon_value_release(&ret);
	tenon_value_release(&context);
	tenon_value_release(&list);
}

static void what_was_visited_has_paths(void **state)
{
	int32_t type = holder_type("test.values.Visited", COMPARED_TREE, holder_create);
	struct tenon_value leaf = holder_make(type, tenon_arg_int(1)), other, list, map, root, v[4];

	(void)state;
	other = holder_make(type, tenon_arg_int(2));
	assert_int_equal(CALL("ffi.List", &list, tenon_arg_int(1), leaf, other), 0);
	assert_int_equal(CALL("ffi.Map", &map, tenon_arg_none(), leaf, tenon_arg_string("k"), list),
			 0);
	root = holder_make(type, map);
	v[0] = leaf;
	v[1] = root;
	assert_paths(root, v, 2, false, "(<root>.inner[\"k\"][1],)");
	v[0] = v[1] = leaf;
	v[2] = tenon_arg_int(1);
	v[3] = root;
	assert_paths(root, v, 4, false, "(<root>.inner[\"k\"][1],)");
	assert_paths(root, v, 1, false, "(<root>.inner[\"k\"][1],)");
	assert_paths(root, &root, 1, false, "(<root>,)");
	/* what is not there: as in tvm-ffi, all paths below the part of it that is */
	v[0] = other;
	v[1] = leaf;
	v[2] = root;
	assert_paths(root, v, 3, false, "()");
	assert_paths(root, v, 3, true, "(<root>.inner[\"k\"][1], <root>.inner[\"k\"][2])");
	tenon_value_release(&root);
	tenon_value_release(&map);
	tenon_value_release(&list);
	tenon_value_release(&other);
	tenon_value_release(&leaf);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(strings_are_shown_with_escapes),
		cmocka_unit_test(plain_values_are_shown),
		cmocka_unit_test(plain_values_have_an_order),
		cmocka_unit_test(containers_have_an_order_where_their_items_have),
		cmocka_unit_test(integers_of_any_size_have_an_order),
		cmocka_unit_test(functions_of_integers_take_integers),
		cmocka_unit_test(a_copy_refers_back_to_itself),
		cmocka_unit_test(what_cannot_change_is_not_copied),
		cmocka_unit_test(keys_are_found_by_functions_of_their_type),
		cmocka_unit_test(the_first_device_is_found_within_containers),
		cmocka_unit_test(what_was_visited_has_paths),
	};

	return cmocka_run_group_tests(cases, open_library, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Structural equality and hash: variables, nodes of graphs, what is unique, tensors, and the first difference. */
#include "dropin_types.h"

#include <tenon/array.h>
#include <tenon/tensor.h>

/* A variable, and what binds one: "other" is the variable, "inner" what may use it */
static int32_t variable, binds_pattern, binds_simple, node, unique, constant;

static int add_types(void **state)
{
	if (open_library(state))
		return -1;
	variable = holder_type("test.structural.Variable", COMPARED_VARIABLE, holder_create);
	type_add_class(variable);
	binds_pattern = type_add("test.structural.Pattern", COMPARED_TREE, holder_create);
	binds_simple = type_add("test.structural.Simple", COMPARED_TREE, holder_create);
	type_add_field(binds_pattern, "other", offsetof(struct holder, other),
		       FIELD_HAS_DEFAULT | FIELD_DEFINES_PATTERN, holder_get, holder_set);
	type_add_field(binds_simple, "other", offsetof(struct holder, other),
		       FIELD_HAS_DEFAULT | FIELD_DEFINES_SIMPLE, holder_get, holder_set);
	type_add_field(binds_pattern, "inner", offsetof(struct holder, inner), 0, holder_get,
		       holder_set);
	type_add_field(binds_simple, "inner", offsetof(struct holder, inner), 0, holder_get,
		       holder_set);
	type_add_class(binds_pattern);
	type_add_class(binds_simple);
	node = holder_type("test.structural.Node", COMPARED_GRAPH, holder_create);
	type_add_class(node);
	unique = holder_type("test.structural.Unique", COMPARED_UNIQUE, holder_create);
	type_add_class(unique);
	constant = holder_type("test.structural.Constant", COMPARED_CONST_TREE, holder_create);
	type_add_class(constant);
	return 0;
}

/* "other" = v in "inner" = use; both are taken over */
static struct tenon_value bind_in(int32_t type, struct tenon_value v, struct tenon_value use)
{
	struct tenon_value made;

	holder_next_type = type;
	assert_int_equal(CALL("ffi.MakeObjectFromPackedArgs", &made, tenon_arg_int(type),
			      tenon_arg_string("other"), v, tenon_arg_string("inner"), use),
			 0);
	tenon_value_release(&v);
	tenon_value_release(&use);
	return made;
}

static struct tenon_value share(struct tenon_value v)
{
	tenon_object_ref(v.as.pointer);
	return v;
}

static struct tenon_value array_of(struct tenon_value a, struct tenon_value b)
{
	struct tenon_value v;

	assert_int_equal(CALL("ffi.Array", &v, a, b), 0);
	tenon_value_release(&a);
	tenon_value_release(&b);
	return v;
}

static int64_t hash_of(struct tenon_value v, bool map_variables)
{
	struct tenon_value ret;

	assert_int_equal(CALL("ffi.StructuralHash", &ret, v, tenon_arg_bool(map_variables)), 0);
	return ret.as.integer;
}

/* Compare, hash, visit, copy in a mutation; both values are taken over. */
static void are_equal(struct tenon_value a, struct tenon_value b, bool equal, bool map_variables)
{
	struct tenon_value ret, none;

	assert_int_equal(CALL("ffi.StructuralEqual", &ret, a, b, tenon_arg_bool(map_variables)), 0);
	assert_int_equal(ret.as.integer, equal);
	assert_int_equal(
		CALL("ffi.GetFirstStructuralMismatch", &ret, a, b, tenon_arg_bool(map_variables)),
		0);
	assert_int_equal(ret.type == TENON_TYPE_NONE, equal);
	tenon_value_release(&ret);
	if (equal)
		assert_int_equal(hash_of(a, map_variables), hash_of(b, map_variables));
	assert_int_equal(call("ffi.Array", &none, NULL, 0), 0);
	assert_int_equal(CALL("ffi.StructuralVisit", &ret, a, none), 0);
	/* as in tvm-ffi, tensors and shapes cannot be copied, so not mapped */
	if (a.type == TENON_TYPE_TENSOR || a.type == TENON_TYPE_SHAPE)
		assert_int_not_equal(
			CALL("ffi.StructuralMap", &ret, a, none, none, tenon_arg_int(0)), 0);
	else
		assert_int_equal(CALL("ffi.StructuralMap", &ret, a, none, none, tenon_arg_int(0)),
				 0);
	tenon_error_clear();
	tenon_value_release(&ret);
	tenon_value_release(&none);
	tenon_value_release(&a);
	tenon_value_release(&b);
}

static struct tenon_value fresh(int32_t type)
{
	return holder_make(type, tenon_arg_string("name"));
}

/* let v in [v, last] */
static struct tenon_value term(int32_t type, struct tenon_value last)
{
	struct tenon_value v = fresh(variable);

	return bind_in(type, share(v), array_of(v, last));
}

static void variables_count_by_where_they_are_bound(void **state)
{
	struct tenon_value v, w;

	(void)state;
	are_equal(term(binds_pattern, tenon_arg_int(1)), term(binds_pattern, tenon_arg_int(1)),
		  true, false);
	are_equal(term(binds_simple, tenon_arg_int(1)), term(binds_simple, tenon_arg_int(1)), true,
		  false);
	are_equal(term(binds_simple, tenon_arg_int(1)), term(binds_simple, tenon_arg_int(2)), false,
		  false);
	are_equal(term(binds_simple, tenon_arg_int(1)), term(binds_pattern, tenon_arg_int(1)),
		  false, false);
	/* free ones count by identity, but where they are mapped */
	are_equal(fresh(variable), fresh(variable), false, false);
	are_equal(fresh(variable), fresh(variable), true, true);
	v = fresh(variable);
	are_equal(share(v), share(v), true, false);
	/* one variable on one side, two on the other */
	are_equal(array_of(share(v), share(v)), array_of(fresh(variable), fresh(variable)), false,
		  true);
	w = fresh(variable);
	are_equal(array_of(fresh(variable), fresh(variable)), array_of(share(w), share(w)), false,
		  true);
	are_equal(array_of(share(v), share(v)), array_of(share(w), share(w)), true, true);
	/* a name that differs within */
	are_equal(holder_make(variable, tenon_arg_int(1)), holder_make(variable, tenon_arg_int(2)),
		  false, true);
	tenon_value_release(&v);
	tenon_value_release(&w);
}

static struct tenon_value map_of(struct tenon_value key, int64_t value)
{
	struct tenon_value m;

	assert_int_equal(CALL("ffi.Map", &m, key, tenon_arg_int(value)), 0);
	tenon_value_release(&key);
	return m;
}

static void keys_of_maps_may_be_variables(void **state)
{
	struct tenon_value v, w;

	(void)state;
	v = fresh(variable);
	w = fresh(variable);
	are_equal(bind_in(binds_pattern, share(v), map_of(share(v), 1)),
		  bind_in(binds_pattern, share(w), map_of(share(w), 1)), true, false);
	are_equal(bind_in(binds_pattern, share(v), map_of(share(v), 1)),
		  bind_in(binds_pattern, share(w), map_of(share(w), 2)), false, false);
	are_equal(bind_in(binds_pattern, share(v), map_of(share(v), 1)),
		  bind_in(binds_pattern, share(w), map_of(share(v), 1)), false, false);
	/* free as keys: no hash says in what order they come */
	are_equal(map_of(share(v), 1), map_of(share(w), 1), false, false);
	tenon_value_release(&v);
	tenon_value_release(&w);
}

static void nodes_of_graphs_count_by_how_often_they_occur(void **state)
{
	struct tenon_value a = fresh(node), b = fresh(node);

	(void)state;
	are_equal(array_of(share(a), share(a)), array_of(share(b), share(b)), true, false);
	are_equal(array_of(share(a), share(a)), array_of(share(b), fresh(node)), false, false);
	are_equal(array_of(fresh(node), share(a)), array_of(share(b), share(b)), false, false);
	tenon_value_release(&a);
	tenon_value_release(&b);
	a = fresh(unique);
	are_equal(share(a), share(a), true, false);
	are_equal(a, fresh(unique), false, false);
	a = fresh(constant);
	are_equal(share(a), share(a), true, false);
	are_equal(a, fresh(constant), true, false);
}

static void what_is_compared_by_nothing_is_refused(void **state)
{
	struct tenon_value v, ret;

	(void)state;
	v = holder_make(holder_type("test.structural.Never", COMPARED_NEVER, holder_create),
			tenon_arg_int(1));
	assert_int_not_equal(CALL("ffi.StructuralEqual", &ret, v, v), 0);
	assert_error_has("_type_s_eq_hash_kind");
	assert_int_not_equal(CALL("ffi.StructuralHash", &ret, v), 0);
	tenon_error_clear();
	assert_int_not_equal(CALL("ffi.StructuralKey", &ret, v), 0);
	tenon_error_clear();
	tenon_value_release(&v);
}

/* ---- the first difference */

static void shows_mismatch(const char *a, const char *b, const char *function, const char *shown)
{
	struct tenon_value v[2], made[2], ret;

	assert_int_equal(CALL("ffi.json.Parse", &v[0], tenon_arg_string(a)), 0);
	assert_int_equal(CALL("ffi.json.Parse", &v[1], tenon_arg_string(b)), 0);
	made[0] = holder_make(constant, v[0]);
	made[1] = holder_make(constant, v[1]);
	assert_int_equal(CALL(function, &ret, made[0], made[1]), 0);
	assert_shown(ret, shown);
	tenon_value_release(&ret);
	assert_int_equal(CALL("ffi.StructuralEqual", &ret, made[0], made[1]), 0);
	assert_int_equal(ret.as.integer, !strcmp(shown, "None"));
	tenon_value_release(&made[0]);
	tenon_value_release(&made[1]);
	tenon_value_release(&v[0]);
	tenon_value_release(&v[1]);
}

static void the_first_difference_has_a_path_on_each_side(void **state)
{
	static const char *const rows[][3] = {
		{ "1", "1", "None" },
		{ "NaN", "NaN", "None" },
		{ "NaN", "1.5", "(<root>.inner, <root>.inner)" },
		{ "1.5", "NaN", "(<root>.inner, <root>.inner)" },
		{ "1", "2", "(<root>.inner, <root>.inner)" },
		{ "1", "\"a\"", "(<root>.inner, <root>.inner)" },
		{ "\"a\"", "1", "(<root>.inner, <root>.inner)" },
		{ "[1]", "[1, 2]", "(<root>.inner[<missing:1>], <root>.inner[1])" },
		{ "[1, 2]", "[1]", "(<root>.inner[1], <root>.inner[<missing:1>])" },
		{ "[1, 2]", "[3]", "(<root>.inner[0], <root>.inner[0])" },
		{ "{\"a\": 1}", "{\"a\": 2}", "(<root>.inner[\"a\"], <root>.inner[\"a\"])" },
		{ "{\"a\": 1}", "{\"b\": 1}",
		  "(<root>.inner[\"a\"], <root>.inner[<missing:\"a\">])" },
		{ "{\"a\": 1}", "{\"a\": 1, \"b\": 2}",
		  "(<root>.inner[<missing:\"b\">], <root>.inner[\"b\"])" },
		{ "{\"a\": 1, \"b\": 2}", "{\"a\": 1}",
		  "(<root>.inner[\"b\"], <root>.inner[<missing:\"b\">])" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		shows_mismatch(rows[i][0], rows[i][1], "ffi.GetFirstStructuralMismatch",
			       rows[i][2]);
}

/* ---- tensors and shapes */

static struct tenon_value tensor_of(const int64_t *shape, int32_t ndim, DLDataType dtype)
{
	struct tenon_tensor *t;
	size_t bytes;

	assert_int_equal(tenon_tensor_create(shape, ndim, dtype, &t), 0);
	assert_int_equal(tenon_tensor_bytes(&t->dl, &bytes), 0);
	memset(t->dl.data, 0, bytes);
	return tenon_arg_object(t);
}

static void tensors_count_by_shape_type_and_content(void **state)
{
	const int64_t one[] = { 2, 3 }, two[] = { 3, 2 };
	const DLDataType f32 = tenon_dtype(TENON_DTYPE_FLOAT, 32, 1),
			 i32 = tenon_dtype(TENON_DTYPE_INT, 32, 1),
			 f16 = tenon_dtype(TENON_DTYPE_FLOAT, 16, 1),
			 wide = tenon_dtype(TENON_DTYPE_FLOAT, 32, 2);
	struct tenon_value a, b, ret, key;
	int64_t strides[] = { 1, 2 };
	struct tenon_tensor *t;

	(void)state;
	are_equal(tensor_of(one, 2, f32), tensor_of(one, 2, f32), true, false);
	are_equal(tensor_of(one, 0, f32), tensor_of(one, 0, f32), true, false);
	are_equal(tensor_of(one, 2, f32), tensor_of(two, 2, f32), false, false);
	are_equal(tensor_of(one, 2, f32), tensor_of(one, 1, f32), false, false);
	are_equal(tensor_of(one, 2, f32), tensor_of(one, 2, i32), false, false);
	are_equal(tensor_of(one, 2, f32), tensor_of(one, 2, f16), false, false);
	are_equal(tensor_of(one, 2, f32), tensor_of(one, 2, wide), false, false);
	a = tensor_of(one, 2, f32);
	are_equal(share(a), share(a), true, false);
	b = tensor_of(one, 2, f32);
	t = b.as.pointer;
	*(float *)t->dl.data = 1;
	assert_int_equal(integer("ffi.StructuralEqual", a, b), 0);
	assert_int_equal(CALL("ffi.StructuralEqual", &ret, a, b, tenon_arg_bool(false),
			      tenon_arg_bool(true)),
			 0);
	assert_int_equal(ret.as.integer, 1);
	assert_int_equal(
		CALL("ffi.StructuralHash", &ret, a, tenon_arg_bool(false), tenon_arg_bool(true)),
		0);
	assert_int_equal(
		CALL("ffi.StructuralHash", &key, b, tenon_arg_bool(false), tenon_arg_bool(true)),
		0);
	assert_int_equal(ret.as.integer, key.as.integer);
	/* with gaps, or elsewhere */
	t->dl.strides = strides;
	assert_int_not_equal(CALL("ffi.StructuralEqual", &ret, a, b), 0);
	assert_error_has("contiguous");
	assert_int_not_equal(CALL("ffi.StructuralEqual", &ret, b, a), 0);
	assert_error_has("contiguous");
	assert_int_not_equal(CALL("ffi.StructuralHash", &ret, b), 0);
	assert_error_has("contiguous");
	t->dl.strides = NULL;
	t->dl.device.device_type = kDLCUDA;
	assert_int_not_equal(CALL("ffi.StructuralHash", &ret, b), 0);
	assert_error_has("CPU tensor");
	t->dl.device.device_type = kDLCPU;
	tenon_value_release(&a);
	tenon_value_release(&b);
}

static struct tenon_value shape_of(int64_t a, int64_t b, int32_t n)
{
	struct tenon_value v[2] = { tenon_arg_int(a), tenon_arg_int(b) }, shape;

	assert_int_equal(call("ffi.Shape", &shape, v, n), 0);
	return shape;
}

static void shapes_count_by_their_extents(void **state)
{
	(void)state;
	are_equal(shape_of(1, 2, 2), shape_of(1, 2, 2), true, false);
	are_equal(shape_of(1, 2, 2), shape_of(1, 3, 2), false, false);
	are_equal(shape_of(1, 2, 2), shape_of(1, 2, 1), false, false);
	are_equal(shape_of(1, 2, 0), shape_of(3, 4, 0), true, false);
}

/* ---- keys */

static void structural_keys_find_values_by_their_structure(void **state)
{
	struct tenon_value v, keys[3], map, ret;
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		v = array_of(tenon_arg_int(1), tenon_arg_int(i < 2 ? 2 : 3));
		assert_int_equal(CALL("ffi.StructuralKey", &keys[i], v), 0);
		tenon_value_release(&v);
	}
	assert_int_equal(integer("ffi.StructuralKeyEqual", keys[0], keys[0]), 1);
	assert_int_equal(integer("ffi.StructuralKeyEqual", keys[0], keys[1]), 1);
	assert_int_equal(integer("ffi.StructuralKeyEqual", keys[0], keys[2]), 0);
	assert_int_equal(CALL("ffi.Map", &map, keys[0], tenon_arg_int(7)), 0);
	assert_int_equal(integer("ffi.MapGetItem", map, keys[1]), 7);
	assert_int_equal(integer("ffi.MapCount", map, keys[2]), 0);
	tenon_value_release(&map);
	/* a key whose comparison fails is found nowhere */
	v = tensor_of((const int64_t[]){ 2 }, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	for (i = 0; i < 2; i++) {
		tenon_value_release(&keys[i]);
		assert_int_equal(CALL("ffi.StructuralKey", &keys[i], v), 0);
	}
	((struct tenon_tensor *)v.as.pointer)->dl.device.device_type = kDLCUDA;
	assert_int_equal(CALL("ffi.Map", &map, keys[0], tenon_arg_int(7)), 0);
	assert_int_equal(CALL("ffi.MapCount", &ret, map, keys[1]), 0);
	((struct tenon_tensor *)v.as.pointer)->dl.device.device_type = kDLCPU;
	tenon_value_release(&map);
	tenon_value_release(&v);
	for (i = 0; i < 3; i++)
		tenon_value_release(&keys[i]);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(variables_count_by_where_they_are_bound),
		cmocka_unit_test(keys_of_maps_may_be_variables),
		cmocka_unit_test(nodes_of_graphs_count_by_how_often_they_occur),
		cmocka_unit_test(what_is_compared_by_nothing_is_refused),
		cmocka_unit_test(the_first_difference_has_a_path_on_each_side),
		cmocka_unit_test(tensors_count_by_shape_type_and_content),
		cmocka_unit_test(shapes_count_by_their_extents),
		cmocka_unit_test(structural_keys_find_values_by_their_structure),
	};

	return cmocka_run_group_tests(cases, add_types, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Fields of types: how each static type is stored, defaults, constructors, and fields that cannot be read or written. */
#include "dropin_types.h"

#include <tenon/array.h>

/* ---- one field for each static type */

struct one {
	struct tenon_object object;
	struct tenon_value field;
};

/* Python's function behind a setter: it passes the value on, owned; a text is what it cannot convert */
static int convert(void *converter, const struct tenon_value *value, struct tenon_value *out)
{
	(void)converter;
	if (value->type == TENON_TYPE_RAW_STRING)
		return tenon_error(-TENON_E_TYPE, "said by a converter");
	return tenon_value_own(value, out);
}

static int32_t one_type(const char *key, int32_t static_type, int64_t size)
{
	struct type_field f = { .name = s("field"),
				.flags = TYPE_FIELD_SETTER_OBJECT,
				.size = size,
				.alignment = 8,
				.offset = offsetof(struct one, field),
				.static_type = static_type };
	struct tenon_value getter, setter;
	int32_t type = type_add(key, COMPARED_TREE, NULL);

	assert_int_equal(CALL("ffi.MakeFieldGetter", &getter, tenon_arg_int(static_type)), 0);
	*(void **)&f.getter = (void *)(intptr_t)getter.as.integer;
	assert_int_equal(CALL("ffi.MakeFieldSetter", &setter, tenon_arg_int(static_type),
			      tenon_arg_int(0), tenon_arg_int((int64_t)(intptr_t)convert)),
			 0);
	f.setter = setter.as.pointer;
	assert_int_equal(abi_ffi_type_add_field(type, &f), 0);
	tenon_value_release(&setter);
	type_add_class(type);
	return type;
}

static struct tenon_value device_value(void)
{
	struct tenon_value v = tenon_arg_none();

	v.type = TENON_TYPE_DEVICE;
	v.as.device = (DLDevice){ kDLCPU, 0 };
	return v;
}

#define VALUES 9

static void make_values(struct tenon_value *v)
{
	v[0] = tenon_arg_none();
	v[1] = tenon_arg_int(3);
	v[2] = tenon_arg_bool(true);
	v[3] = tenon_arg_float(0.5);
	v[4] = tenon_arg_pointer(v);
	v[5] = tenon_arg_dtype(tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	v[6] = device_value();
	assert_int_equal(CALL("ffi.List", &v[7], tenon_arg_int(1)), 0);
	v[8] = tenon_arg_string("short"); /* a converter refuses it */
}

/* Use an object whose field was set in each way that reads the field. */
static void read_in_each_way(struct tenon_value v)
{
	static const char *const functions[] = { "ffi.ReprPrint", "ffi.RecursiveHash",
						 "ffi.StructuralHash" };
	struct tenon_value copy, ret;
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		assert_int_equal(CALL(functions[i], &ret, v), 0);
		tenon_value_release(&ret);
	}
	assert_int_equal(CALL("ffi.DeepCopy", &copy, v), 0);
	assert_ptr_not_equal(copy.as.pointer, v.as.pointer);
	assert_int_equal(integer("ffi.RecursiveEq", v, copy), 1);
	assert_int_equal(integer("ffi.StructuralEqual", v, copy), 1);
	tenon_value_release(&copy);
}

static void a_field_takes_values_of_its_static_type(void **state)
{
	static const struct {
		const char *key;
		int32_t type;
		int64_t size;
		const char *takes; /* of the values above: y or n */
	} rows[] = {
		{ "test.fields.int", TENON_TYPE_INT, 8, "nyynnnnnn" },
		{ "test.fields.float", TENON_TYPE_FLOAT, 8, "nyyynnnnn" },
		{ "test.fields.bool", TENON_TYPE_BOOL, 1, "nyynnnnnn" },
		{ "test.fields.pointer", TENON_TYPE_POINTER, sizeof(void *), "ynnnynnnn" },
		{ "test.fields.dtype", TENON_TYPE_DTYPE, 4, "nnnnnynnn" },
		{ "test.fields.device", TENON_TYPE_DEVICE, 8, "nnnnnnynn" },
		{ "test.fields.any", TENON_TYPE_ANY, 16, "yyyyyyyyn" },
		{ "test.fields.object", TENON_TYPE_OBJECT, sizeof(void *), "ynnnnnnyn" },
		{ "test.fields.list", TENON_TYPE_LIST, sizeof(void *), "ynnnnnnyn" },
	};
	struct tenon_value values[VALUES], v;
	int32_t type;
	size_t i, k;
	int err;

	(void)state;
	make_values(values);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		type = one_type(rows[i].key, rows[i].type, rows[i].size);
		for (k = 0; k < VALUES; k++) {
			err = CALL("ffi.MakeObjectFromPackedArgs", &v, tenon_arg_int(type),
				   tenon_arg_string("field"), values[k]);
			if ((err == 0) != (rows[i].takes[k] == 'y'))
				fail_msg("%s: value %zu: %d", rows[i].key, k, err);
			if (err)
				tenon_error_clear();
			else
				read_in_each_way(v);
			tenon_value_release(&v);
		}
	}
	tenon_value_release(&values[7]);
}

static void a_number_of_a_graph_in_json_becomes_a_field(void **state)
{
	static const struct {
		const char *key;
		const char *data;
		bool fails;
	} rows[] = {
		{ "test.fields.int", "7", false },
		{ "test.fields.int", "true", false },
		{ "test.fields.int", "0.5", true },
		{ "test.fields.float", "7", false },
		{ "test.fields.float", "true", false },
		{ "test.fields.float", "0.5", false },
		{ "test.fields.float", "\"a\"", true },
		{ "test.fields.bool", "1", false },
		{ "test.fields.bool", "false", false },
		{ "test.fields.bool", "null", true },
		{ "test.fields.dtype", "\"int8\"", false },
		{ "test.fields.dtype", "\"int\\n\"", true },
		{ "test.fields.dtype", "8", true },
	};
	struct tenon_value v, text;
	char json[256];
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(json, sizeof(json),
			 "{\"root_index\": 0, \"nodes\": [{\"type\": \"%s\", \"data\": {\"field\": "
			 "%s}}]}",
			 rows[i].key, rows[i].data);
		err = CALL("ffi.FromJSONGraphString", &v, tenon_arg_string(json));
		if ((err != 0) != rows[i].fails)
			fail_msg("%s: %d", json, err);
		tenon_error_clear();
		if (err)
			continue;
		assert_int_equal(CALL("ffi.ToJSONGraphString", &text, v), 0);
		tenon_value_release(&text);
		tenon_value_release(&v);
	}
}

static void setters_of_wrong_types_are_not_made(void **state)
{
	static const int64_t bad[] = { -2, TENON_TYPE_RVALUE_REF, INT64_MAX };
	struct tenon_value ret;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_not_equal(CALL("ffi.MakeFieldGetter", &ret, tenon_arg_int(bad[i])), 0);
		assert_error_has("for getter");
		assert_int_not_equal(CALL("ffi.MakeFieldSetter", &ret, tenon_arg_int(bad[i]),
					  tenon_arg_int(0), tenon_arg_int(4096)),
				     0);
		assert_error_has("for setter");
	}
	assert_int_not_equal(CALL("ffi.MakeFieldSetter", &ret, tenon_arg_int(TENON_TYPE_INT),
				  tenon_arg_int(0), tenon_arg_int(0)),
			     0);
	tenon_error_clear();
	/* a setter is called with the address of a field */
	assert_int_equal(CALL("ffi.MakeFieldSetter", &ret, tenon_arg_int(TENON_TYPE_INT),
			      tenon_arg_int(0), tenon_arg_int((int64_t)(intptr_t)convert)),
			 0);
	assert_int_not_equal(
		tenon_function_call(ret.as.pointer, NULL, 0, &(struct tenon_value){ 0 }), 0);
	tenon_error_clear();
	assert_int_not_equal(
		tenon_function_call(ret.as.pointer,
				    (struct tenon_value[]){ tenon_arg_int(1), tenon_arg_int(1) }, 2,
				    &(struct tenon_value){ 0 }),
		0);
	assert_error_has("address of a field");
	tenon_value_release(&ret);
	assert_int_not_equal(CALL("ffi._PyClassRegisterTypeAttrColumns", &ret, tenon_arg_int(64),
				  tenon_arg_int(1)),
			     0);
	assert_error_has("objects of 1 bytes");
}

/* ---- fields that fail */

static bool fails_now;

static int get_or_fail(void *field, struct tenon_value *out)
{
	return fails_now ? tenon_error(-TENON_E_VALUE, "said by a getter") : holder_get(field, out);
}

static int set_or_fail(void *field, const struct tenon_value *value)
{
	return fails_now ? tenon_error(-TENON_E_VALUE, "said by\na setter")
			 : holder_set(field, value);
}

static void reading_fails(struct tenon_value a, struct tenon_value b, const char *text)
{
	static const struct {
		const char *function;
		int32_t objects;
	} rows[] = {
		{ "ffi.ReprPrint", 1 },	      { "ffi.DeepCopy", 1 },
		{ "ffi.RecursiveHash", 1 },   { "ffi.StructuralHash", 1 },
		{ "ffi.StructuralKey", 1 },   { "ffi.ToJSONGraph", 1 },
		{ "ffi.RecursiveEq", 2 },     { "ffi.RecursiveLt", 2 },
		{ "ffi.StructuralEqual", 2 },
	};
	struct tenon_value v[2] = { a, b }, none, list, ret;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!call(rows[i].function, &ret, v, rows[i].objects))
			fail_msg("%s: no failure", rows[i].function);
		assert_error_has(text);
	}
	assert_int_equal(call("ffi.List", &none, NULL, 0), 0);
	assert_int_equal(CALL("ffi.MakeObjectFromPackedArgs", &list,
			      tenon_arg_string("ffi.VisitErrorContext"),
			      tenon_arg_string("reverse_visit_pattern"), none,
			      tenon_arg_string("prev_error_context"), tenon_arg_none()),
			 0);
	assert_int_not_equal(CALL("ffi.VisitErrorContext.FindAccessPaths", &ret, a, list), 0);
	assert_error_has(text);
	tenon_value_release(&list);
	tenon_value_release(&none);
	assert_int_equal(call("ffi.Array", &none, NULL, 0), 0);
	assert_int_not_equal(CALL("ffi.StructuralVisit", &ret, a, none), 0);
	assert_error_has(text);
	assert_int_not_equal(CALL("ffi.StructuralMutate", &ret, a, none), 0);
	assert_error_has(text);
	/* the same inside containers */
	assert_int_equal(CALL("ffi.List", &list, tenon_arg_string("a"), a), 0);
	assert_int_not_equal(CALL("ffi.StructuralVisit", &ret, list, none), 0);
	assert_error_has(text);
	assert_int_not_equal(CALL("ffi.ReprPrint", &ret, list), 0);
	assert_error_has(text);
	tenon_value_release(&list);
	assert_int_equal(
		CALL("ffi.Dict", &list, tenon_arg_string("a"), a, tenon_arg_string("b"), a), 0);
	for (i = 0; i < 6; i++) {
		assert_int_not_equal(call(rows[i].function, &ret, &list, 1), 0);
		assert_error_has(text);
	}
	tenon_value_release(&list);
	/* as a key */
	assert_int_equal(CALL("ffi.Dict", &list, a, tenon_arg_int(1)), 0);
	for (i = 0; i < 3; i++) {
		assert_int_not_equal(call(rows[i].function, &ret, &list, 1), 0);
		assert_error_has(text);
	}
	tenon_value_release(&list);
	tenon_value_release(&none);
}

static void a_field_that_cannot_be_read_is_an_error(void **state)
{
	int32_t type = type_add("test.fields.unread", COMPARED_TREE, holder_create);
	struct tenon_value a, b;

	(void)state;
	type_add_field(type, "inner", offsetof(struct holder, inner), 0, get_or_fail, holder_set);
	type_add_class(type);
	a = holder_make(type, tenon_arg_int(1));
	b = holder_make(type, tenon_arg_int(1));
	fails_now = true;
	reading_fails(a, b, "said by a getter");
	fails_now = false;
	tenon_value_release(&a);
	tenon_value_release(&b);
	type = type_add("test.fields.closed", COMPARED_TREE, holder_create);
	type_add_field(type, "inner", offsetof(struct holder, inner), 0, NULL, holder_set);
	type_add_class(type);
	a = holder_make(type, tenon_arg_int(1));
	b = holder_make(type, tenon_arg_int(1));
	reading_fails(a, b, "cannot be read");
	tenon_value_release(&a);
	tenon_value_release(&b);
}

static void a_field_that_cannot_be_written_is_an_error(void **state)
{
	static const int64_t flags[] = { 0, FIELD_HAS_DEFAULT };
	struct tenon_value ret;
	char key[64];
	int32_t type;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		snprintf(key, sizeof(key), "test.fields.unwritten%zu", i);
		type = type_add(key, COMPARED_TREE, holder_create);
		type_add_field(type, "inner", offsetof(struct holder, inner), flags[i], holder_get,
			       NULL);
		holder_next_type = type;
		assert_int_not_equal(CALL("ffi.MakeObjectFromPackedArgs", &ret, tenon_arg_int(type),
					  tenon_arg_string("inner"), tenon_arg_int(1)),
				     0);
		assert_error_has("cannot be written");
		assert_int_not_equal(
			CALL("ffi.MakeObjectFromPackedArgs", &ret, tenon_arg_int(type)), 0);
		assert_error_has(i ? "cannot be written" : "Required field");
	}
}

/* ---- constructors of dataclasses */

static int construct(int32_t type, struct tenon_value *ret, const struct tenon_value *args,
		     int32_t count)
{
	const struct tenon_slice name = s("__ffi_init__");

	holder_next_type = type;
	*ret = tenon_arg_none();
	return tenon_function_call(abi_ffi_type_column(&name)->data[type].as.pointer, args, count,
				   ret);
}

static int factory(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	if (fails_now)
		return tenon_error(-TENON_E_VALUE, "said by a factory");
	return call("ffi.List", ret, NULL, 0);
}

static void a_constructor_takes_positions_and_keywords(void **state)
{
	int32_t type = type_add("test.fields.Point", COMPARED_TREE, holder_create);
	struct tenon_value kw, ret, a = tenon_arg_int(1), b = tenon_arg_int(2);
	const struct tenon_value inner = tenon_arg_string("inner"),
				 other = tenon_arg_string("other"),
				 unknown = tenon_arg_string("unknown");

	(void)state;
	assert_int_equal(call("ffi.GetKwargsObject", &kw, NULL, 0), 0);
	type_add_field(type, "inner", offsetof(struct holder, inner), 0, holder_get, set_or_fail);
	type_add_field(type, "other", offsetof(struct holder, other), FIELD_KEYWORD_ONLY,
		       holder_get, set_or_fail);
	type_add_class(type);
#define CONSTRUCT(...)                                                                             \
	construct(type, &ret, (const struct tenon_value[]){ __VA_ARGS__ },                         \
		  sizeof((const struct tenon_value[]){ __VA_ARGS__ }) /                            \
			  sizeof(struct tenon_value))
	assert_int_equal(CONSTRUCT(a, kw, other, b), 0);
	assert_shown(ret, "test.fields.Point(inner=1, other=2)");
	tenon_value_release(&ret);
	assert_int_equal(CONSTRUCT(kw, other, b, inner, a), 0);
	tenon_value_release(&ret);
	assert_int_not_equal(CONSTRUCT(a), 0);
	assert_error_has("missing required keyword-only argument: 'other'");
	assert_int_not_equal(CONSTRUCT(kw, other, b), 0);
	assert_error_has("missing required argument: 'inner'");
	assert_int_not_equal(CONSTRUCT(a, b), 0);
	assert_error_has("at most 1 positional");
	assert_int_not_equal(CONSTRUCT(a, kw, other), 0);
	assert_error_has("even number");
	assert_int_not_equal(CONSTRUCT(a, kw, b, b), 0);
	tenon_error_clear();
	assert_int_not_equal(CONSTRUCT(a, kw, unknown, b), 0);
	assert_error_has("unexpected keyword argument 'unknown'");
	assert_int_not_equal(CONSTRUCT(a, kw, inner, b), 0);
	assert_error_has("multiple values for argument 'inner'");
	fails_now = true;
	assert_int_not_equal(CONSTRUCT(a, kw, other, b), 0);
	assert_error_has("field 'inner':\n  said by\n  a setter");
	assert_int_not_equal(CONSTRUCT(kw, inner, a), 0);
	assert_error_has("field 'inner'");
	fails_now = false;
	holder_creator_fails = true;
	assert_int_not_equal(CONSTRUCT(a, kw, other, b), 0);
	assert_error("said by a creator");
	holder_creator_fails = false;
	tenon_value_release(&kw);
}

/* A type with one field that has a default */
static int32_t type_with_default(const char *key, int64_t flags, struct tenon_value value)
{
	struct type_field f = { .name = s("inner"),
				.flags = FIELD_HAS_DEFAULT | flags,
				.size = sizeof(struct tenon_value),
				.alignment = 8,
				.offset = offsetof(struct holder, inner),
				.getter = holder_get,
				.static_type = TENON_TYPE_ANY,
				.default_value = value };
	setter_fn setter = set_or_fail;
	int32_t type = type_add(key, COMPARED_TREE, holder_create);

	memcpy(&f.setter, &setter, sizeof(f.setter));
	assert_int_equal(abi_ffi_type_add_field(type, &f), 0);
	type_add_class(type);
	return type;
}

static void a_default_is_a_value_or_what_a_function_returns(void **state)
{
	struct tenon_value ret, f = tenon_arg_none();
	int32_t type;

	(void)state;
	type = type_with_default("test.fields.Default", 0, tenon_arg_int(3));
	assert_int_equal(construct(type, &ret, NULL, 0), 0);
	assert_shown(ret, "test.fields.Default(inner=3)");
	tenon_value_release(&ret);
	fails_now = true;
	assert_int_not_equal(construct(type, &ret, NULL, 0), 0);
	assert_error_has("default for field 'inner'");
	fails_now = false;
	assert_int_equal(abi_ffi_function_create(NULL, factory, NULL, &f.as.pointer), 0);
	f = tenon_arg_object(f.as.object);
	type = type_with_default("test.fields.Factory", FIELD_DEFAULT_FACTORY, f);
	tenon_value_release(&f);
	assert_int_equal(construct(type, &ret, NULL, 0), 0);
	assert_shown(ret, "test.fields.Factory(inner=[])");
	tenon_value_release(&ret);
	fails_now = true;
	assert_int_not_equal(construct(type, &ret, NULL, 0), 0);
	assert_error_has("said by a factory");
	fails_now = false;
	type = type_with_default("test.fields.NoFactory", FIELD_DEFAULT_FACTORY, tenon_arg_int(3));
	assert_int_not_equal(construct(type, &ret, NULL, 0), 0);
	assert_error_has("is no function");
	/* a field that no argument sets is left as it is where it has no default */
	type = type_add("test.fields.Unset", COMPARED_TREE, holder_create);
	type_add_field(type, "inner", offsetof(struct holder, inner), FIELD_INIT_OFF, holder_get,
		       holder_set);
	type_add_class(type);
	assert_int_equal(construct(type, &ret, NULL, 0), 0);
	assert_shown(ret, "test.fields.Unset(inner=None)");
	tenon_value_release(&ret);
}

static void fields_that_do_not_count_are_left_out(void **state)
{
	int32_t type = holder_type("test.fields.Partly", COMPARED_TREE, holder_create);
	struct tenon_value a, b, ret, h[2];

	(void)state;
	type_add_field(type, "other", offsetof(struct holder, other),
		       FIELD_STRUCTURAL_IGNORE | FIELD_REPR_OFF | FIELD_COMPARE_OFF |
			       FIELD_HASH_OFF | FIELD_HAS_DEFAULT,
		       holder_get, holder_set);
	/* the name of a field above, as in a derived type */
	type_add_field(type, "inner", offsetof(struct holder, inner), FIELD_HAS_DEFAULT, holder_get,
		       holder_set);
	type_add_class(type);
	a = holder_make(type, tenon_arg_int(1));
	holder_next_type = type;
	assert_int_equal(CALL("ffi.MakeObjectFromPackedArgs", &b, tenon_arg_int(type),
			      tenon_arg_string("inner"), tenon_arg_int(1),
			      tenon_arg_string("other"), tenon_arg_int(2)),
			 0);
	assert_shown(b, "test.fields.Partly(inner=1)");
	assert_int_equal(integer("ffi.RecursiveEq", a, b), 1);
	assert_int_equal(integer("ffi.StructuralEqual", a, b), 1);
	assert_int_equal(CALL("ffi.RecursiveHash", &h[0], a), 0);
	assert_int_equal(CALL("ffi.RecursiveHash", &h[1], b), 0);
	assert_int_equal(h[0].as.integer, h[1].as.integer);
	assert_int_equal(CALL("ffi.StructuralHash", &h[0], a), 0);
	assert_int_equal(CALL("ffi.StructuralHash", &h[1], b), 0);
	assert_int_equal(h[0].as.integer, h[1].as.integer);
	assert_int_equal(call("ffi.Array", &ret, NULL, 0), 0);
	assert_int_equal(CALL("ffi.StructuralVisit", &h[0], b, ret), 0);
	assert_int_equal(CALL("ffi.StructuralMutate", &h[0], b, ret), 0);
	assert_ptr_equal(h[0].as.pointer, b.as.pointer);
	tenon_value_release(&h[0]);
	tenon_value_release(&ret);
	assert_int_not_equal(CALL("ffi.MakeObjectFromPackedArgs", &ret, tenon_arg_int(type),
				  tenon_arg_string("unknown"), tenon_arg_int(1)),
			     0);
	tenon_error_clear();
	tenon_value_release(&a);
	tenon_value_release(&b);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(a_field_takes_values_of_its_static_type),
		cmocka_unit_test(a_number_of_a_graph_in_json_becomes_a_field),
		cmocka_unit_test(setters_of_wrong_types_are_not_made),
		cmocka_unit_test(a_field_that_cannot_be_read_is_an_error),
		cmocka_unit_test(a_field_that_cannot_be_written_is_an_error),
		cmocka_unit_test(a_constructor_takes_positions_and_keywords),
		cmocka_unit_test(a_default_is_a_value_or_what_a_function_returns),
		cmocka_unit_test(fields_that_do_not_count_are_left_out),
	};

	return cmocka_run_group_tests(cases, open_library, NULL);
}

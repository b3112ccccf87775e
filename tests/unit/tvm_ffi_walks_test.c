/* SPDX-License-Identifier: MIT */
/* Callbacks of structural walks, visits, maps and mutations: what they return, and what they call. */
#include "dropin_types.h"

#include <tenon/array.h>

#define UNCHANGED 13

enum mode {
	RETURNS_NONE,
	RETURNS_TEXT,
	RETURNS_NUMBER,
	RETURNS_SAME,
	RETURNS_UNCHANGED,
	RETURNS_ARRAY,
	FAILS,
	FAILS_AT_TWO, /* and doubles other integers */
	INTERRUPTS,
	SKIPS,
	ASKS, /* a visitor or mutator */
};

static enum mode mode;
static int calls;

static int ask(const struct tenon_value *args, int32_t count);

static int callback(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	struct tenon_value text = tenon_arg_string("a text of many letters");

	(void)self;
	calls++;
	switch (mode) {
	case RETURNS_TEXT:
		return tenon_value_own(&text, ret);
	case RETURNS_NUMBER:
		*ret = tenon_arg_int(7);
		return 0;
	case RETURNS_SAME:
		return tenon_value_own(&args[0], ret);
	case RETURNS_ARRAY:
		return args[0].type == TENON_TYPE_INT ? CALL("ffi.Array", ret, text)
						      : tenon_value_own(&args[0], ret);
	case FAILS_AT_TWO:
		*ret = (struct tenon_value){ .type = UNCHANGED };
		if (args[0].type != TENON_TYPE_INT)
			return 0;
		*ret = tenon_arg_int(2 * args[0].as.integer);
		return args[0].as.integer != 2 ? 0 : tenon_error(-TENON_E_VALUE, "met a two");
	case FAILS:
		return tenon_error(-TENON_E_VALUE, "said by a callback");
	case INTERRUPTS:
		return CALL("ffi.VisitInterrupt", ret, tenon_arg_int(3));
	case SKIPS:
		*ret = tenon_arg_int(1);
		return 0;
	case RETURNS_UNCHANGED:
		*ret = (struct tenon_value){ .type = UNCHANGED };
		return 0;
	case ASKS:
		*ret = tenon_arg_none();
		return ask(args, count);
	default:
		*ret = tenon_arg_none();
		return 0;
	}
}

/* An array of one entry: a type, the function above, and 1 */
static struct tenon_value callbacks(int64_t type, int32_t size)
{
	struct tenon_value entry[3] = { tenon_arg_int(type) }, v, list;
	void *f;

	assert_int_equal(abi_ffi_function_create(NULL, callback, NULL, &f), 0);
	entry[1] = tenon_arg_object(f);
	entry[2] = tenon_arg_int(1);
	assert_int_equal(call("ffi.Array", &v, entry, size), 0);
	assert_int_equal(CALL("ffi.Array", &list, v), 0);
	tenon_value_release(&v);
	abi_ffi_object_unref(f);
	return list;
}

static struct tenon_value of_json(const char *text)
{
	struct tenon_value v;

	assert_int_equal(CALL("ffi.json.Parse", &v, tenon_arg_string(text)), 0);
	return v;
}

static struct tenon_value no_callbacks(void)
{
	return of_json("[]");
}

static int refuse(void *field, const struct tenon_value *value)
{
	(void)field;
	(void)value;
	return tenon_error(-TENON_E_VALUE, "said by a setter");
}

/* ---- the list of callbacks */

static void entries_are_a_type_and_a_function(void **state)
{
	static const char *const bad[] = {
		"[1]", "[[]]", "[[1]]", "[[1, 2]]", "[[\"a\", 2]]", "1"
	};
	struct tenon_value none = no_callbacks(), v, ret, f, pair[2] = { tenon_arg_string("a") };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		v = of_json(bad[i]);
		assert_int_not_equal(CALL("ffi.StructuralVisit", &ret, none, v), 0);
		tenon_error_clear();
		assert_int_not_equal(CALL("ffi.StructuralMutate", &ret, none, v), 0);
		tenon_error_clear();
		assert_int_not_equal(
			CALL("ffi.StructuralWalk", &ret, none, none, v, tenon_arg_int(0)), 0);
		tenon_error_clear();
		assert_int_not_equal(
			CALL("ffi.StructuralMap", &ret, none, none, v, tenon_arg_int(0)), 0);
		tenon_error_clear();
		tenon_value_release(&v);
	}
	/* a function, for no type */
	assert_int_equal(abi_ffi_function_create(NULL, callback, NULL, &f.as.pointer), 0);
	pair[1] = tenon_arg_object(f.as.object);
	assert_int_equal(call("ffi.Array", &f, pair, 2), 0);
	assert_int_equal(CALL("ffi.Array", &v, f), 0);
	assert_int_not_equal(CALL("ffi.StructuralVisit", &ret, none, v), 0);
	tenon_error_clear();
	tenon_value_release(&v);
	tenon_value_release(&f);
	tenon_value_release(&pair[1]);
	tenon_value_release(&none);
}

static void a_callback_is_for_values_of_its_type(void **state)
{
	static const struct {
		int64_t type;
		int calls;
	} rows[] = {
		{ TENON_TYPE_INT, 1 },	 { TENON_TYPE_STRING, 2 }, { TENON_TYPE_BYTES, 1 },
		{ TENON_TYPE_ARRAY, 1 }, { TENON_TYPE_FLOAT, 0 },  { TENON_TYPE_OBJECT, 1 },
		{ TENON_TYPE_ANY, 5 },
	};
	struct tenon_slice bytes = { "\0\1", 2 };
	struct tenon_value list, none = no_callbacks(), v, ret;
	size_t i;

	(void)state;
	assert_int_equal(CALL("ffi.Array", &v, tenon_arg_int(1), tenon_arg_string("short"),
			      tenon_arg_string("a text of many letters"), tenon_arg_bytes(&bytes)),
			 0);
	mode = RETURNS_NONE;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		list = callbacks(rows[i].type, 2);
		calls = 0;
		assert_int_equal(CALL("ffi.StructuralWalk", &ret, v, none, list, tenon_arg_int(1)),
				 0);
		assert_int_equal(calls, rows[i].calls);
		tenon_value_release(&list);
	}
	tenon_value_release(&v);
	tenon_value_release(&none);
}

/* ---- walks and visits */

static void a_walk_ends_with_an_interrupt_or_an_error(void **state)
{
	static const struct {
		enum mode mode;
		bool fails;
		int first, last; /* calls, when they come before what is inside, and after */
	} rows[] = {
		{ RETURNS_NONE, false, 5, 5 }, { RETURNS_TEXT, true, 1, 1 },
		{ FAILS, true, 1, 1 },	       { INTERRUPTS, false, 1, 1 },
		{ SKIPS, false, 1, 5 },	       { RETURNS_NUMBER, false, 5, 5 },
	};
	struct tenon_value list = callbacks(TENON_TYPE_ANY, 2), none = no_callbacks(), v, ret;
	size_t i, after;
	int err;

	(void)state;
	v = of_json("[1, {\"a\": [null, 2]}]");
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (after = 0; after < 2; after++) {
			mode = rows[i].mode;
			calls = 0;
			err = CALL("ffi.StructuralWalk", &ret, v, list, none,
				   tenon_arg_int((int64_t)after));
			assert_int_equal(err != 0, rows[i].fails);
			assert_int_equal(calls, after ? rows[i].last : rows[i].first);
			assert_int_equal(ret.type == TENON_TYPE_VISIT_INTERRUPT,
					 rows[i].mode == INTERRUPTS);
			tenon_value_release(&ret);
			tenon_error_clear();
		}
	}
	tenon_value_release(&v);
	tenon_value_release(&none);
	tenon_value_release(&list);
}

static void a_visit_returns_none_or_an_interrupt(void **state)
{
	struct tenon_value list = callbacks(TENON_TYPE_INT, 2), v = of_json("[null, 1]"), ret;

	(void)state;
	mode = RETURNS_NONE;
	assert_int_equal(CALL("ffi.StructuralVisit", &ret, v, list), 0);
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	mode = INTERRUPTS;
	assert_int_equal(CALL("ffi.StructuralVisit", &ret, v, list), 0);
	assert_int_equal(ret.type, TENON_TYPE_VISIT_INTERRUPT);
	tenon_value_release(&ret);
	mode = RETURNS_TEXT;
	assert_int_not_equal(CALL("ffi.StructuralVisit", &ret, v, list), 0);
	assert_error_has("None or a VisitInterrupt");
	mode = FAILS;
	assert_int_not_equal(CALL("ffi.StructuralVisit", &ret, v, list), 0);
	assert_error("said by a callback");
	tenon_value_release(&v);
	tenon_value_release(&list);
}

static void values_too_deep_are_refused(void **state)
{
	struct tenon_value none = no_callbacks(), v, outer, ret;
	static const char *const functions[] = { "ffi.ReprPrint",     "ffi.DeepCopy",
						 "ffi.RecursiveHash", "ffi.StructuralHash",
						 "ffi.StructuralKey", "ffi.ToJSONGraph",
						 "ffi.json.Stringify" },
				 *const pairs[] = { "ffi.RecursiveEq", "ffi.RecursiveLt",
						    "ffi.StructuralEqual" };
	struct tenon_value copy = of_json("[]");
	size_t i;

	(void)state;
	v = of_json("[]");
	for (i = 0; i < 2000; i++) {
		assert_int_equal(CALL("ffi.Array", &outer, v), 0);
		tenon_value_release(&v);
		v = outer;
		assert_int_equal(CALL("ffi.Array", &outer, copy), 0);
		tenon_value_release(&copy);
		copy = outer;
	}
	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		assert_int_not_equal(CALL(functions[i], &ret, v), 0);
		assert_error_has("nesting depth");
	}
	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		assert_int_not_equal(CALL(pairs[i], &ret, v, copy), 0);
		assert_error_has("nesting depth");
	}
	assert_int_not_equal(CALL("ffi.StructuralVisit", &ret, v, none), 0);
	assert_error_has("nesting depth");
	assert_int_not_equal(CALL("ffi.StructuralMutate", &ret, v, none), 0);
	assert_error_has("nesting depth");
	tenon_value_release(&v);
	tenon_value_release(&copy);
	tenon_value_release(&none);
}

/* ---- maps and mutations */

/* Call with the only reference to a value, which the function may change in place. */
static int call_moved(const char *function, struct tenon_value *ret, struct tenon_value own,
		      struct tenon_value a, struct tenon_value b, int64_t order)
{
	struct tenon_value moved = tenon_arg_pointer(&own.as.object);
	int err;

	moved.type = TENON_TYPE_RVALUE_REF;
	err = strcmp(function, "ffi.StructuralMap")
		      ? CALL(function, ret, moved, a)
		      : CALL(function, ret, moved, a, b, tenon_arg_int(order));
	if (own.as.object)
		tenon_object_unref(own.as.object);
	return err;
}

static struct tenon_value of_kind(int kind)
{
	struct tenon_value v, inside = of_json("[[1, 2], {\"a\": 1, \"b\": 2}]");
	static const char *const functions[] = { "ffi.Array", "ffi.List", "ffi.Map", "ffi.Dict" };

	if (kind < 2)
		assert_int_equal(
			CALL(functions[kind], &v, tenon_arg_int(1), tenon_arg_int(2), inside), 0);
	else
		assert_int_equal(CALL(functions[kind], &v, tenon_arg_string("a"), tenon_arg_int(1),
				      tenon_arg_string("b"), tenon_arg_int(2),
				      tenon_arg_string("c"), inside),
				 0);
	tenon_value_release(&inside);
	return v;
}

static void an_error_in_a_map_leaves_what_was_mapped(void **state)
{
	struct tenon_value list = callbacks(TENON_TYPE_ANY, 2), none = no_callbacks(), v, before,
			   ret;
	int kind, order;

	(void)state;
	mode = FAILS_AT_TWO;
	for (kind = 0; kind < 4; kind++) {
		for (order = 0; order < 2; order++) {
			v = of_kind(kind);
			before = of_kind(kind);
			assert_int_not_equal(CALL("ffi.StructuralMap", &ret, v, none, list,
						  tenon_arg_int(order)),
					     0);
			assert_error("met a two");
			assert_int_equal(integer("ffi.RecursiveEq", v, before), 1);
			tenon_value_release(&before);
			assert_int_not_equal(
				call_moved("ffi.StructuralMap", &ret, v, list, none, order), 0);
			assert_error("met a two");
		}
	}
	tenon_value_release(&none);
	tenon_value_release(&list);
}

static void a_map_takes_what_its_callback_returns(void **state)
{
	static const enum mode modes[] = { RETURNS_SAME, RETURNS_UNCHANGED, RETURNS_ARRAY,
					   RETURNS_NUMBER, RETURNS_TEXT };
	struct tenon_value list = callbacks(TENON_TYPE_ANY, 2), none = no_callbacks(), v, ret;
	int kind, order;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		mode = modes[i];
		for (kind = 0; kind < 4; kind++) {
			for (order = 0; order < 2; order++) {
				v = of_kind(kind);
				assert_int_equal(CALL("ffi.StructuralMap", &ret, v, list, none,
						      tenon_arg_int(order)),
						 0);
				if (mode == RETURNS_SAME || mode == RETURNS_UNCHANGED)
					assert_ptr_equal(ret.as.pointer, v.as.pointer);
				else if (mode == RETURNS_NUMBER)
					assert_int_equal(ret.as.integer, 7);
				else
					assert_ptr_not_equal(ret.as.pointer, v.as.pointer);
				tenon_value_release(&ret);
				assert_int_equal(
					call_moved("ffi.StructuralMap", &ret, v, none, list, order),
					0);
				tenon_value_release(&ret);
			}
		}
	}
	tenon_value_release(&none);
	tenon_value_release(&list);
}

static void a_field_that_is_mapped_needs_a_setter(void **state)
{
	static const setter_fn setters[] = { NULL, refuse };
	struct tenon_value list = callbacks(TENON_TYPE_INT, 2), none = no_callbacks(), v, ret;
	char key[64];
	int32_t type;
	int i;

	(void)state;
	mode = RETURNS_NUMBER;
	for (i = 0; i < 2; i++) {
		snprintf(key, sizeof(key), "test.walks.Closed%d", i);
		type = type_add(key, COMPARED_TREE, holder_create);
		type_add_field(type, "inner", offsetof(struct holder, inner), FIELD_HAS_DEFAULT,
			       holder_get, setters[i]);
		type_add_class(type);
		holder_next_type = type;
		assert_int_equal(holder_create(&v.as.object), 0);
		v = tenon_arg_object(v.as.object);
		((struct holder *)v.as.object)->inner = tenon_arg_int(1);
		assert_int_not_equal(
			CALL("ffi.StructuralMap", &ret, v, list, none, tenon_arg_int(0)), 0);
		assert_error_has(i ? "said by a setter" : "does not define a setter");
		tenon_value_release(&v);
	}
	assert_int_not_equal(
		CALL("ffi.StructuralMap", &ret, none, list, none, tenon_arg_string("a")), 0);
	tenon_error_clear();
	assert_int_not_equal(
		CALL("ffi.StructuralWalk", &ret, none, list, none, tenon_arg_string("a")), 0);
	tenon_error_clear();
	/* the first pair of a map ends the walk */
	v = of_json("{\"a\": 1, \"b\": 2}");
	mode = INTERRUPTS;
	calls = 0;
	assert_int_equal(CALL("ffi.StructuralWalk", &ret, v, list, none, tenon_arg_int(0)), 0);
	assert_int_equal(calls, 1);
	tenon_value_release(&ret);
	tenon_value_release(&v);
	tenon_value_release(&none);
	tenon_value_release(&list);
}

static void a_mutation_may_fail_at_each_value(void **state)
{
	struct tenon_value list = callbacks(TENON_TYPE_INT, 3), v, ret;
	int kind;

	(void)state;
	mode = FAILS_AT_TWO;
	for (kind = 0; kind < 4; kind++) {
		v = of_kind(kind);
		assert_int_not_equal(CALL("ffi.StructuralMutate", &ret, v, list), 0);
		assert_error("met a two");
		assert_int_not_equal(call_moved("ffi.StructuralMutate", &ret, v, list, v, 0), 0);
		assert_error("met a two");
	}
	tenon_value_release(&list);
}

/* ---- what callbacks ask visitors and mutators */

static bool asks_mutator;
static int64_t seen_region;
static struct tenon_value walker;

static const char *function_of(const char *name)
{
	static char text[128];

	snprintf(text, sizeof(text), "ffi.Structural%s%s", asks_mutator ? "Mutator" : "Visitor",
		 name);
	return text;
}

static int64_t region_now(void)
{
	struct tenon_value ret;

	assert_int_equal(CALL(function_of("DefRegionKind"), &ret, walker), 0);
	return ret.as.integer;
}

static int with_region(int64_t kind, tenon_call_fn run)
{
	struct tenon_value f, ret;
	int err;

	assert_int_equal(abi_ffi_function_create(NULL, run, NULL, &f.as.pointer), 0);
	f = tenon_arg_object(f.as.object);
	err = CALL(function_of("WithDefRegionKind"), &ret, walker, tenon_arg_int(kind), f);
	tenon_value_release(&f);
	return err;
}

static int look(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	seen_region = region_now();
	return 0;
}

/* A region of patterns stays one, whatever is asked within it. */
static int look_deeper(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	return with_region(2, look);
}

static void ask_mutator(struct tenon_value v)
{
	struct tenon_value array, ret;

	assert_int_not_equal(CALL("ffi.StructuralMutatorVarRemapGet", &ret, walker, v), 0);
	assert_error_has("object-backed");
	assert_int_not_equal(CALL("ffi.StructuralMutatorVarRemapSet", &ret, walker, v, v), 0);
	assert_error_has("object-backed");
	assert_int_equal(call("ffi.Array", &array, NULL, 0), 0);
	assert_int_equal(CALL("ffi.StructuralMutatorVarRemapGet", &ret, walker, array), 0);
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	assert_int_equal(CALL("ffi.StructuralMutatorVarRemapSet", &ret, walker, array, v), 0);
	assert_int_equal(CALL("ffi.StructuralMutatorVarRemapSet", &ret, walker, array, v), 0);
	assert_int_equal(CALL("ffi.StructuralMutatorVarRemapGet", &ret, walker, array), 0);
	assert_int_equal(ret.as.integer, v.as.integer);
	assert_int_equal(CALL("ffi.StructuralMutatorDefaultMutate", &ret, walker, array), 0);
	tenon_value_release(&ret);
	assert_int_equal(CALL("ffi.StructuralMutatorMutate", &ret, walker, array), 0);
	tenon_value_release(&ret);
	tenon_value_release(&array);
}

static int ask(const struct tenon_value *args, int32_t count)
{
	struct tenon_value ret;

	assert_true(count >= 2);
	walker = args[1];
	assert_int_equal(region_now(), 0);
	assert_int_not_equal(with_region(-1, look), 0);
	assert_error_has("no kind -1");
	assert_int_not_equal(with_region(3, look), 0);
	assert_error_has("no kind 3");
	assert_int_equal(with_region(2, look), 0);
	assert_int_equal(seen_region, 2);
	assert_int_equal(with_region(1, look_deeper), 0);
	assert_int_equal(seen_region, 1);
	assert_int_equal(region_now(), 0);
	assert_int_not_equal(CALL(function_of("WithDefRegionKind"), &ret, walker, args[0], args[0]),
			     0);
	tenon_error_clear();
	assert_int_not_equal(
		CALL(function_of("WithDefRegionKind"), &ret, walker, tenon_arg_string("a"), walker),
		0);
	tenon_error_clear();
	if (asks_mutator) {
		ask_mutator(args[0]);
		return 0;
	}
	assert_int_equal(CALL("ffi.StructuralVisitorDefaultVisit", &ret, walker, args[0]), 0);
	return 0;
}

static void callbacks_know_the_region_and_change_it_for_a_while(void **state)
{
	struct tenon_value list = callbacks(TENON_TYPE_INT, 2), v = of_json("[5]"), ret;

	(void)state;
	mode = ASKS;
	asks_mutator = false;
	calls = 0;
	assert_int_equal(CALL("ffi.StructuralVisit", &ret, v, list), 0);
	assert_int_equal(calls, 1);
	tenon_value_release(&list);
	list = callbacks(TENON_TYPE_INT, 3);
	asks_mutator = true;
	assert_int_equal(CALL("ffi.StructuralMutate", &ret, v, list), 0);
	assert_int_equal(calls, 2);
	tenon_value_release(&ret);
	tenon_value_release(&v);
	tenon_value_release(&list);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(entries_are_a_type_and_a_function),
		cmocka_unit_test(a_callback_is_for_values_of_its_type),
		cmocka_unit_test(a_walk_ends_with_an_interrupt_or_an_error),
		cmocka_unit_test(a_visit_returns_none_or_an_interrupt),
		cmocka_unit_test(values_too_deep_are_refused),
		cmocka_unit_test(an_error_in_a_map_leaves_what_was_mapped),
		cmocka_unit_test(a_map_takes_what_its_callback_returns),
		cmocka_unit_test(a_field_that_is_mapped_needs_a_setter),
		cmocka_unit_test(a_mutation_may_fail_at_each_value),
		cmocka_unit_test(callbacks_know_the_region_and_change_it_for_a_while),
	};

	return cmocka_run_group_tests(cases, open_library, NULL);
}

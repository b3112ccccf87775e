/* SPDX-License-Identifier: MIT */
/* Functions of types that fail, or return what they should not. */
#include "dropin_types.h"

/* what a function of a type does */
enum mode {
	GOES_ON, /* to what is inside */
	RETURNS_TEXT,
	RETURNS_NUMBER,
	RETURNS_NULL, /* as an object of the type */
	FAILS,
	PASSES_NOTHING,
	PASSES_TEXT,
	PASSES_BORROWED, /* what cannot be kept */
	PASSES_BORROWED_LAST,
	KEEPS, /* the function that goes on */
};

static enum mode mode;
static struct tenon_function *kept;
static int64_t region;

/* a tensor of the caller's, which lives as long as a call */
static DLTensor borrowed;

/**
 * struct hook - a function of a type that gets one, as its last argument, to go on with what is inside
 * @attribute: its name
 * @function: that calls it
 * @objects: the number of objects that this function takes
 * @passes: the number of arguments to go on with
 */
struct hook {
	const char *attribute;
	const char *function;
	int32_t objects;
	int32_t passes;
};

/* The arguments with which a hook goes on: one value or two; for structural ones, what is known, and the region */
static int32_t pass(const struct hook *h, const struct tenon_value *args, struct tenon_value *v)
{
	int32_t i;

	for (i = 0; i < 4; i++)
		v[i] = tenon_arg_string("a text");
	if (mode == PASSES_TEXT)
		return h->passes;
	v[0] = holder_inner(&args[0]);
	if (h->objects == 2)
		v[1] = holder_inner(&args[1]);
	if (h->passes == 3)
		v[1] = tenon_arg_int(7);
	if (h->passes > 2)
		v[2] = tenon_arg_int(region);
	if (mode == PASSES_BORROWED)
		v[0] = tenon_arg_tensor(&borrowed);
	if (mode == PASSES_BORROWED_LAST)
		v[h->objects - 1] = tenon_arg_tensor(&borrowed);
	return mode == PASSES_NOTHING ? 0 : h->passes;
}

static int hook_call(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	struct tenon_value v[4], text = tenon_arg_string("a text of many letters");
	const struct hook *h = self;
	int32_t n;

	if (mode == FAILS)
		return tenon_error(-TENON_E_VALUE, "said by a hook");
	if (mode == RETURNS_NUMBER) {
		*ret = tenon_arg_int(7);
		return 0;
	}
	if (mode == RETURNS_NULL) {
		*ret = (struct tenon_value){ .type = holder_next_type };
		return 0;
	}
	if (mode == RETURNS_TEXT || !h->passes)
		return tenon_value_own(&text, ret);
	if (mode == KEEPS) {
		kept = args[count - 1].as.pointer;
		tenon_object_ref(kept);
	}
	n = pass(h, args, v);
	return tenon_function_call(args[count - 1].as.pointer, v, n, ret);
}

/* ---- hooks that go on with what is inside */

static int call_with(const char *function, int32_t objects, struct tenon_value a,
		     struct tenon_value b, struct tenon_value *ret)
{
	struct tenon_value v[2] = { a, b };

	return call(function, ret, v, objects);
}

static void fails_with_a_message(const char *function, int32_t objects, struct tenon_value a,
				 struct tenon_value b)
{
	struct tenon_value ret;

	if (!call_with(function, objects, a, b, &ret))
		fail_msg("%s: no failure in mode %d", function, mode);
	assert_true(*tenon_error_message());
	tenon_error_clear();
}

static const struct hook hooks[] = {
	{ "__ffi_repr__", "ffi.ReprPrint", 1, 1 },
	{ "__ffi_eq__", "ffi.RecursiveEq", 2, 2 },
	{ "__ffi_compare__", "ffi.RecursiveLt", 2, 2 },
	{ "__ffi_hash__", "ffi.RecursiveHash", 1, 1 },
	{ "__s_equal__", "ffi.StructuralEqual", 2, 4 },
	{ "__s_hash__", "ffi.StructuralHash", 1, 3 },
};

static void try_hook(const struct hook *h, struct tenon_value a, struct tenon_value b)
{
	static const enum mode bad[] = { RETURNS_NUMBER,      RETURNS_TEXT, FAILS,
					 PASSES_NOTHING,      PASSES_TEXT,  PASSES_BORROWED,
					 PASSES_BORROWED_LAST };
	bool is_repr = !strcmp(h->attribute, "__ffi_repr__");
	struct tenon_value v[4] = { tenon_arg_int(1), tenon_arg_int(1), tenon_arg_int(0),
				    tenon_arg_string("inner") };
	struct tenon_value ret;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		mode = bad[i];
		/* a number is what most should return, and a text what one should */
		if (mode == (is_repr ? RETURNS_TEXT : RETURNS_NUMBER) ||
		    (mode == PASSES_TEXT && h->passes < 3))
			continue;
		fails_with_a_message(h->function, h->objects, a, b);
	}
	mode = GOES_ON;
	for (region = 0; region < 4; region++) {
		assert_int_equal(call_with(h->function, h->objects, a, b, &ret), 0);
		tenon_value_release(&ret);
	}
	region = 0;
	/* the function that goes on ends with the hook */
	mode = KEEPS;
	assert_int_equal(call_with(h->function, h->objects, a, b, &ret), 0);
	tenon_value_release(&ret);
	assert_int_not_equal(tenon_function_call(kept, v, h->passes, &ret), 0);
	assert_error_has("only until it returns");
	tenon_object_unref(kept);
}

static void set_hook(int32_t type, const struct hook *h)
{
	type_set_function(type, h->attribute, (void *)(uintptr_t)h, hook_call);
}

static void functions_of_types_that_misbehave_are_errors(void **state)
{
	struct tenon_value a, b;
	char key[64];
	int32_t type;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(hooks) / sizeof(*hooks); i++) {
		snprintf(key, sizeof(key), "test.hooks.%s", hooks[i].attribute);
		type = holder_type(key, COMPARED_TREE, holder_create);
		set_hook(type, &hooks[i]);
		a = holder_make(type, tenon_arg_int(1));
		b = holder_make(type, tenon_arg_int(1));
		try_hook(&hooks[i], a, b);
		tenon_value_release(&a);
		tenon_value_release(&b);
	}
}

static void what_is_compared_by_a_function_needs_another_one_for_its_hash(void **state)
{
	static const struct hook *const two[] = { &hooks[1], &hooks[2] };
	struct tenon_value v, ret;
	char key[64];
	int32_t type;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		snprintf(key, sizeof(key), "test.hooks.unhashed%d", i);
		type = holder_type(key, COMPARED_TREE, holder_create);
		set_hook(type, two[i]);
		v = holder_make(type, tenon_arg_int(1));
		assert_int_not_equal(CALL("ffi.RecursiveHash", &ret, v), 0);
		assert_error_has("__ffi_hash__");
		tenon_value_release(&v);
	}
}

static void an_attribute_that_is_no_function_is_none(void **state)
{
	int32_t type = holder_type("test.hooks.NoFunction", COMPARED_TREE, holder_create);
	struct tenon_value v;

	(void)state;
	type_set_attribute(type, "__ffi_repr__", tenon_arg_int(1));
	v = holder_make(type, tenon_arg_int(1));
	assert_shown(v, "test.hooks.NoFunction(inner=1)");
	tenon_value_release(&v);
}

/* ---- hooks that make a value */

/* A type with one such function. Return: an object of it */
static struct tenon_value make_with(const struct hook *h, const char *key)
{
	int32_t type = holder_type(key, COMPARED_TREE, holder_create);

	set_hook(type, h);
	return holder_make(type, tenon_arg_int(1));
}

static void a_copy_that_is_no_object_of_the_type_is_refused(void **state)
{
	static const struct hook copies = { "__ffi_shallow_copy__", NULL, 1, 0 };
	static const enum mode bad[] = { FAILS, RETURNS_NUMBER, RETURNS_TEXT, RETURNS_NULL };
	struct tenon_value v = make_with(&copies, "test.hooks.copied"), ret, none;
	size_t i;

	(void)state;
	assert_int_equal(call("ffi.Array", &none, NULL, 0), 0);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		mode = bad[i];
		fails_with_a_message("ffi.DeepCopy", 1, v, v);
		assert_int_not_equal(
			CALL("ffi.StructuralMap", &ret, v, none, none, tenon_arg_int(0)), 0);
		assert_true(*tenon_error_message());
		tenon_error_clear();
	}
	tenon_value_release(&none);
	tenon_value_release(&v);
	/* nor is one that cannot be copied at all */
	v = holder_make(holder_type("test.hooks.uncopied", COMPARED_TREE, holder_create),
			tenon_arg_int(1));
	fails_with_a_message("ffi.DeepCopy", 1, v, v);
	tenon_value_release(&v);
}

static void a_constructor_that_gives_no_object_of_the_type_is_refused(void **state)
{
	static const struct hook makes = { "__ffi_new__", NULL, 0, 0 };
	static const enum mode bad[] = { FAILS, RETURNS_NUMBER, RETURNS_TEXT, RETURNS_NULL };
	int32_t type = holder_type("test.hooks.made", COMPARED_TREE, NULL);
	struct tenon_value ret;
	size_t i;

	(void)state;
	set_hook(type, &makes);
	holder_next_type = type;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		mode = bad[i];
		assert_int_not_equal(CALL("ffi.MakeObjectFromPackedArgs", &ret, tenon_arg_int(type),
					  tenon_arg_string("inner"), tenon_arg_int(1)),
				     0);
		assert_true(*tenon_error_message());
		tenon_error_clear();
	}
	holder_creator_fails = true;
	type = holder_type("test.hooks.unmade", COMPARED_TREE, holder_create);
	assert_int_not_equal(CALL("ffi.MakeObjectFromPackedArgs", &ret, tenon_arg_int(type)), 0);
	assert_error("said by a creator");
	holder_creator_fails = false;
	/* a creator of native code may give nothing, or an object of another type */
	holder_creator_is_empty = true;
	assert_int_not_equal(CALL("ffi.MakeObjectFromPackedArgs", &ret, tenon_arg_int(type)), 0);
	assert_error_has("the creator of `test.hooks.unmade` returned no object");
	holder_creator_is_empty = false;
	holder_next_type = holder_type("test.hooks.other", COMPARED_TREE, NULL);
	assert_int_not_equal(CALL("ffi.MakeObjectFromPackedArgs", &ret, tenon_arg_int(type),
				  tenon_arg_string("inner"), tenon_arg_int(1)),
			     0);
	assert_error_has("the creator of `test.hooks.unmade` returned no object");
}

static void a_function_that_turns_an_object_into_json_may_fail(void **state)
{
	static const struct hook saves = { "__data_to_json__", NULL, 1, 0 },
				 loads = { "__data_from_json__", NULL, 1, 0 };
	struct tenon_value v = make_with(&saves, "test.hooks.saved"), text, ret;
	int32_t type;

	(void)state;
	mode = FAILS;
	fails_with_a_message("ffi.ToJSONGraphString", 1, v, v);
	mode = RETURNS_TEXT;
	assert_int_equal(CALL("ffi.ToJSONGraphString", &text, v), 0);
	tenon_value_release(&text);
	tenon_value_release(&v);
	type = holder_type("test.hooks.loaded", COMPARED_TREE, holder_create);
	set_hook(type, &loads);
	text = tenon_arg_string(
		"{\"root_index\": 0, \"nodes\": [{\"type\": \"test.hooks.loaded\"}]}");
	mode = FAILS;
	assert_int_not_equal(CALL("ffi.FromJSONGraphString", &ret, text), 0);
	assert_error("said by a hook");
	mode = RETURNS_NUMBER;
	assert_int_equal(CALL("ffi.FromJSONGraphString", &ret, text), 0);
	assert_int_equal(ret.as.integer, 7);
}

/* ---- functions of C++ code, as pointers, and attributes that are neither */

static struct tenon_value visit_nothing(void *visitor, struct tenon_value value)
{
	(void)visitor;
	(void)value;
	return tenon_arg_none();
}

static void a_hook_is_a_function_or_a_pointer(void **state)
{
	static const struct {
		const char *attribute;
		const char *function;
	} rows[] = { { "__s_visit__", "ffi.StructuralVisit" },
		     { "__s_mutate__", "ffi.StructuralMutate" } };
	struct tenon_value (*direct)(void *, struct tenon_value) = visit_nothing;
	struct tenon_value v, ret, none, pointer = tenon_arg_pointer(NULL);
	char key[64];
	int32_t type;
	size_t i;

	(void)state;
	assert_int_equal(call("ffi.Array", &none, NULL, 0), 0);
	memcpy(&pointer.as.pointer, &direct, sizeof(direct));
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(key, sizeof(key), "test.hooks.number%zu", i);
		type = holder_type(key, COMPARED_TREE, holder_create);
		type_set_attribute(type, rows[i].attribute, tenon_arg_int(1));
		v = holder_make(type, tenon_arg_int(1));
		assert_int_not_equal(CALL(rows[i].function, &ret, v, none), 0);
		assert_error_has("pointer or ffi.Function");
		tenon_value_release(&v);

		snprintf(key, sizeof(key), "test.hooks.pointer%zu", i);
		type = holder_type(key, COMPARED_TREE, holder_create);
		type_set_attribute(type, rows[i].attribute, pointer);
		v = holder_make(type, tenon_arg_int(1));
		assert_int_equal(CALL(rows[i].function, &ret, v, none), 0);
		assert_int_equal(ret.type, TENON_TYPE_NONE);
		tenon_value_release(&v);

		snprintf(key, sizeof(key), "test.hooks.function%zu", i);
		type = holder_type(key, COMPARED_TREE, holder_create);
		type_set_function(type, rows[i].attribute, (void *)(uintptr_t)&hooks[0], hook_call);
		v = holder_make(type, tenon_arg_int(1));
		mode = FAILS;
		assert_int_not_equal(CALL(rows[i].function, &ret, v, none), 0);
		assert_error("said by a hook");
		tenon_value_release(&v);
	}
	tenon_value_release(&none);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(functions_of_types_that_misbehave_are_errors),
		cmocka_unit_test(what_is_compared_by_a_function_needs_another_one_for_its_hash),
		cmocka_unit_test(an_attribute_that_is_no_function_is_none),
		cmocka_unit_test(a_copy_that_is_no_object_of_the_type_is_refused),
		cmocka_unit_test(a_constructor_that_gives_no_object_of_the_type_is_refused),
		cmocka_unit_test(a_function_that_turns_an_object_into_json_may_fail),
		cmocka_unit_test(a_hook_is_a_function_or_a_pointer),
	};

	return cmocka_run_group_tests(cases, open_library, NULL);
}

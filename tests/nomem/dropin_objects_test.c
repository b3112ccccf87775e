/* SPDX-License-Identifier: MIT */
/*
 * Functions of libtvm_ffi.so for values with objects in them, whose types have fields, functions of their own, and variables, each
 * called once for each allocation in it, with that one failing.
 */
#include "tests/nomem/dropin_rows.h"
#include "tests/unit/dropin_holder.h"

/* ---- types, whose objects hold two values */

static void *make_object, *mutate, *mutate_default, *visit, *visit_default;

static int get_value(void *field, struct tenon_value *out)
{
	return ffi.own(field, out);
}

static int set_value(void *field, const struct tenon_value *value)
{
	struct tenon_value old = *(struct tenon_value *)field;

	if (ffi.own(value, field)) {
		*(struct tenon_value *)field = old;
		return -1;
	}
	dropin_release(&old);
	return 0;
}

/* A setter that takes nothing; its error has two lines. */
static int refuse_value(void *field, const struct tenon_value *value)
{
	struct tenon_value text = tenon_arg_string("[1,\n nul]"), ret;

	(void)field;
	(void)value;
	return ffi.call(parse, &text, 1, &ret);
}

static void add_field(int32_t type, const char *name, size_t offset, int64_t flags,
		      setter_fn setter)
{
	struct type_field f = { .name = tenon_slice_of(name),
				.flags = flags,
				.size = sizeof(struct tenon_value),
				.alignment = 8,
				.offset = (int64_t)offset,
				.getter = get_value,
				.static_type = TENON_TYPE_ANY };

	memcpy(&f.setter, &setter, sizeof(f.setter));
	assert_int_equal(ffi.add_field(type, &f), 0);
}

static int32_t add_type(const char *key, int32_t kind, setter_fn setter)
{
	const struct type_metadata metadata = { .total_size = sizeof(struct holder),
						.structural_kind = kind };
	struct tenon_slice name = tenon_slice_of(key);
	struct tenon_value args[2], ret = tenon_arg_none();
	int32_t type = ffi.add_type(&name, -1, 1, 0, 1, TENON_TYPE_OBJECT);

	assert_true(type >= TENON_TYPE_DYNAMIC);
	assert_int_equal(ffi.add_metadata(type, &metadata), 0);
	add_field(type, "variable", offsetof(struct holder, other),
		  FIELD_DEFINES_PATTERN | FIELD_HAS_DEFAULT, set_value);
	add_field(type, "inner", offsetof(struct holder, inner), 0, setter);
	args[0] = tenon_arg_int(type);
	args[1] = tenon_arg_int(sizeof(struct holder));
	assert_int_equal(
		ffi.call(dropin_find("ffi._PyClassRegisterTypeAttrColumns"), args, 2, &ret), 0);
	return type;
}

static void add_attribute(int32_t type, const char *name, tenon_call_fn call)
{
	struct tenon_slice key = tenon_slice_of(name);
	struct tenon_value v;
	void *f;

	assert_int_equal(ffi.create(NULL, call, NULL, &f), 0);
	v = tenon_arg_object(f);
	assert_int_equal(ffi.add_attribute(type, &key, &v), 0);
	ffi.unref(f);
}

#define CALL(name)                                                                                 \
	static int name(void *self, const struct tenon_value *args, int32_t count,                 \
			struct tenon_value *ret)

/* Functions of a type, which go on with what is inside by their last argument */
CALL(one_inside)
{
	struct tenon_value v = holder_inner(&args[0]);

	(void)self;
	return ffi.call(args[count - 1].as.object, &v, 1, ret);
}

CALL(two_inside)
{
	struct tenon_value v[2] = { holder_inner(&args[0]), holder_inner(&args[1]) };

	(void)self;
	return ffi.call(args[count - 1].as.object, v, 2, ret);
}

CALL(equal_inside)
{
	struct tenon_value v[4] = { holder_inner(&args[0]), holder_inner(&args[1]),
				    tenon_arg_int(0), tenon_arg_string("inner") };

	(void)self;
	return ffi.call(args[count - 1].as.object, v, 4, ret);
}

CALL(hash_inside)
{
	struct tenon_value v[3] = { holder_inner(&args[0]), args[1], tenon_arg_int(0) };

	(void)self;
	return ffi.call(args[count - 1].as.object, v, 3, ret);
}

CALL(visit_inside)
{
	struct tenon_value v[2] = { args[0], holder_inner(&args[1]) };

	(void)self;
	(void)count;
	return ffi.call(visit, v, 2, ret);
}

CALL(mutate_inside)
{
	struct tenon_value v[2] = { args[0], holder_inner(&args[1]) };

	(void)self;
	(void)count;
	return ffi.call(mutate, v, 2, ret);
}

CALL(to_json)
{
	struct tenon_value v = tenon_arg_string(LONG);

	(void)self;
	(void)args;
	(void)count;
	return ffi.own(&v, ret);
}

CALL(from_json)
{
	struct tenon_value v[3] = { tenon_arg_string("test.nomem.Hooked"),
				    tenon_arg_string("inner"), args[0] };

	(void)self;
	(void)count;
	return ffi.call(make_object, v, 3, ret);
}

/* ---- callbacks by type */

/* in place of an integer, a text */
CALL(replace)
{
	struct tenon_value text = tenon_arg_string(LONG);

	(void)self;
	(void)count;
	*ret = (struct tenon_value){ .type = 13 /* unchanged */ };
	return args[0].type == TENON_TYPE_INT ? ffi.own(&text, ret) : 0;
}

/* the same, and what is inside other values */
CALL(replace_within)
{
	struct tenon_value v[2] = { args[1], args[0] };

	return args[0].type == TENON_TYPE_INT ? replace(self, args, count, ret)
					      : ffi.call(mutate_default, v, 2, ret);
}

CALL(go_on)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	return 0;
}

CALL(go_inside)
{
	struct tenon_value v[2] = { args[1], args[0] };

	(void)self;
	(void)count;
	return ffi.call(visit_default, v, 2, ret);
}

/* An array of one entry, for values of all types: a function, and 1 where it takes one argument more */
static struct tenon_value make_callbacks(tenon_call_fn call, int32_t more)
{
	struct tenon_value entry[3] = { tenon_arg_int(TENON_TYPE_ANY) }, v, list;
	void *f;

	assert_int_equal(ffi.create(NULL, call, NULL, &f), 0);
	entry[1] = tenon_arg_object(f);
	entry[2] = tenon_arg_int(1);
	v = dropin_made(make_array, entry, 2 + more);
	list = dropin_made(make_array, &v, 1);
	dropin_release(&v);
	ffi.unref(f);
	return list;
}

/* An array of a list, or a dict, that contains the array. Nothing frees a cycle, so it is kept for the next time. */
static struct tenon_value make_cycle(void *make, const char *function, int32_t count)
{
	static struct tenon_value made[2];
	struct tenon_value *v = &made[count - 2], args[3], ret;

	if (v->type == TENON_TYPE_NONE) {
		args[0] = dropin_made(make, NULL, 0);
		*v = dropin_made(make_array, args, 1);
		args[1] = count == 3 ? tenon_arg_string(LONG) : *v;
		args[2] = *v;
		ret = dropin_made(find_function(function), args, count);
		dropin_release(&ret);
		dropin_release(&args[0]);
	}
	assert_int_equal(ffi.own(v, &ret), 0);
	return ret;
}

/* ---- arguments: "o" and a type with what is inside, or the name of callbacks */

static struct tenon_value make_holder(const char *type, const char *json)
{
	struct tenon_value args[5] = { tenon_arg_string(type), tenon_arg_string("inner"),
				       tenon_arg_none(), tenon_arg_string("variable"),
				       tenon_arg_none() };
	struct tenon_value text = tenon_arg_string(json), v;

	args[2] = dropin_made(parse, &text, 1);
	if (strcmp(type, "test.nomem.Variable"))
		args[4] = make_holder("test.nomem.Variable", "1");
	v = dropin_made(make_object, args, 5);
	dropin_release(&args[2]);
	dropin_release(&args[4]);
	return v;
}

static struct tenon_value make_object_of(const char *arg)
{
	static const struct {
		const char *name;
		tenon_call_fn call;
		int32_t more;
	} callbacks[] = {
		{ "go_on", go_on, 0 },
		{ "go_inside", go_inside, 0 },
		{ "replace", replace, 0 },
		{ "replace_within", replace_within, 1 },
	};
	const char *colon = strchr(arg, ':');
	struct tenon_value v, list;
	char type[64];
	size_t i;

	for (i = 0; i < sizeof(callbacks) / sizeof(*callbacks); i++)
		if (!strcmp(arg + 1, callbacks[i].name))
			return make_callbacks(callbacks[i].call, callbacks[i].more);
	if (!strcmp(arg + 1, "cycle list"))
		return make_cycle(make_list, "ffi.ListAppend", 2);
	if (!strcmp(arg + 1, "cycle dict"))
		return make_cycle(make_dict, "ffi.DictSetItem", 3);
	if (!strcmp(arg + 1, "keywords"))
		return dropin_made(find_function("ffi.GetKwargsObject"), NULL, 0);
	assert_non_null(colon);
	snprintf(type, sizeof(type), "test.nomem.%.*s", (int)(colon - arg - 1), arg + 1);
	v = make_holder(type, colon + 1);
	if (*arg != 'v')
		return v;
	list = dropin_made(make_list, &v, 1);
	dropin_release(&v);
	return list;
}

/* ---- rows */

#define DEEP "[1, \"" LONG "\", {\"a\": [2]}]"
#define EACH(f)                                                                                    \
	{ f, { "oTree:" DEEP } }, { f, { "oVariable:" DEEP } }, { f, { "oGraph:" DEEP } },         \
		{ f, { "oConst:" DEEP } },                                                         \
	{                                                                                          \
		f,                                                                                 \
		{                                                                                  \
			"oHooked:" DEEP                                                            \
		}                                                                                  \
	}
#define PAIRS(f, ...)                                                                              \
	{ f, { "oTree:" DEEP, "oTree:" DEEP, ##__VA_ARGS__ } },                                    \
		{ f, { "oVariable:" DEEP, "oVariable:" DEEP, ##__VA_ARGS__ } },                    \
		{ f, { "oGraph:" DEEP, "oGraph:" DEEP, ##__VA_ARGS__ } },                          \
		{ f, { "oHooked:" DEEP, "oHooked:" DEEP, ##__VA_ARGS__ } },                        \
		{ f, { "oTree:" DEEP, "oTree:[1, \"another\"]", ##__VA_ARGS__ } },                 \
	{                                                                                          \
		f,                                                                                 \
		{                                                                                  \
			"oHooked:" DEEP, "oHooked:[1, \"another\"]", ##__VA_ARGS__                 \
		}                                                                                  \
	}

static const struct row rows[] = {
	EACH("ffi.DeepCopy"),
	EACH("ffi.RecursiveHash"),
	{ "ffi.RecursiveHash", { "ocycle list" } },
	{ "ffi.ReprPrint", { "ocycle list" } },
	{ "ffi.ReprPrint", { "ocycle dict" } },
	EACH("ffi.ReprPrint"),
	EACH("ffi.StructuralHash"),
	EACH("ffi.StructuralKey"),
	{ "ffi.StructuralHash", { "oTree:" DEEP, "i1", "i1" } },
	{ "ffi.StructuralHash", { "t" } },
	{ "ffi.ToJSONGraphString", { "oTree:" DEEP, "n" } },
	{ "ffi.ToJSONGraphString", { "oHooked:" DEEP, "n" } },
	{ "ffi.ToJSONGraph", { "oTree:" DEEP, "j" DEEP } },
	PAIRS("ffi.RecursiveEq"),
	PAIRS("ffi.RecursiveLt"),
	PAIRS("ffi.StructuralEqual"),
	PAIRS("ffi.StructuralEqual", "i1", "i1"),
	PAIRS("ffi.GetFirstStructuralMismatch", "i0", "i0"),
	PAIRS("ffi.GetFirstStructuralMismatch", "i1", "i0"),
	{ "ffi.StructuralWalk", { "oTree:" DEEP, "ogo_on", "j[]", "i0" } },
	{ "ffi.StructuralWalk", { "oHooked:" DEEP, "j[]", "ogo_on", "i1" } },
	{ "ffi.StructuralVisit", { "oTree:" DEEP, "ogo_inside" } },
	{ "ffi.StructuralVisit", { "oHooked:" DEEP, "j[]" } },
	{ "ffi.StructuralMap", { "oTree:" DEEP, "oreplace", "j[]", "i0" } },
	{ "ffi.StructuralMap", { "oTree:" DEEP, "j[]", "oreplace", "i1" } },
	{ "ffi.StructuralMap", { "oVariable:" DEEP, "oreplace", "j[]", "i1" } },
	{ "ffi.StructuralMap", { "oGraph:" DEEP, "oreplace", "j[]", "i0" } },
	{ "ffi.StructuralMap", { "oHooked:" DEEP, "oreplace", "j[]", "i1" } },
	{ "ffi.StructuralMap", { "vTree:" DEEP, "oreplace", "j[]", "i1" } },
	{ "ffi.StructuralMap", { "vGraph:" DEEP, "oreplace", "j[]", "i0" } },
	{ "ffi.StructuralMap", { "d{\"a\": 1, \"b\": [2, {\"c\": 3}]}", "oreplace", "j[]", "i1" } },
	{ "ffi.StructuralMap", { "l" DEEP, "oreplace", "j[]", "i0" } },
	{ "ffi.StructuralMutate", { "oTree:" DEEP, "oreplace_within" } },
	{ "ffi.StructuralMutate", { "vTree:" DEEP, "oreplace_within" } },
	{ "__ffi_init__ test.nomem.Tree", { "s" LONG } },
	{ "__ffi_init__ test.nomem.Tree", { "okeywords", "sinner", "s" LONG } },
	{ "__ffi_init__ test.nomem.Tree", { "okeywords", "sno field", "s" LONG } },
	{ "__ffi_init__ test.nomem.Tree", { "s" LONG, "n", "n", "n" } },
	{ "__ffi_init__ test.nomem.Closed", { "s" LONG } },
	{ "__ffi_init__ ffi.EnumState", { NULL } },
	{ "__ffi_new__ test.nomem.Tree", { NULL } },
	{ "__ffi_shallow_copy__ test.nomem.Tree", { "oTree:" DEEP } },
	{ "__ffi_convert__ ffi.Array", { "l" DEEP } },
	{ "__ffi_convert__ ffi.Dict", { "j{\"a\": 1, \"" LONG "\": [1]}" } },
	{ "__ffi_convert__ ffi.List", { "j" DEEP } },
	{ "__ffi_convert__ ffi.Map", { "d{\"a\": 1, \"" LONG "\": [1]}" } },
	{ "__ffi_convert__ ffi.Shape", { "j[1, 2, 3]" } },
	{ "__ffi_convert__ ffi.Shape", { "j[1, 2, \"a\"]" } },
	{ "__ffi_convert__ ffi.String", { "s" LONG } },
	{ "__ffi_convert__ ffi.String", { "i1" } },
	{ "ffi.MakeObjectFromPackedArgs", { "stest.nomem.Tree", "sinner", "s" LONG } },
	{ "ffi.FromJSONGraphString",
	  { "s{\"root_index\": 0, \"nodes\": [{\"type\": \"test.nomem.Hooked\", \"data\": "
	    "[1]}]}" } },
};

static void objects_without_memory_fail_and_nothing_is_lost(void **state)
{
	(void)state;
	rows_lose_nothing(rows, sizeof(rows) / sizeof(rows[0]));
}

static void add_hooks(int32_t type)
{
	add_attribute(type, "__ffi_repr__", one_inside);
	add_attribute(type, "__ffi_hash__", one_inside);
	add_attribute(type, "__ffi_eq__", two_inside);
	add_attribute(type, "__ffi_compare__", two_inside);
	add_attribute(type, "__s_equal__", equal_inside);
	add_attribute(type, "__s_hash__", hash_inside);
	add_attribute(type, "__s_visit__", visit_inside);
	add_attribute(type, "__s_mutate__", mutate_inside);
	add_attribute(type, "__data_to_json__", to_json);
	add_attribute(type, "__data_from_json__", from_json);
}

static int objects_ready(void **state)
{
	if (rows_ready(state))
		return -1;
	make_own = make_object_of;
	make_object = dropin_find("ffi.MakeObjectFromPackedArgs");
	mutate = dropin_find("ffi.StructuralMutatorMutate");
	mutate_default = dropin_find("ffi.StructuralMutatorDefaultMutate");
	visit = dropin_find("ffi.StructuralVisitorVisit");
	visit_default = dropin_find("ffi.StructuralVisitorDefaultVisit");
	add_type("test.nomem.Tree", COMPARED_TREE, set_value);
	add_type("test.nomem.Variable", COMPARED_VARIABLE, set_value);
	add_type("test.nomem.Graph", COMPARED_GRAPH, set_value);
	add_type("test.nomem.Const", COMPARED_CONST_TREE, set_value);
	add_type("test.nomem.Closed", COMPARED_TREE, refuse_value);
	add_hooks(add_type("test.nomem.Hooked", COMPARED_TREE, set_value));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_without_memory_fail_and_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, objects_ready, NULL);
}

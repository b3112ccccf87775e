/* SPDX-License-Identifier: MIT */
/* The drop-in's objects: weak references, enumerations, modules, paths, and maps that change while they are used. */
#include "dropin_types.h"

#include <tenon/array.h>

/* ---- what is in an object goes with its last strong reference, its memory with the last weak one */

static void weak_references_keep_the_memory_alone(void **state)
{
	int32_t type = holder_type("test.objects.Plain", COMPARED_TREE, NULL);
	struct tenon_value v, inside;
	struct tenon_object *o;
	int kind;

	(void)state;
	type_add_class(type);
	for (kind = 0; kind < 6; kind++) {
		assert_int_equal(CALL("ffi.List", &inside, tenon_arg_int(1)), 0);
		if (kind == 0)
			assert_int_equal(CALL("ffi.Array", &v, inside), 0);
		else if (kind == 1)
			assert_int_equal(CALL("ffi.Map", &v, tenon_arg_int(1), inside), 0);
		else if (kind == 2)
			assert_int_equal(CALL("ffi.Shape", &v, tenon_arg_int(1)), 0);
		else if (kind == 3)
			v = holder_make(type, inside);
		else if (kind == 4)
			assert_int_equal(call("ffi.List", &v, NULL, 0), 0);
		else
			assert_int_equal(
				CALL("ffi.FromJSONGraphString", &v,
				     tenon_arg_string("{\"root_index\": 0, \"nodes\": [{\"type\": "
						      "\"ffi.BigInt\", \"data\": "
						      "\"18446744073709551616\"}]}")),
				0);
		o = v.as.object;
		/* as C++'s weak pointers do: one more in the upper half */
		__atomic_fetch_add(&o->refs, UINT64_C(1) << 32, __ATOMIC_RELAXED);
		tenon_value_release(&v);
		assert_int_equal(strong_count(o), 0);
		/* nothing else holds what was inside */
		assert_int_equal(strong_count(inside.as.object), 1);
		o->deleter(o, TENON_DELETE_MEMORY);
		tenon_value_release(&inside);
	}
}

static struct tenon_object *kept_walker;

static int keep_walker(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	(void)self;
	(void)count;
	kept_walker = args[1].as.object;
	__atomic_fetch_add(&kept_walker->refs, UINT64_C(1) << 32, __ATOMIC_RELAXED);
	*ret = tenon_arg_none();
	return 0;
}

static void walkers_may_be_kept_by_weak_references(void **state)
{
	static const char *const functions[] = { "ffi.StructuralVisit", "ffi.StructuralMutate" };
	struct tenon_value entry[3] = { tenon_arg_int(TENON_TYPE_ANY) }, v, list, ret;
	void *f;
	int i;

	(void)state;
	assert_int_equal(abi_ffi_function_create(NULL, keep_walker, NULL, &f), 0);
	entry[1] = tenon_arg_object(f);
	for (i = 0; i < 2; i++) {
		assert_int_equal(call("ffi.Array", &v, entry, 2 + i), 0);
		assert_int_equal(CALL("ffi.Array", &list, v), 0);
		tenon_value_release(&v);
		assert_int_equal(CALL(functions[i], &ret, tenon_arg_int(1), list), 0);
		assert_int_equal(strong_count(kept_walker), 0);
		/* the visitor is gone but for its memory: it holds no callbacks */
		assert_int_equal(strong_count(list.as.object), 1);
		kept_walker->deleter(kept_walker, TENON_DELETE_MEMORY);
		tenon_value_release(&list);
	}
	abi_ffi_object_unref(f);
}

/* ---- enumerations, as Python registers them */

struct member {
	struct tenon_object object;
	int64_t number;
	struct tenon_value name;
};

static struct tenon_value make_member(int32_t type, int64_t number, const char *name, bool is_text)
{
	struct tenon_value v, n = tenon_arg_int(number), text = tenon_arg_string(name);

	assert_int_equal(CALL("ffi.MakeObjectFromPackedArgs", &v, tenon_arg_int(type),
			      tenon_arg_string("_int_index"), n, tenon_arg_string("_str_index"),
			      text, tenon_arg_string("value"), is_text ? text : n),
			 0);
	return v;
}

/* The state of an enumeration: its members by what a graph in JSON has for them */
static struct tenon_value make_state(struct tenon_value key, struct tenon_value value)
{
	const struct tenon_slice init = s("__ffi_init__"), name = s("ffi.EnumState");
	const struct type_info *t;
	struct tenon_value v, indexes, ret;
	int32_t type, i;

	assert_int_equal(abi_ffi_type_index(&name, &type), 0);
	assert_int_equal(
		tenon_function_call(abi_ffi_type_column(&init)->data[type].as.pointer, NULL, 0, &v),
		0);
	t = abi_ffi_type_info(type);
	for (i = 0; i < t->field_count; i++) {
		if (!tenon_slice_equal(t->fields[i].name, s("indexes")))
			continue;
		assert_int_equal(
			t->fields[i].getter((char *)v.as.pointer + t->fields[i].offset, &indexes),
			0);
		assert_int_equal(CALL("ffi.DictSetItem", &ret, indexes, key, value), 0);
		tenon_value_release(&indexes);
	}
	return v;
}

static void members_of_enumerations_come_back_as_the_same_object(void **state)
{
	static const char *const parents[] = { "ffi.IntEnum", "ffi.StrEnum" };
	const struct type_metadata metadata = { .total_size = sizeof(struct member),
						.structural_kind = COMPARED_UNIQUE };
	struct tenon_value member, states, text, back, other;
	struct tenon_slice parent;
	char key[64], json[256];
	int32_t type, base;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		parent = s(parents[i]);
		assert_int_equal(abi_ffi_type_index(&parent, &base), 0);
		snprintf(key, sizeof(key), "test.objects.Color%d", i);
		assert_int_equal(tenon_type_register(key, base, &type), 0);
		assert_int_equal(abi_ffi_type_set_metadata(type, &metadata), 0);
		assert_int_equal(CALL("ffi._PyClassRegisterTypeAttrColumns", &back,
				      tenon_arg_int(type), tenon_arg_int(sizeof(struct member))),
				 0);
		member = make_member(type, 3, "red", i);
		snprintf(json, sizeof(json), "test.objects.Color%d.red", i);
		assert_shown(member, json);
		/* without a state, nothing is known by its number */
		assert_int_equal(CALL("ffi.ToJSONGraphString", &text, member), 0);
		assert_int_not_equal(CALL("ffi.FromJSONGraphString", &back, text), 0);
		assert_error_has("no instance");
		states = make_state(i ? tenon_arg_string("red") : tenon_arg_int(3), member);
		type_set_attribute(type, "__ffi_enum__", states);
		tenon_value_release(&states);
		assert_int_equal(CALL("ffi.FromJSONGraphString", &back, text), 0);
		assert_ptr_equal(back.as.pointer, member.as.pointer);
		tenon_value_release(&back);
		tenon_value_release(&text);
		snprintf(json, sizeof(json),
			 "{\"root_index\": 0, \"nodes\": [{\"type\": \"%s\", \"data\": 99}]}", key);
		assert_int_not_equal(CALL("ffi.FromJSONGraphString", &back, tenon_arg_string(json)),
				     0);
		assert_error_has("no instance");
		/* a copy is the member itself, and another one is another value */
		assert_int_equal(CALL("ffi.DeepCopy", &back, member), 0);
		assert_ptr_equal(back.as.pointer, member.as.pointer);
		tenon_value_release(&back);
		other = make_member(type, 3, "red", i);
		assert_int_equal(integer("ffi.StructuralEqual", member, other), 0);
		assert_int_equal(integer("ffi.StructuralEqual", member, member), 1);
		tenon_value_release(&other);
		tenon_value_release(&member);
	}
}

static void conversions_take_what_is_of_the_type(void **state)
{
	static const struct {
		const char *type;
		const char *json;
		const char *shown; /* NULL for an error */
	} rows[] = {
		{ "ffi.Array", "[1, 2]", "(1, 2)" },
		{ "ffi.List", "[1, 2]", "[1, 2]" },
		{ "ffi.Shape", "[1, 2]", "Shape(1, 2)" },
		{ "ffi.Shape", "[1, \"a\"]", NULL },
		{ "ffi.Map", "{\"a\": 1}", "{\"a\": 1}" },
		{ "ffi.Dict", "{\"a\": 1}", "{\"a\": 1}" },
		{ "ffi.Dict", "[1]", NULL },
		{ "ffi.Array", "{\"a\": 1}", NULL },
		{ "ffi.String", "\"a text of many letters\"", "\"a text of many letters\"" },
		{ "ffi.String", "\"a\"", "\"a\"" },
		{ "ffi.Bytes", "\"a\"", NULL },
		{ "ffi.Object", "[1]", "(1,)" },
		{ "ffi.Object", "1", NULL },
		{ "ffi.Tensor", "[1]", NULL },
	};
	const struct tenon_slice name = s("__ffi_convert__");
	struct tenon_value v, ret;
	struct tenon_slice key;
	int32_t type;
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		key = s(rows[i].type);
		assert_int_equal(abi_ffi_type_index(&key, &type), 0);
		assert_int_equal(CALL("ffi.json.Parse", &v, tenon_arg_string(rows[i].json)), 0);
		ret = tenon_arg_none();
		err = tenon_function_call(abi_ffi_type_column(&name)->data[type].as.pointer, &v, 1,
					  &ret);
		assert_int_equal(err != 0, rows[i].shown == NULL);
		if (err) {
			assert_error_has("Cannot cast");
		} else {
			assert_int_equal(ret.type == TENON_TYPE_SMALL_STRING || ret.type == type ||
						 type == TENON_TYPE_OBJECT,
					 true);
			assert_shown(ret, rows[i].shown);
		}
		tenon_value_release(&ret);
		tenon_value_release(&v);
	}
}

/* ---- paths, by the methods of their type */

static int method(const char *name, struct tenon_value *ret, struct tenon_value a,
		  struct tenon_value b, int32_t count)
{
	const struct tenon_slice key = s("ffi.reflection.AccessPath");
	struct tenon_value args[2] = { a, b };
	const struct type_info *t;
	int32_t type, i;

	assert_int_equal(abi_ffi_type_index(&key, &type), 0);
	t = abi_ffi_type_info(type);
	*ret = tenon_arg_none();
	for (i = 0; i < t->method_count; i++)
		if (tenon_slice_equal(t->methods[i].name, s(name)))
			return tenon_function_call(t->methods[i].method.as.pointer, args, count,
						   ret);
	fail_msg("no method %s", name);
	return -1;
}

static int64_t compare_paths(const char *name, struct tenon_value a, struct tenon_value b)
{
	struct tenon_value ret;

	assert_int_equal(method(name, &ret, a, b, 2), 0);
	return ret.as.integer;
}

static void paths_are_equal_step_by_step(void **state)
{
	static const char *const steps[] = {
		"_attr",	 "_array_item",		"_map_item",
		"_attr_missing", "_array_item_missing", "_map_item_missing"
	};
	const struct tenon_value a = tenon_arg_string("a"), none = tenon_arg_none();
	struct tenon_value root, other, one, two, path[6], ret, broken;
	int i, k;

	(void)state;
	assert_int_equal(method("_root", &root, none, none, 0), 0);
	assert_int_equal(method("_root", &other, none, none, 0), 0);
	assert_int_equal(compare_paths("_path_equal", root, other), 1);
	for (i = 0; i < 6; i++)
		assert_int_equal(
			method(steps[i], &path[i], root, i % 3 == 1 ? tenon_arg_int(0) : a, 2), 0);
	for (i = 0; i < 6; i++)
		for (k = 0; k < 6; k++)
			assert_int_equal(compare_paths("_path_equal", path[i], path[k]), i == k);
	assert_int_equal(method("_attr", &one, other, tenon_arg_string("b"), 2), 0);
	assert_int_equal(compare_paths("_path_equal", path[0], one), 0);
	tenon_value_release(&one);
	assert_int_equal(method("_attr", &one, other, a, 2), 0);
	assert_int_equal(compare_paths("_path_equal", path[0], one), 1);
	assert_int_equal(method("_attr", &two, one, a, 2), 0);
	assert_int_equal(compare_paths("_is_prefix_of", path[0], two), 1);
	assert_int_equal(compare_paths("_is_prefix_of", two, path[0]), 0);
	assert_int_equal(compare_paths("_is_prefix_of", root, two), 1);
	assert_shown(two, "<root>.a.a");
	assert_shown(path[4], "<root>[<missing:0>]");
	assert_int_not_equal(method("_attr", &ret, root, tenon_arg_int(1), 2), 0);
	tenon_error_clear();
	/* a path whose depth says more than there is, as JSON may make it */
	assert_int_equal(CALL("ffi.MakeObjectFromPackedArgs", &broken,
			      tenon_arg_string("ffi.reflection.AccessPath"),
			      tenon_arg_string("parent"), root, tenon_arg_string("step"), none,
			      tenon_arg_string("depth"), tenon_arg_int(1)),
			 0);
	assert_int_equal(compare_paths("_path_equal", path[0], broken), 0);
	assert_int_equal(compare_paths("_path_equal", broken, path[0]), 0);
	assert_shown(broken, "<root>");
	tenon_value_release(&broken);
	assert_int_not_equal(CALL("ffi.MakeObjectFromPackedArgs", &broken,
				  tenon_arg_string("ffi.reflection.AccessStep"),
				  tenon_arg_string("kind"), a, tenon_arg_string("key"), a),
			     0);
	assert_error_has("Cannot convert");
	assert_int_equal(CALL("ffi.MakeObjectFromPackedArgs", &broken,
			      tenon_arg_string("ffi.reflection.AccessStep"),
			      tenon_arg_string("kind"), tenon_arg_int(0), tenon_arg_string("key"),
			      tenon_arg_int(7)),
			 0);
	assert_shown(broken, "");
	tenon_value_release(&broken);
	for (i = 0; i < 6; i++)
		tenon_value_release(&path[i]);
	tenon_value_release(&two);
	tenon_value_release(&one);
	tenon_value_release(&other);
	tenon_value_release(&root);
}

/* ---- modules */

static int tell(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_int(7);
	return 0;
}

static void a_module_tells_about_its_functions_and_imports(void **state)
{
	tenon_call_fn call_fn = tell;
	const struct type_info *t = abi_ffi_type_info(TENON_TYPE_MODULE);
	struct tenon_value m, child, ret;
	void *symbol;

	(void)state;
	memcpy(&symbol, &call_fn, sizeof(symbol));
	assert_int_equal(abi_ffi_env_register_system("__tvm_ffi__metadata_add", symbol), 0);
	assert_int_equal(abi_ffi_env_register_system("other___tvm_ffi_add", symbol), 0);
	assert_int_equal(call("ffi.SystemLib", &m, NULL, 0), 0);
	assert_int_equal(CALL("ffi.SystemLib", &child, tenon_arg_string("other_")), 0);
	assert_int_equal(CALL("ffi.ModuleGetFunctionMetadata", &ret, m, tenon_arg_string("add")),
			 0);
	assert_int_equal(ret.as.integer, 7);
	assert_int_equal(CALL("ffi.ModuleGetFunctionDoc", &ret, m, tenon_arg_string("add"),
			      tenon_arg_bool(true)),
			 0);
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	assert_int_not_equal(
		CALL("ffi.ModuleGetFunctionDoc", &ret, tenon_arg_int(1), tenon_arg_string("add")),
		0);
	tenon_error_clear();
	assert_int_equal(t->field_count, 1);
	assert_int_equal(t->fields[0].getter((char *)m.as.pointer + t->fields[0].offset, &ret), 0);
	assert_shown(ret, "()");
	tenon_value_release(&ret);
	assert_int_equal(CALL("ffi.ModuleImportModule", &ret, m, child), 0);
	assert_int_equal(t->fields[0].getter((char *)m.as.pointer + t->fields[0].offset, &ret), 0);
	assert_int_equal(((struct tenon_array *)ret.as.pointer)->size, 1);
	assert_ptr_equal(((struct tenon_array *)ret.as.pointer)->data[0].as.pointer,
			 child.as.pointer);
	tenon_value_release(&ret);
	assert_int_equal(CALL("ffi.ModuleClearImports", &ret, m), 0);
	tenon_value_release(&child);
	tenon_value_release(&m);
}

/* ---- maps that change while they are used, and keys whose hash does */

#define KEYS 300

static uint64_t hash_seed = 1;

static int hash_by_seed(void *self, const struct tenon_value *args, int32_t count,
			struct tenon_value *ret)
{
	const int64_t n = holder_inner(&args[0]).as.integer;

	(void)self;
	(void)count;
	*ret = tenon_arg_int((int64_t)(((uint64_t)n + 1) * hash_seed % 1000003));
	return 0;
}

static void keys_whose_hash_changes_are_lost_and_nothing_else(void **state)
{
	int32_t type = holder_type("test.objects.Restless", COMPARED_TREE, holder_create);
	struct tenon_value dict, keys[KEYS], ret, n;
	int i, round;

	(void)state;
	type_set_function(type, "__any_hash__", NULL, hash_by_seed);
	assert_int_equal(call("ffi.Dict", &dict, NULL, 0), 0);
	for (i = 0; i < KEYS; i++)
		keys[i] = holder_make(type, tenon_arg_int(i));
	for (round = 0; round < 20; round++) {
		hash_seed = 2654435761u * (uint64_t)round + 1;
		for (i = round % 3; i < KEYS; i += 2)
			assert_int_equal(
				CALL("ffi.DictSetItem", &ret, dict, keys[i], tenon_arg_int(i)), 0);
		hash_seed ^= 0x5bd1e995;
		for (i = round % 2; i < KEYS; i += 3)
			assert_int_equal(CALL("ffi.DictErase", &ret, dict, keys[i]), 0);
	}
	assert_int_equal(CALL("ffi.DictSize", &n, dict), 0);
	assert_true(n.as.integer > 0);
	assert_int_equal(CALL("ffi.DictClear", &ret, dict), 0);
	assert_int_equal(CALL("ffi.DictSize", &n, dict), 0);
	assert_int_equal(n.as.integer, 0);
	tenon_value_release(&dict);
	/* nothing was lost: the keys have no other reference */
	for (i = 0; i < KEYS; i++) {
		assert_int_equal(strong_count(keys[i].as.object), 1);
		tenon_value_release(&keys[i]);
	}
}

static void an_iterator_outlives_what_it_walks(void **state)
{
	struct tenon_value dict, walk, ret, next = tenon_arg_int(2);
	int i, size;

	(void)state;
	/* in both layouts: few pairs, and many */
	for (size = 3; size < 100; size += 96) {
		assert_int_equal(call("ffi.Dict", &dict, NULL, 0), 0);
		for (i = 0; i < size; i++)
			assert_int_equal(CALL("ffi.DictSetItem", &ret, dict, tenon_arg_int(i),
					      tenon_arg_int(-i)),
					 0);
		assert_int_equal(CALL("ffi.DictErase", &ret, dict, tenon_arg_int(size)), 0);
		assert_int_equal(CALL("ffi.DictForwardIterFunctor", &walk, dict), 0);
		assert_int_equal(CALL("ffi.DictErase", &ret, dict, tenon_arg_int(0)), 0);
		assert_int_equal(tenon_function_call(walk.as.pointer, &next, 1, &ret), 0);
		assert_int_equal(CALL("ffi.DictClear", &ret, dict), 0);
		for (i = 0; i < 3; i++)
			assert_int_equal(tenon_function_call(walk.as.pointer, &next, 1, &ret), 0);
		assert_int_equal(ret.as.integer, 0);
		assert_int_not_equal(tenon_function_call(walk.as.pointer, NULL, 0, &ret), 0);
		tenon_error_clear();
		ret = tenon_arg_string("a");
		assert_int_not_equal(tenon_function_call(walk.as.pointer, &ret, 1, &ret), 0);
		tenon_error_clear();
		tenon_value_release(&walk);
		tenon_value_release(&dict);
	}
}

/* ---- functions */

static void functions_are_listed_and_made_of_addresses(void **state)
{
	const struct tenon_value none = tenon_arg_none();
	struct tenon_value names, n, ret, pointer = tenon_arg_pointer(NULL);
	tenon_call_fn call_fn = tell;

	(void)state;
	assert_int_equal(call("ffi.FunctionListGlobalNamesFunctor", &names, NULL, 0), 0);
	n = tenon_arg_int(-1);
	assert_int_equal(tenon_function_call(names.as.pointer, &n, 1, &ret), 0);
	n = ret;
	assert_int_not_equal(tenon_function_call(names.as.pointer, &n, 1, &ret), 0);
	assert_error_has("functions");
	n = tenon_arg_string("a");
	assert_int_not_equal(tenon_function_call(names.as.pointer, &n, 1, &ret), 0);
	tenon_error_clear();
	assert_int_not_equal(tenon_function_call(names.as.pointer, NULL, 0, &ret), 0);
	tenon_error_clear();
	tenon_value_release(&names);
	assert_int_not_equal(CALL("ffi.FunctionFromExternC", &ret, none, none, none), 0);
	assert_error_has("no function");
	assert_int_not_equal(CALL("ffi.FunctionFromExternC", &ret, none, tenon_arg_int(1), none),
			     0);
	assert_error_has("no pointer");
	memcpy(&pointer.as.pointer, &call_fn, sizeof(call_fn));
	assert_int_equal(CALL("ffi.FunctionFromExternC", &names, none, pointer, none), 0);
	assert_int_equal(tenon_function_call(names.as.pointer, NULL, 0, &ret), 0);
	assert_int_equal(ret.as.integer, 7);
	tenon_value_release(&names);
	assert_int_equal(CALL("ffi.FunctionRemoveGlobal", &ret, tenon_arg_string("no.such")), 0);
	assert_int_equal(ret.as.integer, 0);
}

/* ---- messages */

static void a_message_may_be_longer_than_a_line(void **state)
{
	struct tenon_value ret;
	char name[2000];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_not_equal(CALL("ffi.GetGlobalFuncMetadata", &ret, tenon_arg_string(name)), 0);
	assert_error_has(name);
	assert_int_not_equal(CALL("ffi.json.Parse", &ret, tenon_arg_string(NULL)), 0);
	assert_error_has("Mismatched type");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(weak_references_keep_the_memory_alone),
		cmocka_unit_test(walkers_may_be_kept_by_weak_references),
		cmocka_unit_test(members_of_enumerations_come_back_as_the_same_object),
		cmocka_unit_test(conversions_take_what_is_of_the_type),
		cmocka_unit_test(paths_are_equal_step_by_step),
		cmocka_unit_test(a_module_tells_about_its_functions_and_imports),
		cmocka_unit_test(keys_whose_hash_changes_are_lost_and_nothing_else),
		cmocka_unit_test(an_iterator_outlives_what_it_walks),
		cmocka_unit_test(functions_are_listed_and_made_of_addresses),
		cmocka_unit_test(a_message_may_be_longer_than_a_line),
	};

	return cmocka_run_group_tests(cases, open_library, NULL);
}

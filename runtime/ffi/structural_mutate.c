/* SPDX-License-Identifier: MIT */
/*
 * ffi.StructuralMap and ffi.StructuralMutate: values with other values within them, by callbacks.
 * What changes is copied, or changed in place where only the caller holds it. C++ code mutates with
 * the same objects, through their table of functions; errors are returned as values there.
 */
#include <stddef.h>
#include <stdlib.h>

#include "runtime/ffi/attributes.h"
#include "runtime/ffi/sequence.h"
#include "runtime/ffi/types.h"
#include "runtime/ffi/walker.h"

struct mutator;

/*
 * Return what takes the place of a value, FFI_TYPE_UNCHANGED, or an error object. The second of the two
 * in the table may change the value in place, and then returns that it is unchanged.
 */
typedef struct tenon_value (*mutate_fn)(struct mutator *m, struct tenon_value value);

struct mutator_table {
	mutate_fn mutate;
	mutate_fn mutate_in_place;
	/* Get what took the place of a variable, None if nothing did; or an error. */
	struct tenon_value (*get)(struct mutator *m, struct tenon_value variable);
	/* Keep it for the next time. Return None, or an error. */
	struct tenon_value (*set)(struct mutator *m, struct tenon_value variable,
				  struct tenon_value by);
};

/* begins with the members of struct ffi_walker */
struct mutator {
	struct tenon_object object;
	const struct mutator_table *table;
	int32_t region;
	bool after; /* a callback gets a value whose parts are mutated already */
	struct tenon_array *callbacks;
	struct tenon_array *with_region;
	struct tenon_map *results;     /* of variables and nodes of graphs, by their address */
	struct tenon_array *variables; /* their owner */
};
_Static_assert(offsetof(struct mutator, with_region) == offsetof(struct ffi_walker, with_region),
	       "its members are in front");

static const struct tenon_value unchanged = { .type = FFI_TYPE_UNCHANGED };

static struct tenon_value mutate_within(struct mutator *m, struct tenon_value value, bool in_place);

static bool is_new(const struct tenon_value *result, const struct tenon_value *value)
{
	return result->type != FFI_TYPE_UNCHANGED &&
	       (result->type != value->type || result->as.bits != value->as.bits);
}

/* Test whether there is one reference to a value's object. */
static bool is_unique(const struct tenon_value *value)
{
	return value->type >= TENON_TYPE_OBJECT &&
	       (uint32_t)__atomic_load_n(&value->as.object->refs, __ATOMIC_ACQUIRE) == 1;
}

/*
 * Mutate a value within another one.
 * @changes: callbacks may remove it there. No reference is added otherwise: it would show to callbacks.
 */
static struct tenon_value mutate_next(struct mutator *m, const struct tenon_value *value,
				      bool changes, bool in_place)
{
	mutate_fn mutate =
		in_place && is_unique(value) ? m->table->mutate_in_place : m->table->mutate;
	struct tenon_value own = changes ? ffi_copy(value) : *value, result = mutate(m, own);

	if (!is_new(&result, &own)) {
		ffi_release(&result);
		result = unchanged;
	}
	if (changes)
		ffi_release(&own);
	return result;
}

/* ---- containers */

/* Put a value, which is taken over, into a sequence that may have become shorter. */
static void set_item(struct tenon_array *s, int64_t i, struct tenon_value by)
{
	struct tenon_value old = by;

	if (i < s->size) {
		old = s->data[i];
		s->data[i] = by;
	}
	ffi_release(&old);
}

static struct tenon_value mutate_items(struct mutator *m, struct tenon_array *from, bool in_place)
{
	struct tenon_array *to = in_place ? from : NULL;
	struct tenon_value result;
	int64_t i;

	for (i = 0; i < from->size; i++) {
		result = mutate_next(m, &from->data[i], from->object.type == TENON_TYPE_LIST,
				     in_place);
		if (result.type == TENON_TYPE_ERROR)
			goto drop;
		if (result.type == FFI_TYPE_UNCHANGED)
			continue;
		if (!to)
			to = ffi_sequence_create(from->object.type, from->data, from->size);
		if (!to) {
			ffi_release(&result);
			return ffi_raised();
		}
		set_item(to, i, result);
	}
	return to && to != from ? tenon_arg_object(to) : unchanged;

drop:
	if (to != from)
		ffi_unref(to);
	return result;
}

static struct tenon_map *copy_map(const struct tenon_map *from)
{
	struct tenon_map *to = ffi_map_create(from->object.type);
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value;

	while (to && ffi_map_next(from, &at, &key, &value)) {
		if (ffi_map_set(to, key, value)) {
			ffi_unref(to);
			return NULL;
		}
	}
	return to;
}

static struct tenon_value mutate_pairs(struct mutator *m, struct tenon_map *from, bool in_place)
{
	struct tenon_map *to = in_place ? from : NULL;
	struct ffi_map_at at = FFI_MAP_START;
	struct tenon_value result = unchanged, own;
	const struct tenon_value *key, *value;
	int err = 0;

	while (!err && ffi_map_next(from, &at, &key, &value)) {
		own = ffi_copy(key);
		result = mutate_next(m, value, from->object.type == TENON_TYPE_DICT, in_place);
		err = result.type == TENON_TYPE_ERROR;
		if (!err && result.type != FFI_TYPE_UNCHANGED) {
			if (!to)
				to = copy_map(from);
			err = to ? ffi_map_set(to, &own, &result) : -1;
			ffi_release(&result);
			if (err)
				result = ffi_raised();
		}
		ffi_release(&own);
	}
	if (!err)
		return to && to != from ? tenon_arg_object(to) : unchanged;
	if (to != from)
		ffi_unref(to);
	return result;
}

#define CONTAINER(name, function, type, in_place)                                                  \
	static struct tenon_value name(struct mutator *m, struct tenon_value value)                \
	{                                                                                          \
		return function(m, (struct type *)value.as.object, in_place);                      \
	}

CONTAINER(items_copied, mutate_items, tenon_array, false)
CONTAINER(items_in_place, mutate_items, tenon_array, true)
CONTAINER(pairs_copied, mutate_pairs, tenon_map, false)
CONTAINER(pairs_in_place, mutate_pairs, tenon_map, true)

static struct tenon_value leaf(struct mutator *m, struct tenon_value value)
{
	return unchanged;
}

/* ---- objects */

/* Make the object that gets the changed fields. Return: 0; -1 with an error raised. */
static int copy_object(struct tenon_value value, struct tenon_value *out)
{
	struct tenon_object *copy = ffi_attribute_call(value.type, "__ffi_shallow_copy__");

	if (!copy)
		return ffi_raise("TypeError", "__ffi_shallow_copy__ must be an ffi.Function");
	if (ffi_call(copy, &value, 1, out))
		return -1;
	if (out->type == value.type && out->as.object && out->as.object != value.as.object)
		return 0;
	ffi_release(out);
	return ffi_raise("TypeError", "Shallow copy callback must return a distinct object with "
				      "the same type as its input");
}

/* Mutate a field of a copy. Return: None; an error. */
static struct tenon_value mutate_field(struct mutator *m, const struct type_field *f,
				       struct tenon_object *o, bool *changed)
{
	struct tenon_slice key = ffi_type_key(o->type);
	int32_t around = m->region;
	struct tenon_value value, result;
	int err = 0;

	if (ffi_field_get(f, o, &value))
		return ffi_raised();
	m->region = (int32_t)ffi_region_of(f->flags, (enum ffi_region)around);
	result = mutate_next(m, &value, false, false);
	m->region = around;
	ffi_release(&value);
	if (result.type == TENON_TYPE_ERROR)
		return result;
	if (result.type == FFI_TYPE_UNCHANGED)
		return tenon_arg_none();
	*changed = true;
	if (f->setter)
		err = ffi_field_set(f, o, &result);
	else
		err = ffi_raise("TypeError",
				"Cannot structurally mutate field `%.*s` of type `%.*s` because it "
				"does not define a setter",
				(int)f->name.size, f->name.data, (int)key.size, key.data);
	ffi_release(&result);
	return err ? ffi_raised() : tenon_arg_none();
}

static struct tenon_value mutate_fields(struct mutator *m, struct tenon_value value,
					enum ffi_compared kind)
{
	struct ffi_field_at at = ffi_fields_of(value.type);
	struct tenon_value copy, result = tenon_arg_none();
	int32_t around = m->region;
	const struct type_field *f;
	bool changed = false;

	if (copy_object(value, &copy))
		return ffi_raised();
	if (around == REGION_SIMPLE && kind == COMPARED_VARIABLE)
		m->region = REGION_NONE;
	while (result.type == TENON_TYPE_NONE && (f = ffi_field_next(&at)))
		if (!(f->flags & FIELD_STRUCTURAL_IGNORE))
			result = mutate_field(m, f, copy.as.object, &changed);
	m->region = around;
	if (result.type == TENON_TYPE_NONE && changed)
		return copy;
	ffi_release(&copy);
	return result.type == TENON_TYPE_NONE ? unchanged : result;
}

/* Mutate an object once, however often it occurs, if its identity counts. */
static struct tenon_value mutate_object(struct mutator *m, struct tenon_value value)
{
	const struct type_info *info = ffi->TVMFFIGetTypeInfo(value.type);
	enum ffi_compared kind = info->metadata ? (enum ffi_compared)info->metadata->structural_kind
						: COMPARED_NEVER;
	bool once = kind == COMPARED_VARIABLE || kind == COMPARED_GRAPH;
	struct tenon_value result, kept;

	if (once) {
		result = m->table->get(m, value);
		if (result.type != TENON_TYPE_NONE)
			return result;
	}
	/* a use of a variable whose definition did not change */
	if (kind == COMPARED_VARIABLE && m->region == REGION_NONE)
		return unchanged;
	result = mutate_fields(m, value, kind);
	if (result.type == TENON_TYPE_ERROR || !once)
		return result;
	if (kind == COMPARED_VARIABLE && m->region != REGION_PATTERN &&
	    result.type == FFI_TYPE_UNCHANGED)
		return result;
	kept = m->table->set(m, value, result);
	if (kept.type != TENON_TYPE_ERROR)
		return result;
	ffi_release(&result);
	return kept;
}

/* Call a type's own function. */
static struct tenon_value mutate_hooked(struct mutator *m, const struct tenon_value *hook,
					struct tenon_value value)
{
	struct tenon_value args[2] = { tenon_arg_object(m), value }, ret;
	mutate_fn mutate;

	if (hook->type == TENON_TYPE_POINTER) {
		*(void **)&mutate = hook->as.pointer;
		return mutate(m, value);
	}
	if (hook->type == TENON_TYPE_FUNCTION)
		return ffi_call(hook->as.object, args, 2, &ret) ? ffi_raised() : ret;
	ffi_raise("TypeError", "__s_mutate__ must be a direct hook pointer or ffi.Function");
	return ffi_raised();
}

/* Mutate what is within a value. @in_place: only the caller holds it */
static struct tenon_value mutate_within(struct mutator *m, struct tenon_value value, bool in_place)
{
	const struct tenon_value *hook = NULL;
	struct tenon_value result;

	if (ffi_walker_depth >= FFI_NESTED_MOST) {
		ffi_too_deep("structural mutation");
		return ffi_raised();
	}
	ffi_walker_depth++;
	if (in_place)
		hook = ffi_attribute(value.type, "__s_maybe_inplace_mutate__");
	if (!hook)
		hook = ffi_attribute(value.type, "__s_mutate__");
	if (hook)
		result = mutate_hooked(m, hook, value);
	else if (value.type < TENON_TYPE_OBJECT)
		result = unchanged;
	else
		result = mutate_object(m, value);
	ffi_walker_depth--;
	return result;
}

/* ---- callbacks of a map: what they return is what takes a value's place */

/* Call the callback for a value. Return false if there is none; @result may be an error. */
static bool map_callback(struct mutator *m, struct tenon_value value, struct tenon_value *result)
{
	const struct tenon_value *entry = ffi_callback_for(m->callbacks, &value);
	struct tenon_value args[2] = { value, tenon_arg_int(m->region) };
	int32_t count = 1;

	if (!entry) {
		entry = ffi_callback_for(m->with_region, &value);
		count = 2;
	}
	if (!entry)
		return false;
	if (ffi_call(entry[1].as.object, args, count, result))
		*result = ffi_raised();
	return true;
}

/* Mutate, then call. */
static struct tenon_value map_after(struct mutator *m, struct tenon_value value, bool in_place)
{
	struct tenon_value result = mutate_within(m, value, in_place), by;

	if (result.type == TENON_TYPE_ERROR ||
	    !map_callback(m, result.type == FFI_TYPE_UNCHANGED ? value : result, &by) ||
	    by.type == FFI_TYPE_UNCHANGED)
		return result;
	ffi_release(&result);
	return by;
}

/* Call, then mutate what the callback returned. */
static struct tenon_value map_before(struct mutator *m, struct tenon_value value, bool in_place)
{
	struct tenon_value by, result;

	if (!map_callback(m, value, &by))
		return mutate_within(m, value, in_place);
	if (by.type == TENON_TYPE_ERROR)
		return by;
	if (is_new(&by, &value)) {
		result = mutate_within(m, by, in_place && is_unique(&by));
	} else {
		ffi_release(&by);
		by = unchanged;
		/* the callback may have kept it */
		result = mutate_within(m, value, in_place && is_unique(&value));
	}
	if (result.type == FFI_TYPE_UNCHANGED)
		return by;
	ffi_release(&by);
	return result;
}

static struct tenon_value map_mutate(struct mutator *m, struct tenon_value value, bool in_place)
{
	return m->after ? map_after(m, value, in_place) : map_before(m, value, in_place);
}

/* ---- callbacks of a mutation, which decide on what is within a value */

static struct tenon_value mutate_mutate(struct mutator *m, struct tenon_value value, bool in_place)
{
	const struct tenon_value *entry = ffi_callback_for(m->callbacks, &value);
	struct tenon_value args[3] = { value, tenon_arg_object(m), tenon_arg_int(in_place) }, ret;

	if (!entry)
		return mutate_within(m, value, in_place);
	return ffi_call(entry[1].as.object, args, entry[2].as.integer ? 3 : 2, &ret) ? ffi_raised()
										     : ret;
}

/* ---- mutators */

static struct tenon_value no_variable(void)
{
	ffi_raise("TypeError", "Variable-remap key must be an object-backed value");
	return ffi_raised();
}

static struct tenon_value get_result(struct mutator *m, struct tenon_value variable)
{
	struct tenon_value *found;

	if (variable.type < TENON_TYPE_OBJECT)
		return no_variable();
	found = ffi_memo_find(m->results, variable.as.object);
	return found ? ffi_copy(found) : tenon_arg_none();
}

static struct tenon_value set_result(struct mutator *m, struct tenon_value variable,
				     struct tenon_value by)
{
	if (variable.type < TENON_TYPE_OBJECT)
		return no_variable();
	if (!ffi_memo_find(m->results, variable.as.object) &&
	    ffi_sequence_append(m->variables, &variable))
		return ffi_raised();
	return ffi_memo_set(m->results, variable.as.object, &by) ? ffi_raised() : tenon_arg_none();
}

#define ENGINE(name)                                                                               \
	static struct tenon_value name##_copied(struct mutator *m, struct tenon_value value)       \
	{                                                                                          \
		return name##_mutate(m, value, false);                                             \
	}                                                                                          \
	static struct tenon_value name##_in_place(struct mutator *m, struct tenon_value value)     \
	{                                                                                          \
		return name##_mutate(m, value, true);                                              \
	}                                                                                          \
	static const struct mutator_table name##_table = { name##_copied, name##_in_place,         \
							   get_result, set_result };

ENGINE(map)
ENGINE(mutate)

static void mutator_delete(void *self, int flags)
{
	struct mutator *m = self;

	if (flags & TENON_DELETE_CONTENT) {
		ffi_unref(m->results);
		ffi_unref(m->variables);
	}
	ffi_walker_delete(m, flags);
}

static struct mutator *mutator_create(const struct mutator_table *table,
				      struct tenon_array *callbacks,
				      struct tenon_array *with_region)
{
	struct mutator *m = ffi_walker_create(sizeof(*m), ffi_type_mutator, mutator_delete, table,
					      callbacks, with_region, "a mutator");

	if (!m)
		return NULL;
	m->results = ffi_map_create(TENON_TYPE_DICT);
	m->variables = ffi_sequence_create(TENON_TYPE_LIST, NULL, 0);
	if (m->results && m->variables)
		return m;
	ffi_unref(m);
	return NULL;
}

/* Return what takes a value's place; @result is taken over. */
static int give_value(struct tenon_value result, const struct tenon_value *value,
		      struct tenon_value *ret)
{
	/* an error that was not changed is no failure */
	if (result.type == FFI_TYPE_UNCHANGED) {
		*ret = ffi_copy(value);
		return 0;
	}
	return ffi_give_back(result, ret);
}

static int mutate_root(struct mutator *m, const struct tenon_value *root, struct tenon_value *ret)
{
	mutate_fn mutate;
	struct tenon_value value;
	int err;

	*ret = tenon_arg_none();
	if (!m)
		return -1;
	/* A root that was moved here belongs to nothing else. */
	err = ffi_own(root, &value);
	if (!err) {
		mutate = is_unique(&value) ? m->table->mutate_in_place : m->table->mutate;
		err = give_value(mutate(m, value), &value, ret);
		ffi_release(&value);
	}
	ffi_unref(m);
	return err;
}

static PACKED_CALL(map_call)
{
	const char *function = "ffi.StructuralMap";
	struct tenon_array *callbacks, *with_region;
	struct mutator *m;
	int64_t order;

	if (ffi_count(function, count, 4, 4) ||
	    ffi_callbacks_check(function, args, 1, 2, &callbacks) ||
	    ffi_callbacks_check(function, args, 2, 2, &with_region) ||
	    ffi_arg_int(function, args, 3, &order))
		return -1;
	m = mutator_create(&map_table, callbacks, with_region);
	if (m)
		m->after = order != 0;
	return mutate_root(m, &args[0], ret);
}

static PACKED_CALL(mutate_call)
{
	const char *function = "ffi.StructuralMutate";
	struct tenon_array *callbacks;

	if (ffi_count(function, count, 2, 2) ||
	    ffi_callbacks_check(function, args, 1, 3, &callbacks))
		return -1;
	return mutate_root(mutator_create(&mutate_table, callbacks, NULL), &args[0], ret);
}

/* ---- for callbacks */

static struct tenon_value within_copied(struct mutator *m, struct tenon_value value)
{
	return mutate_within(m, value, false);
}

/* Mutate the second argument by @mutate, or by the mutator's own function. */
static int mutator_call(const char *function, const struct tenon_value *args, int32_t count,
			mutate_fn mutate, struct tenon_value *ret)
{
	struct tenon_value value;
	struct mutator *m;
	int err;

	if (ffi_count(function, count, 2, 2) ||
	    ffi_arg_object(function, args, 0, ffi_type_mutator, &m) || ffi_own(&args[1], &value))
		return -1;
	err = give_value(mutate ? mutate(m, value) : m->table->mutate(m, value), &value, ret);
	ffi_release(&value);
	return err;
}

static PACKED_CALL(mutator_mutate)
{
	return mutator_call("ffi.StructuralMutatorMutate", args, count, NULL, ret);
}

static PACKED_CALL(mutator_default)
{
	return mutator_call("ffi.StructuralMutatorDefaultMutate", args, count, within_copied, ret);
}

static PACKED_CALL(mutator_get)
{
	const char *function = "ffi.StructuralMutatorVarRemapGet";
	struct mutator *m;

	if (ffi_count(function, count, 2, 2) ||
	    ffi_arg_object(function, args, 0, ffi_type_mutator, &m))
		return -1;
	return ffi_give_back(m->table->get(m, args[1]), ret);
}

static PACKED_CALL(mutator_set)
{
	const char *function = "ffi.StructuralMutatorVarRemapSet";
	struct mutator *m;

	if (ffi_count(function, count, 3, 3) ||
	    ffi_arg_object(function, args, 0, ffi_type_mutator, &m))
		return -1;
	return ffi_give_back(m->table->set(m, args[1], args[2]), ret);
}

static PACKED_CALL(mutator_region)
{
	return ffi_walker_region("ffi.StructuralMutatorDefRegionKind", ffi_type_mutator, args,
				 count, ret);
}

static PACKED_CALL(mutator_with_region)
{
	return ffi_walker_with_region("ffi.StructuralMutatorWithDefRegionKind", ffi_type_mutator,
				      args, count, ret);
}

static const struct global_function globals[] = {
	{ "ffi.StructuralMap", map_call },
	{ "ffi.StructuralMutate", mutate_call },
	{ "ffi.StructuralMutatorDefRegionKind", mutator_region },
	{ "ffi.StructuralMutatorDefaultMutate", mutator_default },
	{ "ffi.StructuralMutatorMutate", mutator_mutate },
	{ "ffi.StructuralMutatorVarRemapGet", mutator_get },
	{ "ffi.StructuralMutatorVarRemapSet", mutator_set },
	{ "ffi.StructuralMutatorWithDefRegionKind", mutator_with_region },
	{ NULL, NULL },
};

static const struct {
	int32_t type;
	mutate_fn copied;
	mutate_fn in_place;
} hooks[] = {
	{ TENON_TYPE_ARRAY, items_copied, items_in_place },
	{ TENON_TYPE_LIST, items_copied, items_in_place },
	{ TENON_TYPE_MAP, pairs_copied, pairs_in_place },
	{ TENON_TYPE_DICT, pairs_copied, pairs_in_place },
	{ TENON_TYPE_STRING, leaf, leaf },
	{ TENON_TYPE_BYTES, leaf, leaf },
	{ FFI_TYPE_BIG_INT, leaf, leaf },
};

static int add_hook(int32_t type, const char *name, mutate_fn hook)
{
	struct tenon_value pointer = tenon_arg_pointer(NULL);

	memcpy(&pointer.as.pointer, &hook, sizeof(void *));
	return ffi_attribute_set(type, name, &pointer);
}

int structural_mutate_register(void)
{
	size_t i;

	for (i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
		if (add_hook(hooks[i].type, "__s_mutate__", hooks[i].copied) ||
		    add_hook(hooks[i].type, "__s_maybe_inplace_mutate__", hooks[i].in_place))
			return -1;
	return ffi_register_globals(globals);
}

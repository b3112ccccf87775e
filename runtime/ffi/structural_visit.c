/* SPDX-License-Identifier: MIT */
/*
 * ffi.StructuralWalk and ffi.StructuralVisit: callbacks for values within a value. C++ code visits
 * with the same objects, through their table of functions; errors are returned as values there.
 */
#include <stddef.h>
#include <stdlib.h>

#include "runtime/ffi/attributes.h"
#include "runtime/ffi/types.h"
#include "runtime/ffi/walker.h"

struct visitor;

/* Return None to go on, a VisitInterrupt to end, or an error object. */
typedef struct tenon_value (*visit_fn)(struct visitor *v, struct tenon_value value);

struct visitor_table {
	visit_fn visit;
};

/* the members of struct ffi_walker */
struct visitor {
	struct tenon_object object;
	const struct visitor_table *table;
	int32_t region;
	bool after;		       /* a callback comes after what is within the value */
	struct tenon_array *callbacks; /* pairs of a type and a function */
	struct tenon_array *with_region;
};
_Static_assert(offsetof(struct visitor, with_region) == offsetof(struct ffi_walker, with_region),
	       "its members are in front");

/* what callbacks of a walk return beside an interrupt */
enum { WALK_ADVANCE = 0, WALK_SKIP = 1 };

/* ---- what is within a value */

static struct tenon_value visit_next(struct visitor *v, const struct tenon_value *value)
{
	struct tenon_value own = ffi_copy(value), result = v->table->visit(v, own);

	ffi_release(&own);
	return result;
}

static struct tenon_value visit_sequence(struct visitor *v, struct tenon_value value)
{
	const struct tenon_array *s = (const struct tenon_array *)value.as.object;
	struct tenon_value result = tenon_arg_none();
	int64_t i;

	for (i = 0; result.type == TENON_TYPE_NONE && i < s->size; i++)
		result = visit_next(v, &s->data[i]);
	return result;
}

/* Keys are where the values are, not a part of them. */
static struct tenon_value visit_map(struct visitor *v, struct tenon_value value)
{
	struct ffi_map_at at = FFI_MAP_START;
	struct tenon_value result = tenon_arg_none();
	const struct tenon_value *key, *item;

	while (result.type == TENON_TYPE_NONE &&
	       ffi_map_next((const struct tenon_map *)value.as.object, &at, &key, &item))
		result = visit_next(v, item);
	return result;
}

static struct tenon_value visit_fields(struct visitor *v, struct tenon_object *o)
{
	const struct type_info *info = ffi->TVMFFIGetTypeInfo(o->type);
	struct tenon_value result = tenon_arg_none(), value;
	struct ffi_field_at at = ffi_fields_of(o->type);
	enum ffi_region before = (enum ffi_region)v->region, around = before;
	const struct type_field *f;

	if (before == REGION_SIMPLE && info->metadata &&
	    info->metadata->structural_kind == COMPARED_VARIABLE)
		around = REGION_NONE;
	while (result.type == TENON_TYPE_NONE && (f = ffi_field_next(&at))) {
		if (f->flags & FIELD_STRUCTURAL_IGNORE)
			continue;
		if (ffi_field_get(f, o, &value))
			return ffi_raised();
		v->region = (int32_t)ffi_region_of(f->flags, around);
		result = v->table->visit(v, value);
		v->region = (int32_t)before;
		ffi_release(&value);
	}
	return result;
}

static struct tenon_value visit_hooked(struct visitor *v, struct tenon_object *hook,
				       struct tenon_value value)
{
	struct tenon_value args[2] = { tenon_arg_object(v), value }, ret;

	return ffi_call(hook, args, 2, &ret) ? ffi_raised() : ret;
}

static struct tenon_value visit_within(struct visitor *v, struct tenon_value value)
{
	const struct tenon_value *hook = ffi_attribute(value.type, "__s_visit__");
	struct tenon_value result;
	visit_fn visit;

	if (ffi_walker_depth >= FFI_NESTED_MOST) {
		ffi_too_deep("structural visit");
		return ffi_raised();
	}
	ffi_walker_depth++;
	if (hook && hook->type == TENON_TYPE_POINTER) {
		*(void **)&visit = hook->as.pointer;
		result = visit(v, value);
	} else if (hook && hook->type == TENON_TYPE_FUNCTION) {
		result = visit_hooked(v, hook->as.object, value);
	} else if (hook) {
		ffi_raise("TypeError",
			  "__s_visit__ must be an opaque function pointer or ffi.Function");
		result = ffi_raised();
	} else if (value.type < TENON_TYPE_OBJECT) {
		result = tenon_arg_none();
	} else {
		result = visit_fields(v, value.as.object);
	}
	ffi_walker_depth--;
	return result;
}

/* ---- callbacks */

/* Call the callback of a walk. Return what ends the walk, or None with @skip set. */
static struct tenon_value walk_callback(struct visitor *v, struct tenon_value value, bool *skip)
{
	const struct tenon_value *entry = ffi_callback_for(v->callbacks, &value);
	struct tenon_value args[2] = { value, tenon_arg_int(v->region) }, ret;
	int32_t count = 1;

	*skip = false;
	if (!entry) {
		entry = ffi_callback_for(v->with_region, &value);
		count = 2;
	}
	if (!entry)
		return tenon_arg_none();
	if (ffi_call(entry[1].as.object, args, count, &ret))
		return ffi_raised();
	if (ret.type == TENON_TYPE_INT || ret.type == TENON_TYPE_BOOL) {
		*skip = ret.as.integer == WALK_SKIP;
		return tenon_arg_none();
	}
	if (ret.type == TENON_TYPE_NONE || ret.type == TENON_TYPE_VISIT_INTERRUPT)
		return ret;
	ffi_release(&ret);
	ffi_raise("TypeError", "a callback of a walk must return a WalkResult");
	return ffi_raised();
}

static struct tenon_value walk_visit(struct visitor *v, struct tenon_value value)
{
	struct tenon_value result = tenon_arg_none();
	bool skip = false;

	if (value.type == TENON_TYPE_NONE)
		return result;
	if (!v->after)
		result = walk_callback(v, value, &skip);
	if (result.type == TENON_TYPE_NONE && !skip)
		result = visit_within(v, value);
	if (result.type == TENON_TYPE_NONE && v->after)
		result = walk_callback(v, value, &skip);
	return result;
}

static struct tenon_value visit_visit(struct visitor *v, struct tenon_value value)
{
	const struct tenon_value *entry = ffi_callback_for(v->callbacks, &value);
	struct tenon_value args[2] = { value, tenon_arg_object(v) }, ret;

	if (value.type == TENON_TYPE_NONE)
		return tenon_arg_none();
	if (!entry)
		return visit_within(v, value);
	if (ffi_call(entry[1].as.object, args, 2, &ret))
		return ffi_raised();
	if (ret.type == TENON_TYPE_NONE || ret.type == TENON_TYPE_VISIT_INTERRUPT)
		return ret;
	ffi_release(&ret);
	ffi_raise("TypeError", "a callback of a visit must return None or a VisitInterrupt");
	return ffi_raised();
}

static const struct visitor_table walk_table = { walk_visit }, visit_table = { visit_visit };

/* ---- visitors */

static struct visitor *visitor_create(const struct visitor_table *table,
				      struct tenon_array *callbacks,
				      struct tenon_array *with_region)
{
	return ffi_walker_create(sizeof(struct visitor), ffi_type_visitor, ffi_walker_delete, table,
				 callbacks, with_region, "a visitor");
}

static int visit_root(struct visitor *v, const struct tenon_value *root, struct tenon_value *ret)
{
	struct tenon_value value;
	int err;

	*ret = tenon_arg_none();
	if (!v)
		return -1;
	err = ffi_own(root, &value);
	if (!err) {
		err = ffi_give_back(v->table->visit(v, value), ret);
		ffi_release(&value);
	}
	ffi_unref(v);
	return err;
}

static PACKED_CALL(walk_call)
{
	const char *function = "ffi.StructuralWalk";
	struct tenon_array *callbacks, *with_region;
	struct visitor *v;
	int64_t order;

	if (ffi_count(function, count, 4, 4) ||
	    ffi_callbacks_check(function, args, 1, 2, &callbacks) ||
	    ffi_callbacks_check(function, args, 2, 2, &with_region) ||
	    ffi_arg_int(function, args, 3, &order))
		return -1;
	v = visitor_create(&walk_table, callbacks, with_region);
	if (v)
		v->after = order != 0;
	return visit_root(v, &args[0], ret);
}

static PACKED_CALL(visit_call)
{
	const char *function = "ffi.StructuralVisit";
	struct tenon_array *callbacks;

	if (ffi_count(function, count, 2, 2) ||
	    ffi_callbacks_check(function, args, 1, 2, &callbacks))
		return -1;
	return visit_root(visitor_create(&visit_table, callbacks, NULL), &args[0], ret);
}

/* ---- for callbacks */

static int visitor_call(const char *function, const struct tenon_value *args, int32_t count,
			visit_fn visit, struct tenon_value *ret)
{
	struct tenon_value value;
	struct visitor *v;
	int err;

	if (ffi_count(function, count, 2, 2) ||
	    ffi_arg_object(function, args, 0, ffi_type_visitor, &v) || ffi_own(&args[1], &value))
		return -1;
	err = ffi_give_back(visit ? visit(v, value) : v->table->visit(v, value), ret);
	ffi_release(&value);
	return err;
}

static PACKED_CALL(visitor_visit)
{
	return visitor_call("ffi.StructuralVisitorVisit", args, count, NULL, ret);
}

static PACKED_CALL(visitor_default)
{
	return visitor_call("ffi.StructuralVisitorDefaultVisit", args, count, visit_within, ret);
}

static PACKED_CALL(visitor_region)
{
	return ffi_walker_region("ffi.StructuralVisitorDefRegionKind", ffi_type_visitor, args,
				 count, ret);
}

static PACKED_CALL(visitor_with_region)
{
	return ffi_walker_with_region("ffi.StructuralVisitorWithDefRegionKind", ffi_type_visitor,
				      args, count, ret);
}

static PACKED_CALL(interrupt_call)
{
	struct ffi_visit_interrupt *i;

	if (ffi_count("ffi.VisitInterrupt", count, 0, 1))
		return -1;
	i = ffi_instance_create(TENON_TYPE_VISIT_INTERRUPT, sizeof(*i));
	*ret = tenon_arg_object(i);
	if (!i)
		return -1;
	if (!count || !ffi_own(&args[0], &i->value))
		return 0;
	ffi_release(ret);
	return -1;
}

static const struct global_function globals[] = {
	{ "ffi.StructuralVisit", visit_call },
	{ "ffi.StructuralVisitorDefRegionKind", visitor_region },
	{ "ffi.StructuralVisitorDefaultVisit", visitor_default },
	{ "ffi.StructuralVisitorVisit", visitor_visit },
	{ "ffi.StructuralVisitorWithDefRegionKind", visitor_with_region },
	{ "ffi.StructuralWalk", walk_call },
	{ "ffi.VisitInterrupt", interrupt_call },
	{ NULL, NULL },
};

int structural_visit_register(void)
{
	struct tenon_value sequence = tenon_arg_pointer(NULL), map = tenon_arg_pointer(NULL);
	visit_fn items = visit_sequence, pairs = visit_map;

	memcpy(&sequence.as.pointer, &items, sizeof(void *));
	memcpy(&map.as.pointer, &pairs, sizeof(void *));
	if (ffi_attribute_set(TENON_TYPE_ARRAY, "__s_visit__", &sequence) ||
	    ffi_attribute_set(TENON_TYPE_LIST, "__s_visit__", &sequence) ||
	    ffi_attribute_set(TENON_TYPE_MAP, "__s_visit__", &map) ||
	    ffi_attribute_set(TENON_TYPE_DICT, "__s_visit__", &map))
		return -1;
	return ffi_register_globals(globals);
}

/* SPDX-License-Identifier: MIT */
/*
 * ffi.StructuralWalk and ffi.StructuralVisit: callbacks for values within a value. C++ code visits
 * with the same objects, through their table of functions; errors are returned as values there.
 */
#include <stdlib.h>

#include "runtime/ffi/attributes.h"
#include "runtime/ffi/sequence.h"
#include "runtime/ffi/structural.h"
#include "runtime/ffi/types.h"
#include "runtime/ffi/walk.h"

struct visitor;

/* Return None to go on, a VisitInterrupt to end, or an error object. */
typedef struct tenon_value (*visit_fn)(struct visitor *v, struct tenon_value value);

struct visitor_table {
	visit_fn visit;
};

/* the first three members are C++'s */
struct visitor {
	struct tenon_object object;
	const struct visitor_table *table;
	int32_t region; /* enum ffi_region */
	bool after;	/* a callback comes after what is within the value */
	int nested;
	struct tenon_array *callbacks; /* pairs of a type and a function */
	struct tenon_array *with_region;
};

/* what callbacks of a walk return beside an interrupt */
enum { WALK_ADVANCE = 0, WALK_SKIP = 1 };

/* ---- errors as values */

static struct tenon_value raised(void)
{
	void *error;

	ffi->TVMFFIErrorMoveFromRaised(&error);
	return tenon_arg_object(error);
}

/* Return a value from a function, or raise the error that it is. */
static int give_back(struct tenon_value result, struct tenon_value *ret)
{
	*ret = tenon_arg_none();
	if (result.type == TENON_TYPE_ERROR) {
		ffi->TVMFFIErrorSetRaised(result.as.object);
		ffi_release(&result);
		return -1;
	}
	*ret = result;
	return 0;
}

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
			return raised();
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

	return ffi_call(hook, args, 2, &ret) ? raised() : ret;
}

static struct tenon_value visit_within(struct visitor *v, struct tenon_value value)
{
	const struct tenon_value *hook = ffi_attribute(value.type, "__s_visit__");
	struct tenon_value result;
	visit_fn visit;

	if (v->nested >= FFI_NESTED_MOST) {
		ffi_too_deep("structural visit");
		return raised();
	}
	v->nested++;
	if (hook && hook->type == TENON_TYPE_POINTER) {
		*(void **)&visit = hook->as.pointer;
		result = visit(v, value);
	} else if (hook && hook->type == TENON_TYPE_FUNCTION) {
		result = visit_hooked(v, hook->as.object, value);
	} else if (hook) {
		ffi_raise("TypeError",
			  "__s_visit__ must be an opaque function pointer or ffi.Function");
		result = raised();
	} else if (value.type < TENON_TYPE_OBJECT || !value.as.object) {
		result = tenon_arg_none();
	} else {
		result = visit_fields(v, value.as.object);
	}
	v->nested--;
	return result;
}

/* ---- callbacks */

static bool matches(int32_t type, int64_t wanted)
{
	if (wanted == TENON_TYPE_ANY || wanted == type)
		return true;
	if (ffi_is_string(type))
		return wanted == TENON_TYPE_STRING;
	if (ffi_is_bytes(type))
		return wanted == TENON_TYPE_BYTES;
	return type >= TENON_TYPE_OBJECT && ffi_type_is(type, (int32_t)wanted);
}

/* Find the function for a value among pairs of a type and a function. */
static struct tenon_object *callback_for(const struct tenon_array *pairs,
					 const struct tenon_value *value)
{
	const struct tenon_array *pair;
	int64_t i;

	for (i = 0; pairs && i < pairs->size; i++) {
		pair = (const struct tenon_array *)pairs->data[i].as.object;
		if (matches(value->type, pair->data[0].as.integer))
			return pair->data[1].as.object;
	}
	return NULL;
}

static int check_callbacks(const char *function, const struct tenon_value *args, int32_t i,
			   struct tenon_array **out)
{
	const struct tenon_array *pair;
	int64_t k;

	if (ffi_arg_object(function, args, i, TENON_TYPE_ARRAY, out))
		return -1;
	for (k = 0; k < (*out)->size; k++) {
		pair = (const struct tenon_array *)(*out)->data[k].as.object;
		if ((*out)->data[k].type != TENON_TYPE_ARRAY || pair->size != 2 ||
		    pair->data[0].type != TENON_TYPE_INT ||
		    pair->data[1].type != TENON_TYPE_FUNCTION)
			return ffi_raise("TypeError", "%s: expected pairs of a type and a function",
					 function);
	}
	return 0;
}

/* Call the callback of a walk. Return what ends the walk, or None with @skip set. */
static struct tenon_value walk_callback(struct visitor *v, struct tenon_value value, bool *skip)
{
	struct tenon_object *f = callback_for(v->callbacks, &value);
	struct tenon_value args[2] = { value, tenon_arg_int(v->region) }, ret;
	int32_t count = 1;

	*skip = false;
	if (!f) {
		f = callback_for(v->with_region, &value);
		count = 2;
	}
	if (!f)
		return tenon_arg_none();
	if (ffi_call(f, args, count, &ret))
		return raised();
	if (ret.type == TENON_TYPE_INT || ret.type == TENON_TYPE_BOOL) {
		*skip = ret.as.integer == WALK_SKIP;
		return tenon_arg_none();
	}
	if (ret.type == TENON_TYPE_NONE || ret.type == TENON_TYPE_VISIT_INTERRUPT)
		return ret;
	ffi_release(&ret);
	ffi_raise("TypeError", "a callback of a walk must return a WalkResult");
	return raised();
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
	struct tenon_object *f = callback_for(v->callbacks, &value);
	struct tenon_value args[2] = { value, tenon_arg_object(v) }, ret;

	if (value.type == TENON_TYPE_NONE)
		return tenon_arg_none();
	if (!f)
		return visit_within(v, value);
	if (ffi_call(f, args, 2, &ret))
		return raised();
	if (ret.type == TENON_TYPE_NONE || ret.type == TENON_TYPE_VISIT_INTERRUPT)
		return ret;
	ffi_release(&ret);
	ffi_raise("TypeError", "a callback of a visit must return None or a VisitInterrupt");
	return raised();
}

static const struct visitor_table walk_table = { walk_visit }, visit_table = { visit_visit };

/* ---- visitors */

static void visitor_delete(void *self, int flags)
{
	struct visitor *v = self;

	if (flags & TENON_DELETE_CONTENT) {
		ffi_unref(v->callbacks);
		ffi_unref(v->with_region);
		v->callbacks = v->with_region = NULL;
	}
	if (flags & TENON_DELETE_MEMORY)
		free(v);
}

static struct visitor *visitor_create(const struct visitor_table *table,
				      struct tenon_array *callbacks,
				      struct tenon_array *with_region)
{
	struct visitor *v = calloc(1, sizeof(*v));

	if (!v) {
		ffi_nomem("a visitor");
		return NULL;
	}
	ffi_object_init(v, ffi_type_visitor, visitor_delete);
	v->table = table;
	ffi_ref(callbacks);
	ffi_ref(with_region);
	v->callbacks = callbacks;
	v->with_region = with_region;
	return v;
}

static int run(struct visitor *v, const struct tenon_value *root, struct tenon_value *ret)
{
	struct tenon_value value;
	int err;

	*ret = tenon_arg_none();
	if (!v)
		return -1;
	err = ffi_own(root, &value);
	if (!err) {
		err = give_back(v->table->visit(v, value), ret);
		ffi_release(&value);
	}
	ffi_unref(v);
	return err;
}

static int walk_call(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	const char *function = "ffi.StructuralWalk";
	struct tenon_array *callbacks, *with_region;
	struct visitor *v;
	int64_t order;

	if (ffi_count(function, count, 4, 4) || check_callbacks(function, args, 1, &callbacks) ||
	    check_callbacks(function, args, 2, &with_region) ||
	    ffi_arg_int(function, args, 3, &order))
		return -1;
	v = visitor_create(&walk_table, callbacks, with_region);
	if (v)
		v->after = order != 0;
	return run(v, &args[0], ret);
}

static int visit_call(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	const char *function = "ffi.StructuralVisit";
	struct tenon_array *callbacks;

	if (ffi_count(function, count, 2, 2) || check_callbacks(function, args, 1, &callbacks))
		return -1;
	return run(visitor_create(&visit_table, callbacks, NULL), &args[0], ret);
}

/* ---- for callbacks */

static int get_visitor(const char *function, const struct tenon_value *args, int32_t count,
		       int32_t wanted, struct visitor **v)
{
	return ffi_count(function, count, wanted, wanted)
		       ? -1
		       : ffi_arg_object(function, args, 0, ffi_type_visitor, v);
}

static int visitor_visit(void *self, const struct tenon_value *args, int32_t count,
			 struct tenon_value *ret)
{
	struct tenon_value value;
	struct visitor *v;
	int err;

	if (get_visitor("ffi.StructuralVisitorVisit", args, count, 2, &v) ||
	    ffi_own(&args[1], &value))
		return -1;
	err = give_back(v->table->visit(v, value), ret);
	ffi_release(&value);
	return err;
}

/* A visitor of C++ code lacks the count of levels: only those made here may go into values. */
static int visitor_default(void *self, const struct tenon_value *args, int32_t count,
			   struct tenon_value *ret)
{
	const char *function = "ffi.StructuralVisitorDefaultVisit";
	struct tenon_value value;
	struct visitor *v;
	int err;

	if (get_visitor(function, args, count, 2, &v))
		return -1;
	if (v->table != &walk_table && v->table != &visit_table)
		return ffi_raise("TypeError", "%s: the visitor is foreign", function);
	if (ffi_own(&args[1], &value))
		return -1;
	err = give_back(visit_within(v, value), ret);
	ffi_release(&value);
	return err;
}

static int visitor_region(void *self, const struct tenon_value *args, int32_t count,
			  struct tenon_value *ret)
{
	struct visitor *v;

	if (get_visitor("ffi.StructuralVisitorDefRegionKind", args, count, 1, &v))
		return -1;
	*ret = tenon_arg_int(v->region);
	return 0;
}

static int visitor_with_region(void *self, const struct tenon_value *args, int32_t count,
			       struct tenon_value *ret)
{
	const char *function = "ffi.StructuralVisitorWithDefRegionKind";
	struct tenon_object *callback;
	struct visitor *v;
	int32_t before;
	int64_t kind;
	int err;

	if (get_visitor(function, args, count, 3, &v) || ffi_arg_int(function, args, 1, &kind) ||
	    ffi_arg_object(function, args, 2, TENON_TYPE_FUNCTION, &callback))
		return -1;
	if (kind < REGION_NONE || kind > REGION_SIMPLE)
		return ffi_raise("ValueError", "%s: there is no kind %lld", function,
				 (long long)kind);
	before = v->region;
	if (before != REGION_PATTERN)
		v->region = (int32_t)kind;
	err = ffi_call(callback, NULL, 0, ret);
	v->region = before;
	return err;
}

static int interrupt_call(void *self, const struct tenon_value *args, int32_t count,
			  struct tenon_value *ret)
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

static const struct ffi_global globals[] = {
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

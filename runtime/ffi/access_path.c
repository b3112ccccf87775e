/* SPDX-License-Identifier: MIT */
/* Paths to a value inside another: attributes, items of arrays and of maps. */
#include <stddef.h>

#include "runtime/ffi/access_path.h"
#include "runtime/ffi/attributes.h"
#include "runtime/ffi/sequence.h"
#include "runtime/ffi/text_stream.h"
#include "runtime/ffi/types.h"

struct access_step {
	struct tenon_object object;
	int32_t kind; /* enum ffi_access */
	struct tenon_value key;
};

struct access_path {
	struct tenon_object object;
	struct access_path *parent; /* NULL for the root */
	struct access_step *step;
	int32_t depth;
};

static struct access_step *make_step(enum ffi_access kind, const struct tenon_value *key)
{
	struct access_step *s = ffi_instance_create(ffi_type_access_step, sizeof(*s));

	if (!s)
		return NULL;
	s->kind = (int32_t)kind;
	if (!ffi_own(key, &s->key))
		return s;
	ffi_unref(s);
	return NULL;
}

/* Add a step, which it takes over; NULL is an error that was raised. */
static struct access_path *extend(struct access_path *parent, struct access_step *step)
{
	struct access_path *p = step ? ffi_instance_create(ffi_type_access_path, sizeof(*p)) : NULL;

	if (!p) {
		ffi_unref(step);
		return NULL;
	}
	ffi_ref(parent);
	p->parent = parent;
	p->step = step;
	p->depth = (int32_t)((uint32_t)parent->depth + 1);
	return p;
}

struct tenon_object *ffi_access_root(void)
{
	return ffi_instance_create(ffi_type_access_path, sizeof(struct access_path));
}

struct tenon_object *ffi_access_extend(struct tenon_object *path, enum ffi_access kind,
				       const struct tenon_value *key)
{
	return (struct tenon_object *)extend((struct access_path *)path, make_step(kind, key));
}

/* The parent of a path; NULL for the root, and for a path that Python code or JSON made of other objects. */
static struct access_path *parent_of(const struct access_path *p)
{
	if (!p->parent || p->parent->object.type != ffi_type_access_path)
		return NULL;
	return p->step && p->step->object.type == ffi_type_access_step ? p->parent : NULL;
}

static bool same_path(const struct access_path *a, const struct access_path *b)
{
	if (a->depth != b->depth)
		return false;
	for (; a != b && parent_of(a) && parent_of(b); a = a->parent, b = b->parent)
		if (a->step->kind != b->step->kind || !ffi_key_equal(&a->step->key, &b->step->key))
			return false;
	return a == b || (!parent_of(a) && !parent_of(b));
}

/* ---- methods */

static int get_path(const char *function, const struct tenon_value *args, int32_t count,
		    int32_t wanted, struct access_path **path)
{
	if (ffi_count(function, count, wanted, wanted))
		return -1;
	return ffi_arg_object(function, args, 0, ffi_type_access_path, path);
}

static int return_path(void *path, struct tenon_value *ret)
{
	*ret = tenon_arg_object(path);
	return path ? 0 : -1;
}

static PACKED_CALL(root_call)
{
	if (ffi_count("_root", count, 0, 0))
		return -1;
	return return_path(ffi_access_root(), ret);
}

static PACKED_CALL(extend_call)
{
	struct access_path *path;
	struct access_step *step;

	if (get_path("_extend", args, count, 2, &path) ||
	    ffi_arg_object("_extend", args, 1, ffi_type_access_step, &step))
		return -1;
	ffi_ref(step);
	return return_path(extend(path, step), ret);
}

static int step_call(const char *function, enum ffi_access kind, const struct tenon_value *args,
		     int32_t count, struct tenon_value *ret)
{
	bool is_name = kind == ACCESS_ATTR || kind == ACCESS_ATTR_MISSING;
	bool is_index = kind == ACCESS_ITEM || kind == ACCESS_ITEM_MISSING;
	struct access_path *path;
	struct tenon_slice name;
	int64_t index;

	if (get_path(function, args, count, 2, &path) ||
	    (is_name && ffi_arg_text(function, args, 1, &name)) ||
	    (is_index && ffi_arg_int(function, args, 1, &index)))
		return -1;
	return return_path(extend(path, make_step(kind, &args[1])), ret);
}

#define STEP(name, kind)                                                                           \
	static int step##name(void *self, const struct tenon_value *args, int32_t count,           \
			      struct tenon_value *ret)                                             \
	{                                                                                          \
		return step_call(#name, kind, args, count, ret);                                   \
	}

STEP(_attr, ACCESS_ATTR)
STEP(_array_item, ACCESS_ITEM)
STEP(_map_item, ACCESS_MAP_ITEM)
STEP(_attr_missing, ACCESS_ATTR_MISSING)
STEP(_array_item_missing, ACCESS_ITEM_MISSING)
STEP(_map_item_missing, ACCESS_MAP_ITEM_MISSING)

static int two_paths(const char *function, const struct tenon_value *args, int32_t count,
		     struct access_path **a, struct access_path **b)
{
	if (get_path(function, args, count, 2, a))
		return -1;
	return ffi_arg_object(function, args, 1, ffi_type_access_path, b);
}

static PACKED_CALL(prefix_call)
{
	struct access_path *a, *b;

	if (two_paths("_is_prefix_of", args, count, &a, &b))
		return -1;
	while (b->depth > a->depth && parent_of(b))
		b = b->parent;
	*ret = tenon_arg_bool(same_path(a, b));
	return 0;
}

static PACKED_CALL(equal_call)
{
	struct access_path *a, *b;

	if (two_paths("_path_equal", args, count, &a, &b))
		return -1;
	*ret = tenon_arg_bool(same_path(a, b));
	return 0;
}

static int path_steps(const struct access_path *path, struct tenon_value *ret)
{
	struct tenon_array *steps = ffi_sequence_create(TENON_TYPE_ARRAY, NULL, 0);
	struct tenon_value step;

	*ret = tenon_arg_object(steps);
	if (!steps)
		return -1;
	for (; parent_of(path); path = path->parent) {
		step = tenon_arg_object(path->step);
		if (ffi_sequence_append(steps, &step)) {
			ffi_release(ret);
			return -1;
		}
	}
	ffi_sequence_reverse(steps);
	return 0;
}

static PACKED_CALL(steps_call)
{
	struct access_path *path;

	if (get_path("_to_steps", args, count, 1, &path))
		return -1;
	return path_steps(path, ret);
}

/* ---- as text; @args: the object, and a function that gives the text of a value */

static int write_repr(FILE *out, struct tenon_object *repr, const struct tenon_value *v)
{
	struct tenon_value arg = *v, text;
	struct tenon_slice s;

	if (ffi_call(repr, &arg, 1, &text))
		return -1;
	if (ffi_text(&text, &s))
		fwrite(s.data, 1, s.size, out);
	ffi_release(&text);
	return 0;
}

static int write_step(FILE *out, struct tenon_object *repr, const struct access_step *s)
{
	struct tenon_slice name;
	int err = 0;

	switch (s->kind) {
	case ACCESS_ATTR:
		if (ffi_text(&s->key, &name))
			fprintf(out, ".%.*s", (int)name.size, name.data);
		break;
	case ACCESS_ITEM:
	case ACCESS_MAP_ITEM:
		fputs("[", out);
		err = write_repr(out, repr, &s->key);
		fputs("]", out);
		break;
	default:
		fputs("[<missing:", out);
		err = write_repr(out, repr, &s->key);
		fputs(">]", out);
	}
	return err;
}

/* Write a path's steps, each as the function writes a step. */
static int write_path(FILE *out, struct tenon_object *repr, const struct access_path *path)
{
	struct tenon_array *steps;
	struct tenon_value list;
	int64_t i;
	int err = 0;

	if (path_steps(path, &list))
		return -1;
	steps = (struct tenon_array *)list.as.object;
	fputs("<root>", out);
	for (i = 0; !err && i < steps->size; i++)
		err = write_repr(out, repr, &steps->data[i]);
	ffi_release(&list);
	return err;
}

static PACKED_CALL(repr_call)
{
	struct tenon_object *o, *repr;
	struct text_stream s;
	int err;

	if (ffi_count("__ffi_repr__", count, 2, 2) ||
	    ffi_arg_object("__ffi_repr__", args, 0, TENON_TYPE_OBJECT, &o) ||
	    ffi_arg_object("__ffi_repr__", args, 1, TENON_TYPE_FUNCTION, &repr))
		return -1;
	if (o->type != ffi_type_access_path && o->type != ffi_type_access_step)
		return ffi_raise("TypeError", "__ffi_repr__: expected a step or a path");
	if (text_stream_open(&s))
		return -1;
	err = o->type == ffi_type_access_path ? write_path(s.out, repr, (struct access_path *)o)
					      : write_step(s.out, repr, (struct access_step *)o);
	return text_stream_close(&s, err, ret);
}

/* ---- registration */

static const struct ffi_member step_members[] = {
	{ "kind", FFI_AT(struct access_step, kind), TENON_TYPE_INT, 0, "{\"type\":\"int\"}" },
	{ "key", FFI_AT(struct access_step, key), TENON_TYPE_ANY, 0, "{\"type\":\"Any\"}" },
	{ 0 },
};

static const struct ffi_member path_members[] = {
	{ "parent", FFI_AT(struct access_path, parent), TENON_TYPE_ANY, 0,
	  "{\"type\":\"Optional\",\"args\":[{\"type\":\"ffi.Object\"}]}" },
	{ "step", FFI_AT(struct access_path, step), TENON_TYPE_ANY, 0,
	  "{\"type\":\"Optional\",\"args\":[{\"type\":\"ffi.reflection.AccessStep\"}]}" },
	{ "depth", FFI_AT(struct access_path, depth), TENON_TYPE_INT, 0, "{\"type\":\"int\"}" },
	{ 0 },
};

#define PATH	   "{\"type\":\"ffi.reflection.AccessPath\"}"
#define TAKES(arg) "{\"type\":\"ffi.Function\",\"args\":[" PATH "," PATH ",{\"type\":\"" arg "\"}]}"

static const struct {
	const char *name;
	tenon_call_fn call;
	const char *schema;
} methods[] = {
	{ "_root", root_call, "{\"type\":\"ffi.Function\",\"args\":[" PATH "]}" },
	{ "_extend", extend_call, TAKES("ffi.reflection.AccessStep") },
	{ "_attr", step_attr, TAKES("ffi.String") },
	{ "_array_item", step_array_item, TAKES("int") },
	{ "_map_item", step_map_item, TAKES("Any") },
	{ "_attr_missing", step_attr_missing, TAKES("ffi.String") },
	{ "_array_item_missing", step_array_item_missing, TAKES("int") },
	{ "_map_item_missing", step_map_item_missing, TAKES("Any") },
	{ "_is_prefix_of", prefix_call,
	  "{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"bool\"}," PATH "," PATH "]}" },
	{ "_to_steps", steps_call,
	  "{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"ffi.Array\",\"args\":[{\"type\":"
	  "\"ffi.reflection.AccessStep\"}]}," PATH "]}" },
	{ "_path_equal", equal_call,
	  "{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"bool\"}," PATH "," PATH "]}" },
};

int access_path_register(void)
{
	size_t i;

	if (ffi_type_add("ffi.reflection.AccessStep", TENON_TYPE_OBJECT, sizeof(struct access_step),
			 COMPARED_CONST_TREE, true, &ffi_type_access_step) ||
	    ffi_members_register(ffi_type_access_step, step_members) ||
	    ffi_instance_attributes(ffi_type_access_step, sizeof(struct access_step)) ||
	    ffi_attribute_function(ffi_type_access_step, "__ffi_repr__", NULL, repr_call, NULL) ||
	    ffi_type_add("ffi.reflection.AccessPath", TENON_TYPE_OBJECT, sizeof(struct access_path),
			 COMPARED_CONST_TREE, true, &ffi_type_access_path) ||
	    ffi_members_register(ffi_type_access_path, path_members) ||
	    ffi_instance_attributes(ffi_type_access_path, sizeof(struct access_path)) ||
	    ffi_attribute_function(ffi_type_access_path, "__ffi_repr__", NULL, repr_call, NULL))
		return -1;
	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (ffi_method_register(ffi_type_access_path, methods[i].name, i == 0,
					methods[i].call, methods[i].schema))
			return -1;
	return 0;
}

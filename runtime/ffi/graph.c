/* SPDX-License-Identifier: MIT */
/*
 * Values as a graph in JSON: {"root_index": 2, "nodes": [{"type": KEY, "data": …}, …]}. Data of
 * containers and of most fields are indices of nodes, so what is used twice is written once. The text
 * comes from anywhere: every index and type in it is checked.
 */
#include <stdlib.h>

#include "runtime/ffi/attributes.h"
#include "runtime/ffi/base64.h"
#include "runtime/ffi/fields.h"
#include "runtime/ffi/json.h"
#include "runtime/ffi/sequence.h"
#include "runtime/ffi/types.h"
#include "runtime/ffi/walk.h"

/* Set a key of a map to a value, which it takes over. Return: 0; -1. */
static int put(struct tenon_map *m, const char *key, struct tenon_value value)
{
	struct tenon_value k = tenon_arg_string(key);
	int err = ffi_map_set(m, &k, &value);

	ffi_release(&value);
	return err;
}

static const struct tenon_value *get(const struct tenon_map *m, const char *key)
{
	struct tenon_value k = tenon_arg_string(key);

	return ffi_map_find(m, &k);
}

/* ---- writing */

struct save {
	struct tenon_map *index; /* of the node of each value */
	struct tenon_array *nodes;
	const struct ffi_open *open;
	int nested;
};

static int node_of(struct save *s, const struct tenon_value *v, struct tenon_value *index);

static int append_node(struct save *s, struct tenon_array *data, const struct tenon_value *v)
{
	struct tenon_value own = ffi_copy(v), index;
	int err = node_of(s, &own, &index);

	ffi_release(&own);
	return err ? err : ffi_sequence_append(data, &index);
}

static int save_container(struct save *s, struct tenon_object *o, struct tenon_value *data)
{
	struct tenon_array *out = ffi_sequence_create(TENON_TYPE_ARRAY, NULL, 0), *items;
	struct ffi_open open = { s->open, o, NULL };
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value;
	int64_t i;
	int err = 0;

	*data = tenon_arg_object(out);
	if (!out)
		return -1;
	if (ffi_is_open(s->open, o, NULL))
		return ffi_raise("ValueError",
				 "Cycle detected during serialization: a %s contains itself",
				 ffi_is_map(o->type) ? "Dict" : "List");
	s->open = &open;
	if (ffi_is_map(o->type)) {
		while (!err && ffi_map_next((struct tenon_map *)o, &at, &key, &value)) {
			err = append_node(s, out, key);
			if (!err)
				err = append_node(s, out, value);
		}
	} else {
		items = (struct tenon_array *)o;
		for (i = 0; !err && i < items->size; i++)
			err = append_node(s, out, &items->data[i]);
	}
	s->open = open.outer;
	return err;
}

static int dtype_text(const struct tenon_value *v, struct tenon_value *out)
{
	return ffi->TVMFFIDataTypeToString(&v->as.dtype, out) ? -1 : 0;
}

/* Fields of plain types are in the object's data, others are nodes. */
static int save_field(struct save *s, const struct type_field *f, struct tenon_object *o,
		      struct tenon_map *data)
{
	struct tenon_value name, v, saved = tenon_arg_none();
	int err;

	if (ffi_field_get(f, o, &v))
		return -1;
	err = ffi_string(f->name.data, f->name.size, &name);
	if (err) {
		ffi_release(&v);
		return err;
	}
	switch (f->static_type) {
	case TENON_TYPE_NONE:
		break;
	case TENON_TYPE_BOOL:
	case TENON_TYPE_INT:
	case TENON_TYPE_FLOAT:
		saved = ffi_copy(&v);
		break;
	case TENON_TYPE_DTYPE:
		err = dtype_text(&v, &saved);
		break;
	default:
		err = node_of(s, &v, &saved);
	}
	if (!err)
		err = ffi_map_set(data, &name, &saved);
	ffi_release(&saved);
	ffi_release(&name);
	ffi_release(&v);
	return err;
}

static int save_object(struct save *s, struct tenon_object *o, struct tenon_value *data)
{
	struct tenon_object *hook = ffi_attribute_call(o->type, "__data_to_json__");
	const struct type_info *info = ffi->TVMFFIGetTypeInfo(o->type);
	struct ffi_field_at at = ffi_fields_of(o->type);
	struct ffi_open open = { s->open, o, NULL };
	struct tenon_value arg = tenon_arg_object(o);
	const struct type_field *f;
	int err = 0;

	if (ffi_type_is(o->type, ffi_type_enum)) {
		*data = ffi_type_is(o->type, ffi_type_int_enum)
				? tenon_arg_int(((struct ffi_enum *)o)->number)
				: ffi_copy(&((struct ffi_enum *)o)->name);
		return 0;
	}
	if (hook)
		return ffi_call(hook, &arg, 1, data);
	if (!(info->metadata && info->metadata->creator) && !ffi_attribute(o->type, "__ffi_new__"))
		return ffi_raise("TypeError",
				 "Type `%.*s` does not support ToJSONGraph (no native creator or "
				 "__ffi_new__ "
				 "type attr)",
				 (int)info->key.size, info->key.data);
	if (ffi_is_open(s->open, o, NULL))
		return ffi_raise("ValueError",
				 "Cycle detected during serialization: a %.*s contains itself",
				 (int)info->key.size, info->key.data);
	*data = tenon_arg_object(ffi_map_create(TENON_TYPE_MAP));
	if (data->type == TENON_TYPE_NONE)
		return -1;
	s->open = &open;
	while (!err && (f = ffi_field_next(&at)))
		err = save_field(s, f, o, (struct tenon_map *)data->as.object);
	s->open = open.outer;
	return err;
}

/* Data of a value without nodes of its own; @type: the key of its type, replaced for strings. */
static int save_plain(const struct tenon_value *v, struct tenon_slice *type,
		      struct tenon_value *data)
{
	const struct tenon_shape *shape = (const struct tenon_shape *)v->as.object;
	struct tenon_value pair[2];
	struct tenon_slice text;
	struct tenon_array *a;
	size_t i;

	if (ffi_text(v, &text)) {
		*type = ffi_type_key(ffi_is_bytes(v->type) ? TENON_TYPE_BYTES : TENON_TYPE_STRING);
		if (ffi_is_bytes(v->type))
			return ffi_base64_encode(text, data);
		*data = ffi_copy(v);
		return 0;
	}
	switch (v->type) {
	case TENON_TYPE_BOOL:
	case TENON_TYPE_INT:
	case TENON_TYPE_FLOAT:
		*data = *v;
		return 0;
	case TENON_TYPE_DTYPE:
		return dtype_text(v, data);
	case TENON_TYPE_DEVICE:
		pair[0] = tenon_arg_int(v->as.device.device_type);
		pair[1] = tenon_arg_int(v->as.device.device_id);
		*data = tenon_arg_object(ffi_sequence_create(TENON_TYPE_ARRAY, pair, 2));
		return data->type == TENON_TYPE_NONE ? -1 : 0;
	case TENON_TYPE_SHAPE:
		a = ffi_sequence_create(TENON_TYPE_ARRAY, NULL, 0);
		*data = tenon_arg_object(a);
		for (i = 0; a && i < shape->size; i++) {
			pair[0] = tenon_arg_int(shape->data[i]);
			if (ffi_sequence_append(a, pair))
				return -1;
		}
		return a ? 0 : -1;
	default:
		return ffi_raise("RuntimeError", "Cannot serialize type `%.*s`", (int)type->size,
				 type->data);
	}
}

static int save_data(struct save *s, const struct tenon_value *v, struct tenon_slice *type,
		     struct tenon_value *data)
{
	int err;

	if (v->type < TENON_TYPE_OBJECT || v->type == TENON_TYPE_SHAPE ||
	    v->type == TENON_TYPE_STRING || v->type == TENON_TYPE_BYTES)
		return save_plain(v, type, data);
	if (s->nested >= FFI_NESTED_MOST)
		return ffi_too_deep("ffi.ToJSONGraph");
	s->nested++;
	err = ffi_is_sequence(v->type) || ffi_is_map(v->type)
		      ? save_container(s, v->as.object, data)
		      : save_object(s, v->as.object, data);
	s->nested--;
	return err;
}

static int node_of(struct save *s, const struct tenon_value *v, struct tenon_value *index)
{
	const struct tenon_value *known = ffi_map_find(s->index, v);
	struct tenon_slice type = ffi_type_key(v->type);
	struct tenon_value data = tenon_arg_none(), key, node;
	struct tenon_map *m;
	int err = 0;

	if (known) {
		*index = *known;
		return 0;
	}
	if (v->type != TENON_TYPE_NONE)
		err = save_data(s, v, &type, &data);
	m = err ? NULL : ffi_map_create(TENON_TYPE_MAP);
	if (!m) {
		ffi_release(&data);
		return -1;
	}
	node = tenon_arg_object(m);
	err = ffi_string(type.data, type.size, &key);
	if (!err)
		err = put(m, "type", key);
	if (!err && v->type != TENON_TYPE_NONE)
		err = put(m, "data", data);
	else
		ffi_release(&data);
	*index = tenon_arg_int(s->nodes->size);
	if (!err)
		err = ffi_sequence_append(s->nodes, &node);
	ffi_release(&node);
	return err ? err : ffi_map_set(s->index, v, index);
}

static int save_graph(const struct tenon_value *v, const struct tenon_value *metadata,
		      struct tenon_value *out)
{
	struct save s = { .index = ffi_map_create(TENON_TYPE_DICT) };
	struct tenon_map *graph = ffi_map_create(TENON_TYPE_MAP);
	struct tenon_value root;
	int err;

	s.nodes = ffi_sequence_create(TENON_TYPE_ARRAY, NULL, 0);
	*out = tenon_arg_object(graph);
	err = s.index && s.nodes && graph ? node_of(&s, v, &root) : -1;
	if (!err)
		err = put(graph, "root_index", root);
	if (!err) {
		ffi_ref(s.nodes);
		err = put(graph, "nodes", tenon_arg_object(s.nodes));
	}
	if (!err && metadata->type != TENON_TYPE_NONE)
		err = put(graph, "metadata", ffi_copy(metadata));
	ffi_unref(s.index);
	ffi_unref(s.nodes);
	if (err)
		ffi_release(out);
	return err;
}

/* ---- reading */

struct load {
	const struct tenon_array *nodes;
	struct tenon_value *done;
	char *state; /* of each node */
	int nested;
};

enum { NODE_NEW, NODE_OPEN, NODE_DONE };

static int load_node(struct load *l, const struct tenon_value *index, struct tenon_value *out);

static int expected(const char *what)
{
	return ffi_raise("ValueError", "Invalid JSON Object Graph: expected %s", what);
}

static int load_items(struct load *l, const struct tenon_array *data, struct tenon_array *out)
{
	struct tenon_value item;
	int64_t i;
	int err = 0;

	for (i = 0; !err && i < data->size; i++) {
		err = load_node(l, &data->data[i], &item);
		if (!err) {
			err = ffi_sequence_append(out, &item);
			ffi_release(&item);
		}
	}
	return err;
}

static int load_pairs(struct load *l, const struct tenon_array *data, struct tenon_map *out)
{
	struct tenon_value key, value;
	int64_t i;
	int err = 0;

	if (data->size % 2)
		return ffi_raise("ValueError",
				 "Invalid JSON Object Graph: Map/Dict data must contain an even "
				 "number of [key, "
				 "value] entries, got %lld",
				 (long long)data->size);
	for (i = 0; !err && i < data->size; i += 2) {
		err = load_node(l, &data->data[i], &key);
		if (err)
			break;
		err = load_node(l, &data->data[i + 1], &value);
		if (!err) {
			err = ffi_map_set(out, &key, &value);
			ffi_release(&value);
		}
		ffi_release(&key);
	}
	return err;
}

static int load_container(struct load *l, int32_t type, const struct tenon_value *data,
			  struct tenon_value *out)
{
	struct tenon_array *items = NULL;
	struct tenon_map *pairs = NULL;
	int err;

	if (data->type != TENON_TYPE_ARRAY)
		return expected("an array of node indices");
	if (ffi_is_map(type))
		pairs = ffi_map_create(type);
	else
		items = ffi_sequence_create(type, NULL, 0);
	*out = pairs ? tenon_arg_object(pairs) : tenon_arg_object(items);
	if (out->type == TENON_TYPE_NONE)
		return -1;
	err = pairs ? load_pairs(l, (struct tenon_array *)data->as.object, pairs)
		    : load_items(l, (struct tenon_array *)data->as.object, items);
	if (err)
		ffi_release(out);
	return err;
}

static int load_dtype(const struct tenon_value *data, struct tenon_value *out)
{
	struct tenon_slice text;
	DLDataType dtype;

	if (!ffi_is_string(data->type) || !ffi_text(data, &text))
		return expected("a dtype as a string");
	if (ffi->TVMFFIDataTypeFromString(&text, &dtype))
		return -1;
	*out = tenon_arg_dtype(dtype);
	return 0;
}

static int load_device(const struct tenon_value *data, struct tenon_value *out)
{
	const struct tenon_array *a = (const struct tenon_array *)data->as.object;
	DLDevice device;

	if (data->type != TENON_TYPE_ARRAY)
		return expected("a device as an array");
	if (a->size != 2)
		return ffi_raise(
			"ValueError",
			"Invalid JSON Object Graph: Device data must be an array of [device_type, "
			"device_id], got %lld element(s)",
			(long long)a->size);
	if (a->data[0].type != TENON_TYPE_INT || a->data[1].type != TENON_TYPE_INT)
		return expected("a device as two integers");
	device.device_type = (int32_t)a->data[0].as.integer;
	device.device_id = (int32_t)a->data[1].as.integer;
	*out = tenon_arg_device(device);
	return 0;
}

static int load_shape(const struct tenon_value *data, struct tenon_value *out)
{
	static const struct tenon_slice name = { "ffi.Shape", 9 };
	const struct tenon_array *a = (const struct tenon_array *)data->as.object;
	void *make;
	int err;

	if (data->type != TENON_TYPE_ARRAY || a->size > INT32_MAX)
		return expected("a shape as an array");
	if (ffi->TVMFFIFunctionGetGlobal(&name, &make) || !make)
		return -1;
	err = ffi_call(make, a->data, (int32_t)a->size, out);
	ffi_unref(make);
	return err;
}

/* Data of a type without nodes of its own. */
static int load_plain(int32_t type, const struct tenon_value *data, struct tenon_value *out)
{
	struct tenon_slice text;

	switch (type) {
	case TENON_TYPE_NONE:
		*out = tenon_arg_none();
		return 0;
	case TENON_TYPE_FLOAT:
		if (data->type == TENON_TYPE_INT || data->type == TENON_TYPE_BOOL) {
			*out = tenon_arg_float((double)data->as.integer);
			return 0;
		}
		break;
	case TENON_TYPE_INT:
		if (data->type == TENON_TYPE_BOOL) {
			*out = tenon_arg_int(data->as.integer);
			return 0;
		}
		break;
	case TENON_TYPE_BOOL:
		if (data->type == TENON_TYPE_INT) {
			*out = tenon_arg_bool(data->as.integer != 0);
			return 0;
		}
		break;
	case TENON_TYPE_DTYPE:
		return load_dtype(data, out);
	case TENON_TYPE_DEVICE:
		return load_device(data, out);
	case TENON_TYPE_SHAPE:
		return load_shape(data, out);
	case TENON_TYPE_STRING:
		*out = ffi_copy(data);
		if (ffi_is_string(data->type))
			return 0;
		ffi_release(out);
		return expected("a string");
	case TENON_TYPE_BYTES:
		if (!ffi_is_string(data->type) || !ffi_text(data, &text))
			return expected("bytes as a string");
		return ffi_base64_decode(text, out);
	default:
		break;
	}
	if (data->type != type)
		return ffi_raise("TypeError",
				 "Invalid JSON Object Graph: expected %.*s, found %.*s",
				 (int)ffi_type_key(type).size, ffi_type_key(type).data,
				 (int)ffi_type_key(data->type).size, ffi_type_key(data->type).data);
	*out = *data;
	return 0;
}

static int load_enum(int32_t type, const struct tenon_value *data, struct tenon_value *out)
{
	const struct tenon_value *state = ffi_attribute(type, "__ffi_enum__"), *entry = NULL;
	struct tenon_slice key = ffi_type_key(type);
	struct ffi_field_at at;
	const struct type_field *f;
	struct tenon_value indexes = tenon_arg_none();

	if (state && state->type >= TENON_TYPE_OBJECT) {
		at = ffi_fields_of(state->type);
		while ((f = ffi_field_next(&at)))
			if (f->name.size == 7 && !memcmp(f->name.data, "indexes", 7))
				break;
		if (f && ffi_field_get(f, state->as.object, &indexes))
			return -1;
	}
	if (indexes.type == TENON_TYPE_DICT)
		entry = ffi_map_find((struct tenon_map *)indexes.as.object, data);
	if (entry)
		*out = ffi_copy(entry);
	ffi_release(&indexes);
	return entry ? 0
		     : ffi_raise("ValueError", "Enum `%.*s` has no instance with this index",
				 (int)key.size, key.data);
}

static int load_field(struct load *l, const struct type_field *f, void *object,
		      const struct tenon_value *data)
{
	struct tenon_value v;
	int err;

	if (f->static_type == TENON_TYPE_NONE || f->static_type == TENON_TYPE_BOOL ||
	    f->static_type == TENON_TYPE_INT || f->static_type == TENON_TYPE_FLOAT ||
	    f->static_type == TENON_TYPE_DTYPE)
		err = load_plain(f->static_type, data, &v);
	else
		err = load_node(l, data, &v);
	if (err)
		return err;
	err = ffi_field_set(f, object, &v);
	ffi_release(&v);
	return err;
}

static int load_fields(struct load *l, int32_t type, const struct tenon_map *data, void *object)
{
	struct ffi_field_at at = ffi_fields_of(type);
	struct tenon_slice key = ffi_type_key(type);
	const struct tenon_value *found;
	const struct type_field *f;
	struct tenon_value name;
	int err = 0;

	while (!err && (f = ffi_field_next(&at))) {
		if (ffi_string(f->name.data, f->name.size, &name))
			return -1;
		found = ffi_map_find(data, &name);
		ffi_release(&name);
		if (found)
			err = load_field(l, f, object, found);
		else if (f->flags & FIELD_HAS_DEFAULT)
			err = ffi_field_set_default(f, object);
		else
			err = ffi_raise("TypeError", "Required field `%.*s` not set in type `%.*s`",
					(int)f->name.size, f->name.data, (int)key.size, key.data);
	}
	return err;
}

static int load_object(struct load *l, int32_t type, const struct tenon_value *data,
		       struct tenon_value *out)
{
	struct tenon_object *hook = ffi_attribute_call(type, "__data_from_json__");
	struct tenon_value arg = *data;
	int err;

	if (ffi_type_is(type, ffi_type_enum))
		return load_enum(type, data, out);
	if (hook)
		return ffi_call(hook, &arg, 1, out);
	if (data->type != TENON_TYPE_MAP)
		return expected("the fields of an object");
	if (ffi_object_create(type, out))
		return -1;
	err = load_fields(l, type, (struct tenon_map *)data->as.object, out->as.object);
	if (err)
		ffi_release(out);
	return err;
}

static int load_data(struct load *l, const struct tenon_map *node, struct tenon_value *out)
{
	const struct tenon_value *key = get(node, "type"), *data = get(node, "data");
	struct tenon_value none = tenon_arg_none();
	struct tenon_slice text;
	int32_t type;

	if (!key || !ffi_is_string(key->type) || !ffi_text(key, &text))
		return expected("the type of a node");
	if (ffi->TVMFFITypeKeyToIndex(&text, &type))
		return -1;
	if (!data)
		data = &none;
	if (ffi_is_sequence(type) || ffi_is_map(type))
		return load_container(l, type, data, out);
	if (type < TENON_TYPE_OBJECT || type == TENON_TYPE_STRING || type == TENON_TYPE_BYTES ||
	    type == TENON_TYPE_SHAPE)
		return load_plain(type, data, out);
	return load_object(l, type, data, out);
}

static int load_node(struct load *l, const struct tenon_value *index, struct tenon_value *out)
{
	int64_t i = index->as.integer;
	int err;

	*out = tenon_arg_none();
	if (index->type != TENON_TYPE_INT)
		return expected("the index of a node");
	if (i < 0 || i >= l->nodes->size)
		return ffi_raise("ValueError", "Invalid JSON Object Graph: invalid node index %lld",
				 (long long)i);
	if (l->state[i] == NODE_OPEN)
		return ffi_raise("ValueError",
				 "Invalid JSON Object Graph: node %lld contains itself",
				 (long long)i);
	if (l->state[i] == NODE_NEW) {
		if (l->nodes->data[i].type != TENON_TYPE_MAP)
			return expected("a node as an object");
		if (l->nested >= FFI_NESTED_MOST)
			return ffi_too_deep("ffi.FromJSONGraph");
		l->state[i] = NODE_OPEN;
		l->nested++;
		err = load_data(l, (struct tenon_map *)l->nodes->data[i].as.object, &l->done[i]);
		l->nested--;
		l->state[i] = err ? NODE_NEW : NODE_DONE;
		if (err)
			return err;
	}
	*out = ffi_copy(&l->done[i]);
	return 0;
}

static int load_graph(const struct tenon_value *graph, struct tenon_value *out)
{
	const struct tenon_value *root, *nodes;
	struct load l = { .nodes = NULL };
	int64_t i;
	int err;

	if (graph->type != TENON_TYPE_MAP)
		return ffi_raise("ValueError", "Invalid JSON Object Graph, expected an object");
	root = get((struct tenon_map *)graph->as.object, "root_index");
	nodes = get((struct tenon_map *)graph->as.object, "nodes");
	if (!root || root->type != TENON_TYPE_INT)
		return ffi_raise("ValueError",
				 "Invalid JSON Object Graph, expected `root_index` integer field");
	if (!nodes || nodes->type != TENON_TYPE_ARRAY)
		return ffi_raise("ValueError",
				 "Invalid JSON Object Graph, expected `nodes` array field");
	l.nodes = (struct tenon_array *)nodes->as.object;
	l.done = calloc((size_t)l.nodes->size + 1, sizeof(*l.done));
	l.state = calloc((size_t)l.nodes->size + 1, 1);
	err = l.done && l.state ? load_node(&l, root, out) : ffi_nomem("a graph");
	for (i = 0; l.done && i < l.nodes->size; i++)
		ffi_release(&l.done[i]);
	free(l.done);
	free(l.state);
	return err;
}

/* ---- the functions */

static int save_arguments(const struct tenon_value *args, int32_t count, struct tenon_value *graph)
{
	struct tenon_value v, metadata = tenon_arg_none();
	int err;

	if (ffi_count("ffi.ToJSONGraph", count, 1, 2) || ffi_own(&args[0], &v))
		return -1;
	err = count == 2 ? ffi_own(&args[1], &metadata) : 0;
	if (!err)
		err = save_graph(&v, &metadata, graph);
	ffi_release(&metadata);
	ffi_release(&v);
	return err;
}

static int to_graph(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	(void)self;
	return save_arguments(args, count, ret);
}

static int to_text(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	struct tenon_value graph;
	int err;

	(void)self;
	if (save_arguments(args, count, &graph))
		return -1;
	err = ffi_json_write(&graph, 0, ret);
	ffi_release(&graph);
	return err;
}

static int from_graph(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	(void)self;
	return ffi_count("ffi.FromJSONGraph", count, 1, 1) ? -1 : load_graph(&args[0], ret);
}

static int from_text(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	struct tenon_value graph;
	struct tenon_slice text;
	int err;

	(void)self;
	if (ffi_count("ffi.FromJSONGraphString", count, 1, 1) ||
	    ffi_arg_text("ffi.FromJSONGraphString", args, 0, &text) || ffi_json_parse(text, &graph))
		return -1;
	err = load_graph(&graph, ret);
	ffi_release(&graph);
	return err;
}

static const struct ffi_global globals[] = {
	{ "ffi.FromJSONGraph", from_graph },
	{ "ffi.FromJSONGraphString", from_text },
	{ "ffi.ToJSONGraph", to_graph },
	{ "ffi.ToJSONGraphString", to_text },
	{ NULL, NULL },
};

int graph_register(void)
{
	return ffi_register_globals(globals);
}

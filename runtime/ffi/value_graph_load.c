/* SPDX-License-Identifier: MIT */
/* Make the value of each node once, from the root on. */
#include "runtime/ffi/value_graph.h"

#include <stdlib.h>

#include "runtime/ffi/attributes.h"
#include "runtime/ffi/base64.h"
#include "runtime/ffi/fields.h"
#include "runtime/ffi/sequence.h"
#include "runtime/ffi/shape.h"
#include "runtime/ffi/types.h"
#include "runtime/ffi/walk.h"

static const struct tenon_value *get(const struct tenon_map *m, const char *key)
{
	struct tenon_value k = tenon_arg_string(key);

	return ffi_map_find(m, &k);
}

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

	if (!ffi_string_text(data, &text))
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
	const struct tenon_array *a = (const struct tenon_array *)data->as.object;

	if (data->type != TENON_TYPE_ARRAY)
		return expected("a shape as an array");
	return ffi_shape_create(a->data, (size_t)a->size, out);
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
		if (!ffi_string_text(data, &text))
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
	const struct type_field *f;
	struct tenon_value indexes = tenon_arg_none();

	if (state && state->type >= TENON_TYPE_OBJECT) {
		f = ffi_field_find(state->type, tenon_slice_of("indexes"));
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
		else
			err = ffi_field_set_absent(type, f, object);
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

	if (!key || !ffi_string_text(key, &text))
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

int value_graph_load(const struct tenon_value *graph, struct tenon_value *out)
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

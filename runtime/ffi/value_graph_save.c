/* SPDX-License-Identifier: MIT */
/* Give each value a node, containers and objects after what is in them. */
#include "runtime/ffi/value_graph.h"

#include "runtime/ffi/attributes.h"
#include "runtime/ffi/base64.h"
#include "runtime/ffi/fields.h"
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

int value_graph_save(const struct tenon_value *v, const struct tenon_value *metadata,
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

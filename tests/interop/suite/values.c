/* SPDX-License-Identifier: MIT */
/* Values in messages: reading and writing each form. */
#include "values.h"

#include <stdlib.h>
#include <string.h>

#include "calls.h"

/* objects that the other process refers to by number */
static struct tenon_value *kept;
static uint32_t kept_count;

uint32_t keep(const struct tenon_value *owned)
{
	kept = memory(kept, (kept_count + 1) * sizeof(*kept));
	kept[kept_count] = *owned;
	return kept_count++;
}

const struct tenon_value *kept_at(uint32_t number)
{
	if (number >= kept_count)
		fail("an object that is not kept");
	return &kept[number];
}

static struct tenon_value get_tensor(struct message *m, struct call_tensors *tensors)
{
	const uint32_t key = get_u32(m);
	struct call_tensor *known = find_key(tensors, key);
	struct tenon_tensor *t;
	DLDataType dtype;
	int64_t *shape;
	int32_t ndim;
	struct tenon_slice bytes;

	get_into(m, &dtype, sizeof(dtype));
	ndim = (int32_t)get_u32(m);
	shape = memory(NULL, (size_t)ndim * sizeof(*shape));
	get_into(m, shape, (size_t)ndim * sizeof(*shape));
	bytes = get_text(m);
	if (known) {
		free(shape);
		return tenon_arg_object(known->tensor);
	}
	known = find_key(&retained, key);
	if (known) {
		t = known->tensor;
		tenon_object_ref(t);
	} else if (tenon_tensor_create(shape, ndim, dtype, &t)) {
		fail(tenon_error_message());
	}
	free(shape);
	memcpy(t->dl.data, bytes.data, bytes.size);
	if (known)
		memcpy(known->before, bytes.data, bytes.size);
	add_tensor(tensors, key, t, bytes.size);
	return tenon_arg_object(t);
}

/* an array or a map; the items are owned by it afterwards */
static struct tenon_value get_items(struct message *m, struct call_tensors *tensors, bool is_map)
{
	const uint32_t count = get_u32(m) * (is_map ? 2 : 1);
	struct tenon_value *items = memory(NULL, count * sizeof(*items));
	struct tenon_array *array = NULL;
	struct tenon_map *map = NULL;
	uint32_t i;
	int err;

	for (i = 0; i < count; i++)
		items[i] = get_value(m, tensors);
	err = is_map ? tenon_map_create(items, count / 2, &map)
		     : tenon_array_create(items, count, &array);
	if (err)
		fail(tenon_error_message());
	for (i = 0; i < count; i++)
		if (items[i].type != TENON_TYPE_TENSOR)
			tenon_value_release(&items[i]);
	free(items);
	return is_map ? tenon_arg_object(map) : tenon_arg_object(array);
}

static struct tenon_value get_shape(struct message *m)
{
	const uint32_t count = get_u32(m);
	struct tenon_shape *shape;
	int64_t *extents = memory(NULL, count * sizeof(*extents));

	get_into(m, extents, count * sizeof(*extents));
	if (tenon_shape_create(extents, count, &shape))
		fail("out of memory");
	free(extents);
	return tenon_arg_object(shape);
}

/* an owned value; tensors stay with the call, which releases them */
struct tenon_value get_value(struct message *m, struct call_tensors *tensors)
{
	struct tenon_value value = tenon_arg_none();
	DLDataType dtype;
	DLDevice device;
	double real;

	switch (*get(m, 1)) {
	case 'N':
		break;
	case 'i':
		value = tenon_arg_int(get_i64(m));
		break;
	case 'b':
		value = tenon_arg_bool(get_i64(m) != 0);
		break;
	case 'f':
		get_into(m, &real, sizeof(real));
		value = tenon_arg_float(real);
		break;
	case 'd':
		get_into(m, &dtype, sizeof(dtype));
		value = tenon_arg_dtype(dtype);
		break;
	case 'D':
		device.device_type = (DLDeviceType)get_u32(m);
		device.device_id = (int32_t)get_u32(m);
		value = tenon_arg_device(device);
		break;
	case 's':
		if (tenon_string_value(get_text(m), &value))
			fail("out of memory");
		break;
	case 'y':
		if (tenon_bytes_value(get_text(m), &value))
			fail("out of memory");
		break;
	case 't':
		value = get_tensor(m, tensors);
		break;
	case 'S':
		value = get_shape(m);
		break;
	case 'A':
		value = get_items(m, tensors, false);
		break;
	case 'M':
		value = get_items(m, tensors, true);
		break;
	case 'c':
		value = tenon_arg_object(callback(get_u32(m)));
		break;
	case 'o':
		tenon_value_own(kept_at(get_u32(m)), &value);
		break;
	default:
		fail("a value of unknown form");
	}
	return value;
}

static void put_tensor(struct message *m, struct call_tensors *tensors, const struct tenon_value *v,
		       uint32_t key)
{
	struct call_tensor *known = NULL;
	struct tenon_tensor *copy;
	size_t bytes = 0;
	DLTensor *dl;

	tenon_value_tensor(v, &dl);
	if (tensors) {
		known = find_tensor(tensors, dl);
		if (!known)
			known = find_tensor(&retained, dl);
	}
	if (known) {
		put_byte(m, 'k');
		put_u32(m, known->key);
		return;
	}
	if (tenon_tensor_create(dl->shape, dl->ndim, dl->dtype, &copy) ||
	    tenon_tensor_bytes(dl, &bytes) || tenon_tensor_copy(dl, &copy->dl))
		fail(tenon_error_message());
	put_byte(m, 't');
	put_u32(m, tensors ? keep_result(v, dl) : key);
	put(m, &dl->dtype, sizeof(dl->dtype));
	put_u32(m, (uint32_t)dl->ndim);
	put(m, dl->shape, (size_t)dl->ndim * sizeof(*dl->shape));
	put_text(m, copy->dl.data, bytes);
	tenon_object_unref(copy);
}

static void put_map(struct message *m, struct call_tensors *tensors, const struct tenon_map *map)
{
	const struct tenon_value *key, *value;
	const void *at = NULL;

	put_byte(m, 'M');
	put_u32(m, (uint32_t)map->size);
	while ((at = tenon_map_next(map, at, &key, &value)) != NULL) {
		put_value(m, tensors, key, 0);
		put_value(m, tensors, value, 0);
	}
}

/* an object that has no form in messages: it stays here, and the other process gets its number and type */
static void put_object(struct message *m, const struct tenon_value *v)
{
	const char *type = tenon_type_key(v->type);
	struct tenon_value owned;

	if (tenon_value_own(v, &owned))
		fail(tenon_error_message());
	put_byte(m, 'o');
	put_u32(m, keep(&owned));
	put_text(m, type ? type : "?", type ? strlen(type) : 1);
}

static void put_scalar(struct message *m, const struct tenon_value *v)
{
	static const char forms[] = { 'N', 'i', 'b', 'f', 'p', 'd', 'D' };

	put_byte(m, forms[v->type]);
	if (v->type == TENON_TYPE_INT || v->type == TENON_TYPE_BOOL || v->type == TENON_TYPE_FLOAT)
		put(m, &v->as, 8);
	else if (v->type == TENON_TYPE_DTYPE)
		put(m, &v->as.dtype, 4);
	else if (v->type == TENON_TYPE_DEVICE)
		put(m, &v->as.device, 8);
}

/* @key: by which changes of a borrowed tensor come back; 0 for none */
void put_value(struct message *m, struct call_tensors *tensors, const struct tenon_value *v,
	       uint32_t key)
{
	const struct tenon_array *array;
	const struct tenon_shape *shape;
	struct tenon_slice text;
	DLTensor *dl;
	int64_t i;

	if (v->type < TENON_TYPE_DLTENSOR) {
		put_scalar(m, v);
	} else if (v->type == TENON_TYPE_BYTES || v->type == TENON_TYPE_SMALL_BYTES ||
		   v->type == TENON_TYPE_RAW_BYTES) {
		tenon_value_text(v, &text);
		put_byte(m, 'y');
		put_text(m, text.data, text.size);
	} else if (!tenon_value_text(v, &text)) {
		put_byte(m, 's');
		put_text(m, text.data, text.size);
	} else if (!tenon_value_tensor(v, &dl)) {
		put_tensor(m, tensors, v, key);
	} else if (v->type == TENON_TYPE_SHAPE) {
		shape = (const struct tenon_shape *)v->as.object;
		put_byte(m, 'S');
		put_u32(m, (uint32_t)shape->size);
		put(m, shape->data, shape->size * sizeof(*shape->data));
	} else if (v->type == TENON_TYPE_ARRAY || v->type == TENON_TYPE_LIST) {
		array = (const struct tenon_array *)v->as.object;
		put_byte(m, 'A');
		put_u32(m, (uint32_t)array->size);
		for (i = 0; i < array->size; i++)
			put_value(m, tensors, &array->data[i], 0);
	} else if (v->type == TENON_TYPE_MAP || v->type == TENON_TYPE_DICT) {
		put_map(m, tensors, (const struct tenon_map *)v->as.object);
	} else {
		tenon_error_clear();
		put_object(m, v);
	}
}

void drop_kept(uint32_t number)
{
	kept_at(number);
	tenon_value_release(&kept[number]);
}

/* SPDX-License-Identifier: MIT */
/* Tensors of calls: which are kept, and sending their changes. */
#include "tensors.h"

#include <stdlib.h>
#include <string.h>

/* keys of tensors that were made here start there, the newest of which are kept */
#define FIRST_RESULT 0x80000000U
#define RESULTS_KEPT 64

struct call_tensors retained;
static uint32_t next_result = FIRST_RESULT;

struct call_tensor *find_key(const struct call_tensors *tensors, uint32_t key)
{
	size_t i;

	for (i = 0; key && i < tensors->count; i++)
		if (tensors->list[i].key == key)
			return &tensors->list[i];
	return NULL;
}

static bool is_same_tensor(const DLTensor *a, const DLTensor *b)
{
	return a->data == b->data && a->byte_offset == b->byte_offset && a->ndim == b->ndim &&
	       memcmp(&a->dtype, &b->dtype, sizeof(a->dtype)) == 0 &&
	       memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(*a->shape)) == 0;
}

struct call_tensor *find_tensor(const struct call_tensors *tensors, const DLTensor *dl)
{
	size_t i;

	for (i = 0; i < tensors->count; i++)
		if (tensors->list[i].key && is_same_tensor(&tensors->list[i].tensor->dl, dl))
			return &tensors->list[i];
	return NULL;
}

void add_tensor(struct call_tensors *tensors, uint32_t key, struct tenon_tensor *t, size_t bytes)
{
	struct call_tensor *added;

	tensors->list = memory(tensors->list, (tensors->count + 1) * sizeof(*tensors->list));
	added = &tensors->list[tensors->count++];
	*added = (struct call_tensor){ key, t, NULL, bytes };
	if (key) {
		added->before = memory(NULL, bytes);
		memcpy(added->before, t->dl.data, bytes);
	}
}

/* a tensor that a callback may return */
void add_argument(struct call_tensors *tensors, uint32_t key, struct tenon_object *tensor)
{
	tenon_object_ref(tensor);
	add_tensor(tensors, key, (struct tenon_tensor *)tensor, 0);
}

/* A result on the host that is not a tensor of the other process: keep it, so that it stays the same object there. */
uint32_t keep_result(const struct tenon_value *v, const DLTensor *dl)
{
	size_t bytes;

	if (v->type != TENON_TYPE_TENSOR || dl->device.device_type != kDLCPU ||
	    !tenon_tensor_compact(dl) || dl->byte_offset || tenon_tensor_bytes(dl, &bytes))
		return 0;
	tenon_object_ref(v->as.object);
	add_tensor(&retained, next_result, (struct tenon_tensor *)v->as.object, bytes);
	return next_result++;
}

/* Write those whose bytes are others than the other process knows; @already lists some that were written. */
static uint32_t put_changed(struct message *m, struct call_tensors *tensors,
			    const struct call_tensors *already)
{
	uint32_t count = 0;
	size_t i;

	for (i = 0; i < tensors->count; i++) {
		struct call_tensor *t = &tensors->list[i];

		if (!t->key || memcmp(t->before, t->tensor->dl.data, t->bytes) == 0)
			continue;
		memcpy(t->before, t->tensor->dl.data, t->bytes);
		if (already && find_key(already, t->key))
			continue;
		put_u32(m, t->key);
		put_text(m, t->before, t->bytes);
		count++;
	}
	return count;
}

void put_changes(struct message *m, struct call_tensors *tensors)
{
	const size_t at = m->at;
	uint32_t count;

	put_u32(m, 0);
	count = put_changed(m, tensors, NULL) + put_changed(m, &retained, tensors);
	memcpy(m->data + at, &count, sizeof(count));
}

static bool has_one_owner(const struct tenon_tensor *t)
{
	return (uint32_t)t->object.refs == 1;
}

static void forget_tensor(struct call_tensor *t)
{
	tenon_object_unref(t->tensor);
	free(t->before);
}

void forget_tensors(struct call_tensors *tensors)
{
	size_t i;

	for (i = 0; i < tensors->count; i++)
		forget_tensor(&tensors->list[i]);
	free(tensors->list);
}

/* Keep the tensors of a call that something refers to after it, and write their keys. */
void retain_tensors(struct message *m, struct call_tensors *tensors)
{
	const size_t at = m->at;
	uint32_t count = 0;
	size_t i, left = 0;

	put_u32(m, 0);
	for (i = 0; i < tensors->count; i++) {
		struct call_tensor *t = &tensors->list[i];

		if (!t->key || has_one_owner(t->tensor) || find_key(&retained, t->key)) {
			forget_tensor(t);
			continue;
		}
		retained.list =
			memory(retained.list, (retained.count + 1) * sizeof(*retained.list));
		retained.list[retained.count++] = *t;
		put_u32(m, t->key);
		count++;
	}
	free(tensors->list);
	memcpy(m->data + at, &count, sizeof(count));
	for (i = 0; i < retained.count; i++) {
		const uint32_t key = retained.list[i].key;
		const bool is_result = key >= FIRST_RESULT && next_result - key <= RESULTS_KEPT;

		if (has_one_owner(retained.list[i].tensor) && !is_result)
			forget_tensor(&retained.list[i]);
		else
			retained.list[left++] = retained.list[i];
	}
	retained.count = left;
}

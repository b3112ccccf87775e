/* SPDX-License-Identifier: MIT */
/* Set, bind and check inputs, expand tuples, and gather arguments. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/relax/relax_device.h"
#include "runtime/relax/relax_model.h"

#define ALIGN_NEEDED TENSOR_CODE_ALIGN

static const struct relax_fact *slot_fact(const struct relax_model *m, const struct relax_slot *s)
{
	return &m->description.facts[s->fact];
}

static uint32_t count_items(const struct relax_model *m, uint32_t fact)
{
	const struct relax_fact *f = &m->description.facts[fact];
	uint32_t i, n = 1;

	for (i = 0; f->what == RELAX_TUPLE && i < f->count; i++)
		n += count_items(m, f->items + i);
	return n;
}

/* Name an input: "pair.0" for a tuple item, "arg2" for a parameter without a name. */
static int name_input(struct relax_input *in, struct tenon_slice parent, const char *prefix,
		      uint32_t number)
{
	size_t room = parent.size + 16; /* fits "arg" and any number */
	char *name = heap_alloc(room, "name of an input");

	if (!name)
		return tenon_error(-TENON_E_NOMEM, "no memory for the name of an input");
	snprintf(name, room, "%.*s%s%" PRIu32, (int)parent.size, parent.size ? parent.data : "",
		 prefix, number);
	in->own_name = name;
	in->name = tenon_slice_of(name);
	return 0;
}

/* Create the slots below a slot, and an input for each slot without items. */
static int expand(struct relax_model *m, uint32_t slot, const struct relax_input *named)
{
	struct relax_slot *s = &m->slots[slot];
	const struct relax_fact *f = slot_fact(m, s);
	struct relax_input item;
	uint32_t i;
	int err = 0;

	if (f->what != RELAX_TUPLE) {
		m->inputs[m->input_count] = *named;
		m->inputs[m->input_count++].slot = slot;
		return 0;
	}
	s->tuple = true;
	s->set = true;
	s->first = m->slot_count;
	s->count = f->count;
	m->slot_count += f->count;
	for (i = 0; !err && i < f->count; i++) {
		m->slots[s->first + i].fact = f->items + i;
		item.own_name = NULL;
		err = name_input(&item, named->name, ".", i);
		if (!err)
			err = expand(m, s->first + i, &item);
		if (m->slots[s->first + i].tuple)
			heap_free(item.own_name);
	}
	return err;
}

int relax_model_make_inputs(struct relax_model *m)
{
	const struct relax_function *f = &m->x->functions[m->function];
	struct relax_input in;
	uint32_t i, n = 0;
	int err = 0;

	for (i = 0; i < f->args; i++)
		n += count_items(m, i);
	m->slots = heap_zeroed((size_t)n + 1, sizeof(*m->slots), "values of inputs");
	m->inputs = heap_zeroed((size_t)n + 1, sizeof(*m->inputs), "list of inputs");
	m->arguments = heap_zeroed((size_t)f->args + 1, sizeof(*m->arguments), "arguments");
	if (!m->slots || !m->inputs || !m->arguments)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " inputs", n);
	m->slot_count = f->args;
	for (i = 0; !err && i < f->args; i++) {
		memset(&in, 0, sizeof(in));
		m->slots[i].fact = i;
		if (i < f->param_count && f->params[i].size)
			in.name = f->params[i];
		else
			err = name_input(&in, in.name, "arg", i);
		if (!err)
			err = expand(m, i, &in);
		if (m->slots[i].tuple)
			heap_free(in.own_name);
	}
	return err;
}

static void put(struct relax_slot *s, const struct tenon_value *owned)
{
	struct tenon_value old = s->value;

	s->value = *owned;
	s->set = true;
	s->copied = false;
	tenon_value_release(&old);
}

static int check_dtype(const struct relax_fact *f, const DLTensor *t)
{
	char wanted[TENON_DTYPE_NAME], found[TENON_DTYPE_NAME];

	/* bool is {1,1} up to TVM 0.22 and {6,8} later; both take a byte */
	if (!f->dtype.bits || tenon_dtype_equal(f->dtype, t->dtype) ||
	    (f->dtype.code == TENON_DTYPE_UINT && f->dtype.bits == 1 &&
	     t->dtype.code == TENON_DTYPE_BOOL))
		return 0;
	return tenon_error(-TENON_E_TYPE, "dtype %s expected, found %s",
			   tenon_dtype_name(f->dtype, wanted), tenon_dtype_name(t->dtype, found));
}

static void print_shape(struct tenon_buffer *out, const int64_t *shape, int32_t ndim)
{
	int32_t i;

	tenon_buffer_printf(out, "[");
	for (i = 0; i < ndim; i++) {
		tenon_buffer_printf(out, "%s", i ? ", " : "");
		tenon_buffer_printf(out, shape[i] < 0 ? "?" : "%" PRIi64, shape[i]);
	}
	tenon_buffer_printf(out, "]");
}

static int check_shape(const struct relax_fact *f, const DLTensor *t)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	bool fits = t->ndim == f->ndim;
	int32_t i;
	int err;

	for (i = 0; fits && i < f->ndim; i++)
		fits = f->shape[i] < 0 || f->shape[i] == t->shape[i];
	if (f->ndim < 0 || fits)
		return 0;
	tenon_buffer_printf(&text, "shape ");
	print_shape(&text, f->shape, f->ndim);
	tenon_buffer_printf(&text, " expected, found ");
	print_shape(&text, t->shape, t->ndim);
	err = tenon_error(-TENON_E_VALUE, "%s", text.data ? text.data : "shape");
	tenon_buffer_fini(&text);
	return err;
}

static int check_tensor(const struct relax_model *m, const struct relax_slot *s, const DLTensor *t)
{
	const struct relax_fact *f = slot_fact(m, s);
	int err;

	err = check_dtype(f, t);
	if (!err)
		err = check_shape(f, t);
	if (!err && !tenon_tensor_compact(t))
		err = tenon_error(-TENON_E_VALUE, "the tensor has gaps between its elements");
	return err;
}

static bool is_tensor(const struct tenon_value *v)
{
	return v->type == TENON_TYPE_TENSOR || v->type == TENON_TYPE_DLTENSOR;
}

/* Test whether the previous tensor can be overwritten: no other reference, and the same size. */
static struct tenon_tensor *reusable(const struct relax_slot *s, const DLTensor *t,
				     DLDataType dtype, size_t bytes)
{
	struct tenon_tensor *old;
	size_t room;

	if (s->value.type != TENON_TYPE_TENSOR || !s->copied)
		return NULL;
	old = (struct tenon_tensor *)s->value.as.object;
	if ((uint32_t)__atomic_load_n(&old->object.refs, __ATOMIC_ACQUIRE) != 1 ||
	    old->dl.ndim != t->ndim || !tenon_dtype_equal(old->dl.dtype, dtype) ||
	    tenon_tensor_bytes(&old->dl, &room) || room != bytes ||
	    (t->ndim && memcmp(old->dl.shape, t->shape, (size_t)t->ndim * sizeof(*t->shape))))
		return NULL;
	return old;
}

/* Dtype that the program uses: bool has two, and code of TVM 0.20 and older has the first. */
static DLDataType dtype_for(const struct relax_model *m, const struct relax_fact *f,
			    const DLTensor *t)
{
	if (f && f->dtype.bits)
		return f->dtype;
	if (m->x->legacy && t->dtype.code == TENON_DTYPE_BOOL)
		return tenon_dtype(TENON_DTYPE_UINT, 1, t->dtype.lanes);
	return t->dtype;
}

static int new_tensor(struct relax_model *m, const DLTensor *t, DLDataType dtype,
		      struct tenon_tensor **out)
{
	struct relax_vm *outer;
	int err = relax_enter(m->machine, &outer);

	if (err)
		return err;
	err = relax_tensor_new(relax_main_device(m->machine)->pool, t->shape, t->ndim, dtype, out);
	relax_leave(m->machine, outer);
	return err;
}

static int copy_tensor(struct relax_model *m, struct relax_slot *s, const DLTensor *t)
{
	DLDataType dtype = dtype_for(m, slot_fact(m, s), t);
	struct tenon_value value;
	struct tenon_tensor *copy;
	size_t bytes;
	int err;

	err = tenon_tensor_bytes(t, &bytes);
	if (err)
		return err;
	copy = reusable(s, t, dtype, bytes);
	if (!copy) {
		err = new_tensor(m, t, dtype, &copy);
		if (err)
			return err;
		value = tenon_arg_object(copy);
		put(s, &value);
		s->copied = true;
	}
	return place_copy(t, &copy->dl, bytes);
}

static int copy_value(struct relax_model *m, const struct tenon_value *v, int depth,
		      struct tenon_value *out);

static int copy_item(struct relax_model *m, const DLTensor *t, struct tenon_value *out)
{
	struct tenon_tensor *copy;
	size_t bytes;
	int err;

	if (!tenon_tensor_compact(t))
		return tenon_error(-TENON_E_VALUE, "the tensor has gaps between its elements");
	err = tenon_tensor_bytes(t, &bytes);
	if (!err)
		err = new_tensor(m, t, dtype_for(m, NULL, t), &copy);
	if (err)
		return err;
	err = place_copy(t, &copy->dl, bytes);
	if (err)
		tenon_object_unref(copy);
	else
		*out = tenon_arg_object(copy);
	return err;
}

static int copy_tuple(struct relax_model *m, const struct tenon_array *a, int depth,
		      struct tenon_value *out)
{
	struct tenon_array *copy;
	struct tenon_value *items;
	int64_t i, made = 0;
	int err = 0;

	if (depth == RELAX_TUPLES_MOST)
		return tenon_error(-TENON_E_OVERFLOW, "tuples nest more than %d deep",
				   RELAX_TUPLES_MOST);
	items = heap_zeroed((size_t)a->size + 1, sizeof(*items), "items of a tuple");
	if (!items)
		return tenon_error(-TENON_E_NOMEM, "no memory for a tuple");
	for (; !err && made < a->size; made += !err) {
		err = copy_value(m, &a->data[made], depth + 1, &items[made]);
		if (err)
			tenon_error_in(err, "item %" PRIi64, made);
	}
	if (!err)
		err = tenon_array_create(items, (size_t)made, &copy);
	if (!err)
		*out = tenon_arg_object(copy);
	for (i = 0; i < made; i++)
		tenon_value_release(&items[i]);
	heap_free(items);
	return err;
}

/* Copy a value of unknown type for compiled functions; tensors are copied, in tuples too. */
static int copy_value(struct relax_model *m, const struct tenon_value *v, int depth,
		      struct tenon_value *out)
{
	DLTensor *t;
	int err;

	if (v->type == TENON_TYPE_ARRAY)
		return copy_tuple(m, (const struct tenon_array *)v->as.object, depth, out);
	if (!is_tensor(v))
		return tenon_value_own(v, out);
	err = tenon_value_tensor(v, &t);
	return err ? err : copy_item(m, t, out);
}

int relax_model_set_input(struct tenon_model *model, size_t index, const struct tenon_value *value)
{
	struct relax_model *m = (struct relax_model *)model;
	struct relax_slot *s = &m->slots[m->inputs[index].slot];
	struct tenon_value owned;
	DLTensor *t;
	int err;

	if (!m->machine)
		return tenon_error(-TENON_E_USAGE, "the model was opened to be looked at only");
	if (is_tensor(value)) {
		err = tenon_value_tensor(value, &t);
		if (!err)
			err = check_tensor(m, s, t);
		return err ? err : copy_tensor(m, s, t);
	}
	if (slot_fact(m, s)->what == RELAX_TENSOR)
		return tenon_error(-TENON_E_TYPE, "a tensor expected, found %s",
				   tenon_type_key(value->type));
	err = copy_value(m, value, 0, &owned);
	if (err)
		return err;
	put(s, &owned);
	return 0;
}

static int check_place(const struct relax_model *m, const DLTensor *t)
{
	uintptr_t data = (uintptr_t)t->data + t->byte_offset;
	DLDevice want = relax_main_device(m->machine)->id;

	if (!place_same(t->device, want))
		return tenon_error(
			-TENON_E_DEVICE, "a tensor on %s:%d; the model runs on %s:%d",
			tenon_device_name((int32_t)t->device.device_type), (int)t->device.device_id,
			tenon_device_name((int32_t)want.device_type), (int)want.device_id);
	if (place_is_host(want) && data % ALIGN_NEEDED)
		return tenon_error(-TENON_E_VALUE,
				   "the data is aligned to %zu bytes, %d are needed",
				   (size_t)(data & -data), ALIGN_NEEDED);
	if (t->byte_offset && !place_has_addresses(want))
		return tenon_error(-TENON_E_VALUE,
				   "the tensor begins %" PRIu64
				   " bytes into its memory, none are wanted",
				   t->byte_offset);
	return 0;
}

int relax_model_bind_input(struct tenon_model *model, size_t index, struct tenon_tensor *tensor)
{
	struct relax_model *m = (struct relax_model *)model;
	struct relax_slot *s = &m->slots[m->inputs[index].slot];
	uintptr_t data = (uintptr_t)tensor->dl.data + tensor->dl.byte_offset;
	struct tenon_value value;
	struct tenon_tensor *view;
	DLTensor dl = tensor->dl;
	DLDataType dtype = dtype_for(m, slot_fact(m, s), &tensor->dl);
	int err;

	err = check_tensor(m, s, &tensor->dl);
	if (!err)
		err = check_place(m, &tensor->dl);
	if (err)
		return err;
	if (tensor->dl.byte_offset || !tenon_dtype_equal(dtype, tensor->dl.dtype)) {
		/* Compiled code requires offset 0 and one particular dtype of bool. */
		dl.dtype = dtype;
		dl.data = (void *)data;
		dl.byte_offset = 0;
		err = tenon_tensor_view(&dl, &tensor->object, &view);
		if (err)
			return err;
		value = tenon_arg_object(view);
	} else {
		tenon_object_ref(tensor);
		value = tenon_arg_object(tensor);
	}
	put(s, &value);
	return 0;
}

int relax_model_set_param(struct tenon_model *model, size_t index, struct tenon_params *params,
			  const struct tenon_param *param)
{
	struct relax_model *m = (struct relax_model *)model;
	struct tenon_tensor *tensor;
	struct tenon_value value;
	int err;

	err = tenon_params_tensor(params, param, ALIGN_NEEDED, &tensor);
	if (err)
		return err;
	value = tenon_arg_object(tensor);
	if (m->machine && place_same(tensor->dl.device, relax_main_device(m->machine)->id))
		err = relax_model_bind_input(model, index, tensor);
	else
		err = relax_model_set_input(model, index, &value);
	tenon_object_unref(tensor);
	return err;
}

/* Make a tuple from the current values of its items. */
static int gather_tuple(struct relax_model *m, struct relax_slot *s)
{
	struct tenon_value items[64], *list = items, value;
	struct tenon_array *a;
	uint32_t i;
	int err;

	items[0] = tenon_arg_none();
	if (s->count > 64)
		list = heap_alloc(s->count * sizeof(*list), "items of a tuple");
	if (!list)
		return tenon_error(-TENON_E_NOMEM, "no memory for a tuple");
	for (i = 0; i < s->count; i++)
		list[i] = m->slots[s->first + i].value;
	err = relax_array_create(m->machine->pool, list, s->count, &a);
	if (list != items)
		heap_free(list);
	if (err)
		return err;
	value = tenon_arg_object(a);
	put(s, &value);
	return 0;
}

int relax_model_gather(struct relax_model *m)
{
	uint32_t i, args = m->x->functions[m->function].args;
	int err;

	for (i = 0; i < m->input_count; i++)
		if (!m->slots[m->inputs[i].slot].set)
			return tenon_error(-TENON_E_USAGE, "input \"%.*s\" was never set",
					   (int)m->inputs[i].name.size, m->inputs[i].name.data);
	/* Backwards: the slots of items follow their tuple's. */
	for (i = m->slot_count; i-- > 0;) {
		if (!m->slots[i].tuple)
			continue;
		err = gather_tuple(m, &m->slots[i]);
		if (err)
			return err;
	}
	for (i = 0; i < args; i++)
		m->arguments[i] = m->slots[i].value;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Facts about values, and how calls of builtins add to them. */
#include <stdlib.h>
#include <tenon/array.h>
#include <tenon/tensor.h>

#include "lib/heap.h"
#include "runtime/relax/relax_fact.h"

/* Bound the number of facts by the size of the file, whatever size a tuple claims. */
static bool may_have(const struct relax_walk *w, int64_t items)
{
	return items >= 0 && items <= 1024 + 4 * (int64_t)w->x->word_count - w->d->fact_count;
}

uint32_t relax_fact_new(struct relax_walk *w)
{
	struct relax_description *d = w->d;
	struct relax_fact *facts;
	uint32_t room;

	if (d->fact_count == d->fact_room) {
		room = d->fact_room ? 2 * d->fact_room : 64;
		facts = heap_resize(d->facts, room * sizeof(*facts), "facts of values");
		if (!facts) {
			w->failed = true;
			return 0;
		}
		d->facts = facts;
		d->fact_room = room;
	}
	memset(&d->facts[d->fact_count], 0, sizeof(*d->facts));
	d->facts[d->fact_count].value = -1;
	d->facts[d->fact_count].ndim = -1;
	return ++d->fact_count;
}

static void set_shape(struct relax_fact *f, const int64_t *extents, size_t count)
{
	size_t i;

	f->ndim = -1;
	if (count > RELAX_NDIM_MOST)
		return;
	for (i = 0; i < count; i++)
		f->shape[i] = extents[i];
	f->ndim = (int32_t)count;
}

static uint32_t constant_fact(struct relax_walk *w, uint32_t index)
{
	const struct tenon_value *v = &w->x->constants[index];
	const struct tenon_shape *s;
	const DLTensor *t;
	struct relax_fact *f;

	if (w->constants[index])
		return w->constants[index];
	w->constants[index] = relax_fact_new(w);
	f = relax_fact_at(w, w->constants[index]);
	if (!f)
		return 0;
	if (v->type == TENON_TYPE_TENSOR) {
		t = &((struct tenon_tensor *)v->as.object)->dl;
		f->what = RELAX_TENSOR;
		f->dtype = t->dtype;
		set_shape(f, t->shape, (size_t)t->ndim);
	} else if (v->type == TENON_TYPE_SHAPE) {
		s = (struct tenon_shape *)v->as.object;
		f->what = RELAX_SHAPE;
		set_shape(f, s->data, s->size);
	} else {
		f->what = RELAX_OTHER;
	}
	return w->constants[index];
}

uint32_t relax_fact_operand(struct relax_walk *w, const int64_t *words, int64_t i)
{
	int64_t v;

	if (i < 0 || i >= words[3])
		return 0;
	v = relax_operand_value(words[4 + i]);
	if (relax_operand_kind(words[4 + i]) == RELAX_OPERAND_CONSTANT)
		return constant_fact(w, (uint32_t)v);
	if (relax_operand_kind(words[4 + i]) == RELAX_OPERAND_REGISTER && v < RELAX_REGISTER_VOID)
		return w->registers[v];
	return 0;
}

static bool operand_int(const int64_t *words, int64_t i, int64_t *out)
{
	if (i >= words[3] || relax_operand_kind(words[4 + i]) != RELAX_OPERAND_IMMEDIATE)
		return false;
	*out = relax_operand_value(words[4 + i]);
	return true;
}

static const struct tenon_value *operand_constant(struct relax_walk *w, const int64_t *words,
						  int64_t i)
{
	if (i >= words[3] || relax_operand_kind(words[4 + i]) != RELAX_OPERAND_CONSTANT)
		return NULL;
	return &w->x->constants[relax_operand_value(words[4 + i])];
}

static void operand_dtype(struct relax_walk *w, const int64_t *words, int64_t i, DLDataType *out)
{
	const struct tenon_value *v = operand_constant(w, words, i);

	if (v && v->type == TENON_TYPE_DTYPE)
		*out = v->as.dtype;
}

/* check_tensor_info(value, ndim, [dtype], context) */
static uint32_t on_check_tensor(struct relax_walk *w, const int64_t *words)
{
	struct relax_fact *f = relax_fact_at(w, relax_fact_operand(w, words, 0));
	int64_t ndim, i;

	if (!f || (f->what != RELAX_UNKNOWN && f->what != RELAX_TENSOR))
		return 0;
	f->what = RELAX_TENSOR;
	if (f->ndim < 0 && operand_int(words, 1, &ndim) && ndim >= 0 && ndim <= RELAX_NDIM_MOST) {
		f->ndim = (int32_t)ndim;
		for (i = 0; i < ndim; i++)
			f->shape[i] = -1;
	}
	if (words[3] == 4)
		operand_dtype(w, words, 2, &f->dtype);
	return 0;
}

/* match_shape(value, heap, count, (code, number) …, context) */
static uint32_t on_match_shape(struct relax_walk *w, const int64_t *words)
{
	struct relax_fact *f = relax_fact_at(w, relax_fact_operand(w, words, 0));
	int64_t count, code, number, i;

	if (!f || !operand_int(words, 2, &count) || f->ndim != count)
		return 0;
	for (i = 0; i < count; i++)
		if (operand_int(words, 3 + 2 * i, &code) && !code &&
		    operand_int(words, 4 + 2 * i, &number) && number >= 0)
			f->shape[i] = number;
	return 0;
}

/* check_tuple_info(value, count, context): the items become facts of their own */
static uint32_t on_check_tuple(struct relax_walk *w, const int64_t *words)
{
	uint32_t number = relax_fact_operand(w, words, 0), first = 0, item;
	int64_t count, i;

	if (!number || relax_fact_at(w, number)->what != RELAX_UNKNOWN ||
	    !operand_int(words, 1, &count) ||
	    relax_fact_at(w, number)->depth >= RELAX_TUPLES_MOST || !may_have(w, count))
		return 0;
	for (i = 0; i < count; i++) {
		item = relax_fact_new(w);
		if (!item)
			return 0;
		relax_fact_at(w, item)->input = relax_fact_at(w, number)->input;
		relax_fact_at(w, item)->depth = relax_fact_at(w, number)->depth + 1;
		if (!i)
			first = item - 1;
	}
	relax_fact_at(w, number)->what = RELAX_TUPLE;
	relax_fact_at(w, number)->items = first;
	relax_fact_at(w, number)->count = (uint32_t)count;
	return 0;
}

static uint32_t on_tuple_getitem(struct relax_walk *w, const int64_t *words)
{
	const struct relax_fact *f = relax_fact_at(w, relax_fact_operand(w, words, 0));
	int64_t index;

	if (!f || f->what != RELAX_TUPLE || !operand_int(words, 1, &index) || index < 0 ||
	    index >= f->count)
		return 0;
	return f->items + (uint32_t)index + 1;
}

static uint32_t on_make_tuple(struct relax_walk *w, const int64_t *words)
{
	uint32_t number, first = 0, item, from;
	uint8_t depth = 0;
	int64_t i;

	for (i = 0; i < words[3]; i++) {
		from = relax_fact_operand(w, words, i);
		if (from && relax_fact_at(w, from)->what == RELAX_TUPLE &&
		    relax_fact_at(w, from)->depth >= depth)
			depth = relax_fact_at(w, from)->depth + 1;
	}
	if (depth > RELAX_TUPLES_MOST || !may_have(w, words[3]))
		return 0;
	number = relax_fact_new(w);
	for (i = 0; number && i < words[3]; i++) {
		from = relax_fact_operand(w, words, i);
		item = relax_fact_new(w);
		if (!item)
			return 0;
		if (from)
			*relax_fact_at(w, item) = *relax_fact_at(w, from);
		if (!i)
			first = item - 1;
	}
	if (!number)
		return 0;
	relax_fact_at(w, number)->what = RELAX_TUPLE;
	relax_fact_at(w, number)->depth = depth;
	relax_fact_at(w, number)->items = first;
	relax_fact_at(w, number)->count = (uint32_t)words[3];
	return number;
}

/* make_shape(heap, count, (code, number) …) */
static uint32_t on_make_shape(struct relax_walk *w, const int64_t *words)
{
	struct relax_fact *f;
	uint32_t number;
	int64_t count, code, value, i;

	if (!operand_int(words, 1, &count) || count < 0 || count > RELAX_NDIM_MOST)
		return 0;
	number = relax_fact_new(w);
	f = relax_fact_at(w, number);
	if (!f)
		return 0;
	f->what = RELAX_SHAPE;
	f->ndim = (int32_t)count;
	for (i = 0; i < count; i++) {
		f->shape[i] = -1;
		if (operand_int(words, 2 + 2 * i, &code) && !code &&
		    operand_int(words, 3 + 2 * i, &value))
			f->shape[i] = value;
	}
	return number;
}

static uint32_t tensor_of_shape(struct relax_walk *w, uint32_t shape)
{
	uint32_t number = relax_fact_new(w);
	struct relax_fact *f = relax_fact_at(w, number), *s = relax_fact_at(w, shape);

	if (!f)
		return 0;
	f->what = RELAX_TENSOR;
	if (s && s->what == RELAX_SHAPE && s->ndim >= 0)
		set_shape(f, s->shape, (size_t)s->ndim);
	return number;
}

/* alloc_tensor(storage, offset, shape, dtype) */
static uint32_t on_alloc_tensor(struct relax_walk *w, const int64_t *words)
{
	uint32_t number = tensor_of_shape(w, relax_fact_operand(w, words, 2));

	if (number)
		operand_dtype(w, words, 3, &relax_fact_at(w, number)->dtype);
	return number;
}

static uint32_t on_reshape(struct relax_walk *w, const int64_t *words)
{
	uint32_t from = relax_fact_operand(w, words, 0);
	uint32_t number = tensor_of_shape(w, relax_fact_operand(w, words, 1));

	if (number && from)
		relax_fact_at(w, number)->dtype = relax_fact_at(w, from)->dtype;
	return number;
}

static uint32_t on_same(struct relax_walk *w, const int64_t *words)
{
	return relax_fact_operand(w, words, 0);
}

/* alloc_storage(machine, shape, device, dtype, scope) */
static uint32_t on_alloc_storage(struct relax_walk *w, const int64_t *words)
{
	const struct relax_fact *s = relax_fact_at(w, relax_fact_operand(w, words, 1));
	DLDataType dtype = { TENON_DTYPE_UINT, 8, 1 };
	uint64_t bytes = 1;
	int32_t i;

	w->d->storages++;
	operand_dtype(w, words, 3, &dtype);
	if (!s || s->what != RELAX_SHAPE || s->ndim < 0)
		return 0;
	for (i = 0; i < s->ndim; i++)
		if (s->shape[i] < 0 || __builtin_mul_overflow(bytes, (uint64_t)s->shape[i], &bytes))
			return 0;
	if (bytes < UINT64_MAX >> 16)
		w->d->storage_bytes += bytes * ((dtype.bits * dtype.lanes + 7u) / 8);
	return 0;
}

static const struct {
	const char *name;
	uint32_t (*infer)(struct relax_walk *w, const int64_t *words); /* gives the result's fact */
} known[] = {
	{ "vm.builtin.check_tensor_info", on_check_tensor },
	{ "vm.builtin.match_shape", on_match_shape },
	{ "vm.builtin.check_tuple_info", on_check_tuple },
	{ "vm.builtin.tuple_getitem", on_tuple_getitem },
	{ "vm.builtin.make_tuple", on_make_tuple },
	{ "vm.builtin.make_shape", on_make_shape },
	{ "vm.builtin.alloc_tensor", on_alloc_tensor },
	{ "vm.builtin.alloc_storage", on_alloc_storage },
	{ "vm.builtin.reshape", on_reshape },
	{ "vm.builtin.copy", on_same },
	{ "vm.builtin.ensure_zero_offset", on_same },
	{ "vm.builtin.to_device", on_same },
};

int8_t relax_fact_builtin(struct tenon_slice name)
{
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (tenon_slice_equal(tenon_slice_of(known[i].name), name))
			return (int8_t)i;
	return -1;
}

uint32_t relax_fact_infer(struct relax_walk *w, int8_t builtin, const int64_t *words)
{
	return builtin >= 0 ? known[builtin].infer(w, words) : 0;
}

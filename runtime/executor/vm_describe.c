/* SPDX-License-Identifier: MIT */
#include "runtime/executor/vm_describe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <tenon/array.h>
#include <tenon/tensor.h>

/* A walk over the instructions: what each register holds, as the number of a fact plus one. */
struct walk {
	const struct vm_executable *x;
	const struct vm_function *f;
	struct vm_description *d;
	uint32_t *registers;
	uint32_t *constants; /* facts of constants, made when one is met */
	int8_t *builtins;    /* of each function, its place among those that are known, or -1 */
	uint32_t numbers[3]; /* values of each role so far */
	bool failed;
};

void vm_description_fini(struct vm_description *d)
{
	free(d->facts);
	free(d->calls);
	free(d->values);
	free(d->edges);
	memset(d, 0, sizeof(*d));
}

/* Is there room for an ever so large tuple: what is described stays in proportion to the file. */
static bool may_have(const struct walk *w, int64_t items)
{
	return items >= 0 && items <= 1024 + 4 * (int64_t)w->x->word_count - w->d->fact_count;
}

/* A new fact, plus one; 0 without memory. */
static uint32_t fact_new(struct walk *w)
{
	struct vm_description *d = w->d;
	struct vm_fact *facts;
	uint32_t room;

	if (d->fact_count == d->fact_room) {
		room = d->fact_room ? 2 * d->fact_room : 64;
		facts = realloc(d->facts, room * sizeof(*facts));
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

static struct vm_fact *fact(struct walk *w, uint32_t number)
{
	return number ? &w->d->facts[number - 1] : NULL;
}

static void set_shape(struct vm_fact *f, const int64_t *extents, size_t count)
{
	size_t i;

	f->ndim = -1;
	if (count > VM_NDIM_MOST)
		return;
	for (i = 0; i < count; i++)
		f->shape[i] = extents[i];
	f->ndim = (int32_t)count;
}

static uint32_t constant_fact(struct walk *w, uint32_t index)
{
	const struct tenon_value *v = &w->x->constants[index];
	const struct tenon_shape *s;
	const DLTensor *t;
	struct vm_fact *f;

	if (w->constants[index])
		return w->constants[index];
	w->constants[index] = fact_new(w);
	f = fact(w, w->constants[index]);
	if (!f)
		return 0;
	if (v->type == TENON_TYPE_TENSOR) {
		t = &((struct tenon_tensor *)v->as.object)->dl;
		f->what = VM_TENSOR;
		f->dtype = t->dtype;
		set_shape(f, t->shape, (size_t)t->ndim);
	} else if (v->type == TENON_TYPE_SHAPE) {
		s = (struct tenon_shape *)v->as.object;
		f->what = VM_SHAPE;
		set_shape(f, s->data, s->size);
	} else {
		f->what = VM_OTHER;
	}
	return w->constants[index];
}

/* The fact of operand @i of a call; 0 when nothing is known. */
static uint32_t operand_fact(struct walk *w, const int64_t *words, int64_t i)
{
	int64_t v;

	if (i < 0 || i >= words[3])
		return 0;
	v = vm_operand_value(words[4 + i]);
	if (vm_operand_kind(words[4 + i]) == VM_OPERAND_CONSTANT)
		return constant_fact(w, (uint32_t)v);
	if (vm_operand_kind(words[4 + i]) == VM_OPERAND_REGISTER && v < VM_REGISTER_VOID)
		return w->registers[v];
	return 0;
}

static bool operand_int(const int64_t *words, int64_t i, int64_t *out)
{
	if (i >= words[3] || vm_operand_kind(words[4 + i]) != VM_OPERAND_IMMEDIATE)
		return false;
	*out = vm_operand_value(words[4 + i]);
	return true;
}

static const struct tenon_value *operand_constant(struct walk *w, const int64_t *words, int64_t i)
{
	if (i >= words[3] || vm_operand_kind(words[4 + i]) != VM_OPERAND_CONSTANT)
		return NULL;
	return &w->x->constants[vm_operand_value(words[4 + i])];
}

static void operand_dtype(struct walk *w, const int64_t *words, int64_t i, DLDataType *out)
{
	const struct tenon_value *v = operand_constant(w, words, i);

	if (v && v->type == TENON_TYPE_DTYPE)
		*out = v->as.dtype;
}

/* check_tensor_info(value, ndim, [dtype], context) */
static uint32_t on_check_tensor(struct walk *w, const int64_t *words)
{
	struct vm_fact *f = fact(w, operand_fact(w, words, 0));
	int64_t ndim, i;

	if (!f || (f->what != VM_UNKNOWN && f->what != VM_TENSOR))
		return 0;
	f->what = VM_TENSOR;
	if (f->ndim < 0 && operand_int(words, 1, &ndim) && ndim >= 0 && ndim <= VM_NDIM_MOST) {
		f->ndim = (int32_t)ndim;
		for (i = 0; i < ndim; i++)
			f->shape[i] = -1;
	}
	if (words[3] == 4)
		operand_dtype(w, words, 2, &f->dtype);
	return 0;
}

/* match_shape(value, heap, count, (code, number) …, context) */
static uint32_t on_match_shape(struct walk *w, const int64_t *words)
{
	struct vm_fact *f = fact(w, operand_fact(w, words, 0));
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
static uint32_t on_check_tuple(struct walk *w, const int64_t *words)
{
	uint32_t number = operand_fact(w, words, 0), first = 0, item;
	int64_t count, i;

	if (!number || fact(w, number)->what != VM_UNKNOWN || !operand_int(words, 1, &count) ||
	    fact(w, number)->depth >= VM_TUPLES_MOST || !may_have(w, count))
		return 0;
	for (i = 0; i < count; i++) {
		item = fact_new(w);
		if (!item)
			return 0;
		fact(w, item)->input = fact(w, number)->input;
		fact(w, item)->depth = fact(w, number)->depth + 1;
		if (!i)
			first = item - 1;
	}
	fact(w, number)->what = VM_TUPLE;
	fact(w, number)->items = first;
	fact(w, number)->count = (uint32_t)count;
	return 0;
}

static uint32_t on_tuple_getitem(struct walk *w, const int64_t *words)
{
	const struct vm_fact *f = fact(w, operand_fact(w, words, 0));
	int64_t index;

	if (!f || f->what != VM_TUPLE || !operand_int(words, 1, &index) || index < 0 ||
	    index >= f->count)
		return 0;
	return f->items + (uint32_t)index + 1;
}

static uint32_t on_make_tuple(struct walk *w, const int64_t *words)
{
	uint32_t number, first = 0, item, from;
	uint8_t depth = 0;
	int64_t i;

	for (i = 0; i < words[3]; i++) {
		from = operand_fact(w, words, i);
		if (from && fact(w, from)->what == VM_TUPLE && fact(w, from)->depth >= depth)
			depth = fact(w, from)->depth + 1;
	}
	if (depth > VM_TUPLES_MOST || !may_have(w, words[3]))
		return 0;
	number = fact_new(w);
	for (i = 0; number && i < words[3]; i++) {
		from = operand_fact(w, words, i);
		item = fact_new(w);
		if (!item)
			return 0;
		if (from)
			*fact(w, item) = *fact(w, from);
		if (!i)
			first = item - 1;
	}
	if (!number)
		return 0;
	fact(w, number)->what = VM_TUPLE;
	fact(w, number)->depth = depth;
	fact(w, number)->items = first;
	fact(w, number)->count = (uint32_t)words[3];
	return number;
}

/* make_shape(heap, count, (code, number) …) */
static uint32_t on_make_shape(struct walk *w, const int64_t *words)
{
	struct vm_fact *f;
	uint32_t number;
	int64_t count, code, value, i;

	if (!operand_int(words, 1, &count) || count < 0 || count > VM_NDIM_MOST)
		return 0;
	number = fact_new(w);
	f = fact(w, number);
	if (!f)
		return 0;
	f->what = VM_SHAPE;
	f->ndim = (int32_t)count;
	for (i = 0; i < count; i++) {
		f->shape[i] = -1;
		if (operand_int(words, 2 + 2 * i, &code) && !code &&
		    operand_int(words, 3 + 2 * i, &value))
			f->shape[i] = value;
	}
	return number;
}

static uint32_t tensor_of_shape(struct walk *w, uint32_t shape)
{
	uint32_t number = fact_new(w);
	struct vm_fact *f = fact(w, number), *s = fact(w, shape);

	if (!f)
		return 0;
	f->what = VM_TENSOR;
	if (s && s->what == VM_SHAPE && s->ndim >= 0)
		set_shape(f, s->shape, (size_t)s->ndim);
	return number;
}

/* alloc_tensor(storage, offset, shape, dtype) */
static uint32_t on_alloc_tensor(struct walk *w, const int64_t *words)
{
	uint32_t number = tensor_of_shape(w, operand_fact(w, words, 2));

	if (number)
		operand_dtype(w, words, 3, &fact(w, number)->dtype);
	return number;
}

static uint32_t on_reshape(struct walk *w, const int64_t *words)
{
	uint32_t from = operand_fact(w, words, 0);
	uint32_t number = tensor_of_shape(w, operand_fact(w, words, 1));

	if (number && from)
		fact(w, number)->dtype = fact(w, from)->dtype;
	return number;
}

static uint32_t on_same(struct walk *w, const int64_t *words)
{
	return operand_fact(w, words, 0);
}

/* alloc_storage(machine, shape, device, dtype, scope) */
static uint32_t on_alloc_storage(struct walk *w, const int64_t *words)
{
	const struct vm_fact *s = fact(w, operand_fact(w, words, 1));
	DLDataType dtype = { TENON_DTYPE_UINT, 8, 1 };
	uint64_t bytes = 1;
	int32_t i;

	w->d->storages++;
	operand_dtype(w, words, 3, &dtype);
	if (!s || s->what != VM_SHAPE || s->ndim < 0)
		return 0;
	for (i = 0; i < s->ndim; i++)
		if (s->shape[i] < 0 || __builtin_mul_overflow(bytes, (uint64_t)s->shape[i], &bytes))
			return 0;
	if (bytes < UINT64_MAX >> 16)
		w->d->storage_bytes += bytes * ((dtype.bits * dtype.lanes + 7u) / 8);
	return 0;
}

static uint32_t on_nothing(struct walk *w, const int64_t *words)
{
	(void)w;
	(void)words;
	return 0;
}

static const struct {
	const char *name;
	uint32_t (*look)(struct walk *w, const int64_t *words); /* gives the result's fact */
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

static int8_t known_builtin(struct tenon_slice name)
{
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (tenon_slice_equal(tenon_slice_of(known[i].name), name))
			return (int8_t)i;
	return -1;
}

static bool is_builtin(struct tenon_slice name)
{
	return name.size > 11 && !memcmp(name.data, "vm.builtin.", 11);
}

/* The number of the value that a fact is, made when it is new. */
static uint32_t value_of(struct walk *w, uint32_t number, enum tenon_role role)
{
	struct vm_fact *f = fact(w, number);
	struct vm_known_value *v;

	if (f->value >= 0)
		return (uint32_t)f->value;
	if (f->input)
		role = TENON_ROLE_INPUT;
	f->value = (int32_t)w->d->value_count;
	v = &w->d->values[w->d->value_count++];
	v->fact = number - 1;
	v->role = role;
	v->number = w->numbers[role]++;
	return (uint32_t)f->value;
}

static bool is_constant(const int64_t *words, int64_t i)
{
	return vm_operand_kind(words[4 + i]) == VM_OPERAND_CONSTANT;
}

/* Edges of a call. Compiled functions write to the last tensor they are handed. */
static void add_call(struct walk *w, uint32_t pc, const int64_t *words, uint32_t result)
{
	struct vm_call_site *c = &w->d->calls[w->d->call_count];
	struct tenon_slice name = w->x->functions[words[2]].name;
	int64_t i, last = -1;
	uint32_t number;

	c->pc = pc;
	c->function = name;
	c->inputs = w->d->edge_count;
	for (i = 0; !is_builtin(name) && i < words[3]; i++) {
		number = operand_fact(w, words, i);
		if (number && fact(w, number)->what == VM_TENSOR && !is_constant(words, i))
			last = i;
	}
	for (i = 0; i < words[3]; i++) {
		number = operand_fact(w, words, i);
		if (!number || i == last || fact(w, number)->what != VM_TENSOR)
			continue;
		w->d->edges[w->d->edge_count++] = value_of(
			w, number, is_constant(words, i) ? TENON_ROLE_PARAM : TENON_ROLE_RESULT);
		c->input_count++;
	}
	c->outputs = w->d->edge_count;
	number = last >= 0 ? operand_fact(w, words, last) : result;
	if (number && fact(w, number)->what == VM_TENSOR) {
		w->d->edges[w->d->edge_count++] = value_of(w, number, TENON_ROLE_RESULT);
		c->output_count = 1;
	}
	w->d->call_count++;
}

static void look_at_call(struct walk *w, uint32_t pc, const int64_t *words)
{
	struct tenon_slice name = w->x->functions[words[2]].name;
	int8_t builtin = w->builtins[words[2]];
	uint32_t result;

	result = builtin >= 0 ? known[builtin].look(w, words) : on_nothing(w, words);
	if (w->failed)
		return;
	/* most often it only lets go of a register, and it is not called at all */
	if (!tenon_slice_equal(name, tenon_slice_of("vm.builtin.null_value")))
		add_call(w, pc, words, result);
	if (words[1] < VM_REGISTER_VOID)
		w->registers[words[1]] = result;
}

/* What two returns have in common. */
static void merge_result(struct walk *w, uint32_t number)
{
	struct vm_fact *a, *b = fact(w, number);
	int32_t i;

	if (w->d->result == UINT32_MAX) {
		w->d->result = number - 1;
		return;
	}
	a = &w->d->facts[w->d->result];
	if (a == b)
		return;
	if (a->what != b->what || a->what != VM_TENSOR || a->ndim != b->ndim) {
		memset(a, 0, sizeof(*a));
		a->value = -1;
		a->ndim = -1;
		return;
	}
	if (!tenon_dtype_equal(a->dtype, b->dtype))
		memset(&a->dtype, 0, sizeof(a->dtype));
	for (i = 0; i < a->ndim; i++)
		if (a->shape[i] != b->shape[i])
			a->shape[i] = -1;
}

static void look_at_return(struct walk *w, const int64_t *words)
{
	uint32_t number = words[1] < VM_REGISTER_VOID ? w->registers[words[1]] : 0, copy;

	/* a copy, since merging must not change what an operator made */
	copy = fact_new(w);
	if (!copy)
		return;
	if (number)
		*fact(w, copy) = *fact(w, number);
	merge_result(w, copy);
}

static int walk_alloc(struct walk *w)
{
	struct vm_description *d = w->d;
	uint64_t edges = 0, calls = 0;
	uint32_t pc, i;

	for (pc = w->f->first; pc < w->f->end; pc++) {
		const int64_t *words = w->x->words + w->x->offsets[pc];

		if (words[0] == VM_CALL) {
			edges += (uint64_t)words[3] + 1;
			calls++;
		}
	}
	w->registers = calloc((size_t)w->f->registers + 1, sizeof(*w->registers));
	w->builtins = malloc((size_t)w->x->function_count + 1);
	for (i = 0; w->builtins && i < w->x->function_count; i++)
		w->builtins[i] = known_builtin(w->x->functions[i].name);
	w->constants = calloc((size_t)w->x->constant_count + 1, sizeof(*w->constants));
	d->calls = calloc(calls + 1, sizeof(*d->calls));
	d->edges = calloc(edges + 1, sizeof(*d->edges));
	d->values = calloc(edges + w->f->args + 1, sizeof(*d->values));
	return w->registers && w->builtins && w->constants && d->calls && d->edges && d->values;
}

static void walk(struct walk *w)
{
	const int64_t *words;
	uint32_t i, pc;

	for (i = 0; i < w->f->args && !w->failed; i++) {
		w->registers[i] = fact_new(w);
		if (!w->failed)
			fact(w, w->registers[i])->input = true;
	}
	w->d->params = w->f->args;
	for (pc = w->f->first; pc < w->f->end && !w->failed; pc++) {
		words = w->x->words + w->x->offsets[pc];
		if (words[0] == VM_CALL)
			look_at_call(w, pc, words);
		else if (words[0] == VM_RET)
			look_at_return(w, words);
	}
}

int vm_describe(const struct vm_executable *x, uint32_t function, struct vm_description *out)
{
	struct walk w = { .x = x, .f = &x->functions[function], .d = out };

	memset(out, 0, sizeof(*out));
	out->result = UINT32_MAX;
	if (!walk_alloc(&w))
		w.failed = true;
	else
		walk(&w);
	free(w.registers);
	free(w.constants);
	free(w.builtins);
	if (w.failed) {
		vm_description_fini(out);
		return tenon_error(-TENON_E_NOMEM, "no memory to describe a function");
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Walk the instructions of a function and note ports, operators and results. */
#include "runtime/relax/relax_describe.h"

#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/relax/relax_fact.h"

void relax_description_fini(struct relax_description *d)
{
	heap_free(d->facts);
	heap_free(d->calls);
	heap_free(d->values);
	heap_free(d->edges);
	memset(d, 0, sizeof(*d));
}

static bool is_builtin(struct tenon_slice name)
{
	return name.size > 11 && !memcmp(name.data, "vm.builtin.", 11);
}

/* Get the value number of a fact; assign one if it is new. */
static uint32_t value_of(struct relax_walk *w, uint32_t number, enum tenon_role role)
{
	struct relax_fact *f = relax_fact_at(w, number);
	struct relax_known_value *v;

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
	return relax_operand_kind(words[4 + i]) == RELAX_OPERAND_CONSTANT;
}

/* Add the edges of a call. Compiled functions write to their last tensor argument. */
static void add_call(struct relax_walk *w, uint32_t pc, const int64_t *words, uint32_t result)
{
	struct relax_call_site *c = &w->d->calls[w->d->call_count];
	struct tenon_slice name = w->x->functions[words[2]].name;
	int64_t i, last = -1;
	uint32_t number;

	c->pc = pc;
	c->function = name;
	c->inputs = w->d->edge_count;
	for (i = 0; !is_builtin(name) && i < words[3]; i++) {
		number = relax_fact_operand(w, words, i);
		if (number && relax_fact_at(w, number)->what == RELAX_TENSOR &&
		    !is_constant(words, i))
			last = i;
	}
	for (i = 0; i < words[3]; i++) {
		number = relax_fact_operand(w, words, i);
		if (!number || i == last || relax_fact_at(w, number)->what != RELAX_TENSOR)
			continue;
		w->d->edges[w->d->edge_count++] = value_of(
			w, number, is_constant(words, i) ? TENON_ROLE_PARAM : TENON_ROLE_RESULT);
		c->input_count++;
	}
	c->outputs = w->d->edge_count;
	number = last >= 0 ? relax_fact_operand(w, words, last) : result;
	if (number && relax_fact_at(w, number)->what == RELAX_TENSOR) {
		w->d->edges[w->d->edge_count++] = value_of(w, number, TENON_ROLE_RESULT);
		c->output_count = 1;
	}
	w->d->call_count++;
}

static void look_at_call(struct relax_walk *w, uint32_t pc, const int64_t *words)
{
	struct tenon_slice name = w->x->functions[words[2]].name;
	uint32_t result;

	result = relax_fact_infer(w, w->builtins[words[2]], words);
	if (w->failed)
		return;
	/* It usually only releases a register and is not an operator. */
	if (!tenon_slice_equal(name, tenon_slice_of("vm.builtin.null_value")))
		add_call(w, pc, words, result);
	if (words[1] < RELAX_REGISTER_VOID)
		w->registers[words[1]] = result;
}

/* Keep what is common to two returns. */
static void merge_result(struct relax_walk *w, uint32_t number)
{
	struct relax_fact *a, *b = relax_fact_at(w, number);
	int32_t i;

	if (w->d->result == UINT32_MAX) {
		w->d->result = number - 1;
		return;
	}
	a = &w->d->facts[w->d->result];
	if (a->what != b->what || a->what != RELAX_TENSOR || a->ndim != b->ndim) {
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

static void look_at_return(struct relax_walk *w, const int64_t *words)
{
	uint32_t number = words[1] < RELAX_REGISTER_VOID ? w->registers[words[1]] : 0, copy;

	/* Copy: merging must not change the fact of an operator's result. */
	copy = relax_fact_new(w);
	if (!copy)
		return;
	if (number)
		*relax_fact_at(w, copy) = *relax_fact_at(w, number);
	merge_result(w, copy);
}

static int walk_alloc(struct relax_walk *w)
{
	struct relax_description *d = w->d;
	uint64_t edges = 0, calls = 0;
	uint32_t pc, i;

	for (pc = w->f->first; pc < w->f->end; pc++) {
		const int64_t *words = w->x->words + w->x->offsets[pc];

		if (words[0] == RELAX_CALL) {
			edges += (uint64_t)words[3] + 1;
			calls++;
		}
	}
	w->registers = heap_zeroed((size_t)w->f->registers + 1, sizeof(*w->registers),
				   "facts of registers");
	w->builtins = heap_alloc((size_t)w->x->function_count + 1, "names of builtins");
	for (i = 0; w->builtins && i < w->x->function_count; i++)
		w->builtins[i] = relax_fact_builtin(w->x->functions[i].name);
	w->constants = heap_zeroed((size_t)w->x->constant_count + 1, sizeof(*w->constants),
				   "facts of constants");
	d->calls = heap_zeroed(calls + 1, sizeof(*d->calls), "list of operators");
	d->edges = heap_zeroed(edges + 1, sizeof(*d->edges), "list of operators");
	d->values = heap_zeroed(edges + w->f->args + 1, sizeof(*d->values), "list of values");
	return w->registers && w->builtins && w->constants && d->calls && d->edges && d->values;
}

static void walk(struct relax_walk *w)
{
	const int64_t *words;
	uint32_t i, pc;

	for (i = 0; i < w->f->args && !w->failed; i++) {
		w->registers[i] = relax_fact_new(w);
		if (!w->failed)
			relax_fact_at(w, w->registers[i])->input = true;
	}
	w->d->params = w->f->args;
	for (pc = w->f->first; pc < w->f->end && !w->failed; pc++) {
		words = w->x->words + w->x->offsets[pc];
		if (words[0] == RELAX_CALL)
			look_at_call(w, pc, words);
		else if (words[0] == RELAX_RET)
			look_at_return(w, words);
	}
}

int relax_describe(const struct relax_executable *x, uint32_t function,
		   struct relax_description *out)
{
	struct relax_walk w = { .x = x, .f = &x->functions[function], .d = out };

	memset(out, 0, sizeof(*out));
	out->result = UINT32_MAX;
	if (!walk_alloc(&w))
		w.failed = true;
	else
		walk(&w);
	heap_free(w.registers);
	heap_free(w.constants);
	heap_free(w.builtins);
	if (w.failed) {
		relax_description_fini(out);
		return tenon_error(-TENON_E_NOMEM, "no memory to describe a function");
	}
	return 0;
}

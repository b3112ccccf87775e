/* SPDX-License-Identifier: MIT */
/* List ports, operators and values of a model, and time each operator. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/relax/relax_model.h"

void relax_model_port(const struct relax_fact *f, struct tenon_port *out)
{
	out->dtype = f->what == RELAX_TENSOR ? f->dtype : tenon_dtype(0, 0, 0);
	out->ndim = f->what == RELAX_TENSOR ? f->ndim : -1;
	out->shape = out->ndim >= 0 ? f->shape : NULL;
}

int relax_model_name(struct relax_model *m, const char *prefix, uint32_t number,
		     struct tenon_slice *out)
{
	char **names, *name, text[32];
	uint32_t i;

	snprintf(text, sizeof(text), "%s%" PRIu32, prefix, number);
	for (i = 0; i < m->name_count; i++) {
		if (!strcmp(m->names[i], text)) {
			*out = tenon_slice_of(m->names[i]);
			return 0;
		}
	}
	name = heap_alloc(strlen(text) + 1, "name of a value");
	names = heap_resize(m->names, (m->name_count + 1) * sizeof(*names), "list of names");
	if (names)
		m->names = names;
	if (!names || !name) {
		heap_free(name);
		return tenon_error(-TENON_E_NOMEM, "no memory for %u names", m->name_count + 1);
	}
	strcpy(name, text);
	m->names[m->name_count++] = name;
	*out = tenon_slice_of(name);
	return 0;
}

static void op_of(const struct relax_description *d, const struct relax_call_site *c,
		  struct tenon_op *op)
{
	op->name = c->function;
	op->function = c->function;
	op->inputs = d->edges + c->inputs;
	op->input_count = c->input_count;
	op->outputs = d->edges + c->outputs;
	op->output_count = c->output_count;
}

int relax_model_each_op(struct tenon_model *model,
			int (*visit)(void *context, size_t index, const struct tenon_op *op),
			void *context)
{
	struct relax_model *m = (struct relax_model *)model;
	struct tenon_op op;
	uint32_t i;
	int err = 0;

	if (m->x->functions[m->function].kind == RELAX_FUNCTION_NATIVE)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"the function is compiled as a whole: it has no operators of its own");
	for (i = 0; !err && i < m->description.call_count; i++) {
		op_of(&m->description, &m->description.calls[i], &op);
		err = visit(context, i, &op);
	}
	return err;
}

size_t relax_model_value_count(struct tenon_model *model)
{
	return ((struct relax_model *)model)->description.value_count;
}

/* Name of the input whose slot has a fact. */
static struct tenon_slice input_name(const struct relax_model *m, uint32_t fact)
{
	struct tenon_slice none = { "", 0 };
	uint32_t i;

	for (i = 0; i < m->input_count; i++)
		if (m->slots[m->inputs[i].slot].fact == fact)
			return m->inputs[i].name;
	return none;
}

int relax_model_value(struct tenon_model *model, size_t index, struct tenon_model_value *out)
{
	struct relax_model *m = (struct relax_model *)model;
	const struct relax_known_value *v = &m->description.values[index];
	const struct relax_fact *f = &m->description.facts[v->fact];
	DLTensor dl = tenon_dltensor(NULL, (int64_t *)f->shape, f->ndim, f->dtype);
	bool known = f->ndim >= 0;
	size_t bytes = 0;
	int32_t i;

	relax_model_port(f, &out->port);
	out->port.name = input_name(m, v->fact);
	out->role = v->role;
	out->storage = -1;
	for (i = 0; known && i < f->ndim; i++)
		known = f->shape[i] >= 0;
	if (known && tenon_tensor_bytes(&dl, &bytes))
		tenon_error_clear();
	out->bytes = bytes;
	if (v->role == TENON_ROLE_INPUT)
		return 0;
	return relax_model_name(m, v->role == TENON_ROLE_PARAM ? "const" : "t", v->number,
				&out->port.name);
}

/* State of a profiled run. */
struct profile {
	struct relax_model *m;
	const struct tenon_profiler *p;
};

static void on_call(void *context, const struct relax_op *op, uint64_t begin, uint64_t end)
{
	struct profile *p = context;
	const struct relax_description *d = &p->m->description;
	const struct relax_function *f = &p->m->x->functions[p->m->function];
	ptrdiff_t place = op - p->m->machine->entries[p->m->function].ops;
	uint32_t low = 0, high = d->call_count, middle, pc;
	struct tenon_op op_info = { .inputs = NULL };

	/* Calls from other functions are numbered after the listed ones. */
	if (place < 0 || place >= (ptrdiff_t)(f->end - f->first)) {
		op_info.function = p->m->x->functions[op->target].name;
		op_info.name = op_info.function;
		p->p->op(p->p->context, d->call_count + (size_t)(op - p->m->machine->ops), &op_info,
			 begin, end);
		return;
	}
	pc = f->first + (uint32_t)place;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (d->calls[middle].pc < pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == d->call_count)
		return;
	op_of(d, &d->calls[low], &op_info);
	p->p->op(p->p->context, low, &op_info, begin, end);
}

int relax_model_run_profiled(struct tenon_model *model, const struct tenon_profiler *p)
{
	struct relax_model *m = (struct relax_model *)model;
	struct profile profile = { m, p };
	struct relax_call_hook hook = { on_call, &profile };
	int err;

	m->machine->call_hook = &hook;
	err = relax_model_run(model);
	m->machine->call_hook = NULL;
	return err;
}

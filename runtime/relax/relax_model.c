/* SPDX-License-Identifier: MIT */
/* Create a model of a function and run it. */
#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/relax/relax_device.h"
#include "runtime/relax/relax_model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <tenon/array.h>
#include <tenon/backend/buffer.h>

#define OUTPUTS_MOST  65536
#define EXPECTED_MOST 4096  /* limit on outputs described before a run */
#define VISITS_MOST   65536 /* limit on facts visited to find them */

static size_t input_count(struct tenon_model *model)
{
	return ((struct relax_model *)model)->input_count;
}

static bool has_result(const struct relax_model *m)
{
	return m->output_count > 0;
}

static size_t output_count(struct tenon_model *model)
{
	const struct relax_model *m = (struct relax_model *)model;

	return has_result(m) ? m->output_count : m->expected_count;
}

static void input(struct tenon_model *model, size_t index, struct tenon_port *out)
{
	struct relax_model *m = (struct relax_model *)model;

	relax_model_port(&m->description.facts[m->slots[m->inputs[index].slot].fact], out);
	out->name = m->inputs[index].name;
}

/* Type of an output: from the last run, or from the code. */
static void output_type(const struct relax_model *m, size_t index, struct tenon_port *out)
{
	const struct tenon_value *v;
	const DLTensor *t;

	if (!has_result(m)) {
		relax_model_port(&m->description.facts[m->expected[index]], out);
		return;
	}
	v = &m->outputs[index];
	out->dtype = tenon_dtype(0, 0, 0);
	out->ndim = -1;
	out->shape = NULL;
	if (v->type != TENON_TYPE_TENSOR)
		return;
	t = &((struct tenon_tensor *)v->as.object)->dl;
	out->dtype = t->dtype;
	out->ndim = t->ndim;
	out->shape = t->shape;
}

static int output(struct tenon_model *model, size_t index, struct tenon_port *out)
{
	struct relax_model *m = (struct relax_model *)model;

	output_type(m, index, out);
	return relax_model_name(m, "output", (uint32_t)index, &out->name);
}

static bool input_is_set(struct tenon_model *model, size_t index)
{
	struct relax_model *m = (struct relax_model *)model;

	return m->slots[m->inputs[index].slot].set;
}

static int output_value(struct tenon_model *model, size_t index, struct tenon_value *out)
{
	if (!has_result((struct relax_model *)model))
		return tenon_error(-TENON_E_USAGE, "the last run failed: there are no outputs");
	return tenon_value_own(&((struct relax_model *)model)->outputs[index], out);
}

/*
 * Collect the outputs from nested tuples. Iterative, since a program may nest tuples without limit.
 */
static int spread(struct relax_model *m, const struct tenon_value *v)
{
	const struct tenon_array *a;
	struct tenon_value *outputs;
	uint32_t at = 0, i, room, extra;

	m->output_count = 0;
	if (!m->output_room) {
		m->outputs = heap_alloc(sizeof(*m->outputs), "list of outputs");
		if (!m->outputs)
			return tenon_error(-TENON_E_NOMEM, "no memory for outputs");
		m->output_room = 1;
	}
	m->outputs[0] = *v;
	m->output_count = 1;
	while (at < m->output_count) {
		if (m->outputs[at].type != TENON_TYPE_ARRAY) {
			at++;
			continue;
		}
		a = (const struct tenon_array *)m->outputs[at].as.object;
		if (a->size > OUTPUTS_MOST - (int64_t)m->output_count)
			return tenon_error(-TENON_E_OVERFLOW, "more than %d outputs", OUTPUTS_MOST);
		room = m->output_count + (uint32_t)a->size;
		if (room > m->output_room) {
			outputs =
				heap_resize(m->outputs, room * sizeof(*outputs), "list of outputs");
			if (!outputs)
				return tenon_error(-TENON_E_NOMEM, "no memory for outputs");
			m->outputs = outputs;
			m->output_room = room;
		}
		extra = (uint32_t)a->size;
		memmove(m->outputs + at + extra, m->outputs + at + 1,
			(m->output_count - at - 1) * sizeof(*m->outputs));
		for (i = 0; i < extra; i++)
			m->outputs[at + i] = a->data[i];
		m->output_count += extra - 1;
	}
	return 0;
}

static int run_entry(struct relax_model *m)
{
	const struct relax_function *f = &m->x->functions[m->function];
	struct tenon_value result = tenon_arg_none();
	int err;

	/* Release the old result first, so that this run can reuse its storage. */
	tenon_value_release(&m->result);
	m->output_count = 0;
	err = relax_model_gather(m);
	if (!err)
		err = relax_call(m->machine, m->function, m->arguments, f->args, &result);
	if (err)
		return err;
	m->result = result;
	err = spread(m, &m->result);
	if (err) {
		m->output_count = 0;
		tenon_value_release(&m->result);
	}
	return err;
}

int relax_model_run(struct tenon_model *model)
{
	struct relax_model *m = (struct relax_model *)model;
	struct heap *before;
	struct relax_vm *outer;
	int err = relax_enter(m->machine, &outer);

	if (err)
		return err;
	before = heap_enter(m->base.heap);
	err = run_entry(m);
	heap_enter(before);
	relax_leave(m->machine, outer);
	return err;
}

static void memory(struct tenon_model *model, struct tenon_model_memory *out)
{
	struct relax_model *m = (struct relax_model *)model;
	struct relax_pool_figures figures;
	uint64_t used = 0;
	uint32_t i;

	out->params = m->x->constant_bytes;
	out->activations = m->description.storage_bytes;
	out->storages = m->description.storages;
	if (!m->machine)
		return;
	/* After a run: report the memory actually used. */
	for (i = 0; i < m->machine->device_count; i++) {
		/* The host is the last device and may be listed earlier, too. */
		if (i + 1 < m->machine->device_count &&
		    m->machine->devices[i].pool == m->machine->pool)
			continue;
		relax_pool_figures(m->machine->devices[i].pool, &figures);
		used += figures.most_used;
	}
	if (used > out->activations)
		out->activations = used;
}

static void destroy(struct tenon_model *model)
{
	struct relax_model *m = (struct relax_model *)model;
	uint32_t i;

	tenon_value_release(&m->result);
	for (i = 0; m->slots && i < m->slot_count; i++)
		tenon_value_release(&m->slots[i].value);
	for (i = 0; i < m->input_count; i++)
		heap_free(m->inputs[i].own_name);
	for (i = 0; i < m->name_count; i++)
		heap_free(m->names[i]);
	heap_free(m->names);
	heap_free(m->outputs);
	heap_free(m->expected);
	heap_free(m->slots);
	heap_free(m->inputs);
	heap_free(m->arguments);
	relax_description_fini(&m->description);
	tenon_object_unref(m->machine);
	tenon_object_unref(m->x);
	heap_free(m);
}

static const struct model_ops relax_model_ops = {
	.kind = "relax",
	.input_count = input_count,
	.output_count = output_count,
	.input = input,
	.output = output,
	.input_is_set = input_is_set,
	.set_input = relax_model_set_input,
	.bind_input = relax_model_bind_input,
	.set_param = relax_model_set_param,
	.run = relax_model_run,
	.run_profiled = relax_model_run_profiled,
	.output_value = output_value,
	.memory = memory,
	.bounded = relax_model_bounded,
	.each_op = relax_model_each_op,
	.value_count = relax_model_value_count,
	.value = relax_model_value,
	.destroy = destroy,
};

/*
 * Collect output facts from the code. Tuples nest a few levels only, but may share items and be
 * empty, so the number of visits is limited.
 */
static int expect(struct relax_model *m, uint32_t fact, uint32_t *visits)
{
	const struct relax_fact *f = &m->description.facts[fact];
	uint32_t *expected, i;
	int err = 0;

	if (f->what == RELAX_TUPLE) {
		for (i = 0; !err && i < f->count && m->expected_count < EXPECTED_MOST &&
			    ++*visits < VISITS_MOST;
		     i++)
			err = expect(m, f->items + i, visits);
		return err;
	}
	expected = heap_resize(m->expected, (m->expected_count + 1) * sizeof(*expected),
			       "facts of outputs");
	if (!expected)
		return tenon_error(-TENON_E_NOMEM, "no memory for outputs");
	m->expected = expected;
	m->expected[m->expected_count++] = fact;
	return 0;
}

/*
 * The executable of a runnable root, or one created from the bytes of a root that can only be
 * listed.
 */
static int find_executable(struct tenon_module *root, bool describe, struct relax_executable **out)
{
	struct tenon_payload payload = { .file = "", .kind = root->kind };
	struct tenon_buffer bytes = TENON_BUFFER_INIT;
	struct tenon_module *m;
	struct tenon_cursor c;
	int err;

	*out = relax_executable_of(root);
	if (*out) {
		tenon_object_ref(*out);
		return 0;
	}
	if (!describe)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "the executable was loaded to be looked at only");
	err = tenon_module_save(root, &bytes);
	if (!err) {
		c = tenon_cursor_of(bytes.data, bytes.size, "executable", 0);
		err = relax_executable_load(&c, &payload, &m);
	}
	tenon_buffer_fini(&bytes);
	if (!err)
		*out = relax_executable_of(m);
	return err;
}

static bool callable(const struct relax_executable *x, int64_t index)
{
	return index >= 0 && x->functions[index].kind != RELAX_FUNCTION_PACKED;
}

static int no_function(const struct relax_executable *x, const char *wanted, uint32_t count)
{
	struct tenon_buffer names = TENON_BUFFER_INIT;
	uint32_t i;
	int err;

	for (i = 0; i < x->function_count; i++)
		if (callable(x, i))
			tenon_buffer_printf(&names, "%s%.*s", names.size ? ", " : "",
					    (int)x->functions[i].name.size,
					    x->functions[i].name.data);
	err = tenon_error(-TENON_E_NOT_FOUND, "no function \"%s\"; there %s %s",
			  wanted ? wanted : "main", count == 1 ? "is" : "are",
			  names.data ? names.data : "none");
	tenon_buffer_fini(&names);
	return err;
}

/* Find the requested function; by default "main", or the only one. */
static int find_function(const struct relax_executable *x, const char *wanted, uint32_t *out)
{
	int64_t found = relax_executable_find(x, tenon_slice_of(wanted ? wanted : "main")),
		only = -1;
	uint32_t i, count = 0;

	for (i = 0; i < x->function_count; i++) {
		if (!callable(x, i))
			continue;
		count++;
		only = i;
	}
	if (!callable(x, found))
		found = !wanted && count == 1 ? only : -1;
	*out = (uint32_t)found;
	return found >= 0 ? 0 : no_function(x, wanted, count);
}

static int prepare(struct relax_model *m, const struct tenon_model_options *o)
{
	struct tenon_module *machine;
	uint32_t visits = 0;
	int err;

	err = find_function(m->x, o->function, &m->function);
	if (!err)
		err = relax_describe(m->x, m->function, &m->description);
	if (!err)
		err = relax_model_make_inputs(m);
	if (!err && m->description.result != UINT32_MAX)
		err = expect(m, m->description.result, &visits);
	if (err || o->describe)
		return err;
	err = relax_create(m->x, &machine);
	if (err)
		return err;
	m->machine = relax_of(machine);
	err = relax_set_devices(m->machine, o->devices, o->device_count);
	return err ? err : relax_init(m->machine);
}

int relax_model_create(struct tenon_module *root, const struct tenon_model_options *o,
		       struct tenon_model **out)
{
	struct relax_model *m;
	int err;

	*out = NULL;
	m = heap_zeroed(1, sizeof(*m), "model");
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a model");
	err = find_executable(root, o->describe, &m->x);
	if (!err)
		err = prepare(m, o);
	if (err) {
		destroy(&m->base);
		return err;
	}
	model_init(&m->base, &relax_model_ops, root, o);
	*out = &m->base;
	return 0;
}

extern const struct executor relax_executor;
const struct executor relax_executor = {
	.create = relax_model_create,
	.in_regions = true,
};

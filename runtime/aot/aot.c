/* SPDX-License-Identifier: MIT */
/* Running an ahead-of-time model: its tensors, and TVM's functions for it. */
#include <ctype.h>
#include <inttypes.h>
#include <tenon/workspace.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "runtime/aot/aot.h"
#include "runtime/core/tensor_view.h"
#include "runtime/model/executor_module.h"
#include "runtime/model/factory.h"
#include "runtime/model/tensor_place.h"

static struct aot_model *aot_of(struct tenon_model *m)
{
	return (struct aot_model *)m;
}

static size_t output_slot(const struct aot_model *a, size_t index)
{
	return (size_t)a->meta->input_count + index;
}

/* ---- running */

static int refuse_unset(const struct aot_model *a)
{
	size_t i = 0;

	while (a->slots[i].set)
		i++;
	return tenon_error(-TENON_E_USAGE, "input %zu (\"%s\") was never set%s", i,
			   a->slots[i].info->name, a->unset > 1 ? ", nor were others" : "");
}

static int aot_run(struct tenon_model *m)
{
	struct aot_model *a = aot_of(m);
	struct tenon_value ret = tenon_arg_none();
	size_t mark = tenon_workspace_mark();
	int code = LEGACY_NULL, err;
	union legacy_value value;

	if (a->unset)
		return refuse_unset(a);
	if (a->symbol)
		err = ((legacy_fn)a->symbol)(a->values, a->codes, (int)a->count, &value, &code,
					     NULL);
	else
		err = tenon_function_call(a->main, a->views, (int32_t)a->count, &ret);
	tenon_value_release(&ret);
	if (!err)
		return 0;
	tenon_workspace_reclaim(mark);
	err = tenon_error_status();
	if (!err)
		err = tenon_error(-TENON_E_CALL, "the function failed without saying why");
	return tenon_error_in(err, "%s", a->meta->name);
}

/* The profile has one operator: the whole model. */
static int aot_run_profiled(struct tenon_model *m, const struct tenon_profiler *p)
{
	struct tenon_op op = { .name = tenon_slice_of(aot_of(m)->meta->name),
			       .function = tenon_slice_of(aot_of(m)->meta->name) };
	uint64_t begin = clock_now();
	int err = aot_run(m);

	if (!err)
		p->op(p->context, 0, &op, begin, clock_now());
	return err;
}

/* ---- ports */

static size_t aot_input_count(struct tenon_model *m)
{
	return (size_t)aot_of(m)->meta->input_count;
}

static size_t aot_output_count(struct tenon_model *m)
{
	return (size_t)aot_of(m)->meta->output_count;
}

static void describe_tensor(const struct aot_tensor_info *t, struct tenon_port *out)
{
	*out = (struct tenon_port){ tenon_slice_of(t->name), t->dtype, (int32_t)t->ndim, t->shape };
}

static void aot_input(struct tenon_model *m, size_t index, struct tenon_port *out)
{
	describe_tensor(&aot_of(m)->meta->inputs[index], out);
}

static int aot_output(struct tenon_model *m, size_t index, struct tenon_port *out)
{
	describe_tensor(&aot_of(m)->meta->outputs[index], out);
	return 0;
}

/* Compare with a name in which the compiler replaced all but letters and digits by underscores. */
static bool same_name(const char *name, struct tenon_slice wanted)
{
	size_t i;

	if (strlen(name) != wanted.size)
		return false;
	for (i = 0; i < wanted.size; i++) {
		unsigned char c = (unsigned char)wanted.data[i];

		if (name[i] != (char)c && (isalnum(c) || name[i] != '_'))
			return false;
	}
	return true;
}

static int64_t aot_find_input(struct tenon_model *m, struct tenon_slice name)
{
	int64_t i;

	for (i = 0; i < aot_of(m)->meta->input_count; i++)
		if (same_name(aot_of(m)->meta->inputs[i].name, name))
			return i;
	return -1;
}

static bool aot_input_is_set(struct tenon_model *m, size_t index)
{
	return aot_of(m)->slots[index].set;
}

/* ---- tensors */

static int check_tensor(const struct aot_tensor_info *want, const DLTensor *t)
{
	char given[TENON_DTYPE_NAME], name[TENON_DTYPE_NAME];
	DLDataType dtype = t->dtype;
	int64_t i;

	if (dtype.code == TENON_DTYPE_BOOL && want->dtype.code == TENON_DTYPE_UINT &&
	    want->dtype.bits == 1)
		dtype = want->dtype;
	if (!tenon_dtype_equal(dtype, want->dtype))
		return tenon_error(-TENON_E_TYPE, "has dtype %s, the model was compiled for %s",
				   tenon_dtype_name(t->dtype, given),
				   tenon_dtype_name(want->dtype, name));
	if (t->ndim != want->ndim)
		return tenon_error(-TENON_E_VALUE,
				   "has %d dimensions, the model was compiled for %" PRIi64,
				   t->ndim, want->ndim);
	for (i = 0; i < want->ndim; i++)
		if (t->shape[i] != want->shape[i])
			return tenon_error(-TENON_E_VALUE,
					   "has extent %" PRIi64 " in dimension %" PRIi64
					   ", the model was compiled for %" PRIi64,
					   t->shape[i], i, want->shape[i]);
	if (!tenon_tensor_compact(t))
		return tenon_error(-TENON_E_VALUE, "has strides, want a compact tensor");
	return 0;
}

/* Compiled code stores sub-byte elements in one byte each, but a caller's tensor is packed. */
static int check_given(const struct aot_slot *s, const DLTensor *t)
{
	size_t bytes;
	int err = check_tensor(s->info, t);

	if (!err)
		err = tenon_tensor_bytes(t, &bytes);
	if (err || bytes == s->bytes)
		return err;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "has %zu bytes, the model keeps %" PRIu64
			   ": elements of less than a byte are parameters only",
			   bytes, s->bytes);
}

static void move(struct aot_model *a, size_t slot, void *data, struct tenon_object *keep)
{
	struct aot_slot *s = &a->slots[slot];

	tenon_object_ref(keep);
	tenon_object_unref(s->keep);
	s->keep = keep;
	if (a->tensors[slot].data == data)
		return;
	a->tensors[slot].data = data;
	tenon_object_unref(s->given);
	s->given = NULL;
}

static void mark_set(struct aot_model *a, size_t slot)
{
	a->unset -= !a->slots[slot].set;
	a->slots[slot].set = true;
}

static int no_memory_of_its_own(void)
{
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"is a parameter that is used where it lies, and has no memory of its own "
		"to copy to: bind a tensor to it");
}

static int aot_set_input(struct tenon_model *m, size_t index, const struct tenon_value *value)
{
	struct aot_model *a = aot_of(m);
	DLTensor *t;
	int err;

	err = tenon_value_tensor(value, &t);
	if (!err)
		err = check_given(&a->slots[index], t);
	if (err)
		return err;
	if (!aot_own_place(a, index))
		return no_memory_of_its_own();
	move(a, index, aot_own_place(a, index), NULL);
	err = place_copy(t, &a->tensors[index], a->slots[index].bytes);
	if (!err)
		mark_set(a, index);
	return err;
}

static int aot_bind_input(struct tenon_model *m, size_t index, struct tenon_tensor *tensor)
{
	struct aot_model *a = aot_of(m);
	char *data = (char *)tensor->dl.data + tensor->dl.byte_offset;
	int err;

	err = check_given(&a->slots[index], &tensor->dl);
	if (err)
		return err;
	err = place_can_bind(&tensor->dl);
	if (err)
		return err;
	move(a, index, data, &tensor->object);
	mark_set(a, index);
	return 0;
}

static int aot_set_param(struct tenon_model *m, size_t index, struct tenon_params *params,
			 const struct tenon_param *param)
{
	struct aot_model *a = aot_of(m);
	int err;

	err = check_tensor(a->slots[index].info, &param->tensor);
	if (!err && param->bytes != a->slots[index].bytes)
		err = tenon_error(-TENON_E_VALUE, "has %zu bytes, the model wants %" PRIu64,
				  param->bytes, a->slots[index].bytes);
	if (err)
		return err;
	if (!((uintptr_t)param->tensor.data % TENON_TENSOR_ALIGN)) {
		move(a, index, param->tensor.data, (struct tenon_object *)params);
	} else if (!aot_own_place(a, index)) {
		err = no_memory_of_its_own();
	} else {
		move(a, index, aot_own_place(a, index), NULL);
		err = tenon_params_load(params, param, a->tensors[index].data);
	}
	if (!err)
		mark_set(a, index);
	return err;
}

static int give(struct aot_model *a, size_t slot, struct tenon_value *out)
{
	struct aot_slot *s = &a->slots[slot];
	int err = 0;

	if (!s->given)
		err = tensor_view_of_model(&a->tensors[slot], s->keep ? s->keep : &a->arena->object,
					   &s->given);
	if (err)
		return err;
	tenon_object_ref(s->given);
	*out = tenon_arg_object(s->given);
	return 0;
}

static int aot_output_value(struct tenon_model *m, size_t index, struct tenon_value *out)
{
	return give(aot_of(m), output_slot(aot_of(m), index), out);
}

static void aot_memory(struct tenon_model *m, struct tenon_model_memory *out)
{
	struct aot_model *a = aot_of(m);
	size_t i, ports = (size_t)(a->meta->input_count + a->meta->output_count);

	for (i = 0; i < a->count; i++) {
		if (i < ports)
			out->activations += a->slots[i].bytes;
		else if (i == ports)
			out->params += a->slots[i].bytes;
		else
			out->workspace += a->slots[i].bytes;
		out->storages++;
	}
}

const struct model_ops aot_ops = {
	.kind = "aot",
	.input_count = aot_input_count,
	.output_count = aot_output_count,
	.input = aot_input,
	.output = aot_output,
	.find_input = aot_find_input,
	.input_is_set = aot_input_is_set,
	.set_input = aot_set_input,
	.bind_input = aot_bind_input,
	.set_param = aot_set_param,
	.run = aot_run,
	.run_profiled = aot_run_profiled,
	.output_value = aot_output_value,
	.memory = aot_memory,
	.destroy = aot_destroy,
};

/* ---- module functions */

static METHOD_CALL(get_input)
{
	struct aot_model *a = aot_of(executor_module_model(m));
	int64_t index;
	int err;

	err = executor_input_key(&a->base, &args[0], &index);
	if (err || index < 0)
		return err;
	/* Parameters may be in read-only memory, but the caller may write to the result. */
	if (a->slots[index].keep) {
		memcpy(aot_own_place(a, (size_t)index), a->tensors[index].data,
		       (size_t)a->slots[index].bytes);
		move(a, (size_t)index, aot_own_place(a, (size_t)index), NULL);
	}
	mark_set(a, (size_t)index);
	return give(a, (size_t)index, ret);
}

static const struct method methods[] = {
	{ "set_input", executor_set_input, 2, 2 },
	{ "get_input", get_input, 1, 1 },
	{ "get_output", executor_get_output, 1, 2 },
	{ "run", executor_run, 0, 0 },
	{ "get_num_inputs", executor_get_num_inputs, 0, 0 },
	{ "get_num_outputs", executor_get_num_outputs, 0, 0 },
	{ "get_input_index", executor_get_input_index, 1, 1 },
	{ "get_input_name", executor_get_input_name, 1, 1 },
	{ "get_input_info", executor_get_input_info, 0, 0 },
	{ "get_output_info", executor_get_output_info, 0, 0 },
	{ NULL, NULL, 0, 0 },
};

static int executor_module(struct tenon_module *root, const struct tenon_model_options *o,
			   struct tenon_module **out)
{
	struct tenon_model *model;
	int err;

	*out = NULL;
	if (!HAS_EXECUTOR_FUNCTIONS)
		return executor_functions_off();
	err = aot_model_create(root, o, &model);
	return err ? err : executor_module_create(model, "AotExecutor", methods, out);
}

/* ---- what the row of the table names (plugin.h) */

int aot_factory_load(struct tenon_cursor *c, const struct tenon_payload *payload,
		     struct tenon_module **out)
{
	return factory_load(false, executor_module, c, payload, out);
}

extern const struct executor aot_executor;
const struct executor aot_executor = {
	.create = aot_model_create,
	.in_regions = true,
};

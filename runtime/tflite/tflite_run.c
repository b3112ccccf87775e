/* SPDX-License-Identifier: MIT */
/* Running a model, and its inputs and outputs. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "runtime/core/tensor_view.h"
#include "runtime/model/tensor_place.h"
#include "runtime/tflite/tflite_network.h"

static struct tflite_network *network_of(struct tenon_model *m)
{
	return (struct tflite_network *)m;
}

/* ---- running */

static int refuse_unset(const struct tflite_network *n)
{
	size_t i = 0;

	while (n->inputs[i].set)
		i++;
	return tenon_error(-TENON_E_USAGE, "input %zu (\"%.*s\") was never set%s", i,
			   (int)n->inputs[i].value->info.name.size,
			   n->inputs[i].value->info.name.data,
			   n->unset > 1 ? ", nor were others" : "");
}

static int run_step(struct tflite_network *n, const struct tflite_step *s)
{
	int err;

	if (s->kind) {
		s->kind->run(&s->call);
		return 0;
	}
	err = npu_run(n, &s->call, s->npu);
	return err ? tenon_error_in(err, "operator %" PRIu32 " (%.*s)", s->call.index,
				    (int)s->visible.name.size, s->visible.name.data)
		   : 0;
}

int tflite_run_steps(struct tflite_network *n)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < n->model.operators.count && !err; i++)
		err = run_step(n, &n->steps[i]);
	return err;
}

static int run_operators(struct tenon_model *m)
{
	struct tflite_network *n = network_of(m);
	int err;

	if (n->unset)
		return refuse_unset(n);
	err = tflite_run_steps(n);
	tflite_forget_inputs(n);
	return err;
}

static int run_profiled(struct tenon_model *m, const struct tenon_profiler *p)
{
	struct tflite_network *n = network_of(m);
	uint64_t begin;
	uint32_t i;
	int err = 0;

	if (n->unset)
		return refuse_unset(n);
	for (i = 0; i < n->model.operators.count && !err; i++) {
		begin = clock_now();
		err = run_step(n, &n->steps[i]);
		if (!err)
			p->op(p->context, i, &n->steps[i].visible, begin, clock_now());
	}
	tflite_forget_inputs(n);
	return err;
}

/* ---- ports */

DLDataType tflite_dtype(uint8_t type)
{
	switch (type) {
	case TFLITE_FLOAT32:
		return tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);
	case TFLITE_BOOL:
		return tenon_dtype(TENON_DTYPE_BOOL, 8, 1);
	case TFLITE_UINT8:
		return tenon_dtype(TENON_DTYPE_UINT, 8, 1);
	case TFLITE_INT8:
	case TFLITE_INT16:
	case TFLITE_INT32:
	case TFLITE_INT64:
		return tenon_dtype(TENON_DTYPE_INT, (uint8_t)tflite_type_bits(type), 1);
	default:
		return (DLDataType){ 0, 0, 0 };
	}
}

static void describe_value(const struct tflite_value *v, struct tenon_port *out)
{
	*out = (struct tenon_port){ v->info.name, tflite_dtype(v->info.type), v->info.ndim,
				    v->shape };
}

static const struct tflite_value *output_of(const struct tflite_network *n, size_t index)
{
	return &n->values[tflite_index(&n->model.outputs, index)];
}

static size_t input_count(struct tenon_model *m)
{
	return network_of(m)->model.inputs.count;
}

static size_t output_count(struct tenon_model *m)
{
	return network_of(m)->model.outputs.count;
}

static void input(struct tenon_model *m, size_t index, struct tenon_port *out)
{
	describe_value(network_of(m)->inputs[index].value, out);
}

static int output(struct tenon_model *m, size_t index, struct tenon_port *out)
{
	describe_value(output_of(network_of(m), index), out);
	return 0;
}

static bool input_is_set(struct tenon_model *m, size_t index)
{
	return network_of(m)->inputs[index].set;
}

/* ---- inputs */

static int check_tensor(const struct tflite_value *want, const DLTensor *t)
{
	char given[TENON_DTYPE_NAME], name[TENON_DTYPE_NAME];
	const DLDataType dtype = tflite_dtype(want->info.type);
	int32_t i;

	if (!tenon_dtype_equal(t->dtype, dtype))
		return tenon_error(-TENON_E_TYPE, "has dtype %s, the model takes %s",
				   tenon_dtype_name(t->dtype, given),
				   tenon_dtype_name(dtype, name));
	if (t->ndim != want->info.ndim)
		return tenon_error(-TENON_E_VALUE, "has %d dimensions, the model takes %u", t->ndim,
				   want->info.ndim);
	for (i = 0; i < t->ndim; i++)
		if (t->shape[i] != want->shape[i])
			return tenon_error(-TENON_E_VALUE,
					   "has extent %" PRIi64
					   " in dimension %d, the model takes %" PRIi64,
					   t->shape[i], i, want->shape[i]);
	if (!tenon_tensor_compact(t))
		return tenon_error(-TENON_E_VALUE, "has strides, want a compact tensor");
	return 0;
}

static void move(struct tflite_network *n, struct tflite_slot *s, char *data,
		 struct tenon_object *keep)
{
	tenon_object_ref(keep);
	tenon_object_unref(s->keep);
	s->keep = keep;
	s->value->data = data;
	n->unset -= !s->set;
	s->set = true;
}

static int set_input(struct tenon_model *m, size_t index, const struct tenon_value *value)
{
	struct tflite_network *n = network_of(m);
	struct tflite_slot *s = &n->inputs[index];
	char *own = tflite_place(n, n->lives[s->value->index].offset);
	DLTensor *t, to;
	int err;

	err = tenon_value_tensor(value, &t);
	if (!err)
		err = check_tensor(s->value, t);
	if (err)
		return err;
	to = tenon_dltensor(own, s->value->shape, s->value->info.ndim, t->dtype);
	err = place_copy(t, &to, s->value->info.bytes);
	if (!err)
		move(n, s, own, NULL);
	return err;
}

static int bind_input(struct tenon_model *m, size_t index, struct tenon_tensor *tensor)
{
	struct tflite_network *n = network_of(m);
	struct tflite_slot *s = &n->inputs[index];
	char *data = (char *)tensor->dl.data + tensor->dl.byte_offset;
	int err = check_tensor(s->value, &tensor->dl);

	err = err ? err : place_can_bind(&tensor->dl);
	if (err)
		return err;
	if (n->shared && n->lives[s->value->index].npu)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "is in memory that the NPU shares; copy it there instead");
	move(n, s, data, &tensor->object);
	return 0;
}

/* ---- outputs */

static int output_value(struct tenon_model *m, size_t index, struct tenon_value *out)
{
	struct tflite_network *n = network_of(m);
	const struct tflite_value *v = output_of(n, index);
	DLTensor t = tenon_dltensor(v->data, (int64_t *)(uintptr_t)v->shape, v->info.ndim,
				    tflite_dtype(v->info.type));
	int err = 0;

	if (!n->given[index])
		err = tensor_view_of_model(&t, &n->block->object, &n->given[index]);
	if (err)
		return err;
	tenon_object_ref(n->given[index]);
	*out = tenon_arg_object(n->given[index]);
	return 0;
}

/* ---- the inside */

static void memory(struct tenon_model *m, struct tenon_model_memory *out)
{
	const struct tflite_network *n = network_of(m);

	out->params = n->constant_size;
	out->activations = n->block_size - n->constant_size;
	out->storages = 1;
}

static uint64_t device_bytes(struct tenon_model *m)
{
	return network_of(m)->on_device;
}

static uint64_t shared_bytes(struct tenon_model *m)
{
	return tflite_shared_size(network_of(m));
}

static int each_op(struct tenon_model *m,
		   int (*visit)(void *context, size_t index, const struct tenon_op *op),
		   void *context)
{
	const struct tflite_network *n = network_of(m);
	uint32_t i;
	int result = 0;

	for (i = 0; i < n->model.operators.count && !result; i++)
		result = visit(context, i, &n->steps[i].visible);
	return result;
}

static size_t value_count(struct tenon_model *m)
{
	return network_of(m)->model.tensors.count;
}

static int value(struct tenon_model *m, size_t index, struct tenon_model_value *out)
{
	const struct tflite_network *n = network_of(m);
	const enum tflite_source source = n->lives[index].source;

	describe_value(&n->values[index], &out->port);
	out->role = source == TFLITE_INPUT	? TENON_ROLE_INPUT
		    : source == TFLITE_CONSTANT ? TENON_ROLE_PARAM
						: TENON_ROLE_RESULT;
	out->storage = n->lives[index].offset < 0 ? -1 : 0;
	out->bytes = n->values[index].info.bytes;
	return 0;
}

const struct model_ops tflite_model_ops = {
	.kind = "tflite",
	.input_count = input_count,
	.output_count = output_count,
	.input = input,
	.output = output,
	.input_is_set = input_is_set,
	.set_input = set_input,
	.bind_input = bind_input,
	.run = run_operators,
	.run_profiled = run_profiled,
	.output_value = output_value,
	.memory = memory,
	.device_bytes = device_bytes,
	.shared_bytes = shared_bytes,
	.each_op = each_op,
	.value_count = value_count,
	.value = value,
	.destroy = tflite_destroy,
};

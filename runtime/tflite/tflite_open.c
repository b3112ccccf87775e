/* SPDX-License-Identifier: MIT */
/* Opening a model: its tensors and operators, their memory, and the device. */
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/device.h>
#include <tenon/queue.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/tflite/tflite_network.h"

/* The largest of what is made for a table, and for four bytes of a list. */
_Static_assert((sizeof(struct tflite_step) + sizeof(struct tflite_variable)) / TFLITE_TABLE_LEAST +
			       TFLITE_LISTED_MOST * sizeof(struct tflite_slot) / 4 <
		       TFLITE_COST,
	       "the header says what a file may cost");
_Static_assert(sizeof(struct tflite_value) + sizeof(struct tflite_life) <=
			       sizeof(struct tflite_step) &&
		       sizeof(struct tflite_value *) + sizeof(uint32_t) <=
			       sizeof(struct tflite_slot),
	       "others are no larger");

static int no_memory(const struct tflite_network *n)
{
	return tenon_error(-TENON_E_NOMEM,
			   "no memory for %" PRIu32 " operators and %" PRIu32 " tensors",
			   n->model.operators.count, n->model.tensors.count);
}

/* ---- closing */

void tflite_destroy(struct tenon_model *m)
{
	struct tflite_network *n = (struct tflite_network *)m;
	uint32_t i;

	for (i = 0; n->steps && i < n->model.operators.count; i++)
		npu_close(n->steps[i].npu);
	for (i = 0; n->inputs && i < n->model.inputs.count; i++)
		tenon_object_unref(n->inputs[i].keep);
	for (i = 0; n->given && i < n->model.outputs.count; i++)
		tenon_object_unref(n->given[i]);
	tflite_unshare(n);
	tenon_object_unref(n->queue);
	tenon_object_unref(n->device);
	tenon_object_unref(n->block);
	tenon_object_unref(n->lasting);
	tenon_buffer_fini(&n->bytes);
	heap_free(n->values);
	heap_free(n->lives);
	heap_free(n->steps);
	heap_free(n->links);
	heap_free(n->numbers);
	heap_free(n->variables);
	heap_free(n->variable_of);
	heap_free(n->inputs);
	heap_free(n->given);
	heap_free(n);
}

/* ---- tensors */

/* Elements of less than a byte, and those without a size, are in no tensor that the processor computes. */
static int read_tensor(const struct tflite_network *n, uint32_t index)
{
	struct tflite_value *v = &n->values[index];
	unsigned int i;
	int err = tflite_tensor(&n->model, index, &v->info);

	if (err)
		return err;
	v->index = index;
	v->elements = 1;
	for (i = 0; i < v->info.ndim; i++) {
		/* does not overflow where the bytes do not; tensors without a size have no elements */
		v->elements = tflite_type_bits(v->info.type) ? v->elements * v->info.shape[i] : 0;
		v->shape[i] = v->info.shape[i];
	}
	if (v->info.variable)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "tensor %" PRIu32 " (\"%.*s\") keeps its value between runs; "
				   "such models are not supported",
				   index, (int)v->info.name.size, v->info.name.data);
	if (v->info.data.size && v->info.data.size != v->info.bytes)
		return tenon_error(-TENON_E_FORMAT,
				   "tensor %" PRIu32
				   " (\"%.*s\") is constant, and has %zu bytes of "
				   "contents for %" PRIu64,
				   index, (int)v->info.name.size, v->info.name.data,
				   v->info.data.size, v->info.bytes);
	return 0;
}

static int read_tensors(struct tflite_network *n)
{
	const uint32_t count = n->model.tensors.count;
	uint32_t i;
	int err = 0;

	n->values = heap_zeroed(count + (size_t)1, sizeof(*n->values), "model");
	n->lives = heap_zeroed(count + (size_t)1, sizeof(*n->lives), "model");
	n->inputs = heap_zeroed(n->model.inputs.count + (size_t)1, sizeof(*n->inputs), "model");
	n->given = heap_zeroed(n->model.outputs.count + (size_t)1, sizeof(struct tenon_tensor *),
			       "model");
	if (!n->values || !n->lives || !n->inputs || !n->given)
		return no_memory(n);
	for (i = 0; i < count && !err; i++)
		err = read_tensor(n, i);
	for (i = 0; i < n->model.inputs.count && !err; i++)
		n->inputs[i].value = &n->values[tflite_index(&n->model.inputs, i)];
	n->unset = n->model.inputs.count;
	return err;
}

/* Inputs and outputs of the model are shown as tensors of DLPack. */
static int check_ports(const struct tflite_network *n, const struct flatbuffer_vector *list)
{
	const struct tflite_value *v;
	uint32_t i;

	for (i = 0; i < list->count; i++) {
		v = &n->values[tflite_index(list, i)];
		if (!tflite_dtype(v->info.type).bits)
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "tensor %" PRIu32 " (\"%.*s\") is an input or output of "
					   "the model, and of type %s, which is not supported",
					   v->index, (int)v->info.name.size, v->info.name.data,
					   tflite_type_name(v->info.type));
	}
	return 0;
}

/* ---- operators */

/* Room in the lists that all operators share. */
struct room {
	struct tflite_value **links;
	uint32_t *numbers;
};

static struct tflite_value **link_tensors(struct tflite_network *n, struct room *r,
					  const struct flatbuffer_vector *list)
{
	struct tflite_value **first = r->links;
	uint32_t i;
	int32_t index;

	for (i = 0; i < list->count; i++) {
		index = tflite_index(list, i);
		*r->links++ = index < 0 ? NULL : &n->values[index];
		if (index >= 0)
			*r->numbers++ = (uint32_t)index;
	}
	return first;
}

static int read_step(struct tflite_network *n, uint32_t index, struct room *r)
{
	struct tflite_step *s = &n->steps[index];
	struct operator_call *c = &s->call;
	int err = tflite_operator(&n->model, index, &c->op);

	if (err)
		return err;
	c->index = index;
	s->numbers = r->numbers;
	c->inputs = link_tensors(n, r, &c->op.inputs);
	c->input_count = c->op.inputs.count;
	s->visible.inputs = s->numbers;
	s->visible.input_count = (size_t)(r->numbers - s->numbers);
	s->visible.outputs = r->numbers;
	c->outputs = link_tensors(n, r, &c->op.outputs);
	c->output_count = s->visible.output_count = c->op.outputs.count;
	s->visible.name = s->visible.function = tflite_operator_name(&c->op);
	s->kind = npu_is(&c->op) ? NULL : operator_find(c->op.builtin);
	if (!s->kind && !npu_is(&c->op))
		return operator_fault(
			c, NULL, -TENON_E_UNSUPPORTED,
			"runs neither on an NPU nor on the processor: this build has no "
			"such operator; compile the model with Vela, or make a module of it "
			"with tenon-compile (docs/making-modules.md)");
	return 0;
}

static int read_steps(struct tflite_network *n)
{
	const uint32_t count = n->model.operators.count;
	struct tflite_operator op;
	size_t links = 1;
	struct room r;
	uint32_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		err = tflite_operator(&n->model, i, &op);
		links += (size_t)op.inputs.count + op.outputs.count;
	}
	if (err)
		return err;
	n->steps = heap_zeroed(count + (size_t)1, sizeof(*n->steps), "model");
	n->links = heap_zeroed(links, sizeof(struct tflite_value *), "model");
	n->numbers = heap_zeroed(links, sizeof(*n->numbers), "model");
	if (!n->steps || !n->links || !n->numbers)
		return no_memory(n);
	r = (struct room){ n->links, n->numbers };
	for (i = 0; i < count && !err; i++)
		err = read_step(n, i, &r);
	return err;
}

/* ---- memory */

static uint64_t memory_of_machine(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : TFLITE_BLOCK_MOST;
}

/*
 * The kernel overcommits memory and kills a program that uses too much: a file of a few bytes may
 * pad to all memory.
 */
static int check_block(const struct tflite_network *n)
{
	const uint64_t machine = memory_of_machine();
	const uint64_t most = machine < TFLITE_BLOCK_MOST ? machine : TFLITE_BLOCK_MOST;

	if (n->block_size <= most)
		return 0;
	return tenon_error(-TENON_E_NOMEM,
			   "its tensors need %" PRIu64 " bytes at a time; at most %" PRIu64
			   " are used: %s",
			   n->block_size, most,
			   most == machine ? "the machine has no more memory"
					   : "no network for an NPU has more");
}

/* Constants are little-endian in the file. */
void tflite_load(char *to, struct tenon_slice contents, uint8_t type)
{
	const size_t size = tflite_type_bits(type) / 8;
	size_t i;

	memcpy(to, contents.data, contents.size);
	if (size < 2 || htole16(1) == 1)
		return;
	for (i = 0; i < contents.size; i++)
		to[i] = contents.data[i / size * size + size - 1 - i % size];
}

static int make_block(struct tflite_network *n)
{
	struct tflite_value *v;
	uint32_t i;
	int err = storage_create_lasting(n->lasting_size, &n->lasting);

	err = err ? err : storage_create(n->block_size - n->lasting_size, &n->block);
	for (i = 0; i < n->model.tensors.count && !err; i++) {
		v = &n->values[i];
		if (n->lives[i].offset < 0)
			continue;
		v->data = tflite_place(n, n->lives[i].offset);
		if (n->lives[i].source == TFLITE_CONSTANT)
			tflite_load(v->data, v->info.data, v->info.type);
	}
	return err;
}

static int prepare(struct tflite_network *n)
{
	struct tflite_step *s;
	uint32_t i;
	int err = 0;

	for (i = 0; i < n->model.operators.count && !err; i++) {
		s = &n->steps[i];
		err = s->kind ? operator_prepare(s->kind, &s->call)
			      : npu_create(n, &s->call, &s->npu);
	}
	return err;
}

/* ---- the device */

static const struct tflite_step *first_of_npu(const struct tflite_network *n)
{
	uint32_t i;

	for (i = 0; i < n->model.operators.count; i++)
		if (!n->steps[i].kind)
			return &n->steps[i];
	return NULL;
}

/* Operators of an NPU run on the first device that is not the processor. */
static int open_device(struct tflite_network *n, const struct tenon_model_options *o)
{
	const struct tflite_step *s = first_of_npu(n);
	size_t i;
	int err;

	if (!s)
		return 0;
	for (i = 0; i < o->device_count && o->devices[i].device_type == kDLCPU;)
		i++;
	if (i == o->device_count)
		return operator_fault(&s->call, NULL, -TENON_E_DEVICE,
				      "was compiled for an NPU, and no device is given; without "
				      "hardware there is ethosu://sim");
	err = tenon_device_get(o->devices[i], &n->device);
	return err ? err : tenon_queue_create(n->device, &n->queue);
}

/* ---- opening */

/* Find the bytes of a file: those of its module, or of any module that is one when it is saved. */
static int take_bytes(struct tflite_network *n, struct tenon_module *root)
{
	const char *file = "model";
	struct tenon_slice bytes;
	struct tenon_cursor c;
	int err;

	if (!tflite_module_bytes(root, &bytes, &file)) {
		err = tenon_module_save(root, &n->bytes);
		if (err)
			return err;
		bytes = (struct tenon_slice){ n->bytes.data, n->bytes.size };
	}
	c = tenon_cursor_of(bytes.data, bytes.size, file, 0);
	return tflite_read(&c, &n->model);
}

static int open_network(struct tflite_network *n, struct tenon_module *root,
			const struct tenon_model_options *o)
{
	struct heap_region dmabuf;
	int err = take_bytes(n, root);

	err = err ? err : read_tensors(n);
	err = err ? err : check_ports(n, &n->model.inputs);
	err = err ? err : check_ports(n, &n->model.outputs);
	err = err ? err : read_steps(n);
	err = err ? err : tflite_variables_read(n);
	err = err ? err : tflite_plan(n);
	if (err || o->describe)
		return err;
	err = check_block(n);
	err = err ? err : open_device(n, o);
	if (!err && heap_dmabuf(&dmabuf)) {
		err = tflite_share(n, &dmabuf);
		err = err ? err : check_block(n);
	}
	err = err ? err : make_block(n);
	if (!err)
		tflite_variables_bind(n);
	err = err ? err : prepare(n);
	return err ? err : tflite_states_begin(n);
}

/* Its tensors are no ports: nothing is given to it, or taken. */
static int open_graph(struct tflite_network *n)
{
	int err = read_tensors(n);

	err = err ? err : read_steps(n);
	err = err ? err : tflite_plan(n);
	err = err ? err : check_block(n);
	err = err ? err : make_block(n);
	return err ? err : prepare(n);
}

int tflite_open_graph(const struct tflite_network *n, uint32_t graph, struct tflite_network **out)
{
	struct tflite_network *other = heap_zeroed(1, sizeof(*other), "model");
	int err;

	if (!other)
		return tenon_error(-TENON_E_NOMEM, "no memory for a graph");
	err = tflite_graph(&n->model, graph, &other->model);
	other->device = n->device;
	tenon_object_ref(n->device);
	other->queue = n->queue;
	tenon_object_ref(n->queue);
	err = err ? err : open_graph(other);
	if (err)
		tflite_destroy(&other->base);
	else
		*out = other;
	return err;
}

int tflite_create(struct tenon_module *root, const struct tenon_model_options *o,
		  struct tenon_model **out)
{
	struct tflite_network *n = heap_zeroed(1, sizeof(*n), "model");
	int err;

	*out = NULL;
	if (!n)
		return tenon_error(-TENON_E_NOMEM, "no memory for a model");
	err = o->function && strcmp(o->function, "main") && strcmp(o->function, "default")
		      ? tenon_error(-TENON_E_NOT_FOUND,
				    "the file has one model, and none called \"%s\"", o->function)
		      : open_network(n, root, o);
	if (err) {
		tflite_destroy(&n->base);
		return err;
	}
	model_init(&n->base, &tflite_model_ops, root, o);
	*out = &n->base;
	return 0;
}

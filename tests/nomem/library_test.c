/* SPDX-License-Identifier: MIT */
/*
 * What a program does with the library: load and call, inspect, run models, read parameters, drive
 * devices. Each is done once for each allocation in it, with that one failing: it ends with an error and
 * a message, or with what it gives undisturbed. It can be done again right after, and nothing is lost.
 */
#include "tests/unit/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/module_kind.h>
#include <tenon/visit.h>
#include <unistd.h>

#include "lib/option.h"
#include "tests/nomem/deeds.h"
#include "tests/nomem/failing_malloc.h"
#include "tests/nomem/weak_objects.h"

#define D18 "tests/interop/data/tvm-0.18/"
#define D27 "tests/interop/data/tvm-0.27.0.post1/"

static uint64_t soon(void)
{
	return tenon_deadline(UINT64_C(60000000000));
}

/* ---- modules */

static int call(const char *file, const char *name, uint64_t *facts)
{
	const int64_t shape[] = { file[0] && strstr(file, "0.18") ? 1024 : 128 };
	struct tenon_module *module = NULL;
	struct tenon_function *f = NULL;
	struct tenon_tensor *t[3] = { NULL, NULL, NULL };
	struct tenon_value args[3], ret = tenon_arg_none();
	size_t i, bytes = (size_t)shape[0] * 4;
	int err;

	err = tenon_module_load(file, &module);
	if (!err)
		err = tenon_module_get_function(module, name, &f);
	for (i = 0; i < 3 && !err; i++) {
		err = tenon_tensor_create(shape, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t[i]);
		if (!err)
			memset(t[i]->dl.data, 1, bytes);
		args[i] = tenon_arg_object(t[i]);
	}
	if (!err)
		err = tenon_function_call(f, args, 3, &ret);
	if (!err)
		deed_fact(facts, t[2]->dl.data, bytes);
	for (i = 0; i < 3; i++)
		tenon_object_unref(t[i]);
	tenon_value_release(&ret);
	tenon_object_unref(f);
	tenon_object_unref(module);
	return err;
}

static int call_legacy(uint64_t *facts)
{
	return call(D18 "host_vecadd/lib.so", "vecadd", facts);
}

static int call_modern(uint64_t *facts)
{
	return call(D27 "host_vecadd/lib.so", "vecadd", facts);
}

static int add_field(void *facts, const char *name, const struct tenon_value *value)
{
	struct tenon_slice text;

	if (name)
		deed_fact(facts, name, strlen(name));
	if (value->type == TENON_TYPE_INT)
		deed_fact(facts, &value->as.integer, sizeof(value->as.integer));
	else if (value->type == TENON_TYPE_ARRAY || value->type == TENON_TYPE_MODULE)
		return tenon_object_visit(value->as.object,
					  &(struct tenon_visitor){ sizeof(struct tenon_visitor),
								   add_field, NULL, facts });
	else if (!tenon_value_text(value, &text))
		deed_fact(facts, text.data, text.size);
	else
		tenon_error_clear();
	return 0;
}

static int inspect(const char *file, uint64_t *facts)
{
	struct tenon_visitor visitor = { sizeof(visitor), add_field, NULL, facts };
	struct tenon_module *root;
	int err;

	err = tenon_module_inspect(file, &root);
	if (err)
		return err;
	err = tenon_object_visit(&root->object, &visitor);
	tenon_object_unref(root);
	return err;
}

static int inspect_kernels(uint64_t *facts)
{
	return inspect(D18 "opencl_multi/lib.so", facts);
}

static int inspect_tree(uint64_t *facts)
{
	return inspect(D27 "tree_nested/lib.so", facts);
}

/* ---- models */

static int add_op(void *facts, size_t index, const struct tenon_op *op)
{
	(void)index;
	deed_fact(facts, op->name.data, op->name.size);
	deed_fact(facts, op->inputs, op->input_count * sizeof(*op->inputs));
	deed_fact(facts, op->outputs, op->output_count * sizeof(*op->outputs));
	return 0;
}

static int add_description(struct tenon_model *model, uint64_t *facts)
{
	struct tenon_model_value value;
	size_t i;
	int err = 0;

	for (i = 0; i < tenon_model_value_count(model) && !err; i++) {
		err = tenon_model_value_at(model, i, &value);
		if (!err)
			deed_fact(facts, value.port.name.data, value.port.name.size);
	}
	if (!err && i)
		err = tenon_model_each_op(model, add_op, facts);
	return err;
}

static int fill(struct tenon_model *model, size_t index)
{
	struct tenon_tensor *tensor;
	struct tenon_value value;
	struct tenon_port port;
	int64_t shape[8] = { 1, 8 };
	int32_t ndim;
	size_t bytes;
	int err;

	if (tenon_model_input_is_set(model, index))
		return 0;
	err = tenon_model_input(model, index, &port);
	if (err)
		return err;
	/* what may have any extent has one; of compiled functions nothing is known: one takes 1x8 */
	for (int32_t i = 0; i < port.ndim && i < 8; i++)
		shape[i] = port.shape[i] < 0 ? 1 : port.shape[i];
	ndim = port.ndim < 0 ? 2 : port.ndim;
	err = tenon_tensor_create(
		shape, ndim, port.dtype.bits ? port.dtype : tenon_dtype(TENON_DTYPE_FLOAT, 32, 1),
		&tensor);
	if (err)
		return err;
	value = tenon_arg_object(tensor);
	err = tenon_tensor_bytes(&tensor->dl, &bytes);
	if (!err) {
		memset(tensor->dl.data, 0, bytes);
		err = tenon_model_set_input(model, index, &value);
	}
	tenon_object_unref(tensor);
	return err;
}

static int add_output(struct tenon_model *model, size_t index, uint64_t *facts)
{
	struct tenon_value value;
	struct tenon_port port;
	DLTensor *dl;
	size_t bytes;
	int err;

	err = tenon_model_output(model, index, &port);
	if (err)
		return err;
	deed_fact(facts, port.name.data, port.name.size);
	err = tenon_model_output_value(model, index, &value);
	if (err)
		return err;
	err = tenon_value_tensor(&value, &dl);
	if (!err)
		err = tenon_tensor_bytes(dl, &bytes);
	if (!err)
		deed_fact(facts, dl->data, bytes);
	tenon_value_release(&value);
	return err;
}

static int run_model(const char *file, const char *function, bool described, uint64_t *facts)
{
	struct tenon_model_options options = { .size = sizeof(options), .function = function };
	struct tenon_module *root = NULL;
	struct tenon_model *model = NULL;
	size_t i;
	int err;

	err = tenon_module_load(file, &root);
	if (!err)
		err = tenon_model_open(root, &options, &model);
	if (!err && described)
		err = add_description(model, facts);
	for (i = 0; !err && i < tenon_model_input_count(model); i++)
		err = fill(model, i);
	if (!err)
		err = tenon_model_run(model);
	for (i = 0; !err && i < tenon_model_output_count(model); i++)
		err = add_output(model, i, facts);
	tenon_model_close(model);
	tenon_object_unref(root);
	return err;
}

static int run_graph(uint64_t *facts)
{
	return run_model(D18 "graph_mlp/graph.so", NULL, true, facts);
}

static int run_aot(uint64_t *facts)
{
	return run_model(D18 "aot_mlp/aot_packed.so", NULL, false, facts);
}

static int run_relax(uint64_t *facts)
{
	return run_model(D18 "relax_mlp/vm.so", NULL, true, facts);
}

static int run_relax_compiled(uint64_t *facts)
{
	return run_model(D27 "model_mlp_compiled/model.so", "forward", false, facts);
}

/* ---- parameters */

/* add the names and the data of all, and drop the list */
static int add_params(struct tenon_params *params, uint64_t *facts)
{
	const struct tenon_param *p;
	struct tenon_tensor *tensor;
	char copy[64];
	int err = 0;

	for (size_t i = 0; !err && (p = tenon_params_at(params, i)); i++) {
		deed_fact(facts, p->name.data, p->name.size);
		err = tenon_params_tensor(params, p, 128, &tensor);
		if (err)
			break;
		deed_fact(facts, tensor->dl.data, p->bytes);
		tenon_object_unref(tensor);
		if (p->bytes <= sizeof(copy))
			err = tenon_params_load(params, p, copy);
	}
	tenon_object_unref(params);
	return err;
}

static int load_params(uint64_t *facts)
{
	struct tenon_params *params;
	int err = tenon_params_open(D18 "params_file/all.params", &params);

	return err ? err : add_params(params, facts);
}

#if OPTION_ON(PARAMS_FILES)
static int join_params(uint64_t *facts)
{
	const struct tenon_params_rename rename = { tenon_slice_of("a"), tenon_slice_of("b.c") };
	struct tenon_params_part parts[2] = { { { "", 0 }, NULL }, { tenon_slice_of("s"), NULL } };
	struct tenon_params *list = NULL, *numbers = NULL;
	int err;

	err = tenon_params_open("tests/fuzz/corpus/safetensors/two-tensors", &parts[0].params);
	if (!err)
		err = tenon_params_open("tests/fuzz/corpus/gguf/numbers-and-blocks",
					&parts[1].params);
	if (!err)
		err = tenon_params_join(parts, 2, &rename, 1, &list);
	if (!err)
		err = tenon_params_dequantize(list, tenon_dtype(TENON_DTYPE_FLOAT, 16, 1),
					      &numbers);
	tenon_object_unref(parts[0].params);
	tenon_object_unref(parts[1].params);
	tenon_object_unref(list);
	return err ? err : add_params(numbers, facts);
}
#endif

/* ---- devices */

#ifdef CONFIG_DEVICES
struct scene {
	struct tenon_device *device;
	struct tenon_queue *queue, *other;
	struct tenon_memory *a, *b;
	struct tenon_commands *commands;
	struct tenon_timeline *timeline;
	int32_t back[64];
};

static int record(struct scene *s)
{
	int err = tenon_commands_create(s->device, &s->commands);

	if (!err)
		err = tenon_commands_fill(s->commands, tenon_range(s->a, 0), 256, 7, 4);
	if (!err)
		err = tenon_commands_barrier(s->commands);
	if (!err)
		err = tenon_commands_copy(s->commands, tenon_range(s->b, 0), tenon_range(s->a, 0),
					  256);
	return err ? err : tenon_commands_finish(s->commands);
}

static int play(struct scene *s, const char *uri)
{
	const struct tenon_memory_request request = { sizeof(request), 512, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	const struct tenon_point reached = { NULL, 1 };
	struct tenon_point point = reached;
	struct tenon_sync signal = { NULL, 0, &point, 1 }, wait = { &point, 1, NULL, 0 };
	int err = tenon_device_open(uri, &s->device);

	if (!err)
		err = tenon_queue_create(s->device, &s->queue);
	if (!err)
		err = tenon_queue_create(s->device, &s->other);
	if (!err)
		err = tenon_timeline_create(0, &s->timeline);
	point.timeline = s->timeline;
	if (!err)
		err = tenon_memory_alloc(s->device, &request, &s->a);
	if (!err)
		err = tenon_memory_alloc(s->device, &request, &s->b);
	if (!err)
		err = record(s);
	if (!err)
		err = tenon_queue_execute(s->queue, s->commands, NULL, 0, &signal);
	if (!err)
		err = tenon_queue_read(s->other, s->back, s->b, 0, sizeof(s->back), &wait);
	if (!err)
		err = tenon_queue_sync(s->other, soon());
	return err ? err : tenon_timeline_wait(s->timeline, 1, soon());
}

static int use_device(const char *uri, uint64_t *facts)
{
	struct scene s = { .device = NULL };
	int err = play(&s, uri);

	if (!err)
		deed_fact(facts, s.back, sizeof(s.back));
	tenon_object_unref(s.commands);
	tenon_object_unref(s.a);
	tenon_object_unref(s.b);
	tenon_object_unref(s.other);
	tenon_object_unref(s.queue);
	tenon_object_unref(s.timeline);
	tenon_object_unref(s.device);
	return err;
}

static int use_cpu(uint64_t *facts)
{
	return use_device("cpu:0", facts);
}

static int use_null(uint64_t *facts)
{
	return use_device("null:0", facts);
}
#endif

/* ---- errors */

static void *raise_without_memory(void *unused)
{
	(void)unused;
	/* the first error of a thread makes room for its text */
	failing_malloc_start(1);
	tenon_error(-TENON_E_FORMAT, "a text for which there is no room");
	failing_malloc_stop();
	tenon_error_in(-TENON_E_FORMAT, "model.so");
	assert_string_equal(tenon_error_kind(), "MemoryError");
	assert_non_null(strstr(tenon_error_message(), "model.so: "));
	assert_non_null(strstr(tenon_error_message(), "memory"));
	tenon_error_clear();
	return NULL;
}

static void a_frame_does_not_hide_that_memory_ran_out(void **state)
{
	pthread_t thread;

	(void)state;
	if (!failing_malloc_works())
		skip();
	/* this thread takes the room that needs no memory */
	tenon_error(-TENON_E_FORMAT, "an error of the first thread");
	tenon_error_clear();
	assert_int_equal(pthread_create(&thread, NULL, raise_without_memory, NULL), 0);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_does_not_hide_that_memory_ran_out),
		DEED("a_legacy_function_is_called", call_legacy),
		DEED("a_function_is_called", call_modern),
		DEED("kernels_are_inspected", inspect_kernels),
		DEED("a_tree_is_inspected", inspect_tree),
		DEED("a_graph_runs", run_graph),
		DEED("compiled_ahead_of_time_runs", run_aot),
		DEED("a_relax_program_runs", run_relax),
		DEED("a_compiled_relax_program_runs", run_relax_compiled),
		DEED("parameters_are_loaded", load_params),
#if OPTION_ON(PARAMS_FILES)
		DEED("parameters_of_several_files_are_joined_and_dequantised", join_params),
#endif
#ifdef CONFIG_DEVICES
		DEED("the_processor_is_a_device", use_cpu),
		DEED("the_null_device_is_one", use_null),
#endif
		DEED_WEAK("objects_of_a_legacy_function_outlive_their_content", call_legacy),
		DEED_WEAK("objects_of_a_function_outlive_their_content", call_modern),
		DEED_WEAK("objects_of_kernels_outlive_their_content", inspect_kernels),
		DEED_WEAK("objects_of_a_tree_outlive_their_content", inspect_tree),
		DEED_WEAK("objects_of_a_graph_outlive_their_content", run_graph),
		DEED_WEAK("objects_of_aot_outlive_their_content", run_aot),
		DEED_WEAK("objects_of_relax_outlive_their_content", run_relax),
		DEED_WEAK("objects_of_compiled_relax_outlive_their_content", run_relax_compiled),
		DEED_WEAK("objects_of_parameters_outlive_their_content", load_params),
#if OPTION_ON(PARAMS_FILES)
		DEED_WEAK("objects_of_joined_parameters_outlive_their_content", join_params),
#endif
#ifdef CONFIG_DEVICES
		DEED_WEAK("objects_of_the_processor_outlive_their_content", use_cpu),
		DEED_WEAK("objects_of_the_null_device_outlive_their_content", use_null),
#endif
	};

	return cmocka_run_group_tests(tests, deeds_prepare, NULL);
}

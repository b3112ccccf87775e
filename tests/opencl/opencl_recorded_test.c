/* SPDX-License-Identifier: MIT */
/* Parts of a Relax program with the attention of a key-value cache, which a recording repeats, on the named fake. */
#include "tests/opencl/opencl_rig.h"

#include <tenon/queue.h>

#include "runtime/kv/kv_cache.h"
#include "runtime/relax/relax_device.h"
#include "runtime/relax/relax_recorded.h"
#include "tests/unit/relax_assembler.h"

#define DIM	 4
#define PAGE	 4
#define ONE_FORM (64 * PAGE) /* tokens for which the list of pages has room */

static const DLDevice opencl0 = { kDLOpenCL, 0 }, cpu0 = { kDLCPU, 0 };
static struct kv_cache *cache;
static struct tenon_tensor *qkv, *out;
static struct relax_vm *vm;
static int calls; /* of the part */

static int does_nothing(void *self, const struct tenon_value *args, int32_t count,
			struct tenon_value *ret)
{
	*ret = tenon_arg_none();
	return 0;
}

static DLTensor *tensor_of(const struct tenon_value *v)
{
	DLTensor *t;

	assert_int_equal(tenon_value_tensor(v, &t), 0);
	return t;
}

/* In place of attention: the tokens of the last page go to the result, from the device's memory. */
static int copies_length(void *self, const struct tenon_value *args, int32_t count,
			 struct tenon_value *ret)
{
	const DLTensor *length = tensor_of(&args[4]), *to = tensor_of(&args[7]);

	*ret = tenon_arg_none();
	return tenon_queue_copy(queue, to->data, to->byte_offset, length->data, length->byte_offset,
				4, NULL);
}

static int attends(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	const struct kv_tensors tensors = { .qkv = tenon_arg_object(qkv),
					    .out = tenon_arg_object(out) };

	calls++;
	*ret = tenon_arg_none();
	return kv_cache_attend(cache, 0, 1, &tensors);
}

static struct tenon_function *function_of(tenon_call_fn call)
{
	struct tenon_function *f;

	assert_int_equal(tenon_function_create(NULL, call, NULL, &f), 0);
	return f;
}

static struct tenon_tensor *floats(const int64_t *shape)
{
	struct tenon_tensor *t;

	assert_int_equal(tenon_tensor_create_on(opencl0, shape, 3,
						tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t),
			 0);
	return t;
}

static void make_cache(void)
{
	static const int64_t kinds[1] = { KV_MHA };
	struct tenon_function *nothing = function_of(does_nothing),
			      *copy = function_of(copies_length);
	const struct kv_config f = { .sequences = 1,
				     .tokens = 2 * ONE_FORM,
				     .chunk = 16,
				     .page = PAGE,
				     .layer_window = 1024,
				     .layers = 1,
				     .kinds = kinds,
				     .kind_count = 1,
				     .q_heads = 1,
				     .kv_heads = 1,
				     .dim = DIM,
				     .v_dim = DIM,
				     .rope_scale = 1,
				     .rope_theta = 10000,
				     .dtype = { TENON_DTYPE_FLOAT, 32, 1 },
				     .device = opencl0,
				     .callbacks = { [KV_APPEND] = nothing,
						    [KV_SPLIT_ROTARY] = nothing,
						    [KV_DECODE] = copy } };

	if (kv_cache_create(&f, &cache))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(nothing);
	tenon_object_unref(copy);
	assert_int_equal(kv_cache_add(cache, 0), 0);
}

static void make_machine(void)
{
	const DLDevice devices[] = { opencl0, cpu0 };
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_module *x;

	assemble_function(&a, "main", 1, 1);
	assemble_ret(&a, 0);
	assert_int_equal(load_assembly(&a, &x), 0);
	vm = machine_of_module(x);
	tenon_object_unref(x);
	assert_int_equal(relax_set_devices(vm, devices, 2), 0);
	assert_int_equal(relax_init(vm), 0);
}

static int setup(void **state)
{
	int err = rig_setup(state);

	if (err)
		return err;
	assert_int_equal(tenon_queue_set_current(device, queue), 0);
	make_cache();
	make_machine();
	qkv = floats((const int64_t[]){ 1, 3, DIM });
	out = floats((const int64_t[]){ 1, 1, DIM });
	calls = 0;
	return 0;
}

static int teardown(void **state)
{
	tenon_object_unref(vm);
	tenon_object_unref(cache);
	tenon_object_unref(qkv);
	tenon_object_unref(out);
	assert_int_equal(tenon_queue_set_current(device, NULL), 0);
	return rig_teardown(state);
}

/* Begin a step of one token. */
static void begin(void)
{
	const int64_t id = 0, one = 1;

	if (kv_cache_begin(cache, &id, &one, 1, NULL, 0))
		fail_msg("%s", tenon_error_message());
}

/* Run the part with @argument; what attention gave. */
static int run(struct tenon_value argument)
{
	struct tenon_function *f = function_of(attends);
	const struct tenon_value closure = tenon_arg_object(f);
	struct tenon_array *items;
	struct tenon_value ret;
	int length = 0;

	assert_int_equal(tenon_array_create(&argument, 1, &items), 0);
	if (relax_run_recorded(vm, &(struct relax_part){ .closure = &closure, .items = items },
			       &ret))
		fail_msg("%s", tenon_error_message());
	tenon_value_release(&ret);
	assert_int_equal(
		tenon_queue_read(queue, &length, out->dl.data, out->dl.byte_offset, 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
	tenon_object_unref(items);
	tenon_object_unref(f);
	return length;
}

static void a_recording_reads_the_lengths_of_each_step(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < ONE_FORM; i++) {
		begin();
		assert_int_equal(run(tenon_arg_object(cache)), i % PAGE + 1);
		assert_int_equal(calls, i < 2 ? i + 1 : 2);
	}
	/* the list of pages is longer */
	for (; i < ONE_FORM + 8; i++) {
		begin();
		assert_int_equal(run(tenon_arg_object(cache)), i % PAGE + 1);
	}
	assert_int_equal(calls, 4);
}

/* The part writes nothing to the device, as the arrays are there. */
static void a_part_whose_cache_is_no_argument_is_called_each_time(void **state)
{
	struct kv_step step;
	int i;

	(void)state;
	for (i = 0; i < 8; i++) {
		begin();
		assert_int_equal(kv_cache_step(cache, &step), 0);
		assert_int_equal(run(tenon_arg_object(qkv)), i % PAGE + 1);
		assert_int_equal(calls, i + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_recording_reads_the_lengths_of_each_step, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			a_part_whose_cache_is_no_argument_is_called_each_time, setup, teardown),
	};

	if (!rig_prepare())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Kernels as compiled host code calls them: packed functions with launch extents behind. */
#include <stdio.h>

#include <tenon/backend/module_kind.h>

#include "runtime/device/device_thread.h"
#include "runtime/device/kernel_call.h"
#include "tests/cts/cts.h"

/* A set of all kernels, and a function of one of them; skips when the device does not have it. */
static struct kernel_set *kernels(struct cts *cts, const char *name)
{
	const char *kind = cts_backend.kind ? cts_backend.kind : "functions";
	struct tenon_slice bytes = { cts->payload.data, cts->payload.size };
	struct tenon_program *program;
	struct kernel_set *set = NULL;

	cts_kernel(cts, name);
	ok(tenon_program_read(tenon_slice_of(kind), TENON_GENERATION_LEGACY, bytes, "cts",
			      &program));
	ok(kernel_set_create(program, NULL, cts->device->id.device_type, &set));
	ok(device_thread_choose(cts->device->id));
	return set;
}

static struct tenon_function *function(struct kernel_set *set, const char *name)
{
	struct tenon_function *f = NULL;

	ok(kernel_set_function(set, tenon_slice_of(name), NULL, &f));
	assert_non_null(f);
	return f;
}

static void read_back(struct cts *cts, struct tenon_memory *m, void *to, uint64_t size)
{
	struct tenon_queue *q;

	ok(tenon_queue_current(cts->device, &q));
	ok(tenon_queue_read(q, to, m, 0, size, NULL));
	ok(tenon_queue_sync(q, cts_soon()));
}

static void a_packed_call_converts_and_launches(struct cts *cts)
{
	struct kernel_set *set = kernels(cts, "scale");
	struct tenon_function *f = function(set, "scale");
	struct tenon_memory *m = cts_memory(cts, 400, 0);
	struct tenon_value ret = tenon_arg_none();
	float data[100];
	int i;

	for (i = 0; i < 100; i++)
		data[i] = (float)i;
	cts_set(cts, m, 0, data, 400);
	/* extents in the order of the tags: threads first */
	ok(tenon_call(f, &ret, tenon_arg_pointer(tenon_memory_data(m)), tenon_arg_float(2.5),
		      tenon_arg_int(99), tenon_arg_int(32), tenon_arg_int(4)));
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	/* an integer will do for a float */
	ok(tenon_call(f, &ret, tenon_arg_pointer(tenon_memory_data(m)), tenon_arg_int(2),
		      tenon_arg_int(99), tenon_arg_int(32), tenon_arg_int(4)));
	read_back(cts, m, data, 400);
	for (i = 0; i < 100; i++)
		assert_true(data[i] == (float)i * (i < 99 ? 5.0f : 1.0f));
	tenon_object_unref(f);
	kernel_set_free(set);
	tenon_object_unref(m);
}

/* A recording of a call of "scale", by 2.5 of the first 99 of 100 numbers, with slot 1 for its memory. */
static void record_scale(struct cts *cts, struct tenon_function *f, struct tenon_commands **out)
{
	struct tenon_memory *stand_in = cts_memory(cts, 400, 0), *other = cts_memory(cts, 400, 0);
	struct tenon_value args[] = { tenon_arg_pointer(tenon_memory_data(stand_in)),
				      tenon_arg_float(2.5), tenon_arg_int(99), tenon_arg_int(32),
				      tenon_arg_int(4) };

	ok(tenon_commands_create(cts->device, out));
	ok(tenon_commands_stand_in(*out, 1, stand_in, 400));
	fails(tenon_commands_stand_in(*out, 0, stand_in, 4), -TENON_E_VALUE);
	fails(tenon_commands_stand_in(*out, 1, other, 400), -TENON_E_VALUE);
	fails(tenon_commands_stand_in(*out, 2, other, 401), -TENON_E_VALUE);
	ok(tenon_commands_copy(*out, tenon_range(stand_in, 8), tenon_slot(0, 0), 4));
	ok(tenon_commands_barrier(*out));
	ok(tenon_commands_call(*out, f, args, 5));
	ok(tenon_commands_finish(*out));
	fails(tenon_commands_call(*out, f, args, 5), -TENON_E_USAGE);
	tenon_object_unref(other);
	tenon_object_unref(stand_in);
}

static void a_recorded_call_runs_with_the_memory_of_each_run(struct cts *cts)
{
	struct kernel_set *set = kernels(cts, "scale");
	struct tenon_function *f = function(set, "scale");
	struct tenon_memory *m[2] = { cts_memory(cts, 400, 0), cts_memory(cts, 400, 0) };
	struct tenon_memory *small = cts_memory(cts, 399, 0);
	struct tenon_commands *c;
	float data[100];
	int i, run;

	record_scale(cts, f, &c);
	for (i = 0; i < 100; i++)
		data[i] = (float)i;
	cts_set(cts, m[0], 0, data, 400);
	cts_set(cts, m[1], 0, data, 400);
	for (run = 0; run < 2; run++) {
		struct tenon_memory *bindings[] = { m[!run], m[run] };

		ok(tenon_queue_execute(cts->queue, c, bindings, 2, NULL));
	}
	for (run = 0; run < 2; run++) {
		cts_get(cts, m[run], 0, data, 400);
		for (i = 0; i < 100; i++)
			assert_true(data[i] == (i == 2 ? 0.0f : (float)i * (i < 99 ? 2.5f : 1.0f)));
	}
	m[1] = (tenon_object_unref(m[1]), small);
	fails(tenon_queue_execute(cts->queue, c, m, 2, NULL), -TENON_E_VALUE);
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	tenon_object_unref(c);
	tenon_object_unref(m[0]);
	tenon_object_unref(small);
	tenon_object_unref(f);
	kernel_set_free(set);
}

static void a_recorded_kernel_takes_no_middle_of_a_slot(struct cts *cts)
{
	struct kernel_set *set = kernels(cts, "scale");
	struct tenon_function *f = function(set, "scale");
	uint64_t align = cts->device->properties->alignment, at = (256 + align - 1) / align * align;
	struct tenon_memory *whole = cts_memory(cts, 2 * at, 0), *part;
	struct tenon_commands *c;

	ok(tenon_memory_subrange(whole, at, 64, &part));
	ok(tenon_commands_create(cts->device, &c));
	ok(tenon_commands_stand_in(c, 0, whole, 2 * at));
	{
		struct tenon_value args[] = { tenon_arg_pointer(tenon_memory_data(part)),
					      tenon_arg_float(2.5), tenon_arg_int(4),
					      tenon_arg_int(4), tenon_arg_int(1) };

		fails(tenon_commands_call(c, f, args, 5), -TENON_E_UNSUPPORTED);
	}
	fails(tenon_commands_finish(c), -TENON_E_USAGE);
	tenon_object_unref(c);
	tenon_object_unref(part);
	tenon_object_unref(whole);
	tenon_object_unref(f);
	kernel_set_free(set);
}

static void a_part_of_what_stands_for_a_slot_is_in_the_slot(struct cts *cts)
{
	uint64_t align = cts->device->properties->alignment, at = (256 + align - 1) / align * align;
	struct tenon_memory *whole = cts_memory(cts, 4 * at, 0),
			    *bound = cts_memory(cts, 2 * at, 0);
	struct tenon_memory *part, *inner;
	struct tenon_commands *c;
	const uint8_t before = 7;
	uint8_t found;

	cts_set(cts, whole, 2 * at + 4, &before, 1);
	ok(tenon_memory_subrange(whole, at, 2 * at, &part));
	ok(tenon_memory_subrange(part, at, at, &inner));
	ok(tenon_commands_create(cts->device, &c));
	ok(tenon_commands_stand_in(c, 0, part, 2 * at));
	fails(tenon_commands_stand_in(c, 1, inner, at), -TENON_E_VALUE);
	fails(tenon_commands_stand_in(c, 1, whole, 4 * at), -TENON_E_VALUE);
	ok(tenon_commands_fill(c, tenon_range(inner, 4), 4, 9, 1));
	ok(tenon_commands_finish(c));
	ok(tenon_queue_execute(cts->queue, c, &bound, 1, NULL));
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	cts_get(cts, bound, at + 4, &found, 1);
	assert_int_equal(found, 9);
	cts_get(cts, whole, 2 * at + 4, &found, 1);
	assert_int_equal(found, before);
	tenon_object_unref(c);
	tenon_object_unref(inner);
	tenon_object_unref(part);
	tenon_object_unref(bound);
	tenon_object_unref(whole);
}

/* what submit_something() does with the current queue */
struct submits {
	struct cts *cts;
	struct tenon_memory *memory;
	struct tenon_commands *records;
	bool fills, reads;
};

static int submit_something(void *self, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret)
{
	static uint8_t host;
	const struct submits *s = self;
	struct tenon_queue *q;

	*ret = tenon_arg_none();
	ok(tenon_queue_current(s->cts->device, &q));
	assert_ptr_not_equal(q, s->cts->queue);
	if (s->fills)
		ok(tenon_queue_fill(q, s->memory, 0, 16, 0x11, 1, NULL));
	if (s->records)
		fails(tenon_commands_call(s->records, NULL, NULL, 0), -TENON_E_USAGE);
	/* a function may hide that it failed */
	if (s->reads)
		fails(tenon_queue_read(q, &host, s->memory, 0, 1, NULL), -TENON_E_UNSUPPORTED);
	return 0;
}

static void a_call_that_cannot_be_recorded_says_so(struct cts *cts)
{
	struct tenon_memory *m = cts_memory(cts, 16, 0);
	struct submits s = { cts, m, NULL, false, false };
	struct tenon_queue *before, *after;
	struct tenon_function *f;
	struct tenon_commands *c;
	uint8_t back;

	cts_put(cts, m, 0);
	ok(tenon_queue_current(cts->device, &before));
	ok(tenon_function_create(&s, submit_something, NULL, &f));
	ok(tenon_commands_create(cts->device, &c));
	fails(tenon_commands_call(c, f, NULL, 0), -TENON_E_UNSUPPORTED);
	s.fills = true;
	s.records = c;
	ok(tenon_commands_call(c, f, NULL, 0));
	ok(tenon_queue_current(cts->device, &after));
	assert_ptr_equal(before, after);
	ok(tenon_commands_finish(c));
	/* it was recorded, and did not run */
	cts_get(cts, m, 3, &back, 1);
	assert_int_equal(back, cts_byte(3, 0));
	ok(tenon_queue_execute(cts->queue, c, NULL, 0, NULL));
	cts_get(cts, m, 3, &back, 1);
	assert_int_equal(back, 0x11);
	tenon_object_unref(c);

	s.records = NULL;
	s.reads = true;
	ok(tenon_commands_create(cts->device, &c));
	ok(tenon_commands_call(c, f, NULL, 0));
	fails(tenon_commands_finish(c), -TENON_E_USAGE);
	tenon_object_unref(c);
	tenon_object_unref(f);
	tenon_object_unref(m);
}

struct scalar_call {
	const char *type;
	struct tenon_value value;
	const char *bytes; /* as the kernel has to find them, little-endian */
	size_t size;
};

#define SCALAR_CALL(type, value, bytes)                                                            \
	{                                                                                          \
		type, value, bytes, sizeof(bytes) - 1                                              \
	}

static bool has_kernel(struct cts *cts, const char *name)
{
	size_t i;

	for (i = 0; i < cts->program->kernel_count; i++)
		if (tenon_slice_equal(cts->program->kernels[i].name, tenon_slice_of(name)))
			return cts_backend.code || cts->program->kernels[i].code.size;
	return false;
}

static void call_scalar(struct cts *cts, struct kernel_set *set, const struct scalar_call *s,
			const char *order)
{
	struct tenon_memory *m = cts_memory(cts, 16, 0);
	struct tenon_value data = tenon_arg_pointer(tenon_memory_data(m)), ret = tenon_arg_none();
	struct tenon_function *f;
	uint8_t back[16] = { 0 };
	char name[64];

	snprintf(name, sizeof(name), "scalar_%s%s", s->type, order);
	f = function(set, name);
	cts_set(cts, m, 0, back, 16);
	if (*order)
		ok(tenon_call(f, &ret, s->value, data));
	else
		ok(tenon_call(f, &ret, data, s->value));
	read_back(cts, m, back, 16);
	assert_memory_equal(back, s->bytes, s->size);
	assert_int_equal(back[s->size], 0);
	tenon_object_unref(f);
	tenon_object_unref(m);
}

static void a_packed_call_converts_to_every_scalar_type(struct cts *cts)
{
	const struct scalar_call calls[] = {
		SCALAR_CALL("int8", tenon_arg_int(-2), "\xfe"),
		SCALAR_CALL("uint8", tenon_arg_int(254), "\xfe"),
		SCALAR_CALL("int16", tenon_arg_int(-2), "\xfe\xff"),
		SCALAR_CALL("uint16", tenon_arg_int(0x8001), "\x01\x80"),
		SCALAR_CALL("int32", tenon_arg_int(-2), "\xfe\xff\xff\xff"),
		SCALAR_CALL("uint32", tenon_arg_int(0x80000001), "\x01\0\0\x80"),
		SCALAR_CALL("int64", tenon_arg_int(-2), "\xfe\xff\xff\xff\xff\xff\xff\xff"),
		SCALAR_CALL("uint64", tenon_arg_int(5), "\x05\0\0\0\0\0\0\0"),
		SCALAR_CALL("float16", tenon_arg_float(1.5), "\0\x3e"),
		SCALAR_CALL("bfloat16", tenon_arg_float(-2), "\0\xc0"),
		SCALAR_CALL("float32", tenon_arg_float(1.5), "\0\0\xc0\x3f"),
		SCALAR_CALL("float64", tenon_arg_int(-2), "\0\0\0\0\0\0\0\xc0"),
		SCALAR_CALL("bool", tenon_arg_int(1), "\x01"),
	};
	struct kernel_set *set = kernels(cts, "scalar_int32");
	char name[64];
	size_t i;

	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		cts_skip("the bytes are written down in little-endian order");
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		snprintf(name, sizeof(name), "scalar_%s", calls[i].type);
		if (!has_kernel(cts, name))
			continue;
		call_scalar(cts, set, &calls[i], "");
		call_scalar(cts, set, &calls[i], "_first");
	}
	kernel_set_free(set);
}

static void extents_below_one_count_as_one(struct cts *cts)
{
	struct kernel_set *set = kernels(cts, "bump");
	struct tenon_function *f = function(set, "bump");
	struct tenon_memory *m = cts_memory(cts, 8, 0);
	struct tenon_value ret = tenon_arg_none();
	int32_t zero[2] = { 0, 0 };

	cts_set(cts, m, 0, zero, 8);
	ok(tenon_call(f, &ret, tenon_arg_pointer(tenon_memory_data(m)), tenon_arg_int(0)));
	ok(tenon_call(f, &ret, tenon_arg_pointer(tenon_memory_data(m)), tenon_arg_int(-5)));
	ok(tenon_call(f, &ret, tenon_arg_pointer(tenon_memory_data(m)), tenon_arg_int(2)));
	read_back(cts, m, zero, 8);
	assert_int_equal(zero[0], 3);
	assert_int_equal(zero[1], 1);
	tenon_object_unref(f);
	kernel_set_free(set);
	tenon_object_unref(m);
}

static void shared_memory_comes_last(struct cts *cts)
{
	struct kernel_set *set = kernels(cts, "reverse");
	struct tenon_function *f = function(set, "reverse");
	struct tenon_memory *m = cts_memory(cts, 128, 0);
	struct tenon_value ret = tenon_arg_none();
	int32_t data[32];
	int i;

	for (i = 0; i < 32; i++)
		data[i] = i;
	cts_set(cts, m, 0, data, 128);
	ok(tenon_call(f, &ret, tenon_arg_pointer(tenon_memory_data(m)), tenon_arg_int(2),
		      tenon_arg_int(16), tenon_arg_int(64)));
	fails(tenon_call(f, &ret, tenon_arg_pointer(tenon_memory_data(m)), tenon_arg_int(2),
			 tenon_arg_int(16), tenon_arg_int(-1)),
	      -TENON_E_VALUE);
	assert_error_has("extent 2 of the launch is -1");
	read_back(cts, m, data, 128);
	for (i = 0; i < 32; i++)
		assert_int_equal(data[i], i / 16 * 16 + 15 - i % 16);
	tenon_object_unref(f);
	kernel_set_free(set);
	tenon_object_unref(m);
}

static void wrong_arguments_are_named(struct cts *cts)
{
	struct kernel_set *set = kernels(cts, "bump");
	struct tenon_function *f = function(set, "bump");
	struct tenon_memory *m = cts_memory(cts, 8, 0);
	struct tenon_value ret = tenon_arg_none();

	fails(tenon_call(f, &ret, tenon_arg_int(1)), -TENON_E_TYPE);
	assert_error("bump takes 1 arguments and 1 extents of its launch; 1 given");
	fails(tenon_call(f, &ret, tenon_arg_int(1), tenon_arg_int(1)), -TENON_E_TYPE);
	assert_error_has("bump: argument 0");
	fails(tenon_call(f, &ret, tenon_arg_pointer(tenon_memory_data(m)), tenon_arg_float(1)),
	      -TENON_E_TYPE);
	fails(tenon_call(f, &ret, tenon_arg_pointer(tenon_memory_data(m)),
			 tenon_arg_int(INT64_C(1) << 40)),
	      -TENON_E_VALUE);
	if (!(cts->device->properties->flags & TENON_DEVICE_ADDRESSES))
		fails(tenon_call(f, &ret, tenon_arg_none(), tenon_arg_int(1)), -TENON_E_VALUE);
	tenon_object_unref(f);
	kernel_set_free(set);
	tenon_object_unref(m);
}

/* Memory and extents by other values than host code of TVM gives. */
static void arguments_that_are_nearly_right_are_named(struct cts *cts)
{
	const bool addresses = cts->device->properties->flags & TENON_DEVICE_ADDRESSES;
	struct kernel_set *set = kernels(cts, "bump");
	struct tenon_function *f = function(set, "bump");
	struct tenon_memory *m = cts_memory(cts, 128, 0);
	struct tenon_value data = tenon_arg_pointer(tenon_memory_data(m));
	struct tenon_value ret = tenon_arg_none(), tensor;
	int64_t shape[] = { 8 };
	DLTensor t =
		tenon_dltensor(tenon_memory_data(m), shape, 1, tenon_dtype(TENON_DTYPE_INT, 32, 1));
	int32_t zero[32] = { 0 };

	cts_set(cts, m, 0, zero, 128);
	t.device = cts->device->id;
	tensor = tenon_arg_tensor(&t);
	ok(tenon_call(f, &ret, tensor, tenon_arg_bool(true)));
	t.device.device_id++;
	fails(tenon_call(f, &ret, tensor, tenon_arg_int(1)), -TENON_E_VALUE);
	assert_error_has("argument 0 lies on");
	t.device.device_id--;
	t.byte_offset = 4;
	if (addresses)
		ok(tenon_call(f, &ret, tensor, tenon_arg_int(1)));
	else
		fails(tenon_call(f, &ret, tensor, tenon_arg_int(1)), -TENON_E_VALUE);
	fails(tenon_call(f, &ret, data, tenon_arg_none()), -TENON_E_TYPE);
	fails(tenon_call(f, &ret, tenon_arg_float(1), tenon_arg_int(1)), -TENON_E_TYPE);
	/* an object of another sort */
	if (!addresses)
		fails(tenon_call(f, &ret, tenon_arg_pointer(f), tenon_arg_int(1)), -TENON_E_VALUE);
	ok(tenon_queue_sync(cts->queue, cts_soon()));
	read_back(cts, m, zero, 128);
	assert_int_equal(zero[0], 1);
	assert_int_equal(zero[1], addresses);
	tenon_object_unref(f);
	kernel_set_free(set);
	tenon_object_unref(m);
}

static void scalars_that_are_nearly_right_are_named(struct cts *cts)
{
	struct kernel_set *set = kernels(cts, "scale");
	struct tenon_function *f = function(set, "scale");
	struct tenon_memory *m = cts_memory(cts, 400, 0);
	struct tenon_value data = tenon_arg_pointer(tenon_memory_data(m));
	struct tenon_value ret = tenon_arg_none();

	fails(tenon_call(f, &ret, data, tenon_arg_string("2"), tenon_arg_int(99), tenon_arg_int(32),
			 tenon_arg_int(4)),
	      -TENON_E_TYPE);
	assert_error_has("scale: argument 1 is of type");
	fails(tenon_call(f, &ret, data, tenon_arg_float(2), tenon_arg_float(99), tenon_arg_int(32),
			 tenon_arg_int(4)),
	      -TENON_E_TYPE);
	assert_error_has("scale: argument 2 is of type");
	tenon_object_unref(f);
	kernel_set_free(set);
	tenon_object_unref(m);
}

/* A kernel is compiled before its first call, and says how it is called; other functions have nothing to say. */
static void a_kernel_is_bound_before_its_first_call(struct cts *cts)
{
	struct kernel_set *set = kernels(cts, "scale");
	struct tenon_function *f = function(set, "scale"), *other;

	ok(kernel_function_bind(f));
	assert_non_null(kernel_function_info(f));
	ok(tenon_function_find("ffi.ArraySize", &other));
	if (other) {
		ok(kernel_function_bind(other));
		assert_null(kernel_function_info(other));
	}
	tenon_object_unref(other);
	tenon_object_unref(f);
	kernel_set_free(set);
}

static void a_weak_reference_keeps_the_memory_of_a_kernel(struct cts *cts)
{
	struct kernel_set *set = kernels(cts, "scale");
	struct tenon_function *f = function(set, "scale");

	tenon_object_ref_weak(f);
	tenon_object_unref(f);
	assert_int_equal(tenon_object_promote(f), 0);
	tenon_object_unref_weak(f);
	kernel_set_free(set);
}

static void a_tensor_will_do_for_its_data(struct cts *cts)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	struct kernel_set *set;
	struct tenon_tensor *on_device = NULL, *host = NULL;
	const int64_t shape[] = { 8 };
	int i;

	set = kernels(cts, "bump");
	f = function(set, "bump");
	ok(tenon_tensor_create(shape, 1, tenon_dtype(TENON_DTYPE_INT, 32, 1), &host));
	ok(tenon_tensor_create_on(cts->device->id, shape, 1, host->dl.dtype, &on_device));
	ok(tenon_tensor_copy(&host->dl, &on_device->dl));
	ok(tenon_call(f, &ret, tenon_arg_object(on_device), tenon_arg_int(8)));
	ok(tenon_tensor_copy(&on_device->dl, &host->dl));
	for (i = 0; i < 8; i++)
		assert_int_equal(((int32_t *)host->dl.data)[i], 1);
	if (cts->device->id.device_type != kDLCPU)
		fails(tenon_call(f, &ret, tenon_arg_object(host), tenon_arg_int(8)),
		      -TENON_E_VALUE);
	tenon_object_unref(host);
	tenon_object_unref(on_device);
	tenon_object_unref(f);
	kernel_set_free(set);
}

static void a_module_of_the_kind_is_loaded_and_called(struct cts *cts)
{
	struct tenon_slice bytes = { cts->payload.data, cts->payload.size };
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f = NULL;
	struct tenon_module *module;
	int32_t data[2] = { 0, 0 };
	struct tenon_memory *m;

	if (!cts_backend.kind)
		cts_skip("the backend takes no kind of module");
	m = cts_memory(cts, 8, 0);
	ok(tenon_module_load_bytes(cts_backend.kind, bytes, &module));
	assert_true(module->properties & TENON_MODULE_RUNNABLE);
	ok(tenon_module_get_function(module, "bump", &f));
	/* the function holds its module */
	tenon_object_unref(module);
	ok(device_thread_choose(cts->device->id));
	cts_set(cts, m, 0, data, 8);
	ok(tenon_call(f, &ret, tenon_arg_pointer(tenon_memory_data(m)), tenon_arg_int(2)));
	/* … and may go while the launch is on its way */
	tenon_object_unref(f);
	read_back(cts, m, data, 8);
	assert_int_equal(data[0], 1);
	assert_int_equal(data[1], 1);
	tenon_object_unref(m);
}

const struct cts_case cts_call_cases[] = {
	CTS_CASE(a_packed_call_converts_and_launches),
	CTS_CASE(a_recorded_call_runs_with_the_memory_of_each_run),
	CTS_CASE(a_recorded_kernel_takes_no_middle_of_a_slot),
	CTS_CASE(a_part_of_what_stands_for_a_slot_is_in_the_slot),
	CTS_CASE(a_call_that_cannot_be_recorded_says_so),
	CTS_CASE(a_packed_call_converts_to_every_scalar_type),
	CTS_CASE(extents_below_one_count_as_one),
	CTS_CASE(shared_memory_comes_last),
	CTS_CASE(wrong_arguments_are_named),
	CTS_CASE(arguments_that_are_nearly_right_are_named),
	CTS_CASE(scalars_that_are_nearly_right_are_named),
	CTS_CASE(a_kernel_is_bound_before_its_first_call),
	CTS_CASE(a_weak_reference_keeps_the_memory_of_a_kernel),
	CTS_CASE(a_tensor_will_do_for_its_data),
	CTS_CASE(a_module_of_the_kind_is_loaded_and_called),
	{ NULL, NULL },
};

/* SPDX-License-Identifier: MIT */
/*
 * Relax machines put values on the right device and copy between devices. The null device is the main one: its memory is its own, and
 * the host sees it.
 */
#include "tests/unit/relax_assembler.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/backend.h>
#include <tenon/backend/memory.h>
#include <tenon/params.h>
#include <unistd.h>

#include "runtime/relax/relax_device.h"

#define NULL0                                                                                      \
	{                                                                                          \
		(DLDeviceType) TENON_DL_NULL, 0                                                    \
	}

static const DLDevice null0 = NULL0, cpu0 = { kDLCPU, 0 };
static const float numbers[4] = { 1, 2, 3, 4 };
static const float twice[4] = { 2, 4, 6, 8 };

static int on_null, on_host; /* calls of test.double by where its arguments were */

static float *see(const DLTensor *t)
{
	if (t->device.device_type == kDLCPU) {
		on_host++;
		return t->data;
	}
	on_null++;
	assert_int_equal(t->byte_offset, 0);
	return ((struct tenon_memory *)t->data)->host;
}

/* double(in, out) */
static int twice_of(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	DLTensor *in, *out;
	int i;

	(void)self;
	assert_int_equal(count, 2);
	assert_int_equal(tenon_value_tensor(&args[0], &in), 0);
	assert_int_equal(tenon_value_tensor(&args[1], &out), 0);
	for (i = 0; i < 4; i++)
		see(out)[i] = 2 * see(in)[i];
	*ret = tenon_arg_none();
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	return tenon_function_register_c("test.double", twice_of, true);
}

/* A machine for what was assembled, with the null device first. */
static struct relax_vm *machine_on(struct assembly *a, const DLDevice *devices, size_t count)
{
	struct tenon_module *x;
	struct relax_vm *vm;

	if (load_assembly(a, &x))
		fail_msg("%s", tenon_error_message());
	vm = machine_of_module(x);
	tenon_object_unref(x);
	if (relax_set_devices(vm, devices, count) || relax_init(vm))
		fail_msg("%s", tenon_error_message());
	return vm;
}

static struct tenon_tensor *tensor_of(const struct tenon_value *v)
{
	assert_int_equal(v->type, TENON_TYPE_TENSOR);
	return (struct tenon_tensor *)v->as.object;
}

/* A tensor of four floats lies on a device and holds these; released. */
static void assert_holds(struct tenon_value *v, DLDevice device, const float *want)
{
	int64_t four = 4;
	float got[4];
	DLTensor host = tenon_dltensor(got, &four, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));

	assert_int_equal(tensor_of(v)->dl.device.device_type, device.device_type);
	assert_int_equal(tensor_of(v)->dl.device.device_id, device.device_id);
	assert_int_equal(tenon_tensor_copy(&tensor_of(v)->dl, &host), 0);
	assert_memory_equal(got, want, sizeof(got));
	tenon_value_release(v);
}

static struct tenon_tensor *floats_on(DLDevice device, const float *values)
{
	int64_t four = 4;
	DLTensor host = tenon_dltensor((void *)(uintptr_t)values, &four, 1,
				       tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_tensor *t;

	assert_int_equal(tenon_tensor_create_on(device, &four, 1, host.dtype, &t), 0);
	assert_int_equal(tenon_tensor_copy(&host, &t->dl), 0);
	return t;
}

/* main(x): y = storage on device @number; double(x, y); y. The scope @words; offset in the storage. */
static void assemble_double(struct assembly *a, int64_t number, int64_t offset, const char *words)
{
	uint32_t storage = assemble_packed(a, "vm.builtin.alloc_storage");
	uint32_t tensor = assemble_packed(a, "vm.builtin.alloc_tensor");
	uint32_t doubles = assemble_packed(a, "test.double");
	uint32_t size = CONSTANT_SHAPE(a, 64), shape = CONSTANT_SHAPE(a, 4);
	uint32_t u8 = constant_dtype(a, tenon_dtype(TENON_DTYPE_UINT, 8, 1)), f = constant_f32(a);
	uint32_t scope = constant_string(a, words);

	assemble_function(a, "main", 1, 3);
	ASSEMBLE_CALL(a, 1, storage, REG(MACHINE_REG), CONST(size), IMM(number), CONST(u8),
		      CONST(scope));
	ASSEMBLE_CALL(a, 2, tensor, REG(1), IMM(offset), CONST(shape), CONST(f));
	ASSEMBLE_CALL(a, VOID_REG, doubles, REG(0), REG(2));
	assemble_ret(a, 2);
}

static void storages_lie_where_the_program_says(void **state)
{
	static const int64_t places[3] = { 0, 1, -1 };
	struct tenon_tensor *x = floats_on(null0, numbers);
	struct tenon_value ret;
	struct relax_vm *vm;
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct assembly a = ASSEMBLY_INIT;

		assemble_double(&a, places[i], 0, "global");
		vm = machine_on(&a, &null0, 1);
		assert_int_equal(vm->device_count, 2);
		/* both allocations are planned, on either device */
		assert_int_equal(vm->plan_count, 2);
		if (RUN(vm, &ret, tenon_arg_object(x)))
			fail_msg("%s", tenon_error_message());
		assert_holds(&ret, i ? cpu0 : null0, twice);
		tenon_object_unref(vm);
	}
	tenon_object_unref(x);
}

static void a_warm_machine_takes_no_device_memory(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_tensor *x = floats_on(null0, numbers);
	struct relax_pool_figures figures;
	struct tenon_value ret;
	uint64_t allocations;
	struct relax_vm *vm;
	int i;

	(void)state;
	assemble_double(&a, 0, 0, "global");
	vm = machine_on(&a, &null0, 1);
	for (i = 0; i < 8; i++) {
		assert_int_equal(RUN(vm, &ret, tenon_arg_object(x)), 0);
		assert_holds(&ret, null0, twice);
		relax_pool_figures(vm->devices[0].pool, &figures);
		if (!i)
			allocations = figures.allocations;
		assert_int_equal(figures.allocations, allocations);
		assert_int_equal(figures.storages, 0);
	}
	tenon_object_unref(x);
	tenon_object_unref(vm);
}

static void a_result_outlives_its_machine(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_tensor *x = floats_on(null0, numbers);
	struct tenon_value ret;
	struct relax_vm *vm;

	(void)state;
	assemble_double(&a, 0, 0, "global");
	vm = machine_on(&a, &null0, 1);
	assert_int_equal(RUN(vm, &ret, tenon_arg_object(x)), 0);
	tenon_object_unref(vm);
	assert_holds(&ret, null0, twice);
	tenon_object_unref(x);
}

/* It dies within a machine whose pool has the address that the pool of its own machine had. */
static void a_storage_that_dies_in_a_later_machine_goes_back_to_its_device(void **state)
{
	struct relax_pool *home, *beside, *there, *pools[64] = { NULL };
	struct tenon_device *device;
	struct relax_storage *s;
	struct relax_vm later = { 0 };
	const void *address;
	uint64_t refs;
	size_t i;

	(void)state;
	assert_int_equal(tenon_device_get(null0, &device), 0);
	assert_int_equal(relax_pool_create(&home), 0);
	/* aligned memory comes again where more of it is free */
	assert_int_equal(relax_pool_create(&beside), 0);
	refs = device->object.refs;
	assert_int_equal(relax_pool_create_on(device, home, &there), 0);
	assert_int_equal(relax_storage_create(there, 64, &s), 0);
	relax_pool_close(there);
	address = home;
	relax_pool_close(home);
	relax_pool_close(beside);
	for (i = 0; i < 64 && !later.pool; i++) {
		assert_int_equal(relax_pool_create(&pools[i]), 0);
		if (pools[i] == address)
			later.pool = pools[i];
	}
	relax_now = later.pool ? &later : NULL;
	tenon_object_unref(s);
	relax_now = NULL;
	assert_int_equal(device->object.refs, refs);
	for (i = 0; i < 64; i++)
		relax_pool_close(pools[i]);
	tenon_object_unref(device);
	if (!later.pool)
		skip();
}

static void a_tensor_within_a_storage_has_its_offset_beside_the_memory(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t storage = assemble_packed(&a, "vm.builtin.alloc_storage");
	uint32_t tensor = assemble_packed(&a, "vm.builtin.alloc_tensor");
	uint32_t plain = assemble_packed(&a, "vm.builtin.ensure_zero_offset");
	uint32_t doubles = assemble_packed(&a, "test.double");
	uint32_t size = CONSTANT_SHAPE(&a, 64), shape = CONSTANT_SHAPE(&a, 4);
	uint32_t u8 = constant_dtype(&a, tenon_dtype(TENON_DTYPE_UINT, 8, 1)), f = constant_f32(&a);
	uint32_t scope = constant_string(&a, "global");
	struct tenon_tensor *x = floats_on(null0, numbers);
	struct tenon_value ret;
	struct relax_vm *vm;

	(void)state;
	assemble_function(&a, "main", 1, 4);
	ASSEMBLE_CALL(&a, 1, storage, REG(MACHINE_REG), CONST(size), IMM(0), CONST(u8),
		      CONST(scope));
	ASSEMBLE_CALL(&a, 2, tensor, REG(1), IMM(16), CONST(shape), CONST(f));
	ASSEMBLE_CALL(&a, 3, plain, REG(2));
	ASSEMBLE_CALL(&a, VOID_REG, doubles, REG(0), REG(3));
	assemble_ret(&a, 3);
	vm = machine_on(&a, &null0, 1);
	if (RUN(vm, &ret, tenon_arg_object(x)))
		fail_msg("%s", tenon_error_message());
	assert_holds(&ret, null0, twice);
	tenon_object_unref(vm);
	tenon_object_unref(x);
}

static void refused(int64_t number, const char *scope, int status, const char *words)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_tensor *x = floats_on(null0, numbers);
	struct tenon_value ret;
	struct relax_vm *vm;

	assemble_double(&a, number, 0, scope);
	vm = machine_on(&a, &null0, 1);
	assert_int_equal(RUN(vm, &ret, tenon_arg_object(x)), status);
	assert_error_has(words);
	tenon_object_unref(vm);
	tenon_object_unref(x);
}

static void storages_elsewhere_are_refused(void **state)
{
	(void)state;
	refused(2, "global", -TENON_E_DEVICE,
		"device number 2; the virtual machine was initialised for 2");
	refused(-2, "global", -TENON_E_DEVICE, "device number -2");
	refused(0, "global.texture", -TENON_E_UNSUPPORTED, "memory of scope \"global.texture\"");
}

static void constants_are_put_on_the_main_device(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t copy = assemble_packed(&a, "vm.builtin.copy"), c = constant_tensor(&a, numbers, 4);
	struct tenon_value ret;
	struct relax_vm *vm;

	(void)state;
	assemble_function(&a, "main", 0, 1);
	ASSEMBLE_CALL(&a, 0, copy, CONST(c));
	assemble_ret(&a, 0);
	vm = machine_on(&a, &null0, 1);
	assert_int_equal(RUN(vm, &ret), 0);
	assert_holds(&ret, null0, numbers);
	tenon_object_unref(vm);
}

/* main(x): to the device @type:0 */
static struct relax_vm *mover(const DLDevice *devices, size_t count, int64_t type)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t move = assemble_packed(&a, "vm.builtin.to_device");

	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, move, REG(0), IMM(type), IMM(0));
	assemble_ret(&a, 1);
	return machine_on(&a, devices, count);
}

static void to_device_copies_both_ways(void **state)
{
	struct tenon_tensor *there = floats_on(null0, numbers), *here = floats_on(cpu0, numbers);
	struct relax_vm *to = mover(&null0, 1, TENON_DL_NULL), *from = mover(&null0, 1, kDLCPU);
	/* a device that is not the machine's */
	struct relax_vm *away = mover(NULL, 0, TENON_DL_NULL);
	struct tenon_value ret;

	(void)state;
	assert_int_equal(RUN(to, &ret, tenon_arg_object(here)), 0);
	assert_holds(&ret, null0, numbers);
	assert_int_equal(RUN(to, &ret, tenon_arg_object(there)), 0);
	assert_ptr_equal(ret.as.object, there);
	tenon_value_release(&ret);
	assert_int_equal(RUN(from, &ret, tenon_arg_object(there)), 0);
	assert_holds(&ret, cpu0, numbers);
	assert_int_equal(RUN(away, &ret, tenon_arg_object(here)), 0);
	assert_holds(&ret, null0, numbers);
	tenon_object_unref(to);
	tenon_object_unref(from);
	tenon_object_unref(away);
	tenon_object_unref(there);
	tenon_object_unref(here);
}

static struct relax_vm *reader(const char *builtin)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t f = assemble_packed(&a, builtin);

	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, f, REG(0));
	assemble_ret(&a, 1);
	return machine_on(&a, &null0, 1);
}

static void numbers_on_a_device_are_read_by_the_host(void **state)
{
	struct relax_vm *condition = reader("vm.builtin.read_if_cond");
	struct relax_vm *shape = reader("vm.builtin.tensor_to_shape");
	struct relax_vm *shape_of = reader("vm.builtin.shape_of");
	int64_t three[] = { 3 };
	int32_t extents[3] = { 5, 6, 7 };
	bool yes = true;
	DLTensor e = tenon_dltensor(extents, three, 1, tenon_dtype(TENON_DTYPE_INT, 32, 1));
	DLTensor y = tenon_dltensor(&yes, NULL, 0, tenon_dtype(TENON_DTYPE_BOOL, 8, 1));
	struct tenon_tensor *on_device;
	struct tenon_value ret;

	(void)state;
	assert_int_equal(relax_tensor_move(NULL, &e, null0, &on_device), 0);
	assert_int_equal(RUN(shape, &ret, tenon_arg_object(on_device)), 0);
	assert_int_equal(((struct tenon_shape *)ret.as.object)->data[2], 7);
	tenon_value_release(&ret);
	assert_int_equal(RUN(shape_of, &ret, tenon_arg_object(on_device)), 0);
	assert_int_equal(((struct tenon_shape *)ret.as.object)->data[0], 3);
	tenon_value_release(&ret);
	tenon_object_unref(on_device);
	assert_int_equal(relax_tensor_move(NULL, &y, null0, &on_device), 0);
	assert_int_equal(RUN(condition, &ret, tenon_arg_object(on_device)), 0);
	assert_int_equal(ret.as.integer, 1);
	tenon_object_unref(on_device);
	tenon_object_unref(condition);
	tenon_object_unref(shape);
	tenon_object_unref(shape_of);
}

/* ---- from outside */

static int call_function(struct relax_vm *vm, const char *name, struct tenon_value *ret,
			 const struct tenon_value *args, int32_t count)
{
	struct tenon_function *f;
	int err;

	*ret = tenon_arg_none();
	assert_int_equal(tenon_module_get_function(&vm->module, name, &f), 0);
	err = tenon_function_call(f, args, count, ret);
	tenon_object_unref(f);
	return err;
}

#define CALLED(vm, name, ret, ...)                                                                 \
	call_function(vm, name, ret, (const struct tenon_value[]){ __VA_ARGS__ },                  \
		      sizeof((const struct tenon_value[]){ __VA_ARGS__ }) /                        \
			      sizeof(struct tenon_value))

static void inputs_that_are_set_go_to_the_main_device(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_tensor *x = floats_on(cpu0, numbers);
	struct tenon_value ret, null_type = tenon_arg_int(TENON_DL_NULL), zero = tenon_arg_int(0);
	struct tenon_module *module;
	struct relax_vm *vm;

	(void)state;
	assemble_double(&a, 0, 0, "global");
	assert_int_equal(load_assembly(&a, &module), 0);
	vm = machine_of_module(module);
	tenon_object_unref(module);
	if (CALLED(vm, "vm_initialization", &ret, null_type, zero, tenon_arg_int(2),
		   tenon_arg_int(1), zero, tenon_arg_int(2)))
		fail_msg("%s", tenon_error_message());
	on_host = on_null = 0;
	assert_int_equal(
		CALLED(vm, "set_input", &ret, tenon_arg_string("main"), tenon_arg_object(x)), 0);
	assert_int_equal(CALLED(vm, "invoke_stateful", &ret, tenon_arg_string("main")), 0);
	assert_int_equal(CALLED(vm, "get_output", &ret, tenon_arg_string("main")), 0);
	assert_holds(&ret, null0, twice);
	assert_int_equal(on_host, 0);
	assert_int_equal(on_null, 8);

	/* the same devices again are no change, others are */
	assert_int_equal(CALLED(vm, "vm_initialization", &ret, null_type, zero, tenon_arg_int(2)),
			 0);
	assert_int_equal(
		CALLED(vm, "vm_initialization", &ret, tenon_arg_int(1), zero, tenon_arg_int(2)),
		-TENON_E_USAGE);
	assert_error_has("initialised for other devices before");
	assert_int_equal(
		CALLED(vm, "vm_initialization", &ret, tenon_arg_int(-1), zero, tenon_arg_int(2)),
		-TENON_E_VALUE);
	tenon_error_clear();
	tenon_object_unref(x);
	tenon_object_unref(vm);
}

static void tuples_that_are_set_go_there_too(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t item = assemble_packed(&a, "vm.builtin.tuple_getitem");
	struct tenon_tensor *x = floats_on(cpu0, numbers);
	struct tenon_value v[2] = { tenon_arg_int(3), tenon_arg_object(x) }, ret;
	struct tenon_array *tuple;
	struct relax_vm *vm;

	(void)state;
	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, item, REG(0), IMM(1));
	assemble_ret(&a, 1);
	vm = machine_on(&a, &null0, 1);
	assert_int_equal(tenon_array_create(v, 2, &tuple), 0);
	if (CALLED(vm, "set_input", &ret, tenon_arg_string("main"), tenon_arg_object(tuple)))
		fail_msg("%s", tenon_error_message());
	assert_int_equal(CALLED(vm, "invoke_stateful", &ret, tenon_arg_string("main")), 0);
	assert_int_equal(CALLED(vm, "get_output", &ret, tenon_arg_string("main")), 0);
	assert_holds(&ret, null0, numbers);
	tenon_object_unref(tuple);
	tenon_object_unref(x);
	tenon_object_unref(vm);
}

struct visit {
	struct relax_vm *vm;
	struct tenon_tensor *x;
	struct tenon_value ret;
	int err;
};

static void *run_there(void *context)
{
	struct visit *v = context;

	v->err = RUN(v->vm, &v->ret, tenon_arg_object(v->x));
	return NULL;
}

static void a_machine_goes_from_thread_to_thread(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct visit v = { .x = floats_on(null0, numbers) };
	pthread_t thread;
	int i;

	(void)state;
	assemble_double(&a, 0, 0, "global");
	v.vm = machine_on(&a, &null0, 1);
	for (i = 0; i < 4; i++) {
		assert_int_equal(pthread_create(&thread, NULL, run_there, &v), 0);
		pthread_join(thread, NULL);
		assert_int_equal(v.err, 0);
		/* dies here, is used again there */
		assert_holds(&v.ret, null0, twice);
		run_there(&v);
		assert_int_equal(v.err, 0);
		assert_holds(&v.ret, null0, twice);
	}
	tenon_object_unref(v.vm);
	tenon_object_unref(v.x);
}

/* ---- behind the face of models */

static struct tenon_model *open_model(const DLDevice *devices, size_t count)
{
	struct tenon_model_options o = { .size = sizeof(o),
					 .devices = devices,
					 .device_count = count };
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_module *x;
	struct tenon_model *model;

	assemble_double(&a, 0, 0, "global");
	assert_int_equal(load_assembly(&a, &x), 0);
	if (tenon_model_open(x, &o, &model))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(x);
	return model;
}

static void a_model_copies_its_inputs_to_the_device(void **state)
{
	struct tenon_model *model = open_model(&null0, 1);
	struct tenon_tensor *here = floats_on(cpu0, numbers), *there = floats_on(null0, numbers);
	struct tenon_value v = tenon_arg_object(here), ret;

	(void)state;
	assert_int_equal(tenon_model_set_input(model, 0, &v), 0);
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(tenon_model_output_value(model, 0, &ret), 0);
	assert_holds(&ret, null0, twice);
	assert_int_equal(tenon_model_bind_input(model, 0, here), -TENON_E_DEVICE);
	assert_error_has("a tensor on cpu:0; the model runs on ");
	assert_int_equal(tenon_model_bind_input(model, 0, there), 0);
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(tenon_model_output_value(model, 0, &ret), 0);
	assert_holds(&ret, null0, twice);
	tenon_object_unref(here);
	tenon_object_unref(there);
	tenon_model_close(model);
}

#ifdef CONFIG_INSPECT
static void a_model_copies_parameters_of_a_file_to_the_device(void **state)
{
	struct tenon_model *model = open_model(&null0, 1);
	struct tenon_param p = { 0 };
	struct tenon_params *params;
	const char *tmp = getenv("TMPDIR");
	char path[512];
	float data[4];
	int64_t extent = 4;
	struct tenon_port port;
	struct tenon_value ret;
	int fd;

	(void)state;
	memcpy(data, numbers, sizeof(data));
	assert_int_equal(tenon_model_input(model, 0, &port), 0);
	p.name = port.name;
	p.bytes = sizeof(data);
	p.tensor = tenon_dltensor(data, &extent, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	snprintf(path, sizeof(path), "%s/relax-params-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(tenon_params_write(path, &p, 1, 128), 0);
	assert_int_equal(tenon_params_open(path, &params), 0);
	if (tenon_model_set_params(model, params))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(params);
	unlink(path);
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(tenon_model_output_value(model, 0, &ret), 0);
	assert_holds(&ret, null0, twice);
	tenon_model_close(model);
}
#endif

static void a_device_that_is_not_there_is_told(void **state)
{
	static const DLDevice nothing = { (DLDeviceType)99, 0 };
	struct tenon_model_options o = { .size = sizeof(o),
					 .devices = &nothing,
					 .device_count = 1 };
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_model *model;
	struct tenon_module *x;

	(void)state;
	assemble_double(&a, 0, 0, "global");
	assert_int_equal(load_assembly(&a, &x), 0);
	assert_int_equal(tenon_model_open(x, &o, &model), -TENON_E_DEVICE);
	assert_error_has("no device");
	tenon_object_unref(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(storages_lie_where_the_program_says),
		cmocka_unit_test(a_warm_machine_takes_no_device_memory),
		cmocka_unit_test(a_result_outlives_its_machine),
		cmocka_unit_test(a_storage_that_dies_in_a_later_machine_goes_back_to_its_device),
		cmocka_unit_test(a_tensor_within_a_storage_has_its_offset_beside_the_memory),
		cmocka_unit_test(storages_elsewhere_are_refused),
		cmocka_unit_test(constants_are_put_on_the_main_device),
		cmocka_unit_test(to_device_copies_both_ways),
		cmocka_unit_test(numbers_on_a_device_are_read_by_the_host),
		cmocka_unit_test(inputs_that_are_set_go_to_the_main_device),
		cmocka_unit_test(tuples_that_are_set_go_there_too),
		cmocka_unit_test(a_machine_goes_from_thread_to_thread),
		cmocka_unit_test(a_model_copies_its_inputs_to_the_device),
#ifdef CONFIG_INSPECT
		cmocka_unit_test(a_model_copies_parameters_of_a_file_to_the_device),
#endif
		cmocka_unit_test(a_device_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests_name("vm devices", tests, set_up, NULL);
}

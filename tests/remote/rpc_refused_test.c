/* SPDX-License-Identifier: MIT */
/* What our client refuses by itself, with the reason: values, devices and models that a server cannot have. */
#include "tests/remote/rpc_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/array.h>
#include <tenon/backend/buffer.h>
#include <tenon/model.h>
#include <tenon/remote.h>
#include <tenon/string.h>
#include <unistd.h>

#include "rpc/client/rpc.h"

#define D18 "tests/interop/data/tvm-0.18/"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- values */

static int returns_none(void *self, const struct tenon_value *args, int32_t count,
			struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	(void)ret;
	return 0;
}

static void values_of_this_process_are_not_sent(void **state)
{
	static struct tenon_value many[70000];
	struct tenon_function *f = function("test.echo"), *local;
	int64_t shape[] = { 2, 2 }, strides[] = { 1, 2 };
	float numbers[4] = { 0 };
	DLTensor host = tenon_dltensor(numbers, shape, 2, tenon_dtype(kDLFloat, 32, 1));
	struct tenon_value ret = tenon_arg_none(), item = tenon_arg_int(1);
	struct tenon_array *array;

	(void)state;
	assert_int_equal(tenon_function_create(NULL, returns_none, NULL, &local), 0);
	assert_int_equal(tenon_array_create(&item, 1, &array), 0);
	assert_int_not_equal(tenon_call(f, &ret, tenon_arg_object(local)), 0);
	assert_error_has("a function of this process");
	assert_int_not_equal(tenon_call(f, &ret, tenon_arg_object(array)), 0);
	assert_error_has("only those of the session's server");
	assert_int_not_equal(tenon_call(f, &ret, tenon_arg_pointer(&ret)), 0);
	assert_error_has("an address of this process");
	/* no address is none */
	assert_int_equal(tenon_call(f, &ret, tenon_arg_pointer(NULL)), 0);
	tenon_value_release(&ret);
	assert_int_not_equal(tenon_call(f, &ret, tenon_arg_device((DLDevice){ 77 * 128 + 1, 0 })),
			     0);
	assert_error_has("none of the session");
	assert_int_not_equal(tenon_call(f, &ret, tenon_arg_tensor(&host)), 0);
	host.strides = strides;
	assert_int_not_equal(tenon_call(f, &ret, tenon_arg_tensor(&host)), 0);
	for (size_t i = 0; i < COUNT(many); i++)
		many[i] = tenon_arg_int(1);
	assert_int_not_equal(tenon_function_call(f, many, COUNT(many), &ret), 0);
	assert_error_has("arguments");
	/* it is no function of the server that could be posted */
	assert_int_not_equal(tenon_remote_post(session.remote, local, &item, 1), 0);
	/* none of these has ended the session */
	check_echo(f, tenon_arg_int(5));
	tenon_object_unref(array);
	tenon_object_unref(local);
	tenon_object_unref(f);
}

static void files_that_cannot_be_read_are_not_sent(void **state)
{
	char pipe[4100];
	bool sent;

	(void)state;
	snprintf(pipe, sizeof(pipe), "%s/pipe", session.folder);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_not_equal(tenon_remote_send_file(session.remote, "/no/such/file", NULL, &sent),
			     0);
	assert_error_has("/no/such/file");
	assert_int_not_equal(tenon_remote_send_file(session.remote, session.folder, "name", &sent),
			     0);
	assert_error_has(session.folder);
	assert_int_not_equal(tenon_remote_send_file(session.remote, pipe, NULL, NULL), 0);
	assert_error_has("pipe");
	assert_int_equal(tenon_remote_ping(session.remote), 0);
}

/* ---- devices */

static void names_that_are_no_device_of_a_server_are_refused(void **state)
{
	static const struct {
		const char *name, *words;
	} names[] = {
		{ "rpc:///cpu:0", "is named like rpc://HOST:PORT/opencl:0" },
		{ "rpc://127.0.0.1:9/cpu:0?colour=red", "rpc has no option \"colour\"" },
		{ "rpc://127.0.0.1:9/cpu:0?timeout=1234567890123456789012345678901234567890",
		  "timeout= has 40 bytes" },
		{ "rpc://127.0.0.1:9/other:0?key=a&key=b", "other" },
		{ "rpc://127.0.0.1:x/cpu:0", "127.0.0.1:x" },
	};
	struct tenon_device *d;
	int wrong = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		if (!tenon_device_open(names[i].name, &d) || !message_has(names[i].words)) {
			print_error("%s: want \"%s\" in: %s\n", names[i].name, names[i].words,
				    tenon_error_message());
			wrong++;
		}
		tenon_error_clear();
	}
	assert_int_equal(wrong, 0);
}

static void devices_that_the_server_lacks_are_refused(void **state)
{
	static const DLDevice cuda = { kDLCUDA, 55 }, processor = { kDLCPU, 3 }, other = { 99, 0 };
	struct tenon_device *d = NULL;
	struct tenon_value value;

	(void)state;
	assert_int_not_equal(tenon_remote_device(session.remote, cuda, &d), 0);
	assert_error_has("has no device");
	/* there are as many processors as a client names */
	assert_int_equal(tenon_remote_device(session.remote, processor, &d), 0);
	tenon_object_unref(d);
	assert_int_not_equal(tenon_remote_attribute(session.remote, other, 0, &value), 0);
	assert_int_equal(tenon_remote_ping(session.remote), 0);
}

/* ---- models */

static struct tenon_model *open_model(const char *file, const char *name,
				      struct tenon_module **module)
{
	const DLDevice device = tenon_device_id(session.cpu);
	const struct tenon_model_options o = {
		.size = sizeof(o), .function = name, .devices = &device, .device_count = 1
	};
	struct tenon_model *m;

	if (tenon_remote_open(session.remote, file, module)) {
#ifdef __x86_64__
		fail_msg("%s", tenon_error_message());
#endif
		/* the files are for x86-64 */
		print_message("# %s\n", tenon_error_message());
		tenon_error_clear();
		skip();
	}
	assert_int_equal(tenon_remote_open_model(session.remote, *module, &o, &m), 0);
	return m;
}

/* what goes wrong with inputs of one row of 32 float32 */
static void give_wrong_inputs(struct tenon_model *m)
{
	float numbers[64] = { 0 };
	int64_t row[] = { 1, 32, 1 }, other[] = { 1, 31 };
	DLTensor t = tenon_dltensor(numbers, row, 2, tenon_dtype(kDLInt, 32, 1));
	struct tenon_value value = tenon_arg_tensor(&t);

	assert_false(tenon_model_input_is_set(m, 0));
	assert_int_not_equal(tenon_model_run(m), 0);
	assert_error_has("input");
	assert_int_equal(tenon_model_set_input(m, 0, &value), -TENON_E_TYPE);
	assert_error_has("the input is of float32, given is int32");
	t = tenon_dltensor(numbers, row, 3, tenon_dtype(kDLFloat, 32, 1));
	assert_int_equal(tenon_model_set_input(m, 0, &value), -TENON_E_VALUE);
	assert_error_has("the input has 2 dimensions, given are 3");
	t = tenon_dltensor(numbers, other, 2, t.dtype);
	assert_int_equal(tenon_model_set_input(m, 0, &value), -TENON_E_VALUE);
	assert_error_has("dimension 1 of the input is 32, given is 31");
	assert_false(tenon_model_input_is_set(m, 0));
}

/* The second time, the tensor on the server is used again. */
static void run_twice(struct tenon_model *m)
{
	float in[32] = { 1 }, out[2][10];
	int64_t row[] = { 1, 32 }, reply[] = { 1, 10 };
	DLTensor from = tenon_dltensor(in, row, 2, tenon_dtype(kDLFloat, 32, 1)), *there;
	struct tenon_value value;

	for (int i = 0; i < 2; i++) {
		DLTensor to = tenon_dltensor(out[i], reply, 2, from.dtype);

		value = tenon_arg_tensor(&from);
		assert_int_equal(tenon_model_set_input(m, 0, &value), 0);
		assert_true(tenon_model_input_is_set(m, 0));
		assert_int_equal(tenon_model_run(m), 0);
		value = tenon_arg_none();
		assert_int_equal(tenon_model_output_value(m, 0, &value), 0);
		assert_int_equal(tenon_value_tensor(&value, &there), 0);
		assert_int_equal(tenon_tensor_copy(there, &to), 0);
		tenon_value_release(&value);
	}
	assert_memory_equal(out[0], out[1], sizeof(out[0]));
}

static int count_op(void *context, size_t index, const struct tenon_op *op)
{
	(void)index;
	(void)op;
	++*(int *)context;
	return 0;
}

static void inputs_of_a_model_are_checked_before_they_are_sent(void **state)
{
	static const struct {
		const char *file, *function;
	} models[] = { { D18 "graph_mlp/graph.so", NULL },
		       { D18 "relax_mlp/vm.so", NULL },
		       { D18 "aot_mlp/aot_packed.so", NULL } };
	const struct tenon_remote_timing timing = { .size = sizeof(timing),
						    .number = 1,
						    .repeat = 1 };
	struct tenon_buffer seconds = TENON_BUFFER_INIT;
	struct tenon_model_memory memory;
	struct tenon_module *module;
	struct tenon_port port;

	(void)state;
	for (size_t i = 0; i < COUNT(models); i++) {
		struct tenon_model *m = open_model(models[i].file, models[i].function, &module);
		size_t index;
		int ops = 0;

		assert_int_equal(tenon_model_input(m, 0, &port), 0);
		assert_int_equal(tenon_model_find_input(m, port.name, &index), 0);
		assert_int_equal(index, 0);
		assert_int_not_equal(tenon_model_find_input(m, tenon_slice_of("other"), &index), 0);
		assert_int_not_equal(tenon_remote_time_model(session.remote, m, &timing, &seconds),
				     0);
		give_wrong_inputs(m);
		run_twice(m);
		tenon_model_memory(m, &memory);
		/* a graph has a list of operators */
		assert_true(!tenon_model_each_op(m, count_op, &ops) == (ops > 0));
		tenon_error_clear();
		assert_int_not_equal(tenon_model_output(m, 99, &port), 0);
		tenon_model_close(m);
		tenon_object_unref(module);
	}
	tenon_buffer_fini(&seconds);
}

static void modules_that_are_no_model_of_the_session_are_refused(void **state)
{
	const struct tenon_remote_timing timing = { .size = sizeof(timing),
						    .number = 1,
						    .repeat = 1 };
	struct tenon_model_options o = { .size = sizeof(o), .function = "other" };
	DLDevice many[40];
	struct tenon_buffer seconds = TENON_BUFFER_INIT;
	struct tenon_module *module, *there, *here;
	struct tenon_model *m, *local;
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f = function("test.echo"), *inner;

	(void)state;
	m = open_model(D18 "relax_mlp/vm.so", NULL, &module);
	tenon_model_close(m);
	assert_int_not_equal(tenon_remote_open_model(session.remote, module, &o, &m), 0);
	assert_error_has("other");
	for (size_t i = 0; i < COUNT(many); i++)
		many[i] = tenon_device_id(session.cpu);
	o = (struct tenon_model_options){ .size = sizeof(o),
					  .devices = many,
					  .device_count = COUNT(many) };
	assert_int_equal(tenon_remote_open_model(session.remote, module, &o, &m), -TENON_E_VALUE);
	assert_error_has("40 devices, at most");
	/* only its name is known here */
	assert_int_equal(tenon_remote_load(session.remote, "vm.so", &there), 0);
	assert_int_equal(tenon_remote_open_model(session.remote, there, NULL, &m),
			 -TENON_E_UNSUPPORTED);
	assert_error_has("was not opened from a file here");
	assert_int_not_equal(tenon_module_get_function(there, "no_such_function", &inner), 0);
	tenon_object_unref(there);
	assert_int_equal(tenon_module_load(D18 "relax_mlp/vm.so", &here), 0);
	assert_int_equal(tenon_model_open(here, NULL, &local), 0);
	assert_int_equal(tenon_remote_time_model(session.remote, local, &timing, &seconds),
			 -TENON_E_TYPE);
	assert_error_has("the model is none of this session");
	assert_int_not_equal(tenon_call(f, &ret, tenon_arg_object(here)), 0);
	assert_error_has("a module of this process");
	assert_int_not_equal(tenon_remote_time(session.remote, here, "main", rpc_cpu(), &timing,
					       NULL, 0, &seconds),
			     0);
	tenon_buffer_fini(&seconds);
	tenon_model_close(local);
	tenon_object_unref(here);
	tenon_object_unref(module);
	tenon_object_unref(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(values_of_this_process_are_not_sent),
		BOTH(files_that_cannot_be_read_are_not_sent),
		cmocka_unit_test(names_that_are_no_device_of_a_server_are_refused),
		BOTH(devices_that_the_server_lacks_are_refused),
		BOTH(inputs_of_a_model_are_checked_before_they_are_sent),
		BOTH(modules_that_are_no_model_of_the_session_are_refused),
	};

	return cmocka_run_group_tests(tests, register_functions, NULL);
}

/* SPDX-License-Identifier: MIT */
/* What a client asks of a session, of suites that disturb it: values, objects, files, a device, a module and models. */
#include "tests/remote/rpc_asks.h"

#include <tenon/memory.h>
#include <tenon/remote.h>

#include "rpc/client/rpc.h"
#include "tests/nomem/deed_fact.h"
#include "tests/remote/rpc_session.h"

#define D18   "tests/interop/data/tvm-0.18/"
#define D27   "tests/interop/data/tvm-0.27.0.post1/"
#define COUNT 128

/* A function that is not there is an error here, not NULL. */
static int find(const char *name, struct tenon_function **out)
{
	int err = tenon_remote_function(session.remote, name, out);

	return err || *out ? err : tenon_error(-TENON_E_VALUE, "no function %s", name);
}

static int echo_all(uint64_t *facts)
{
	const struct tenon_slice bytes = { "\1\2\3", 3 };
	const struct tenon_value values[] = {
		tenon_arg_none(),
		tenon_arg_int(7),
		tenon_arg_float(1.5),
		tenon_arg_string("a text that is too long to be kept within a value"),
		tenon_arg_bytes(&bytes),
		tenon_arg_dtype(tenon_dtype(kDLFloat, 32, 4)),
	};
	struct tenon_function *f = NULL;
	struct tenon_value back;
	size_t i;
	int err = find("test.echo", &f);

	for (i = 0; !err && i < sizeof(values) / sizeof(values[0]); i++) {
		back = tenon_arg_none();
		err = tenon_call(f, &back, values[i]);
		if (!err && !tenon_value_equal(&values[i], &back))
			deed_fact(facts, "another", 7);
		tenon_value_release(&back);
	}
	err = err ? err : tenon_remote_post(session.remote, f, values, 2);
	err = err ? err : tenon_remote_wait(session.remote);
	tenon_object_unref(f);
	return err;
}

/* objects that stay on the server, and one of them in a call */
static int make_all(void)
{
	static const char *const kinds[] = { "function", "array", "tensor" };
	struct tenon_function *make = NULL, *echo = NULL;
	struct tenon_value made, back;
	size_t i;
	int err = find("test.make", &make);

	err = err ? err : find("test.echo", &echo);
	for (i = 0; !err && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		made = tenon_arg_none();
		back = tenon_arg_none();
		err = tenon_call(make, &made, tenon_arg_string(kinds[i]));
		/* a function cannot keep a tensor that it is lent */
		if (!err && i < 2)
			err = tenon_call(echo, &back, made);
		tenon_value_release(&back);
		tenon_value_release(&made);
	}
	tenon_object_unref(echo);
	tenon_object_unref(make);
	return err;
}

static int use_files(uint64_t *facts)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_slice text = tenon_slice_of("content");
	bool sent;
	int err = tenon_remote_upload(session.remote, "name", text);

	err = err ? err
		  : tenon_remote_send_file(session.remote, D18 "graph_mlp/in_x.npy", NULL, &sent);
	err = err ? err
		  : tenon_remote_send_file(session.remote, D18 "graph_mlp/in_x.npy", NULL, &sent);
	err = err ? err : tenon_remote_download(session.remote, "name", &b);
	err = err ? err : tenon_remote_list_functions(session.remote, &b);
	if (!err)
		deed_fact(facts, b.data, 7);
	err = err ? err : tenon_remote_list_files(session.remote, NULL, &b);
	err = err ? err : tenon_remote_remove(session.remote, "name");
	tenon_buffer_fini(&b);
	return err;
}

int rpc_ask_device(uint64_t *facts)
{
	struct tenon_value value = tenon_arg_none();
	int err = tenon_remote_attribute(session.remote, rpc_cpu(), TENON_ATTRIBUTE_EXISTS, &value);

	if (!err)
		deed_fact(facts, &value.as.integer, sizeof(value.as.integer));
	tenon_value_release(&value);
	err = err ? err : tenon_remote_sync(session.remote, rpc_cpu());
	return err ? err : tenon_remote_ping(session.remote);
}

static int call_vecadd(struct tenon_module *module, struct tenon_tensor *t[3], uint64_t *facts)
{
	static float numbers[COUNT] = { 1, 2, 3 };
	const struct tenon_remote_timing timing = { .size = sizeof(timing),
						    .number = 1,
						    .repeat = 2 };
	int64_t shape[] = { COUNT };
	DLTensor host = tenon_dltensor(numbers, shape, 1, tenon_dtype(kDLFloat, 32, 1));
	struct tenon_buffer seconds = TENON_BUFFER_INIT;
	struct tenon_function *f = NULL;
	struct tenon_value args[3], ret = tenon_arg_none();
	int i, err = 0;

	for (i = 0; !err && i < 3; i++) {
		err = tenon_tensor_create_on(tenon_device_id(session.cpu), shape, 1, host.dtype,
					     &t[i]);
		err = err ? err : tenon_tensor_copy(&host, &t[i]->dl);
		args[i] = tenon_arg_object(t[i]);
	}
	err = err ? err : tenon_module_get_function(module, "vecadd", &f);
	err = err ? err : tenon_function_call(f, args, 3, &ret);
	err = err ? err : tenon_tensor_copy(&t[2]->dl, &t[0]->dl);
	err = err ? err : tenon_tensor_copy(&t[0]->dl, &host);
	if (!err)
		deed_fact(facts, numbers, sizeof(numbers));
	memcpy(numbers, (float[]){ 1, 2, 3 }, sizeof(float[3]));
	err = err ? err
		  : tenon_remote_time(session.remote, module, "vecadd", rpc_cpu(), &timing, args, 3,
				      &seconds);
	tenon_buffer_fini(&seconds);
	tenon_value_release(&ret);
	tenon_object_unref(f);
	return err;
}

static int use_module(uint64_t *facts)
{
	struct tenon_tensor *t[3] = { NULL, NULL, NULL };
	struct tenon_module *module = NULL;
	int i, err = tenon_remote_open(session.remote, D27 "host_vecadd/lib.so", &module);

	err = err ? err : call_vecadd(module, t, facts);
	for (i = 0; i < 3; i++)
		tenon_object_unref(t[i]);
	tenon_object_unref(module);
	return err;
}

static int run_model(struct tenon_model *model, uint64_t *facts)
{
	const struct tenon_remote_timing timing = { .size = sizeof(timing),
						    .number = 1,
						    .repeat = 1 };
	struct tenon_buffer seconds = TENON_BUFFER_INIT;
	struct tenon_value value = tenon_arg_none();
	float in[32] = { 1 }, out[10];
	int64_t in_shape[] = { 1, 32 }, out_shape[] = { 1, 10 };
	DLTensor from = tenon_dltensor(in, in_shape, 2, tenon_dtype(kDLFloat, 32, 1));
	DLTensor to = tenon_dltensor(out, out_shape, 2, from.dtype), *there;
	int err;

	value = tenon_arg_tensor(&from);
	err = tenon_model_set_input(model, 0, &value);
	value = tenon_arg_none();
	err = err ? err : tenon_model_run(model);
	err = err ? err : tenon_model_output_value(model, 0, &value);
	err = err ? err : tenon_value_tensor(&value, &there);
	err = err ? err : tenon_tensor_copy(there, &to);
	if (!err)
		deed_fact(facts, out, sizeof(out));
	tenon_value_release(&value);
	err = err ? err : tenon_remote_time_model(session.remote, model, &timing, &seconds);
	tenon_buffer_fini(&seconds);
	return err;
}

static int use_model(const char *file, const char *function, uint64_t *facts)
{
	const DLDevice device = tenon_device_id(session.cpu);
	const struct tenon_model_options options = {
		.size = sizeof(options), .function = function, .devices = &device, .device_count = 1
	};
	struct tenon_module *module = NULL;
	struct tenon_model *model = NULL;
	int err = tenon_remote_open(session.remote, file, &module);

	err = err ? err : tenon_remote_open_model(session.remote, module, &options, &model);
	err = err ? err : run_model(model, facts);
	tenon_model_close(model);
	tenon_object_unref(module);
	return err;
}

int rpc_ask_all(uint64_t *facts)
{
	int err = rpc_ask_device(facts);

	err = err ? err : echo_all(facts);
	err = err ? err : make_all();
	err = err ? err : use_files(facts);
	return err ? err : use_module(facts);
}

int rpc_run_models(uint64_t *facts)
{
	int err = use_model(D18 "graph_mlp/graph.so", NULL, facts);

	err = err ? err : use_model(D18 "aot_mlp/aot_packed.so", NULL, facts);
	return err ? err : use_model(D18 "relax_mlp/vm.so", "main", facts);
}

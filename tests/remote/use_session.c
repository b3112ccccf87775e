/* SPDX-License-Identifier: MIT */
/* Ask a session for everything that a client can, whatever it answers. */
#include "tests/remote/use_session.h"

#include <tenon/buffer.h>
#include <tenon/memory.h>
#include <tenon/module.h>
#include <tenon/tensor.h>

#include "rpc/client/rpc.h"

static void call(struct tenon_remote *remote, const char *name, struct tenon_value argument)
{
	struct tenon_function *f = NULL;
	struct tenon_value ret = tenon_arg_none();

	if (tenon_remote_function(remote, name, &f) || !f)
		return;
	if (!tenon_call(f, &ret, argument))
		tenon_value_release(&ret);
	tenon_remote_post(remote, f, &argument, 1);
	tenon_object_unref(f);
}

static void copy(struct tenon_remote *remote)
{
	int64_t shape[] = { 4 };
	float numbers[4] = { 1, 2, 3, 4 };
	DLTensor host = tenon_dltensor(numbers, shape, 1, tenon_dtype(kDLFloat, 32, 1));
	struct tenon_device *cpu;
	struct tenon_tensor *tensor;

	if (tenon_remote_device(remote, rpc_cpu(), &cpu))
		return;
	if (!tenon_tensor_create_on(tenon_device_id(cpu), shape, 1, host.dtype, &tensor)) {
		if (!tenon_tensor_copy(&host, &tensor->dl))
			tenon_tensor_copy(&tensor->dl, &host);
		tenon_object_unref(tensor);
	}
	tenon_object_unref(cpu);
}

static void load(struct tenon_remote *remote)
{
	struct tenon_module *module;
	struct tenon_function *f = NULL;

	if (tenon_remote_load(remote, "x", &module))
		return;
	if (!tenon_module_get_function(module, "f", &f))
		tenon_object_unref(f);
	tenon_object_unref(module);
}

static void use_files(struct tenon_remote *remote)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_remote_timing timing = { .size = sizeof(timing), .number = 1, .repeat = 2 };

	tenon_remote_upload(remote, "x", (struct tenon_slice){ "abc", 3 });
	tenon_remote_download(remote, "x", &b);
	tenon_remote_list_files(remote, NULL, &b);
	tenon_remote_list_functions(remote, &b);
	tenon_remote_remove(remote, "x");
	tenon_remote_time(remote, NULL, "f", rpc_cpu(), &timing, NULL, 0, &b);
	tenon_buffer_fini(&b);
}

static void ask(struct tenon_remote *remote)
{
	struct tenon_value value;

	if (!tenon_remote_attribute(remote, rpc_cpu(), 5, &value))
		tenon_value_release(&value);
	tenon_remote_ping(remote);
	tenon_remote_wait(remote);
}

static void act(struct tenon_remote *remote, unsigned int action)
{
	switch (action) {
	case 0:
		call(remote, "echo", tenon_arg_string("text"));
		break;
	case 1:
		copy(remote);
		break;
	case 2:
		load(remote);
		break;
	case 3:
		use_files(remote);
		break;
	case 4:
		ask(remote);
		break;
	case 5:
		call(remote, "make", tenon_arg_int(1));
		break;
	default:
		copy(remote);
		call(remote, "again", tenon_arg_none());
	}
}

void use_session(struct tenon_remote *remote, unsigned int first)
{
	unsigned int i;

	for (i = 0; i < SESSION_ACTIONS; i++)
		act(remote, (first + i) % SESSION_ACTIONS);
}

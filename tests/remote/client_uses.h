/* SPDX-License-Identifier: MIT */
#ifndef TESTS_REMOTE_CLIENT_USES_H
#define TESTS_REMOTE_CLIENT_USES_H

/* What a program does with a session, for servers that lie: each step may fail, and leaves nothing. */

#include <tenon/device.h>
#include <tenon/module.h>
#include <tenon/tensor.h>

#include "runtime/rpc/rpc.h"

static inline void use_call(struct tenon_remote *remote, const char *name,
			    struct tenon_value argument)
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

static inline void use_copy(struct tenon_remote *remote)
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

static inline void use_load(struct tenon_remote *remote)
{
	struct tenon_module *module;
	struct tenon_function *f = NULL;

	if (tenon_remote_load(remote, "x", &module))
		return;
	if (!tenon_module_get_function(module, "f", &f))
		tenon_object_unref(f);
	tenon_object_unref(module);
}

#endif /* TESTS_REMOTE_CLIENT_USES_H */

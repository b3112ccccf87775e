/* SPDX-License-Identifier: MIT */
/* Global function that measures a function, here or on the server of a device. */
#include <string.h>

#include "lib/brief_errors.h"
#include "rpc/server/time_evaluator.h"
#include "runtime/tvm/tvm.h"

#define EVALUATOR      "runtime.RPCTimeEvaluator"
#define EVALUATOR_MOST 12

static int find_global(void *context, struct tenon_slice name, struct tenon_function **out)
{
	return tenon_function_find_slice(name, out);
}

static int evaluate_there(DLDevice device, const struct tenon_value *args, int32_t count,
			  struct tenon_value *ret)
{
	struct tenon_value there[EVALUATOR_MOST];
	struct tenon_function *evaluator;
	struct tenon_remote *remote;
	int err = tvm_session(device, &remote);

	if (err)
		return err;
	err = tenon_remote_function(remote, EVALUATOR, &evaluator);
	tenon_object_unref(remote);
	if (!err && !evaluator)
		err = tenon_error(-TENON_E_UNSUPPORTED, "the server has no function " EVALUATOR);
	if (err)
		return err;
	memcpy(there, args, (size_t)count * sizeof(*there));
	there[2] = tenon_arg_int(tvm_there(device).device_type);
	err = tenon_function_call(evaluator, there, count, ret);
	tenon_object_unref(evaluator);
	return err;
}

static PACKED_CALL(time_evaluator)
{
	const struct time_evaluator_globals globals = { find_global, NULL };
	int64_t type, id;
	DLDevice device;
	int err = arguments_check(EVALUATOR, count, 8, EVALUATOR_MOST);
	if (!err)
		err = tvm_int(EVALUATOR, args, 2, &type);
	if (!err)
		err = tvm_int(EVALUATOR, args, 3, &id);
	if (err)
		return err;
	device = (DLDevice){ (DLDeviceType)type, (int32_t)id };
	if (tvm_is_remote(device))
		return evaluate_there(device, args, count, ret);
	return time_evaluator_create(&globals, args, count, ret);
}

const struct global_function tvm_evaluator_globals[] = {
	{ EVALUATOR, time_evaluator },
	{ NULL, NULL },
};

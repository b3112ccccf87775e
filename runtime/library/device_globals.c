/* SPDX-License-Identifier: MIT */
/* Global functions of the library itself: the device of host code, and those that other files list. */
#include "lib/brief_errors.h"
#include "lib/option.h"
#include "runtime/core/arguments.h"
#include "runtime/device/device_thread.h"
#include "runtime/library/globals.h"

static int choose_device(int32_t type, int32_t id)
{
	DLDevice device;
	int err;

	if (!OPTION_ON(DEVICES))
		return tenon_error(-TENON_E_DEVICE,
				   "the function runs on %s:%d, and this build has no such device",
				   tenon_device_name(type), id);
	device.device_type = type;
	device.device_id = id;
	err = device_thread_choose(device);
	return err ? tenon_error_in(err, "the function runs on %s:%d", tenon_device_name(type), id)
		   : 0;
}

static PACKED_CALL(set_device)
{
	int64_t type, id;
	int err;

	err = abi_check_count("__tvm_set_device", count, 2, 2);
	if (!err)
		err = abi_two_ints("__tvm_set_device", args, &type, &id);
	if (err)
		return err;
	*ret = tenon_arg_none();
	return type == kDLCPU ? 0 : choose_device((int32_t)type, (int32_t)id);
}

/* clang-format off */
const struct global_function abi_device_globals[] = {
	{ "__tvm_set_device", set_device },
	OPTION_ROWS(THREAD_POOL,
	{ "runtime.config_threadpool", abi_config_threadpool },)
	OPTION_ROWS(SYSTEM_LIB,
	{ "ffi.SystemLib", abi_system_lib },
	{ "runtime.SystemLib", abi_system_lib },)
	{ NULL, NULL },
};
/* clang-format on */

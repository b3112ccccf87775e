/* SPDX-License-Identifier: MIT */
/* Global functions on attributes and streams of devices. */
#include <tenon/device.h>

#include "lib/brief_errors.h"
#include "lib/option.h"
#include "runtime/core/arguments.h"
#include "runtime/device/device_thread.h"
#include "runtime/library/globals.h"

/* device attributes; only host code of device kernels queries them */
#define ATTRIBUTE_EXISTS 0

static int answer_attribute(int64_t type, int64_t id, int64_t kind, struct tenon_value *ret)
{
	DLDevice device;

	device.device_type = (int32_t)type;
	device.device_id = (int32_t)id;
	*ret = tenon_arg_none();
	/* The CPU exists even when its backend is not built. */
	if (kind == ATTRIBUTE_EXISTS && (type == kDLCPU || !OPTION_ON(DEVICES)))
		*ret = tenon_arg_int(type == kDLCPU && id == 0);
	else if (OPTION_ON(DEVICES))
		return tenon_device_attribute(device, (int)kind, ret);
	return 0;
}

static PACKED_CALL(device_attribute)
{
	int64_t type, id, kind;
	int err;

	err = abi_check_count("runtime.GetDeviceAttr", count, 3, 3);
	if (!err)
		err = abi_two_ints("runtime.GetDeviceAttr", args, &type, &id);
	if (!err)
		err = tenon_value_int(&args[2], &kind);
	if (err)
		return err;
	return answer_attribute(type, id, kind, ret);
}

/* The stream is an address; None selects the thread's own stream. */
static PACKED_CALL(set_stream)
{
	int64_t type, id;
	DLDevice device;
	void *stream;
	int err;

	err = abi_check_count("runtime.TVMSetStream", count, 3, 3);
	if (!err)
		err = abi_two_ints("runtime.TVMSetStream", args, &type, &id);
	if (!err)
		err = tenon_value_pointer(&args[2], &stream);
	if (err)
		return err;
	device.device_type = (int32_t)type;
	device.device_id = (int32_t)id;
	*ret = tenon_arg_none();
	return device_thread_set_stream(device, stream, NULL);
}

const struct global_function abi_attribute_globals[] = {
	{ "runtime.GetDeviceAttr", device_attribute },
	{ OPTION_ON(DEVICES) ? "runtime.TVMSetStream" : NULL, OPTION_SLOT(DEVICES, set_stream) },
	{ NULL, NULL },
};

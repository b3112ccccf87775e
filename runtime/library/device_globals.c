/* SPDX-License-Identifier: MIT */
/* Global functions for devices and threads that host code calls. */
#include <tenon/backend/buffer.h>
#include <tenon/module.h>
#include <tenon/tensor.h>
#include <tenon/threads.h>

#include "lib/brief_errors.h"
#include "runtime/library/globals.h"

#ifdef CONFIG_DEVICES
#include "runtime/device/device_thread.h"
#endif

/* device attributes; only host code of device kernels queries them */
#define ATTRIBUTE_EXISTS 0

static int two_ints(const char *function, const struct tenon_value *args, int64_t *a, int64_t *b)
{
	int err = tenon_value_int(&args[0], a);

	if (!err)
		err = tenon_value_int(&args[1], b);
	return err ? tenon_error_in(err, "%s", function) : 0;
}

static int choose_device(int32_t type, int32_t id)
{
#ifdef CONFIG_DEVICES
	DLDevice device;
	int err;

	device.device_type = type;
	device.device_id = id;
	err = device_thread_choose(device);
	return err ? tenon_error_in(err, "the function runs on %s:%d", tenon_device_name(type), id)
		   : 0;
#else
	return tenon_error(-TENON_E_DEVICE,
			   "the function runs on %s:%d, and this build has no such device",
			   tenon_device_name(type), id);
#endif
}

static int set_device(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	int64_t type, id;
	int err;

	err = abi_check_count("__tvm_set_device", count, 2, 2);
	if (!err)
		err = two_ints("__tvm_set_device", args, &type, &id);
	if (err)
		return err;
	*ret = tenon_arg_none();
	return type == kDLCPU ? 0 : choose_device((int32_t)type, (int32_t)id);
}

#ifdef CONFIG_TVM_FFI_COMPAT
static int answer_attribute(int64_t type, int64_t id, int64_t kind, struct tenon_value *ret)
{
#ifdef CONFIG_DEVICES
	DLDevice device;

	device.device_type = (int32_t)type;
	device.device_id = (int32_t)id;
	*ret = tenon_arg_none();
	/* The CPU exists even when its backend is not built. */
	if (kind == ATTRIBUTE_EXISTS && type == kDLCPU) {
		*ret = tenon_arg_int(id == 0);
		return 0;
	}
	return tenon_device_attribute(device, (int)kind, ret);
#else
	*ret = tenon_arg_none();
	if (kind == ATTRIBUTE_EXISTS)
		*ret = tenon_arg_int(type == kDLCPU && id == 0);
	return 0;
#endif
}

static int device_attribute(void *self, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret)
{
	int64_t type, id, kind;
	int err;

	err = abi_check_count("runtime.GetDeviceAttr", count, 3, 3);
	if (!err)
		err = two_ints("runtime.GetDeviceAttr", args, &type, &id);
	if (!err)
		err = tenon_value_int(&args[2], &kind);
	if (err)
		return err;
	return answer_attribute(type, id, kind, ret);
}

#ifdef CONFIG_DEVICES
/* The stream is an address; None selects the thread's own stream. */
static int set_stream(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	int64_t type, id;
	DLDevice device;
	void *stream;
	int err;

	err = abi_check_count("runtime.TVMSetStream", count, 3, 3);
	if (!err)
		err = two_ints("runtime.TVMSetStream", args, &type, &id);
	if (!err)
		err = tenon_value_pointer(&args[2], &stream);
	if (err)
		return err;
	device.device_type = (int32_t)type;
	device.device_id = (int32_t)id;
	*ret = tenon_arg_none();
	return device_thread_set_stream(device, stream, NULL);
}
#endif
#endif

#ifdef CONFIG_THREAD_POOL
/* Arguments: mode (big or little cores, ignored), number of threads, list of processors. */
static int config_threadpool(void *self, const struct tenon_value *args, int32_t count,
			     struct tenon_value *ret)
{
	int64_t mode, threads;
	int err;

	err = abi_check_count("runtime.config_threadpool", count, 2, 1000);
	if (!err)
		err = two_ints("runtime.config_threadpool", args, &mode, &threads);
	if (err)
		return err;
	*ret = tenon_arg_none();
	if (threads > 1024)
		return tenon_error(-TENON_E_VALUE, "runtime.config_threadpool: %lld threads",
				   (long long)threads);
	return tenon_parallel_configure(threads < 0 ? 0 : (int)threads, false);
}
#endif

#ifdef CONFIG_SYSTEM_LIB
static int system_lib(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	struct tenon_slice prefix = { "", 0 };
	struct tenon_buffer name = TENON_BUFFER_INIT;
	struct tenon_module *m;
	int err;

	err = abi_check_count("SystemLib", count, 0, 1);
	if (!err && count)
		err = tenon_value_text(&args[0], &prefix);
	if (!err)
		err = tenon_buffer_slice(&name, prefix);
	if (!err)
		err = tenon_system_lib(name.data ? name.data : "", &m);
	tenon_buffer_fini(&name);
	if (!err)
		*ret = tenon_arg_object(m);
	return err;
}
#endif

const struct abi_global abi_device_globals[] = {
	{ "__tvm_set_device", set_device },
#ifdef CONFIG_TVM_FFI_COMPAT
	{ "runtime.GetDeviceAttr", device_attribute },
#ifdef CONFIG_DEVICES
	{ "runtime.TVMSetStream", set_stream },
#endif
#endif
#ifdef CONFIG_THREAD_POOL
	{ "runtime.config_threadpool", config_threadpool },
#endif
#ifdef CONFIG_SYSTEM_LIB
	{ "ffi.SystemLib", system_lib },
	{ "runtime.SystemLib", system_lib },
#endif
	{ NULL, NULL },
};

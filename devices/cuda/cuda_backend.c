/* SPDX-License-Identifier: MIT */
/* The backend's table: find CUDA's devices, and explain why there are none. */

#include "devices/cuda/cuda_device.h"

#include <tenon/backend/buffer.h>

#include "devices/cuda/cuda_payload.h"
#include "driver/cuda/nvrtc_api.h"
#include "lib/brief_errors.h"

static const struct cuda_api *api;
static uint32_t device_count;
static bool started;

/* How the user can repair a failure. */
static const char *remedy(int status)
{
	switch (status) {
	case CU_STUB_LIBRARY:
		return "this libcuda is the toolkit's stub for linking; let the driver's own be "
		       "found first";
	case CU_SYSTEM_DRIVER_MISMATCH:
		return "libcuda and the kernel's driver are of different versions: reboot, or "
		       "reload the nvidia modules";
	case CU_SYSTEM_NOT_READY:
		return "start nvidia-fabricmanager";
	case CU_COMPAT_NOT_SUPPORTED:
		return "the compatibility libcuda does not support this GPU: use the driver's own";
	case CU_OPERATING_SYSTEM:
	case CU_UNKNOWN:
		return "look whether /dev/nvidia* and /dev/nvidia-uvm exist and may be opened "
		       "(modprobe nvidia_uvm)";
	default:
		return "see what nvidia-smi says";
	}
}

static int start(void)
{
	char text[160];
	int status, n = 0;

	status = api->Init(0);
	if (!status)
		status = api->DeviceGetCount(&n);
	if (status == CU_NO_DEVICE) {
		status = 0;
		n = 0;
	}
	if (status)
		return tenon_error(-TENON_E_DEVICE, "CUDA does not start: %s; %s",
				   cuda_status_text(api, status, text, sizeof(text)),
				   remedy(status));
	device_count = (uint32_t)n;
	started = n > 0;
	return 0;
}

static int cuda_count(uint32_t *count)
{
	int err = 0;

	if (!started) {
		err = cuda_library(&api);
		if (!err)
			err = start();
		if (err)
			return err;
	}
	*count = device_count;
	return 0;
}

int cuda_found(const struct cuda_api **cu, uint32_t *count)
{
	int err = cuda_count(count);

	*cu = api;
	return err;
}

static int cuda_describe_index(uint32_t index, struct tenon_device_properties *properties)
{
	uint32_t n;
	int device, err = cuda_count(&n);

	if (err)
		return err;
	if (index >= n || api->DeviceGet(&device, (int)index))
		return tenon_error(-TENON_E_NOT_FOUND, "cuda:%u: there are %u CUDA devices", index,
				   n);
	return cuda_describe(api, device, properties);
}

static void tell_missing(struct tenon_buffer *out)
{
	if (!api->MemAllocAsync)
		tenon_buffer_printf(out,
				    "no stream-ordered memory: a driver of CUDA 11.2 has it\n");
	if (!api->LaunchKernelEx)
		tenon_buffer_printf(out,
				    "no clusters and dependent launches: a driver of CUDA 11.8 "
				    "has them\n");
	if (!api->graphs)
		tenon_buffer_printf(out, "no graphs: recordings are submitted one by one\n");
}

static int cuda_doctor(struct tenon_buffer *out)
{
	const struct nvrtc_api *nvrtc;
	char kernel[64];
	int version = 0, minor = 0, err;
	uint32_t n;

	cuda_kernel_driver(kernel, sizeof(kernel));
	if (*kernel)
		tenon_buffer_printf(out, "kernel driver nvidia %s\n", kernel);
	err = cuda_count(&n);
	if (err) {
		tenon_buffer_printf(out, "%s\n", tenon_error_message());
		tenon_error_clear();
		return out->status;
	}
	api->DriverGetVersion(&version);
	tenon_buffer_printf(out, "libcuda for CUDA %d.%d, %u device%s\n", version / 1000,
			    version % 1000 / 10, n, n == 1 ? "" : "s");
	tell_missing(out);
	if (nvrtc_library(&nvrtc)) {
		tenon_buffer_printf(out, "%s\n", tenon_error_message());
		tenon_error_clear();
	} else if (!nvrtc->Version(&version, &minor)) {
		tenon_buffer_printf(out, "NVRTC %d.%d compiles CUDA source\n", version, minor);
	}
	return out->status;
}

const struct tenon_backend cuda_backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(struct tenon_backend),
	.name = "cuda",
	.device_type = kDLCUDA,
	.kinds = cuda_payload_kinds,
	.count = cuda_count,
	.describe = cuda_describe_index,
	.open = cuda_device_open,
	.doctor = cuda_doctor,
	.formats = cuda_payload_formats,
};

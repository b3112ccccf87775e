/* SPDX-License-Identifier: MIT */
/* Names of device types, in a table by number. */
#include "runtime/ffi/device_names.h"

/* by DLDeviceType, from 1 on */
static const char names[][16] = {
	"cpu",		"cuda",	  "cuda_host", "opencl",  "unknown",   "unknown",
	"vulkan",	"metal",  "vpi",       "rocm",	  "rocm_host", "ext_dev",
	"cuda_managed", "oneapi", "webgpu",    "hexagon", "maia",      "trn",
};

const char *ffi_device_name(int type)
{
	if (type < 1 || type > (int)(sizeof(names) / sizeof(names[0])))
		return "unknown";
	return names[type - 1];
}

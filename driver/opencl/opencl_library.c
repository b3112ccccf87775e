/* SPDX-License-Identifier: MIT */
/* Open the OpenCL loader and look its functions up. */
#include "driver/opencl/opencl_api.h"
#include "lib/vendor_library.h"

const char opencl_remedy[] =
	"Install a loader and a driver (Debian: apt install ocl-icd-libopencl1 "
	"pocl-opencl-icd, or the driver of the GPU's maker)";

static const struct vendor_symbol symbols[] = {
#define SYMBOL(optional, result, name, parameters)                                                 \
	{ "cl" #name, offsetof(struct ocl_api, name), optional },
	OCL_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

struct ocl_api ocl;

int opencl_library(void)
{
	static void *handle;
	const char *own = vendor_library_named("TENON_OPENCL_LIBRARY");
	const char *const names[] = { own ? own : "libOpenCL.so.1", own ? NULL : "libOpenCL.so",
				      NULL };

	if (handle)
		return 0;
	return vendor_library_open(names, opencl_remedy, symbols,
				   sizeof(symbols) / sizeof(*symbols), &ocl, &handle);
}

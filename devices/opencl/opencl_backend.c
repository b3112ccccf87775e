/* SPDX-License-Identifier: MIT */
/* The backend's table: find the devices of all platforms and explain why there are none. */
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "devices/opencl/opencl_device.h"
#include "devices/opencl/opencl_payload.h"
#include "lib/brief_errors.h"

#define DEVICES_MOST   64
#define PLATFORMS_MOST 16

/* in the order of numbering: opencl:0 is a GPU if there is one */
static const struct {
	uint8_t type, class;
} types[] = { { OCL_DEVICE_TYPE_GPU, TENON_CLASS_GPU },
	      { OCL_DEVICE_TYPE_ACCELERATOR, TENON_CLASS_ACCELERATOR },
	      { OCL_DEVICE_TYPE_CPU, TENON_CLASS_CPU },
	      { OCL_DEVICE_TYPE_CUSTOM, TENON_CLASS_OTHER } };

static struct opencl_found devices[DEVICES_MOST];
static uint32_t device_count;
static ocl_platform platforms[PLATFORMS_MOST];
static uint32_t platform_count;
static bool asked; /* the library was opened */

static void find_on(ocl_platform platform, uint64_t type, uint32_t class)
{
	ocl_device ids[DEVICES_MOST];
	uint32_t i, n = 0;

	if (ocl.GetDeviceIDs(platform, type, DEVICES_MOST, ids, &n))
		return;
	for (i = 0; i < n && device_count < DEVICES_MOST; i++)
		devices[device_count++] = (struct opencl_found){ platform, ids[i], class };
}

/* PoCL writes what it compiles to a folder, and without one it reports no device. */
static const char *usual_reason(bool pocl)
{
	if (pocl && getenv("POCL_DEVICES"))
		return ". POCL_DEVICES chooses PoCL's devices; unset it";
	if (pocl)
		return ". PoCL has none if it cannot write to its cache: set POCL_CACHE_DIR to a "
		       "folder that can be written";
	return ". The driver's device is not there, or this user may not open it";
}

static int raise_no_device(void)
{
	struct tenon_buffer names = TENON_BUFFER_INIT;
	bool pocl = false;
	char name[128];
	uint32_t i;
	int err;

	for (i = 0; i < platform_count; i++) {
		opencl_platform_name(platforms[i], name);
		pocl |= !strcmp(name, "PoCL");
		tenon_buffer_printf(&names, "%s%s", i ? ", " : "", name);
	}
	err = tenon_error(-TENON_E_DEVICE, "OpenCL has a driver, %s, but no device%s",
			  names.data ? names.data : "", usual_reason(pocl));
	tenon_buffer_fini(&names);
	return err;
}

static int find_all(void)
{
	uint32_t t, i;
	int status, err;

	err = opencl_library();
	if (err)
		return err;
	if (!asked)
		opencl_event_init();
	asked = true;
	status = ocl.GetPlatformIDs(PLATFORMS_MOST, platforms, &platform_count);
	if (status == OCL_PLATFORM_NOT_FOUND || (!status && !platform_count))
		return tenon_error(-TENON_E_DEVICE,
				   "OpenCL has a loader, but no driver is registered with it "
				   "(/etc/OpenCL/vendors). %s",
				   opencl_remedy);
	if (status)
		return tenon_error(-TENON_E_DEVICE, "listing OpenCL drivers failed with CL_%s (%d)",
				   opencl_status_name(status), status);
	if (platform_count > PLATFORMS_MOST)
		platform_count = PLATFORMS_MOST;
	for (t = 0; t < sizeof(types) / sizeof(types[0]); t++)
		for (i = 0; i < platform_count; i++)
			find_on(platforms[i], types[t].type, types[t].class);
	return device_count ? 0 : raise_no_device();
}

static int opencl_count(uint32_t *count)
{
	int err = 0;

	if (!device_count)
		err = find_all();
	*count = device_count;
	return err;
}

int opencl_found(uint32_t index, const struct opencl_found **out)
{
	uint32_t count;
	int err = opencl_count(&count);

	if (!err && index >= count)
		err = tenon_error(-TENON_E_NOT_FOUND, "opencl:%u: there are %u OpenCL devices",
				  index, count);
	*out = err ? NULL : &devices[index];
	return err;
}

static int opencl_describe_index(uint32_t index, struct tenon_device_properties *properties)
{
	const struct opencl_found *found;
	uint32_t version;
	int err = opencl_found(index, &found);

	if (!err)
		opencl_describe(found, properties, &version);
	return err;
}

static void platform_text(ocl_platform platform, uint32_t what, char out[128])
{
	size_t got = 0;

	if (ocl.GetPlatformInfo(platform, what, 127, out, &got))
		got = 0;
	out[got] = '\0';
}

void opencl_platform_name(ocl_platform platform, char out[128])
{
	platform_text(platform, OCL_PLATFORM_NAME, out);
	/* the full name is uncommon */
	if (!strcmp(out, "Portable Computing Language"))
		strcpy(out, "PoCL");
}

static int opencl_doctor(struct tenon_buffer *out)
{
	char name[128], version[128];
	uint32_t i, count;

	if (opencl_count(&count)) {
		tenon_buffer_printf(out, "%s\n", tenon_error_message());
		tenon_error_clear();
		return out->status;
	}
	for (i = 0; i < platform_count; i++) {
		opencl_platform_name(platforms[i], name);
		platform_text(platforms[i], OCL_PLATFORM_VERSION, version);
		tenon_buffer_printf(out, "driver %s: %s\n", name, version);
	}
	return out->status;
}

const struct tenon_backend opencl_backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(struct tenon_backend),
	.name = "opencl",
	.device_type = kDLOpenCL,
	.kinds = opencl_payload_kinds,
	.count = opencl_count,
	.describe = opencl_describe_index,
	.open = opencl_device_open,
	.doctor = opencl_doctor,
	.formats = opencl_payload_formats,
};

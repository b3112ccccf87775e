/* SPDX-License-Identifier: MIT */
/* Read the properties of a device: sizes, imports, PCI address. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/opencl/opencl_device.h"

void *opencl_answer(ocl_device device, uint32_t what, size_t *size)
{
	size_t n = 0;
	char *all;

	if (ocl.GetDeviceInfo(device, what, 0, NULL, &n) || !n)
		return NULL;
	all = calloc(1, n + 1);
	if (all && ocl.GetDeviceInfo(device, what, n, all, NULL)) {
		free(all);
		return NULL;
	}
	if (size)
		*size = n;
	return all;
}

/* Numbers have 4 bytes, 8, or the size of a pointer. */
uint64_t opencl_number(ocl_device device, uint32_t what)
{
	union {
		uint64_t u64;
		uint32_t u32;
	} v = { 0 };
	size_t got = 0;

	if (ocl.GetDeviceInfo(device, what, sizeof(v), &v, &got))
		return 0;
	return got == sizeof(v.u32) ? v.u32 : v.u64;
}

#define NUMBER(what, field)                                                                        \
	{                                                                                          \
		OCL_DEVICE_##what, offsetof(struct tenon_device_properties, field)                 \
	}

/* properties of 32 bits */
static const struct {
	uint16_t what, where;
} numbers[] = {
	NUMBER(MAX_WORK_GROUP_SIZE, max_threads),
	NUMBER(LOCAL_MEM_SIZE, max_shared),
	NUMBER(MAX_CLOCK_FREQUENCY, clock_khz),
	NUMBER(MAX_COMPUTE_UNITS, processors),
	NUMBER(GLOBAL_MEM_CACHE_SIZE, l2_bytes),
	NUMBER(PROFILING_TIMER_RESOLUTION, timestamp_period),
	NUMBER(WARP_SIZE_NV, warp_size),
	NUMBER(WAVEFRONT_WIDTH_AMD, warp_size),
};

static uint32_t at_most(uint64_t v)
{
	return v > INT32_MAX ? INT32_MAX : (uint32_t)v;
}

static void describe_size(ocl_device device, struct tenon_device_properties *p)
{
	size_t items[8] = { 0 };
	uint32_t value;
	size_t i;

	p->warp_size = 1;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		value = at_most(opencl_number(device, numbers[i].what));
		if (value)
			memcpy((char *)p + numbers[i].where, &value, sizeof(value));
	}
	p->clock_khz *= 1000;
	p->timestamp_period *= 1000;
	ocl.GetDeviceInfo(device, OCL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(items), items, NULL);
	for (i = 0; i < 3; i++) {
		p->max_block[i] = at_most(items[i]);
		p->max_grid[i] = INT32_MAX;
	}
	p->total_memory = opencl_number(device, OCL_DEVICE_GLOBAL_MEM_SIZE);
	p->max_allocation = opencl_number(device, OCL_DEVICE_MAX_MEM_ALLOC_SIZE);
	p->alignment = opencl_number(device, OCL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
	if (!p->alignment)
		p->alignment = 1;
}

/* cl_khr_external_memory, whose functions come with OpenCL 3.0 */
static bool imports_dma_buf(ocl_device device)
{
	uint32_t *types = NULL;
	size_t size = 0, i;
	bool found = false;

	if (ocl.CreateBufferWithProperties && ocl.GetExtensionFunctionAddressForPlatform)
		types = opencl_answer(device, OCL_DEVICE_EXTERNAL_MEMORY_IMPORTS, &size);
	for (i = 0; types && i < size / sizeof(*types); i++)
		found |= types[i] == OCL_EXTERNAL_MEMORY_DMA_BUF;
	free(types);
	return found;
}

static void describe_place(const struct opencl_found *found, struct tenon_device_properties *p)
{
	bool unified = opencl_number(found->device, OCL_DEVICE_HOST_UNIFIED_MEMORY);

	p->device_class = found->device_class;
	if (unified && p->device_class == TENON_CLASS_GPU)
		p->device_class = TENON_CLASS_INTEGRATED_GPU;
	/* mapping always works; the driver copies if memory is not shared */
	p->heap_count = 1;
	p->heaps[0].size = p->total_memory;
	p->heaps[0].flags = TENON_HEAP_DEVICE_LOCAL | TENON_HEAP_HOST_VISIBLE |
			    TENON_HEAP_HOST_COHERENT | TENON_HEAP_HOST_CACHED;
	if (unified)
		p->imports |= 1u << TENON_HANDLE_HOST_POINTER;
	if (imports_dma_buf(found->device))
		p->imports |= 1u << TENON_HANDLE_DMA_BUF;
	ocl.GetDeviceInfo(found->device, OCL_DEVICE_UUID, sizeof(p->uuid), p->uuid, NULL);
	memset(p->pci, 0xff, sizeof(p->pci));
	ocl.GetDeviceInfo(found->device, OCL_DEVICE_PCI_BUS_INFO, sizeof(p->pci), p->pci, NULL);
	p->drm_render = -1;
	p->queues = 1;
}

static void copy_text(ocl_device device, uint32_t what, char *out, size_t size)
{
	char *text = opencl_answer(device, what, NULL);

	snprintf(out, size, "%s", text ? text : "");
	free(text);
}

void opencl_describe(const struct opencl_found *found, struct tenon_device_properties *p,
		     uint32_t *version)
{
	char text[128], driver[64];

	copy_text(found->device, OCL_DEVICE_NAME, p->name, sizeof(p->name));
	copy_text(found->device, OCL_DEVICE_VENDOR, p->vendor, sizeof(p->vendor));
	/* "OpenCL 3.0 …" */
	copy_text(found->device, OCL_DEVICE_VERSION, text, sizeof(text));
	snprintf(p->compute_version, sizeof(p->compute_version), "%.3s",
		 strlen(text) < 10 ? "1.0" : text + 7);
	*version = (uint32_t)(p->compute_version[0] - '0') * 100 +
		   (uint32_t)(p->compute_version[2] - '0') * 10;
	p->api_version = (int32_t)*version;
	opencl_platform_name(found->platform, text);
	copy_text(found->device, OCL_DRIVER_VERSION, driver, sizeof(driver));
	snprintf(p->driver, sizeof(p->driver), "%.60s %s", text, driver);
	/* one lock around its compiler, whatever the context (3.1) */
	if (!strcmp(text, "PoCL"))
		p->flags |= TENON_DEVICE_SERIAL_BUILDS;
	p->driver_version = (int32_t)strtoul(driver, NULL, 10);
	describe_size(found->device, p);
	describe_place(found, p);
	opencl_fences_describe(found, p);
}

/* SPDX-License-Identifier: MIT */
/* Read the properties of a GPU: sizes, heaps, handles, PCI address. */
#include <stdio.h>
#include <string.h>
#include <tenon/fence.h>
#include <unistd.h>

#include "devices/cuda/cuda_device.h"

int cuda_attribute(const struct cuda_api *cu, int device, int what)
{
	int v = 0;

	return cu->DeviceGetAttribute(&v, what, device) || v < 0 ? 0 : v;
}

void cuda_kernel_driver(char *out, size_t size)
{
	FILE *f = fopen("/sys/module/nvidia/version", "re");

	if (!f || !fgets(out, (int)size, f))
		*out = '\0';
	out[strcspn(out, "\n")] = '\0';
	if (f)
		fclose(f);
}

static void describe_driver(const struct cuda_api *cu, struct tenon_device_properties *p)
{
	char kernel[64];
	int version = 0;

	cu->DriverGetVersion(&version);
	cuda_kernel_driver(kernel, sizeof(kernel));
	p->api_version = version;
	p->driver_version = version;
	snprintf(p->driver, sizeof(p->driver), "%s%sCUDA %d.%d", kernel, *kernel ? ", " : "",
		 version / 1000, version % 1000 / 10);
}

/* numbers that need no conversion: attribute, count, and field of the properties */
static const struct {
	uint8_t what;
	uint8_t count;
	uint16_t offset;
} numbers[] = {
#define NUMBER(what, count, field)                                                                 \
	{                                                                                          \
		what, count, offsetof(struct tenon_device_properties, field)                       \
	}
	NUMBER(CU_ATTRIBUTE_MAX_THREADS, 1, max_threads),
	NUMBER(CU_ATTRIBUTE_MAX_BLOCK_X, 3, max_block),
	NUMBER(CU_ATTRIBUTE_MAX_GRID_X, 3, max_grid),
	NUMBER(CU_ATTRIBUTE_WARP_SIZE, 1, warp_size),
	NUMBER(CU_ATTRIBUTE_MAX_SHARED, 1, max_shared),
	NUMBER(CU_ATTRIBUTE_MAX_REGISTERS, 1, max_registers),
	NUMBER(CU_ATTRIBUTE_CLOCK_KHZ, 1, clock_khz),
	NUMBER(CU_ATTRIBUTE_PROCESSORS, 1, processors),
	NUMBER(CU_ATTRIBUTE_L2_BYTES, 1, l2_bytes),
	NUMBER(CU_ATTRIBUTE_PCI_DOMAIN, 1, pci[0]),
	/* bus and device */
	NUMBER(CU_ATTRIBUTE_PCI_BUS, 2, pci[1]),
#undef NUMBER
};

static void describe_size(const struct cuda_api *cu, int device, struct tenon_device_properties *p)
{
	size_t bytes = 0, i, j;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (j = 0; j < numbers[i].count; j++)
			((uint32_t *)(void *)((char *)p + numbers[i].offset))[j] =
				(uint32_t)cuda_attribute(cu, device, numbers[i].what + (int)j);
	if (!cu->DeviceTotalMem(&bytes, device))
		p->total_memory = bytes;
	p->max_allocation = p->total_memory;
	/* alignment that compiled code expects of tensors */
	p->alignment = 64;
	p->queues = cuda_attribute(cu, device, CU_ATTRIBUTE_CONCURRENT_KERNELS) ? 32 : 1;
	/* events have a resolution of half a microsecond */
	p->timestamp_period = 500000;
}

static void describe_heaps(struct tenon_device_properties *p)
{
	p->heap_count = 2;
	p->heaps[0].size = p->total_memory;
	p->heaps[0].flags = TENON_HEAP_DEVICE_LOCAL;
	p->heaps[1].size = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	p->heaps[1].flags =
		TENON_HEAP_HOST_VISIBLE | TENON_HEAP_HOST_COHERENT | TENON_HEAP_HOST_CACHED;
}

static void describe_handles(const struct cuda_api *cu, int device,
			     struct tenon_device_properties *p)
{
	bool fds = cuda_attribute(cu, device, CU_ATTRIBUTE_VIRTUAL_MEMORY) &&
		   cuda_attribute(cu, device, CU_ATTRIBUTE_POSIX_FD) && cu->MemCreate &&
		   cu->MemRelease && cu->MemMap && cu->MemUnmap && cu->MemSetAccess &&
		   cu->MemAddressReserve && cu->MemAddressFree && cu->MemExport && cu->MemImport &&
		   cu->MemGetAllocationGranularity;

	if (cuda_attribute(cu, device, CU_ATTRIBUTE_HOST_REGISTER))
		p->imports = 1u << TENON_HANDLE_HOST_POINTER;
	if (cuda_imports_fences(cu))
		p->fence_imports = 1u << TENON_FENCE_OPAQUE_FD;
	if (!fds)
		return;
	p->imports |= 1u << TENON_HANDLE_OPAQUE_FD;
	p->exports = 1u << TENON_HANDLE_OPAQUE_FD;
	if (cu->MemGetHandleForAddressRange && cuda_attribute(cu, device, CU_ATTRIBUTE_DMA_BUF))
		p->exports |= 1u << TENON_HANDLE_DMA_BUF;
}

static void describe_place(const struct cuda_api *cu, int device, struct tenon_device_properties *p)
{
	int status;

	p->pci[3] = 0;
	p->drm_render = -1;
	/* for a MIG instance only the newer function returns the UUID of the instance */
	status = cu->DeviceGetUuid2 ? cu->DeviceGetUuid2(p->uuid, device)
				    : cu->DeviceGetUuid(p->uuid, device);
	if (status)
		memset(p->uuid, 0, sizeof(p->uuid));
}

int cuda_describe(const struct cuda_api *cu, int device, struct tenon_device_properties *p)
{
	/* limit to two digits, so that any answer of the driver fits */
	unsigned int major = (unsigned int)cuda_attribute(cu, device, CU_ATTRIBUTE_MAJOR) % 100;
	unsigned int minor = (unsigned int)cuda_attribute(cu, device, CU_ATTRIBUTE_MINOR) % 100;

	if (cu->DeviceGetName(p->name, sizeof(p->name), device))
		snprintf(p->name, sizeof(p->name), "CUDA device");
	snprintf(p->vendor, sizeof(p->vendor), "NVIDIA");
	snprintf(p->compute_version, sizeof(p->compute_version), "%u.%u", major, minor);
	snprintf(p->architecture, sizeof(p->architecture), "sm_%u%u", major, minor);
	p->device_class = cuda_attribute(cu, device, CU_ATTRIBUTE_INTEGRATED)
				  ? TENON_CLASS_INTEGRATED_GPU
				  : TENON_CLASS_GPU;
	p->flags = TENON_DEVICE_ADDRESSES;
	if (cu->MemAllocAsync && cu->MemFreeAsync &&
	    cuda_attribute(cu, device, CU_ATTRIBUTE_MEMORY_POOLS))
		p->flags |= TENON_DEVICE_STREAM_ORDERED;
	describe_driver(cu, p);
	describe_size(cu, device, p);
	describe_heaps(p);
	describe_handles(cu, device, p);
	describe_place(cu, device, p);
	return 0;
}

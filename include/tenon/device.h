/* SPDX-License-Identifier: MIT */
#ifndef TENON_DEVICE_H
#define TENON_DEVICE_H

/**
 * DOC: devices
 *
 * A *backend* is the code for one way to reach devices: "cuda", "opencl", "vulkan", "cpu", "null".
 * A *device* is one thing that it reaches. A device makes memory (tenon/memory.h), queues
 * (tenon/queue.h), recordings (tenon/commands.h) and executables (tenon/executable.h). It is a counted
 * object: tenon_object_unref() gives it back.
 *
 * A device is named by DLPack's type and number ("cuda:0") or by a URI, `driver://path?key=value`:
 * the path is a number, "uuid:…", or parts of the device's name and its driver's with '/' between,
 * behind which a number counts those that fit (`opencl://pocl`, `opencl://nvidia/rtx/1`); the keys
 * are the backend's own.
 * No driver is touched before a device of it is asked for, and a device is opened once. A URI with keys
 * opens an instance of its own, numbered behind those that the backend found.
 *
 * Those who write a backend include tenon/backend/backend.h.
 */

#include <tenon/buffer.h>
#include <tenon/export.h>
#include <tenon/object.h>
#include <tenon/value.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_backend;
struct tenon_device;

/* a DLPack device type of Tenon's own; the others from 64 to 126 are for backends that DLPack has no number for */
#define TENON_DEVICE_NULL 100

/** enum tenon_device_class - what sort of processor a device is */
enum tenon_device_class {
	TENON_DEVICE_OTHER = 0,
	TENON_DEVICE_CPU = 1,
	TENON_DEVICE_GPU = 2,
	TENON_DEVICE_INTEGRATED_GPU = 3,
	TENON_DEVICE_ACCELERATOR = 4, /* FPGA, DSP, NPU */
};

/** enum tenon_device_flag - how a device behaves; a mask */
enum tenon_device_flag {
	/*
	 * Memory has addresses: `data` of a tensor, and a pointer argument of a kernel, is the
	 * device's address (CUDA, CPU). Without it both are a struct tenon_memory * (OpenCL, Vulkan).
	 */
	TENON_DEVICE_ADDRESSES = 1,
	TENON_DEVICE_HOST_MEMORY = 2,	 /* with ADDRESSES: they are addresses of this process */
	TENON_DEVICE_STREAM_ORDERED = 4, /* tenon_memory_request.queue is honoured by the backend */
	TENON_DEVICE_INLINE = 8, /* submitting runs the operation; nothing is ever pending */
};

/** enum tenon_heap_flag - what memory of a heap can do; a mask, also in tenon_memory.flags */
enum tenon_heap_flag {
	TENON_HEAP_DEVICE_LOCAL = 1,
	TENON_HEAP_HOST_VISIBLE = 2,
	TENON_HEAP_HOST_COHERENT = 4, /* no flush and invalidate needed */
	TENON_HEAP_HOST_CACHED = 8,   /* fast for the host to read */
};

/** struct tenon_heap - one sort of memory of a device: bytes, and enum tenon_heap_flag */
struct tenon_heap {
	uint64_t size;
	uint32_t flags;
	uint32_t reserved;
};

#define TENON_HEAPS_MOST 16

/**
 * struct tenon_device_properties - what a device is and can; 0 or "" where it is not known
 * @size: sizeof(struct tenon_device_properties) of the library, which makes the struct. A backend that was
 *	built with longer headers writes nothing behind it.
 * @name: the device's name as its driver gives it
 * @vendor: who made it
 * @driver: the driver's name and version, for people; part of the key of cached kernels
 * @compute_version: "8.6", "3.0", "1.3": what TVM calls compute version
 * @architecture: "gfx90a", "sm_86"
 * @api_version: as a number the way TVM gives it (CUDA 12040, Vulkan VK_API_VERSION_…)
 * @driver_version: as a number
 * @device_class: enum tenon_device_class
 * @flags: enum tenon_device_flag
 * @uuid: identifies the device across APIs and processes; zero when unknown
 * @pci: domain, bus, device, function; all UINT32_MAX when it is not on PCI
 * @drm_render: minor number of its render node; -1 when it has none or it is not known
 * @drm_reserved: 0
 * @max_threads: threads per block (work items per group)
 * @max_block: by dimension
 * @max_grid: by dimension
 * @warp_size: 1 where there is no such thing
 * @max_shared: bytes of shared (local) memory per block
 * @max_registers: per block
 * @max_arguments: of a kernel; 0 for no limit of its own
 * @clock_khz: highest
 * @processors: multiprocessors, compute units, cores
 * @l2_bytes: of the cache that all processors share
 * @total_memory: bytes
 * @max_allocation: bytes of one piece
 * @alignment: bytes that sub-ranges must begin at a multiple of; a power of two, at least 1
 * @queues: how many queues work side by side; at least 1
 * @timestamp_period: picoseconds of a step of the device's clock; 0 when it has none
 * @imports: mask of 1 << enum tenon_handle_type
 * @exports: mask of 1 << enum tenon_handle_type
 * @heap_count: heaps
 * @heaps: the first is where memory comes from that asks for nothing
 * @fence_imports: mask of 1 << enum tenon_fence_type that its queues wait for without the host
 * @fence_exports: mask of 1 << enum tenon_fence_type that its driver makes; TENON_FENCE_EVENTFD is made for
 *	every device, and needs no bit
 */
struct tenon_device_properties {
	size_t size;
	char name[128];
	char vendor[64];
	char driver[128];
	char compute_version[16];
	char architecture[32];
	int32_t api_version;
	int32_t driver_version;
	uint32_t device_class;
	uint32_t flags;
	uint8_t uuid[16];
	uint32_t pci[4];
	int32_t drm_render;
	uint32_t drm_reserved;
	uint32_t max_threads;
	uint32_t max_block[3];
	uint32_t max_grid[3];
	uint32_t warp_size;
	uint32_t max_shared;
	uint32_t max_registers;
	uint32_t max_arguments;
	uint32_t clock_khz;
	uint32_t processors;
	uint32_t l2_bytes;
	uint64_t total_memory;
	uint64_t max_allocation;
	uint64_t alignment;
	uint32_t queues;
	uint32_t timestamp_period;
	uint32_t imports;
	uint32_t exports;
	uint32_t heap_count;
	uint32_t reserved;
	struct tenon_heap heaps[TENON_HEAPS_MOST];
	uint32_t fence_imports;
	uint32_t fence_exports;
};

/** tenon_device_properties - what a device is and can; constant, lives as long as the device */
TENON_API const struct tenon_device_properties *
tenon_device_properties(const struct tenon_device *device);

/** tenon_device_id - DLPack's type and number of a device, as tensors on it have */
TENON_API DLDevice tenon_device_id(const struct tenon_device *device);

/**
 * tenon_device_check - is the device usable
 * @device: device
 *
 * Return: 0; -TENON_E_LOST with the reason, also in a child of the process that opened it.
 */
TENON_API int tenon_device_check(struct tenon_device *device);

/**
 * tenon_device_open - open a device, or get one that is open, by name
 * @uri: "cuda:0", "opencl", "vulkan://lavapipe", "cpu://0?queue=worker"
 * @out: receives the device with one reference
 *
 * Context: any thread; takes a lock.
 * Return: 0; -TENON_E_VALUE for a URI that cannot be read; -TENON_E_DEVICE for a driver or a device
 *	that does not exist, with those that do, and when it does not open; -TENON_E_NOMEM.
 */
TENON_API int tenon_device_open(const char *uri, struct tenon_device **out);

/**
 * tenon_device_get - open a device, or get one that is open, by number
 * @id: DLPack's type and number
 * @out: receives the device with one reference
 *
 * Context: any thread; takes a lock.
 * Return: as tenon_device_open().
 */
TENON_API int tenon_device_get(DLDevice id, struct tenon_device **out);

/**
 * tenon_device_reopen - put a fresh device in the place of one that was lost
 * @device: a device that tenon_device_get() or tenon_device_open() gave
 * @out: receives the fresh one with one reference; `cuda:0` means this one from now on
 *
 * What belongs to the old one stays valid and fails. Kernels of modules are built anew by their next
 * call.
 *
 * Return: 0; what opening returned.
 */
TENON_API int tenon_device_reopen(struct tenon_device *device, struct tenon_device **out);

/**
 * tenon_device_close_all - drop the library's references of open devices
 *
 * For programs that end, and tools that want to see nothing leaked: what queues did in threads is done
 * when this returns, except where an operation still waits for a point that nobody signals. Devices are
 * opened anew when they are asked for.
 *
 * Context: no other thread uses devices.
 */
TENON_API void tenon_device_close_all(void);

/**
 * tenon_device_sync - wait until all that was submitted to all queues of a device is done
 * @device: device
 * @deadline: as in tenon_timeline_wait()
 *
 * It waits for all of them whatever failed, and tells one failure; others stay for the next sync, of
 * their queue or of the device.
 *
 * Return: 0; -TENON_E_TIMEOUT; -TENON_E_LOST; the first failure of an operation.
 */
TENON_API int tenon_device_sync(struct tenon_device *device, uint64_t deadline);

/** enum tenon_device_attribute - kinds of runtime.GetDeviceAttr; numbers are TVM's */
enum tenon_device_attribute {
	TENON_ATTRIBUTE_EXISTS = 0,
	TENON_ATTRIBUTE_MAX_THREADS = 1,
	TENON_ATTRIBUTE_WARP_SIZE = 2,
	TENON_ATTRIBUTE_MAX_SHARED = 3,
	TENON_ATTRIBUTE_COMPUTE_VERSION = 4,
	TENON_ATTRIBUTE_NAME = 5,
	TENON_ATTRIBUTE_CLOCK_KHZ = 6,
	TENON_ATTRIBUTE_PROCESSORS = 7,
	TENON_ATTRIBUTE_MAX_BLOCK = 8, /* "[1024, 1024, 64]" */
	TENON_ATTRIBUTE_MAX_REGISTERS = 9,
	TENON_ATTRIBUTE_GCN_ARCH = 10,
	TENON_ATTRIBUTE_API_VERSION = 11,
	TENON_ATTRIBUTE_DRIVER_VERSION = 12,
	TENON_ATTRIBUTE_L2_BYTES = 13,
	TENON_ATTRIBUTE_TOTAL_MEMORY = 14,
	TENON_ATTRIBUTE_AVAILABLE_MEMORY = 15,
};

/**
 * tenon_device_attribute - answer what TVM asks about a device
 * @id: device
 * @attribute: enum tenon_device_attribute
 * @out: receives an int or an owned string; None for what is not known. EXISTS is always an int, and
 *	opens nothing.
 *
 * Return: 0; as tenon_device_get() for a device that does not open, except for EXISTS.
 */
TENON_API int tenon_device_attribute(DLDevice id, int attribute, struct tenon_value *out);

/** tenon_backend_find - a backend by its name; NULL when there is none. Loads plug-ins once. */
TENON_API const struct tenon_backend *tenon_backend_find(struct tenon_slice name);

/** tenon_backend_of_type - a backend by DLPack's device type; NULL when there is none */
TENON_API const struct tenon_backend *tenon_backend_of_type(int32_t type);

/** tenon_backend_of_kind - the backend that takes payloads of a kind of module; NULL */
TENON_API const struct tenon_backend *tenon_backend_of_kind(struct tenon_slice kind);

/** tenon_backend_name - the name of a backend, "cuda": the driver in URIs, and in "cuda:0" */
TENON_API const char *tenon_backend_name(const struct tenon_backend *backend);

/** tenon_backend_device_type - DLPack's type of the devices of a backend */
TENON_API int32_t tenon_backend_device_type(const struct tenon_backend *backend);

/**
 * tenon_backend_each - visit all backends, those of the library first
 * @visit: stops when it returns non-zero
 * @context: handed to @visit
 *
 * Return: what the last @visit returned; 0.
 */
TENON_API int tenon_backend_each(int (*visit)(void *context, const struct tenon_backend *backend),
				 void *context);

/**
 * tenon_backend_problems - append what kept plug-ins from being used, a line each
 * @out: buffer
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_backend_problems(struct tenon_buffer *out);

/**
 * tenon_backend_count - how many devices a backend sees; as tenon_backend.count, from any thread
 * @backend: backend
 * @count: receives the number
 */
TENON_API int tenon_backend_count(const struct tenon_backend *backend, uint32_t *count);

/** tenon_backend_describe - properties without opening; as tenon_backend.describe, any thread */
TENON_API int tenon_backend_describe(const struct tenon_backend *backend, uint32_t index,
				     struct tenon_device_properties *properties);

#ifdef __cplusplus
}
#endif

#endif /* TENON_DEVICE_H */

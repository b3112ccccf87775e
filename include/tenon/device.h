/* SPDX-License-Identifier: MIT */
#ifndef TENON_DEVICE_H
#define TENON_DEVICE_H

/**
 * DOC: devices
 *
 * A *backend* drives the devices of one API: "cuda", "opencl", "vulkan", "cpu", "null". A *device*
 * is one of its devices. It creates memory (tenon/memory.h), queues (tenon/queue.h), recordings
 * (tenon/commands.h) and executables (tenon/executable.h). It is a counted object; release it with
 * tenon_object_unref().
 *
 * A device is named by DLPack's type and number ("cuda:0") or by a URI, `driver://path?key=value`.
 * The path is a number, "uuid:…", or parts of the device's and the driver's name separated by '/',
 * optionally followed by a number that selects among the matches (`opencl://pocl`,
 * `opencl://nvidia/rtx/1`). Each backend defines its own keys.
 *
 * No driver is loaded before one of its devices is opened, and a device is opened once. A URI with
 * keys opens a separate instance, numbered after the devices that the backend found.
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

/*
 * The type of devices that do nothing. DLPack has no number for it, nor for those of backends, whose
 * own headers have them: tenon/remote.h, and some of tenon/uapi/. They are 110 to 120. The other numbers from 64 to 126 are free.
 */
#define TENON_DL_NULL 100

/** enum tenon_device_class - what sort of processor a device is */
enum tenon_device_class {
	TENON_CLASS_OTHER = 0,
	TENON_CLASS_CPU = 1,
	TENON_CLASS_GPU = 2,
	TENON_CLASS_INTEGRATED_GPU = 3,
	TENON_CLASS_ACCELERATOR = 4, /* FPGA, DSP, NPU */
};

/** enum tenon_device_flag - how a device behaves; a mask */
enum tenon_device_flag {
	/*
	 * `data` of a tensor and pointer arguments of kernels are device addresses (CUDA, CPU).
	 * Without this flag both are a struct tenon_memory * (OpenCL, Vulkan).
	 */
	TENON_DEVICE_ADDRESSES = 1,
	TENON_DEVICE_HOST_MEMORY = 2,	 /* with ADDRESSES: valid in this process */
	TENON_DEVICE_STREAM_ORDERED = 4, /* the backend uses tenon_memory_request.queue */
	TENON_DEVICE_INLINE = 8, /* submitting runs the operation; nothing is ever pending */
	TENON_DEVICE_SERIAL_BUILDS = 16, /* the driver builds one kernel at a time in a process */
	/*
	 * an operation like one that was done before takes no memory of the process, while at most
	 * eight of its queue are in flight
	 */
	TENON_DEVICE_STEADY = 32,
};

/** enum tenon_heap_flag - what memory of a heap can do; a mask, also in tenon_memory.flags */
enum tenon_heap_flag {
	TENON_HEAP_DEVICE_LOCAL = 1,
	TENON_HEAP_HOST_VISIBLE = 2,
	TENON_HEAP_HOST_COHERENT = 4, /* no flush and invalidate needed */
	TENON_HEAP_HOST_CACHED = 8,   /* fast for the host to read */
};

/** struct tenon_heap - a heap of a device: bytes, and a mask of enum tenon_heap_flag */
struct tenon_heap {
	uint64_t size;
	uint32_t flags;
	uint32_t reserved;
};

#define TENON_HEAPS_MOST 16

/**
 * struct tenon_device_properties - properties of a device; 0 or "" where unknown
 * @size: sizeof(struct tenon_device_properties) in the library, which allocates the struct. A
 *	backend built with newer headers must not write past it.
 * @name: the device's name as its driver gives it
 * @vendor: manufacturer
 * @driver: the driver's name and version, for people; part of the key of cached kernels
 * @compute_version: "8.6", "3.0", "1.3": TVM's compute version
 * @architecture: "gfx90a", "sm_86"
 * @api_version: as a number in TVM's encoding (CUDA 12040, Vulkan VK_API_VERSION_…)
 * @driver_version: as a number
 * @device_class: enum tenon_device_class
 * @flags: enum tenon_device_flag
 * @uuid: identifies the device across APIs and processes; zero when unknown
 * @pci: domain, bus, device, function; all UINT32_MAX when not on PCI
 * @drm_render: minor number of its render node; -1 for none or unknown
 * @drm_reserved: 0
 * @max_threads: threads per block (work items per group)
 * @max_block: per dimension
 * @max_grid: per dimension
 * @warp_size: 1 for devices without warps
 * @max_shared: bytes of shared (local) memory per block
 * @max_registers: per block
 * @max_arguments: per kernel; 0 for no limit
 * @clock_khz: highest clock rate
 * @processors: multiprocessors, compute units, cores
 * @l2_bytes: size of the cache that all processors share
 * @total_memory: bytes
 * @max_allocation: largest allocation in bytes
 * @alignment: required alignment of sub-ranges in bytes; a power of two, at least 1
 * @queues: number of queues that run concurrently; at least 1
 * @timestamp_period: picoseconds per tick of the device's clock; 0 for no clock
 * @imports: mask of 1 << enum tenon_handle_type
 * @exports: mask of 1 << enum tenon_handle_type
 * @heap_count: number of heaps
 * @heaps: the first is the default
 * @fence_imports: mask of 1 << enum tenon_fence_type that queues can wait for without the host
 * @fence_exports: mask of 1 << enum tenon_fence_type that the driver creates; TENON_FENCE_EVENTFD
 *	works on every device and needs no bit
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

/** tenon_device_properties - properties of a device; constant, valid as long as the device */
TENON_API const struct tenon_device_properties *
tenon_device_properties(const struct tenon_device *device);

/** tenon_device_id - DLPack's type and number of a device, as in DLTensor.device */
TENON_API DLDevice tenon_device_id(const struct tenon_device *device);

/**
 * tenon_device_check - check that a device is usable
 * @device: device
 *
 * Return: 0; -TENON_E_LOST with the reason. A device is also lost in a child process after fork().
 */
TENON_API int tenon_device_check(struct tenon_device *device);

/**
 * tenon_device_open - open a device by name, or return the one that is open
 * @uri: "cuda:0", "opencl", "vulkan://lavapipe", "cpu://0?queue=worker"
 * @out: receives the device with one reference
 *
 * Context: any thread; takes a lock.
 * Return: 0; -TENON_E_VALUE for a malformed URI; -TENON_E_DEVICE when the driver or device does not
 *	exist (the message lists those that do) or cannot be opened; -TENON_E_NOMEM.
 */
TENON_API int tenon_device_open(const char *uri, struct tenon_device **out);

/**
 * tenon_device_get - open a device by number, or return the one that is open
 * @id: DLPack's type and number
 * @out: receives the device with one reference
 *
 * Context: any thread; takes a lock.
 * Return: as tenon_device_open().
 */
TENON_API int tenon_device_get(DLDevice id, struct tenon_device **out);

/**
 * tenon_device_reopen - replace a lost device
 * @device: a device from tenon_device_get() or tenon_device_open()
 * @out: receives the new device with one reference; `cuda:0` names this one from now on
 *
 * Objects of the old device stay valid, and operations on them fail. The next call of a module's
 * kernel rebuilds it.
 *
 * CUDA opens no device again in a process that a fault of a kernel (an address out of bounds, a
 * trap) has struck: this returns -TENON_E_LOST then, and the program has to be started again.
 * Programs that must go on keep such work in a process of its own.
 *
 * Context: any thread; takes a lock.
 * Return: as tenon_device_open(); -TENON_E_DEVICE also where the device's number belongs to another device, which was
 *	opened after tenon_device_close_all() or in a child process.
 */
TENON_API int tenon_device_reopen(struct tenon_device *device, struct tenon_device **out);

/**
 * tenon_device_reset - reset a device, and replace it
 * @device: a device from tenon_device_get() or tenon_device_open(); may be lost
 * @out: receives the new device with one reference, as from tenon_device_reopen()
 *
 * @device is lost in any case: waits for its pending operations fail. Memory that was mapped stays
 * readable. Other devices are not affected.
 *
 * Context: any thread; takes a lock.
 * Return: 0; -TENON_E_UNSUPPORTED for a device that cannot be reset, which then is not lost; as
 *	tenon_device_open() when the device does not come back.
 */
TENON_API int tenon_device_reset(struct tenon_device *device, struct tenon_device **out);

/**
 * tenon_device_set_current - run kernels of modules on a device
 * @device: device
 *
 * What `__tvm_set_device` does in host code: kernels that the calling thread calls run on this device, where
 * they run on devices of its type. It is the first of its type unless something is set.
 *
 * Return: 0; -TENON_E_LOST; what opening returned, where another has taken the device's number.
 */
TENON_API int tenon_device_set_current(const struct tenon_device *device);

/**
 * tenon_device_close_all - drop the library's references of open devices
 *
 * Call this before exit, for example under a leak checker. Threads of queues have finished when it
 * returns, except for operations that wait for a point that is never signalled. Opening a device
 * afterwards opens it again.
 *
 * Context: no other thread may use devices.
 */
TENON_API void tenon_device_close_all(void);

/**
 * tenon_device_sync - wait for all operations submitted to all queues of a device
 * @device: device
 * @deadline: as in tenon_timeline_wait()
 *
 * It does not wait for what other threads submit after the call began.
 * It waits for every queue even if some fail, and returns one failure. The next sync of the queue
 * or the device returns the others. What compiled code submitted by a queue's handle is waited for where the queue
 * is the calling thread's, as by tenon_queue_sync(): the handle of another thread's queue may be in use there.
 *
 * Return: 0; -TENON_E_TIMEOUT; -TENON_E_LOST; the first failure of an operation.
 */
TENON_API int tenon_device_sync(struct tenon_device *device, uint64_t deadline);

/**
 * typedef tenon_stop_fn - decides whether a wait goes on, for example after a signal of the process
 * @context: from the caller of the function that waits
 *
 * Called about every 50 ms, by the thread that waits, with no lock held.
 *
 * Return: non-zero to end the wait.
 */
typedef int (*tenon_stop_fn)(void *context);

/**
 * tenon_device_sync_or_stop - tenon_device_sync(), which the caller may stop
 * @device: device
 * @deadline: as in tenon_timeline_wait()
 * @stop: see tenon_stop_fn; NULL for none
 * @context: passed to @stop
 *
 * Return: as tenon_device_sync(); -TENON_E_TIMEOUT also when @stop ended the wait.
 */
TENON_API int tenon_device_sync_or_stop(struct tenon_device *device, uint64_t deadline,
					tenon_stop_fn stop, void *context);

/** enum tenon_device_attribute - attributes of runtime.GetDeviceAttr; numbers are TVM's */
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
 * tenon_device_attribute - query an attribute of a device
 * @id: device
 * @attribute: enum tenon_device_attribute
 * @out: receives an int or an owned string; None when unknown. EXISTS gives an int and does not
 *	open the device.
 *
 * Return: 0; the error of tenon_device_get() when the device cannot be opened, except for EXISTS.
 */
TENON_API int tenon_device_attribute(DLDevice id, int attribute, struct tenon_value *out);

/** tenon_backend_find - find a backend by name; NULL for none. Loads plug-ins once. */
TENON_API const struct tenon_backend *tenon_backend_find(struct tenon_slice name);

/** tenon_backend_of_type - find a backend by DLPack's device type; NULL for none */
TENON_API const struct tenon_backend *tenon_backend_of_type(int32_t type);

/** tenon_backend_of_kind - find the backend that runs payloads of a module kind; NULL for none */
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
 * tenon_backend_problems - append the reasons why plug-ins were rejected, one per line
 * @out: buffer
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_backend_problems(struct tenon_buffer *out);

/**
 * tenon_backend_count - count the devices of a backend
 * @backend: backend
 * @count: receives the number
 *
 * Context: any thread; takes a lock. Loads the driver the first time.
 * Return: 0, also with *@count 0 when the driver works and has no device; -TENON_E_DEVICE when the
 *	driver is missing or does not work.
 */
TENON_API int tenon_backend_count(const struct tenon_backend *backend, uint32_t *count);

/** tenon_backend_describe - get properties without opening the device; any thread */
TENON_API int tenon_backend_describe(const struct tenon_backend *backend, uint32_t index,
				     struct tenon_device_properties *properties);

#ifdef __cplusplus
}
#endif

#endif /* TENON_DEVICE_H */

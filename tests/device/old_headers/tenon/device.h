/* SPDX-License-Identifier: MIT */
/* include/tenon/device.h as it was when device ABI 3 began, kept to build a plug-in that is older than the library. */
#ifndef TENON_DEVICE_H
#define TENON_DEVICE_H

/**
 * DOC: devices and backends
 *
 * A *backend* is the code for one way to reach devices: "cuda", "opencl", "vulkan", "cpu", "null".
 * A *device* is one thing it reached. A device makes memory (tenon/memory.h), queues and timelines
 * (tenon/queue.h), command buffers (tenon/commands.h) and executables (tenon/executable.h).
 *
 * A device is named by DLPack's type and number ("cuda:0") or by a URI, `driver://path?key=value`:
 * the path is a number, "uuid:…", or parts of the device's name and its driver's with '/' between,
 * behind which a number counts those that fit (`opencl://pocl`, `opencl://nvidia/rtx/1`); the keys
 * are the backend's own.
 * Nothing is opened before somebody asks for it, and a device is opened once. A URI with keys opens
 * an instance of its own, numbered behind those that the backend found.
 *
 * Backends come from a table in the library (devices/backends.c), and from plug-ins: shared objects
 * in $(libdir)/tenon/backends or $TENON_BACKEND_PATH that export `tenon_backend_entry`.
 *
 * Structs that begin a backend's own (struct tenon_device, …) are filled by tenon_*_init(); what the
 * backend may set and when is said at each field. All tables and the properties begin with their size, and
 * grow at the end only: a plug-in that was built with shorter ones goes on working, and slots that it
 * does not know are NULL to the library.
 */

#include <tenon/buffer.h>
#include <tenon/error.h>
#include <tenon/object.h>
#include <tenon/value.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_device;
struct tenon_device_ops;
struct tenon_memory_ops;
struct tenon_queue;
struct tenon_queue_ops;
struct tenon_commands_ops;
struct tenon_executable_ops;

/* raised when a table or a struct of the device headers changes in a way that sizes cannot tell */
#define TENON_DEVICE_ABI 3

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
};

/** struct tenon_device_option - one `key=value` of a URI, both decoded */
struct tenon_device_option {
	struct tenon_slice key;
	struct tenon_slice value;
};

/**
 * struct tenon_device_choice - which device to open
 * @index: number among those that the backend found
 * @options: the URI's keys; each has to be known to the backend, an unknown one is -TENON_E_VALUE
 * @option_count: how many
 */
struct tenon_device_choice {
	uint32_t index;
	const struct tenon_device_option *options;
	size_t option_count;
};

/** enum tenon_backend_flag - what a backend is like; a mask */
enum tenon_backend_flag {
	/*
	 * It opens devices in a child of a process that has used it: no library behind it has threads
	 * or locks that fork() leaves behind. Without it the core refuses there.
	 */
	TENON_BACKEND_FORKS = 1,
};

/**
 * struct tenon_backend - a way to reach devices; lives as long as the process
 *
 * All slots may be called from any thread; the first four are never called at the same time.
 */
struct tenon_backend {
	/** @abi: TENON_DEVICE_ABI */
	uint32_t abi;
	/** @size: sizeof(struct tenon_backend) */
	uint32_t size;
	/** @name: "cuda": driver in URIs, and in "cuda:0" */
	const char *name;
	/** @device_type: DLPack's number */
	int32_t device_type;
	/** @flags: enum tenon_backend_flag */
	uint32_t flags;
	/**
	 * @kinds: kinds of modules whose payloads create_executable takes, ended by NULL; may be NULL
	 *
	 * "opencl", "sdaccel". Their form is one that runtime/loader/payload_format.c describes.
	 */
	const char *const *kinds;
	/**
	 * @count: how many devices there are
	 *
	 * Opens the vendor's library the first time. Returns 0 with *@count 0 only when the library
	 * works and sees no device; a library that is missing or does not work is -TENON_E_DEVICE with
	 * a message that says what is missing and how to get it. Called again after a failure it looks
	 * again.
	 */
	int (*count)(uint32_t *count);
	/**
	 * @describe: fill the properties of a device without opening it
	 *
	 * Must be cheap and must not start a context on the device. @properties comes zeroed, but for
	 * its size.
	 */
	int (*describe)(uint32_t index, struct tenon_device_properties *properties);
	/**
	 * @open: open a device
	 *
	 * Makes the backend's struct, calls tenon_device_init(), fills device->properties-> Returns 0
	 * with one reference, -TENON_E_DEVICE, -TENON_E_VALUE for an option, -TENON_E_NOMEM.
	 */
	int (*open)(const struct tenon_device_choice *choice, struct tenon_device **out);
	/**
	 * @doctor: append lines for people: which library was found, versions, what is missing; may be
	 * NULL
	 */
	int (*doctor)(struct tenon_buffer *out);
};

/** typedef tenon_backend_entry_fn - what a plug-in exports as `tenon_backend_entry`
 *
 * @abi is the TENON_DEVICE_ABI of the library that opens it. Returns the backend; NULL when it
 * cannot serve that ABI. Does nothing else: no device is touched before tenon_backend.count.
 */
typedef const struct tenon_backend *(*tenon_backend_entry_fn)(uint32_t abi);

/**
 * struct tenon_device_ops - what a device does
 *
 * A slot that may be NULL says so, and what happens then.
 */
struct tenon_device_ops {
	/** @size: sizeof(struct tenon_device_ops) */
	size_t size;
	/**
	 * @close: give everything back and free the struct
	 *
	 * The last reference went: no memory, queue, executable of the device is left. Must not wait
	 * for a lost device.
	 */
	void (*close)(struct tenon_device *device);
	/** @available_memory: bytes free now; may be NULL: total_memory is answered */
	int (*available_memory)(struct tenon_device *device, uint64_t *bytes);
	/**
	 * @make_current: the thread chose the device (`__tvm_set_device`); may be NULL
	 *
	 * For APIs that keep a current context per thread.
	 */
	int (*make_current)(struct tenon_device *device);
	/** @native: the vendor's handle of the device (CUdevice, cl_device_id, VkDevice); may be NULL */
	void *(*native)(struct tenon_device *device);
	/** @memory: never NULL */
	const struct tenon_memory_ops *memory;
	/** @queue: never NULL */
	const struct tenon_queue_ops *queue;
	/** @commands: NULL where recordings are kept as lists and submitted one by one */
	const struct tenon_commands_ops *commands;
	/** @executable: NULL for a device that runs no kernels */
	const struct tenon_executable_ops *executable;
};

/**
 * struct tenon_device - the start of every open device
 * @object: header; of type "tenon.Device"
 * @ops: what it does
 * @backend: who opened it
 * @properties: made by tenon_device_init(), filled by the backend before open returns, then constant
 * @index: which of the backend's devices
 * @id: DLPack's type and number; set by the core when open returned
 * @slot: small number, unique among open devices; set by the core
 * @lost: 0, or 1 from tenon_device_lose() on; atomic
 * @core: what the core keeps; not for backends
 */
struct tenon_device {
	struct tenon_object object;
	const struct tenon_device_ops *ops;
	const struct tenon_backend *backend;
	struct tenon_device_properties *properties;
	uint32_t index;
	DLDevice id;
	uint32_t slot;
	uint32_t lost;
	struct tenon_device_core *core;
};

/**
 * tenon_device_init - make the start of a device, with one reference; for backends
 * @device: memory of the backend's, given back by @ops->close. The rest of the struct stays.
 * @ops: lives as long as the process
 * @backend: the backend
 * @index: from tenon_device_choice
 *
 * Return: 0; -TENON_E_NOMEM, and then the memory stays the caller's.
 */
int tenon_device_init(struct tenon_device *device, const struct tenon_device_ops *ops,
		      const struct tenon_backend *backend, uint32_t index);

/**
 * tenon_device_fini - end what tenon_device_init() began; for backends, when open fails behind it
 * @device: a device that nobody else has seen. Its @ops->close is not called.
 */
void tenon_device_fini(struct tenon_device *device);

/**
 * tenon_device_lose - the device is gone for good; for backends
 * @device: device
 * @status: negative; its message in the thread's slot becomes the reason
 *
 * From now on submissions and allocations on it fail with -TENON_E_LOST and the reason, and so do
 * the timelines that its queues promised to signal. Closing and reopening is the way back:
 * tenon_device_reopen(). The first reason stays. The thread's error stays too.
 *
 * Context: any thread.
 * Return: -TENON_E_LOST with the reason raised, so that it can be returned at once.
 */
int tenon_device_lose(struct tenon_device *device, int status);

/**
 * tenon_device_check - is the device usable
 * @device: device
 *
 * Return: 0; -TENON_E_LOST with the reason, also in a child of the process that opened it.
 */
int tenon_device_check(struct tenon_device *device);

/**
 * tenon_device_open - open a device, or get one that is open, by name
 * @uri: "cuda:0", "opencl", "vulkan://lavapipe", "cpu://0?queue=worker"
 * @out: receives the device with one reference
 *
 * Context: any thread; takes a lock.
 * Return: 0; -TENON_E_VALUE for a URI that cannot be read; -TENON_E_DEVICE for a driver or a device
 *	that does not exist, with those that do, and when it does not open; -TENON_E_NOMEM.
 */
int tenon_device_open(const char *uri, struct tenon_device **out);

/**
 * tenon_device_get - open a device, or get one that is open, by number
 * @id: DLPack's type and number
 * @out: receives the device with one reference
 *
 * Context: any thread; takes a lock.
 * Return: as tenon_device_open().
 */
int tenon_device_get(DLDevice id, struct tenon_device **out);

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
int tenon_device_reopen(struct tenon_device *device, struct tenon_device **out);

/**
 * tenon_device_close_all - drop the library's references of open devices
 *
 * For programs that end, and tools that want to see nothing leaked: what queues did in threads is done
 * when this returns, except where an operation still waits for a point that nobody signals. Devices are
 * opened anew when they are asked for.
 *
 * Context: no other thread uses devices.
 */
void tenon_device_close_all(void);

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
int tenon_device_sync(struct tenon_device *device, uint64_t deadline);

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
int tenon_device_attribute(DLDevice id, int attribute, struct tenon_value *out);

/** tenon_backend_find - a backend by its name; NULL when there is none. Loads plug-ins once. */
const struct tenon_backend *tenon_backend_find(struct tenon_slice name);

/** tenon_backend_of_type - a backend by DLPack's device type; NULL when there is none */
const struct tenon_backend *tenon_backend_of_type(int32_t type);

/** tenon_backend_of_kind - the backend that takes payloads of a kind of module; NULL */
const struct tenon_backend *tenon_backend_of_kind(struct tenon_slice kind);

/**
 * tenon_backend_each - visit all backends, those of the library first
 * @visit: stops when it returns non-zero
 * @context: handed to @visit
 *
 * Return: what the last @visit returned; 0.
 */
int tenon_backend_each(int (*visit)(void *context, const struct tenon_backend *backend),
		       void *context);

/**
 * tenon_backend_register - add a backend of the program's own
 * @backend: lives as long as the process
 *
 * Context: any thread; takes a lock.
 * Return: 0; -TENON_E_EXISTS for a name or device type that is taken; -TENON_E_USAGE for another ABI,
 *	and for a table without a name or without one of its first three slots; -TENON_E_NOMEM.
 */
int tenon_backend_register(const struct tenon_backend *backend);

/**
 * tenon_backend_problems - append what kept plug-ins from being used, a line each
 * @out: buffer
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int tenon_backend_problems(struct tenon_buffer *out);

/**
 * tenon_backend_count - how many devices a backend sees; as tenon_backend.count, from any thread
 * @backend: backend
 * @count: receives the number
 */
int tenon_backend_count(const struct tenon_backend *backend, uint32_t *count);

/** tenon_backend_describe - properties without opening; as tenon_backend.describe, any thread */
int tenon_backend_describe(const struct tenon_backend *backend, uint32_t index,
			   struct tenon_device_properties *properties);

#ifdef __cplusplus
}
#endif

#endif /* TENON_DEVICE_H */

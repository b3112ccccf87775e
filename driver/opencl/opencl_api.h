/* SPDX-License-Identifier: MIT */
/* Our own declarations of OpenCL, and the table of its functions. */
#ifndef DRIVER_OPENCL_OPENCL_API_H
#define DRIVER_OPENCL_OPENCL_API_H

/*
 * libOpenCL.so.1 is opened when OpenCL devices are requested. It is not needed to build.
 * $TENON_OPENCL_LIBRARY names another library, except in programs that run with raised privileges.
 *
 * Functions newer than OpenCL 1.0 may be missing. A loader exports all functions, even those that
 * the driver does not implement, so check the version of the *device* too.
 */

#include <stddef.h>
#include <stdint.h>

typedef struct ocl_platform *ocl_platform;
typedef struct ocl_device *ocl_device;
typedef struct ocl_context *ocl_context;
typedef struct ocl_queue *ocl_queue;
typedef struct ocl_mem *ocl_mem;
typedef struct ocl_program *ocl_program;
typedef struct ocl_kernel *ocl_kernel;
typedef struct ocl_event *ocl_event;
typedef struct ocl_recording *ocl_recording;
typedef struct ocl_semaphore *ocl_semaphore;

enum ocl_status {
	OCL_SUCCESS = 0,
	OCL_DEVICE_NOT_FOUND = -1,
	OCL_DEVICE_NOT_AVAILABLE = -2,
	OCL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
	OCL_OUT_OF_RESOURCES = -5,
	OCL_OUT_OF_HOST_MEMORY = -6,
	OCL_FAILED_EVENT_IN_WAIT_LIST = -14,
	OCL_INVALID_CONTEXT = -34,
	OCL_INVALID_COMMAND_QUEUE = -36,
	OCL_INVALID_BINARY = -42,
	OCL_INVALID_KERNEL_NAME = -46,
	OCL_INVALID_WORK_GROUP_SIZE = -54,
	OCL_INVALID_BUFFER_SIZE = -61,
	OCL_INVALID_GLOBAL_WORK_SIZE = -63,
	OCL_PLATFORM_NOT_FOUND = -1001,
	OCL_NVIDIA_ILLEGAL_ACCESS = -9999,
};

enum ocl_device_type {
	OCL_DEVICE_TYPE_CPU = 2,
	OCL_DEVICE_TYPE_GPU = 4,
	OCL_DEVICE_TYPE_ACCELERATOR = 8,
	OCL_DEVICE_TYPE_CUSTOM = 16,
};

enum ocl_platform_info {
	OCL_PLATFORM_VERSION = 0x0901,
	OCL_PLATFORM_NAME = 0x0902,
};

enum ocl_device_info {
	OCL_DEVICE_TYPE = 0x1000,
	OCL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
	OCL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
	OCL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
	OCL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100c,
	OCL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
	OCL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019,
	OCL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101e,
	OCL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
	OCL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
	OCL_DEVICE_PROFILING_TIMER_RESOLUTION = 0x1025,
	OCL_DEVICE_NAME = 0x102b,
	OCL_DEVICE_VENDOR = 0x102c,
	OCL_DRIVER_VERSION = 0x102d,
	OCL_DEVICE_VERSION = 0x102f,
	OCL_DEVICE_HOST_UNIFIED_MEMORY = 0x1035,
	OCL_DEVICE_SVM_CAPABILITIES = 0x1053,
	OCL_DEVICE_IL_VERSION = 0x105b,
	OCL_DEVICE_SEMAPHORE_IMPORTS = 0x204d,
	OCL_DEVICE_SEMAPHORE_EXPORTS = 0x204e,
	OCL_DEVICE_EXTERNAL_MEMORY_IMPORTS = 0x204f,
	OCL_DEVICE_EXTENSIONS_WITH_VERSION = 0x1060,
	OCL_DEVICE_UUID = 0x106a,
	OCL_DEVICE_PCI_BUS_INFO = 0x410f,
	OCL_DEVICE_WARP_SIZE_NV = 0x4003,
	OCL_DEVICE_WAVEFRONT_WIDTH_AMD = 0x4043,
	OCL_DEVICE_COMMAND_BUFFER_CAPABILITIES = 0x12a9,
	OCL_DEVICE_COMMAND_BUFFER_QUEUE_PROPERTIES = 0x12aa,
};

enum ocl_flag {
	OCL_CONTEXT_PLATFORM = 0x1084,
	OCL_QUEUE_CONTEXT = 0x1090,
	OCL_QUEUE_PROPERTIES = 0x1093,
	OCL_QUEUE_OUT_OF_ORDER = 1,
	OCL_QUEUE_PROFILING_ENABLE = 2,
	OCL_EXTERNAL_MEMORY_DMA_BUF = 0x2067,
	OCL_SEMAPHORE_TYPE = 0x203d,
	OCL_SEMAPHORE_BINARY = 1,
	OCL_SEMAPHORE_EXPORT_TYPES = 0x203f,
	OCL_SEMAPHORE_OPAQUE_FD = 0x2055,
	OCL_SEMAPHORE_SYNC_FD = 0x2058,
	OCL_MEM_READ_WRITE = 1,
	OCL_MEM_USE_HOST_PTR = 8,
	OCL_MEM_ALLOC_HOST_PTR = 16,
	OCL_MEM_SVM_FINE_GRAIN_BUFFER = 1024,
	OCL_SVM_FINE_GRAIN_BUFFER = 2,
	OCL_BUFFER_CREATE_TYPE_REGION = 0x1220,
	OCL_MAP_READ = 1,
	OCL_MAP_WRITE = 2,
	OCL_MAP_WRITE_INVALIDATE_REGION = 4,
	OCL_PROGRAM_BINARY_SIZES = 0x1165,
	OCL_PROGRAM_BINARIES = 0x1166,
	OCL_PROGRAM_BUILD_LOG = 0x1183,
	OCL_KERNEL_NUM_ARGS = 0x1191,
	OCL_EVENT_COMMAND_EXECUTION_STATUS = 0x11d3,
	OCL_PROFILING_COMMAND_END = 0x1283,
	OCL_COMPLETE = 0,
	OCL_RECORDING_FLAGS = 0x1293,
	OCL_RECORDING_FLAG_SIMULTANEOUS = 1,
	OCL_RECORDING_CAN_SIMULTANEOUS = 4,
};

/** struct ocl_region - cl_buffer_region */
struct ocl_region {
	size_t origin;
	size_t size;
};

/** struct ocl_name_version - cl_name_version; the version has 10, 10 and 12 bits */
struct ocl_name_version {
	uint32_t version;
	char name[64];
};

/* OCL_FUNCTION(optional, result, name without "cl", parameters) */
#define OCL_FUNCTIONS(OCL_FUNCTION)                                                                \
	OCL_FUNCTION(0, int, GetPlatformIDs, (uint32_t, ocl_platform *, uint32_t *))               \
	OCL_FUNCTION(0, int, GetPlatformInfo, (ocl_platform, uint32_t, size_t, void *, size_t *))  \
	OCL_FUNCTION(0, int, GetDeviceIDs,                                                         \
		     (ocl_platform, uint64_t, uint32_t, ocl_device *, uint32_t *))                 \
	OCL_FUNCTION(0, int, GetDeviceInfo, (ocl_device, uint32_t, size_t, void *, size_t *))      \
	OCL_FUNCTION(0, ocl_context, CreateContext,                                                \
		     (const intptr_t *, uint32_t, const ocl_device *,                              \
		      void (*)(const char *, const void *, size_t, void *), void *, int *))        \
	OCL_FUNCTION(0, int, ReleaseContext, (ocl_context))                                        \
	OCL_FUNCTION(0, ocl_queue, CreateCommandQueue, (ocl_context, ocl_device, uint64_t, int *)) \
	OCL_FUNCTION(0, int, GetCommandQueueInfo, (ocl_queue, uint32_t, size_t, void *, size_t *)) \
	OCL_FUNCTION(0, int, RetainCommandQueue, (ocl_queue))                                      \
	OCL_FUNCTION(0, int, ReleaseCommandQueue, (ocl_queue))                                     \
	OCL_FUNCTION(0, ocl_mem, CreateBuffer, (ocl_context, uint64_t, size_t, void *, int *))     \
	OCL_FUNCTION(1, ocl_mem, CreateBufferWithProperties,                                       \
		     (ocl_context, const uint64_t *, uint64_t, size_t, void *, int *))             \
	OCL_FUNCTION(1, ocl_mem, CreateSubBuffer,                                                  \
		     (ocl_mem, uint64_t, uint32_t, const void *, int *))                           \
	OCL_FUNCTION(0, int, ReleaseMemObject, (ocl_mem))                                          \
	OCL_FUNCTION(1, int, SetMemObjectDestructorCallback,                                       \
		     (ocl_mem, void (*)(ocl_mem, void *), void *))                                 \
	OCL_FUNCTION(1, void *, SVMAlloc, (ocl_context, uint64_t, size_t, uint32_t))               \
	OCL_FUNCTION(1, void, SVMFree, (ocl_context, void *))                                      \
	OCL_FUNCTION(0, ocl_program, CreateProgramWithSource,                                      \
		     (ocl_context, uint32_t, const char **, const size_t *, int *))                \
	OCL_FUNCTION(0, ocl_program, CreateProgramWithBinary,                                      \
		     (ocl_context, uint32_t, const ocl_device *, const size_t *,                   \
		      const unsigned char **, int *, int *))                                       \
	OCL_FUNCTION(1, ocl_program, CreateProgramWithIL,                                          \
		     (ocl_context, const void *, size_t, int *))                                   \
	OCL_FUNCTION(0, int, ReleaseProgram, (ocl_program))                                        \
	OCL_FUNCTION(0, int, BuildProgram,                                                         \
		     (ocl_program, uint32_t, const ocl_device *, const char *,                     \
		      void (*)(ocl_program, void *), void *))                                      \
	OCL_FUNCTION(0, int, GetProgramInfo, (ocl_program, uint32_t, size_t, void *, size_t *))    \
	OCL_FUNCTION(0, int, GetProgramBuildInfo,                                                  \
		     (ocl_program, ocl_device, uint32_t, size_t, void *, size_t *))                \
	OCL_FUNCTION(0, ocl_kernel, CreateKernel, (ocl_program, const char *, int *))              \
	OCL_FUNCTION(0, int, ReleaseKernel, (ocl_kernel))                                          \
	OCL_FUNCTION(0, int, SetKernelArg, (ocl_kernel, uint32_t, size_t, const void *))           \
	OCL_FUNCTION(0, int, GetKernelInfo, (ocl_kernel, uint32_t, size_t, void *, size_t *))      \
	OCL_FUNCTION(0, int, EnqueueNDRangeKernel,                                                 \
		     (ocl_queue, ocl_kernel, uint32_t, const size_t *, const size_t *,             \
		      const size_t *, uint32_t, const ocl_event *, ocl_event *))                   \
	OCL_FUNCTION(0, int, EnqueueReadBuffer,                                                    \
		     (ocl_queue, ocl_mem, uint32_t, size_t, size_t, void *, uint32_t,              \
		      const ocl_event *, ocl_event *))                                             \
	OCL_FUNCTION(0, int, EnqueueWriteBuffer,                                                   \
		     (ocl_queue, ocl_mem, uint32_t, size_t, size_t, const void *, uint32_t,        \
		      const ocl_event *, ocl_event *))                                             \
	OCL_FUNCTION(0, int, EnqueueCopyBuffer,                                                    \
		     (ocl_queue, ocl_mem, ocl_mem, size_t, size_t, size_t, uint32_t,               \
		      const ocl_event *, ocl_event *))                                             \
	OCL_FUNCTION(1, int, EnqueueFillBuffer,                                                    \
		     (ocl_queue, ocl_mem, const void *, size_t, size_t, size_t, uint32_t,          \
		      const ocl_event *, ocl_event *))                                             \
	OCL_FUNCTION(0, void *, EnqueueMapBuffer,                                                  \
		     (ocl_queue, ocl_mem, uint32_t, uint64_t, size_t, size_t, uint32_t,            \
		      const ocl_event *, ocl_event *, int *))                                      \
	OCL_FUNCTION(0, int, EnqueueUnmapMemObject,                                                \
		     (ocl_queue, ocl_mem, void *, uint32_t, const ocl_event *, ocl_event *))       \
	OCL_FUNCTION(1, int, EnqueueMarker, (ocl_queue, ocl_event *))                              \
	OCL_FUNCTION(1, int, EnqueueWaitForEvents, (ocl_queue, uint32_t, const ocl_event *))       \
	OCL_FUNCTION(1, int, EnqueueMarkerWithWaitList,                                            \
		     (ocl_queue, uint32_t, const ocl_event *, ocl_event *))                        \
	OCL_FUNCTION(1, int, EnqueueBarrierWithWaitList,                                           \
		     (ocl_queue, uint32_t, const ocl_event *, ocl_event *))                        \
	OCL_FUNCTION(0, int, RetainEvent, (ocl_event))                                             \
	OCL_FUNCTION(0, int, ReleaseEvent, (ocl_event))                                            \
	OCL_FUNCTION(0, int, GetEventInfo, (ocl_event, uint32_t, size_t, void *, size_t *))        \
	OCL_FUNCTION(0, int, WaitForEvents, (uint32_t, const ocl_event *))                         \
	OCL_FUNCTION(0, int, GetEventProfilingInfo,                                                \
		     (ocl_event, uint32_t, size_t, void *, size_t *))                              \
	OCL_FUNCTION(1, int, SetEventCallback,                                                     \
		     (ocl_event, int32_t, void (*)(ocl_event, int32_t, void *), void *))           \
	OCL_FUNCTION(0, int, Flush, (ocl_queue))                                                   \
	OCL_FUNCTION(1, void *, GetExtensionFunctionAddressForPlatform,                            \
		     (ocl_platform, const char *))

/** struct ocl_api - the functions of libOpenCL */
struct ocl_api {
#define OCL_POINTER(optional, result, name, parameters) result(*name) parameters;
	OCL_FUNCTIONS(OCL_POINTER)
#undef OCL_POINTER
};

/* filled by opencl_library(); optional functions are NULL if missing */
extern struct ocl_api ocl __attribute__((visibility("hidden")));

/**
 * opencl_library - open libOpenCL and fill @ocl
 *
 * Context: one thread at a time. The library is never closed; after a failure the next call tries
 * again.
 *
 * Return: 0; -TENON_E_DEVICE with the missing part and the remedy.
 */
int opencl_library(void);

/** opencl_remedy - how to install OpenCL, a sentence without the full stop */
extern const char opencl_remedy[];

/** opencl_status_name - name of a status without "CL_": "OUT_OF_RESOURCES"; "error" if unknown */
const char *opencl_status_name(int status);

#endif /* DRIVER_OPENCL_OPENCL_API_H */

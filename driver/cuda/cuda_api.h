/* SPDX-License-Identifier: MIT */
/* Our own declarations of CUDA's driver API, and the table of its functions. */
#ifndef DRIVER_CUDA_CUDA_API_H
#define DRIVER_CUDA_CUDA_API_H

/*
 * libcuda.so.1 comes with NVIDIA's driver and is opened when CUDA devices are requested. The
 * toolkit is not needed to build. $TENON_CUDA_LIBRARY names another library, except in programs
 * that run with raised privileges.
 *
 * When CUDA changes a function it adds a symbol (`_v2`) and keeps the old one. This table names the
 * symbols that have the given parameters, so later versions do not matter. Functions newer than
 * CUDA 11.0 may be missing.
 */

#include <stddef.h>
#include <stdint.h>

typedef struct cu_context_data *cu_context;
typedef struct cu_stream_data *cu_stream;
typedef struct cu_event_data *cu_event;
typedef struct cu_module_data *cu_module;
typedef struct cu_function_data *cu_function;
typedef struct cu_graph_data *cu_graph;
typedef struct cu_graph_exec_data *cu_graph_exec;
typedef struct cu_node_data *cu_node;
typedef uint64_t cu_address;

enum cu_status {
	CU_SUCCESS = 0,
	CU_INVALID_VALUE = 1,
	CU_OUT_OF_MEMORY = 2,
	CU_DEINITIALIZED = 4,
	CU_STUB_LIBRARY = 34,
	CU_DEVICE_UNAVAILABLE = 46,
	CU_NO_DEVICE = 100,
	CU_INVALID_IMAGE = 200,
	CU_INVALID_CONTEXT = 201,
	CU_NO_BINARY_FOR_GPU = 209,
	CU_ECC_UNCORRECTABLE = 214,
	CU_INVALID_PTX = 218,
	CU_NVLINK_UNCORRECTABLE = 220,
	CU_CONTAINED = 226,
	CU_OPERATING_SYSTEM = 304,
	CU_INVALID_HANDLE = 400,
	CU_NOT_FOUND = 500,
	CU_NOT_READY = 600,
	CU_ILLEGAL_ADDRESS = 700,
	CU_LAUNCH_OUT_OF_RESOURCES = 701,
	CU_LAUNCH_TIMEOUT = 702,
	CU_CONTEXT_IS_DESTROYED = 709,
	CU_ASSERT = 710,
	CU_HOST_MEMORY_ALREADY_REGISTERED = 712,
	CU_HARDWARE_STACK_ERROR = 714,
	CU_LAUNCH_FAILED = 719,
	CU_TENSOR_MEMORY_LEAK = 721,
	CU_NOT_SUPPORTED = 801,
	CU_SYSTEM_NOT_READY = 802,
	CU_SYSTEM_DRIVER_MISMATCH = 803,
	CU_COMPAT_NOT_SUPPORTED = 804,
	CU_UNKNOWN = 999,
};

enum cu_device_attribute {
	CU_ATTRIBUTE_MAX_THREADS = 1,
	CU_ATTRIBUTE_MAX_BLOCK_X = 2, /* y and z follow */
	CU_ATTRIBUTE_MAX_GRID_X = 5,
	CU_ATTRIBUTE_MAX_SHARED = 8,
	CU_ATTRIBUTE_WARP_SIZE = 10,
	CU_ATTRIBUTE_MAX_REGISTERS = 12,
	CU_ATTRIBUTE_CLOCK_KHZ = 13,
	CU_ATTRIBUTE_PROCESSORS = 16,
	CU_ATTRIBUTE_INTEGRATED = 18,
	CU_ATTRIBUTE_CONCURRENT_KERNELS = 31,
	CU_ATTRIBUTE_PCI_BUS = 33,
	CU_ATTRIBUTE_PCI_DEVICE = 34,
	CU_ATTRIBUTE_L2_BYTES = 38,
	CU_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
	CU_ATTRIBUTE_PCI_DOMAIN = 50,
	CU_ATTRIBUTE_MAJOR = 75,
	CU_ATTRIBUTE_MINOR = 76,
	CU_ATTRIBUTE_COOPERATIVE = 95,
	CU_ATTRIBUTE_MAX_SHARED_OPTIN = 97,
	CU_ATTRIBUTE_HOST_REGISTER = 99,
	CU_ATTRIBUTE_VIRTUAL_MEMORY = 102,
	CU_ATTRIBUTE_POSIX_FD = 103,
	CU_ATTRIBUTE_MEMORY_POOLS = 115,
	CU_ATTRIBUTE_CLUSTERS = 120,
	CU_ATTRIBUTE_DMA_BUF = 124,
};

enum cu_function_attribute {
	CU_FUNCTION_STATIC_SHARED = 1,
	CU_FUNCTION_MAX_DYNAMIC_SHARED = 8,
	CU_FUNCTION_NON_PORTABLE_CLUSTER = 14,
};

enum cu_launch_attribute_id {
	CU_LAUNCH_COOPERATIVE = 2,
	CU_LAUNCH_CLUSTER = 4,
	CU_LAUNCH_PROGRAMMATIC = 6,
	CU_LAUNCH_PREFERRED_CLUSTER = 11,
};

enum cu_flag {
	CU_STREAM_DEFAULT = 0,
	CU_EVENT_DEFAULT = 0,
	CU_EVENT_DISABLE_TIMING = 2,
	CU_HOST_PORTABLE = 1,
	CU_HOST_DEVICE_MAP = 2,
	CU_POINTER_MEMORY_TYPE = 2,
	CU_MEMORY_HOST = 1,
	CU_MEMORY_DEVICE = 2,
	CU_JIT_INFO_LOG = 3,
	CU_JIT_INFO_LOG_SIZE = 4,
	CU_JIT_ERROR_LOG = 5,
	CU_JIT_ERROR_LOG_SIZE = 6,
	CU_ALLOCATION_PINNED = 1,
	CU_LOCATION_DEVICE = 1,
	CU_HANDLE_POSIX_FD = 1,
	CU_ACCESS_READ_WRITE = 3,
	CU_RANGE_DMA_BUF_FD = 1,
	CU_EXTERNAL_OPAQUE_FD = 1,
};

/** struct cu_launch_attribute - CUlaunchAttribute: an id and a value of 64 bytes */
struct cu_launch_attribute {
	uint32_t id;
	uint32_t pad;
	union {
		uint32_t dim[3];
		int32_t number;
		uint64_t all[8];
	} value;
};

/** struct cu_launch - CUlaunchConfig */
struct cu_launch {
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared;
	cu_stream stream;
	const struct cu_launch_attribute *attributes;
	uint32_t attribute_count;
};

/** struct cu_kernel_node - CUDA_KERNEL_NODE_PARAMS_v2; v1 ends after @extra */
struct cu_kernel_node {
	cu_function function;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared;
	void **arguments;
	void **extra;
	void *kernel;
	cu_context context;
};

/** struct cu_copy_side - source or destination in CUDA_MEMCPY3D_v2 */
struct cu_copy_side {
	size_t x, y, z, lod;
	uint32_t type;
	void *host;
	cu_address device;
	void *array;
	void *reserved;
	size_t pitch;
	size_t height;
};

/** struct cu_copy_node - CUDA_MEMCPY3D_v2 */
struct cu_copy_node {
	struct cu_copy_side from, to;
	size_t width, height, depth;
};

/** struct cu_fill_node - CUDA_MEMSET_NODE_PARAMS_v1 */
struct cu_fill_node {
	cu_address to;
	size_t pitch;
	uint32_t value;
	uint32_t element;
	size_t width;
	size_t height;
};

/** struct cu_location - CUmemLocation */
struct cu_location {
	uint32_t type;
	int32_t id;
};

/** struct cu_allocation - CUmemAllocationProp_v1 */
struct cu_allocation {
	uint32_t type;
	uint32_t handles;
	struct cu_location location;
	void *win32;
	uint8_t flags[8];
};

/** struct cu_access - CUmemAccessDesc_v1 */
struct cu_access {
	struct cu_location location;
	uint32_t flags;
};

/** struct cu_external_memory - CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1, of the type fd */
struct cu_external_memory {
	uint32_t type;
	uint32_t pad;
	union {
		int32_t fd;
		void *win32[2];
	} handle;
	uint64_t size;
	uint32_t flags;
	uint32_t reserved[16];
};

/** struct cu_external_buffer - CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1 */
struct cu_external_buffer {
	uint64_t offset;
	uint64_t size;
	uint32_t flags;
	uint32_t reserved[16];
};

/** struct cu_external_semaphore - CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1, of the type fd */
struct cu_external_semaphore {
	uint32_t type;
	uint32_t pad;
	union {
		int32_t fd;
		void *win32[2];
	} handle;
	uint32_t flags;
	uint32_t reserved[16];
};

/**
 * struct cu_semaphore_wait - CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1; all 0 for a binary semaphore
 */
struct cu_semaphore_wait {
	uint64_t value;
	uint64_t sync;
	uint64_t key;
	uint32_t timeout;
	uint32_t pad;
	uint32_t reserved[10];
	uint32_t flags;
	uint32_t reserved_too[16];
};

/* CUDA_FUNCTION(optional, name here, symbol, parameters); all return an enum cu_status */
#define CUDA_FUNCTIONS(CUDA_FUNCTION)                                                              \
	CUDA_FUNCTION(0, Init, "cuInit", (uint32_t))                                               \
	CUDA_FUNCTION(0, DriverGetVersion, "cuDriverGetVersion", (int *))                          \
	CUDA_FUNCTION(0, GetErrorName, "cuGetErrorName", (int, const char **))                     \
	CUDA_FUNCTION(0, GetErrorString, "cuGetErrorString", (int, const char **))                 \
	CUDA_FUNCTION(0, DeviceGetCount, "cuDeviceGetCount", (int *))                              \
	CUDA_FUNCTION(0, DeviceGet, "cuDeviceGet", (int *, int))                                   \
	CUDA_FUNCTION(0, DeviceGetName, "cuDeviceGetName", (char *, int, int))                     \
	CUDA_FUNCTION(0, DeviceGetUuid, "cuDeviceGetUuid", (void *, int))                          \
	CUDA_FUNCTION(1, DeviceGetUuid2, "cuDeviceGetUuid_v2", (void *, int))                      \
	CUDA_FUNCTION(0, DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, int))                   \
	CUDA_FUNCTION(0, DeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, int))            \
	CUDA_FUNCTION(0, PrimaryRetain, "cuDevicePrimaryCtxRetain", (cu_context *, int))           \
	CUDA_FUNCTION(0, PrimaryRelease, "cuDevicePrimaryCtxRelease_v2", (int))                    \
	CUDA_FUNCTION(0, PrimaryReset, "cuDevicePrimaryCtxReset_v2", (int))                        \
	CUDA_FUNCTION(0, CtxGetCurrent, "cuCtxGetCurrent", (cu_context *))                         \
	CUDA_FUNCTION(0, CtxSetCurrent, "cuCtxSetCurrent", (cu_context))                           \
	CUDA_FUNCTION(0, MemGetInfo, "cuMemGetInfo_v2", (size_t *, size_t *))                      \
	CUDA_FUNCTION(0, MemAlloc, "cuMemAlloc_v2", (cu_address *, size_t))                        \
	CUDA_FUNCTION(0, MemFree, "cuMemFree_v2", (cu_address))                                    \
	CUDA_FUNCTION(1, MemAllocAsync, "cuMemAllocAsync", (cu_address *, size_t, cu_stream))      \
	CUDA_FUNCTION(1, MemFreeAsync, "cuMemFreeAsync", (cu_address, cu_stream))                  \
	CUDA_FUNCTION(0, MemHostAlloc, "cuMemHostAlloc", (void **, size_t, uint32_t))              \
	CUDA_FUNCTION(0, MemFreeHost, "cuMemFreeHost", (void *))                                   \
	CUDA_FUNCTION(0, MemHostRegister, "cuMemHostRegister_v2", (void *, size_t, uint32_t))      \
	CUDA_FUNCTION(0, MemHostUnregister, "cuMemHostUnregister", (void *))                       \
	CUDA_FUNCTION(0, MemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2",                  \
		      (cu_address *, void *, uint32_t))                                            \
	CUDA_FUNCTION(0, PointerGetAttribute, "cuPointerGetAttribute", (void *, int, cu_address))  \
	CUDA_FUNCTION(1, PointerGetAttributes, "cuPointerGetAttributes",                           \
		      (uint32_t, const int *, void **, cu_address))                                \
	CUDA_FUNCTION(1, MemGetAllocationGranularity, "cuMemGetAllocationGranularity",             \
		      (size_t *, const struct cu_allocation *, int))                               \
	CUDA_FUNCTION(1, MemCreate, "cuMemCreate",                                                 \
		      (uint64_t *, size_t, const struct cu_allocation *, uint64_t))                \
	CUDA_FUNCTION(1, MemRelease, "cuMemRelease", (uint64_t))                                   \
	CUDA_FUNCTION(1, MemAddressReserve, "cuMemAddressReserve",                                 \
		      (cu_address *, size_t, size_t, cu_address, uint64_t))                        \
	CUDA_FUNCTION(1, MemAddressFree, "cuMemAddressFree", (cu_address, size_t))                 \
	CUDA_FUNCTION(1, MemMap, "cuMemMap", (cu_address, size_t, size_t, uint64_t, uint64_t))     \
	CUDA_FUNCTION(1, MemUnmap, "cuMemUnmap", (cu_address, size_t))                             \
	CUDA_FUNCTION(1, MemSetAccess, "cuMemSetAccess",                                           \
		      (cu_address, size_t, const struct cu_access *, size_t))                      \
	CUDA_FUNCTION(1, MemExport, "cuMemExportToShareableHandle",                                \
		      (void *, uint64_t, int, uint64_t))                                           \
	CUDA_FUNCTION(1, MemImport, "cuMemImportFromShareableHandle", (uint64_t *, void *, int))   \
	CUDA_FUNCTION(1, MemGetHandleForAddressRange, "cuMemGetHandleForAddressRange",             \
		      (void *, cu_address, size_t, int, uint64_t))                                 \
	CUDA_FUNCTION(0, MemcpyAsync, "cuMemcpyAsync",                                             \
		      (cu_address, cu_address, size_t, cu_stream))                                 \
	CUDA_FUNCTION(0, MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                  \
		      (cu_address, const void *, size_t, cu_stream))                               \
	CUDA_FUNCTION(0, MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                  \
		      (void *, cu_address, size_t, cu_stream))                                     \
	CUDA_FUNCTION(0, MemsetD8Async, "cuMemsetD8Async",                                         \
		      (cu_address, unsigned char, size_t, cu_stream))                              \
	CUDA_FUNCTION(0, MemsetD16Async, "cuMemsetD16Async",                                       \
		      (cu_address, unsigned short, size_t, cu_stream))                             \
	CUDA_FUNCTION(0, MemsetD32Async, "cuMemsetD32Async",                                       \
		      (cu_address, uint32_t, size_t, cu_stream))                                   \
	CUDA_FUNCTION(0, StreamCreate, "cuStreamCreate", (cu_stream *, uint32_t))                  \
	CUDA_FUNCTION(0, StreamDestroy, "cuStreamDestroy_v2", (cu_stream))                         \
	CUDA_FUNCTION(0, StreamQuery, "cuStreamQuery", (cu_stream))                                \
	CUDA_FUNCTION(0, StreamWaitEvent, "cuStreamWaitEvent", (cu_stream, cu_event, uint32_t))    \
	CUDA_FUNCTION(0, LaunchHostFunc, "cuLaunchHostFunc",                                       \
		      (cu_stream, void (*)(void *), void *))                                       \
	CUDA_FUNCTION(0, EventCreate, "cuEventCreate", (cu_event *, uint32_t))                     \
	CUDA_FUNCTION(0, EventRecord, "cuEventRecord", (cu_event, cu_stream))                      \
	CUDA_FUNCTION(0, EventQuery, "cuEventQuery", (cu_event))                                   \
	CUDA_FUNCTION(0, EventDestroy, "cuEventDestroy_v2", (cu_event))                            \
	CUDA_FUNCTION(0, EventElapsedTime, "cuEventElapsedTime", (float *, cu_event, cu_event))    \
	CUDA_FUNCTION(0, ModuleLoadDataEx, "cuModuleLoadDataEx",                                   \
		      (cu_module *, const void *, uint32_t, int *, void **))                       \
	CUDA_FUNCTION(0, ModuleUnload, "cuModuleUnload", (cu_module))                              \
	CUDA_FUNCTION(0, ModuleGetFunction, "cuModuleGetFunction",                                 \
		      (cu_function *, cu_module, const char *))                                    \
	CUDA_FUNCTION(0, FuncGetAttribute, "cuFuncGetAttribute", (int *, int, cu_function))        \
	CUDA_FUNCTION(0, FuncSetAttribute, "cuFuncSetAttribute", (cu_function, int, int))          \
	CUDA_FUNCTION(1, FuncGetParamInfo, "cuFuncGetParamInfo",                                   \
		      (cu_function, size_t, size_t *, size_t *))                                   \
	CUDA_FUNCTION(0, LaunchKernel, "cuLaunchKernel",                                           \
		      (cu_function, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,    \
		       uint32_t, cu_stream, void **, void **))                                     \
	CUDA_FUNCTION(0, LaunchCooperativeKernel, "cuLaunchCooperativeKernel",                     \
		      (cu_function, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,    \
		       uint32_t, cu_stream, void **))                                              \
	CUDA_FUNCTION(1, LaunchKernelEx, "cuLaunchKernelEx",                                       \
		      (const struct cu_launch *, cu_function, void **, void **))                   \
	CUDA_FUNCTION(1, ImportExternalMemory, "cuImportExternalMemory",                           \
		      (void **, const struct cu_external_memory *))                                \
	CUDA_FUNCTION(1, ExternalMemoryGetMappedBuffer, "cuExternalMemoryGetMappedBuffer",         \
		      (cu_address *, void *, const struct cu_external_buffer *))                   \
	CUDA_FUNCTION(1, DestroyExternalMemory, "cuDestroyExternalMemory", (void *))               \
	CUDA_FUNCTION(1, ImportExternalSemaphore, "cuImportExternalSemaphore",                     \
		      (void **, const struct cu_external_semaphore *))                             \
	CUDA_FUNCTION(1, WaitExternalSemaphores, "cuWaitExternalSemaphoresAsync",                  \
		      (void *const *, const struct cu_semaphore_wait *, uint32_t, cu_stream))      \
	CUDA_FUNCTION(1, DestroyExternalSemaphore, "cuDestroyExternalSemaphore", (void *))         \
	CUDA_GRAPH_FUNCTIONS(CUDA_FUNCTION)

/* if one is missing, recordings are kept as lists */
#define CUDA_GRAPH_FUNCTIONS(CUDA_FUNCTION)                                                        \
	CUDA_FUNCTION(1, GraphCreate, "cuGraphCreate", (cu_graph *, uint32_t))                     \
	CUDA_FUNCTION(1, GraphDestroy, "cuGraphDestroy", (cu_graph))                               \
	CUDA_FUNCTION(                                                                             \
		1, GraphAddKernel2, "cuGraphAddKernelNode_v2",                                     \
		(cu_node *, cu_graph, const cu_node *, size_t, const struct cu_kernel_node *))     \
	CUDA_FUNCTION(                                                                             \
		1, GraphAddKernel1, "cuGraphAddKernelNode",                                        \
		(cu_node *, cu_graph, const cu_node *, size_t, const struct cu_kernel_node *))     \
	CUDA_FUNCTION(1, GraphAddCopy, "cuGraphAddMemcpyNode",                                     \
		      (cu_node *, cu_graph, const cu_node *, size_t, const struct cu_copy_node *,  \
		       cu_context))                                                                \
	CUDA_FUNCTION(1, GraphAddFill, "cuGraphAddMemsetNode",                                     \
		      (cu_node *, cu_graph, const cu_node *, size_t, const struct cu_fill_node *,  \
		       cu_context))                                                                \
	CUDA_FUNCTION(1, GraphAddEmpty, "cuGraphAddEmptyNode",                                     \
		      (cu_node *, cu_graph, const cu_node *, size_t))                              \
	CUDA_FUNCTION(1, GraphKernelAttribute, "cuGraphKernelNodeSetAttribute",                    \
		      (cu_node, int, const void *))                                                \
	CUDA_FUNCTION(1, GraphInstantiate3, "cuGraphInstantiateWithFlags",                         \
		      (cu_graph_exec *, cu_graph, unsigned long long))                             \
	CUDA_FUNCTION(1, GraphInstantiate2, "cuGraphInstantiate_v2",                               \
		      (cu_graph_exec *, cu_graph, cu_node *, char *, size_t))                      \
	CUDA_FUNCTION(1, GraphSetKernel2, "cuGraphExecKernelNodeSetParams_v2",                     \
		      (cu_graph_exec, cu_node, const struct cu_kernel_node *))                     \
	CUDA_FUNCTION(1, GraphSetKernel1, "cuGraphExecKernelNodeSetParams",                        \
		      (cu_graph_exec, cu_node, const struct cu_kernel_node *))                     \
	CUDA_FUNCTION(1, GraphSetCopy, "cuGraphExecMemcpyNodeSetParams",                           \
		      (cu_graph_exec, cu_node, const struct cu_copy_node *, cu_context))           \
	CUDA_FUNCTION(1, GraphSetFill, "cuGraphExecMemsetNodeSetParams",                           \
		      (cu_graph_exec, cu_node, const struct cu_fill_node *, cu_context))           \
	CUDA_FUNCTION(1, GraphLaunch, "cuGraphLaunch", (cu_graph_exec, cu_stream))                 \
	CUDA_FUNCTION(1, GraphExecDestroy, "cuGraphExecDestroy", (cu_graph_exec))

/** struct cuda_api - the functions; optional ones are NULL if missing */
struct cuda_api {
#define CUDA_POINTER(optional, name, symbol, parameters) int(*name) parameters;
	CUDA_FUNCTIONS(CUDA_POINTER)
#undef CUDA_POINTER
	int graphs; /* all functions for recordings exist */
};

/**
 * cuda_library - open libcuda and get its functions
 * @out: receives the table; static
 *
 * Context: one thread at a time. The library is never closed; after a failure the next call tries
 * again.
 *
 * Return: 0; -TENON_E_DEVICE with the missing part and the remedy.
 */
int cuda_library(const struct cuda_api **out);

#endif /* DRIVER_CUDA_CUDA_API_H */

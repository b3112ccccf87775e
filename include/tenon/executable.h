/* SPDX-License-Identifier: MIT */
#ifndef TENON_EXECUTABLE_H
#define TENON_EXECUTABLE_H

/**
 * DOC: executables and kernels
 *
 * An executable is a program with a table of kernels, on one device. Its bytes are those of a
 * module's payload and are used in place. A kernel is compiled when it is first requested.
 *
 * A kernel takes its arguments in slots of eight bytes. The first bytes of a slot hold the
 * argument, converted to the type in the table, as clSetKernelArg() and cuLaunchKernel() expect it.
 * The slot of a pointer holds tensor data: an address if the device has TENON_DEVICE_ADDRESSES,
 * else a struct tenon_memory *.
 *
 * The packed call of a kernel is common to all backends: it converts the arguments, reads the
 * launch extents that follow them, and submits to the thread's current queue.
 */

#include <tenon/export.h>
#include <tenon/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum tenon_kernel_flag - how a kernel is launched; a mask, from the launch tags */
enum tenon_kernel_flag {
	TENON_KERNEL_SHARED = 1,      /* takes the size of dynamic shared memory */
	TENON_KERNEL_COOPERATIVE = 2, /* all blocks run at once */
	TENON_KERNEL_DEPENDENT = 4,   /* programmatic dependent launch */
	TENON_KERNEL_CLUSTER = 8,     /* has a cluster tag */
	TENON_KERNEL_PREFERRED_CLUSTER = 16,
};

/** enum tenon_argument_kind - what an argument is */
enum tenon_argument_kind {
	TENON_ARGUMENT_SCALAR = 0,
	TENON_ARGUMENT_MEMORY = 1, /* tensor data */
	TENON_ARGUMENT_TENSOR_MAP =
		2, /* address of 128 bytes that are copied at the launch (CUDA) */
};

/**
 * struct tenon_argument - an argument of a kernel
 * @type: from the payload; handle for pointers
 * @kind: enum tenon_argument_kind
 * @size: bytes that the kernel reads: 1, 2, 4 or 8; 8 for pointers, 128 for tensor maps
 * @index: number among the arguments of its kind, such as the k-th pointer
 */
struct tenon_argument {
	DLDataType type;
	uint8_t kind;
	uint8_t size;
	uint16_t index;
};

/* tenon_kernel_info.tags: the extent that an integer after the arguments sets */
enum tenon_launch_tag {
	TENON_TAG_GRID = 0,    /* +0, 1, 2: blockIdx.x, y, z */
	TENON_TAG_BLOCK = 3,   /* +0, 1, 2: threadIdx.x, y, z */
	TENON_TAG_CLUSTER = 6, /* +0, 1, 2: clusterCtaIdx.x, y, z */
	TENON_TAG_PREFERRED_CLUSTER = 9,
	TENON_TAG_SHARED = 12, /* bytes of dynamic shared memory */
	TENON_TAG_COUNT = 13,
};

/** TENON_KERNEL_ARGUMENTS_MOST - most arguments of a kernel; one with more is rejected */
#define TENON_KERNEL_ARGUMENTS_MOST 256

/**
 * struct tenon_kernel_info - a kernel's entry in the payload
 * @name: name of the function, and its symbol in the program
 * @arguments: @argument_count arguments
 * @tags: @tag_count values of enum tenon_launch_tag, one for each integer after the arguments
 * @argument_count: arguments of the kernel itself; at most TENON_KERNEL_ARGUMENTS_MOST
 * @memory_count: number of pointers among them
 * @scalar_count: number of scalars among them
 * @tag_count: number of integers after the arguments
 * @dimensions: highest dimension that a tag names, 1 to 3
 * @flags: enum tenon_kernel_flag
 * @code: the kernel's own program, in formats with a program per kernel (SPIR-V, OpenCL source with
 *	markers); else empty
 * @code_flags: flags of @code. Vulkan: bit 0 is set when scalars are passed in a uniform buffer.
 */
struct tenon_kernel_info {
	struct tenon_slice name;
	const struct tenon_argument *arguments;
	const uint8_t *tags;
	uint32_t argument_count;
	uint32_t memory_count;
	uint32_t scalar_count;
	uint32_t tag_count;
	uint32_t dimensions;
	uint32_t flags;
	struct tenon_slice code;
	uint32_t code_flags;
	uint32_t reserved;
};

/**
 * struct tenon_program - the input of tenon_executable_create()
 * @kind: kind of the module: "opencl", "cuda", "vulkan"
 * @format: "cl", "ptx", "cubin", "fatbin", "vulkan", "xclbin", …
 * @code: the program of all kernels; empty if each kernel has its own. Not NUL-terminated.
 * @kernels: @kernel_count kernels
 * @kernel_count: number of kernels
 * @label: prefix of messages: "r18.so, import 2 (opencl)"
 *
 * The core keeps all of it alive longer than the executable.
 */
struct tenon_program {
	struct tenon_slice kind;
	struct tenon_slice format;
	struct tenon_slice code;
	const struct tenon_kernel_info *kernels;
	size_t kernel_count;
	const char *label;
};

struct tenon_executable;
struct tenon_kernel;

/**
 * struct tenon_dispatch - one launch of a kernel
 * @kernel: the kernel
 * @arguments: a slot of eight bytes for each of info->argument_count arguments
 * @slots: in recordings: for each argument its binding, or -1 if it is no slot; NULL when no
 *	argument is a slot
 * @grid: blocks per dimension, at least 1
 * @block: threads per block and dimension, at least 1; ignored when the program fixes them (Vulkan)
 * @cluster: blocks per cluster and dimension; 1 without TENON_KERNEL_CLUSTER
 * @preferred_cluster: as @cluster
 * @shared: bytes of dynamic shared memory
 * @reserved: 0
 */
struct tenon_dispatch {
	struct tenon_kernel *kernel;
	const uint64_t *arguments;
	const int32_t *slots;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t cluster[3];
	uint32_t preferred_cluster[3];
	uint32_t shared;
	uint32_t reserved;
};

/**
 * tenon_executable_create - create an executable from a program
 * @device: device
 * @program: not copied; must outlive the executable
 * @keep: object that keeps @program alive, referenced; NULL when the caller does
 * @out: receives the executable with one reference
 *
 * Return: 0; -TENON_E_UNSUPPORTED; -TENON_E_LOST; -TENON_E_NOMEM.
 */
TENON_API int tenon_executable_create(struct tenon_device *device,
				      const struct tenon_program *program,
				      struct tenon_object *keep, struct tenon_executable **out);

/**
 * tenon_executable_kernel - get a kernel, compiling it if necessary
 * @executable: executable
 * @index: number in the program's table
 * @out: receives the kernel; valid as long as the executable
 *
 * Context: any thread. Lock-free once the kernel is compiled.
 * Return: 0; -TENON_E_NOT_FOUND for an index out of range; -TENON_E_DEVICE with the compiler's log.
 */
TENON_API int tenon_executable_kernel(struct tenon_executable *executable, size_t index,
				      struct tenon_kernel **out);

/**
 * tenon_program_read - read a payload into a program
 * @kind: kind of module that has a payload format (tenon/backend/payload_format.h)
 * @generation: enum tenon_generation of its blob
 * @bytes: the payload; must outlive the program
 * @label: copied
 * @out: receives the program; free it with tenon_program_free()
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_UNSUPPORTED for an unknown
 *	launch tag or argument type; -TENON_E_NOMEM.
 */
TENON_API int tenon_program_read(struct tenon_slice kind, int generation, struct tenon_slice bytes,
				 const char *label, struct tenon_program **out);

/** tenon_program_free - free a program from tenon_program_read(); NULL is allowed */
TENON_API void tenon_program_free(struct tenon_program *program);

/**
 * struct tenon_host_block - one block of the launch of a C function
 * @arguments: as in struct tenon_dispatch
 * @grid: blocks of the launch
 * @block: threads of a block; the function loops over them
 * @index: index of this block
 * @shared: dynamic shared memory, aligned to 128 bytes; undefined after the block
 * @shared_size: size of @shared in bytes
 */
struct tenon_host_block {
	const uint64_t *arguments;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t index[3];
	void *shared;
	uint32_t shared_size;
};

/**
 * typedef tenon_host_kernel - a kernel of the devices "cpu" and "null"
 *
 * Returns 0, or a negative status with the thread's error set. A program of such kernels has the
 * format "functions": tenon_program.code holds their addresses in the order of the table. It cannot
 * be read from a file.
 */
typedef int (*tenon_host_kernel)(const struct tenon_host_block *block);

#ifdef __cplusplus
}
#endif

#endif /* TENON_EXECUTABLE_H */

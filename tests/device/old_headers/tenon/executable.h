/* SPDX-License-Identifier: MIT */
/* include/tenon/executable.h as it was when device ABI 3 began, kept to build a plug-in that is older than the library. */
#ifndef TENON_EXECUTABLE_H
#define TENON_EXECUTABLE_H

/**
 * DOC: executables and kernels
 *
 * An executable is program bytes with a table of kernels, on one device. The bytes are those of a
 * module's payload and stay where they are mapped. Nothing is compiled before a kernel is asked for.
 *
 * A kernel takes its arguments as slots of eight bytes, each holding the argument already converted
 * to the type that the table says, in its first bytes: what clSetKernelArg() and cuLaunchKernel()
 * want to be pointed at. A pointer's slot holds tensor data: an address where the device has
 * addresses, else a struct tenon_memory *.
 *
 * The packed call of a kernel (runtime/device/kernel_call.c) is the same for all backends: it converts
 * the arguments, reads the launch extents behind them, and submits to the thread's current queue.
 */

#include <tenon/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum tenon_kernel_flag - how a kernel is launched; a mask, from the launch tags */
enum tenon_kernel_flag {
	TENON_KERNEL_SHARED = 1,      /* takes a number of bytes of dynamic shared memory */
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
 * @type: as the payload says; handle for pointers
 * @kind: enum tenon_argument_kind
 * @size: bytes that the kernel takes: 1, 2, 4 or 8; 8 for pointers, 128 for tensor maps
 * @index: number among the arguments of its kind: k-th pointer, k-th scalar
 */
struct tenon_argument {
	DLDataType type;
	uint8_t kind;
	uint8_t size;
	uint16_t index;
};

/* values of tenon_kernel_info.tags: which extent an integer behind the arguments sets */
enum tenon_launch_tag {
	TENON_TAG_GRID = 0,    /* +0, 1, 2: blockIdx.x, y, z */
	TENON_TAG_BLOCK = 3,   /* +0, 1, 2: threadIdx.x, y, z */
	TENON_TAG_CLUSTER = 6, /* +0, 1, 2: clusterCtaIdx.x, y, z */
	TENON_TAG_PREFERRED_CLUSTER = 9,
	TENON_TAG_SHARED = 12, /* bytes of dynamic shared memory */
	TENON_TAG_COUNT = 13,
};

/** TENON_KERNEL_ARGUMENTS_MOST - a kernel with more arguments is refused before a backend sees it */
#define TENON_KERNEL_ARGUMENTS_MOST 256

/**
 * struct tenon_kernel_info - a kernel as the payload describes it
 * @name: name by which it is called, and its symbol in the program
 * @arguments: @argument_count of them
 * @tags: @tag_count of enum tenon_launch_tag, an integer argument each
 * @argument_count: arguments of the kernel itself; at most TENON_KERNEL_ARGUMENTS_MOST
 * @memory_count: how many of them are pointers
 * @scalar_count: how many are scalars
 * @tag_count: integers behind them
 * @dimensions: 1 to 3: highest dimension that a tag names
 * @flags: enum tenon_kernel_flag
 * @code: its own program, where each kernel has one (SPIR-V words of Vulkan, the piece of OpenCL
 *	source under its marker); else empty
 * @code_flags: Vulkan's u32: bit 0 says that scalars are in a uniform buffer
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
 * struct tenon_program - what an executable is made of
 * @kind: kind of the module: "opencl", "cuda", "vulkan"
 * @format: "cl", "ptx", "cubin", "fatbin", "vulkan", "xclbin", …
 * @code: the program bytes of all kernels; empty where each kernel has its own. Not NUL-terminated.
 * @kernels: @kernel_count of them
 * @kernel_count: how many
 * @label: "r18.so, import 2 (opencl)": put in front of messages
 *
 * All of it outlives the executable: the core keeps it.
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

/**
 * struct tenon_kernel - the start of every kernel on a device; lives as long as its executable
 * @executable: its executable, not counted
 * @info: what the payload says of it
 */
struct tenon_kernel {
	struct tenon_executable *executable;
	const struct tenon_kernel_info *info;
};

/**
 * struct tenon_executable - the start of every executable
 * @object: header; of type "tenon.Executable"
 * @device: its device, referenced
 * @program: what it was made of
 * @core: what the core keeps; not for backends
 */
struct tenon_executable {
	struct tenon_object object;
	struct tenon_device *device;
	const struct tenon_program *program;
	struct tenon_executable_core *core;
};

/**
 * struct tenon_dispatch - one launch of a kernel
 * @kernel: the kernel
 * @arguments: a slot of eight bytes for each of info->argument_count arguments
 * @slots: in recordings: for each argument -1, or the binding whose memory is the argument; NULL
 *	when no argument is a slot
 * @grid: blocks, each at least 1
 * @block: threads of a block, each at least 1. Where the program fixes them (Vulkan) it is not used.
 * @cluster: blocks of a cluster; 1 unless info->flags says otherwise
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

/** struct tenon_executable_ops - how a device runs programs; slots may be called from any thread */
struct tenon_executable_ops {
	/** @size: sizeof(struct tenon_executable_ops) */
	size_t size;
	/**
	 * @create: make an executable
	 *
	 * Cheap: checks that @program's kind and format can be used (else -TENON_E_UNSUPPORTED, naming
	 * those that can) and calls tenon_executable_init(). Compiling waits for @kernel.
	 */
	int (*create)(struct tenon_device *device, const struct tenon_program *program,
		      struct tenon_executable **out);
	/**
	 * @destroy: free the executable and all its kernels
	 *
	 * A launch may still be on its way: as tenon_memory_ops.free. Calls tenon_executable_fini() and
	 * frees the struct.
	 */
	void (*destroy)(struct tenon_executable *executable);
	/**
	 * @kernel: compile a kernel and make it ready to launch
	 *
	 * Called once per kernel and executable that succeeds, one call at a time per executable.
	 * Failures carry the compiler's own lines; they are not remembered, a later call tries again.
	 */
	int (*kernel)(struct tenon_executable *executable, size_t index, struct tenon_kernel **out);
};

/** tenon_executable_init - make the start of an executable; for backends. As tenon_queue_init(). */
int tenon_executable_init(struct tenon_executable *executable, struct tenon_device *device,
			  const struct tenon_program *program);

/** tenon_executable_fini - end what tenon_executable_init() began; for backends */
void tenon_executable_fini(struct tenon_executable *executable);

/**
 * tenon_executable_create - make an executable of program bytes
 * @device: device
 * @program: borrowed and kept: must outlive the executable
 * @keep: object that keeps @program alive, referenced; NULL when the caller sees to it
 * @out: receives the executable with one reference
 *
 * Return: 0; -TENON_E_UNSUPPORTED; -TENON_E_LOST; -TENON_E_NOMEM.
 */
int tenon_executable_create(struct tenon_device *device, const struct tenon_program *program,
			    struct tenon_object *keep, struct tenon_executable **out);

/**
 * tenon_executable_kernel - get a kernel, compiled
 * @executable: executable
 * @index: number in the program's table
 * @out: receives the kernel; lives as long as the executable
 *
 * Context: any thread. Lock-free once it is compiled.
 * Return: 0; -TENON_E_NOT_FOUND for an index out of range; -TENON_E_DEVICE with the compiler's log.
 */
int tenon_executable_kernel(struct tenon_executable *executable, size_t index,
			    struct tenon_kernel **out);

/**
 * tenon_program_read - read a payload into a program
 * @kind: kind of module, one that runtime/loader/payload_format.c describes
 * @generation: enum tenon_generation of its blob
 * @bytes: the payload; must outlive the program
 * @label: copied
 * @out: receives the program, freed with tenon_program_free()
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_UNSUPPORTED for a launch tag or an
 *	argument type that nobody knows; -TENON_E_NOMEM.
 */
int tenon_program_read(struct tenon_slice kind, int generation, struct tenon_slice bytes,
		       const char *label, struct tenon_program **out);

/** tenon_program_free - free what tenon_program_read() made; NULL is allowed */
void tenon_program_free(struct tenon_program *program);

/**
 * struct tenon_host_block - one block of a launch of a kernel that is a C function
 * @arguments: as in struct tenon_dispatch
 * @grid: blocks of the launch
 * @block: threads of a block, which the function goes through by itself
 * @index: which block this is
 * @shared: dynamic shared memory, aligned to 128; its content does not outlive the block
 * @shared_size: bytes
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
 * Returns 0, or a negative status with the thread's error raised. A program of such kernels has the
 * format "functions": tenon_program.code holds their addresses, in the order of the table. It is
 * never read from a file.
 */
typedef int (*tenon_host_kernel)(const struct tenon_host_block *block);

/**
 * tenon_host_run - run a C function for each block of a launch; for backends
 * @function: the kernel
 * @dispatch: the launch
 *
 * Return: 0; what the first block that fails returned; -TENON_E_NOMEM for the shared memory.
 */
int tenon_host_run(tenon_host_kernel function, const struct tenon_dispatch *dispatch);

#ifdef __cplusplus
}
#endif

#endif /* TENON_EXECUTABLE_H */

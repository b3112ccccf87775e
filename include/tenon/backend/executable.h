/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_EXECUTABLE_H
#define TENON_BACKEND_EXECUTABLE_H

/**
 * DOC: executables, for backends
 *
 * The interface for programs is tenon/executable.h.
 */

#include <tenon/backend/backend.h>
#include <tenon/executable.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_kernel - base of every kernel on a device; valid as long as its executable
 * @executable: its executable, not referenced
 * @info: its entry in the program
 */
struct tenon_kernel {
	struct tenon_executable *executable;
	const struct tenon_kernel_info *info;
};

/**
 * struct tenon_executable - base of every executable
 * @object: header; of type "tenon.Executable"
 * @device: its device, referenced
 * @program: program it was created from
 * @core: private to the core
 */
struct tenon_executable {
	struct tenon_object object;
	struct tenon_device *device;
	const struct tenon_program *program;
	struct tenon_executable_core *core;
};

/**
 * struct tenon_argument_use - what a kernel does with the memory of an argument
 * @size: bytes that it accesses at most
 * @reads: it reads them
 * @writes: it writes to them
 */
struct tenon_argument_use {
	uint64_t size;
	bool reads;
	bool writes;
};

/** enum tenon_build_flag - how a backend builds kernels; a mask */
enum tenon_build_flag {
	TENON_BUILD_CONCURRENT = 1, /* several kernels of an executable at a time */
};

/** struct tenon_executable_ops - operations of executables; any thread may call the slots */
struct tenon_executable_ops {
	/** @size: sizeof(struct tenon_executable_ops) */
	size_t size;
	/**
	 * @create: create an executable
	 *
	 * Must be cheap: checks the kind and format of @program (else -TENON_E_UNSUPPORTED, naming
	 * the supported ones) and calls tenon_executable_init(). @kernel compiles.
	 */
	int (*create)(struct tenon_device *device, const struct tenon_program *program,
		      struct tenon_executable **out);
	/**
	 * @destroy: free the executable and all its kernels
	 *
	 * A launch may still be pending: see tenon_memory_ops.free. Calls tenon_executable_fini()
	 * and frees the struct.
	 */
	void (*destroy)(struct tenon_executable *executable);
	/**
	 * @kernel: compile a kernel and prepare it for launches
	 *
	 * Called by one thread at a time per executable, or with TENON_BUILD_CONCURRENT per kernel,
	 * and not again for a kernel after success.
	 * The message of a failure includes the compiler's log. A call after a failure tries again.
	 */
	int (*kernel)(struct tenon_executable *executable, size_t index, struct tenon_kernel **out);
	/**
	 * @argument: tell what a kernel does with the memory of an argument; may be NULL
	 *
	 * Returns false if the code does not say: such a kernel is called with tensors on its device
	 * only. If it does, the core copies tensors of the host (tenon_queue_run()).
	 */
	bool (*argument)(const struct tenon_kernel *kernel, size_t index,
			 struct tenon_argument_use *out);
	/** @build_flags: mask of enum tenon_build_flag */
	uint32_t build_flags;
	/** @reserved: 0 */
	uint32_t reserved;
};

/** tenon_executable_init - initialise the base of an executable; as tenon_queue_init() */
TENON_API int tenon_executable_init(struct tenon_executable *executable,
				    struct tenon_device *device,
				    const struct tenon_program *program);

/** tenon_executable_fini - undo tenon_executable_init(); for backends */
TENON_API void tenon_executable_fini(struct tenon_executable *executable);

/**
 * tenon_host_run - call a C function for each block of a launch; for backends
 * @function: the kernel
 * @dispatch: the launch
 *
 * Return: 0; the result of the first block that failed; -TENON_E_NOMEM for the shared memory.
 */
TENON_API int tenon_host_run(tenon_host_kernel function, const struct tenon_dispatch *dispatch);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_EXECUTABLE_H */

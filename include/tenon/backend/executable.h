/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_EXECUTABLE_H
#define TENON_BACKEND_EXECUTABLE_H

/**
 * DOC: what a backend does about programs
 *
 * Programs see tenon/executable.h.
 */

#include <tenon/backend/backend.h>
#include <tenon/executable.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

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
TENON_API int tenon_executable_init(struct tenon_executable *executable,
				    struct tenon_device *device,
				    const struct tenon_program *program);

/** tenon_executable_fini - end what tenon_executable_init() began; for backends */
TENON_API void tenon_executable_fini(struct tenon_executable *executable);

/**
 * tenon_host_run - run a C function for each block of a launch; for backends
 * @function: the kernel
 * @dispatch: the launch
 *
 * Return: 0; what the first block that fails returned; -TENON_E_NOMEM for the shared memory.
 */
TENON_API int tenon_host_run(tenon_host_kernel function, const struct tenon_dispatch *dispatch);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_EXECUTABLE_H */

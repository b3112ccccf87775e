/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_BACKEND_H
#define TENON_BACKEND_BACKEND_H

/**
 * DOC: backends and their devices
 *
 * A backend fills tables of functions: struct tenon_backend, struct tenon_device_ops, and the tables that
 * the latter points to (tenon/backend/memory.h, queue.h, commands.h, executable.h). The library does once
 * for all what does not depend on the device's API: names, reference counts, ranges, timelines, waiting.
 *
 * Backends come from a table in the library, from plug-ins (shared objects in $(libdir)/tenon/backends or
 * $TENON_BACKEND_PATH that export `tenon_backend_entry`), and from tenon_backend_register().
 *
 * Structs that begin a backend's own (struct tenon_device, …) are filled by tenon_*_init(); each field
 * says what the backend may set and when. All tables and the properties begin with their size, and
 * grow at the end only: a plug-in that was built with shorter ones goes on working, and slots that it
 * does not know are NULL to the library.
 */

#include <tenon/device.h>
#include <tenon/error.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_commands_ops;
struct tenon_executable_ops;
struct tenon_memory_ops;
struct tenon_module_loader;
struct tenon_payload_format;
struct tenon_queue_ops;

/* raised when a table or a struct of the device headers changes in a way that sizes cannot tell */
#define TENON_DEVICE_ABI 2

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
	 * @kinds: kinds of modules whose payloads run on its devices, ended by NULL; may be NULL
	 *
	 * Their payloads are read by @formats, or by a format that the library or a program has.
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
	 * Makes the backend's struct, calls tenon_device_init(), fills device->properties. Returns 0
	 * with one reference, -TENON_E_DEVICE, -TENON_E_VALUE for an option, -TENON_E_NOMEM.
	 */
	int (*open)(const struct tenon_device_choice *choice, struct tenon_device **out);
	/**
	 * @doctor: append lines for people: which library was found, versions, what is missing; may be
	 * NULL
	 */
	int (*doctor)(struct tenon_buffer *out);
	/**
	 * @formats: payload formats of its own (tenon/backend/payload_format.h), ended by NULL; may be NULL
	 *
	 * With the files that hold such payloads, and what is shown of them. They are used without a device.
	 */
	const struct tenon_payload_format *const *formats;
	/**
	 * @loaders: loaders of module kinds of its own (tenon/backend/module_kind.h), ended by NULL; may be NULL
	 *
	 * For modules that are more than kernels: kinds in @kinds need none.
	 */
	const struct tenon_module_loader *const *loaders;
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
TENON_API int tenon_device_init(struct tenon_device *device, const struct tenon_device_ops *ops,
				const struct tenon_backend *backend, uint32_t index);

/**
 * tenon_device_fini - end what tenon_device_init() began; for backends, when open fails behind it
 * @device: a device that nobody else has seen. Its @ops->close is not called.
 */
TENON_API void tenon_device_fini(struct tenon_device *device);

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
TENON_API int tenon_device_lose(struct tenon_device *device, int status);

/**
 * tenon_backend_register - add a backend of the program's own
 * @backend: lives as long as the process
 *
 * Context: any thread; takes a lock.
 * Return: 0; -TENON_E_EXISTS for a name or device type that is taken; -TENON_E_USAGE for another ABI,
 *	and for a table without a name or without one of its first three slots; -TENON_E_NOMEM.
 */
TENON_API int tenon_backend_register(const struct tenon_backend *backend);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_BACKEND_H */

/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_BACKEND_H
#define TENON_BACKEND_BACKEND_H

/**
 * DOC: backends and their devices
 *
 * A backend provides tables of functions: struct tenon_backend, struct tenon_device_ops, and the
 * tables that the latter points to (tenon/backend/memory.h, queue.h, commands.h, executable.h). The
 * library implements what does not depend on the device's API: names, reference counts, range
 * checks, timelines, waiting.
 *
 * Backends come from a table in the library, from plug-ins (shared objects in
 * $(libdir)/tenon/backends or $TENON_BACKEND_PATH that export `tenon_backend_entry`), and from
 * tenon_backend_register().
 *
 * A backend embeds struct tenon_device and the like as the first member of its own structs and
 * initialises them with tenon_*_init(). The comment of each field says whether the backend may set
 * it. All tables and the properties begin with their size and only grow at the end: a plug-in built
 * with older headers keeps working, and slots that it lacks are NULL.
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

/* incremented when a table or struct of these headers changes other than by growing */
#define TENON_PLUGIN_ABI 3

/** struct tenon_device_option - one `key=value` of a URI, both decoded */
struct tenon_device_option {
	struct tenon_slice key;
	struct tenon_slice value;
};

/**
 * struct tenon_device_choice - arguments of tenon_backend.open
 * @index: number of the device, below tenon_backend.count; UINT32_MAX with @place
 * @options: keys of the URI; the backend returns -TENON_E_VALUE for an unknown key
 * @option_count: number of options
 * @place: path of a device that tenon_backend.count does not count ("shm/run/board"); empty with
 *	@index. Only for backends with TENON_BACKEND_PLACES.
 */
struct tenon_device_choice {
	uint32_t index;
	const struct tenon_device_option *options;
	size_t option_count;
	struct tenon_slice place;
};

/** enum tenon_backend_flag - properties of a backend; a mask */
enum tenon_backend_flag {
	/*
	 * The backend can open devices in a child process after the parent has used it: the
	 * libraries it uses have no threads or locks that fork() would break. Without this flag the
	 * core refuses to open its devices in the child.
	 */
	TENON_BACKEND_FORKS = 1,
	/*
	 * The backend also opens devices that it cannot list, by a path that begins with a letter
	 * or has a '/', and fits no listed device: tenon_device_choice.place.
	 */
	TENON_BACKEND_PLACES = 2,
	/*
	 * tenon_backend.open waits for a network or another process. The core calls it without its
	 * locks, so that other devices can be opened meanwhile. Several threads may be in it at
	 * once, also for the same device: the core keeps one of these and closes the others.
	 */
	TENON_BACKEND_CONCURRENT_OPEN = 4,
};

/**
 * struct tenon_backend - a backend; must stay valid for the life of the process
 *
 * Any thread may call the slots; the first four are never called concurrently, except for open with
 * TENON_BACKEND_CONCURRENT_OPEN.
 */
struct tenon_backend {
	/** @abi: TENON_PLUGIN_ABI */
	uint32_t abi;
	/** @size: sizeof(struct tenon_backend) */
	uint32_t size;
	/** @name: "cuda": the driver in URIs and in "cuda:0" */
	const char *name;
	/** @device_type: DLPack's device type */
	int32_t device_type;
	/** @flags: enum tenon_backend_flag */
	uint32_t flags;
	/**
	 * @kinds: module kinds whose payloads run on its devices, ended by NULL; may be NULL
	 *
	 * Their payloads are read by @formats, or by a format of the library or the program.
	 */
	const char *const *kinds;
	/**
	 * @count: count the devices
	 *
	 * Opens the vendor's library the first time. Returns 0 with *@count 0 only when the library
	 * works and finds no device. When the library is missing or does not work, returns
	 * -TENON_E_DEVICE with a message that says what to install. A call after a failure tries
	 * again.
	 */
	int (*count)(uint32_t *count);
	/**
	 * @describe: fill the properties of a device without opening it
	 *
	 * Must be cheap and must not create a context on the device. @properties is zeroed except
	 * for its size.
	 */
	int (*describe)(uint32_t index, struct tenon_device_properties *properties);
	/**
	 * @open: open a device
	 *
	 * Allocates the backend's struct, calls tenon_device_init() and fills device->properties.
	 * Returns 0 with one reference; -TENON_E_DEVICE; -TENON_E_VALUE for an invalid option;
	 * -TENON_E_NOMEM.
	 */
	int (*open)(const struct tenon_device_choice *choice, struct tenon_device **out);
	/**
	 * @doctor: append diagnostics for people, a line each: the library found, versions, what is
	 * missing; may be NULL
	 */
	int (*doctor)(struct tenon_buffer *out);
	/**
	 * @formats: its payload formats (tenon/backend/payload_format.h), ended by NULL; may be
	 *	NULL
	 *
	 * A format also describes the files with such payloads. It is used without a device.
	 */
	const struct tenon_payload_format *const *formats;
	/**
	 * @loaders: its module loaders (tenon/backend/module_kind.h), ended by NULL; may be NULL
	 *
	 * Only for modules that are more than kernels: the kinds in @kinds need no loader.
	 */
	const struct tenon_module_loader *const *loaders;
	/**
	 * @extension: get a table of functions that this interface does not have, by its name; may
	 *	be NULL
	 *
	 * The caller must know which type of table a name stands for. Returns NULL for an unknown
	 * name, and, with the error set, when the backend cannot be opened.
	 */
	const void *(*extension)(const char *name);
};

/**
 * typedef tenon_backend_entry_fn - the function `tenon_backend_entry` of a plug-in
 *
 * @abi is the TENON_PLUGIN_ABI of the library. Returns the backend, or NULL when it does not
 *	support
 * that ABI. Has no side effects: no driver is loaded before tenon_backend.count.
 */
typedef const struct tenon_backend *(*tenon_backend_entry_fn)(uint32_t abi);

/**
 * struct tenon_device_ops - operations of a device
 *
 * Slots are mandatory unless their comment says that they may be NULL.
 */
struct tenon_device_ops {
	/** @size: sizeof(struct tenon_device_ops) */
	size_t size;
	/**
	 * @close: release all resources and free the struct
	 *
	 * Called when the last reference was dropped: no memory, queue or executable of the device
	 * is left. Must not wait for a lost device.
	 */
	void (*close)(struct tenon_device *device);
	/** @available_memory: get the bytes that are free; default if NULL: total_memory */
	int (*available_memory)(struct tenon_device *device, uint64_t *bytes);
	/**
	 * @make_current: make the device current in the calling thread (`__tvm_set_device`); may be
	 * NULL
	 *
	 * For APIs with a current context per thread.
	 */
	int (*make_current)(struct tenon_device *device);
	/** @native: get the vendor's handle (CUdevice, cl_device_id, VkDevice); may be NULL */
	void *(*native)(struct tenon_device *device);
	/** @memory: never NULL */
	const struct tenon_memory_ops *memory;
	/** @queue: never NULL */
	const struct tenon_queue_ops *queue;
	/** @commands: NULL: the core keeps recordings as lists and submits each operation */
	const struct tenon_commands_ops *commands;
	/** @executable: NULL for a device that runs no kernels */
	const struct tenon_executable_ops *executable;
	/**
	 * @reset: end what the device runs, so that the next open finds it as after power-on; NULL
	 *	if it cannot be reset
	 *
	 * For tenon_device_reset(), which has marked the device as lost. Other threads may be
	 * inside calls of the device. Memory of the device stays mapped. Must not wait for the
	 * device longer than a few seconds.
	 */
	int (*reset)(struct tenon_device *device);
};

/**
 * struct tenon_device - base of every open device
 * @object: header; of type "tenon.Device"
 * @ops: operations
 * @backend: backend that opened it
 * @properties: allocated by tenon_device_init(), filled by the backend in open, constant afterwards
 * @index: number among the backend's devices
 * @id: DLPack's type and number; set by the core after open
 * @slot: small number, unique among open devices; set by the core
 * @lost: not 0 after tenon_device_lose(); atomic
 * @core: private to the core
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
 * tenon_device_init - initialise the base of a device with one reference; for backends
 * @device: allocated by the backend and freed by @ops->close; other fields are not changed
 * @ops: valid for the life of the process
 * @backend: the backend
 * @index: from tenon_device_choice
 *
 * Return: 0; -TENON_E_NOMEM, in which case the caller frees @device.
 */
TENON_API int tenon_device_init(struct tenon_device *device, const struct tenon_device_ops *ops,
				const struct tenon_backend *backend, uint32_t index);

/**
 * tenon_device_fini - undo tenon_device_init() when open fails later; for backends
 * @device: a device that open has not returned. Its @ops->close is not called.
 */
TENON_API void tenon_device_fini(struct tenon_device *device);

/**
 * tenon_device_lose - mark a device as lost; for backends
 * @device: device
 * @status: negative; the thread's message becomes the reason. -TENON_E_UNSUPPORTED where this process
 *	cannot open the device again: the message says what to do then, in place of "Reopen it"
 *
 * Later submissions and allocations on the device fail with -TENON_E_LOST and the reason. So do the
 * timelines that its pending operations would signal. Later calls do not change the reason. A
 * program recovers with tenon_device_reopen().
 *
 * Context: any thread.
 * Return: -TENON_E_LOST with the thread's error set to the reason, so that it can be returned at
 *	once.
 */
TENON_API int tenon_device_lose(struct tenon_device *device, int status);

/**
 * tenon_backend_register - register a backend of the program
 * @backend: valid for the life of the process
 *
 * Context: any thread; takes a lock.
 * Return: 0; -TENON_E_EXISTS for a name or device type in use; -TENON_E_USAGE for a different ABI,
 *	or a table without a name or one of its first three slots; -TENON_E_NOMEM.
 */
TENON_API int tenon_backend_register(const struct tenon_backend *backend);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_BACKEND_H */

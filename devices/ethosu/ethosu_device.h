/* SPDX-License-Identifier: MIT */
/* The state of the backend's devices, and what its files share. */
#ifndef DEVICES_ETHOSU_ETHOSU_DEVICE_H
#define DEVICES_ETHOSU_ETHOSU_DEVICE_H

/*
 * Its devices are the functional model, those behind Linux's accel interface, and those whose registers UIO maps. Memory
 * is that of the process, or of a transport that has its own. The model runs operations at submission; queues of hardware
 * have a thread. A kernel is a whole command stream; its arguments are the network's inputs and outputs.
 */

#include <string.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/payload_format.h>
#include <tenon/backend/queue.h>

#include "devices/ethosu/ethosu_arguments.h"
#include "driver/syscall/syscall.h"

/**
 * struct ethosu_device - a device
 * @base: for the core
 * @ops: of @base
 * @target: configuration of the hardware
 * @is_any: it runs what was compiled for any configuration
 * @transport: how it is reached
 * @state: of the transport; NULL until it is attached
 * @own_memory: memory is the transport's unless a request says otherwise
 * @copied: bytes of arguments that runs copied so far
 */
struct ethosu_device {
	struct tenon_device base;
	struct tenon_device_ops ops;
	struct ethosu_target target;
	bool is_any;
	const struct ethosu_transport *transport;
	void *state;
	bool own_memory;
	uint64_t copied;
};

/* heaps, by number: memory of the process, and that of the transport, if it has any */
enum { ETHOSU_HEAP_PROCESS, ETHOSU_HEAP_OWN };

/**
 * struct ethosu_store - memory
 * @base: for the core
 * @bytes: of the process, which end with the memory; NULL if it has none of these
 * @own: what the transport made; NULL for memory of the process
 */
struct ethosu_store {
	struct tenon_memory base;
	void *bytes;
	void *own;
};

/**
 * struct ethosu_memory_kind - memory that a transport makes itself
 * @allocate: makes memory of @size bytes; sets base.host and own
 * @adopt: the same for a dma-buf of @fd, which stays the caller's; base.usage is what the import asks for
 * @share: a dma-buf of memory
 * @begin: begins an access of the CPU; NULL where none needs that
 * @end: ends it
 * @release: ends memory
 */
struct ethosu_memory_kind {
	int (*allocate)(struct ethosu_device *d, uint64_t size, struct ethosu_store *out);
	int (*adopt)(struct ethosu_device *d, int fd, uint64_t size, struct ethosu_store *out);
	int (*share)(struct ethosu_device *d, const struct ethosu_store *m, int *fd);
	int (*begin)(const struct ethosu_store *m);
	int (*end)(const struct ethosu_store *m);
	void (*release)(struct ethosu_device *d, struct ethosu_store *m);
};

/**
 * struct ethosu_transport - a row for each way to a device
 * @prefix: what its places begin with, before a number: "accel/"; "" for the model, which has no place
 * @runner: what runs streams there
 * @queue: its queues: they run operations at submission, or have a thread
 * @memory: memory of its own; NULL if it has none
 * @attach: sets @target and @state of the device; of place @number. On failure there is nothing to detach
 * @detach: undoes @attach; NULL if there is nothing to undo
 * @describe: changes what the model has for properties; NULL for the model
 * @reset: as struct tenon_device_ops; NULL where there is no way
 */
struct ethosu_transport {
	const char *prefix;
	const struct ethosu_runner *runner;
	const struct tenon_queue_ops *queue;
	const struct ethosu_memory_kind *memory;
	int (*attach)(struct ethosu_device *d, uint32_t number,
		      const struct tenon_device_choice *choice);
	void (*detach)(struct ethosu_device *d);
	void (*describe)(const struct ethosu_device *d, struct tenon_device_properties *p);
	int (*reset)(struct ethosu_device *d);
};

/* ethosu_accel_device.c: /dev/accel/accelN; ethosu_uio_device.c: /dev/uioN */
extern struct system_source ethosu_accel_source;
extern struct system_source ethosu_uio_source;
extern const struct ethosu_transport ethosu_transport_accel;
extern const struct ethosu_transport ethosu_transport_uio;

extern const struct tenon_backend ethosu_backend;
extern const struct tenon_memory_ops ethosu_memory_ops;
extern const struct tenon_queue_ops ethosu_inline_ops;
extern const struct tenon_queue_ops ethosu_worker_ops;
extern const struct tenon_executable_ops ethosu_executable_ops;

/* ethosu_format.c: kinds of modules, and the formats of their payloads; each ended by NULL */
extern const char *const ethosu_payload_kinds[];
extern const struct tenon_payload_format *const ethosu_payload_formats[];

/* ethosu_fields.c: as struct tenon_payload_format has them */
int ethosu_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info);
int ethosu_visit(const struct tenon_payload_info *info, const struct tenon_visitor *v);

/* ethosu_verify.c and ethosu_describe.c: as struct tenon_payload_format has them */
int ethosu_check_program(const struct tenon_payload_request *r, struct tenon_report *out);
int ethosu_describe(const struct tenon_payload_request *r, struct tenon_report *out);

/** ethosu_is_parts - test whether a network was read from its parts in memory: those of a model's operator */
static inline bool ethosu_is_parts(const struct ethosu_container *c)
{
	return !strcmp(c->format, "parts");
}

/* what the library asks the backend for, by its extension() */
#define ETHOSU_LAUNCHER "ethosu_launcher"

/**
 * struct ethosu_launcher - for TVMEthosULaunch()
 * @launch: as that function, but returns a status
 */
struct ethosu_launcher {
	int (*launch)(struct tenon_slice payload, const uint64_t *addresses, const size_t *sizes,
		      int32_t count);
};

/* ethosu_launch.c */
extern const struct ethosu_launcher ethosu_launcher;

/**
 * struct ethosu_launch - a run of a network
 * @executable: which
 * @bytes: where the CPU has the memory of arguments
 * @stores: memory of arguments that regions may be; NULL where a region has memory of its own
 */
struct ethosu_launch {
	struct ethosu_executable *executable;
	uint8_t *bytes[ETHOSU_ARGUMENTS];
	struct ethosu_store *stores[ETHOSU_REGIONS];
};

/** ethosu_prepare - find the memory of a launch. Return: 0; -TENON_E_VALUE for too little memory */
int ethosu_prepare(const struct tenon_dispatch *dispatch, struct ethosu_launch *out);

/** ethosu_run - run a launch, and wait for its end or for a loss of the device */
int ethosu_run(const struct ethosu_launch *launch);

#endif /* DEVICES_ETHOSU_ETHOSU_DEVICE_H */

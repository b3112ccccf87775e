/* SPDX-License-Identifier: MIT */
/* The state of devices, queues, memory and kernels, and the functions that its files share. */
#ifndef DEVICES_CUDA_CUDA_DEVICE_H
#define DEVICES_CUDA_CUDA_DEVICE_H

/*
 * A device is the primary context of a GPU, which CUDA's runtime library uses too: both share
 * memory and streams. A queue is a blocking stream, which synchronises with the legacy default
 * stream, because foreign code that asks for a stream before a queue exists gets the default
 * stream. Marks are events, queried in order. Calls make the context current in the calling thread
 * if it is not.
 *
 * After an error in a kernel the context is unusable (CUDA calls such errors sticky): the device is
 * lost, and opening it again resets the primary context first.
 */

#include <pthread.h>
#include <stdbool.h>

#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include "driver/cuda/cuda_api.h"
#include "lib/brief_errors.h"

/* bytes of shared memory that a kernel may use without opting in */
#define CUDA_SHARED_USUAL 49152

/**
 * struct cuda_context - the primary context of a GPU, shared by all devices that are open on it
 * @dead: atomic; the context is unusable: its objects must not be used or freed
 */
struct cuda_context {
	uint32_t references;
	uint32_t index;
	int device;
	cu_context handle;
	uint32_t dead;
};

struct cuda_device;

/**
 * struct cuda_late - base of resources that are released when the device is done with them
 * @release: releases and frees it; with @alive false, frees host memory only
 */
struct cuda_late {
	struct cuda_late *next;
	struct cuda_device *device;
	void (*release)(struct cuda_late *late, bool alive);
};

struct cuda_device {
	struct tenon_device base;
	const struct cuda_api *cu;
	struct cuda_context *context;
	cu_context handle;
	uint32_t most_shared; /* limit of dynamic and static shared memory with opt-in */
	bool pools;
	bool clusters;
	uint32_t queues;	/* atomic */
	uint32_t stuck;		/* atomic; lost while operations run: CUDA calls may not return */
	struct cuda_late *late; /* atomic; items freed after the loss or in a host function */
	pthread_mutex_t lock;	/* of the clock */
	cu_stream clock_stream;
	cu_event clock;	     /* timestamps are measured relative to it */
	uint64_t clock_time; /* host time of @clock */
};

/**
 * struct cuda_stream - a stream; referenced by its queue and by memory that is ordered on it
 * @queues: atomic; 1 while its queue exists, else 0
 */
struct cuda_stream {
	uint32_t references;
	uint32_t queues;
	bool foreign;
	cu_stream handle;
	struct cuda_device *device;
};

/** enum cuda_memory_kind - origin of memory */
enum cuda_memory_kind {
	CUDA_MEMORY_PLAIN,
	CUDA_MEMORY_ORDERED,	/* on a stream */
	CUDA_MEMORY_HOST,	/* pinned */
	CUDA_MEMORY_REGISTERED, /* host memory of the program */
	CUDA_MEMORY_BORROWED,	/* registered by the program */
	CUDA_MEMORY_MAPPED,	/* exportable, or imported from CUDA */
	CUDA_MEMORY_EXTERNAL,	/* of another API */
};

struct cuda_memory {
	struct tenon_memory base;
	struct cuda_late late;
	uint32_t kind;
	struct cuda_stream *stream; /* ORDERED */
	uint64_t handle;	    /* MAPPED */
	uint64_t mapped;	    /* bytes */
	void *external;
};

struct cuda_kernel {
	struct tenon_kernel base;
	cu_function function;
	uint32_t static_shared;
	uint32_t allowed; /* atomic: bytes of dynamic shared memory that it may be launched with */
};

struct cuda_executable {
	struct tenon_executable base;
	struct cuda_late late;
	cu_module module;
	struct cuda_kernel kernels[];
};

/** struct cuda_pending - an event in a queue's list: a mark, or with @time a timestamp */
struct cuda_pending {
	cu_event event;
	uint64_t serial;
	uint64_t *time;
};

struct cuda_stage;
struct cuda_queue;

/**
 * struct cuda_call - context of a host function in a stream
 * @next: next idle context
 * @all: next in the queue's list of all contexts
 * @uses: number of functions in the stream that use it, plus one for the thread that took it
 * @function: of TENON_OP_CALL, with @context
 * @host: next part of a staged copy in host memory; NULL when the copy was cancelled
 * @kept: allocation that @host points into, freed with the last use; or NULL
 * @size: remaining bytes
 */
struct cuda_call {
	struct cuda_call *next;
	struct cuda_call *all;
	struct cuda_queue *queue;
	uint32_t uses;
	bool write;
	void (*function)(void *context);
	void *context;
	char *host;
	void *kept;
	uint64_t size;
};

struct cuda_queue {
	struct tenon_queue base;
	struct cuda_stream *stream;
	cu_stream handle;
	bool shared;		  /* atomic; the program may submit to it too */
	struct cuda_stage *stage; /* pinned memory for copies; allocated on first use */
	struct cuda_call *calls;
	struct cuda_call *idle_calls; /* used by the submitting thread only */
	struct cuda_call *done_calls; /* atomic; idle since their functions ran */
	uint64_t submitted;	      /* atomic; written by the thread that submits */
	uint64_t done;		      /* atomic; serial of the last reached mark */
	pthread_mutex_t lock;	      /* protects the rest */
	uint64_t marked;	      /* @submitted when the last mark was made */
	uint64_t serial;	      /* of the last mark */
	struct cuda_pending *pending; /* ring of @room entries */
	uint32_t first;
	uint32_t count;
	uint32_t room;
	uint32_t idle_count;
	cu_event *idle; /* events for reuse; room for @room */
};

static inline struct cuda_device *cuda_device_of(struct tenon_device *device)
{
	return (struct cuda_device *)device;
}

/** cuda_enter - make the device's context current; returns an enum cu_status */
static inline int cuda_enter(const struct cuda_device *d)
{
	cu_context now = NULL;

	if (__builtin_expect(!d->cu->CtxGetCurrent(&now) && now == d->handle, 1))
		return 0;
	return d->cu->CtxSetCurrent(d->handle);
}

static inline bool cuda_is_lost(const struct cuda_device *d)
{
	return __atomic_load_n(&d->base.lost, __ATOMIC_ACQUIRE) != 0;
}

static inline bool cuda_is_dead(const struct cuda_device *d)
{
	return __atomic_load_n(&d->context->dead, __ATOMIC_ACQUIRE) != 0;
}

/** cuda_address - device address of a range */
static inline cu_address cuda_address(struct tenon_range range)
{
	return range.memory->address + range.offset;
}

/**
 * cuda_failed - raise an error for a CUDA status
 * @d: device; marked as lost if @status is a loss
 * @status: enum cu_status, not 0
 * @format: the failed operation: "copying 4096 bytes"
 *
 * Return: -TENON_E_NOMEM, -TENON_E_LOST, -TENON_E_UNSUPPORTED, -TENON_E_DEVICE.
 */
int cuda_failed(struct cuda_device *d, int status, const char *format, ...) TENON_PRINTF(3, 4);

/** cuda_error - tenon_error() with the device as prefix */
int cuda_error(const struct cuda_device *d, int status, const char *format, ...) TENON_PRINTF(3, 4);

/** cuda_status_text - "CUDA_ERROR_INVALID_PTX (218: a PTX JIT compilation failed)" */
const char *cuda_status_text(const struct cuda_api *cu, int status, char *out, size_t size);

/** cuda_found - get the functions of libcuda and the number of devices */
int cuda_found(const struct cuda_api **cu, uint32_t *count);

/** cuda_describe - fill the properties of a device; @device is a CUdevice */
int cuda_describe(const struct cuda_api *cu, int device, struct tenon_device_properties *p);

/** cuda_attribute - cuDeviceGetAttribute(); 0 on failure */
int cuda_attribute(const struct cuda_api *cu, int device, int what);

/**
 * cuda_kernel_driver - get the version of NVIDIA's kernel driver, "550.54.14"; "" if not loaded
 */
void cuda_kernel_driver(char *out, size_t size);

/**
 * cuda_context_get - retain the primary context of a GPU; resets an unusable one first
 * @index: index of the device
 *
 * Return: enum cu_status; -1 when memory is out.
 */
int cuda_context_get(const struct cuda_api *cu, uint32_t index, int device,
		     struct cuda_context **out);

/** cuda_context_put - drop a context; with @give_back false, the primary context stays retained */
void cuda_context_put(const struct cuda_api *cu, struct cuda_context *context, bool give_back);

int cuda_device_open(const struct tenon_device_choice *choice, struct tenon_device **out);

/** cuda_late_init - initialise an item for cuda_retire() */
void cuda_late_init(struct cuda_late *late, struct tenon_device *device,
		    void (*release)(struct cuda_late *late, bool alive));

/**
 * cuda_retire - release when all submitted operations are done; after a loss, when the device
 * closes
 */
void cuda_retire(struct cuda_late *late);

/** cuda_retire_put_off - retire the items that host functions dropped */
void cuda_retire_put_off(struct cuda_device *d);

/** cuda_release - release now; after a loss, when the device closes */
void cuda_release(struct cuda_late *late);

/** cuda_stream_drop - release a stream */
void cuda_stream_drop(struct cuda_stream *stream);

/** cuda_memory_new - allocate the struct of memory; NULL with the error raised */
struct cuda_memory *cuda_memory_new(struct cuda_device *d, uint64_t size, uint32_t usage,
				    uint32_t kind);

/** cuda_memory_finish - initialise memory once its address and host pointer are set */
struct tenon_memory *cuda_memory_finish(struct cuda_device *d, struct cuda_memory *m,
					uint32_t flags);

/* devices/cuda/cuda_handle.c: import and export of memory */
int cuda_exportable_alloc(struct cuda_device *d, const struct tenon_memory_request *request,
			  struct tenon_memory **out);
int cuda_import(struct tenon_device *device, const struct tenon_memory_import *from,
		struct tenon_memory **out);
int cuda_export(struct tenon_memory *memory, uint32_t type, int *fd);
void cuda_mapping_end(struct cuda_device *d, struct cuda_memory *m);

/* devices/cuda/cuda_fence.c: fences of other APIs */
bool cuda_imports_fences(const struct cuda_api *cu);
int cuda_fence_import(struct tenon_queue *queue, uint32_t type, int fd);

/* devices/cuda/cuda_mark.c: functions of struct tenon_queue_ops */
int cuda_queue_mark(struct tenon_queue *queue, uint64_t *serial);
int cuda_queue_reached(struct tenon_queue *queue, uint64_t serial);
int cuda_queue_wait(struct tenon_queue *queue, uint64_t serial, uint64_t deadline);
int cuda_queue_order(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial);
int cuda_queue_timestamp(struct cuda_queue *q, uint64_t *time);
void cuda_queue_forget(struct cuda_queue *q, bool alive);

/* devices/cuda/cuda_transfer.c: copies between host and device; return 0 or a negative status */
int cuda_write(struct cuda_queue *q, cu_address to, const void *host, uint64_t size);
int cuda_read(struct cuda_queue *q, void *host, cu_address from, uint64_t size);
void cuda_stage_end(struct cuda_device *d, struct cuda_stage *stage, bool alive);

/** cuda_call_take - get a context for a host function with one use; NULL when out of memory */
struct cuda_call *cuda_call_take(struct cuda_queue *q);

/** cuda_call_put - enqueue a function that uses @call; adds a use; returns CUDA's status */
int cuda_call_put(struct cuda_call *call, void (*function)(void *call));

/** cuda_call_drop - end a use; does not call CUDA */
void cuda_call_drop(struct cuda_call *call);

/** cuda_call - submit a host function; returns CUDA's result */
int cuda_call(struct cuda_queue *q, void (*function)(void *context), void *context);

/** cuda_in_function - test for a call from a host function, where CUDA must not be called */
bool cuda_in_function(void);

void cuda_calls_end(struct cuda_queue *q);

/** cuda_launch - enqueue a kernel */
int cuda_launch(cu_stream stream, const struct tenon_dispatch *dispatch);

/** cuda_launch_ready - prepare a kernel for launches with this much shared memory */
int cuda_launch_ready(struct cuda_kernel *k, uint32_t shared);

/**
 * cuda_launch_arguments - fill CUDA's array of pointers to arguments; @out has room for
 * TENON_KERNEL_ARGUMENTS_MOST
 */
static inline void cuda_launch_arguments(const struct tenon_kernel_info *info,
					 const uint64_t *arguments, void **out)
{
	uint32_t i;

	/* the slot of a tensor map holds its address, all other slots hold the value */
	for (i = 0; i < info->argument_count; i++)
		out[i] = info->arguments[i].kind == TENON_ARGUMENT_TENSOR_MAP
				 ? (void *)(uintptr_t)arguments[i]
				 : (void *)(uintptr_t)&arguments[i];
}

/** cuda_module_load - load a program as a module */
int cuda_module_load(struct cuda_device *d, const struct tenon_program *program, cu_module *out);

/**
 * cuda_compile - compile CUDA source for the device with NVRTC, or read the code from the cache
 * @out: code; PTX ends with NUL
 */
int cuda_compile(struct cuda_device *d, const struct tenon_program *program,
		 struct tenon_buffer *out);

/** cuda_replay - enqueue a recording with these bindings */
int cuda_replay(struct cuda_queue *q, struct tenon_commands *commands,
		struct tenon_memory *const *bindings);

extern const struct tenon_backend cuda_backend;
extern const struct tenon_memory_ops cuda_memory_ops;
extern const struct tenon_queue_ops cuda_queue_ops;
extern const struct tenon_commands_ops cuda_commands_ops;
extern const struct tenon_executable_ops cuda_executable_ops;

/** cuda_queue_submitted - count a submitted operation */
static inline void cuda_queue_submitted(struct cuda_queue *q)
{
	__atomic_store_n(&q->submitted, q->submitted + 1, __ATOMIC_RELEASE);
}

#endif /* DEVICES_CUDA_CUDA_DEVICE_H */

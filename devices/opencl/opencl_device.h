/* SPDX-License-Identifier: MIT */
/* The state of devices, memory, queues and kernels, and what the files of the backend share. */
#ifndef DEVICES_OPENCL_OPENCL_DEVICE_H
#define DEVICES_OPENCL_OPENCL_DEVICE_H

/*
 * A device is a context with one cl_device. A queue is an in-order command queue. A mark is a
 * marker, whose event is polled in order. A kernel has a cl_kernel for each queue that launches it,
 * because two threads must not set arguments of one cl_kernel. Each caches its arguments and sets
 * only those that changed.
 */

#include <pthread.h>
#include <stdbool.h>

#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include "driver/opencl/opencl_api.h"
#include "lib/brief_errors.h"

/** struct opencl_found - a device that the loader lists */
struct opencl_found {
	ocl_platform platform;
	ocl_device device;
	uint32_t device_class; /* enum tenon_device_class; also GPU for integrated GPUs */
};

/**
 * struct opencl_recorder - cl_khr_command_buffer; not used if the device lacks it or is a processor
 *
 * @copy and @fill have two prototypes: see devices/opencl/opencl_commands.c.
 */
struct opencl_recorder {
	ocl_recording (*create)(uint32_t, const ocl_queue *, const uint64_t *, int *);
	int (*finish)(ocl_recording);
	int (*release)(ocl_recording);
	int (*enqueue)(uint32_t, ocl_queue *, ocl_recording, uint32_t, const ocl_event *,
		       ocl_event *);
	int (*kernel)(ocl_recording, ocl_queue, const void *, ocl_kernel, uint32_t, const size_t *,
		      const size_t *, const size_t *, uint32_t, const uint32_t *, uint32_t *,
		      void *);
	void *copy;
	void *fill;
};

/**
 * struct opencl_fences - cl_khr_semaphore and cl_khr_external_semaphore
 */
struct opencl_fences {
	ocl_semaphore (*create)(ocl_context, const uint64_t *, int *);
	int (*release)(ocl_semaphore);
	int (*wait)(ocl_queue, uint32_t, const ocl_semaphore *, const uint64_t *, uint32_t,
		    const ocl_event *, ocl_event *);
	int (*signal)(ocl_queue, uint32_t, const ocl_semaphore *, const uint64_t *, uint32_t,
		      const ocl_event *, ocl_event *);
	int (*handle)(ocl_semaphore, ocl_device, uint32_t, size_t, void *, size_t *);
};

struct opencl_device {
	struct tenon_device base;
	ocl_platform platform;
	ocl_device device;
	ocl_context context;
	ocl_queue service; /* for mappings and recordings */
	uint32_t version;  /* 120, 300 */
	char *options;	   /* for the compiler; NULL */
	char label[160];   /* "PoCL, cpu" */
	pthread_mutex_t lock;
	struct opencl_queue *free_queues; /* under @lock */
	pthread_mutex_t recording_lock;	  /* one launch is recorded at a time */
	uint64_t made;			  /* atomic; number of allocations; source of identities */
	uint64_t freed; /* atomic; number of frees, after which addresses may be reused */
	struct opencl_recorder recorder;
	struct opencl_fences fences;
	bool recorder_properties; /* @recorder.copy and fill take a list of properties */
	bool shares_memory;	  /* from opencl_svm_find() */
};

struct opencl_memory {
	struct tenon_memory base;
	ocl_mem mem;
	uint64_t identity; /* unique; addresses are reused */
	bool recorded;	   /* in a recording, whose runs may not retain it */
};

/** struct opencl_given - cached argument of a cl_kernel */
struct opencl_given {
	uint64_t slot;	   /* value in the last launch */
	uint64_t identity; /* of memory; 0 for none */
};

/* opencl_instance.freed while no arguments are set */
#define OPENCL_NOTHING_GIVEN UINT64_MAX

/** struct opencl_instance - cl_kernel of a queue, and its cached arguments */
struct opencl_instance {
	struct opencl_instance *next;
	const void *owner; /* a queue, or the device for recordings; NULL if unused */
	ocl_kernel kernel;
	uint32_t count;	     /* of @given */
	uint32_t dimensions; /* of launches */
	uint64_t freed;	     /* opencl_device.freed when @given was checked */
	struct opencl_given given[];
};

struct opencl_kernel {
	struct tenon_kernel base;
	ocl_program program;		   /* its own, or the executable's */
	struct opencl_instance *instances; /* atomic; grows at the front */
	char name[];
};

struct opencl_executable {
	struct tenon_executable base;
	ocl_program binary; /* program of formats that hold all kernels */
	bool recorded;	    /* as in struct opencl_memory */
	size_t count;	    /* of @kernels, for use after the program is freed */
	struct opencl_kernel *kernels[];
};

/** enum opencl_pending_kind - purpose of a pending event */
enum opencl_pending_kind {
	OPENCL_MARK,
	OPENCL_ORDER, /* of another queue: its failure fails the next mark */
	OPENCL_TIME,  /* its end time is a timestamp */
};

struct opencl_pending {
	ocl_event event;
	uint64_t serial;
	uint64_t *time;
	uint32_t kind;
	bool armed; /* has a callback */
};

struct opencl_failure {
	uint64_t serial;
	int status;
};

/**
 * struct opencl_queue - a queue
 *
 * The struct is reused after the queue is destroyed, because kernels identify the instances of a
 * queue by its address.
 */
struct opencl_queue {
	struct tenon_queue base;
	struct opencl_queue *next_free;
	ocl_queue queue;
	bool shared;	    /* atomic; the program may submit to it too */
	ocl_queue timing;   /* created for the first timestamp */
	ocl_mem clock;	    /* as @timing: what is copied there */
	uint64_t submitted; /* atomic; written by the thread that submits */
	/* under @lock: */
	ocl_event last;	  /* of the operation number @last_at, if it is no launch, or NULL */
	uint64_t last_at; /* @submitted behind it */
	uint64_t marked;  /* @submitted when the last mark was made */
	uint64_t serial;  /* of the last mark */
	uint64_t done;	  /* of the last mark that was reached */
	uint64_t flushed; /* of the last mark that was flushed */
	struct opencl_pending *pending; /* room for @room; @count entries from @first on */
	uint32_t first;
	uint32_t count;
	uint32_t room;
	uint32_t failure_count;
	struct opencl_failure *failures;
	pthread_mutex_t lock;
};

struct opencl_commands {
	struct tenon_commands base;
	ocl_recording recording;
	int (*release)(ocl_recording);
};

static inline struct opencl_device *opencl_device_of(struct tenon_device *device)
{
	return (struct opencl_device *)device;
}

static inline struct opencl_device *opencl_kernel_device(const struct opencl_kernel *k)
{
	return opencl_device_of(k->base.executable->device);
}

static inline ocl_mem opencl_mem(struct tenon_range range)
{
	return ((struct opencl_memory *)range.memory)->mem;
}

/**
 * opencl_failed - raise an error for an OpenCL status
 * @d: device; marked as lost if @status is a loss
 * @status: negative
 * @format: the failed operation: "copying 4096 bytes"
 *
 * Return: -TENON_E_NOMEM, -TENON_E_LOST, -TENON_E_DEVICE.
 */
int opencl_failed(struct opencl_device *d, int status, const char *format, ...) TENON_PRINTF(3, 4);

/** opencl_in - prefix the thread's error message with the device; returns @err */
int opencl_in(const struct opencl_device *d, int err);

/* tenon_error() with the device as prefix */
#define opencl_error(d, status, ...) opencl_in(d, tenon_error(status, __VA_ARGS__))

/** opencl_nomem - raise -TENON_E_NOMEM for @what ("a queue") */
int opencl_nomem(const char *what);

/* devices/opencl/opencl_backend.c */
/** opencl_found - find a device by index; 0, -TENON_E_DEVICE, -TENON_E_NOT_FOUND */
int opencl_found(uint32_t index, const struct opencl_found **out);
/** opencl_platform_name - "PoCL" */
void opencl_platform_name(ocl_platform platform, char out[128]);

/* devices/opencl/opencl_properties.c */
/** opencl_describe - fill the properties of a device; @version receives 120, 300 */
void opencl_describe(const struct opencl_found *found, struct tenon_device_properties *properties,
		     uint32_t *version);
/**
 * opencl_answer - clGetDeviceInfo() into allocated memory, with a NUL appended
 * @size: receives the size of the answer; may be NULL
 *
 * Return: the answer, for free(); NULL on failure.
 */
void *opencl_answer(ocl_device device, uint32_t what, size_t *size);
/** opencl_number - clGetDeviceInfo() for a number; 0 on failure */
uint64_t opencl_number(ocl_device device, uint32_t what);

/* devices/opencl/opencl_device.c */
int opencl_device_open(const struct tenon_device_choice *choice, struct tenon_device **out);

/* devices/opencl/opencl_commands.c */
/** opencl_recorder_find - look up cl_khr_command_buffer; false if it is missing or too limited, or the device is a processor */
bool opencl_recorder_find(struct opencl_device *d);

/* devices/opencl/opencl_fence.c */
/** opencl_fences_find - look up the functions; false if one is missing */
bool opencl_fences_find(ocl_platform platform, struct opencl_fences *fences);
/** opencl_fences_describe - fill in which fences the device exports and imports */
void opencl_fences_describe(const struct opencl_found *found,
			    struct tenon_device_properties *properties);
int opencl_fence_export(struct tenon_queue *queue, uint64_t serial, uint32_t type, int *fd);
int opencl_fence_import(struct tenon_queue *queue, uint32_t type, int fd);

extern const struct tenon_backend opencl_backend;
extern const struct tenon_memory_ops opencl_memory_ops;
extern const struct tenon_queue_ops opencl_queue_ops;
extern const struct tenon_commands_ops opencl_commands_ops;
extern const struct tenon_executable_ops opencl_executable_ops;

/* devices/opencl/opencl_launch.c */
int opencl_submit(struct tenon_queue *queue, const struct tenon_operation *operation);
/**
 * opencl_kernel_ready - get the instance of an owner and set the arguments of a launch
 * @owner: a queue, or the device for recordings; one thread at a time
 */
int opencl_kernel_ready(struct opencl_kernel *k, const void *owner, const uint64_t *arguments,
			struct opencl_instance **out);
/**
 * opencl_launch_size - convert the extents of a launch for OpenCL; false when they are too large
 */
static inline bool opencl_launch_size(const struct opencl_instance *instance,
				      const struct tenon_dispatch *dispatch, size_t global[3],
				      size_t local[3])
{
	bool too_large = false;
	uint32_t i;

	for (i = 0; i < instance->dimensions; i++) {
		local[i] = dispatch->block[i];
		too_large |= __builtin_mul_overflow(local[i], dispatch->grid[i], &global[i]);
	}
	return !too_large;
}

/* devices/opencl/opencl_kernel.c */
/** opencl_instance_add - create another cl_kernel; @owner may be NULL */
int opencl_instance_add(struct opencl_kernel *k, const void *owner, struct opencl_instance **out);
/**
 * opencl_instance_renew - find or create the instance of an owner, and invalidate cached arguments
 * @freed: current opencl_device.freed
 * @arguments: of the launch; cached memory arguments, or all for a new instance, are made to differ
 */
int opencl_instance_renew(struct opencl_kernel *k, const void *owner, uint64_t freed,
			  const uint64_t *arguments, struct opencl_instance **out);
/** opencl_argument_failed - raise an error for an argument; @status 0: it is not memory */
int opencl_argument_failed(const struct opencl_kernel *k, uint32_t n, int status);
/** opencl_launch_failed - raise an error for a launch; @status 0: it is too large */
int opencl_launch_failed(const struct opencl_kernel *k, const struct tenon_dispatch *dispatch,
			 int status);
void opencl_kernel_free(struct opencl_kernel *k);

/* devices/opencl/opencl_program.c */
/** opencl_is_spirv - test for the SPIR-V magic number */
bool opencl_is_spirv(struct tenon_slice code);
/** opencl_program_of_binary - create and build a program from a device binary */
int opencl_program_of_binary(struct opencl_device *d, struct tenon_slice bytes, const char *label,
			     ocl_program *out);
/**
 * opencl_program_of_text - build a program from source or SPIR-V, or get it from the cache
 * @fresh: receives whether it was built; then call opencl_program_keep() after creating a kernel
 */
int opencl_program_of_text(struct opencl_device *d, struct tenon_slice text, const char *name,
			   ocl_program *out, bool *fresh);
/** opencl_program_keep - write a program to the cache */
void opencl_program_keep(struct opencl_device *d, struct tenon_slice text, ocl_program program);

/* devices/opencl/opencl_queue.c */
/** opencl_submit_other - submit an operation other than a launch */
int opencl_submit_other(struct opencl_queue *q, const struct tenon_operation *operation);

/* devices/opencl/opencl_svm.c */
/** opencl_svm_find - whether the device is a processor whose buffers the host reads and writes in place */
bool opencl_svm_find(const struct opencl_device *d);
/**
 * opencl_svm_buffer - make a buffer in shared virtual memory
 * @host: receives its address
 *
 * Return: NULL if the driver or the host has no memory for it.
 */
ocl_mem opencl_svm_buffer(struct opencl_device *d, size_t size, void **host);
/**
 * opencl_svm_copy - make a write or read in place
 *
 * Return: true when it is done; false, and the caller enqueues the operation: it is large, its memory is not shared with
 *	the host, the program shares the queue, or something before it is not known to be done.
 */
bool opencl_svm_copy(struct opencl_queue *q, const struct tenon_operation *operation);

/** opencl_submitted - count a submitted operation */
static inline void opencl_submitted(struct opencl_queue *q)
{
	__atomic_store_n(&q->submitted, q->submitted + 1, __ATOMIC_RELEASE);
}

/** opencl_is_shared - whether the program may submit to the queue, too */
static inline bool opencl_is_shared(const struct opencl_queue *q)
{
	return __atomic_load_n(&q->shared, __ATOMIC_ACQUIRE);
}

/* devices/opencl/opencl_mark.c: functions of struct tenon_queue_ops, and helpers of submit */
int opencl_queue_mark(struct tenon_queue *queue, uint64_t *serial);
int opencl_queue_reached(struct tenon_queue *queue, uint64_t serial);
int opencl_queue_wait(struct tenon_queue *queue, uint64_t serial, uint64_t deadline);
int opencl_queue_order(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial);
int opencl_queue_timestamp(struct opencl_queue *q, uint64_t *time);
/** opencl_queue_is_idle - whether all that was submitted is known to be done; for the thread that submits */
bool opencl_queue_is_idle(struct opencl_queue *q);
void opencl_queue_forget(struct opencl_queue *q);

/** opencl_queue_ended - count a submitted operation; takes ownership of its event, or NULL, which marks its place */
void opencl_queue_ended(struct opencl_queue *q, ocl_event event);

/* devices/opencl/opencl_event.c */
/** opencl_event_init - initialise; called once, before any device is opened */
void opencl_event_init(void);
/**
 * opencl_event_status - negative status; OCL_COMPLETE, and all writes are visible; positive before
 */
int opencl_event_status(ocl_event event);
/**
 * opencl_event_wait - sleep until an event is done, the deadline passes or the device is lost
 * @armed: the event has a callback already
 * @deadline: absolute nanoseconds
 *
 * Return: as opencl_event_status(); positive when the deadline passed; OCL_DEVICE_NOT_AVAILABLE for
 *	a device that is lost.
 */
int opencl_event_wait(struct opencl_device *d, ocl_event event, bool armed, uint64_t deadline);

#endif /* DEVICES_OPENCL_OPENCL_DEVICE_H */

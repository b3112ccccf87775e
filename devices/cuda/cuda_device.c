/* SPDX-License-Identifier: MIT */
/* Open and close a device, and tell a failed call from a lost device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/cuda/cuda_device.h"

#include "lib/brief_errors.h"

/* what to do after a fault */
#define START_AGAIN                                                                                \
	"after a fault of a kernel CUDA opens no device until the process ends: start the "        \
	"program "                                                                                 \
	"again"

/* Test for errors after which CUDA refuses new contexts, too, until the process ends. */
static bool is_fault(int status)
{
	return status == CU_ILLEGAL_ADDRESS || status == CU_LAUNCH_TIMEOUT || status == CU_ASSERT ||
	       (status >= CU_HARDWARE_STACK_ERROR && status <= CU_LAUNCH_FAILED) ||
	       status == CU_TENSOR_MEMORY_LEAK || status == CU_ECC_UNCORRECTABLE ||
	       status == CU_NVLINK_UNCORRECTABLE || status == CU_CONTAINED;
}

/* Test for errors after which the context is unusable. */
static bool is_loss(int status)
{
	return is_fault(status) || status == CU_CONTEXT_IS_DESTROYED ||
	       status == CU_INVALID_CONTEXT || status == CU_DEINITIALIZED ||
	       status == CU_DEVICE_UNAVAILABLE || status == CU_UNKNOWN;
}

const char *cuda_status_text(const struct cuda_api *cu, int status, char *out, size_t size)
{
	const char *name = NULL, *words = NULL;

	if (cu->GetErrorName(status, &name) || !name)
		name = "CUDA error";
	if (cu->GetErrorString(status, &words) || !words)
		words = "not known to the driver";
	snprintf(out, size, "%s (%d: %s)", name, status, words);
	return out;
}

int cuda_error(const struct cuda_device *d, int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tenon_error_v(status, format, args);
	va_end(args);
	return tenon_error_in(status, "cuda:%d (%s)", d->base.id.device_id,
			      d->base.properties->name);
}

int cuda_failed(struct cuda_device *d, int status, const char *format, ...)
{
	char what[256], text[160];
	va_list args;
	int err = -TENON_E_DEVICE;

	if (status == CU_OUT_OF_MEMORY)
		err = -TENON_E_NOMEM;
	if (status == CU_NOT_SUPPORTED)
		err = -TENON_E_UNSUPPORTED;
	if (is_loss(status))
		err = -TENON_E_LOST;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	cuda_error(d, err, "%s: %s%s", what, cuda_status_text(d->cu, status, text, sizeof(text)),
		   is_fault(status) ? "; " START_AGAIN : "");
	if (err != -TENON_E_LOST)
		return err;
	/* a device lost for another reason may still be referenced; its context is usable */
	__atomic_store_n(&d->context->dead, 1, __ATOMIC_RELEASE);
	return tenon_device_lose(&d->base, is_fault(status) ? -TENON_E_UNSUPPORTED : err);
}

void cuda_late_init(struct cuda_late *late, struct tenon_device *device,
		    void (*release)(struct cuda_late *late, bool alive))
{
	late->device = cuda_device_of(device);
	late->release = release;
}

static void put_off(struct cuda_late *late)
{
	struct cuda_device *d = late->device;

	late->next = __atomic_load_n(&d->late, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&d->late, &late->next, late, true, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED))
		;
}

void cuda_release(struct cuda_late *late)
{
	struct cuda_device *d = late->device;

	/* releasing may wait for operations that never end: defer it until the device is closed */
	if (cuda_is_lost(d)) {
		put_off(late);
		return;
	}
	cuda_enter(d);
	late->release(late, true);
}

static void retired(void *item)
{
	cuda_release(item);
}

void cuda_retire_put_off(struct cuda_device *d)
{
	struct cuda_late *late, *next;

	if (!__atomic_load_n(&d->late, __ATOMIC_RELAXED) || cuda_is_lost(d))
		return;
	late = __atomic_exchange_n(&d->late, NULL, __ATOMIC_ACQUIRE);
	for (; late; late = next) {
		next = late->next;
		tenon_device_retire(&d->base, retired, late);
	}
}

void cuda_retire(struct cuda_late *late)
{
	/* Recording an event calls into CUDA, so defer it to the next allocation or free. */
	if (cuda_in_function()) {
		put_off(late);
		return;
	}
	cuda_retire_put_off(late->device);
	tenon_device_retire(&late->device->base, retired, late);
}

static void cuda_close(struct tenon_device *device)
{
	struct cuda_device *d = cuda_device_of(device);
	bool stuck = __atomic_load_n(&d->stuck, __ATOMIC_ACQUIRE);
	bool alive = !stuck && !cuda_is_dead(d);
	struct cuda_late *late;

	if (alive)
		cuda_enter(d);
	while ((late = d->late)) {
		d->late = late->next;
		late->release(late, alive);
	}
	if (alive && d->clock)
		d->cu->EventDestroy(d->clock);
	if (alive && d->clock_stream)
		d->cu->StreamDestroy(d->clock_stream);
	cuda_context_put(d->cu, d->context, !stuck);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static int cuda_available(struct tenon_device *device, uint64_t *bytes)
{
	struct cuda_device *d = cuda_device_of(device);
	size_t left = 0, total;
	int status = cuda_enter(d);

	if (!status)
		status = d->cu->MemGetInfo(&left, &total);
	*bytes = left;
	return status ? cuda_failed(d, status, "asking how much memory is free") : 0;
}

static int cuda_make_current(struct tenon_device *device)
{
	struct cuda_device *d = cuda_device_of(device);
	int status = cuda_enter(d);

	return status ? cuda_failed(d, status, "making the device current") : 0;
}

static void *cuda_native(struct tenon_device *device)
{
	return (void *)(intptr_t)cuda_device_of(device)->context->device;
}

#define DEVICE_OPS(COMMANDS)                                                                       \
	{                                                                                          \
		.size = sizeof(struct tenon_device_ops), .close = cuda_close,                      \
		.available_memory = cuda_available, .make_current = cuda_make_current,             \
		.native = cuda_native, .memory = &cuda_memory_ops, .queue = &cuda_queue_ops,       \
		.commands = COMMANDS, .executable = &cuda_executable_ops,                          \
	}

static const struct tenon_device_ops plain_ops = DEVICE_OPS(NULL);
static const struct tenon_device_ops graph_ops = DEVICE_OPS(&cuda_commands_ops);

static int check_choice(const struct cuda_api *cu, const struct tenon_device_choice *choice,
			uint32_t count, int *device)
{
	if (choice->option_count)
		return tenon_error(-TENON_E_VALUE, "cuda: unknown option \"%.*s\"; there are none",
				   (int)choice->options[0].key.size, choice->options[0].key.data);
	if (choice->index >= count || cu->DeviceGet(device, (int)choice->index))
		return tenon_error(-TENON_E_NOT_FOUND, "cuda:%u: there are %u CUDA devices",
				   choice->index, count);
	if (!cuda_attribute(cu, *device, CU_ATTRIBUTE_UNIFIED_ADDRESSING))
		return tenon_error(-TENON_E_DEVICE,
				   "cuda:%u has no addresses in common with the host, which only "
				   "32-bit programs lack",
				   choice->index);
	return 0;
}

static void look_up(struct cuda_device *d, int device)
{
	const struct tenon_device_properties *p = d->base.properties;

	d->pools = p->flags & TENON_DEVICE_STREAM_ORDERED;
	d->clusters = d->cu->LaunchKernelEx && cuda_attribute(d->cu, device, CU_ATTRIBUTE_CLUSTERS);
	d->most_shared = (uint32_t)cuda_attribute(d->cu, device, CU_ATTRIBUTE_MAX_SHARED_OPTIN);
	if (d->most_shared < p->max_shared)
		d->most_shared = p->max_shared;
}

static int no_context(const struct cuda_device *d, int status)
{
	char text[160];

	if (status < 0)
		return tenon_error(-TENON_E_NOMEM, "no memory for a context");
	cuda_status_text(d->cu, status, text, sizeof(text));
	if (is_fault(status))
		return cuda_error(d, -TENON_E_LOST, "opening the device: %s; " START_AGAIN, text);
	return cuda_error(d, -TENON_E_DEVICE, "opening the device: %s", text);
}

int cuda_device_open(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	const struct cuda_api *cu;
	struct cuda_device *d;
	uint32_t count;
	int err, status, device = 0;

	err = cuda_found(&cu, &count);
	if (!err)
		err = check_choice(cu, choice, count, &device);
	if (err)
		return err;
	d = calloc(1, sizeof(*d));
	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	d->cu = cu;
	err = tenon_device_init(&d->base, cu->graphs ? &graph_ops : &plain_ops, &cuda_backend,
				choice->index);
	if (err)
		goto free_device;
	cuda_describe(cu, device, d->base.properties);
	d->base.id = (DLDevice){ kDLCUDA, (int32_t)choice->index };
	look_up(d, device);
	status = cuda_context_get(cu, choice->index, device, &d->context);
	if (status) {
		err = no_context(d, status);
		goto fini_device;
	}
	d->handle = d->context->handle;
	pthread_mutex_init(&d->lock, NULL);
	*out = &d->base;
	return 0;

fini_device:
	tenon_device_fini(&d->base);
free_device:
	free(d);
	return err;
}

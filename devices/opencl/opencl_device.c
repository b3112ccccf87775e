/* SPDX-License-Identifier: MIT */
/* Open and close a device, and report which call failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/opencl/opencl_device.h"

#include "lib/brief_errors.h"

static bool is_loss(int status)
{
	return status == OCL_DEVICE_NOT_AVAILABLE || status == OCL_INVALID_CONTEXT ||
	       status == OCL_INVALID_COMMAND_QUEUE || status == OCL_NVIDIA_ILLEGAL_ACCESS;
}

int opencl_in(const struct opencl_device *d, int err)
{
	return tenon_error_in(err, "opencl:%d (%s)", d->base.id.device_id, d->label);
}

int opencl_failed(struct opencl_device *d, int status, const char *format, ...)
{
	char what[160];
	va_list args;
	int err = -TENON_E_DEVICE;

	if (status == OCL_MEM_OBJECT_ALLOCATION_FAILURE || status == OCL_OUT_OF_HOST_MEMORY)
		err = -TENON_E_NOMEM;
	/* a device that is being opened cannot be lost */
	if (is_loss(status) && d->service)
		err = -TENON_E_LOST;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	opencl_error(d, err, "%s: CL_%s (%d)", what, opencl_status_name(status), status);
	return err == -TENON_E_LOST ? tenon_device_lose(&d->base, err) : err;
}

int opencl_nomem(const char *what)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for %s", what);
}

static void device_free(struct opencl_device *d)
{
	struct opencl_queue *q;

	if (d->service)
		ocl.ReleaseCommandQueue(d->service);
	if (d->context)
		ocl.ReleaseContext(d->context);
	while ((q = d->free_queues)) {
		d->free_queues = q->next_free;
		free(q);
	}
	pthread_mutex_destroy(&d->recording_lock);
	pthread_mutex_destroy(&d->lock);
	free(d->options);
	free(d);
}

static void opencl_close(struct tenon_device *device)
{
	device_free(opencl_device_of(device));
}

static void *opencl_native(struct tenon_device *device)
{
	return opencl_device_of(device)->device;
}

#define DEVICE_OPS(COMMANDS)                                                                       \
	{                                                                                          \
		.size = sizeof(struct tenon_device_ops), .close = opencl_close,                    \
		.native = opencl_native, .memory = &opencl_memory_ops, .queue = &opencl_queue_ops, \
		.commands = COMMANDS, .executable = &opencl_executable_ops,                        \
	}

static const struct tenon_device_ops plain_ops = DEVICE_OPS(NULL);
static const struct tenon_device_ops recording_ops = DEVICE_OPS(&opencl_commands_ops);

/* options=-cl-fast-relaxed-math: passed to the compiler of source and SPIR-V */
static int take_options(struct opencl_device *d, const struct tenon_device_choice *choice)
{
	size_t i;

	for (i = 0; i < choice->option_count; i++) {
		const struct tenon_device_option *o = &choice->options[i];

		if (o->key.size != 7 || memcmp(o->key.data, "options", 7))
			return tenon_error(-TENON_E_VALUE,
					   "opencl: unknown option \"%.*s\"; known: options",
					   (int)o->key.size, o->key.data);
		free(d->options);
		d->options = strndup(o->value.data, o->value.size);
		if (!d->options)
			return opencl_nomem("build options");
	}
	return 0;
}

static int open_context(struct opencl_device *d)
{
	const intptr_t properties[] = { OCL_CONTEXT_PLATFORM, (intptr_t)d->platform, 0 };
	int status = 0;

	d->context = ocl.CreateContext(properties, 1, &d->device, NULL, NULL, &status);
	d->shares_memory = opencl_svm_find(d);
	if (d->context)
		d->service = ocl.CreateCommandQueue(d->context, d->device, 0, &status);
	return d->service ? 0 : opencl_failed(d, status, "opening the device");
}

static int open_found(struct opencl_device *d, const struct opencl_found *found, uint32_t index)
{
	static const char classes[][12] = { "device", "cpu", "gpu", "gpu", "accelerator" };
	struct tenon_device_properties properties = { .size = sizeof(properties) };
	char platform[128];
	int err;

	d->platform = found->platform;
	d->device = found->device;
	opencl_describe(found, &properties, &d->version);
	opencl_fences_find(d->platform, &d->fences);
	opencl_platform_name(d->platform, platform);
	snprintf(d->label, sizeof(d->label), "%s, %s", platform, classes[properties.device_class]);
	err = tenon_device_init(&d->base, opencl_recorder_find(d) ? &recording_ops : &plain_ops,
				&opencl_backend, index);
	if (err)
		return err;
	*d->base.properties = properties;
	err = open_context(d);
	if (err)
		tenon_device_fini(&d->base);
	return err;
}

int opencl_device_open(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	struct opencl_device *d = calloc(1, sizeof(*d));
	const struct opencl_found *found;
	int err;

	if (!d)
		return opencl_nomem("a device");
	pthread_mutex_init(&d->lock, NULL);
	pthread_mutex_init(&d->recording_lock, NULL);
	err = opencl_found(choice->index, &found);
	if (!err)
		err = take_options(d, choice);
	if (!err)
		err = open_found(d, found, choice->index);
	if (err)
		device_free(d);
	else
		*out = &d->base;
	return err;
}

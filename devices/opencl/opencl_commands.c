/* SPDX-License-Identifier: MIT */
/* Recordings as command buffers, where the driver has the extension. */
#include <stdlib.h>
#include <string.h>

#include "devices/opencl/opencl_device.h"

/*
 * cl_khr_command_buffer is provisional: since version 0.9.5 the functions that record copies and
 * fills have an additional list of properties. The core keeps recordings with slots as a list,
 * because changing arguments needs another extension.
 */
#define WITH_PROPERTIES ((0u << 22) | (9u << 12) | 5u)

typedef int (*copy_fn)(ocl_recording, ocl_queue, ocl_mem, ocl_mem, size_t, size_t, size_t, uint32_t,
		       const uint32_t *, uint32_t *, void *);
typedef int (*copy_properties_fn)(ocl_recording, ocl_queue, const void *, ocl_mem, ocl_mem, size_t,
				  size_t, size_t, uint32_t, const uint32_t *, uint32_t *, void *);
typedef int (*fill_fn)(ocl_recording, ocl_queue, ocl_mem, const void *, size_t, size_t, size_t,
		       uint32_t, const uint32_t *, uint32_t *, void *);
typedef int (*fill_properties_fn)(ocl_recording, ocl_queue, const void *, ocl_mem, const void *,
				  size_t, size_t, size_t, uint32_t, const uint32_t *, uint32_t *,
				  void *);

/* in the order of struct opencl_recorder */
static const char functions[] = "clCreateCommandBufferKHR\0clFinalizeCommandBufferKHR\0"
				"clReleaseCommandBufferKHR\0clEnqueueCommandBufferKHR\0"
				"clCommandNDRangeKernelKHR\0clCommandCopyBufferKHR\0"
				"clCommandFillBufferKHR\0";

/* Return: 0 if the extension is missing, or its version, and so the prototypes, are unknown. */
static uint32_t extension_version(struct opencl_device *d)
{
	struct ocl_name_version *list;
	uint32_t version = 0;
	size_t size = 0, i;

	list = opencl_answer(d->device, OCL_DEVICE_EXTENSIONS_WITH_VERSION, &size);
	for (i = 0; list && i < size / sizeof(*list); i++)
		if (!strncmp(list[i].name, "cl_khr_command_buffer", sizeof(list[i].name)))
			version = list[i].version;
	free(list);
	return version;
}

bool opencl_recorder_find(struct opencl_device *d)
{
	const char *name = functions;
	uint32_t version = extension_version(d);
	void *function;
	size_t i;

	/*
	 * Runs may overlap, and Tenon's queues have no properties. A processor has no launches to save: PoCL runs a
	 * recorded one in 10 us and one that is enqueued in 2.
	 */
	if (!version || opencl_number(d->device, OCL_DEVICE_TYPE) & OCL_DEVICE_TYPE_CPU ||
	    !ocl.GetExtensionFunctionAddressForPlatform ||
	    !(opencl_number(d->device, OCL_DEVICE_COMMAND_BUFFER_CAPABILITIES) &
	      OCL_RECORDING_CAN_SIMULTANEOUS) ||
	    opencl_number(d->device, OCL_DEVICE_COMMAND_BUFFER_QUEUE_PROPERTIES))
		return false;
	d->recorder_properties = version >= WITH_PROPERTIES;
	for (i = 0; *name; i++, name += strlen(name) + 1) {
		function = ocl.GetExtensionFunctionAddressForPlatform(d->platform, name);
		if (!function)
			return false;
		memcpy((char *)&d->recorder + i * sizeof(function), &function, sizeof(function));
	}
	return true;
}

static int opencl_commands_create(struct tenon_device *device, struct tenon_commands **out)
{
	const uint64_t properties[] = { OCL_RECORDING_FLAGS, OCL_RECORDING_FLAG_SIMULTANEOUS, 0 };
	struct opencl_device *d = opencl_device_of(device);
	struct opencl_commands *c = calloc(1, sizeof(*c));
	int status = 0, err;

	if (!c)
		return opencl_nomem("a recording");
	c->recording = d->recorder.create(1, &d->service, properties, &status);
	if (c->recording)
		err = tenon_commands_init(&c->base, device);
	else
		err = opencl_failed(d, status, "making a recording");
	if (!err) {
		*out = &c->base;
		return 0;
	}
	if (c->recording)
		d->recorder.release(c->recording);
	free(c);
	return err;
}

static void recording_free(void *item)
{
	struct opencl_commands *c = item;

	c->release(c->recording);
	free(c);
}

static void opencl_commands_destroy(struct tenon_commands *commands)
{
	struct opencl_commands *c = (struct opencl_commands *)commands;
	struct tenon_device *device = commands->device;

	c->release = opencl_device_of(device)->recorder.release;
	tenon_commands_fini(commands);
	/* the extension does not say that a run retains the command buffer */
	tenon_device_retire(device, recording_free, c);
}

static ocl_mem recorded(struct tenon_memory *memory)
{
	struct opencl_memory *m = (struct opencl_memory *)memory;

	m->recorded = true;
	return m->mem;
}

static int record_copy(struct opencl_device *d, ocl_recording r, const struct tenon_operation *o)
{
	const struct tenon_range *from = &o->as.copy.from, *to = &o->as.copy.to;
	ocl_mem source = recorded(from->memory), target = recorded(to->memory);
	size_t size = (size_t)o->as.copy.size;

	if (!size)
		return 0;
	if (d->recorder_properties)
		return ((copy_properties_fn)d->recorder.copy)(
			r, NULL, NULL, source, target, (size_t)from->offset, (size_t)to->offset,
			size, 0, NULL, NULL, NULL);
	return ((copy_fn)d->recorder.copy)(r, NULL, source, target, (size_t)from->offset,
					   (size_t)to->offset, size, 0, NULL, NULL, NULL);
}

static int record_fill(struct opencl_device *d, ocl_recording r, const struct tenon_operation *o)
{
	const struct tenon_range *to = &o->as.fill.to;
	ocl_mem target = recorded(to->memory);
	size_t size = (size_t)o->as.fill.size, width = o->as.fill.width;

	if (!size)
		return 0;
	if (d->recorder_properties)
		return ((fill_properties_fn)d->recorder.fill)(
			r, NULL, NULL, target, &o->as.fill.pattern, width, (size_t)to->offset, size,
			0, NULL, NULL, NULL);
	return ((fill_fn)d->recorder.fill)(r, NULL, target, &o->as.fill.pattern, width,
					   (size_t)to->offset, size, 0, NULL, NULL, NULL);
}

/* A recording captures the current arguments, so hold the lock until the launch is recorded. */
static int record_launch(struct opencl_device *d, ocl_recording r,
			 const struct tenon_dispatch *dispatch)
{
	struct opencl_kernel *k = (struct opencl_kernel *)dispatch->kernel;
	struct opencl_instance *instance = NULL;
	size_t global[3], local[3];
	int status = 0, err;
	uint32_t i;

	pthread_mutex_lock(&d->recording_lock);
	err = opencl_kernel_ready(k, d, dispatch->arguments, &instance);
	if (!err && !opencl_launch_size(instance, dispatch, global, local))
		err = opencl_launch_failed(k, dispatch, 0);
	if (!err)
		status = d->recorder.kernel(r, NULL, NULL, instance->kernel, instance->dimensions,
					    NULL, global, local, 0, NULL, NULL, NULL);
	pthread_mutex_unlock(&d->recording_lock);
	for (i = 0; !err && i < instance->count; i++)
		if (k->base.info->arguments[i].kind != TENON_ARGUMENT_SCALAR)
			recorded((struct tenon_memory *)(uintptr_t)dispatch->arguments[i]);
	((struct opencl_executable *)k->base.executable)->recorded = true;
	return status ? opencl_launch_failed(k, dispatch, status) : err;
}

static bool has_slots(const struct tenon_operation *o)
{
	uint32_t i;

	if (o->kind == TENON_OP_COPY)
		return !o->as.copy.to.memory || !o->as.copy.from.memory;
	if (o->kind == TENON_OP_FILL)
		return !o->as.fill.to.memory;
	if (o->kind == TENON_OP_DISPATCH && o->as.dispatch->slots)
		for (i = 0; i < o->as.dispatch->kernel->info->argument_count; i++)
			if (o->as.dispatch->slots[i] >= 0)
				return true;
	return false;
}

static int opencl_record(struct tenon_commands *commands, const struct tenon_operation *o)
{
	ocl_recording r = ((struct opencl_commands *)commands)->recording;
	struct opencl_device *d = opencl_device_of(commands->device);
	int status = 0;

	if (has_slots(o) || o->kind == TENON_OP_TIMESTAMP)
		return -TENON_E_UNSUPPORTED;
	if (o->kind == TENON_OP_DISPATCH)
		return record_launch(d, r, o->as.dispatch);
	if (o->kind == TENON_OP_COPY)
		status = record_copy(d, r, o);
	if (o->kind == TENON_OP_FILL)
		status = record_fill(d, r, o);
	/* barriers need no command: the queue is in order */
	return status ? opencl_failed(d, status, "recording a copy or a fill") : 0;
}

static int opencl_commands_finish(struct tenon_commands *commands)
{
	struct opencl_device *d = opencl_device_of(commands->device);
	int status = d->recorder.finish(((struct opencl_commands *)commands)->recording);

	return status ? opencl_failed(d, status, "finishing a recording") : 0;
}

const struct tenon_commands_ops opencl_commands_ops = {
	.size = sizeof(struct tenon_commands_ops),
	.create = opencl_commands_create,
	.destroy = opencl_commands_destroy,
	.record = opencl_record,
	.finish = opencl_commands_finish,
};

/* SPDX-License-Identifier: MIT */
/* Set the arguments that changed, and enqueue the kernel. */
#include "devices/opencl/opencl_device.h"

/* Set an argument whose slot differs from the last launch. */
static int set_argument(struct opencl_kernel *k, struct opencl_instance *instance, uint32_t n,
			uint64_t value)
{
	const struct opencl_memory *m = (const struct opencl_memory *)(uintptr_t)value;
	const struct tenon_argument *argument = &k->base.info->arguments[n];
	struct opencl_given *given = &instance->given[n];
	const void *at = &value;
	size_t size = argument->size;
	uint64_t identity = 0;
	int status = 0;

	if (argument->kind != TENON_ARGUMENT_SCALAR) {
		if (!m)
			return opencl_argument_failed(k, n, 0);
		identity = m->identity;
		at = &m->mem;
		size = sizeof(m->mem);
	}
	if (!identity || identity != given->identity)
		status = ocl.SetKernelArg(instance->kernel, n, size, at);
	if (status)
		return opencl_argument_failed(k, n, status);
	given->slot = value;
	given->identity = identity;
	return 0;
}

/* Set the changed arguments, from the @n-th on. */
__attribute__((noinline)) static int arguments_changed(struct opencl_kernel *k,
						       struct opencl_instance *instance,
						       const uint64_t *arguments, uint32_t n)
{
	int err = 0;

	for (; n < instance->count && !err; n++)
		if (arguments[n] != instance->given[n].slot)
			err = set_argument(k, instance, n, arguments[n]);
	/* the arguments after the failed one were not set */
	if (err)
		instance->freed = OPENCL_NOTHING_GIVEN;
	return err;
}

/* A launch does many short loads: keep dependencies between them short. */
static inline int kernel_ready(const struct opencl_device *d, struct opencl_kernel *k,
			       const void *owner, const uint64_t *arguments,
			       struct opencl_instance **out)
{
	uint64_t freed = __atomic_load_n(&d->freed, __ATOMIC_RELAXED);
	struct opencl_instance *i = __atomic_load_n(&k->instances, __ATOMIC_ACQUIRE), *renewed;
	uint32_t n;
	int err;

	while (i && __atomic_load_n(&i->owner, __ATOMIC_RELAXED) != owner)
		i = i->next;
	if (__builtin_expect(!i || i->freed != freed, 0)) {
		renewed = i;
		err = opencl_instance_renew(k, owner, freed, arguments, &renewed);
		if (err)
			return err;
		i = renewed;
	}
	*out = i;
	for (n = 0; n < i->count; n++)
		if (arguments[n] != i->given[n].slot)
			return arguments_changed(k, i, arguments, n);
	return 0;
}

int opencl_kernel_ready(struct opencl_kernel *k, const void *owner, const uint64_t *arguments,
			struct opencl_instance **out)
{
	return kernel_ready(opencl_kernel_device(k), k, owner, arguments, out);
}

int opencl_submit(struct tenon_queue *queue, const struct tenon_operation *o)
{
	struct opencl_queue *q = (struct opencl_queue *)queue;
	const struct tenon_dispatch *dispatch = o->as.dispatch;
	struct opencl_instance *instance;
	size_t global[3], local[3];
	struct opencl_kernel *k;
	int status;

	if (__builtin_expect(o->kind != TENON_OP_DISPATCH, 0))
		return opencl_submit_other(q, o);
	k = (struct opencl_kernel *)dispatch->kernel;
	status =
		kernel_ready(opencl_device_of(queue->device), k, q, dispatch->arguments, &instance);
	if (__builtin_expect(status, 0))
		return status;
	if (__builtin_expect(!opencl_launch_size(instance, dispatch, global, local), 0))
		return opencl_launch_failed(k, dispatch, 0);
	status = ocl.EnqueueNDRangeKernel(q->queue, instance->kernel, instance->dimensions, NULL,
					  global, local, 0, NULL, NULL);
	if (__builtin_expect(status, 0))
		return opencl_launch_failed(k, dispatch, status);
	opencl_submitted(q);
	return 0;
}

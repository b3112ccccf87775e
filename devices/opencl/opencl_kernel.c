/* SPDX-License-Identifier: MIT */
/* The cl_kernels of a kernel, and their arguments. */
#include <inttypes.h>
#include <stdlib.h>

#include "devices/opencl/opencl_device.h"

int opencl_instance_add(struct opencl_kernel *k, const void *owner, struct opencl_instance **out)
{
	struct opencl_device *d = opencl_kernel_device(k);
	struct opencl_instance *instance;
	int status = 0;

	instance = calloc(1, sizeof(*instance) +
				     k->base.info->argument_count * sizeof(instance->given[0]));
	if (!instance)
		return opencl_nomem(k->name);
	instance->kernel = ocl.CreateKernel(k->program, k->name, &status);
	if (!instance->kernel) {
		free(instance);
		if (status == OCL_INVALID_KERNEL_NAME)
			return opencl_error(d, -TENON_E_NOT_FOUND, "the program has no kernel %s",
					    k->name);
		return opencl_failed(d, status, "making kernel %s", k->name);
	}
	instance->freed = OPENCL_NOTHING_GIVEN;
	instance->owner = owner;
	instance->count = k->base.info->argument_count;
	instance->dimensions = k->base.info->dimensions;
	instance->next = __atomic_load_n(&k->instances, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&k->instances, &instance->next, instance, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	*out = instance;
	return 0;
}

/* Take an unused cl_kernel for the first launch of a kernel on a queue. */
static struct opencl_instance *instance_take(struct opencl_kernel *k, const void *owner)
{
	struct opencl_instance *i = __atomic_load_n(&k->instances, __ATOMIC_ACQUIRE);
	const void *unused;

	for (; i; i = i->next) {
		unused = NULL;
		if (__atomic_compare_exchange_n(&i->owner, &unused, owner, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			break;
	}
	return i;
}

int opencl_instance_renew(struct opencl_kernel *k, const void *owner, uint64_t freed,
			  const uint64_t *arguments, struct opencl_instance **instance)
{
	bool all;
	uint32_t i;
	int err = 0;

	if (!*instance)
		*instance = instance_take(k, owner);
	if (!*instance)
		err = opencl_instance_add(k, owner, instance);
	if (err)
		return err;
	all = (*instance)->freed == OPENCL_NOTHING_GIVEN;
	(*instance)->freed = freed;
	for (i = 0; i < (*instance)->count; i++)
		if (all || k->base.info->arguments[i].kind != TENON_ARGUMENT_SCALAR)
			(*instance)->given[i].slot = ~arguments[i];
	return 0;
}

int opencl_argument_failed(const struct opencl_kernel *k, uint32_t n, int status)
{
	struct opencl_device *d = opencl_kernel_device(k);

	if (!status)
		return opencl_error(d, -TENON_E_VALUE, "argument %u of kernel %s is no memory", n,
				    k->name);
	return opencl_failed(d, status, "setting argument %u of kernel %s", n, k->name);
}

int opencl_launch_failed(const struct opencl_kernel *k, const struct tenon_dispatch *dispatch,
			 int status)
{
	struct opencl_device *d = opencl_kernel_device(k);
	const struct tenon_device_properties *p = d->base.properties;

	return opencl_failed(d, status ? status : OCL_INVALID_GLOBAL_WORK_SIZE,
			     "launching kernel %s with %u x %u x %u threads a block (at most %u, "
			     "and %u x %u x %u)",
			     k->name, dispatch->block[0], dispatch->block[1], dispatch->block[2],
			     p->max_threads, p->max_block[0], p->max_block[1], p->max_block[2]);
}

void opencl_kernel_free(struct opencl_kernel *k)
{
	struct opencl_instance *i;

	while ((i = k->instances)) {
		k->instances = i->next;
		ocl.ReleaseKernel(i->kernel);
		free(i);
	}
	if (k->program && k->program != ((struct opencl_executable *)k->base.executable)->binary)
		ocl.ReleaseProgram(k->program);
	free(k);
}

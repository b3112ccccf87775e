/* SPDX-License-Identifier: MIT */
/* Launch a kernel, with attributes where it asks for clusters or cooperation. */
#include "devices/cuda/cuda_device.h"

#define EXTENDED                                                                                   \
	(TENON_KERNEL_COOPERATIVE | TENON_KERNEL_DEPENDENT | TENON_KERNEL_CLUSTER |                \
	 TENON_KERNEL_PREFERRED_CLUSTER)

static struct cuda_device *device_of(const struct cuda_kernel *k)
{
	return cuda_device_of(k->base.executable->device);
}

/* Opt in to more shared memory, at the first launch that needs it. */
__attribute__((noinline)) static int allow_shared(struct cuda_kernel *k, uint32_t shared)
{
	const struct tenon_kernel_info *info = k->base.info;
	struct cuda_device *d = device_of(k);
	uint32_t most = d->most_shared > k->static_shared ? d->most_shared - k->static_shared : 0;
	int status;

	if (shared > most)
		return cuda_error(d, -TENON_E_VALUE,
				  "kernel %.*s is launched with %u bytes of dynamic shared "
				  "memory; the device has %u for it",
				  (int)info->name.size, info->name.data, shared, most);
	/* allow the maximum: two threads may request different amounts at once */
	status = d->cu->FuncSetAttribute(k->function, CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)most);
	if (status)
		return cuda_failed(d, status,
				   "allowing %u bytes of dynamic shared memory for kernel %.*s",
				   most, (int)info->name.size, info->name.data);
	__atomic_store_n(&k->allowed, most, __ATOMIC_RELEASE);
	return 0;
}

int cuda_launch_ready(struct cuda_kernel *k, uint32_t shared)
{
	if (__builtin_expect(shared <= __atomic_load_n(&k->allowed, __ATOMIC_ACQUIRE), 1))
		return 0;
	return allow_shared(k, shared);
}

__attribute__((noinline)) static int launch_failed(const struct cuda_kernel *k,
						   const struct tenon_dispatch *p, int status)
{
	const struct tenon_kernel_info *info = k->base.info;
	struct cuda_device *d = device_of(k);

	return cuda_failed(d, status,
			   "launching kernel %.*s: %u x %u x %u blocks of %u x %u x %u threads (at "
			   "most %u), %u bytes of shared memory",
			   (int)info->name.size, info->name.data, p->grid[0], p->grid[1],
			   p->grid[2], p->block[0], p->block[1], p->block[2],
			   d->base.properties->max_threads, p->shared);
}

static void add_attribute(struct cu_launch_attribute *a, uint32_t *count, uint32_t id,
			  const uint32_t *dim)
{
	a += (*count)++;
	*a = (struct cu_launch_attribute){ .id = id };
	if (dim)
		__builtin_memcpy(a->value.dim, dim, sizeof(a->value.dim));
	else
		a->value.number = 1;
}

static int launch_extended(const struct cuda_kernel *k, cu_stream stream,
			   const struct tenon_dispatch *p, void **arguments)
{
	const struct cuda_api *cu = device_of(k)->cu;
	struct cu_launch_attribute attributes[4];
	uint32_t flags = k->base.info->flags;
	struct cu_launch launch = { .grid = { p->grid[0], p->grid[1], p->grid[2] },
				    .block = { p->block[0], p->block[1], p->block[2] },
				    .shared = p->shared,
				    .stream = stream,
				    .attributes = attributes };

	/*
	 * clusters were rejected before; dependent kernels may also be launched one after another
	 */
	if (!cu->LaunchKernelEx && flags & TENON_KERNEL_COOPERATIVE)
		return cu->LaunchCooperativeKernel(k->function, p->grid[0], p->grid[1], p->grid[2],
						   p->block[0], p->block[1], p->block[2], p->shared,
						   stream, arguments);
	if (!cu->LaunchKernelEx)
		return cu->LaunchKernel(k->function, p->grid[0], p->grid[1], p->grid[2],
					p->block[0], p->block[1], p->block[2], p->shared, stream,
					arguments, NULL);
	if (flags & TENON_KERNEL_COOPERATIVE)
		add_attribute(attributes, &launch.attribute_count, CU_LAUNCH_COOPERATIVE, NULL);
	if (flags & TENON_KERNEL_DEPENDENT)
		add_attribute(attributes, &launch.attribute_count, CU_LAUNCH_PROGRAMMATIC, NULL);
	if (flags & TENON_KERNEL_CLUSTER)
		add_attribute(attributes, &launch.attribute_count, CU_LAUNCH_CLUSTER, p->cluster);
	if (flags & TENON_KERNEL_PREFERRED_CLUSTER)
		add_attribute(attributes, &launch.attribute_count, CU_LAUNCH_PREFERRED_CLUSTER,
			      p->preferred_cluster);
	return cu->LaunchKernelEx(&launch, k->function, arguments, NULL);
}

int cuda_launch(cu_stream stream, const struct tenon_dispatch *p)
{
	struct cuda_kernel *k = (struct cuda_kernel *)p->kernel;
	void *arguments[TENON_KERNEL_ARGUMENTS_MOST];
	int status;

	status = cuda_launch_ready(k, p->shared);
	if (__builtin_expect(status, 0))
		return status;
	cuda_launch_arguments(k->base.info, p->arguments, arguments);
	if (__builtin_expect(k->base.info->flags & EXTENDED, 0))
		status = launch_extended(k, stream, p, arguments);
	else
		status = device_of(k)->cu->LaunchKernel(
			k->function, p->grid[0], p->grid[1], p->grid[2], p->block[0], p->block[1],
			p->block[2], p->shared, stream, arguments, NULL);
	return __builtin_expect(status, 0) ? launch_failed(k, p, status) : 0;
}

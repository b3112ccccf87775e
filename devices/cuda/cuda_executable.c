/* SPDX-License-Identifier: MIT */
/* Load the program of a module on a device and find its kernels. */
#include <stdlib.h>
#include <string.h>

#include "devices/cuda/cuda_device.h"
#include "lib/brief_errors.h"

static bool is_known(struct tenon_slice format)
{
	static const char *const formats[] = { "ptx", "cubin", "fatbin", "cuda" };
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strlen(formats[i]) == format.size &&
		    !memcmp(formats[i], format.data, format.size))
			return true;
	return false;
}

static void executable_release(struct cuda_late *late, bool alive)
{
	struct cuda_executable *e =
		(struct cuda_executable *)((char *)late - offsetof(struct cuda_executable, late));

	if (alive && e->module)
		late->device->cu->ModuleUnload(e->module);
	free(e);
}

static int cuda_executable_create(struct tenon_device *device, const struct tenon_program *program,
				  struct tenon_executable **out)
{
	struct cuda_executable *e;
	int err;

	if (!is_known(program->format))
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"cuda: format \"%.*s\"; known: ptx, cubin, fatbin, cuda (source)",
			(int)program->format.size, program->format.data);
	e = calloc(1, sizeof(*e) + program->kernel_count * sizeof(e->kernels[0]));
	if (!e)
		return tenon_error(-TENON_E_NOMEM, "no memory for an executable");
	err = tenon_executable_init(&e->base, device, program);
	if (err) {
		free(e);
		return err;
	}
	cuda_late_init(&e->late, device, executable_release);
	*out = &e->base;
	return 0;
}

static void cuda_executable_destroy(struct tenon_executable *executable)
{
	struct cuda_executable *e = (struct cuda_executable *)executable;

	tenon_executable_fini(executable);
	cuda_retire(&e->late);
}

/* Compare the arguments with the module's table: a launch reads as many as the kernel takes. */
static int check_arguments(struct cuda_device *d, const struct cuda_kernel *k)
{
	const struct tenon_kernel_info *info = k->base.info;
	size_t offset, size;
	uint32_t i;
	int status;

	if (!d->cu->FuncGetParamInfo)
		return 0;
	for (i = 0; i < info->argument_count; i++) {
		status = d->cu->FuncGetParamInfo(k->function, i, &offset, &size);
		/* trust the table if the binary does not describe its kernels */
		if (status && status != CU_INVALID_VALUE)
			return 0;
		if (status)
			return cuda_error(d, -TENON_E_FORMAT,
					  "kernel %.*s takes %u arguments, the module's table says "
					  "%u",
					  (int)info->name.size, info->name.data, i,
					  info->argument_count);
		if (size != info->arguments[i].size)
			return cuda_error(d, -TENON_E_FORMAT,
					  "argument %u of kernel %.*s has %zu bytes, the module's "
					  "table says %u",
					  i, (int)info->name.size, info->name.data, size,
					  info->arguments[i].size);
	}
	if (!d->cu->FuncGetParamInfo(k->function, i, &offset, &size))
		return cuda_error(d, -TENON_E_FORMAT,
				  "kernel %.*s takes more arguments than the module's table says, "
				  "which is %u",
				  (int)info->name.size, info->name.data, i);
	return 0;
}

static int find_function(struct cuda_device *d, cu_module module, struct tenon_slice name,
			 cu_function *out)
{
	char *text = strndup(name.data, name.size);
	int status;

	if (!text)
		return tenon_error(-TENON_E_NOMEM, "no memory for a name");
	status = d->cu->ModuleGetFunction(out, module, text);
	free(text);
	if (status == CU_NOT_FOUND)
		return cuda_error(d, -TENON_E_NOT_FOUND, "the program has no kernel %.*s",
				  (int)name.size, name.data);
	return status ? cuda_failed(d, status, "getting kernel %.*s", (int)name.size, name.data)
		      : 0;
}

static int prepare(struct cuda_device *d, struct cuda_kernel *k)
{
	const struct tenon_kernel_info *info = k->base.info;
	int shared = 0, status;

	if (info->flags & (TENON_KERNEL_CLUSTER | TENON_KERNEL_PREFERRED_CLUSTER) && !d->clusters)
		return cuda_error(d, -TENON_E_UNSUPPORTED,
				  "kernel %.*s wants clusters of blocks: a GPU of compute "
				  "capability 9.0 and a driver of CUDA 11.8 have them",
				  (int)info->name.size, info->name.data);
	status = d->cu->FuncGetAttribute(&shared, CU_FUNCTION_STATIC_SHARED, k->function);
	if (status)
		return cuda_failed(d, status, "asking about kernel %.*s", (int)info->name.size,
				   info->name.data);
	k->static_shared = (uint32_t)shared;
	k->allowed =
		k->static_shared < CUDA_SHARED_USUAL ? CUDA_SHARED_USUAL - k->static_shared : 0;
	/* allow more than 8 blocks; the launch fails if the GPU does not support the size */
	if (info->flags & TENON_KERNEL_CLUSTER)
		d->cu->FuncSetAttribute(k->function, CU_FUNCTION_NON_PORTABLE_CLUSTER, 1);
	return check_arguments(d, k);
}

static int cuda_kernel(struct tenon_executable *executable, size_t index, struct tenon_kernel **out)
{
	struct cuda_executable *e = (struct cuda_executable *)executable;
	struct cuda_device *d = cuda_device_of(executable->device);
	struct cuda_kernel *k = &e->kernels[index];
	int err;

	err = cuda_enter(d);
	if (err)
		return cuda_failed(d, err, "making the device current");
	if (!e->module)
		err = cuda_module_load(d, executable->program, &e->module);
	k->base.executable = executable;
	k->base.info = &executable->program->kernels[index];
	if (!err)
		err = find_function(d, e->module, k->base.info->name, &k->function);
	if (!err)
		err = prepare(d, k);
	if (!err)
		*out = &k->base;
	return err;
}

const struct tenon_executable_ops cuda_executable_ops = {
	.size = sizeof(struct tenon_executable_ops),
	.create = cuda_executable_create,
	.destroy = cuda_executable_destroy,
	.kernel = cuda_kernel,
};

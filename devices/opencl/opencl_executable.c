/* SPDX-License-Identifier: MIT */
/* Build the program of a module for a device and find its kernels. */
#include <stdlib.h>
#include <string.h>

#include <tenon/commands.h>
#include <tenon/string.h>
#include <tenon/tensor.h>

#include "devices/opencl/opencl_device.h"
#include "lib/brief_errors.h"

/* formats that are device binaries */
static const char binaries[][10] = { "xclbin", "awsxclbin", "aocx" };

static bool is_binary(struct tenon_slice format)
{
	size_t i;

	for (i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++)
		if (tenon_slice_equal(format, tenon_slice_of(binaries[i])))
			return true;
	return false;
}

static bool is_text(const struct tenon_program *program)
{
	return tenon_slice_equal(program->format, tenon_slice_of("cl")) ||
	       opencl_is_spirv(program->code) ||
	       (program->kernel_count && opencl_is_spirv(program->kernels[0].code));
}

static int opencl_executable_create(struct tenon_device *device,
				    const struct tenon_program *program,
				    struct tenon_executable **out)
{
	struct opencl_executable *e;
	int err;

	if (!is_text(program) && !is_binary(program->format))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "opencl: format \"%.*s\"; known: cl, SPIR-V, xclbin, awsxclbin, "
				   "aocx",
				   (int)program->format.size, program->format.data);
	e = calloc(1, sizeof(*e) + program->kernel_count * sizeof(e->kernels[0]));
	if (!e)
		return opencl_nomem("an executable");
	err = tenon_executable_init(&e->base, device, program);
	if (err)
		free(e);
	else
		*out = &e->base;
	return err;
}

static void executable_release(void *item)
{
	struct opencl_executable *e = item;
	size_t i;

	for (i = 0; i < e->count; i++)
		if (e->kernels[i])
			opencl_kernel_free(e->kernels[i]);
	if (e->binary)
		ocl.ReleaseProgram(e->binary);
	free(e);
}

static void opencl_executable_destroy(struct tenon_executable *executable)
{
	struct opencl_executable *e = (struct opencl_executable *)executable;
	struct tenon_device *device = executable->device;

	e->count = executable->program->kernel_count;
	tenon_executable_fini(executable);
	/* enqueued launches retain kernels; the extension does not say that recordings do */
	if (e->recorded)
		tenon_device_retire(device, executable_release, e);
	else
		executable_release(e);
}

static int check_arguments(struct opencl_device *d, const struct opencl_kernel *k)
{
	uint32_t count = 0, wanted = k->base.info->argument_count;
	int status;

	status = ocl.GetKernelInfo(k->instances->kernel, OCL_KERNEL_NUM_ARGS, sizeof(count), &count,
				   NULL);
	if (status)
		return opencl_failed(d, status, "asking for the arguments of kernel %s", k->name);
	if (count == wanted)
		return 0;
	return opencl_error(d, -TENON_E_FORMAT,
			    "kernel %s takes %u arguments, the module's table says %u", k->name,
			    count, wanted);
}

/* FPGA binaries hold all kernels: create one program, so that the device is configured once. */
static int build_binary(struct opencl_executable *e, struct opencl_kernel *k)
{
	struct opencl_device *d = opencl_device_of(e->base.device);
	const struct tenon_program *program = e->base.program;
	struct opencl_instance *first;
	int err = 0;

	pthread_mutex_lock(&d->lock);
	if (!e->binary)
		err = opencl_program_of_binary(d, program->code, program->label, &e->binary);
	pthread_mutex_unlock(&d->lock);
	k->program = e->binary;
	return err ? err : opencl_instance_add(k, NULL, &first);
}

static int build_text(struct opencl_executable *e, struct opencl_kernel *k)
{
	/* a kernel without a part of the source uses the whole source */
	struct tenon_slice piece = k->base.info->code,
			   text = piece.size ? piece : e->base.program->code;
	struct opencl_device *d = opencl_device_of(e->base.device);
	struct opencl_instance *first;
	bool fresh;
	int err;

	err = opencl_program_of_text(d, text, k->name, &k->program, &fresh);
	if (!err)
		err = opencl_instance_add(k, NULL, &first);
	/* keep it only now: some drivers compile when a kernel is created */
	if (!err && fresh)
		opencl_program_keep(d, text, k->program);
	return err;
}

static int opencl_kernel(struct tenon_executable *executable, size_t index,
			 struct tenon_kernel **out)
{
	struct opencl_executable *e = (struct opencl_executable *)executable;
	struct opencl_device *d = opencl_device_of(executable->device);
	const struct tenon_kernel_info *info = &executable->program->kernels[index];
	struct opencl_kernel *k;
	int err;

	if (info->flags || info->memory_count + info->scalar_count != info->argument_count)
		return opencl_error(d, -TENON_E_UNSUPPORTED,
				    "kernel %.*s wants dynamic shared memory, clusters or tensor "
				    "maps, which OpenCL does not have",
				    (int)info->name.size, info->name.data);
	k = calloc(1, sizeof(*k) + info->name.size + 1);
	if (!k)
		return opencl_nomem("a kernel");
	k->base.executable = executable;
	k->base.info = info;
	memcpy(k->name, info->name.data, info->name.size);
	err = is_text(executable->program) ? build_text(e, k) : build_binary(e, k);
	if (!err)
		err = check_arguments(d, k);
	if (err) {
		opencl_kernel_free(k);
		return err;
	}
	e->kernels[index] = k;
	*out = &k->base;
	return 0;
}

const struct tenon_executable_ops opencl_executable_ops = {
	.size = sizeof(struct tenon_executable_ops),
	.create = opencl_executable_create,
	.destroy = opencl_executable_destroy,
	.kernel = opencl_kernel,
	.build_flags = TENON_BUILD_CONCURRENT,
};

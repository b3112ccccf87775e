/* SPDX-License-Identifier: MIT */
/* Kernels of the processor: functions of host code, called by a queue. */
#include "devices/cpu/cpu.h"
#include "lib/brief_errors.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

struct cpu_kernel {
	struct tenon_kernel base;
	tenon_host_kernel function;
};

struct cpu_executable {
	struct tenon_executable base;
	struct cpu_kernel kernels[];
};

static int create(struct tenon_device *device, const struct tenon_program *program,
		  struct tenon_executable **out)
{
	struct cpu_executable *e;
	int err;

	if (!tenon_slice_equal(program->format, tenon_slice_of("functions")) ||
	    program->code.size != program->kernel_count * sizeof(tenon_host_kernel))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "cpu runs programs of format \"functions\" with an address for "
				   "each kernel, not \"%.*s\"",
				   (int)program->format.size, program->format.data);
	e = malloc(sizeof(*e) + program->kernel_count * sizeof(e->kernels[0]));
	if (!e)
		return tenon_error(-TENON_E_NOMEM, "no memory for an executable");
	err = tenon_executable_init(&e->base, device, program);
	if (err) {
		free(e);
		return err;
	}
	*out = &e->base;
	return 0;
}

static void destroy(struct tenon_executable *executable)
{
	struct tenon_device *device = executable->device;

	/* drop the device reference now: retired items must not keep their device open */
	tenon_executable_fini(executable);
	/* a pending launch may still use it */
	tenon_device_retire(device, free, executable);
}

static int kernel(struct tenon_executable *executable, size_t index, struct tenon_kernel **out)
{
	struct cpu_executable *e = (struct cpu_executable *)executable;
	struct cpu_kernel *k = &e->kernels[index];

	k->base.executable = executable;
	k->base.info = &executable->program->kernels[index];
	memcpy(&k->function, executable->program->code.data + index * sizeof(k->function),
	       sizeof(k->function));
	if (!k->function)
		return tenon_error(-TENON_E_DEVICE, "it has no function");
	*out = &k->base;
	return 0;
}

int cpu_run(struct tenon_queue *queue, const struct tenon_dispatch *dispatch)
{
	return tenon_host_run(((const struct cpu_kernel *)dispatch->kernel)->function, dispatch);
}

const struct tenon_executable_ops cpu_executable_ops = {
	.size = sizeof(cpu_executable_ops),
	.create = create,
	.destroy = destroy,
	.kernel = kernel,
};

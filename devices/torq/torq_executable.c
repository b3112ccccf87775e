/* SPDX-License-Identifier: MIT */
/* Programs on a device: each executable of a file is a kernel, and a network of the driver. */
#include <stdlib.h>
#include <tenon/string.h>

#include "devices/torq/torq_device.h"
#include "devices/torq/torq_file.h"
#include "lib/brief_errors.h"

/** struct executable - a program on a device; @base: for the core; @kernels: @count of them */
struct executable {
	struct tenon_executable base;
	size_t count;
	struct torq_kernel kernels[];
};

static int create(struct tenon_device *device, const struct tenon_program *program,
		  struct tenon_executable **out)
{
	struct executable *x;
	int err;

	if (!tenon_slice_equal(program->kind, tenon_slice_of("torq")) ||
	    (!tenon_slice_equal(program->format, tenon_slice_of("vmfb")) &&
	     !tenon_slice_equal(program->format, tenon_slice_of("torq"))))
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"torq runs programs of kind \"torq\" and the formats \"vmfb\" and "
			"\"torq\", and not those of \"%.*s\" and \"%.*s\"",
			(int)program->kind.size, program->kind.data, (int)program->format.size,
			program->format.data);
	x = calloc(1, sizeof(*x) + program->kernel_count * sizeof(*x->kernels));
	if (!x)
		return tenon_error(-TENON_E_NOMEM, "no memory for an executable");
	err = tenon_executable_init(&x->base, device, program);
	if (err) {
		free(x);
		return err;
	}
	x->count = program->kernel_count;
	*out = &x->base;
	return 0;
}

static void release(void *item)
{
	struct executable *x = item;
	size_t i;

	for (i = 0; i < x->count; i++)
		torq_network_close(&x->kernels[i].network);
	free(x);
}

static void destroy(struct tenon_executable *executable)
{
	struct tenon_device *device = executable->device;

	tenon_executable_fini(executable);
	tenon_device_retire(device, release, executable);
}

static int kernel(struct tenon_executable *executable, size_t index, struct tenon_kernel **out)
{
	struct executable *x = (struct executable *)executable;
	const struct tenon_program *p = executable->program;
	struct torq_device *d = torq_device_of(executable->device);
	struct torq_kernel *k = &x->kernels[index];
	struct torq_program program;
	struct tenon_cursor c = tenon_cursor_of(p->code.data, p->code.size, p->label, 0);
	int err;

	err = torq_file_find(&c, p->kernels[index].name, &program);
	err = err ? err : torq_network_open(&d->node, &program, &k->network);
	if (err)
		return err;
	k->base.executable = executable;
	k->base.info = &p->kernels[index];
	*out = &k->base;
	return 0;
}

static bool argument(const struct tenon_kernel *kernel, size_t index,
		     struct tenon_argument_use *out)
{
	const struct torq_argument *a =
		&((const struct torq_kernel *)kernel)->network.arguments[index];

	*out = (struct tenon_argument_use){ a->size, a->reads, a->writes };
	return true;
}

const struct tenon_executable_ops torq_executable_ops = {
	.size = sizeof(torq_executable_ops),
	.create = create,
	.destroy = destroy,
	.kernel = kernel,
	.argument = argument,
};

/* SPDX-License-Identifier: MIT */
/* Programs and kernels: look built-in functions up by name. */
#include "devices/null/null.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

struct null_kernel {
	struct tenon_kernel base;
	tenon_host_kernel function;
};

struct null_executable {
	struct tenon_executable base;
	struct null_kernel kernels[];
};

/* Test for a program made in this process: its code is an address for each kernel. */
static bool has_addresses(const struct tenon_program *program)
{
	return tenon_slice_equal(program->format, tenon_slice_of("functions")) &&
	       program->code.size == program->kernel_count * sizeof(tenon_host_kernel);
}

static int null_executable_create(struct tenon_device *device, const struct tenon_program *program,
				  struct tenon_executable **out)
{
	struct null_executable *e;
	int err;

	if (!has_addresses(program) && !tenon_slice_equal(program->format, tenon_slice_of("null")))
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"null runs programs of format \"null\", and \"functions\" with an "
			"address for each kernel, not \"%.*s\"",
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

static void null_executable_destroy(struct tenon_executable *executable)
{
	tenon_executable_fini(executable);
	free(executable);
}

static int null_kernel(struct tenon_executable *executable, size_t index, struct tenon_kernel **out)
{
	struct null_executable *e = (struct null_executable *)executable;
	const struct tenon_program *program = executable->program;
	struct null_kernel *k = &e->kernels[index];
	struct tenon_slice own = program->kernels[index].code;

	k->base.executable = executable;
	k->base.info = &program->kernels[index];
	k->function = NULL;
	if (has_addresses(program))
		memcpy(&k->function, program->code.data + index * sizeof(k->function),
		       sizeof(k->function));
	else if (own.size == sizeof(k->function))
		memcpy(&k->function, own.data, sizeof(k->function));
	if (!k->function)
		return tenon_error(-TENON_E_DEVICE, "it has no function");
	*out = &k->base;
	return 0;
}

int null_run(const struct tenon_dispatch *dispatch)
{
	const struct null_kernel *k = (const struct null_kernel *)dispatch->kernel;
	const struct tenon_kernel_info *info = k->base.info;
	struct tenon_dispatch d = *dispatch;
	uint64_t arguments[TENON_KERNEL_ARGUMENTS_MOST];
	uint32_t i;

	/* replace memory objects by addresses, which the function takes */
	for (i = 0; i < info->argument_count; i++) {
		arguments[i] = dispatch->arguments[i];
		if (info->arguments[i].kind == TENON_ARGUMENT_MEMORY) {
			struct tenon_range r =
				tenon_range((struct tenon_memory *)(uintptr_t)arguments[i], 0);

			arguments[i] = (uintptr_t)null_address(&r);
		}
	}
	d.arguments = arguments;
	return tenon_host_run(k->function, &d);
}

const struct tenon_executable_ops null_executable_ops = {
	.size = sizeof(null_executable_ops),
	.create = null_executable_create,
	.destroy = null_executable_destroy,
	.kernel = null_kernel,
};

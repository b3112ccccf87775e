/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_core.h"
#include "runtime/device/device_operation.h"

struct tenon_executable_core {
	struct tenon_object *keep;
	pthread_mutex_t lock;
	struct tenon_kernel *kernels[]; /* NULL until they are compiled; atomic */
};

static void executable_delete(void *self, int flags)
{
	struct tenon_executable *e = self;
	struct tenon_device *device = e->device;
	struct tenon_object *keep = e->core->keep;

	if (!(flags & TENON_DELETE_MEMORY) || device_is_parents(device))
		return;
	/* destroy() drops the executable's reference */
	tenon_object_ref(device);
	device->ops->executable->destroy(e);
	tenon_object_unref(keep);
	tenon_object_unref(device);
}

int tenon_executable_init(struct tenon_executable *e, struct tenon_device *device,
			  const struct tenon_program *program)
{
	struct tenon_executable_core *core;

	core = calloc(1, sizeof(*core) + program->kernel_count * sizeof(core->kernels[0]));
	if (!core)
		return tenon_error(-TENON_E_NOMEM, "no memory for an executable of %zu kernels",
				   program->kernel_count);
	pthread_mutex_init(&core->lock, NULL);
	tenon_object_init(&e->object, device_object_type(DEVICE_OBJECT_EXECUTABLE),
			  executable_delete);
	tenon_object_ref(device);
	e->device = device;
	e->program = program;
	e->core = core;
	return 0;
}

void tenon_executable_fini(struct tenon_executable *e)
{
	pthread_mutex_destroy(&e->core->lock);
	free(e->core);
	e->core = NULL;
	tenon_object_unref(e->device);
}

static int check_program(const struct tenon_program *program)
{
	size_t i;

	for (i = 0; i < program->kernel_count; i++)
		if (program->kernels[i].argument_count > TENON_KERNEL_ARGUMENTS_MOST)
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "%s: kernel %.*s takes %u arguments; at most %d are "
					   "passed",
					   program->label, (int)program->kernels[i].name.size,
					   program->kernels[i].name.data,
					   program->kernels[i].argument_count,
					   TENON_KERNEL_ARGUMENTS_MOST);
	return 0;
}

int tenon_executable_create(struct tenon_device *device, const struct tenon_program *program,
			    struct tenon_object *keep, struct tenon_executable **out)
{
	char label[DEVICE_LABEL];
	int err;

	*out = NULL;
	err = tenon_device_check(device);
	if (!err)
		err = check_program(program);
	if (err)
		return err;
	if (!device->ops->executable)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s: %s runs no kernels", program->label,
				   device_label(device, label));
	err = device->ops->executable->create(device, program, out);
	if (err)
		return tenon_error_in(err, "%s", program->label);
	tenon_object_ref(keep);
	(*out)->core->keep = keep;
	return 0;
}

int tenon_executable_kernel(struct tenon_executable *e, size_t index, struct tenon_kernel **out)
{
	struct tenon_kernel *kernel;
	char label[DEVICE_LABEL];
	int err;

	*out = NULL;
	if (index >= e->program->kernel_count)
		return tenon_error(-TENON_E_NOT_FOUND, "%s: kernel %zu of %zu", e->program->label,
				   index, e->program->kernel_count);
	*out = __atomic_load_n(&e->core->kernels[index], __ATOMIC_ACQUIRE);
	if (*out)
		return 0;
	err = tenon_device_check(e->device);
	if (err)
		return err;
	pthread_mutex_lock(&e->core->lock);
	kernel = e->core->kernels[index];
	if (!kernel)
		err = e->device->ops->executable->kernel(e, index, &kernel);
	if (!err)
		__atomic_store_n(&e->core->kernels[index], kernel, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&e->core->lock);
	if (err)
		return tenon_error_in(err, "%s: kernel %.*s on %s", e->program->label,
				      (int)e->program->kernels[index].name.size,
				      e->program->kernels[index].name.data,
				      device_label(e->device, label));
	*out = kernel;
	return 0;
}

/* one allocation holds all but the payload's bytes (payload_program.c) */
void tenon_program_free(struct tenon_program *program)
{
	free(program);
}

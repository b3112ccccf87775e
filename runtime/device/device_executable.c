/* SPDX-License-Identifier: MIT */
/* Executables: build each kernel once, whichever thread asks first. */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/device/device_core.h"
#include "runtime/device/device_prepare.h"
#include "runtime/device/device_trace.h"

/*
 * @kernels is read without the lock. The rest is protected by the lock, which is not held while the
 * backend builds.
 */
struct tenon_executable_core {
	struct tenon_object *keep;
	pthread_mutex_t lock;
	pthread_cond_t changed;		/* a kernel was built, or building it failed */
	size_t builds;			/* kernels that are being built */
	size_t calls;			/* threads that need a kernel now */
	uint32_t preparations;		/* that reference the executable */
	bool *building;			/* for each kernel; behind @kernels */
	struct tenon_kernel *kernels[]; /* NULL until they are built; atomic */
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

	core = heap_zeroed(1,
			   sizeof(*core) + program->kernel_count * (sizeof(core->kernels[0]) +
								    sizeof(core->building[0])),
			   "executable");
	if (!core)
		return tenon_error(-TENON_E_NOMEM, "no memory for an executable of %zu kernels",
				   program->kernel_count);
	pthread_mutex_init(&core->lock, NULL);
	pthread_cond_init(&core->changed, NULL);
	core->building = (bool *)(core->kernels + program->kernel_count);
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
	pthread_cond_destroy(&e->core->changed);
	pthread_mutex_destroy(&e->core->lock);
	heap_free(e->core);
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
	uint64_t begin;
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
	begin = trace_begin();
	err = device->ops->executable->create(device, program, out);
	trace_add("build", tenon_slice_of(program->label), 0, begin);
	if (err)
		return tenon_error_in(err, "%s", program->label);
	tenon_object_ref(keep);
	(*out)->core->keep = keep;
	return 0;
}

static bool may_build(const struct tenon_executable *e, size_t index)
{
	if (e->device->ops->executable->build_flags & TENON_BUILD_CONCURRENT)
		return !e->core->building[index];
	return !e->core->builds;
}

/*
 * Build a kernel, unless another thread just did; @ahead: after those that calls need. Caller holds
 * the lock.
 */
static int build(struct tenon_executable *e, size_t index, bool ahead)
{
	struct tenon_executable_core *core = e->core;
	struct tenon_kernel *kernel = NULL;
	uint64_t begin;
	int err;

	while (!core->kernels[index] && ((ahead && core->calls) || !may_build(e, index)))
		pthread_cond_wait(&core->changed, &core->lock);
	if (core->kernels[index])
		return 0;
	core->building[index] = true;
	core->builds++;
	pthread_mutex_unlock(&core->lock);
	begin = trace_begin();
	err = e->device->ops->executable->kernel(e, index, &kernel);
	trace_add("build", e->program->kernels[index].name, 0, begin);
	pthread_mutex_lock(&core->lock);
	core->building[index] = false;
	core->builds--;
	if (!err)
		__atomic_store_n(&core->kernels[index], kernel, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&core->changed);
	return err;
}

static int kernel_failed(const struct tenon_executable *e, size_t index, int err)
{
	char label[DEVICE_LABEL];

	return tenon_error_in(err, "%s: kernel %.*s on %s", e->program->label,
			      (int)e->program->kernels[index].name.size,
			      e->program->kernels[index].name.data, device_label(e->device, label));
}

int tenon_executable_kernel(struct tenon_executable *e, size_t index, struct tenon_kernel **out)
{
	struct tenon_executable_core *core = e->core;
	int err;

	*out = NULL;
	if (index >= e->program->kernel_count)
		return tenon_error(-TENON_E_NOT_FOUND, "%s: kernel %zu of %zu", e->program->label,
				   index, e->program->kernel_count);
	*out = __atomic_load_n(&core->kernels[index], __ATOMIC_ACQUIRE);
	if (*out)
		return 0;
	err = tenon_device_check(e->device);
	if (err)
		return err;
	pthread_mutex_lock(&core->lock);
	core->calls++;
	err = build(e, index, false);
	core->calls--;
	if (!core->calls)
		pthread_cond_broadcast(&core->changed);
	*out = core->kernels[index];
	pthread_mutex_unlock(&core->lock);
	return err ? kernel_failed(e, index, err) : 0;
}

int executable_prepare(struct tenon_executable *e, size_t index)
{
	struct tenon_executable_core *core = e->core;
	int err;

	err = tenon_device_check(e->device);
	if (err)
		return err;
	pthread_mutex_lock(&core->lock);
	/* Some drivers build one kernel at a time: do not make calls wait for it. */
	err = build(e, index, true);
	pthread_mutex_unlock(&core->lock);
	return err ? kernel_failed(e, index, err) : 0;
}

void executable_hold(struct tenon_executable *e)
{
	pthread_mutex_lock(&e->core->lock);
	tenon_object_ref(e);
	e->core->preparations++;
	pthread_mutex_unlock(&e->core->lock);
}

void executable_release(struct tenon_executable *e)
{
	pthread_mutex_lock(&e->core->lock);
	e->core->preparations--;
	pthread_mutex_unlock(&e->core->lock);
	tenon_object_unref(e);
}

bool executable_is_dropped(const struct tenon_executable *e)
{
	uint32_t references;
	bool dropped;

	/* With the lock held, so that no preparation takes a reference meanwhile. */
	pthread_mutex_lock(&e->core->lock);
	references = (uint32_t)__atomic_load_n(&e->object.refs, __ATOMIC_ACQUIRE);
	dropped = references == e->core->preparations;
	pthread_mutex_unlock(&e->core->lock);
	return dropped;
}

/* one allocation holds all but the payload's bytes (payload_program.c) */
void tenon_program_free(struct tenon_program *program)
{
	heap_free(program);
}

/* SPDX-License-Identifier: MIT */
/* Convert the arguments of a call to slots and submit the launch. */
#include "runtime/device/kernel_call.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/core/arguments.h"
#include "runtime/device/device_thread.h"
#include "runtime/device/device_trace.h"
#include "runtime/core/reference.h"

/* a kernel compiled for a device; the executable keeps the device pointer from being reused */
struct bound {
	struct bound *next;
	const struct tenon_device *device;
	struct tenon_kernel *kernel;
};

struct made {
	struct made *next;
	struct tenon_executable *executable;
};

/*
 * Protects the executables of all sets. It is one lock, because it is held while a driver creates
 * an executable, and a child process after fork() reinitialises it: the protected data changes by
 * one store.
 */
static pthread_mutex_t sets_lock = PTHREAD_MUTEX_INITIALIZER;

/* executables may use the program's bytes after the set is freed */
struct program_object {
	struct tenon_object object;
	struct tenon_program *program;
	struct tenon_object *keep;
};

struct kernel_set {
	struct program_object *program;
	int32_t device_type;
	struct made *made;
};

struct kernel_function {
	struct tenon_function base;
	struct kernel_set *set;
	void *keep;
	size_t index;
	const struct tenon_kernel_info *info;
	struct bound *bound; /* newest first; atomic, only ever grows */
};

static void program_delete(void *self, int flags)
{
	struct program_object *p = self;

	if (!(flags & TENON_DELETE_MEMORY))
		return;
	tenon_program_free(p->program);
	tenon_object_unref(p->keep);
	free(p);
}

void kernel_sets_forked(void)
{
	pthread_mutex_init(&sets_lock, NULL);
}

int kernel_set_create(struct tenon_program *program, struct tenon_object *keep, int32_t device_type,
		      struct kernel_set **out)
{
	struct kernel_set *set = calloc(1, sizeof(*set));
	struct program_object *object = malloc(sizeof(*object));

	*out = NULL;
	if (!set || !object) {
		free(set);
		free(object);
		tenon_program_free(program);
		return tenon_error(-TENON_E_NOMEM, "no memory for a set of kernels");
	}
	tenon_object_init(&object->object, device_object_type(DEVICE_OBJECT_PROGRAM),
			  program_delete);
	object->program = program;
	object->keep = keep;
	tenon_object_ref(keep);
	set->program = object;
	set->device_type = device_type;
	*out = set;
	return 0;
}

void kernel_set_free(struct kernel_set *set)
{
	struct made *m, *next;

	if (!set)
		return;
	for (m = set->made; m; m = next) {
		next = m->next;
		tenon_object_unref(m->executable);
		free(m);
	}
	tenon_object_unref(set->program);
	free(set);
}

/* Find or create the executable on a device. Called with the lock held. */
/* The module keeps it longer than a model that runs its kernels. */
static int set_executable(struct kernel_set *set, struct tenon_device *device,
			  struct tenon_executable **out)
{
	struct heap *before;
	struct made *m;
	int err;

	for (m = set->made; m; m = m->next)
		if (m->executable->device == device) {
			*out = m->executable;
			return 0;
		}
	m = malloc(sizeof(*m));
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for an executable");
	before = heap_enter(NULL);
	err = tenon_executable_create(device, set->program->program, &set->program->object,
				      &m->executable);
	heap_enter(before);
	if (err) {
		free(m);
		return err;
	}
	m->next = set->made;
	set->made = m;
	*out = m->executable;
	return 0;
}

int kernel_set_executable(struct kernel_set *set, struct tenon_device *device,
			  struct tenon_executable **out)
{
	int err;

	*out = NULL;
	if ((int32_t)device->id.device_type != set->device_type)
		return 0;
	pthread_mutex_lock(&sets_lock);
	err = set_executable(set, device, out);
	pthread_mutex_unlock(&sets_lock);
	tenon_object_ref(*out);
	return err;
}

static int bind_slow(struct kernel_function *f, struct tenon_device *device,
		     struct tenon_kernel **out)
{
	struct tenon_executable *executable = NULL;
	struct bound *b;
	int err;

	pthread_mutex_lock(&sets_lock);
	err = set_executable(f->set, device, &executable);
	pthread_mutex_unlock(&sets_lock);
	if (!err)
		err = tenon_executable_kernel(executable, f->index, out);
	if (err)
		return err;
	b = malloc(sizeof(*b));
	if (!b)
		return tenon_error(-TENON_E_NOMEM, "no memory for a kernel");
	b->device = device;
	b->kernel = *out;
	b->next = __atomic_load_n(&f->bound, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&f->bound, &b->next, b, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return 0;
}

static inline int bind(struct kernel_function *f, struct tenon_device *device,
		       struct tenon_kernel **out)
{
	const struct bound *b;

	for (b = __atomic_load_n(&f->bound, __ATOMIC_ACQUIRE); b; b = b->next)
		if (b->device == device) {
			*out = b->kernel;
			return 0;
		}
	return bind_slow(f, device, out);
}

static int wrong_type(const struct kernel_function *f, size_t i, const struct tenon_value *v)
{
	char name[TENON_DTYPE_NAME];

	return tenon_error(-TENON_E_TYPE, "%.*s: argument %zu is of type %s, the kernel takes a %s",
			   (int)f->info->name.size, f->info->name.data, i, tenon_type_key(v->type),
			   tenon_dtype_name(f->info->arguments[i].type, name));
}

/* convert(): the tensor is in host memory, and the kernel's table says how it is accessed */
#define IN_HOST_MEMORY 1

static int tensor_data(const struct kernel_function *f, const struct tenon_device *device, size_t i,
		       const struct tenon_value *v, uint64_t *slot)
{
	DLTensor *t;
	int err = tenon_value_tensor(v, &t);

	if (err)
		return wrong_type(f, i, v);
	if (t->device.device_type == kDLCPU && device->id.device_type != kDLCPU &&
	    device->ops->executable->argument)
		return IN_HOST_MEMORY;
	if (t->device.device_type != device->id.device_type ||
	    t->device.device_id != device->id.device_id)
		return tenon_error(-TENON_E_VALUE,
				   "%.*s: argument %zu lies on %s:%d, the kernel "
				   "runs on %s:%d",
				   (int)f->info->name.size, f->info->name.data, i,
				   tenon_device_name(t->device.device_type), t->device.device_id,
				   tenon_device_name(device->id.device_type), device->id.device_id);
	if (device->properties->flags & TENON_DEVICE_ADDRESSES) {
		*slot = (uintptr_t)t->data + t->byte_offset;
		return 0;
	}
	if (t->byte_offset)
		return tenon_error(-TENON_E_VALUE,
				   "%.*s: argument %zu begins %" PRIu64 " bytes into its memory; "
				   "give a tensor of its own (tenon_memory_subrange)",
				   (int)f->info->name.size, f->info->name.data, i, t->byte_offset);
	*slot = (uintptr_t)t->data;
	return 0;
}

static int convert_memory(const struct kernel_function *f, const struct tenon_device *device,
			  size_t i, const struct tenon_value *v, uint64_t *slot)
{
	const struct tenon_memory *m;
	int err;

	if (v->type == TENON_TYPE_POINTER) {
		*slot = (uintptr_t)v->as.pointer;
	} else if (v->type == TENON_TYPE_NONE) {
		*slot = 0;
	} else {
		err = tensor_data(f, device, i, v, slot);
		if (err)
			return err;
	}
	if (device->properties->flags & TENON_DEVICE_ADDRESSES)
		return 0;
	m = (const struct tenon_memory *)(uintptr_t)*slot;
	if (m && m->object.type == device_object_type(DEVICE_OBJECT_MEMORY) && m->device == device)
		return 0;
	return tenon_error(-TENON_E_VALUE, "%.*s: argument %zu is no memory of %s:%d",
			   (int)f->info->name.size, f->info->name.data, i, device->backend->name,
			   device->id.device_id);
}

static int convert_scalar(const struct kernel_function *f, size_t i, const struct tenon_value *v,
			  uint64_t *slot)
{
	DLDataType type = f->info->arguments[i].type;
	bool fits = false;

	if (v->type == TENON_TYPE_INT || v->type == TENON_TYPE_BOOL)
		fits = kernel_scalar_integer(type, v->as.integer, slot);
	else if (v->type == TENON_TYPE_FLOAT)
		fits = kernel_scalar_real(type, v->as.real, slot);
	return fits ? 0 : wrong_type(f, i, v);
}

/* Convert any argument, or raise the reason why it cannot be converted. */
__attribute__((noinline)) static int convert_any(const struct kernel_function *f,
						 const struct tenon_device *device, uint32_t i,
						 const struct tenon_value *v, uint64_t *slot)
{
	switch (f->info->arguments[i].kind) {
	case TENON_ARGUMENT_SCALAR:
		return convert_scalar(f, i, v, slot);
	case TENON_ARGUMENT_MEMORY:
		return convert_memory(f, device, i, v, slot);
	default:
		if (v->type != TENON_TYPE_POINTER || !v->as.pointer)
			return wrong_type(f, i, v);
		*slot = (uintptr_t)v->as.pointer;
		return 0;
	}
}

/* Fast path for the arguments that TVM's host code passes most: memory handles and integers. */
static inline bool convert_usual(const struct tenon_device *device, const struct tenon_argument *a,
				 const struct tenon_value *v, uint64_t *slot)
{
	const struct tenon_memory *m = v->as.pointer;

	if (v->type == TENON_TYPE_POINTER && a->kind == TENON_ARGUMENT_MEMORY) {
		*slot = (uintptr_t)m;
		return (device->properties->flags & TENON_DEVICE_ADDRESSES) ||
		       (m && m->object.type == device_object_known(DEVICE_OBJECT_MEMORY) &&
			m->device == device);
	}
	if (v->type != TENON_TYPE_INT || a->kind != TENON_ARGUMENT_SCALAR ||
	    a->type.code > TENON_DTYPE_UINT || a->type.bits < 32)
		return false;
	*slot = a->size == 4 ? (uint32_t)v->as.integer : (uint64_t)v->as.integer;
	return true;
}

static inline int convert(const struct kernel_function *f, const struct tenon_device *device,
			  const struct tenon_value *args, uint64_t *slots)
{
	const struct tenon_argument *a = f->info->arguments;
	uint32_t i, count = f->info->argument_count;
	int err;

	for (i = 0; i < count; i++) {
		if (__builtin_expect(convert_usual(device, &a[i], &args[i], &slots[i]), 1))
			continue;
		err = convert_any(f, device, i, &args[i], &slots[i]);
		if (err)
			return err;
	}
	return 0;
}

static int read_extents(const struct kernel_function *f, const struct tenon_value *args,
			struct tenon_dispatch *d)
{
	/* the extents are consecutive, in the order of the tags */
	uint32_t *extents = (uint32_t *)((char *)d + offsetof(struct tenon_dispatch, grid));
	uint32_t i;

	_Static_assert(offsetof(struct tenon_dispatch, shared) ==
			       offsetof(struct tenon_dispatch, grid) +
				       TENON_TAG_SHARED * sizeof(uint32_t),
		       "an extent for each tag");

	for (i = 0; i < f->info->tag_count; i++) {
		const struct tenon_value *v = &args[f->info->argument_count + i];
		unsigned int tag = f->info->tags[i];
		int64_t n = v->as.integer;

		if (v->type != TENON_TYPE_INT && v->type != TENON_TYPE_BOOL)
			return tenon_error(-TENON_E_TYPE,
					   "%.*s: extent %u of the launch is of type %s, want int",
					   (int)f->info->name.size, f->info->name.data, i,
					   tenon_type_key(v->type));
		if (n > INT32_MAX || (tag == TENON_TAG_SHARED && n < 0))
			return tenon_error(-TENON_E_VALUE,
					   "%.*s: extent %u of the launch is %" PRIi64,
					   (int)f->info->name.size, f->info->name.data, i, n);
		if (tag == TENON_TAG_SHARED)
			d->shared = (uint32_t)n;
		else /* empty extents launch one block, as TVM does: the kernel guards itself */
			extents[tag] = n < 1 ? 1 : (uint32_t)n;
	}
	return 0;
}

/* Copy tensors of the host, and wait until the results are there. */
static int call_with_host_tensors(const struct kernel_function *f, struct tenon_queue *queue,
				  struct tenon_kernel *kernel, const struct tenon_value *args)
{
	const DLTensor *tensors[TENON_KERNEL_ARGUMENTS_MOST];
	struct tenon_point done = { NULL, 1 };
	struct tenon_job job = { .size = sizeof(job),
				 .sync = { .signal = &done, .signal_count = 1 } };
	struct tenon_error *failure;
	DLTensor *t;
	uint32_t i;
	int err;

	for (i = 0; i < f->info->argument_count; i++) {
		if (tenon_value_tensor(&args[i], &t))
			return wrong_type(f, i, &args[i]);
		tensors[i] = t;
	}
	err = tenon_timeline_create(0, &done.timeline);
	if (err)
		return err;
	err = tenon_queue_run(queue, kernel, tensors, f->info->argument_count, &job);
	if (err) {
		/* copies from the tensors may be on their way */
		failure = tenon_error_take();
		if (tenon_queue_sync(queue, TENON_FOREVER))
			tenon_error_clear();
		tenon_error_raise(failure);
		tenon_object_unref(failure);
	} else {
		err = tenon_timeline_wait(done.timeline, 1, TENON_FOREVER);
	}
	tenon_object_unref(done.timeline);
	return err;
}

static PACKED_CALL(kernel_call)
{
	struct kernel_function *f = self;
	const struct tenon_kernel_info *info = f->info;
	uint64_t slots[TENON_KERNEL_ARGUMENTS_MOST];
	struct tenon_dispatch d = { .arguments = slots,
				    .grid = { 1, 1, 1 },
				    .block = { 1, 1, 1 },
				    .cluster = { 1, 1, 1 },
				    .preferred_cluster = { 1, 1, 1 } };
	struct tenon_operation op;
	struct device_place *place;
	int err;

	if ((uint32_t)count != info->argument_count + info->tag_count)
		return tenon_error(-TENON_E_TYPE,
				   "%.*s takes %u arguments and %u extents of its launch; %d given",
				   (int)info->name.size, info->name.data, info->argument_count,
				   info->tag_count, count);
	err = device_place_get(f->set->device_type, &place);
	if (!err)
		err = bind(f, place->device, &d.kernel);
	if (!err)
		err = convert(f, place->device, args, slots);
	if (!err)
		err = read_extents(f, args, &d);
	if (err == IN_HOST_MEMORY) {
		*ret = tenon_arg_none();
		return call_with_host_tensors(f, place->queue, d.kernel, args);
	}
	if (err)
		return err;
	*ret = tenon_arg_none();
	if (queue_holds(place->queue) || place->queue->core->follower)
		return tenon_queue_dispatch(place->queue, &d, NULL);
	op.kind = TENON_OP_DISPATCH;
	op.priority = 0;
	op.as.dispatch = &d;
	return queue_give(place->queue, &op);
}

int kernel_function_bind(struct tenon_function *function)
{
	struct kernel_function *f = (struct kernel_function *)function;
	struct tenon_kernel *kernel;
	struct device_place *place;
	int err;

	if (function->call != kernel_call)
		return 0;
	err = device_place_get(f->set->device_type, &place);
	return err ? err : bind(f, place->device, &kernel);
}

const struct tenon_kernel_info *kernel_function_info(const struct tenon_function *function)
{
	return function->call == kernel_call ? ((const struct kernel_function *)function)->info
					     : NULL;
}

static void function_delete(void *self, int flags)
{
	struct kernel_function *f = self;
	struct bound *b, *next;

	if (flags & TENON_DELETE_CONTENT) {
		for (b = f->bound; b; b = next) {
			next = b->next;
			free(b);
		}
		tenon_object_unref(f->keep);
	}
	if (flags & TENON_DELETE_MEMORY)
		free(f);
}

int kernel_set_function(struct kernel_set *set, struct tenon_slice name, void *keep,
			struct tenon_function **out)
{
	const struct tenon_program *p = set->program->program;
	struct kernel_function *f;
	size_t i;

	*out = NULL;
	for (i = 0; i < p->kernel_count; i++)
		if (tenon_slice_equal(p->kernels[i].name, name))
			break;
	if (i == p->kernel_count)
		return 0;
	f = calloc(1, sizeof(*f));
	if (!f)
		return tenon_error(-TENON_E_NOMEM, "no memory for a kernel's function");
	tenon_object_init(&f->base.object, TENON_TYPE_FUNCTION, function_delete);
	f->base.call = kernel_call;
	f->set = set;
	f->keep = keep;
	tenon_object_ref(keep);
	f->index = i;
	f->info = &p->kernels[i];
	*out = &f->base;
	return 0;
}

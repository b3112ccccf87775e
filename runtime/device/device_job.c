/* SPDX-License-Identifier: MIT */
/* Launch kernels with a deadline, a priority, and tensors that may be in host memory. */
#include <inttypes.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "runtime/core/tensor_data.h"
#include "runtime/device/device_core.h"

static uint64_t deadline_of(const struct tenon_job *job)
{
	return job && job->deadline ? job->deadline : TENON_FOREVER;
}

static int launch(struct tenon_queue *q, const struct tenon_dispatch *dispatch,
		  const struct tenon_job *job, const struct tenon_sync *sync)
{
	struct tenon_operation op = { .kind = TENON_OP_DISPATCH,
				      .priority = job ? job->priority : 0 };

	op.as.dispatch = dispatch;
	return queue_submit(q, &op, sync, deadline_of(job));
}

int tenon_queue_launch(struct tenon_queue *q, const struct tenon_dispatch *dispatch,
		       const struct tenon_job *job)
{
	return launch(q, dispatch, job, job ? &job->sync : NULL);
}

/* ---- tensors */

/**
 * struct bound - memory for a tensor
 * @memory: NULL before it is bound
 * @use: what the kernel does with it; known for host memory only
 * @host: host memory to copy from and to; NULL when @memory is the tensor's own
 * @size: bytes of the tensor
 * @pooled: @memory belongs to the pool of the queue; else it is referenced
 */
struct bound {
	struct tenon_memory *memory;
	struct tenon_argument_use use;
	char *host;
	uint64_t size;
	bool pooled;
};

struct run {
	struct tenon_queue *queue;
	struct tenon_kernel *kernel;
	size_t count;
	struct bound bound[TENON_KERNEL_ARGUMENTS_MOST];
};

static bool is_on(const struct tenon_device *device, const DLTensor *t)
{
	return t->device.device_type == device->id.device_type &&
	       t->device.device_id == device->id.device_id;
}

static int bind_own(const struct run *r, const DLTensor *t, struct bound *b, uint64_t *argument)
{
	struct tenon_device *device = r->queue->device;
	struct tenon_memory *m, room;
	int err;

	if (device->properties->flags & TENON_DEVICE_ADDRESSES) {
		*argument = (uintptr_t)t->data + t->byte_offset;
		return 0;
	}
	err = tenon_memory_of_data(device, t->data, &room, &m);
	if (err)
		return err;
	if (t->byte_offset) {
		err = tenon_memory_subrange(m, t->byte_offset, b->size, &b->memory);
	} else {
		tenon_object_ref(m);
		b->memory = m;
	}
	*argument = (uintptr_t)b->memory;
	return err;
}

/* Let the device use host memory in place. Returns whether it does. */
static bool import_host(struct tenon_device *device, struct bound *b)
{
	struct tenon_memory_import from = { .size = sizeof(from),
					    .type = TENON_HANDLE_HOST_POINTER,
					    .fd = -1,
					    .pointer = b->host,
					    .bytes = b->size,
					    .usage = TENON_MEMORY_DEFAULT };

	if (!(device->properties->imports & UINT32_C(1) << TENON_HANDLE_HOST_POINTER))
		return false;
	if (!tenon_memory_import(device, &from, &b->memory))
		return true;
	tenon_error_clear();
	return false;
}

static int bind_host(const struct run *r, size_t index, const DLTensor *t, struct bound *b,
		     uint64_t *argument)
{
	struct tenon_device *device = r->queue->device;
	const struct tenon_executable_ops *ops = device->ops->executable;
	int err = 0;

	if (!ops->argument || !ops->argument(r->kernel, index, &b->use))
		return tenon_error(-TENON_E_VALUE,
				   "it is in host memory, and the payload does not say whether the "
				   "kernel reads or writes it; copy it to the device");
	if (b->size < b->use.size)
		return tenon_error(-TENON_E_VALUE,
				   "%" PRIu64 " bytes; the kernel accesses %" PRIu64, b->size,
				   b->use.size);
	b->host = (char *)t->data + t->byte_offset;
	if (import_host(device, b)) {
		b->host = NULL;
	} else {
		err = tenon_memory_take(r->queue, b->size, &b->memory);
		b->pooled = !err;
	}
	if (!err)
		*argument = (uintptr_t)tenon_memory_data(b->memory);
	return err;
}

static int bind(const struct run *r, size_t index, const DLTensor *t, struct bound *b,
		uint64_t *argument)
{
	char label[DEVICE_LABEL];
	size_t size;
	int err;

	if (r->kernel->info->arguments[index].kind != TENON_ARGUMENT_MEMORY)
		return tenon_error(-TENON_E_TYPE, "the kernel takes a scalar there");
	err = tenon_tensor_bytes(t, &size);
	if (!err)
		err = tensor_check_data(t);
	if (!err && !tenon_tensor_compact(t))
		err = tenon_error(-TENON_E_VALUE, "a tensor with strides; make it compact");
	if (err)
		return err;
	b->size = size;
	if (is_on(r->queue->device, t))
		return bind_own(r, t, b, argument);
	if (t->device.device_type == kDLCPU)
		return bind_host(r, index, t, b, argument);
	return tenon_error(-TENON_E_VALUE, "it lies on %s:%d, the kernel runs on %s",
			   tenon_device_name(t->device.device_type), t->device.device_id,
			   device_label(r->queue->device, label));
}

static void release(struct run *r)
{
	struct bound *b;

	for (b = r->bound; b < r->bound + r->count; b++) {
		if (b->pooled)
			tenon_memory_give(r->queue, b->memory);
		else
			tenon_object_unref(b->memory);
	}
}

/* ---- submission */

static bool is_copied_back(const struct bound *b)
{
	return b->host && b->use.writes;
}

static size_t count_back(const struct run *r)
{
	size_t i, count = 0;

	for (i = 0; i < r->count; i++)
		count += is_copied_back(&r->bound[i]);
	return count;
}

/* What the kernel does not write keeps its bytes, so outputs are copied to the device too. */
static int write_inputs(const struct run *r, const struct tenon_sync *wait, uint64_t deadline)
{
	struct tenon_operation op = { .kind = TENON_OP_WRITE };
	size_t i;
	int err = 0;

	for (i = 0; i < r->count && !err; i++) {
		const struct bound *b = &r->bound[i];

		if (!b->host)
			continue;
		op.as.write.to = tenon_range(b->memory, 0);
		op.as.write.host = b->host;
		op.as.write.size = b->size;
		err = queue_submit(r->queue, &op, wait, deadline);
	}
	return err;
}

/*
 * Enqueue a read for each output. Each waits for the kernel and fails if that failed; the last one
 * signals.
 */
static int read_outputs(const struct run *r, const struct tenon_sync *sync, uint64_t deadline)
{
	struct tenon_operation op = { .kind = TENON_OP_READ };
	struct tenon_sync own = *sync;
	size_t i, left = count_back(r);
	int err = 0;

	for (i = 0; i < r->count && !err; i++) {
		const struct bound *b = &r->bound[i];

		if (!is_copied_back(b))
			continue;
		own.signal_count = --left ? 0 : sync->signal_count;
		op.as.read.host = b->host;
		op.as.read.from = tenon_range(b->memory, 0);
		op.as.read.size = b->size;
		err = queue_submit(r->queue, &op, &own, deadline);
	}
	return err;
}

static int submit(const struct run *r, const struct tenon_dispatch *dispatch,
		  const struct tenon_job *job)
{
	const struct tenon_sync sync = job ? job->sync : (struct tenon_sync){ NULL, 0, NULL, 0 };
	const struct tenon_sync before = { sync.wait, sync.wait_count, NULL, 0 };
	uint64_t deadline = deadline_of(job);
	struct tenon_point done = { NULL, 1 };
	struct tenon_sync during = { sync.wait, sync.wait_count, &done, 1 };
	struct tenon_sync after = { &done, 1, sync.signal, sync.signal_count };
	int err;

	err = write_inputs(r, &before, deadline);
	if (err)
		return err;
	if (!count_back(r))
		return launch(r->queue, dispatch, job, &sync);
	err = tenon_timeline_create(0, &done.timeline);
	err = err ? err : launch(r->queue, dispatch, job, &during);
	err = err ? err : read_outputs(r, &after, deadline);
	tenon_object_unref(done.timeline);
	return err;
}

int tenon_queue_run(struct tenon_queue *q, struct tenon_kernel *kernel,
		    const DLTensor *const *tensors, size_t count, const struct tenon_job *job)
{
	const struct tenon_kernel_info *info = kernel->info;
	uint64_t arguments[TENON_KERNEL_ARGUMENTS_MOST];
	struct tenon_dispatch dispatch = { .kernel = kernel,
					   .arguments = arguments,
					   .grid = { 1, 1, 1 },
					   .block = { 1, 1, 1 },
					   .cluster = { 1, 1, 1 },
					   .preferred_cluster = { 1, 1, 1 } };
	struct run r = { .queue = q, .kernel = kernel };
	char label[DEVICE_LABEL];
	int err = 0;

	if (kernel->executable->device != q->device)
		return tenon_error(-TENON_E_VALUE, "%.*s: a kernel of another device on %s",
				   (int)info->name.size, info->name.data,
				   device_label(q->device, label));
	if (count != info->argument_count)
		return tenon_error(-TENON_E_TYPE, "%.*s takes %u tensors; %zu given",
				   (int)info->name.size, info->name.data, info->argument_count,
				   count);
	while (r.count < count && !err) {
		err = bind(&r, r.count, tensors[r.count], &r.bound[r.count], &arguments[r.count]);
		if (err)
			err = tenon_error_in(err, "%.*s: argument %zu", (int)info->name.size,
					     info->name.data, r.count);
		r.count++;
	}
	err = err ? err : submit(&r, &dispatch, job);
	release(&r);
	return err;
}

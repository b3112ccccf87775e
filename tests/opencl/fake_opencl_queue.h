/* SPDX-License-Identifier: MIT */
/* Included by fake_opencl.c: operations, which are done when they are submitted, and their events. */

static ocl_event event_make(int status)
{
	struct ocl_event *e = make(sizeof(*e));

	e->status = status;
	e->slow = f.slow;
	e->end = ++ticks;
	return e;
}

/* Every operation passes here. Its event waits for what its queue waits for. */
static int submit(ocl_queue q, ocl_event *event)
{
	int failure = fault();

	if (due(&f.lost_at))
		lost = 1;
	if (lost)
		return OCL_INVALID_COMMAND_QUEUE;
	if (failure)
		return failure;
	COUNT(commands);
	if (!event)
		return 0;
	*event = event_make(f.hangs ? 2 : due(&f.mark_fails_at) ? OCL_OUT_OF_RESOURCES : 0);
	(*event)->behind = q->behind;
	if (q->behind)
		keep(q->behind);
	return 0;
}

static void run(const struct ocl_kernel *k, size_t n)
{
	ocl_mem out, in;
	int what;
	size_t i;

	f.launches++;
	if (k->name[0] != 'a')
		return;
	memcpy(&out, k->argument[0], sizeof(out));
	memcpy(&in, k->argument[1], sizeof(in));
	memcpy(&what, k->argument[2], sizeof(what));
	for (i = 0; i < n && 4 * i < out->size && 4 * i < in->size; i++)
		((int *)(void *)out->data)[i] = ((int *)(void *)in->data)[i] + what;
}

EXPORT int clEnqueueNDRangeKernel(ocl_queue q, ocl_kernel k, uint32_t dimensions,
				  const size_t *offset, const size_t *global, const size_t *local,
				  uint32_t n, const ocl_event *wait, ocl_event *event)
{
#ifdef FAKE_NULL
	return 0;
#else
	size_t threads = 1;
	int status;

	while (dimensions--)
		threads *= local[dimensions];
	if (threads > 64)
		return OCL_INVALID_WORK_GROUP_SIZE;
	status = submit(q, event);
	if (!status)
		run(k, global[0]);
	return status;
#endif
}

EXPORT int clEnqueueReadBuffer(ocl_queue q, ocl_mem m, uint32_t blocking, size_t offset,
			       size_t size, void *out, uint32_t n, const ocl_event *wait,
			       ocl_event *event)
{
	int status = submit(q, event);

	if (!status)
		memcpy(out, m->data + offset, size);
	return status;
}

EXPORT int clEnqueueWriteBuffer(ocl_queue q, ocl_mem m, uint32_t blocking, size_t offset,
				size_t size, const void *in, uint32_t n, const ocl_event *wait,
				ocl_event *event)
{
	int status = submit(q, event);

	if (!status)
		memcpy(m->data + offset, in, size);
	return status;
}

EXPORT int clEnqueueCopyBuffer(ocl_queue q, ocl_mem from, ocl_mem to, size_t from_offset,
			       size_t to_offset, size_t size, uint32_t n, const ocl_event *wait,
			       ocl_event *event)
{
	int status = submit(q, event);

	if (!status)
		memcpy(to->data + to_offset, from->data + from_offset, size);
	return status;
}

EXPORT void *clEnqueueMapBuffer(ocl_queue q, ocl_mem m, uint32_t blocking, uint64_t flags,
				size_t offset, size_t size, uint32_t n, const ocl_event *wait,
				ocl_event *event, int *status)
{
	int err = submit(q, event);

	return made(err ? NULL : m->data + offset, status, err);
}

EXPORT int clEnqueueUnmapMemObject(ocl_queue q, ocl_mem m, void *mapped, uint32_t n,
				   const ocl_event *wait, ocl_event *event)
{
	return submit(q, event);
}

/* As a real driver does: who waits for a failure fails. */
static int mark_after(ocl_queue q, uint32_t n, const ocl_event *wait, ocl_event *event)
{
	int status = submit(q, event);

	if (!status && n && (*wait)->status < 0)
		(*event)->status = OCL_FAILED_EVENT_IN_WAIT_LIST;
	return status;
}

#ifndef FAKE_OLD
EXPORT int clEnqueueFillBuffer(ocl_queue q, ocl_mem m, const void *pattern, size_t width,
			       size_t offset, size_t size, uint32_t n, const ocl_event *wait,
			       ocl_event *event)
{
	int status = submit(q, event);
	size_t i;

	for (i = 0; i < size && !status; i += width)
		memcpy(m->data + offset + i, pattern, width);
	return status;
}

EXPORT int clEnqueueMarkerWithWaitList(ocl_queue q, uint32_t n, const ocl_event *wait,
				       ocl_event *event)
{
	return mark_after(q, n, wait, event);
}

EXPORT int clEnqueueBarrierWithWaitList(ocl_queue q, uint32_t n, const ocl_event *wait,
					ocl_event *event)
{
	return submit(q, event);
}

EXPORT int clSetEventCallback(ocl_event e, int32_t status,
			      void (*function)(ocl_event, int32_t, void *), void *context)
{
	int failure = fault();

	if (failure)
		return failure;
	/* it is done right then */
	e->slow = 0;
	if (e->status <= 0 && !e->behind)
		function(e, e->status, context);
	return 0;
}
#else
EXPORT int clEnqueueMarker(ocl_queue q, ocl_event *event)
{
	return mark_after(q, 0, NULL, event);
}

EXPORT int clEnqueueWaitForEvents(ocl_queue q, uint32_t n, const ocl_event *wait)
{
	return submit(q, NULL);
}
#endif

EXPORT int clRetainEvent(ocl_event e)
{
	__atomic_add_fetch(&e->o.references, 1, __ATOMIC_RELAXED);
	return 0;
}

EXPORT int clReleaseEvent(ocl_event e)
{
	if (drop(&e->o)) {
		if (e->told == 1)
			COUNT(unordered);
		if (e->behind)
			release_semaphore(e->behind);
		free(e);
	}
	return 0;
}

EXPORT int clGetEventInfo(ocl_event e, uint32_t what, size_t room, void *out, size_t *got)
{
	int failure = fault();

	if (failure)
		return failure;
	if (lost)
		return answer_number((uint32_t)OCL_NVIDIA_ILLEGAL_ACCESS, 4, room, out, got);
	if (__atomic_sub_fetch(&e->slow, 1, __ATOMIC_RELAXED) > 0)
		return answer_number(2, 4, room, out, got);
	if (e->behind && !has_signalled(e->behind))
		return answer_number(2, 4, room, out, got);
	if (!e->status)
		__atomic_fetch_or(&e->told, 1, __ATOMIC_RELAXED);
	return answer_number((uint32_t)e->status, 4, room, out, got);
}

EXPORT int clWaitForEvents(uint32_t n, const ocl_event *events)
{
	__atomic_fetch_or(&(*events)->told, 2, __ATOMIC_RELAXED);
	return fault();
}

EXPORT int clGetEventProfilingInfo(ocl_event e, uint32_t what, size_t room, void *out, size_t *got)
{
	int failure = fault();

	if (failure)
		return failure;
	return answer_number(e->end, 8, room, out, got);
}

#ifndef FAKE_BROKEN
EXPORT int clFlush(ocl_queue q)
{
	COUNT(flushes);
	return lost ? OCL_INVALID_COMMAND_QUEUE : 0;
}
#endif

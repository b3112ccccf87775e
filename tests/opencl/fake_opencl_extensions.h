/* SPDX-License-Identifier: MIT */
/* Included by fake_opencl.c: recordings in both shapes, SPIR-V, memory of other APIs. */

#define RECORDED 16

struct recorded {
	char kind;
	struct ocl_kernel kernel;
	ocl_mem from, to;
	size_t from_offset, to_offset, size;
	uint32_t pattern;
};

struct ocl_recording {
	struct object o;
	size_t count;
	int finished;
	struct recorded list[RECORDED];
};

static ocl_recording create_recording(uint32_t n, const ocl_queue *queues,
				      const uint64_t *properties, int *status)
{
	int failure = fault();

	return made(failure ? NULL : make(sizeof(struct ocl_recording)), status, failure);
}

static int finish_recording(ocl_recording r)
{
	r->finished = 1;
	return fault();
}

static int release_recording(ocl_recording r)
{
	if (drop(&r->o))
		free(r);
	return 0;
}

static int record(ocl_recording r, const struct recorded *one)
{
	int failure = fault();

	if (failure)
		return failure;
	if (r->finished || r->count == RECORDED)
		return OCL_OUT_OF_RESOURCES;
	r->list[r->count++] = *one;
	return 0;
}

static int record_kernel(ocl_recording r, ocl_queue q, const void *properties, ocl_kernel k,
			 uint32_t dimensions, const size_t *offset, const size_t *global,
			 const size_t *local, uint32_t n, const uint32_t *wait, uint32_t *point,
			 void *handle)
{
	struct recorded one = { .kind = 'k', .kernel = *k, .size = global[0] };

	return record(r, &one);
}

static int record_copy(ocl_recording r, ocl_queue q, ocl_mem from, ocl_mem to, size_t from_offset,
		       size_t to_offset, size_t size, uint32_t n, const uint32_t *wait,
		       uint32_t *point, void *handle)
{
	struct recorded one = { .kind = 'c',
				.from = from,
				.to = to,
				.from_offset = from_offset,
				.to_offset = to_offset,
				.size = size };

	return record(r, &one);
}

static int record_fill(ocl_recording r, ocl_queue q, ocl_mem to, const void *pattern, size_t width,
		       size_t offset, size_t size, uint32_t n, const uint32_t *wait,
		       uint32_t *point, void *handle)
{
	struct recorded one = { .kind = 'f', .to = to, .to_offset = offset, .size = size };

	memset(&one.pattern, *(const char *)pattern, sizeof(one.pattern));
	return record(r, &one);
}

/* the shape of 0.9.5 and later */
static int record_copy_properties(ocl_recording r, ocl_queue q, const void *properties,
				  ocl_mem from, ocl_mem to, size_t from_offset, size_t to_offset,
				  size_t size, uint32_t n, const uint32_t *wait, uint32_t *point,
				  void *handle)
{
	return record_copy(r, q, from, to, from_offset, to_offset, size, n, wait, point, handle);
}

static int record_fill_properties(ocl_recording r, ocl_queue q, const void *properties, ocl_mem to,
				  const void *pattern, size_t width, size_t offset, size_t size,
				  uint32_t n, const uint32_t *wait, uint32_t *point, void *handle)
{
	return record_fill(r, q, to, pattern, width, offset, size, n, wait, point, handle);
}

static int enqueue_recording(uint32_t n, ocl_queue *queues, ocl_recording r, uint32_t waits,
			     const ocl_event *wait, ocl_event *event)
{
	const struct recorded *one = r->list;
	int status = submit(*queues, event);

	COUNT(replays);
	for (; !status && one < r->list + r->count; one++) {
		if (one->kind == 'k')
			run(&one->kernel, one->size);
		else if (one->kind == 'c')
			memcpy(one->to->data + one->to_offset, one->from->data + one->from_offset,
			       one->size);
		else
			memset(one->to->data + one->to_offset, (int)(one->pattern & 0xff),
			       one->size);
	}
	return status;
}

EXPORT ocl_program clCreateProgramWithIL(ocl_context c, const void *il, size_t size, int *status)
{
	COUNT(ils);
	return program_make(il, size, status);
}

EXPORT ocl_mem clCreateBufferWithProperties(ocl_context c, const uint64_t *properties,
					    uint64_t flags, size_t size, void *host, int *status)
{
	if (!properties || properties[0] != OCL_EXTERNAL_MEMORY_DMA_BUF || properties[2])
		return made(NULL, status, -64);
	f.imported_fd = (int)properties[1];
	return clCreateBuffer(c, flags, size, NULL, status);
}

static int acquire(ocl_queue q, uint32_t n, const ocl_mem *list, uint32_t waits,
		   const ocl_event *wait, ocl_event *event)
{
	COUNT(acquired);
	return submit(q, event);
}

EXPORT void *clGetExtensionFunctionAddressForPlatform(ocl_platform p, const char *name)
{
	int properties = f.command_buffer > 9;
	const struct {
		const char *name;
		void *function;
	} known[] = {
		{ "clCreateCommandBufferKHR", (void *)create_recording },
		{ "clFinalizeCommandBufferKHR", (void *)finish_recording },
		{ "clReleaseCommandBufferKHR", (void *)release_recording },
		{ "clEnqueueCommandBufferKHR", (void *)enqueue_recording },
		{ "clCommandNDRangeKernelKHR", (void *)record_kernel },
		{ "clCommandCopyBufferKHR",
		  properties ? (void *)record_copy_properties : (void *)record_copy },
		{ "clCommandFillBufferKHR",
		  properties ? (void *)record_fill_properties : (void *)record_fill },
		{ "clCreateProgramWithILKHR", (void *)clCreateProgramWithIL },
		{ "clCreateSemaphoreWithPropertiesKHR", (void *)create_semaphore },
		{ "clReleaseSemaphoreKHR", (void *)release_semaphore },
		{ "clEnqueueWaitSemaphoresKHR", (void *)wait_semaphores },
		{ "clEnqueueSignalSemaphoresKHR", (void *)signal_semaphores },
		{ "clGetSemaphoreHandleForTypeKHR", (void *)semaphore_handle },
		{ "clEnqueueAcquireExternalMemObjectsKHR", (void *)acquire },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name) && !(f.lacks && !strcmp(f.lacks, name)))
			return known[i].function;
	return NULL;
}

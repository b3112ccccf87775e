/* SPDX-License-Identifier: MIT */
/* Included by fake_opencl.c: what the fake says of itself. */

EXPORT int clGetPlatformIDs(uint32_t room, ocl_platform *out, uint32_t *count)
{
	int failure = f.platforms_status ? f.platforms_status : fault();

	if (failure)
		return failure;
	if (room && out)
		*out = &platform;
	if (count)
		*count = !f.no_platforms;
	return 0;
}

EXPORT int clGetPlatformInfo(ocl_platform p, uint32_t what, size_t room, void *out, size_t *got)
{
	return answer_text(what == OCL_PLATFORM_NAME ? "Fake" : FAKE_VERSION, room, out, got);
}

static uint64_t fake_type(void)
{
	return f.processor ? OCL_DEVICE_TYPE_CPU : OCL_DEVICE_TYPE_ACCELERATOR;
}

EXPORT int clGetDeviceIDs(ocl_platform p, uint64_t type, uint32_t room, ocl_device *out,
			  uint32_t *count)
{
	if (type != fake_type() || f.no_devices)
		return OCL_DEVICE_NOT_FOUND;
	if (room && out)
		*out = &device;
	*count = 1;
	return 0;
}

static int answer_number(uint64_t v, size_t size, size_t room, void *out, size_t *got)
{
	return answer(&v, size, room, out, got);
}

EXPORT int clGetDeviceInfo(ocl_device d, uint32_t what, size_t room, void *out, size_t *got)
{
	static const size_t items[3] = { 64, 64, 64 };
	const uint32_t handles[2] = { 0x2060, OCL_EXTERNAL_MEMORY_DMA_BUF };
	const uint32_t fences[3] = { 0x2056, OCL_SEMAPHORE_OPAQUE_FD, OCL_SEMAPHORE_SYNC_FD };
	const struct ocl_name_version extensions[2] = {
		{ 1u << 22, "cl_khr_command_buffers" },
		{ 9u << 12 | (f.command_buffer > 9 ? 5 : 0), "cl_khr_command_buffer" },
	};
	int failure = fault();

	if (failure)
		return failure;
	switch (what) {
	case OCL_DEVICE_TYPE:
		return answer_number(fake_type(), 8, room, out, got);
	case OCL_DEVICE_SVM_CAPABILITIES:
		return answer_number(f.processor ? OCL_SVM_FINE_GRAIN_BUFFER : 0, 8, room, out,
				     got);
	case OCL_DEVICE_NAME:
		return answer_text("Fake device", room, out, got);
	case OCL_DEVICE_VENDOR:
		return answer_text("Nobody", room, out, got);
	case OCL_DRIVER_VERSION:
		return answer_text(f.driver ? f.driver : "7.5", room, out, got);
	case OCL_DEVICE_VERSION:
		return answer_text(f.version ? f.version : FAKE_VERSION, room, out, got);
	case OCL_DEVICE_EXTENSIONS_WITH_VERSION:
		return answer(extensions, sizeof(*extensions) * (f.command_buffer ? 2 : 1), room,
			      out, got);
	case OCL_DEVICE_COMMAND_BUFFER_CAPABILITIES:
		return answer_number(f.command_buffer ? OCL_RECORDING_CAN_SIMULTANEOUS : 0, 8, room,
				     out, got);
	case OCL_DEVICE_COMMAND_BUFFER_QUEUE_PROPERTIES:
		return answer_number(0, 8, room, out, got);
	case OCL_DEVICE_IL_VERSION:
		return f.il ? answer_text(f.il, room, out, got) : -30;
	case OCL_DEVICE_EXTERNAL_MEMORY_IMPORTS:
		return f.dma_buf ? answer(handles, sizeof(handles), room, out, got) : -30;
	case OCL_DEVICE_SEMAPHORE_IMPORTS:
	case OCL_DEVICE_SEMAPHORE_EXPORTS:
		return f.fences ? answer(fences, sizeof(fences), room, out, got) : -30;
	case OCL_DEVICE_MAX_WORK_ITEM_SIZES:
		return answer(items, sizeof(items), room, out, got);
	case OCL_DEVICE_MAX_WORK_GROUP_SIZE:
		return answer_number(64, sizeof(size_t), room, out, got);
	case OCL_DEVICE_MEM_BASE_ADDR_ALIGN:
		return answer_number(512, 4, room, out, got);
	case OCL_DEVICE_HOST_UNIFIED_MEMORY:
		return answer_number(1, 4, room, out, got);
	case OCL_DEVICE_PROFILING_TIMER_RESOLUTION:
		return answer_number(1, sizeof(size_t), room, out, got);
	case OCL_DEVICE_GLOBAL_MEM_SIZE:
	case OCL_DEVICE_MAX_MEM_ALLOC_SIZE:
		return answer_number(1 << 20, 8, room, out, got);
	default:
		return -30;
	}
}

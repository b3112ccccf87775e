/* SPDX-License-Identifier: MIT */
/*
 * Stubs of the public device functions for builds without CONFIG_DEVICES.
 *
 * So programs link with every build; each call fails and names the option.
 */
#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>
#include <tenon/fence.h>
#include <tenon/prepare.h>
#include <tenon/probe.h>
#include <tenon/remote.h>

#include "lib/switched_off.h"
#include "runtime/core/workspace.h"

static int off(void)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_DEVICES is off in this build");
}

#define OFF_REASON off()

/* clang-format off */
OFF(tenon_device_init, (struct tenon_device *device, const struct tenon_device_ops *ops,
	const struct tenon_backend *backend, uint32_t index))
OFF_VOID(tenon_device_fini, (struct tenon_device *device))
OFF(tenon_device_lose, (struct tenon_device *device, int status))
OFF(tenon_device_check, (struct tenon_device *device))
OFF_OUT(tenon_device_open, *out = NULL, (const char *uri, struct tenon_device **out))
OFF_OUT(tenon_device_get, *out = NULL, (DLDevice id, struct tenon_device **out))
OFF_OUT(tenon_device_reopen, *out = NULL, (struct tenon_device *device, struct tenon_device **out))
OFF_OUT(tenon_device_reset, *out = NULL, (struct tenon_device *device, struct tenon_device **out))
OFF(tenon_device_set_current, (const struct tenon_device *device))
OFF_VOID(tenon_device_close_all, (void))
OFF(tenon_device_sync, (struct tenon_device *device, uint64_t deadline))
OFF(tenon_device_sync_or_stop, (struct tenon_device *device, uint64_t deadline, tenon_stop_fn stop,
	void *context))
OFF_OUT(tenon_device_attribute, *out = tenon_arg_none(), (DLDevice id, int attribute,
	struct tenon_value *out))
OFF(tenon_backend_register, (const struct tenon_backend *backend))
OFF_OUT(tenon_backend_count, *count = 0, (const struct tenon_backend *backend, uint32_t *count))
OFF(tenon_backend_describe, (const struct tenon_backend *backend, uint32_t index,
	struct tenon_device_properties *properties))
OFF_OUT(tenon_backend_probe, *out = NULL, (const struct tenon_backend *backend,
	const struct tenon_probe_request *request, const struct tenon_probe **out))
OFF(tenon_module_prepare, (struct tenon_module *m, struct tenon_device *device,
	const struct tenon_prepare *how))
OFF_OUT(tenon_module_prepare_start, *out = NULL, (struct tenon_module *m,
	struct tenon_device *device, const struct tenon_prepare *how,
	struct tenon_preparation **out))
OFF(tenon_preparation_wait, (struct tenon_preparation *p))
OFF_VOID(tenon_memory_init, (struct tenon_memory *memory, struct tenon_device *device,
	uint64_t size, uint32_t usage))
OFF_OUT(tenon_memory_alloc, *out = NULL, (struct tenon_device *device,
	const struct tenon_memory_request *request, struct tenon_memory **out))
OFF_OUT(tenon_memory_take, *out = NULL, (struct tenon_queue *queue, uint64_t size,
	struct tenon_memory **out))
OFF_VOID(tenon_memory_give, (struct tenon_queue *queue, struct tenon_memory *memory))
OFF_VOID(tenon_memory_trim, (struct tenon_queue *queue))
OFF_OUT(tenon_memory_subrange, *out = NULL, (struct tenon_memory *memory, uint64_t offset,
	uint64_t size, struct tenon_memory **out))
OFF_OUT(tenon_memory_map, *out = NULL, (struct tenon_memory *memory, uint32_t mode, uint64_t offset,
	uint64_t size, void **out))
OFF(tenon_memory_unmap, (struct tenon_memory *memory, void *mapped, uint32_t mode, uint64_t offset,
	uint64_t size))
OFF(tenon_memory_flush, (struct tenon_memory *memory, uint64_t offset, uint64_t size))
OFF(tenon_memory_invalidate, (struct tenon_memory *memory, uint64_t offset, uint64_t size))
OFF_OUT(tenon_memory_import, *out = NULL, (struct tenon_device *device,
	const struct tenon_memory_import *from, struct tenon_memory **out))
OFF_OUT(tenon_memory_export, *fd = -1, (struct tenon_memory *memory, uint32_t type, int *fd))
OFF_OUT(tenon_memory_of_data, *out = NULL, (struct tenon_device *device, void *data,
	struct tenon_memory *room, struct tenon_memory **out))
OFF_VOID(tenon_device_retire, (struct tenon_device *device, void (*release)(void *item),
	void *item))
OFF(tenon_queue_init, (struct tenon_queue *queue, struct tenon_device *device))
OFF_VOID(tenon_queue_fini, (struct tenon_queue *queue))
OFF_OUT(tenon_queue_create, *out = NULL, (struct tenon_device *device, struct tenon_queue **out))
OFF_OUT(tenon_queue_current, *out = NULL, (struct tenon_device *device, struct tenon_queue **out))
OFF(tenon_queue_set_current, (struct tenon_device *device, struct tenon_queue *queue))
OFF(tenon_queue_submit, (struct tenon_queue *queue, const struct tenon_operation *operation,
	const struct tenon_sync *sync))
OFF(tenon_queue_copy, (struct tenon_queue *queue, struct tenon_memory *to, uint64_t to_offset,
	struct tenon_memory *from, uint64_t from_offset, uint64_t size,
	const struct tenon_sync *sync))
OFF(tenon_queue_write, (struct tenon_queue *queue, struct tenon_memory *to, uint64_t offset,
	const void *host, uint64_t size, const struct tenon_sync *sync))
OFF(tenon_queue_read, (struct tenon_queue *queue, void *host, struct tenon_memory *from,
	uint64_t offset, uint64_t size, const struct tenon_sync *sync))
OFF(tenon_queue_fill, (struct tenon_queue *queue, struct tenon_memory *to, uint64_t offset,
	uint64_t size, uint32_t pattern, uint32_t width, const struct tenon_sync *sync))
OFF(tenon_queue_dispatch, (struct tenon_queue *queue, const struct tenon_dispatch *dispatch,
	const struct tenon_sync *sync))
OFF(tenon_queue_launch, (struct tenon_queue *queue, const struct tenon_dispatch *dispatch,
	const struct tenon_job *job))
OFF(tenon_queue_run, (struct tenon_queue *queue, struct tenon_kernel *kernel,
	const DLTensor *const *tensors, size_t count, const struct tenon_job *job))
OFF(tenon_queue_execute, (struct tenon_queue *queue, struct tenon_commands *commands,
	struct tenon_memory *const *bindings, size_t binding_count, const struct tenon_sync *sync))
OFF(tenon_queue_call, (struct tenon_queue *queue, void (*function)(void *context), void *context,
	const struct tenon_sync *sync))
OFF(tenon_queue_timestamp, (struct tenon_queue *queue, uint64_t *nanoseconds,
	const struct tenon_sync *sync))
OFF(tenon_queue_join, (struct tenon_queue *queue, const struct tenon_sync *sync))
OFF(tenon_queue_flush, (struct tenon_queue *queue))
OFF(tenon_queue_sync, (struct tenon_queue *queue, uint64_t deadline))
OFF(tenon_queue_sync_or_stop, (struct tenon_queue *queue, uint64_t deadline, tenon_stop_fn stop,
	void *context))
OFF_OUT(tenon_timeline_create, *out = NULL, (uint64_t value, struct tenon_timeline **out))
OFF_OUT(tenon_timeline_value, *value = 0, (struct tenon_timeline *timeline, uint64_t *value))
OFF(tenon_timeline_signal, (struct tenon_timeline *timeline, uint64_t value))
OFF_VOID(tenon_timeline_fail, (struct tenon_timeline *timeline, int status))
OFF(tenon_timeline_wait, (struct tenon_timeline *timeline, uint64_t value, uint64_t deadline))
OFF(tenon_commands_init, (struct tenon_commands *commands, struct tenon_device *device))
OFF_VOID(tenon_commands_fini, (struct tenon_commands *commands))
OFF(tenon_commands_each, (const struct tenon_commands *commands,
	struct tenon_memory *const *bindings,
	int (*visit)(void *context, const struct tenon_operation *operation), void *context))
OFF_OUT(tenon_commands_create, *out = NULL, (struct tenon_device *device,
	struct tenon_commands **out))
OFF(tenon_commands_record, (struct tenon_commands *commands,
	const struct tenon_operation *operation))
OFF(tenon_commands_copy, (struct tenon_commands *commands, struct tenon_range to,
	struct tenon_range from, uint64_t size))
OFF(tenon_commands_fill, (struct tenon_commands *commands, struct tenon_range to, uint64_t size,
	uint32_t pattern, uint32_t width))
OFF(tenon_commands_dispatch, (struct tenon_commands *commands,
	const struct tenon_dispatch *dispatch))
OFF(tenon_commands_barrier, (struct tenon_commands *commands))
OFF(tenon_commands_follow, (struct tenon_commands *commands, struct tenon_queue *queue))
OFF(tenon_commands_stand_in, (struct tenon_commands *commands, uint32_t slot,
	struct tenon_memory *memory, uint64_t size))
OFF(tenon_commands_call, (struct tenon_commands *commands, struct tenon_function *function,
	const struct tenon_value *args, int32_t count))
OFF(tenon_commands_finish, (struct tenon_commands *commands))
OFF(tenon_executable_init, (struct tenon_executable *executable, struct tenon_device *device,
	const struct tenon_program *program))
OFF_VOID(tenon_executable_fini, (struct tenon_executable *executable))
OFF_OUT(tenon_executable_create, *out = NULL, (struct tenon_device *device,
	const struct tenon_program *program, struct tenon_object *keep,
	struct tenon_executable **out))
OFF_OUT(tenon_executable_kernel, *out = NULL, (struct tenon_executable *executable, size_t index,
	struct tenon_kernel **out))
OFF_OUT(tenon_program_read, *out = NULL, (struct tenon_slice kind, int generation,
	struct tenon_slice bytes, const char *label, struct tenon_program **out))
OFF_VOID(tenon_program_free, (struct tenon_program *program))
OFF(tenon_host_run, (tenon_host_kernel function, const struct tenon_dispatch *dispatch))
OFF_OUT(tenon_fence_export, *fd = -1, (const struct tenon_point *point, uint32_t type, int *fd))
OFF_OUT(tenon_fence_import, *out = NULL, (uint32_t type, int fd, struct tenon_timeline **out))
OFF(tenon_wait_any, (const struct tenon_point *points, size_t count, uint64_t deadline,
	size_t *which))
OFF(tenon_wait_all, (const struct tenon_point *points, size_t count, uint64_t deadline,
	size_t *which))
OFF_OUT(tenon_wait_set_create, *out = NULL, (struct tenon_wait_set **out))
OFF(tenon_wait_set_add, (struct tenon_wait_set *set, const struct tenon_point *point,
	void *context))
OFF_VALUE(int, tenon_wait_set_fd, -1, (const struct tenon_wait_set *set))
OFF_VALUE(int, tenon_wait_set_next, 0, (struct tenon_wait_set *set, struct tenon_wait_result *result))
OFF_VALUE(void *, tenon_memory_data, NULL, (struct tenon_memory *memory))
OFF_VALUE(size_t, tenon_wait_set_remove, 0, (struct tenon_wait_set *set, const void *context))
OFF_VALUE(const struct tenon_device_properties *, tenon_device_properties, NULL, (const struct tenon_device *device))
OFF_VALUE(uint64_t, tenon_memory_size, 0, (const struct tenon_memory *memory))
OFF_VALUE(const char *, tenon_backend_name, "", (const struct tenon_backend *backend))
OFF_VALUE(int32_t, tenon_backend_device_type, kDLCPU, (const struct tenon_backend *backend))
OFF_VALUE(const struct tenon_backend *, tenon_backend_find, NULL, (struct tenon_slice name))
OFF_VALUE(const struct tenon_backend *, tenon_backend_of_type, NULL, (int32_t type))
OFF_VALUE(const struct tenon_backend *, tenon_backend_of_kind, NULL, (struct tenon_slice kind))
OFF_VALUE(int, tenon_backend_each, 0, (int (*visit)(void *context, const struct tenon_backend *backend), void *context))
OFF_VALUE(int, tenon_backend_problems, 0, (struct tenon_buffer *out))
OFF_VALUE(uint64_t, tenon_deadline, TENON_FOREVER, (uint64_t nanoseconds))
OFF_OUT(tenon_remote_connect, *out = NULL, (const char *address, const struct tenon_remote_options *options,
	struct tenon_remote **out))
OFF_VALUE(struct tenon_remote *, tenon_remote_of_device, NULL, (struct tenon_device *device, DLDevice *there))
/* clang-format on */

DLDevice tenon_device_id(const struct tenon_device *device)
{
	return (DLDevice){ kDLCPU, 0 };
}

int tenon_tensor_create_on(DLDevice device, const int64_t *shape, int32_t ndim, DLDataType dtype,
			   struct tenon_tensor **out)
{
	*out = NULL;
	return device.device_type == kDLCPU ? tenon_tensor_create(shape, ndim, dtype, out) : off();
}

int tenon_tensor_copy(const DLTensor *from, const DLTensor *to)
{
	size_t size, room;
	int err;

	if (from->device.device_type != kDLCPU || to->device.device_type != kDLCPU)
		return off();
	err = tenon_tensor_bytes(from, &size);
	if (!err)
		err = tenon_tensor_bytes(to, &room);
	if (!err && (size != room || !tenon_tensor_compact(from) || !tenon_tensor_compact(to)))
		err = tenon_error(-TENON_E_VALUE, "only compact tensors of one size are copied");
	if (!err && size)
		memmove((char *)to->data + to->byte_offset,
			(const char *)from->data + from->byte_offset, size);
	return err;
}

void *tenon_workspace_alloc(DLDevice device, uint64_t size)
{
	if (device.device_type == kDLCPU)
		return workspace_take(size);
	tenon_error(-TENON_E_DEVICE, "a workspace on %s:%d: CONFIG_DEVICES is off in this build",
		    tenon_device_name(device.device_type), device.device_id);
	return NULL;
}

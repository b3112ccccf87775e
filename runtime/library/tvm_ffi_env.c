/* SPDX-License-Identifier: MIT */
/* tvm-ffi: streams, tensor allocators and the embedding interpreter. */
#include <stdlib.h>
#include <string.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "lib/option.h"
#include "runtime/device/device_thread.h"
#include "runtime/library/thread_state.h"
#include "runtime/library/tvm_table.h"

static ffi_tensor_allocator global_allocator;
static int (*check_signals)(void);

#ifdef CONFIG_DEVICES
static DLDevice device_of(int32_t type, int32_t id)
{
	DLDevice device;

	device.device_type = type;
	device.device_id = id;
	return device;
}

void *abi_ffi_env_get_stream(int32_t type, int32_t id)
{
	return device_thread_stream(device_of(type, id));
}

int abi_ffi_env_set_stream(int32_t type, int32_t id, void *stream, void **old)
{
	return ffi_result(device_thread_set_stream(device_of(type, id), stream, old));
}
#else
static struct thread_stream *find_stream(int32_t type, int32_t id)
{
	struct thread_state *s = thread_state_peek();
	size_t i;

	for (i = 0; s && i < s->stream_count; i++)
		if (s->streams[i].device_type == type && s->streams[i].device_id == id)
			return &s->streams[i];
	return NULL;
}

void *abi_ffi_env_get_stream(int32_t type, int32_t id)
{
	struct thread_stream *stream = find_stream(type, id);

	return stream ? stream->stream : NULL;
}

int abi_ffi_env_set_stream(int32_t type, int32_t id, void *stream, void **old)
{
	struct thread_stream *place = find_stream(type, id), *streams;
	struct thread_state *s = thread_state();

	if (!s)
		return -1;
	if (!place) {
		streams = realloc(s->streams, (s->stream_count + 1) * sizeof(*streams));
		if (!streams)
			return ffi_result(tenon_error(-TENON_E_NOMEM, "no memory for a stream"));
		s->streams = streams;
		place = &streams[s->stream_count++];
		place->device_type = type;
		place->device_id = id;
		place->stream = NULL;
	}
	if (old)
		*old = place->stream;
	place->stream = stream;
	return 0;
}
#endif

ffi_tensor_allocator abi_ffi_env_get_tensor_allocator(void)
{
	struct thread_state *s = thread_state_peek();

	if (s && s->tensor_allocator)
		return s->tensor_allocator;
	return __atomic_load_n(&global_allocator, __ATOMIC_ACQUIRE);
}

int abi_ffi_env_set_tensor_allocator(ffi_tensor_allocator allocator, int global,
				     ffi_tensor_allocator *old)
{
	struct thread_state *s = thread_state();

	if (!s)
		return -1;
	if (old)
		*old = abi_ffi_env_get_tensor_allocator();
	if (global)
		__atomic_store_n(&global_allocator, allocator, __ATOMIC_RELEASE);
	s->tensor_allocator = allocator;
	return 0;
}

static void set_error(void *context, const char *kind, const char *message)
{
	struct tenon_slice text = tenon_slice_of(message);

	tenon_error_raise_text(kind, &text, 1);
}

/* The default allocator. */
static int alloc_here(const DLTensor *prototype, struct tenon_tensor **out)
{
	if (OPTION_ON(DEVICES))
		return tenon_tensor_create_on(prototype->device, prototype->shape, prototype->ndim,
					      prototype->dtype, out);
	if (prototype->device.device_type != kDLCPU)
		return tenon_error(-TENON_E_DEVICE,
				   "no memory on %s:%d: set an allocator for this device with "
				   "TVMFFIEnvSetDLPackManagedTensorAllocator",
				   tenon_device_name(prototype->device.device_type),
				   prototype->device.device_id);
	return tenon_tensor_create(prototype->shape, prototype->ndim, prototype->dtype, out);
}

int abi_ffi_env_tensor_alloc(DLTensor *prototype, void **out)
{
	ffi_tensor_allocator allocate = abi_ffi_env_get_tensor_allocator();
	DLManagedTensorVersioned *managed = NULL;
	struct tenon_tensor *tensor = NULL;
	int err;

	*out = NULL;
	if (!allocate) {
		err = alloc_here(prototype, &tensor);
		*out = tensor;
		return ffi_result(err);
	}
	if (allocate(prototype, &managed, NULL, set_error))
		return -1;
	err = tenon_tensor_from_dlpack_versioned(managed, 0, false, &tensor);
	if (err && managed->deleter)
		managed->deleter(managed);
	*out = tensor;
	return ffi_result(err);
}

int abi_ffi_env_check_signals(void)
{
	int (*check)(void) = __atomic_load_n(&check_signals, __ATOMIC_ACQUIRE);
	struct tenon_slice none = { "", 0 };

	if (!check || !check())
		return 0;
	/* The interpreter stores the error itself and expects this kind. */
	tenon_error_raise_text("EnvErrorAlreadySet", &none, 1);
	return -1;
}

int abi_ffi_env_register_c_api(const char *name, void *symbol)
{
	if (!strcmp(name, "PyErr_CheckSignals")) {
		__atomic_store_n((void **)&check_signals, symbol, __ATOMIC_RELEASE);
		return 0;
	}
	if (!strcmp(name, "PyGILState_Ensure") || !strcmp(name, "PyGILState_Release"))
		return 0;
	return ffi_result(tenon_error(
		-TENON_E_NOT_FOUND,
		"\"%s\" is not a function of an interpreter's that is used here", name));
}

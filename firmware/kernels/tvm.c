/* SPDX-License-Identifier: MIT */
/* What code that TVM compiled calls, on a core without a library. */
#include "firmware/kernels/tvm.h"

#include <stddef.h>

#define TYPE_TENSOR 7 /* a pointer to a DLTensor */
#define GRAIN	    128

/* what functions have of the workspace lies behind this */
struct workspace {
	uint32_t used;
	uint8_t bytes[] __attribute__((aligned(GRAIN)));
};

static struct workspace *workspace(void)
{
	return (struct workspace *)(((uintptr_t)tvm_workspace + TVM_PAGE - 1) &
				    ~(uintptr_t)(TVM_PAGE - 1));
}

int32_t tvm_call(tvm_function function, const struct tvm_operand *operands, int32_t count,
		 const uint64_t *addresses)
{
	DLTensor tensors[TVM_OPERANDS_MOST];
	struct tvm_any args[TVM_OPERANDS_MOST], ret = { 0, 0, { 0 } };
	int32_t i;

	if (count > TVM_OPERANDS_MOST)
		return -1;
	for (i = 0; i < count; i++) {
		tensors[i] = (DLTensor){
			.data = (void *)(uintptr_t)addresses[i],
			.device = { kDLCPU, 0 },
			.ndim = operands[i].ndim,
			.dtype = operands[i].dtype,
			.shape = (int64_t *)(uintptr_t)operands[i].shape,
		};
		args[i] = (struct tvm_any){ TYPE_TENSOR, 0, { 0 } };
		args[i].as.pointer = &tensors[i];
	}
	/* a packet that was stopped has given nothing back */
	workspace()->used = 0;
	return function(NULL, args, count, &ret);
}

/* ---- what compiled code calls, by these names or through variables with two underscores in front */

struct group {
	void *barrier;
	int32_t count;
};

typedef int (*part)(int index, struct group *group, void *closure);

void *TVMBackendAllocWorkspace(int device, int id, uint64_t size, int code, int bits);
int TVMBackendFreeWorkspace(int device, int id, void *pointer);
int TVMBackendParallelLaunch(part function, void *closure, int count);
int TVMBackendParallelBarrier(int index, struct group *group);
void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message);
void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t count);

void *TVMBackendAllocWorkspace(int device, int id, uint64_t size, int code, int bits)
{
	struct workspace *w = workspace();
	uint8_t *found;

	(void)device, (void)id, (void)code, (void)bits;
	size = (size + GRAIN - 1) & ~(uint64_t)(GRAIN - 1);
	if (size > tvm_workspace_size - w->used)
		return NULL;
	found = &w->bytes[w->used];
	w->used += (uint32_t)size;
	return found;
}

/* Compiled code gives back what it took last. */
int TVMBackendFreeWorkspace(int device, int id, void *pointer)
{
	(void)device, (void)id;
	workspace()->used = (uint32_t)((uint8_t *)pointer - workspace()->bytes);
	return 0;
}

/* A loop for several threads; a core has one. */
int TVMBackendParallelLaunch(part function, void *closure, int count)
{
	struct group group = { NULL, 1 };

	(void)count;
	return function(0, &group, closure);
}

int TVMBackendParallelBarrier(int index, struct group *group)
{
	(void)index, (void)group;
	return 0;
}

/* A fault has no room for text: the host sees that the function failed. */
void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message)
{
	(void)kind, (void)message;
}

void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t count)
{
	(void)kind, (void)parts, (void)count;
}

#define VARIABLE(function)                                                                         \
	extern __typeof__(&(function)) __##function;                                               \
	__typeof__(&(function)) __##function = (function)

VARIABLE(TVMBackendAllocWorkspace);
VARIABLE(TVMBackendFreeWorkspace);
VARIABLE(TVMBackendParallelLaunch);
VARIABLE(TVMBackendParallelBarrier);
VARIABLE(TVMFFIErrorSetRaisedFromCStr);
VARIABLE(TVMFFIErrorSetRaisedFromCStrParts);

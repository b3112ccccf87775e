/* SPDX-License-Identifier: MIT */
/*
 * Functions that TVM compiled for the core, as kernels of mortise. TVM's functions take tensors with shapes; the shapes
 * are constants of the compiled code, so that a kernel takes addresses alone. TVM_KERNEL() offers such a function, and
 * firmware/kernels/tvm.c has what compiled code calls.
 */
#ifndef FIRMWARE_KERNELS_TVM_H
#define FIRMWARE_KERNELS_TVM_H

#include <tenon/dlpack.h>
#include <tenon/uapi/mortise_kernel.h>

/* tensors that a function takes */
#define TVM_OPERANDS_MOST 64

/** struct tvm_any - a value as TVM 0.22 and later passes it, on cores of 32 bits too */
struct tvm_any {
	int32_t type;
	uint32_t reserved;
	union {
		int64_t integer;
		void *pointer;
	} as;
};

/** struct tvm_operand - a tensor but for its address */
struct tvm_operand {
	DLDataType dtype;
	int32_t ndim;
	const int64_t *shape;
};

typedef int (*tvm_function)(void *self, const struct tvm_any *args, int32_t count,
			    struct tvm_any *ret);

/*
 * Memory for what functions allocate while they run; the module has it, and says how much they take at most. It is in
 * pages of its own: an emulator watches the pages of code, and each write there makes it translate that code again.
 */
#define TVM_PAGE 65536U
#define TVM_WORKSPACE(size)                                                                        \
	uint8_t tvm_workspace[((size) + 2 * TVM_PAGE) / TVM_PAGE * TVM_PAGE + TVM_PAGE];           \
	const uint32_t tvm_workspace_size = (size)

/* hidden: code then reaches them by their distance, and moves */
extern uint8_t tvm_workspace[] __attribute__((visibility("hidden")));
extern const uint32_t tvm_workspace_size __attribute__((visibility("hidden")));

/** tvm_call - call a function of TVM's with a tensor at each of the addresses; 0, or -1 when it failed */
int32_t tvm_call(tvm_function function, const struct tvm_operand *operands, int32_t count,
		 const uint64_t *addresses);

/* Offer the function that TVM calls @function as the kernel @kernel; @operands is an array. */
#define TVM_KERNEL(kernel, function, operands, types)                                              \
	__attribute__((visibility("hidden"))) int __tvm_ffi_##function(                            \
		void *self, const struct tvm_any *args, int32_t count, struct tvm_any *ret);       \
	static int32_t kernel(const uint64_t *arguments, const struct mortise_group *group)        \
	{                                                                                          \
		(void)group;                                                                       \
		return tvm_call(__tvm_ffi_##function, operands,                                    \
				sizeof(operands) / sizeof((operands)[0]), arguments);              \
	}                                                                                          \
	MORTISE_KERNEL(kernel, types, "")

#endif /* FIRMWARE_KERNELS_TVM_H */
